# SPDX-License-Identifier: BSD-3-Clause
# PRIF, the Parallel Runtime Interface for Fortran: prif/**.c and the core of coarray/ ->
# libprif_tombolo.so and .a. They need no Fortran compiler to be built.
if(NOT TARGET tmb_caf_objects)
  return()
endif()

file(GLOB_RECURSE tmb_prif_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/prif/*.c")
# prif/flang/program/ is linked with programs.
list(FILTER tmb_prif_sources EXCLUDE REGEX "_test\\.c$|/prif/flang/program/")
add_library(tmb_prif_objects OBJECT ${tmb_prif_sources})
tmb_runtime_objects(tmb_prif_objects PARSYNC "${PROJECT_SOURCE_DIR}/prif"
  "${PROJECT_SOURCE_DIR}/coarray")

# The core exports what gfortran's calls need, which programs of PRIF must not find here.
set(tmb_prif_objects $<TARGET_OBJECTS:tmb_prif_objects> $<TARGET_OBJECTS:tmb_caf_objects>
  $<TARGET_OBJECTS:tmb_caf_objects12>)
add_library(prif_shared SHARED ${tmb_prif_objects})
set_target_properties(prif_shared PROPERTIES OUTPUT_NAME prif_tombolo EXPORT_NAME prif
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  INSTALL_RPATH "$ORIGIN" LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/prif.map")
target_link_options(prif_shared PRIVATE ${tmb_stays}
  "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/prif.map")
target_link_libraries(prif_shared PUBLIC tombolo_shared)
add_library(prif_static STATIC ${tmb_prif_objects})
set_target_properties(prif_static PROPERTIES OUTPUT_NAME prif_tombolo EXPORT_NAME prif_static
  LINKER_LANGUAGE C)
target_link_libraries(prif_static PUBLIC tombolo_static)
