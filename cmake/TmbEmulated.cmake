# SPDX-License-Identifier: BSD-3-Clause
# Tests that QEMU cannot run, though the library is right: in a tree for another processor they get
# the label not-emulated instead of their own, so that no stage chooses them. Included last.
#
# unit.base.log: QEMU prints a line of its own when a program aborts.
# unit.os.os: the address space limit of a program is QEMU's, too, and QEMU has threads of its own.
# unit.os.process.debug: GDB sees QEMU instead of the program.
# unit.tools.doctor_test: filters of system calls see QEMU's calls.
# conformance.mk_signal: mprotect of the simulated device's pages fails under QEMU 7.2.
# conformance.segment_large: the page tables of QEMU count as memory of the program.
# upc.why: it needs tests/fault/victim, and these trees have no tests of faults.
# upc.faults: addr2line of this machine does not read programs of another processor; and whether an
# access was a read or a write is known on x86-64 only.
set(tmb_not_emulated "^unit\\.(base\\.log|os\\.os|os\\.process\\.debug|tools\\.doctor_test)$")
string(APPEND tmb_not_emulated "|^upc\\.(why|faults)$|^conformance\\.(mk_signal|segment_large)\\.")
if(CMAKE_CROSSCOMPILING)
  get_property(tmb_all_tests DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY TESTS)
  foreach(test IN LISTS tmb_all_tests)
    if(test MATCHES "${tmb_not_emulated}")
      set_property(TEST "${test}" PROPERTY LABELS not-emulated)
    endif()
    get_property(tmb_limit TEST "${test}" PROPERTY TIMEOUT)
    if(tmb_limit) # QEMU takes 5 to 20 times as long, and compilers run under it, too
      math(EXPR tmb_limit "${tmb_limit} * 8")
      set_property(TEST "${test}" PROPERTY TIMEOUT ${tmb_limit})
    endif()
  endforeach()
endif()
