# SPDX-License-Identifier: BSD-3-Clause
# Plug-ins: plugins/<name>/ is a shared object that the library loads when it is used, beside
# libtombolo.so. They link nothing of the library. The CUDA plug-in needs neither the toolkit nor a
# driver to be built: it has its own declarations of the driver's interface, which are compared with
# NVIDIA's cuda.h where that is found.

# tmb_add_plugin(TARGET OUTPUT SOURCES...)
function(tmb_add_plugin target output)
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES PREFIX "lib" OUTPUT_NAME "${output}" SUFFIX ".so"
    C_VISIBILITY_PRESET hidden)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_compile_definitions(${target} PRIVATE GASNET_PAR=1)
  target_link_libraries(${target} PRIVATE tmb_warnings Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE ${tmb_stays})
endfunction()

# What each conduit needs of the library's sources, because it links nothing of the library.
set(tmb_alone_sources "${PROJECT_SOURCE_DIR}/src/net/plugin/alone.c"
  "${PROJECT_SOURCE_DIR}/src/os/sync/lock.c" "${PROJECT_SOURCE_DIR}/src/os/sync/futex.c"
  "${PROJECT_SOURCE_DIR}/src/os/processor/time.c")

# tmb_add_conduit(TARGET NAME SOURCES...): tombolo-net-NAME.so, with those compiled into it.
function(tmb_add_conduit target name)
  tmb_add_plugin(${target} tombolo-net-${name} ${ARGN} ${tmb_alone_sources})
  target_compile_options(${target} PRIVATE -UTMB_PREEMPT)
  set_target_properties(${target} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/tombolo")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  if(target IN_LIST tmb_conduits_untested)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# The trees of the sanitizers build the conduits that their tests use.
set(tmb_conduits_untested "")
if(TMB_SANITIZE STREQUAL "thread")
  set(tmb_conduits_untested tombolo_net_udp tombolo_net_ofi tombolo_net_mpi_openmpi
    tombolo_net_mpi_mpich)
elseif(TMB_SANITIZE)
  set(tmb_conduits_untested tombolo_net_mpi_openmpi)
endif()

# tmb_optimise_whole(TARGET): a packet runs through a dozen small files, so gcc optimises the
# conduit as one. Objects are fat: tests and scripts use them as they are. With clang this takes a
# linker that may be missing.
function(tmb_optimise_whole target)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE MATCHES "^Rel" OR
      TMB_SANITIZE OR TMB_COVERAGE)
    return()
  endif()
  check_c_compiler_flag("-flto=auto;-ffat-lto-objects" TMB_LTO) # gcc may be built without it
  if(NOT TMB_LTO)
    return()
  endif()
  target_compile_options(${target}_parts PRIVATE -O3 -flto=auto -ffat-lto-objects)
  target_compile_options(${target} PRIVATE -O3 -flto=auto -ffat-lto-objects)
  target_link_options(${target} PRIVATE -O3 -flto=auto)
endfunction()

