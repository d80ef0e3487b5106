# SPDX-License-Identifier: BSD-3-Clause
# Tests on several hosts: network namespaces that tests/net/lab.py makes, and the link `wire`
# between them. Label "net": the quick set, part of `make test`; label "net-whole": what
# `make test-net` adds.
if(NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()
set(tmb_net_dir "${PROJECT_SOURCE_DIR}/tests/net")

# tmb_add_net_test(NAME LABEL SCRIPT [ARGUMENTS...]): a script of tests/net; its head says how long
# it may take.
function(tmb_add_net_test name label script)
  tmb_read_header(hdr "${tmb_net_dir}/${script}")
  tmb_register_run(${label}.${name} ${label} "python3;${tmb_net_dir}/${script};${ARGN}")
endfunction()

tmb_add_net_test(skip net skip_test.py)
tmb_add_net_test(lab net lab_test.py)
