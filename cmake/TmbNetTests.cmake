# SPDX-License-Identifier: BSD-3-Clause
# Tests on several hosts: network namespaces that tests/net/lab.py makes, and the link `wire`
# between them. Label "net": the quick set, part of `make test`; label "net-whole": what
# `make test-net` adds.
if(NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()
set(tmb_net_dir "${PROJECT_SOURCE_DIR}/tests/net")

# ---- wire: one program, and its unit tests with all of its sources but wire.c
file(GLOB tmb_wire_sources CONFIGURE_DEPENDS "${tmb_net_dir}/wire/*.c")
list(FILTER tmb_wire_sources EXCLUDE REGEX "(_test|/wire)\\.c$")
add_executable(net_wire "${tmb_net_dir}/wire/wire.c" ${tmb_wire_sources})
target_link_libraries(net_wire PRIVATE tmb_warnings m)
tmb_add_unit_test(wire.model "${tmb_net_dir}/wire/model_test.c" ${tmb_wire_sources})
set_target_properties(net_wire PROPERTIES OUTPUT_NAME wire
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/net")

# tmb_add_net_test(NAME LABEL SCRIPT [ARGUMENTS...]): a script of tests/net; its head says how long
# it may take.
function(tmb_add_net_test name label script)
  tmb_read_header(hdr "${tmb_net_dir}/${script}")
  tmb_register_run(${label}.${name} ${label} "python3;${tmb_net_dir}/${script};${ARGN}")
endfunction()

# A run of the conformance programs on several hosts; the arguments are those of suite.py.
function(tmb_add_net_suite name label)
  tmb_add_net_test(suite.${name} ${label} suite.py ${ARGN})
endfunction()

tmb_add_net_test(skip net skip_test.py)
tmb_add_net_test(lab net lab_test.py)
tmb_add_net_test(wire net wire_test.py)