# tmb_conduit_parts(TARGET NAME SOURCES...): tmb_add_conduit of SOURCES, which are compiled once, as
# TARGET_parts, for the conduit and its unit tests (TmbTests.cmake).
function(tmb_conduit_parts target name)
  add_library(${target}_parts OBJECT ${ARGN})
  set_target_properties(${target}_parts PROPERTIES POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden)
  target_include_directories(${target}_parts PRIVATE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${target}_parts PRIVATE GASNET_PAR=1)
  target_compile_options(${target}_parts PRIVATE -UTMB_PREEMPT)
  if(target IN_LIST tmb_conduits_untested)
    set_target_properties(${target}_parts PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  target_link_libraries(${target}_parts PRIVATE tmb_warnings Threads::Threads)
  tmb_add_conduit(${target} ${name} $<TARGET_OBJECTS:${target}_parts>)
endfunction()

# The udp conduit.
set(tmb_progress_thread "${PROJECT_SOURCE_DIR}/src/net/plugin/progress_thread.c")
set(tmb_socket_sources "${tmb_progress_thread}"
  "${PROJECT_SOURCE_DIR}/src/net/plugin/route.c" "${PROJECT_SOURCE_DIR}/src/net/plugin/verdict.c")
file(GLOB_RECURSE tmb_udp_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/udp/*.c")
list(FILTER tmb_udp_sources EXCLUDE REGEX "_test\\.c$")
list(APPEND tmb_udp_sources ${tmb_socket_sources})
tmb_conduit_parts(tombolo_net_udp udp ${tmb_udp_sources})
tmb_optimise_whole(tombolo_net_udp)

# The ofi conduit, likewise. It needs the headers of libfabric to be built; libfabric itself
# is loaded when a job uses the conduit.
find_path(TMB_OFI_INCLUDE rdma/fi_endpoint.h
  DOC "Folder that holds libfabric's rdma/fabric.h, for the conduit ofi")
if(TMB_OFI_INCLUDE)
  file(GLOB tmb_ofi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/ofi/*.c")
  list(FILTER tmb_ofi_sources EXCLUDE REGEX "_test\\.c$")
  tmb_conduit_parts(tombolo_net_ofi ofi ${tmb_ofi_sources} ${tmb_socket_sources})
  target_include_directories(tombolo_net_ofi_parts SYSTEM PRIVATE "${TMB_OFI_INCLUDE}")
else()
  message(STATUS "tombolo: libfabric's headers are not found, so the conduit ofi is not built "
    "(Debian: package libfabric-dev; or set TMB_OFI_INCLUDE)")
endif()

# The MPI plug-ins, which are the conduit mpi and the bootstrap's part: compiled for each binary
# interface of MPI whose compiler is found. Each is linked with its MPI library, which is in the
# process before the plug-in is loaded, or comes with it. The compiler commands of this machine name
# libraries of this machine, so none is looked for when the target is another one.
if(NOT CMAKE_CROSSCOMPILING)
  find_program(TMB_MPICC_OPENMPI NAMES mpicc.openmpi DOC "Compiler command of Open MPI")
  find_program(TMB_MPICC_MPICH NAMES mpicc.mpich DOC "Compiler command of MPICH")
endif()
file(GLOB tmb_mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/mpi/*.c")
set(TMB_MPI_PLUGINS "")
foreach(abi openmpi mpich)
  string(TOUPPER ${abi} upper)
  if(NOT TMB_MPICC_${upper})
    message(STATUS "tombolo: mpicc.${abi} not found: no plug-in for this MPI")
    continue()
  endif()
  execute_process(COMMAND "${TMB_MPICC_${upper}}" -show OUTPUT_VARIABLE tmb_show
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(tmb_words UNIX_COMMAND "${tmb_show}")
  set(tmb_mpi_includes "")
  set(tmb_mpi_links "")
  foreach(word IN LISTS tmb_words)
    if(word MATCHES "^-I(.+)")
      list(APPEND tmb_mpi_includes "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-[lL]")
      list(APPEND tmb_mpi_links "${word}")
    endif()
  endforeach()
  tmb_add_conduit(tombolo_net_mpi_${abi} mpi-${abi} ${tmb_mpi_sources}
    "${tmb_progress_thread}")
  set_target_properties(tombolo_net_mpi_${abi} PROPERTIES
    TMB_MPI_INCLUDES "${tmb_mpi_includes}" TMB_MPI_LINKS "${tmb_mpi_links}")
  target_include_directories(tombolo_net_mpi_${abi} SYSTEM PRIVATE ${tmb_mpi_includes})
  target_link_libraries(tombolo_net_mpi_${abi} PRIVATE ${tmb_mpi_links})
  list(APPEND TMB_MPI_PLUGINS tombolo_net_mpi_${abi})
endforeach()

if(TMB_CUDA)
  set(tmb_cuda_dir "${PROJECT_SOURCE_DIR}/plugins/cuda")
  tmb_add_plugin(tombolo_mk_cuda tombolo-mk-cuda "${tmb_cuda_dir}/plugin.c"
    "${tmb_cuda_dir}/driver.c")

  find_path(TMB_CUDA_INCLUDE cuda.h HINTS ENV CUDA_PATH ENV CUDA_HOME ENV CUDAToolkit_ROOT
    PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES include targets/x86_64-linux/include
    DOC "Folder of NVIDIA's cuda.h, for a check of the CUDA plug-in's declarations")
  if(TMB_CUDA_INCLUDE)
    if(NOT EXISTS "${TMB_CUDA_INCLUDE}/cuda.h")
      message(FATAL_ERROR "TMB_CUDA_INCLUDE is ${TMB_CUDA_INCLUDE}, which has no cuda.h")
    endif()
    message(STATUS "tombolo: the CUDA plug-in's declarations are checked against "
      "${TMB_CUDA_INCLUDE}/cuda.h")
    add_library(tmb_cuda_abi OBJECT "${tmb_cuda_dir}/abi_check.c")
    target_include_directories(tmb_cuda_abi SYSTEM PRIVATE "${TMB_CUDA_INCLUDE}")
    target_link_libraries(tmb_cuda_abi PRIVATE tmb_warnings)
  else()
    message(STATUS "tombolo: cuda.h not found, so the CUDA plug-in's declarations are not checked "
      "against it (set TMB_CUDA_INCLUDE or CUDA_PATH); the plug-in is built all the same")
  endif()
else()
  message(STATUS "tombolo: TMB_CUDA is OFF: gex_MK_Create of GEX_MK_CLASS_CUDA_UVA will find no "
    "plug-in")
endif()
