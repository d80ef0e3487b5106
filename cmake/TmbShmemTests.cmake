# SPDX-License-Identifier: BSD-3-Clause
# Tests of OpenSHMEM: tests/shmem/*.c, each linked with libshmem_tombolo.so and run at several
# numbers of PEs, and on pretended hosts; tests/shmem/*.py are scripts. Other settings are in the
# heads of the programs. The thread sanitizer runs one rank, which tests little here.
if(NOT TARGET shmem_shared OR NOT TARGET tombolo_tool OR TMB_SANITIZE MATCHES "thread")
  return()
endif()

set(tmb_shmem_tests_dir "${PROJECT_SOURCE_DIR}/tests/shmem")
tmb_test_options(tmb_shmem_options)
file(GLOB tmb_shmem_tests CONFIGURE_DEPENDS "${tmb_shmem_tests_dir}/*.c")
foreach(src IN LISTS tmb_shmem_tests)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src} RANKS 1 2 3 8)
  add_executable(shmem.${name} ${src} "${PROJECT_SOURCE_DIR}/tests/lib/check.c")
  set_target_properties(shmem.${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/shmem")
  target_include_directories(shmem.${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/lib")
  target_compile_options(shmem.${name} PRIVATE ${tmb_shmem_options})
  target_link_libraries(shmem.${name} PRIVATE tmb_warnings shmem_shared Threads::Threads m)
  tmb_register_program(shmem.${name} shmem $<TARGET_FILE:shmem.${name}>)
  if(hdr_far AND NOT hdr_expect)
    set(hdr_ranks 4)
    set(hdr_again "")
    list(APPEND hdr_env TOMBOLO_CONDUIT=loop TOMBOLO_PLACES=cyclic:2)
    tmb_register_program(shmem.${name}.far shmem $<TARGET_FILE:shmem.${name}>)
  endif()
endforeach()

# What follows compiles by oshcc, which knows no sanitizer.
if(TMB_SANITIZE)
  return()
endif()

# Examples are compiled as their heads say, by oshcc.
set(tmb_shmem_examples "")
file(GLOB tmb_shmem_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/shmem/*.c")
foreach(src IN LISTS tmb_shmem_sources)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src})
  set(program "${PROJECT_BINARY_DIR}/examples/shmem/${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/examples/shmem"
    COMMAND ${CMAKE_COMMAND} -E env "OSHCC=${CMAKE_C_COMPILER}" "${PROJECT_BINARY_DIR}/bin/oshcc"
      -O2 -Wall -Werror "${src}" -o "${program}" -lm
    DEPENDS "${src}" shmem_shared ${tmb_shmem_headers} COMMENT "OpenSHMEM: ${name}" VERBATIM)
  list(APPEND tmb_shmem_examples "${program}")
  tmb_register_program(examples.shmem.${name} examples "${program}")
endforeach()
add_custom_target(shmem_examples ALL DEPENDS ${tmb_shmem_examples})
add_dependencies(programs shmem_examples)

if(TMB_BENCH)
  add_executable(bench__shmem "${PROJECT_SOURCE_DIR}/bench/shmem/tombolo-bench-shmem.c")
  set_target_properties(bench__shmem PROPERTIES OUTPUT_NAME tombolo-bench-shmem
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  target_link_libraries(bench__shmem PRIVATE tmb_warnings shmem_shared)
  add_dependencies(installed bench__shmem)
  add_test(NAME shmem.bench COMMAND tombolo_tool run -n 2 --timeout 60
    $<TARGET_FILE:bench__shmem> --runs 3)
  set_tests_properties(shmem.bench PROPERTIES LABELS shmem TIMEOUT 90
    PASS_REGULAR_EXPRESSION "\nend 23\n")
endif()

file(GLOB tmb_shmem_scripts CONFIGURE_DEPENDS "${tmb_shmem_tests_dir}/*.py")
foreach(script IN LISTS tmb_shmem_scripts)
  get_filename_component(name "${script}" NAME_WE)
  tmb_read_header(hdr ${script})
  add_test(NAME shmem.${name} COMMAND python3 "${script}")
  set(labels shmem)
  if(hdr_nightly)
    list(APPEND labels nightly)
  endif()
  set_tests_properties(shmem.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${hdr_timeout}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "TMB_BUILD=${PROJECT_BINARY_DIR};TOMBOLO=$<TARGET_FILE:tombolo_tool>")
endforeach()
