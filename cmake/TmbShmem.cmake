# SPDX-License-Identifier: BSD-3-Clause
# OpenSHMEM: shmem/runtime/**.c -> libshmem_tombolo.so and .a, a client of the public headers like
# any other; and the commands oshcc, oshc++ and oshrun, which find headers and library beside
# themselves: include/tombolo-shmem, lib.
if(NOT TMB_SHMEM)
  message(STATUS "tombolo: TMB_SHMEM is OFF: no OpenSHMEM")
  return()
endif()

set(tmb_shmem_dir "${PROJECT_SOURCE_DIR}/shmem")
file(GLOB_RECURSE tmb_shmem_sources CONFIGURE_DEPENDS "${tmb_shmem_dir}/runtime/*.c")
list(FILTER tmb_shmem_sources EXCLUDE REGEX "/interposed/")
function(tmb_shmem_objects name)
  add_library(${name} OBJECT ${ARGN})
  tmb_runtime_objects(${name} PAR "${tmb_shmem_dir}/include")
endfunction()
tmb_shmem_objects(tmb_shmem_objects ${tmb_shmem_sources})
foreach(kind shared static)
  tmb_shmem_objects(tmb_shmem_${kind} "${tmb_shmem_dir}/runtime/interposed/${kind}.c")
endforeach()

add_library(shmem_shared SHARED $<TARGET_OBJECTS:tmb_shmem_objects>
  $<TARGET_OBJECTS:tmb_shmem_shared>)
set_target_properties(shmem_shared PROPERTIES OUTPUT_NAME shmem_tombolo EXPORT_NAME shmem
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  INSTALL_RPATH "$ORIGIN")
target_link_libraries(shmem_shared PUBLIC tombolo_shared PRIVATE m)
target_link_options(shmem_shared PRIVATE ${tmb_stays})
add_library(shmem_static STATIC $<TARGET_OBJECTS:tmb_shmem_objects>
  $<TARGET_OBJECTS:tmb_shmem_static>)
set_target_properties(shmem_static PROPERTIES OUTPUT_NAME shmem_tombolo EXPORT_NAME shmem_static
  LINKER_LANGUAGE C)
target_link_libraries(shmem_static PUBLIC tombolo_static m)
foreach(target shmem_shared shmem_static)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${tmb_shmem_dir}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tombolo-shmem>)
endforeach()

add_library(tombolo::shmem ALIAS shmem_shared)
add_library(tombolo::shmem_static ALIAS shmem_static)

# The commands, in the build tree as they are installed.
set(TMB_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
foreach(name oshcc oshc++ oshrun)
  string(REPLACE "oshc++" "oshcc" from "${name}")
  configure_file("${tmb_shmem_dir}/commands/${from}.in" "${PROJECT_BINARY_DIR}/bin/${name}" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
endforeach()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
file(CREATE_LINK "${tmb_shmem_dir}/include" "${PROJECT_BINARY_DIR}/include/tombolo-shmem" SYMBOLIC)

# pshmem.h: the declarations of all routines, by the names of the profiling interface.
set(tmb_pshmem "${PROJECT_BINARY_DIR}/generated/pshmem.h")
file(GLOB_RECURSE tmb_shmem_headers CONFIGURE_DEPENDS "${tmb_shmem_dir}/include/*.h")
add_custom_command(OUTPUT "${tmb_pshmem}"
  COMMAND sh "${tmb_shmem_dir}/commands/pshmem.sh" "${CMAKE_C_COMPILER}" "${tmb_shmem_dir}/include"
    "${tmb_pshmem}"
  DEPENDS ${tmb_shmem_headers} "${tmb_shmem_dir}/commands/pshmem.sh" COMMENT "OpenSHMEM: pshmem.h"
  VERBATIM)
add_custom_target(shmem_headers ALL DEPENDS "${tmb_pshmem}")
