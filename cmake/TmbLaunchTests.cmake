# SPDX-License-Identifier: BSD-3-Clause
# Tests of foreign launchers and of MPI in one process (tests/launch). Label "net": the quick set,
# "net-whole": the rest. What is not installed is skipped, with the reason.
if(NOT TARGET tombolo_tool OR TMB_SANITIZE OR NOT "launch" IN_LIST TMB_TEST_FOLDERS)
  return()
endif()
set(tmb_launch_dir "${PROJECT_SOURCE_DIR}/tests/launch")
set(tmb_launch_out "${PROJECT_BINARY_DIR}/tests/launch")

add_executable(launch_ends "${tmb_launch_dir}/ends.c")
target_compile_definitions(launch_ends PRIVATE GASNET_SEQ=1)
target_link_libraries(launch_ends PRIVATE tmb_warnings tmb_client)
set_target_properties(launch_ends PROPERTIES OUTPUT_NAME ends
  RUNTIME_OUTPUT_DIRECTORY "${tmb_launch_out}")

# Programs of MPI and this library, once for each MPI whose compiler is there.
function(tmb_add_mixed name abi mode)
  add_executable(launch_${name}_${abi} "${tmb_launch_dir}/${name}.c")
  target_compile_definitions(launch_${name}_${abi} PRIVATE ${mode}=1)
  target_include_directories(launch_${name}_${abi} SYSTEM PRIVATE
    $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_INCLUDES>)
  target_link_libraries(launch_${name}_${abi} PRIVATE tmb_warnings tmb_client Threads::Threads
    $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_LINKS>)
  set_target_properties(launch_${name}_${abi} PROPERTIES OUTPUT_NAME ${name}-${abi}
    RUNTIME_OUTPUT_DIRECTORY "${tmb_launch_out}")
endfunction()
foreach(abi openmpi mpich)
  if(TARGET tombolo_net_mpi_${abi})
    tmb_add_mixed(mixed ${abi} GASNET_SEQ)
    tmb_add_mixed(mixes ${abi} GASNET_PAR)
    add_library(launch_refuses_${abi} MODULE "${tmb_launch_dir}/mpi_refuses.c")
    target_include_directories(launch_refuses_${abi} SYSTEM PRIVATE
      $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_INCLUDES>)
    target_link_libraries(launch_refuses_${abi} PRIVATE tmb_warnings ${CMAKE_DL_LIBS}
      $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_LINKS>)
    set_target_properties(launch_refuses_${abi} PROPERTIES PREFIX "" OUTPUT_NAME mpi_refuses-${abi}
      LIBRARY_OUTPUT_DIRECTORY "${tmb_launch_out}")
  endif()
endforeach()

function(tmb_add_launch_test name label script)
  tmb_read_header(hdr "${tmb_launch_dir}/${script}")
  tmb_register_run(${label}.launch.${name} ${label} "python3;${tmb_launch_dir}/${script};${ARGN}")
endfunction()

tmb_add_launch_test(hydra net launchers_test.py hydra)
tmb_add_launch_test(openmpi net launchers_test.py openmpi)
tmb_add_launch_test(refused net refused_test.py)
tmb_add_launch_test(hydra net-whole launchers_test.py --whole hydra)
tmb_add_launch_test(openmpi net-whole launchers_test.py --whole openmpi)
tmb_add_launch_test(slurm net-whole slurm_test.py --whole)
