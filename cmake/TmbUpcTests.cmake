# SPDX-License-Identifier: BSD-3-Clause
# Tests of UPC: tests/upc/*.upc, each compiled by `tombolo upcc` and run at several numbers of
# threads (but those called dynamic_* also compiled for three), with memory of other threads not
# mapped, and with wide pointers-to-shared; tests/upc/programs/*.upc, which are written as other
# people's programs are and may give warnings; tests/upc/*.py are scripts.
if(NOT TARGET upc1 OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()

set(tmb_upc_tests_dir "${PROJECT_SOURCE_DIR}/tests/upc")
set(tmb_upc_programs "")
set(tmb_upc_nightly "")
set(tmb_upc_needs tombolo_tool upc1 upc_shared upc_shared_wide upc_support)
# The translated C must be free of the warnings of gcc. Those of other compilers are no errors.
set(tmb_upcc $<TARGET_FILE:tombolo_tool> upcc)
set(tmb_upc_warnings -Wall -Werror)
if(tmb_test_compilers)
  list(APPEND tmb_upcc "--compiler=${CMAKE_C_COMPILER}")
  set(tmb_upc_warnings -Wall)
endif()
# A program's second compilation: another level of optimisation, which takes a third of the time.
set(tmb_upc_second -O0 -g1)
set(tmb_upc_far "TOMBOLO_CONDUIT=loop+TOMBOLO_PLACES=cyclic:2")

# Unit tests of the run-time library: upc/runtime/X_test.c has X.c, which needs no other.
file(GLOB tmb_upc_units CONFIGURE_DEPENDS "${tmb_upc_dir}/runtime/*_test.c")
foreach(src IN LISTS tmb_upc_units)
  string(REGEX REPLACE "_test\\.c$" ".c" tested "${src}")
  get_filename_component(name "${tested}" NAME_WE)
  tmb_add_unit_test(upc.${name} "${src}" "${tested}")
  if(TARGET unit.upc.${name})
    target_compile_definitions(unit.upc.${name} PRIVATE _GNU_SOURCE=1)
  endif()
endforeach()

# tmb_add_upc(TEST LABEL PROGRAM SOURCE [OPTIONS...]): compiles and registers one program, which is
# the build target TEST, too.
function(tmb_add_upc test label program src)
  get_filename_component(folder "${program}" DIRECTORY)
  get_filename_component(name "${program}" NAME)
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/upc/include/*.h"
    "${tmb_upc_tests_dir}/lib/*.h")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND ${tmb_upcc} -O1 -I "${tmb_upc_tests_dir}/lib" ${ARGN} "${src}"
      -o "${program}"
    DEPENDS "${src}" ${headers} ${tmb_upc_needs} COMMENT "UPC: ${name}" VERBATIM)
  add_custom_target(${test} DEPENDS "${program}")
  tmb_register_program(${test} ${label} "${program}")
  if(tmb_daily)
    set(tmb_upc_programs ${tmb_upc_programs} "${program}" PARENT_SCOPE)
  else()
    set(tmb_upc_nightly ${tmb_upc_nightly} "${program}" PARENT_SCOPE)
  endif()
endfunction()

# A test of what clang lacks: in a tree of clang it is skipped, with the reason.
function(tmb_skip_clang test)
  add_test(NAME ${test} COMMAND "${CMAKE_COMMAND}" -E echo "skipped: clang has no ${hdr_gcc}")
  set_tests_properties(${test} PROPERTIES LABELS upc SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# Of two methods of compiling a program `make test` takes one, by the hash of its name: sets
# hdr_nightly for method number METHOD, 0 or 1, if it is the other.
macro(tmb_choose_method name method)
  tmb_hash(tmb_method "${name}")
  math(EXPR tmb_method "${tmb_method} / 3 % 2")
  set(hdr_nightly "")
  if(NOT tmb_method EQUAL ${method})
    set(hdr_nightly yes)
  endif()
endmacro()

file(GLOB tmb_upc_tests CONFIGURE_DEPENDS "${tmb_upc_tests_dir}/*.upc")
foreach(src IN LISTS tmb_upc_tests)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src} RANKS 1 2 3 4 8)
  tmb_add_upc(upc.${name} upc "${PROJECT_BINARY_DIR}/tests/upc/${name}" "${src}"
    ${tmb_upc_warnings})
  if("3" IN_LIST hdr_ranks AND NOT hdr_expect)
    set(saved "${hdr_ranks}")
    set(hdr_ranks 3)
    string(REPLACE "+" ";" hdr_env "${tmb_upc_far}")
    tmb_register_program(upc.${name}.far upc "${PROJECT_BINARY_DIR}/tests/upc/${name}")
    set(hdr_env "")
    set(hdr_ranks "${saved}")
  endif()
  if(NOT name MATCHES "^dynamic_") # the same, compiled for a fixed number of threads
    set(hdr_ranks 3)
    set(hdr_again "${tmb_upc_far}")
    tmb_choose_method(${name} 0)
    tmb_add_upc(upc.${name}.wide upc "${PROJECT_BINARY_DIR}/tests/upc/wide/${name}" "${src}"
      --pointers=wide ${tmb_upc_second} ${tmb_upc_warnings})
    set(hdr_again "")
    tmb_choose_method(${name} 1)
    tmb_add_upc(upc.${name}.static3 upc "${PROJECT_BINARY_DIR}/tests/upc/static/${name}" "${src}"
      -T 3 ${tmb_upc_second} ${tmb_upc_warnings})
  endif()
endforeach()
file(GLOB tmb_upc_others CONFIGURE_DEPENDS "${tmb_upc_tests_dir}/programs/*.upc")
foreach(src IN LISTS tmb_upc_others)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src})
  if(hdr_gcc AND tmb_test_compilers)
    tmb_skip_clang(upc.program.${name})
    continue()
  endif()
  set(program "${PROJECT_BINARY_DIR}/tests/upc/programs/${name}")
  if(NOT name MATCHES "^(static|dynamic)_")
    tmb_choose_method(${name} 0)
  endif()
  if(NOT name MATCHES "^static_")
    tmb_add_upc(upc.program.${name} upc "${program}" "${src}" -w)
  endif()
  if(NOT name MATCHES "^dynamic_")
    set(hdr_ranks 4)
    if(NOT name MATCHES "^static_")
      tmb_choose_method(${name} 1)
    endif()
    # What gcc concludes from types it also concludes at -O1, in two thirds of the time of -O2.
    tmb_add_upc(upc.program.${name}.static4 upc "${program}.static4" "${src}" -T 4
      -O1 -fstrict-aliasing -w)
    set(hdr_nightly yes)
    tmb_add_upc(upc.program.${name}.fast4 upc "${program}.fast4" "${src}" -T 4 -O2 -w)
  endif()
endforeach()
# The compiler under the sanitizers, for mutations.py: of the objects of the fuzzers where there are
# fuzzers.
set(tmb_upc1_checked "${PROJECT_BINARY_DIR}/libexec/tombolo/upc1-checked")
if(tmb_fuzz_works)
  tmb_fuzz_objects(objects ${tmb_upc1_sources})
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tombolo")
  add_custom_command(OUTPUT "${tmb_upc1_checked}"
    COMMAND "${TMB_CLANG}" -fsanitize=fuzzer-no-link,address,undefined ${objects}
      -o "${tmb_upc1_checked}" -lstdc++ -lm
    DEPENDS ${objects} COMMENT "UPC: upc1-checked" VERBATIM)
  add_custom_target(upc1_checked ALL DEPENDS "${tmb_upc1_checked}")
elseif(NOT CMAKE_CROSSCOMPILING)
  add_executable(upc1_checked ${tmb_upc1_sources})
  set_target_properties(upc1_checked PROPERTIES OUTPUT_NAME upc1-checked
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tombolo")
  target_compile_options(upc1_checked PRIVATE -O1 -g1 -fsanitize=address,undefined
    -fno-sanitize-recover=undefined)
  target_link_options(upc1_checked PRIVATE -fsanitize=address,undefined)
  target_include_directories(upc1_checked PRIVATE "${tmb_upc_dir}/compiler")
  target_link_libraries(upc1_checked PRIVATE tmb_warnings)
endif()

file(GLOB tmb_upc_scripts CONFIGURE_DEPENDS "${tmb_upc_tests_dir}/*.py")
if(CMAKE_CROSSCOMPILING)
  list(FILTER tmb_upc_scripts EXCLUDE REGEX "/mutations\\.py$")
endif()
foreach(src IN LISTS tmb_upc_scripts)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src})
  if(hdr_gcc AND tmb_test_compilers)
    tmb_skip_clang(upc.${name})
    continue()
  endif()
  tmb_register_run(upc.${name} upc "python3;${src}")
endforeach()

file(GLOB tmb_upc_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/upc/*.upc")
foreach(src IN LISTS tmb_upc_examples)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src} RANKS 1 2 4)
  tmb_add_upc(examples.upc.${name} examples "${PROJECT_BINARY_DIR}/examples/upc/${name}" "${src}"
    -O2 ${tmb_upc_warnings})
endforeach()

add_custom_target(upc_tests ALL DEPENDS ${tmb_upc_programs})
# ---- `tombolo bench upc`; its run path is at least as long as the installed one, its successor
if(TMB_BENCH)
  set(program "${PROJECT_BINARY_DIR}/bench/tombolo-bench-upc")
  set(src "${PROJECT_SOURCE_DIR}/bench/upc")
  add_library(bench_upc_api OBJECT "${src}/api.c")
  target_compile_definitions(bench_upc_api PRIVATE GASNET_PARSYNC=1 _GNU_SOURCE=1 GEXX_NO_IDENT=1)
  target_include_directories(bench_upc_api PRIVATE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/upc/include")
  target_link_libraries(bench_upc_api PRIVATE tmb_warnings)
  add_custom_command(OUTPUT "${program}"
    COMMAND ${tmb_upcc} -O2 -Wall -I "${src}" "${src}/tombolo-bench-upc.upc"
      $<TARGET_OBJECTS:bench_upc_api> "-Wl,-rpath,$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}"
      -o "${program}"
    DEPENDS "${src}/tombolo-bench-upc.upc" $<TARGET_OBJECTS:bench_upc_api> ${tmb_upc_needs}
    COMMENT "UPC: tombolo-bench-upc" VERBATIM)
  tmb_install_bench("${program}" upc)
endif()
add_custom_target(upc_nightly DEPENDS ${tmb_upc_nightly})
add_dependencies(nightly upc_nightly)
