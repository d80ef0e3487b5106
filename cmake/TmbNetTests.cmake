# SPDX-License-Identifier: BSD-3-Clause
# Tests on several hosts: network namespaces that tests/net/lab.py makes, and the link `wire`
# between them. Label "net": the quick set, part of `make test`; label "net-whole": what
# `make test-net` adds.
if(NOT TARGET tombolo_tool OR TMB_SANITIZE OR NOT "net" IN_LIST TMB_TEST_FOLDERS)
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

# Loaded before a program: its sockets have small buffers.
add_library(net_small_buffers MODULE "${tmb_net_dir}/small_buffers.c")
target_link_libraries(net_small_buffers PRIVATE tmb_warnings ${CMAKE_DL_LIBS})
set_target_properties(net_small_buffers PROPERTIES PREFIX "" OUTPUT_NAME small_buffers
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/net")

foreach(name flood inject)
  add_executable(net_${name} "${tmb_net_dir}/${name}.c")
  target_link_libraries(net_${name} PRIVATE tmb_warnings tmb_client Threads::Threads m)
  target_compile_definitions(net_${name} PRIVATE GASNET_SEQ=1)
  set_target_properties(net_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/net")
endforeach()

foreach(name IN ITEMS skip lab wire ssh secret inject tune faults trouble why mtu share rails)
  tmb_add_net_test(${name} net ${name}_test.py)
endforeach()
foreach(name IN ITEMS inject faults rails)
  tmb_add_net_test(${name} net-whole ${name}_test.py --whole)
endforeach()
tmb_add_net_test(fair net-whole fair_test.py 200mbit)

# ---- the quick set. Where links are bad or packets tiny, datagrams carry long transfers too.
set(tmb_no_comfort --set TOMBOLO_TEST_UDP_CREDITS=1 --set TOMBOLO_TEST_UDP_COALESCE=0
  --set TOMBOLO_UDP_MTU=256 --set TOMBOLO_TEST_UDP_STREAM_BYTES=0)
# What is corrupted there has a right UDP checksum: the hash over the whole payload finds it.
set(tmb_bad_link --wire "loss=1%,duplicate=1%,reorder=2%,corrupt=0.5%,delay=50us,jitter=50us"
  --set TOMBOLO_TEST_UDP_STREAM_BYTES=0)
# Programs that repeat a lot do so less often. coll_memory, which fills all queues, takes 40 s of
# processor time at seven ranks with one credit: each night.
set(tmb_few --set TMB_TEST_SHARE=6 --set TMB_TEST_COUNT=20000)
set(tmb_less --select "^(?!coll_memory)" ${tmb_few})
tmb_add_net_suite(cyclic net --hosts 2 --ranks 4 --placement cyclic --part 1/24 --time-factor 3
  ${tmb_less})
tmb_add_net_suite(cyclic net-whole --hosts 2 --ranks 4 --placement cyclic --time-factor 3)
tmb_add_net_suite(strict net --hosts 4 --ranks 7 --placement uneven --part 2/72 --time-factor 3
  ${tmb_no_comfort} ${tmb_less})
tmb_add_net_suite(bad-link net --hosts 2 --ranks 3 --family 6 --part 4/80 --time-factor 3
  ${tmb_bad_link} ${tmb_less})
tmb_add_net_suite(soak net --hosts 2 --ranks 4 --select "^soak$" --time-factor 3 --wire "loss=1%"
  --set TMB_TEST_COUNT=100000)

tmb_add_net_suite(encrypted net --hosts 2 --ranks 3 --part 3/40 --time-factor 3
  --set TOMBOLO_UDP_AUTH=encrypt)
tmb_add_net_suite(stream net --hosts 2 --ranks 3 --part 5/40 --time-factor 3
  --set TOMBOLO_UDP_STREAM=1 --set TOMBOLO_UDP_AUTH=encrypt ${tmb_less})

# The conduit ofi on hosts that are pretended: no root is needed.
if(TARGET tombolo_net_ofi)
  set(tmb_ofi --pretend --conduit ofi)
  foreach(name signals flood stripes shorts absent)
    add_executable(net_ofi_${name} "${tmb_net_dir}/ofi_${name}.c")
    target_link_libraries(net_ofi_${name} PRIVATE tmb_warnings tmb_client Threads::Threads m)
    target_compile_definitions(net_ofi_${name} PRIVATE GASNET_SEQ=1)
    set_target_properties(net_ofi_${name} PROPERTIES OUTPUT_NAME ofi_${name}
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/net")
  endforeach()
  tmb_add_net_test(ofi net ofi_test.py)
  tmb_add_net_test(ofi_rails net ofi_rails_test.py)
  tmb_add_net_suite(ofi net ${tmb_ofi} --hosts 2 --ranks 4 --placement cyclic --part 6/40
    --time-factor 3 ${tmb_less})
  # ... with all short messages in batches
  tmb_add_net_suite(ofi-batches net ${tmb_ofi} --hosts 2 --ranks 3 --part 9/40 --time-factor 3
    --set TOMBOLO_TEST_OFI_GATHER=2 ${tmb_less})
  tmb_add_net_suite(ofi-batches net-whole ${tmb_ofi} --hosts 3 --ranks 7 --placement uneven
    --time-factor 6 --set TOMBOLO_TEST_OFI_GATHER=2)
  # atomic domains by providers in software; over sockets, where each operation takes a millisecond
  # on two processors, all of them only in the whole
  foreach(provider tcp%3Bofi_rxm shm)
    string(REGEX REPLACE "[^a-z].*" "" word "${provider}")
    tmb_add_net_suite(ofi-atomics-${word} net --pretend --conduit ofi --hosts 2 --ranks 4
      --placement cyclic --select "^(ad_.*|computing)$" --time-factor 3
      --set TOMBOLO_OFI_PROVIDER=${provider} --set TOMBOLO_OFI_ATOMICS=yes ${tmb_few})
    tmb_add_net_suite(ofi-atomics-${word} net-whole --pretend --conduit ofi --hosts 3 --ranks 7
      --placement uneven --time-factor 6 --set TOMBOLO_OFI_PROVIDER=${provider}
      --set TOMBOLO_OFI_ATOMICS=yes)
  endforeach()
  tmb_add_net_suite(ofi-atomics-sockets net-whole --pretend --conduit ofi --hosts 2 --ranks 3
    --select "^(ad_.*|computing)$" --time-factor 20 --set TOMBOLO_OFI_PROVIDER=sockets
    --set TOMBOLO_OFI_ATOMICS=yes)
  # device memory (simulated) between hosts
  tmb_add_net_suite(ofi-devices net ${tmb_ofi} --hosts 2 --ranks 4 --placement cyclic
    --select "^(mk_rma|mk_signal|mk_stream|vis_device|coll_device)$" --time-factor 3)
  # ... the whole, by provider and with little of everything. Over ofi_rxd a few programs take
  # minutes: no run of it is one of `make test`.
  foreach(provider tcp%3Bofi_rxm udp%3Bofi_rxd sockets shm)
    string(REGEX REPLACE "[^a-z].*" "" word "${provider}")
    tmb_add_net_suite(ofi-${word} net-whole --pretend --conduit ofi --hosts 3 --ranks 7
      --placement uneven --time-factor 6 --set TOMBOLO_OFI_PROVIDER=${provider})
  endforeach()
  tmb_add_net_suite(ofi-strict net-whole ${tmb_ofi} --hosts 2 --ranks 4 --placement cyclic
    --time-factor 6 --set TOMBOLO_TEST_OFI_CREDITS=1 --set TOMBOLO_TEST_OFI_INJECT=0
    --set TOMBOLO_TEST_OFI_RECEIVES=2 --set TOMBOLO_TEST_OFI_SENDS=4
    --set TOMBOLO_TEST_OFI_MR_LOCAL=1)
  tmb_add_net_suite(ofi-messages net-whole ${tmb_ofi} --hosts 2 --ranks 4 --time-factor 6
    --set TOMBOLO_TEST_OFI_RMA=0 --set "TOMBOLO_TEST_OFI_FAULT=send=20,inject=20")
else()
  tmb_skip_all(net "no libfabric (package libfabric-dev)" net.ofi)
endif()

# The conduit mpi, by the launcher of each MPI, and by ours.
set(tmb_mpi --pretend --conduit mpi)
foreach(pair openmpi=openmpi mpich=hydra)
  string(REPLACE "=" ";" words "${pair}")
  list(GET words 0 abi)
  list(GET words 1 launcher)
  if(TARGET tombolo_net_mpi_${abi})
    tmb_add_net_suite(mpi-${abi} net ${tmb_mpi} --launcher ${launcher} --hosts 2 --ranks 4
      --placement cyclic --part 5/40 --time-factor 3)
    tmb_add_net_suite(mpi-${abi} net-whole ${tmb_mpi} --launcher ${launcher} --hosts 3 --ranks 7
      --placement uneven --time-factor 6)
    tmb_add_net_suite(mpi-${abi}-strict net-whole ${tmb_mpi} --launcher ${launcher} --hosts 2
      --ranks 4 --placement cyclic --time-factor 6 --set TOMBOLO_TEST_MPI_CREDITS=1
      --set TOMBOLO_TEST_MPI_RECEIVES=2 --set TOMBOLO_TEST_MPI_SENDS=4
      --set TOMBOLO_TEST_MPI_DIRECT=1)
  endif()
endforeach()
if(TARGET tombolo_net_mpi_mpich)
  tmb_add_net_suite(mpi-devices net ${tmb_mpi} --set TOMBOLO_MPI=mpich --hosts 2 --ranks 4
    --placement cyclic --select "^(mk_rma|mk_signal|mk_stream|vis_device|coll_device)$"
    --time-factor 3)
  tmb_add_net_suite(mpi-thread net ${tmb_mpi} --set TOMBOLO_MPI=mpich
    --set TOMBOLO_MPI_THREAD=MULTIPLE --hosts 2 --ranks 4 --placement cyclic
    --select "^(computing(_mix|_later.*)?|vis_random|ad_ops)$" --time-factor 3)
  tmb_add_net_suite(mpi-credits net ${tmb_mpi} --set TOMBOLO_MPI=mpich
    --set TOMBOLO_MPI_THREAD=MULTIPLE --set TOMBOLO_TEST_MPI_CREDITS=8 --hosts 3 --ranks 7
    --placement cyclic --select "^(computing_later.*|am_credit)$" --time-factor 3)
  tmb_add_net_suite(mpi-colls net ${tmb_mpi} --set TOMBOLO_MPI=mpich
    --set TOMBOLO_MPI_THREAD=MULTIPLE --hosts 7 --ranks 7 --placement cyclic
    --select "^computing_coll$" --time-factor 3)
  # ... all Longs of 8 bytes and more from memory to memory, with little of everything
  tmb_add_net_suite(mpi-longs net ${tmb_mpi} --set TOMBOLO_MPI=mpich --hosts 3 --ranks 4
    --placement cyclic --select "^am_(long|flood|forms|args|limits|token)$" --time-factor 3
    --set TOMBOLO_TEST_MPI_DIRECT=1 --set TOMBOLO_TEST_MPI_CREDITS=1
    --set TOMBOLO_TEST_MPI_RECEIVES=2 --set TOMBOLO_TEST_MPI_SENDS=4)
  tmb_add_net_suite(mpi-run net ${tmb_mpi} --set TOMBOLO_MPI=mpich --hosts 2 --ranks 4
    --placement cyclic --part 7/40 --time-factor 3 --set TOMBOLO_TEST_MPI_DIRECT=1)
endif()

# ---- the whole: hosts, ranks, placements
foreach(shape 2.2.blocks 2.8.cyclic 4.7.uneven 4.16.blocks 8.8.blocks 8.32.cyclic)
  string(REPLACE "." ";" words "${shape}")
  list(GET words 0 hosts)
  list(GET words 1 ranks)
  list(GET words 2 placement)
  tmb_add_net_suite(h${hosts}-n${ranks}-${placement} net-whole --hosts ${hosts} --ranks ${ranks}
    --placement ${placement} --time-factor 4)
endforeach()
# ... settings and links
tmb_add_net_suite(loop-whole net-whole --pretend --conduit loop --hosts 3 --ranks 7
  --placement uneven --time-factor 4)
tmb_add_net_suite(hooks net-whole --pretend --conduit loop --hosts 2 --ranks 4 --placement cyclic
  --time-factor 4 --set "TOMBOLO_TEST_NET_HOOK=fault:seed=7,again=20")
tmb_add_net_suite(strict-whole net-whole --hosts 2 --ranks 4 --placement cyclic --time-factor 6
  ${tmb_no_comfort})
tmb_add_net_suite(small-frames net-whole --hosts 2 --ranks 4 --mtu 576 --time-factor 4
  --set TOMBOLO_TEST_UDP_OFFLOAD=0)
tmb_add_net_suite(ipv6 net-whole --hosts 4 --ranks 8 --family 6 --time-factor 4)
tmb_add_net_suite(rails net-whole --hosts 2 --ranks 4 --placement cyclic --rails 2 --time-factor 4)
tmb_add_net_suite(bad-link-whole net-whole --hosts 2 --ranks 4 --time-factor 6 ${tmb_bad_link})
tmb_add_net_suite(slow-link net-whole --hosts 4 --ranks 4 --time-factor 6
  --wire "delay=1ms,rate=100mbit")
tmb_add_net_suite(soak-whole net-whole --hosts 2 --ranks 4 --select "^soak$" --time-factor 200
  --wire "loss=1%" --set TMB_TEST_COUNT=50000000)
tmb_add_net_suite(encrypted-whole net-whole --hosts 2 --ranks 4 --time-factor 6
  --wire "loss=1%,corrupt=0.5%" --set TOMBOLO_UDP_AUTH=encrypt)
tmb_add_net_suite(stream-whole net-whole --hosts 4 --ranks 7 --placement uneven --time-factor 6
  --set TOMBOLO_UDP_STREAM=1)
tmb_add_net_suite(stream-slow net-whole --hosts 2 --ranks 4 --family 6 --time-factor 6
  --wire "loss=1%,delay=200us" --set TOMBOLO_UDP_STREAM=1)
tmb_add_net_suite(no-datagrams net-whole --hosts 2 --ranks 4 --time-factor 6
  --set TOMBOLO_TEST_UDP_FAULT=loss=100)
# They take longer than the head of suite.py says.
get_directory_property(tmb_all_tests TESTS)
foreach(test IN LISTS tmb_all_tests)
  if(test MATCHES "^net-whole\\.")
    set_tests_properties(${test} PROPERTIES TIMEOUT 7200)
  endif()
endforeach()
