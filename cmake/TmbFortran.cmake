# SPDX-License-Identifier: BSD-3-Clause
# The coarray Fortran runtime: coarray/**.c -> libcaf_tombolo.so and .a. They need no Fortran
# compiler to be built; `tombolo fc` finds them beside the command. They are clients of the public
# headers like any other, with one thread at a time in the library.
if(NOT TMB_FORTRAN)
  message(STATUS "tombolo: TMB_FORTRAN is OFF: no coarray Fortran")
  return()
endif()

# Descriptors of arrays are declared by a header of gfortran, which gcc of the same package finds.
# Other C compilers get a copy, for what else lies in its folder is gcc's. clang 19 has a header of
# this name, for another Fortran compiler: a name that only gfortran's header has decides.
include(CheckCSourceCompiles)
set(tmb_caf_options "")
check_c_source_compiles("#include <ISO_Fortran_binding.h>
int main(void) { return CFI_type_Integer == CFI_type_Logical; }" TMB_HAVE_GFORTRAN_BINDING)
if(NOT TMB_HAVE_GFORTRAN_BINDING)
  find_program(TMB_GFORTRAN NAMES gfortran gfortran-16 gfortran-15 gfortran-14 gfortran-13
    gfortran-12 gfortran-11)
  set(tmb_caf_header "")
  if(TMB_GFORTRAN AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${TMB_GFORTRAN} -print-file-name=include/ISO_Fortran_binding.h
      OUTPUT_VARIABLE tmb_caf_header OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT EXISTS "${tmb_caf_header}")
    message(STATUS "tombolo: no ISO_Fortran_binding.h (package gfortran): no coarray Fortran")
    return()
  endif()
  file(COPY "${tmb_caf_header}" DESTINATION "${PROJECT_BINARY_DIR}/generated/gfortran")
  set(tmb_caf_options "SHELL:-isystem \"${PROJECT_BINARY_DIR}/generated/gfortran\"")
endif()

file(GLOB_RECURSE tmb_caf_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/coarray/*.c")
list(FILTER tmb_caf_sources EXCLUDE REGEX "_test\\.c$")
# What depends on the compiler's generation lies in compiler*.c: up to gfortran 15 and from 16 on,
# calls have the same names and other arguments, so there are two libraries.
set(tmb_caf_12 "${PROJECT_SOURCE_DIR}/coarray/compiler/compiler12.c")
set(tmb_caf_16 "${PROJECT_SOURCE_DIR}/coarray/compiler/compiler16.c")
list(REMOVE_ITEM tmb_caf_sources "${tmb_caf_12}" "${tmb_caf_16}")
add_library(tmb_caf_objects OBJECT ${tmb_caf_sources})
add_library(tmb_caf_objects12 OBJECT ${tmb_caf_12})
add_library(tmb_caf_objects16 OBJECT ${tmb_caf_16})
foreach(objects tmb_caf_objects tmb_caf_objects12 tmb_caf_objects16)
  tmb_runtime_objects(${objects} PARSYNC "${PROJECT_SOURCE_DIR}/coarray")
  # Two words that were just stored are not loaded as one vector: the load would wait for the cache.
  target_compile_options(${objects} PRIVATE -fno-tree-slp-vectorize ${tmb_caf_options})
endforeach()

# tmb_add_caf(SHARED STATIC EXPORT NAME OBJECTS): one library of both kinds.
function(tmb_add_caf shared static export name objects)
  add_library(${shared} SHARED $<TARGET_OBJECTS:tmb_caf_objects> $<TARGET_OBJECTS:${objects}>)
  set_target_properties(${shared} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${export}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
    INSTALL_RPATH "$ORIGIN")
  target_link_libraries(${shared} PUBLIC tombolo_shared)
  target_link_options(${shared} PRIVATE ${tmb_stays})
  add_library(${static} STATIC $<TARGET_OBJECTS:tmb_caf_objects> $<TARGET_OBJECTS:${objects}>)
  set_target_properties(${static} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${export}_static
    LINKER_LANGUAGE C)
  target_link_libraries(${static} PUBLIC tombolo_static)
endfunction()
tmb_add_caf(caf_shared caf_static caf caf_tombolo tmb_caf_objects12)
tmb_add_caf(caf16_shared caf16_static caf16 caf_tombolo16 tmb_caf_objects16)
foreach(lib caf_shared caf_static caf16_shared caf16_static)
  target_compile_options(${lib} INTERFACE $<$<COMPILE_LANGUAGE:Fortran>:-fcoarray=lib>)
  target_link_options(${lib} INTERFACE # weak references take nothing out of libgfortran.a
    $<$<LINK_LANGUAGE:Fortran>:-Wl,-u,_gfortran_flush_i4,-u,_gfortran_random_seed_i4>)
endforeach()

# The module tombolo_caf has interfaces only: no object, but a file for each compiler's generation,
# where `tombolo fc` looks for it; for others it compiles the source. gfortran 11 cannot pass what
# the module declares.
configure_file("${PROJECT_SOURCE_DIR}/coarray/fortran/tombolo_caf.f90"
  "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/tombolo_caf.f90" COPYONLY)
set(tmb_fortran_compilers "")
set(tmb_fortran_modules "")
set(tmb_fortran_prefix "") # of the compiler's name
if(CMAKE_CROSSCOMPILING)
  set(tmb_fortran_prefix "${TMB_CROSS_PROCESSOR}-linux-gnu-")
endif()
foreach(version 11 12 13 14 15 16)
  find_program(TMB_GFORTRAN_${version} ${tmb_fortran_prefix}gfortran-${version})
  mark_as_advanced(TMB_GFORTRAN_${version})
  if(NOT TMB_GFORTRAN_${version})
    continue()
  endif()
  list(APPEND tmb_fortran_compilers ${version})
  if(version GREATER 11)
    set(folder "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/${version}")
    set(source "${PROJECT_SOURCE_DIR}/coarray/fortran/tombolo_caf.f90")
    add_custom_command(OUTPUT "${folder}/tombolo_caf.mod"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
      COMMAND ${TMB_GFORTRAN_${version}} -fsyntax-only -J "${folder}" "${source}"
      DEPENDS "${source}" COMMENT "Fortran ${version}: module tombolo_caf" VERBATIM)
    list(APPEND tmb_fortran_modules "${folder}/tombolo_caf.mod")
  endif()
endforeach()
add_custom_target(fortran_modules ALL DEPENDS ${tmb_fortran_modules})
