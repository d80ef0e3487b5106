# SPDX-License-Identifier: BSD-3-Clause
# The coarray Fortran runtime: coarray/*.c -> libcaf_tombolo.so and .a. They need no Fortran
# compiler to be built; `tombolo fc` finds them beside the command. They are clients of the public
# headers like any other, with one thread at a time in the library.
if(NOT TMB_FORTRAN)
  message(STATUS "tombolo: TMB_FORTRAN is OFF: no coarray Fortran")
  return()
endif()

file(GLOB tmb_caf_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/coarray/*.c")
list(FILTER tmb_caf_sources EXCLUDE REGEX "_test\\.c$")
add_library(tmb_caf_objects OBJECT ${tmb_caf_sources})
set_target_properties(tmb_caf_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_compile_definitions(tmb_caf_objects PRIVATE GASNET_PARSYNC=1 _GNU_SOURCE=1
  GEXX_NO_IDENT=1) # a program is not of the thread mode of a library that it links
target_include_directories(tmb_caf_objects PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(tmb_caf_objects PRIVATE tmb_warnings Threads::Threads)

add_library(caf_shared SHARED $<TARGET_OBJECTS:tmb_caf_objects>)
set_target_properties(caf_shared PROPERTIES OUTPUT_NAME caf_tombolo EXPORT_NAME caf
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  INSTALL_RPATH "$ORIGIN")
target_link_libraries(caf_shared PUBLIC tombolo_shared)
add_library(caf_static STATIC $<TARGET_OBJECTS:tmb_caf_objects>)
set_target_properties(caf_static PROPERTIES OUTPUT_NAME caf_tombolo EXPORT_NAME caf_static
  LINKER_LANGUAGE C)
target_link_libraries(caf_static PUBLIC tombolo_static)
foreach(lib caf_shared caf_static)
  target_compile_options(${lib} INTERFACE $<$<COMPILE_LANGUAGE:Fortran>:-fcoarray=lib>)
endforeach()

# The module tombolo_caf has interfaces only: no object, but a file for each compiler's generation,
# where `tombolo fc` looks for it. gfortran 11 cannot pass what it declares.
set(tmb_fortran_compilers "")
set(tmb_fortran_modules "")
foreach(version 11 12 13 14)
  find_program(TMB_GFORTRAN_${version} gfortran-${version})
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
