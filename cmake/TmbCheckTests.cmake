# SPDX-License-Identifier: BSD-3-Clause
# Tests of the checkers: tests/check/*.c, each with seeded faults by case, driven by a script that
# compares the findings with the lines that the source names.
if(NOT TARGET tombolo_check OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()

set(tmb_check_tests_dir "${PROJECT_SOURCE_DIR}/tests/check")
file(GLOB tmb_check_tests CONFIGURE_DEPENDS "${tmb_check_tests_dir}/*.c")
foreach(src IN LISTS tmb_check_tests)
  get_filename_component(name "${src}" NAME_WE)
  add_executable(check.${name} ${src})
  set_target_properties(check.${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
  target_compile_definitions(check.${name} PRIVATE GASNET_PAR=1)
  target_compile_options(check.${name} PRIVATE -g -O1)
  target_link_libraries(check.${name} PRIVATE tmb_warnings tombolo_shared)
  add_dependencies(check.${name} tombolo_check)
  add_test(NAME multi.check_${name} COMMAND python3 "${tmb_check_tests_dir}/findings.py"
    $<TARGET_FILE:tombolo_tool> ${src} $<TARGET_FILE:check.${name}>)
  set_tests_properties(multi.check_${name} PROPERTIES LABELS multi TIMEOUT 120
    SKIP_RETURN_CODE 77)
endforeach()
