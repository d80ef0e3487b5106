# SPDX-License-Identifier: BSD-3-Clause
# Tests that QEMU cannot run, though the library is right: in a tree for another processor they get
# the label not-emulated instead of their own, so that no stage chooses them. In their place stands
# a test NAME.qemu, which is skipped and prints the reason. Also limits of time where all takes
# longer. Included last.
#
# Pairs: regular expression of tests, reason.
set(tmb_not_emulated
  "^unit\\.base\\.log$" "QEMU prints a line of its own when a program aborts"
  "^unit\\.os\\.os$" "the limit of the address space is QEMU's too, and QEMU has threads of its own"
  "^unit\\.os\\.process\\.debug$" "GDB sees QEMU instead of the program"
  "^unit\\.tools\\.doctor_test$" "filters of system calls see QEMU's calls"
  "^conformance\\.segment_large\\." "the page tables of QEMU count as memory of the program"
)
# tmb_not_under_qemu(TEST REASON): takes a test out of its stage, and skips in its place.
function(tmb_not_under_qemu test reason)
  get_property(labels TEST "${test}" PROPERTY LABELS)
  add_test(NAME "${test}.qemu" COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${reason}")
  set_tests_properties("${test}.qemu" PROPERTIES LABELS "${labels}"
    SKIP_REGULAR_EXPRESSION "^skipped: ")
  set_property(TEST "${test}" PROPERTY LABELS not-emulated)
endfunction()

# Linux on ARM may have pages of 64 KiB: QEMU claims them. One rank only, for QEMU refuses to map a
# file with such pages before it has its size, which Linux does not mind.
if(CMAKE_CROSSCOMPILING AND TMB_CROSS_PROCESSOR STREQUAL "aarch64")
  foreach(program dbg_object segment rma_blocking coll_basic ep_create)
    if(TARGET conformance.${program})
      add_test(NAME conformance.pages_64k.${program} COMMAND $<TARGET_FILE:tombolo_tool> run -n 1
        -- $<TARGET_FILE:conformance.${program}>)
      set_tests_properties(conformance.pages_64k.${program} PROPERTIES LABELS conformance
        TIMEOUT 60 ENVIRONMENT "QEMU_PAGESIZE=65536")
    endif()
  endforeach()
  if(TARGET upc.places)
    add_test(NAME upc.pages_64k.places COMMAND $<TARGET_FILE:tombolo_tool> run -n 1 --
      "${PROJECT_BINARY_DIR}/tests/upc/places")
    set_tests_properties(upc.pages_64k.places PROPERTIES LABELS upc TIMEOUT 60
      ENVIRONMENT "QEMU_PAGESIZE=65536")
  endif()
endif()

if(CMAKE_CROSSCOMPILING)
  get_property(tmb_all_tests DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY TESTS)
  foreach(test IN LISTS tmb_all_tests)
    set(tmb_pairs "${tmb_not_emulated}")
    while(tmb_pairs)
      list(POP_FRONT tmb_pairs tmb_pattern tmb_reason)
      if(test MATCHES "${tmb_pattern}")
        tmb_not_under_qemu("${test}" "${tmb_reason}")
      endif()
    endwhile()
  endforeach()
endif()

if(tmb_time_factor GREATER 1)
  get_property(tmb_all_tests DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY TESTS)
  foreach(test IN LISTS tmb_all_tests)
    get_property(tmb_limit TEST "${test}" PROPERTY TIMEOUT)
    if(tmb_limit)
      math(EXPR tmb_limit "${tmb_limit} * ${tmb_time_factor}")
      set_property(TEST "${test}" PROPERTY TIMEOUT ${tmb_limit})
    endif()
  endforeach()
endif()
