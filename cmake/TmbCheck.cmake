# SPDX-License-Identifier: BSD-3-Clause
# The checker of `tombolo run --check`, and record and replay: PART/runtime/*.c ->
# lib/tombolo/tombolo-PART.so, which is loaded before the program.
foreach(part IN ITEMS check replay)
  file(GLOB tmb_part_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${part}/runtime/*.c")
  tmb_add_plugin(tombolo_${part} tombolo-${part} ${tmb_part_sources})
  set_target_properties(tombolo_${part} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/tombolo")
  target_include_directories(tombolo_${part} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(tombolo_${part} PRIVATE GEXX_NO_IDENT=1)
endforeach()

# The part that is linked into a program by `tombolo cc --check`: lib/tombolo/check/libtsan.a, for
# gcc links it under that name.
file(GLOB tmb_check_client CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/check/client/*.c")
add_library(tombolo_check_client STATIC ${tmb_check_client})
set_target_properties(tombolo_check_client PROPERTIES OUTPUT_NAME tsan
  POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET default
  ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/tombolo/check")
target_include_directories(tombolo_check_client PRIVATE "${PROJECT_SOURCE_DIR}")
# Their names are the compiler's and the linker's, who declare them where a sanitizer is on.
target_compile_options(tombolo_check_client PRIVATE -Wno-reserved-identifier -fno-sanitize=all)
target_link_libraries(tombolo_check_client PRIVATE tmb_warnings)
# What the assembler reads before the compiler's output; shared.s for shared libraries alone.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(TMB_CHECK_INLINE "${PROJECT_SOURCE_DIR}/check/client/inline.s"
    "${PROJECT_SOURCE_DIR}/check/client/shared.s")
  foreach(file IN LISTS TMB_CHECK_INLINE)
    get_filename_component(name "${file}" NAME)
    configure_file("${file}" "${PROJECT_BINARY_DIR}/lib/tombolo/check/${name}" COPYONLY)
  endforeach()
endif()
