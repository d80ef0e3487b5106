# SPDX-License-Identifier: BSD-3-Clause
# Tests of the checkers: tests/check, each source with seeded faults by case, driven by a script
# that compares the findings with the lines that the source names. Races and leaks are those of
# programs that are compiled as others are; the others are compiled with `--check`, local once with
# each C compiler.
if(NOT TARGET tombolo_check OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()

set(tmb_check_tests_dir "${PROJECT_SOURCE_DIR}/tests/check")

# tmb_check_test(NAME SOURCE PROGRAM): the program is compiled already, as target check.NAME.
function(tmb_check_test name source program)
  add_test(NAME multi.check_${name} COMMAND python3 "${tmb_check_tests_dir}/findings.py"
    $<TARGET_FILE:tombolo_tool> "${tmb_check_tests_dir}/${source}" "${program}")
  set_tests_properties(multi.check_${name} PROPERTIES LABELS multi TIMEOUT 120
    SKIP_RETURN_CODE 77)
endfunction()

foreach(name races leaks turns)
  add_executable(check.${name} "${tmb_check_tests_dir}/${name}.c")
  set_target_properties(check.${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
  if(name STREQUAL "turns")
    target_compile_definitions(check.${name} PRIVATE GASNET_SEQ=1)
  else()
    target_compile_definitions(check.${name} PRIVATE GASNET_PAR=1)
  endif()
  # Every form of the library is inlined, so that each call has a line of the program.
  target_compile_options(check.${name} PRIVATE -g -O1
    $<$<C_COMPILER_ID:GNU>:-finline-limit=2000>)
  target_link_libraries(check.${name} PRIVATE tmb_warnings tombolo_shared)
  add_dependencies(check.${name} tombolo_check)
  tmb_check_test(${name} ${name}.c $<TARGET_FILE:check.${name}>)
endforeach()

# More racing pairs than are kept: the last line says so.
add_executable(check.many "${tmb_check_tests_dir}/many.c")
set_target_properties(check.many PROPERTIES OUTPUT_NAME many
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
target_compile_definitions(check.many PRIVATE GASNET_SEQ=1)
target_compile_options(check.many PRIVATE -O1)
target_link_libraries(check.many PRIVATE tmb_warnings tombolo_shared)
add_dependencies(check.many tombolo_check)
foreach(pairs 1024 2000)
  add_test(NAME multi.check_many_${pairs} COMMAND $<TARGET_FILE:tombolo_tool> run -n 2 --timeout 60
    --check races $<TARGET_FILE:check.many> ${pairs})
  set_tests_properties(multi.check_many_${pairs} PROPERTIES LABELS multi TIMEOUT 120)
endforeach()
set_tests_properties(multi.check_many_1024 PROPERTIES PASS_REGULAR_EXPRESSION
  "races: 1024, leaks: 0\n$")
set_tests_properties(multi.check_many_2000 PROPERTIES PASS_REGULAR_EXPRESSION
  "races: 1024, leaks: 0\ntombolo: there is more: the first 1024 findings are kept")

# A program that another version of Tombolo has compiled with `--check`.
add_executable(check.older "${tmb_check_tests_dir}/leaks.c"
  "${PROJECT_SOURCE_DIR}/check/client/access.c")
set_target_properties(check.older PROPERTIES OUTPUT_NAME older
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
target_include_directories(check.older PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(check.older PRIVATE GASNET_PAR=1 CHK_LAYOUT_VERSION=0)
target_compile_options(check.older PRIVATE -Wno-reserved-identifier)
target_link_libraries(check.older PRIVATE tmb_warnings tombolo_shared)
foreach(kind races leaks)
  add_test(NAME multi.check_older_${kind} COMMAND $<TARGET_FILE:tombolo_tool> run -n 3 --timeout 60
    --check ${kind} $<TARGET_FILE:check.older> ok_all)
  set_tests_properties(multi.check_older_${kind} PROPERTIES LABELS multi TIMEOUT 120)
endforeach()
set_tests_properties(multi.check_older_races PROPERTIES
  PASS_REGULAR_EXPRESSION "compiled with --check by another version of Tombolo")

# Mistakes that inlined calls do not find by themselves.
add_executable(check.misuse "${tmb_check_tests_dir}/misuse.c")
set_target_properties(check.misuse PROPERTIES OUTPUT_NAME misuse
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
target_compile_definitions(check.misuse PRIVATE GASNET_PAR=1)
target_link_libraries(check.misuse PRIVATE tmb_warnings tombolo_shared)
foreach(case put put_val get get_nbi pair node beyond)
  add_test(NAME multi.check_misuse_${case} COMMAND $<TARGET_FILE:tombolo_tool> run -n 2
    --timeout 60 --check misuse $<TARGET_FILE:check.misuse> ${case})
  set_tests_properties(multi.check_misuse_${case} PROPERTIES LABELS multi TIMEOUT 120
    PASS_REGULAR_EXPRESSION "FATAL ERROR.*(rank|node|node_t|segment)")
endforeach()

# Locks of the area, without a job.
add_executable(check.area_lock "${tmb_check_tests_dir}/area_lock.c"
  "${PROJECT_SOURCE_DIR}/check/runtime/lock.c")
set_target_properties(check.area_lock PROPERTIES OUTPUT_NAME area_lock
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check")
target_include_directories(check.area_lock PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(check.area_lock PRIVATE GASNET_PAR=1 GEXX_NO_IDENT=1)
target_link_libraries(check.area_lock PRIVATE tmb_warnings tombolo_shared)
add_test(NAME multi.check_area_lock COMMAND check.area_lock)
set_tests_properties(multi.check_area_lock PROPERTIES LABELS multi TIMEOUT 120)

# Each function of the API is seen, or named in docs/CHECK.md.
add_test(NAME multi.check_symbols COMMAND python3 "${tmb_check_tests_dir}/symbols.py")
set_tests_properties(multi.check_symbols PROPERTIES LABELS multi TIMEOUT 60)

# Python loads the library with a module, after the checker, or replay, has looked for it.
if(TARGET python_core AND TMB_PYTHON3)
  set(tmb_run $<TARGET_FILE:tombolo_tool> run -n 3 --timeout 60)
  set(tmb_examples "${PROJECT_SOURCE_DIR}/bindings/python/examples")
  add_test(NAME multi.check_python COMMAND ${tmb_run} --check all --
    "${TMB_PYTHON3}" "${tmb_examples}/collectives.py")
  add_test(NAME multi.replay_python COMMAND ${tmb_run} --record
    "${PROJECT_BINARY_DIR}/tests/check/python.order" -- "${TMB_PYTHON3}" "${tmb_examples}/ring.py")
  # Threads in turns have no order: the recording says so. One thread that calls alone has one.
  foreach(case turns alone)
    add_test(NAME multi.replay_python_${case} COMMAND ${tmb_run} --record
      "${PROJECT_BINARY_DIR}/tests/check/python.${case}" -- "${TMB_PYTHON3}"
      "${PROJECT_SOURCE_DIR}/tests/replay/python_threads.py" ${case})
    set_tests_properties(multi.replay_python_${case} PROPERTIES LABELS multi TIMEOUT 120
      ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
  endforeach()
  set_tests_properties(multi.replay_python_turns PROPERTIES PASS_REGULAR_EXPRESSION
    "several threads of Python call the library in turns")
  set_tests_properties(multi.replay_python_alone PROPERTIES FAIL_REGULAR_EXPRESSION
    "several threads of Python")
  tmb_check_test(arrays arrays.py "${TMB_PYTHON3}")
  set_tests_properties(multi.check_python multi.check_arrays multi.replay_python PROPERTIES
    LABELS multi TIMEOUT 120 ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
endif()

# Nightly: the programs of the other tests under all checks.
add_test(NAME multi.check_suite COMMAND python3 "${tmb_check_tests_dir}/suite.py"
  "${PROJECT_BINARY_DIR}")
# The same with ranks on two pretended hosts; core_dump is for ranks of one.
add_test(NAME multi.check_suite_udp COMMAND python3 "${tmb_check_tests_dir}/suite.py"
  --only "^(conformance|upc|shmem|prif)\\.(?!core_dump)" "${PROJECT_BINARY_DIR}")
set_tests_properties(multi.check_suite_udp PROPERTIES
  ENVIRONMENT "TOMBOLO_CONDUIT=udp;TOMBOLO_PLACES=cyclic:2")
set_tests_properties(multi.check_suite multi.check_suite_udp PROPERTIES LABELS "multi;nightly"
  TIMEOUT 3600 PROCESSORS 2)

# tmb_check_program(NAME SOURCE TARGETS COMMAND...): a program that COMMAND compiles. TARGETS: what
# the command needs.
function(tmb_check_program name source targets)
  set(program "${PROJECT_BINARY_DIR}/tests/check/${name}")
  file(MAKE_DIRECTORY "${program}.dir") # of modules and other files beside the program
  add_custom_command(OUTPUT "${program}"
    COMMAND ${ARGN} "${tmb_check_tests_dir}/${source}" -o "${program}"
    DEPENDS "${tmb_check_tests_dir}/${source}" "${tmb_check_tests_dir}/three_ranks.h"
      "${tmb_check_tests_dir}/three_ranks.hpp"
      "${tmb_check_tests_dir}/two_threads.h" "${tmb_check_tests_dir}/tells.h"
      "${PROJECT_SOURCE_DIR}/tests/lib/cases.h"
      tombolo_tool tombolo_shared tombolo_check_client ${targets}
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/tests/check/${name}.dir"
    COMMENT "Checked: ${name}" VERBATIM)
  add_custom_target(check.${name} ALL DEPENDS "${program}")
  add_dependencies(check.${name} tombolo_check)
endfunction()

# tmb_check_compiled: as above, with --check, and its test.
function(tmb_check_compiled name source targets)
  tmb_check_program(${name} ${source} "${targets}" ${ARGN} --check)
  tmb_check_test(${name} ${source} "${PROJECT_BINARY_DIR}/tests/check/${name}")
endfunction()

find_program(TMB_CHECK_CLANG NAMES clang clang-14 DOC "clang, for a test of tombolo cc --check")
find_program(TMB_CHECK_GCC NAMES gcc DOC "gcc, for a test of tombolo cc --check")
foreach(compiler gcc clang)
  string(TOUPPER "TMB_CHECK_${compiler}" found)
  if(${found})
    tmb_check_compiled(local_${compiler} local.c "" $<TARGET_FILE:tombolo_tool> cc -Wall
      --compiler=${${found}})
  endif()
endforeach()
if(TMB_CHECK_GCC)
  tmb_check_compiled(chains chains.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O1
    "--compiler=${TMB_CHECK_GCC}")
  tmb_check_compiled(segments segments.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O1
    "--compiler=${TMB_CHECK_GCC}")
endif()
# Threads of a rank, with OpenMP where gcc compiles; by clang as for a shared library.
foreach(name threads threads_ordered)
  if(TMB_CHECK_GCC)
    tmb_check_compiled(${name}_gcc ${name}.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O1
      -DGASNET_PAR=1 -fopenmp "--compiler=${TMB_CHECK_GCC}")
  endif()
  if(TMB_CHECK_CLANG)
    tmb_check_compiled(${name}_clang ${name}.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O2
      -DGASNET_PAR=1 -fPIC -Wno-unknown-pragmas "--compiler=${TMB_CHECK_CLANG}")
  endif()
endforeach()
if(TMB_CHECK_GCC)
  tmb_check_compiled(heard heard.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O1
    -DGASNET_PAR=1 -fopenmp "--compiler=${TMB_CHECK_GCC}")
  tmb_check_compiled(gives gives.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -Wextra -O1
    -DGASNET_PAR=1 "--compiler=${TMB_CHECK_GCC}")
endif()
# The lines of programs by clang.
if(TMB_CHECK_CLANG)
  tmb_check_program(races_clang races.c "" $<TARGET_FILE:tombolo_tool> cc -g -gdwarf-4 -O1
    -fno-optimize-sibling-calls
    -DGASNET_PAR=1 -mllvm -inline-threshold=2000 "--compiler=${TMB_CHECK_CLANG}")
  tmb_check_test(races_clang races.c "${PROJECT_BINARY_DIR}/tests/check/races_clang")
endif()
# The cases of local.c in a shared library, of a program that is compiled with `--check`, too.
if(TMB_CHECK_GCC)
  set(tmb_check_main "${PROJECT_BINARY_DIR}/tests/check/main.c")
  file(WRITE "${tmb_check_main}"
    "int run_cases(int, char **);\nint main(int n, char **args) { return run_cases(n, args); }\n")
  set(tmb_check_cc $<TARGET_FILE:tombolo_tool> cc -Wall --check "--compiler=${TMB_CHECK_GCC}")
  tmb_check_program(liblocal.so local.c "" ${tmb_check_cc} -shared -fPIC -Dmain=run_cases)
  set(tmb_check_shared "${PROJECT_BINARY_DIR}/tests/check/local_shared")
  add_custom_command(OUTPUT "${tmb_check_shared}"
    COMMAND ${tmb_check_cc} "${tmb_check_main}" "${PROJECT_BINARY_DIR}/tests/check/liblocal.so" -o
      "${tmb_check_shared}"
    DEPENDS "${tmb_check_main}" check.liblocal.so VERBATIM)
  add_custom_target(check.local_shared ALL DEPENDS "${tmb_check_shared}")
  tmb_check_test(local_shared local.c "${tmb_check_shared}")
endif()

# Random programs, compared with a model: some seeds, and each night many others.
if(TMB_CHECK_GCC)
  tmb_check_program(oracle oracle.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -O1 -g1 --check
    "--compiler=${TMB_CHECK_GCC}")
  set(tmb_check_oracle python3 "${tmb_check_tests_dir}/oracle.py" $<TARGET_FILE:tombolo_tool>
    "${PROJECT_BINARY_DIR}/tests/check/oracle")
  add_test(NAME multi.check_oracle COMMAND ${tmb_check_oracle})
  set_tests_properties(multi.check_oracle PROPERTIES LABELS multi TIMEOUT 120
    SKIP_RETURN_CODE 77)
  add_test(NAME multi.check_oracle_long COMMAND ${tmb_check_oracle} --random --count 2000)
  set_tests_properties(multi.check_oracle_long PROPERTIES LABELS "multi;nightly" TIMEOUT 1800
    SKIP_RETURN_CODE 77)
endif()

# Bytes of shadow for each byte that is touched.
if(TMB_CHECK_GCC)
  tmb_check_program(memory memory.c "" $<TARGET_FILE:tombolo_tool> cc -Wall -O1 --check
    "--compiler=${TMB_CHECK_GCC}")
  add_test(NAME multi.check_memory COMMAND $<TARGET_FILE:tombolo_tool> run -n 2 --timeout 60
    --check races "${PROJECT_BINARY_DIR}/tests/check/memory")
  set_tests_properties(multi.check_memory PROPERTIES LABELS multi TIMEOUT 120)
endif()

tmb_check_compiled(objects objects.cc "" $<TARGET_FILE:tombolo_tool> c++ -O2 -std=c++17
  "--compiler=${CMAKE_CXX_COMPILER}")
tmb_check_compiled(futures futures.cc "" $<TARGET_FILE:tombolo_tool> c++ -O2 -std=c++17
  "--compiler=${CMAKE_CXX_COMPILER}")
find_program(TMB_CHECK_CLANGXX NAMES clang++ clang++-14 DOC "clang++, for a test of --check")
tmb_check_compiled(threads_cxx threads.cc "" $<TARGET_FILE:tombolo_tool> c++ -O1 -std=c++17
  "--compiler=${CMAKE_CXX_COMPILER}")
if(TMB_CHECK_CLANGXX)
  tmb_check_compiled(objects_clang objects.cc "" $<TARGET_FILE:tombolo_tool> c++ -O2 -std=c++17
    "--compiler=${TMB_CHECK_CLANGXX}")
endif()
if(TARGET caf_shared AND tmb_fortran_compilers)
  foreach(version IN LISTS tmb_fortran_compilers) # 15 and newer call functions of the program
    foreach(name coarrays teams)
      tmb_check_compiled(${name}${version} ${name}.f90 "caf_shared;caf16_shared;fortran_modules"
        $<TARGET_FILE:tombolo_tool> fc -O1 "--compiler=${TMB_GFORTRAN_${version}}")
    endforeach()
  endforeach()
endif()
if(TARGET upc1)
  foreach(name relaxed phases)
    tmb_check_compiled(${name} ${name}.upc "upc_shared;upc_support" $<TARGET_FILE:tombolo_tool>
      upcc -O1)
  endforeach()
endif()
if(TARGET shmem_shared AND TMB_CHECK_GCC)
  foreach(name shmem contexts)
    tmb_check_compiled(${name} ${name}.c shmem_shared ${CMAKE_COMMAND} -E env
      "OSHCC=${TMB_CHECK_GCC}" "${PROJECT_BINARY_DIR}/bin/oshcc" -O1)
  endforeach()
endif()

# Nightly: loops with and without --check, how many instructions more.
if(TMB_CHECK_GCC)
  set(tmb_check_loops "${PROJECT_BINARY_DIR}/tests/check/loops")
  set(tmb_check_cc $<TARGET_FILE:tombolo_tool> cc -O2 "--compiler=${TMB_CHECK_GCC}")
  tmb_check_program(loops_plain loops.c "" ${tmb_check_cc})
  tmb_check_program(loops_checked loops.c "" ${tmb_check_cc} --check)
  add_test(NAME bench.check_loops COMMAND python3 "${tmb_check_tests_dir}/slowdown.py"
    $<TARGET_FILE:tombolo_tool> ${tmb_check_loops}_plain ${tmb_check_loops}_checked)
  set_tests_properties(bench.check_loops PROPERTIES LABELS "bench;nightly" TIMEOUT 120
    SKIP_RETURN_CODE 77)
endif()
