# SPDX-License-Identifier: BSD-3-Clause
# The module `prif`, for each Fortran compiler that is found: prif.mod and tombolo_prif.mod, which
# no other compiler can read, and libprif_fortran.a: the procedures of the module and, for flang,
# what notices the end of a program. All in lib/tombolo/fortran/<compiler>.
set(tmb_prif_fortran "") # folders' names: 12, flang-22
set(tmb_prif_modules "")
set(tmb_prif_source "${PROJECT_SOURCE_DIR}/prif/fortran")
file(GLOB tmb_prif_includes CONFIGURE_DEPENDS "${tmb_prif_source}/*.inc")
find_program(TMB_FLANG_22 flang-22 PATHS /usr/lib/llvm-22/bin)
mark_as_advanced(TMB_FLANG_22)

# tmb_add_prif_module(NAME COMPILER MODULE_OPTION [OBJECTS...]): the files for one compiler.
function(tmb_add_prif_module name compiler module_option)
  set(folder "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/${name}")
  set(objects "${PROJECT_BINARY_DIR}/prif/${name}")
  set(archive "${folder}/libprif_fortran.a")
  set(compile "${compiler}" -O2 -g -fPIC -w -I "${tmb_prif_source}" ${module_option} "${folder}" -c)
  add_custom_command(OUTPUT "${archive}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}" "${objects}"
    COMMAND ${compile} "${tmb_prif_source}/tombolo_prif.F90" -o "${objects}/tombolo_prif.o"
    COMMAND ${compile} "${tmb_prif_source}/prif.f90" -o "${objects}/prif.o"
    COMMAND ${CMAKE_COMMAND} -E rm -f "${archive}"
    COMMAND ${CMAKE_AR} qcs "${archive}" "${objects}/tombolo_prif.o" "${objects}/prif.o" ${ARGN}
    DEPENDS "${tmb_prif_source}/tombolo_prif.F90" "${tmb_prif_source}/prif.f90"
      ${tmb_prif_includes} ${ARGN}
    COMMENT "Fortran ${name}: module prif" VERBATIM COMMAND_EXPAND_LISTS)
  set(tmb_prif_modules ${tmb_prif_modules} "${archive}" PARENT_SCOPE)
  set(tmb_prif_fortran ${tmb_prif_fortran} ${name} PARENT_SCOPE)
endfunction()

foreach(version IN LISTS tmb_fortran_compilers)
  if(version GREATER 11) # gfortran 11 cannot pass what the module declares
    tmb_add_prif_module(${version} "${TMB_GFORTRAN_${version}}" -J)
  endif()
endforeach()
if(TMB_FLANG_22 AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB tmb_prif_program CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/prif/flang/program/*.c")
  add_library(tmb_prif_program OBJECT ${tmb_prif_program})
  set_target_properties(tmb_prif_program PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tmb_prif_program PRIVATE "${PROJECT_SOURCE_DIR}/prif")
  target_link_libraries(tmb_prif_program PRIVATE tmb_warnings)
  tmb_add_prif_module(flang-22 "${TMB_FLANG_22}" -module-dir
    $<TARGET_OBJECTS:tmb_prif_program>)
else()
  message(STATUS "tombolo: no flang-22 (package flang-22): its module prif is not built")
endif()
add_custom_target(prif_fortran_modules ALL DEPENDS ${tmb_prif_modules})

# What a program of flang is linked with, besides the libraries: see prif/flang/program.
set(tmb_prif_wraps "")
foreach(name IN ITEMS ProgramEndStatement FailImageStatement StopStatement StopStatementText)
  list(APPEND tmb_prif_wraps "-Wl,--wrap=_FortranA${name}")
endforeach()
