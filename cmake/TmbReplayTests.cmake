# SPDX-License-Identifier: BSD-3-Clause
# Tests of record and replay: cases in C, driven by bugs.py, one test a case.
if(NOT TARGET tombolo_replay OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()

set(tmb_bugs "${PROJECT_SOURCE_DIR}/tests/replay/bugs.c")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tmb_bugs}")
add_executable(replay.bugs "${tmb_bugs}" "${PROJECT_SOURCE_DIR}/tests/replay/bugs_main.c"
  "${PROJECT_SOURCE_DIR}/tests/replay/chaos.c" "${PROJECT_SOURCE_DIR}/tests/replay/right.c"
  "${PROJECT_SOURCE_DIR}/tests/replay/crowd.c" "${PROJECT_SOURCE_DIR}/tests/replay/ends.c")
set_target_properties(replay.bugs PROPERTIES OUTPUT_NAME bugs
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/replay")
target_compile_definitions(replay.bugs PRIVATE GASNET_PAR=1)
target_compile_options(replay.bugs PRIVATE -g -O1)
target_link_libraries(replay.bugs PRIVATE tmb_warnings tombolo_shared)
add_dependencies(replay.bugs tombolo_replay)

file(STRINGS "${tmb_bugs}" tmb_bug_cases REGEX "^CASE\\(")
foreach(case IN ITEMS ${tmb_bug_cases} chaos chaos_ends chaos_needs deviation flood full memory only
    overtaken prepared refused refused_calls refused_transfers stepped stepped_long)
  string(REGEX REPLACE "^CASE\\((.*)\\).*" "\\1" case "${case}")
  add_test(NAME multi.replay_${case} COMMAND python3
    "${PROJECT_SOURCE_DIR}/tests/replay/bugs.py" $<TARGET_FILE:tombolo_tool>
    $<TARGET_FILE:replay.bugs> ${case})
  set(tmb_labels multi)
  if(case MATCHES "hang|stepped_long") # they last as long as the limits of their runs
    list(APPEND tmb_labels nightly)
  endif()
  set_tests_properties(multi.replay_${case} PROPERTIES LABELS "${tmb_labels}" TIMEOUT 120
    SKIP_RETURN_CODE 77)
endforeach()

# Many ranks on few processors: some cases, and each night all, beside busy processes.
set(tmb_crowd python3 "${PROJECT_SOURCE_DIR}/tests/replay/crowd.py" $<TARGET_FILE:tombolo_tool>
  $<TARGET_FILE:replay.bugs> "${PROJECT_SOURCE_DIR}/tests/replay/crowd.c")
add_test(NAME multi.replay_crowd COMMAND ${tmb_crowd} crowd_to_one crowd_tickets crowd_threads
  --replays 2 --only)
set_tests_properties(multi.replay_crowd PROPERTIES LABELS multi TIMEOUT 240)
foreach(ranks IN ITEMS 16 32)
  add_test(NAME multi.replay_crowd${ranks} COMMAND ${tmb_crowd} --ranks ${ranks} --busy 2 --only)
  set_tests_properties(multi.replay_crowd${ranks} PROPERTIES LABELS "multi;nightly" TIMEOUT 3000)
endforeach()

# Ranks that end in the midst of a job.
set(tmb_ends python3 "${PROJECT_SOURCE_DIR}/tests/replay/ends.py" $<TARGET_FILE:tombolo_tool>
  $<TARGET_FILE:replay.bugs> "${PROJECT_SOURCE_DIR}/tests/replay/ends.c")
add_test(NAME multi.replay_ends COMMAND ${tmb_ends} 2 ends_segv ends_early)
add_test(NAME multi.replay_ends20 COMMAND ${tmb_ends} 20)
set_tests_properties(multi.replay_ends PROPERTIES LABELS multi TIMEOUT 240)
set_tests_properties(multi.replay_ends20 PROPERTIES LABELS "multi;nightly" TIMEOUT 1800)

# Damaged recordings: some, and each night others.
set(tmb_damage python3 "${PROJECT_SOURCE_DIR}/tests/replay/damage.py"
  $<TARGET_FILE:tombolo_tool> $<TARGET_FILE:replay.bugs>)
add_test(NAME multi.replay_damage COMMAND ${tmb_damage} --count 100)
add_test(NAME multi.replay_damage_long COMMAND ${tmb_damage} --random --count 2000)
set_tests_properties(multi.replay_damage PROPERTIES LABELS multi TIMEOUT 120)
set_tests_properties(multi.replay_damage_long PROPERTIES LABELS "multi;nightly" TIMEOUT 900)

# Threads that synchronise by atomic operations, compiled with --check.
find_program(TMB_CHECK_GCC NAMES gcc DOC "gcc, for a test of tombolo cc --check")
if(TMB_CHECK_GCC AND TARGET tombolo_check_client)
  set(tmb_replay_dir "${PROJECT_SOURCE_DIR}/tests/replay")
  set(tmb_atomics "${PROJECT_BINARY_DIR}/tests/replay/atomics")
  add_custom_command(OUTPUT "${tmb_atomics}"
    COMMAND $<TARGET_FILE:tombolo_tool> cc -Wall -O1 --check "--compiler=${TMB_CHECK_GCC}"
      -DGASNET_PAR=1 "${tmb_replay_dir}/bugs_main.c" "${tmb_replay_dir}/atomics.c"
      -o "${tmb_atomics}"
    DEPENDS "${tmb_replay_dir}/bugs_main.c" "${tmb_replay_dir}/atomics.c" "${tmb_replay_dir}/bugs.h"
      tombolo_tool tombolo_shared tombolo_check_client
    COMMENT "Replayed: atomics" VERBATIM)
  find_program(TMB_CHECK_GXX NAMES g++ DOC "g++, for a test of tombolo c++ --check")
  if(TMB_CHECK_GXX)
    add_custom_command(OUTPUT "${tmb_atomics}_cxx"
      COMMAND $<TARGET_FILE:tombolo_tool> c++ -Wall -O1 --check "--compiler=${TMB_CHECK_GXX}"
        -std=c++17 -DGASNET_PAR=1 "${tmb_replay_dir}/atomics_cxx.cc" -o "${tmb_atomics}_cxx"
      DEPENDS "${tmb_replay_dir}/atomics_cxx.cc" tombolo_tool tombolo_shared tombolo_check_client
      COMMENT "Replayed: atomics_cxx" VERBATIM)
    add_custom_target(replay.atomics_cxx ALL DEPENDS "${tmb_atomics}_cxx")
    add_dependencies(replay.atomics_cxx tombolo_replay)
    add_test(NAME multi.replay_atomics_cxx COMMAND python3 "${tmb_replay_dir}/bugs.py"
      $<TARGET_FILE:tombolo_tool> "${tmb_atomics}_cxx" atomics_cxx)
    set_tests_properties(multi.replay_atomics_cxx PROPERTIES LABELS multi TIMEOUT 120)
  endif()
  add_custom_target(replay.atomics ALL DEPENDS "${tmb_atomics}")
  add_dependencies(replay.atomics tombolo_replay)
  foreach(case IN ITEMS spin numbers looks handlers)
    add_test(NAME multi.replay_atomic_${case} COMMAND python3 "${tmb_replay_dir}/bugs.py"
      $<TARGET_FILE:tombolo_tool> "${tmb_atomics}" atomic_${case})
    set_tests_properties(multi.replay_atomic_${case} PROPERTIES LABELS multi TIMEOUT 120)
  endforeach()
endif()

add_test(NAME multi.replay_chaos_needs_udp COMMAND python3
  "${PROJECT_SOURCE_DIR}/tests/replay/bugs.py" $<TARGET_FILE:tombolo_tool>
  $<TARGET_FILE:replay.bugs> chaos_needs)
set_tests_properties(multi.replay_chaos_needs_udp PROPERTIES LABELS "multi;nightly" TIMEOUT 120
  ENVIRONMENT "TOMBOLO_PLACES=cyclic:3;TOMBOLO_CONDUIT=udp")

# Whole programs in several languages, and one over a network; skipped where not built.
function(tmb_replay_again name program ranks)
  add_test(NAME multi.replay_again_${name} COMMAND python3
    "${PROJECT_SOURCE_DIR}/tests/replay/again.py" $<TARGET_FILE:tombolo_tool>
    "${PROJECT_BINARY_DIR}/examples/${program}" ${ranks})
  set_tests_properties(multi.replay_again_${name} PROPERTIES LABELS "multi" TIMEOUT 240
    SKIP_RETURN_CODE 77)
endfunction()
tmb_replay_again(cxx heat_cxx 4)
tmb_replay_again(threads threads 3)
tmb_replay_again(cxx_tasks tasks_cxx 3)
tmb_replay_again(upc upc/stencil 3)
tmb_replay_again(upc_locks upc/nqueens 3)
tmb_replay_again(shmem shmem/stencil 3)
tmb_replay_again(fortran fortran/halo_attached 4) # it reads addresses
tmb_replay_again(udp producer_consumer 4)
set_tests_properties(multi.replay_again_udp PROPERTIES ENVIRONMENT
  "TOMBOLO_PLACES=cyclic:2;TOMBOLO_CONDUIT=udp")

# Random programs, on one host and between pretended ones; each night others, 20 times.
if(TARGET check.oracle)
  set(tmb_random python3 "${PROJECT_SOURCE_DIR}/tests/replay/lists.py"
    $<TARGET_FILE:tombolo_tool> "${PROJECT_BINARY_DIR}/tests/check/oracle")
  add_test(NAME multi.replay_random COMMAND ${tmb_random})
  add_test(NAME multi.replay_random_udp COMMAND ${tmb_random} --count 6)
  add_test(NAME multi.replay_random20 COMMAND ${tmb_random} --random --count 100 --replays 20)
  add_test(NAME multi.replay_random_udp20 COMMAND ${tmb_random} --random --count 40 --replays 20)
  set_tests_properties(multi.replay_random multi.replay_random_udp PROPERTIES LABELS multi
    TIMEOUT 120)
  set_tests_properties(multi.replay_random20 multi.replay_random_udp20 PROPERTIES
    LABELS "multi;nightly" TIMEOUT 1800)
  set_tests_properties(multi.replay_random_udp multi.replay_random_udp20 PROPERTIES ENVIRONMENT
    "TOMBOLO_PLACES=cyclic:2;TOMBOLO_CONDUIT=udp")
endif()

# Random programs of several threads a rank, as PAR and PARSYNC.
foreach(mode IN ITEMS PAR PARSYNC)
  string(TOLOWER "crew_${mode}" tmb_crew)
  add_executable(replay.${tmb_crew} "${PROJECT_SOURCE_DIR}/tests/replay/crew.c")
  set_target_properties(replay.${tmb_crew} PROPERTIES OUTPUT_NAME ${tmb_crew}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/replay")
  target_compile_definitions(replay.${tmb_crew} PRIVATE GASNET_${mode}=1)
  target_compile_options(replay.${tmb_crew} PRIVATE -g -O1)
  target_link_libraries(replay.${tmb_crew} PRIVATE tmb_warnings tombolo_shared)
  add_dependencies(replay.${tmb_crew} tombolo_replay)
  set(tmb_random python3 "${PROJECT_SOURCE_DIR}/tests/replay/crew.py"
    $<TARGET_FILE:tombolo_tool> $<TARGET_FILE:replay.${tmb_crew}>)
  add_test(NAME multi.replay_${tmb_crew} COMMAND ${tmb_random} --count 16)
  add_test(NAME multi.replay_${tmb_crew}_udp COMMAND ${tmb_random} --count 4)
  add_test(NAME multi.replay_${tmb_crew}20 COMMAND ${tmb_random} --random --count 48 --replays 20)
  add_test(NAME multi.replay_${tmb_crew}_udp20 COMMAND ${tmb_random} --random --count 12
    --replays 20)
  set_tests_properties(multi.replay_${tmb_crew} multi.replay_${tmb_crew}_udp PROPERTIES LABELS multi
    TIMEOUT 240)
  set_tests_properties(multi.replay_${tmb_crew}20 multi.replay_${tmb_crew}_udp20 PROPERTIES
    LABELS "multi;nightly" TIMEOUT 1800)
  set_tests_properties(multi.replay_${tmb_crew}_udp multi.replay_${tmb_crew}_udp20 PROPERTIES
    ENVIRONMENT "TOMBOLO_PLACES=cyclic:2;TOMBOLO_CONDUIT=udp")
endforeach()

# Each case of orders.f90 and orders_shmem.c: once in each run of the tests, 20 times nightly.
function(tmb_replay_orders name program source)
  foreach(replays 1 20)
    add_test(NAME multi.replay_${name}${replays} COMMAND python3
      "${PROJECT_SOURCE_DIR}/tests/replay/orders.py" $<TARGET_FILE:tombolo_tool> "${program}"
      "${source}" ${replays})
    set_tests_properties(multi.replay_${name}${replays} PROPERTIES LABELS multi TIMEOUT 600)
  endforeach()
  set_tests_properties(multi.replay_${name}20 PROPERTIES LABELS "multi;nightly")
endfunction()
if(TARGET shmem_shared)
  set(tmb_orders_source "${PROJECT_SOURCE_DIR}/tests/replay/orders_shmem.c")
  add_executable(replay.orders_shmem "${tmb_orders_source}")
  set_target_properties(replay.orders_shmem PROPERTIES OUTPUT_NAME orders_shmem
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/replay")
  target_compile_options(replay.orders_shmem PRIVATE -g -O1)
  target_link_libraries(replay.orders_shmem PRIVATE tmb_warnings shmem_shared)
  add_dependencies(replay.orders_shmem tombolo_replay)
  tmb_replay_orders(orders_shmem $<TARGET_FILE:replay.orders_shmem> "${tmb_orders_source}")
endif()
if(TARGET caf_shared AND tmb_fortran_compilers)
  set(tmb_orders_source "${PROJECT_SOURCE_DIR}/tests/replay/orders.f90")
  set(tmb_orders "${PROJECT_BINARY_DIR}/tests/replay/orders")
  list(GET tmb_fortran_compilers -1 tmb_orders_version)
  add_custom_command(OUTPUT "${tmb_orders}"
    COMMAND $<TARGET_FILE:tombolo_tool> fc -g -O1
      "--compiler=${TMB_GFORTRAN_${tmb_orders_version}}" "${tmb_orders_source}" -o "${tmb_orders}"
    DEPENDS "${tmb_orders_source}" tombolo_tool tombolo_shared caf_shared caf16_shared
      fortran_modules
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/tests/replay"
    COMMENT "Replayed: orders" VERBATIM)
  add_custom_target(replay.orders ALL DEPENDS "${tmb_orders}")
  add_dependencies(replay.orders tombolo_replay)
  tmb_replay_orders(orders "${tmb_orders}" "${tmb_orders_source}")
endif()
