# SPDX-License-Identifier: BSD-3-Clause
# Tests of foreign launchers and of MPI in one process (tests/launch). Label "net": the quick set,
# "net-whole": the rest. What is not installed is skipped, with the reason.
if(NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()
set(tmb_launch_dir "${PROJECT_SOURCE_DIR}/tests/launch")
set(tmb_launch_out "${PROJECT_BINARY_DIR}/tests/launch")

add_executable(launch_ends "${tmb_launch_dir}/ends.c")
target_compile_definitions(launch_ends PRIVATE GASNET_SEQ=1)
target_link_libraries(launch_ends PRIVATE tmb_warnings tmb_client)
set_target_properties(launch_ends PROPERTIES OUTPUT_NAME ends
  RUNTIME_OUTPUT_DIRECTORY "${tmb_launch_out}")

# A program of MPI and this library, once for each MPI whose compiler is there.
foreach(abi openmpi mpich)
  if(TARGET tombolo_net_mpi_${abi})
    add_executable(launch_mixed_${abi} "${tmb_launch_dir}/mixed.c")
    target_compile_definitions(launch_mixed_${abi} PRIVATE GASNET_SEQ=1)
    target_include_directories(launch_mixed_${abi} SYSTEM PRIVATE
      $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_INCLUDES>)
    target_link_libraries(launch_mixed_${abi} PRIVATE tmb_warnings tmb_client
      $<TARGET_PROPERTY:tombolo_net_mpi_${abi},TMB_MPI_LINKS>)
    set_target_properties(launch_mixed_${abi} PROPERTIES OUTPUT_NAME mixed-${abi}
      RUNTIME_OUTPUT_DIRECTORY "${tmb_launch_out}")
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
