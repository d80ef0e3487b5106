# SPDX-License-Identifier: BSD-3-Clause
# The module `prif`, for each Fortran compiler that is found: prif.mod and tombolo_prif.mod, which
# no other compiler can read, and libprif_fortran.a: the procedures of the module and, for flang,
# what notices the end of a program. All in lib/tombolo/fortran/<compiler>.
set(tmb_prif_fortran "") # folders' names: 12, flang-22; their archives: tmb_prif_modules
set(tmb_prif_source "${PROJECT_SOURCE_DIR}/prif/fortran")
file(GLOB tmb_prif_includes CONFIGURE_DEPENDS "${tmb_prif_source}/*.inc")
set(tmb_flangs "") # versions with -fcoarray that are found
foreach(version 22 23 24)
  find_program(TMB_FLANG_${version} flang-${version} PATHS /usr/lib/llvm-${version}/bin)
  mark_as_advanced(TMB_FLANG_${version})
  if(TMB_FLANG_${version} AND NOT CMAKE_CROSSCOMPILING)
    list(APPEND tmb_flangs ${version})
  endif()
endforeach()

# What a program of flang is linked with, besides the libraries: see prif/flang/program.
set(tmb_prif_wraps "")
foreach(name IN ITEMS ProgramEndStatement FailImageStatement StopStatement StopStatementText)
  list(APPEND tmb_prif_wraps "-Wl,--wrap=_FortranA${name}")
endforeach()
# lib/tombolo/fortran/prif is what compilers need that come later: sources, that object, options.
set(tmb_prif_later "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/prif")
file(GLOB tmb_prif_program CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/prif/flang/program/*.c")
add_library(tmb_prif_program OBJECT ${tmb_prif_program})
set_target_properties(tmb_prif_program PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(tmb_prif_program PRIVATE "${PROJECT_SOURCE_DIR}/prif")
target_link_libraries(tmb_prif_program PRIVATE tmb_warnings)
file(GLOB tmb_prif_sources_all CONFIGURE_DEPENDS "${tmb_prif_source}/*.[fFi]*")
foreach(file IN LISTS tmb_prif_sources_all)
  get_filename_component(name "${file}" NAME)
  configure_file("${file}" "${tmb_prif_later}/${name}" COPYONLY)
endforeach()
string(REPLACE ";" "\n" tmb_prif_lines "${tmb_prif_wraps}")
file(GENERATE OUTPUT "${tmb_prif_later}/flang.link" CONTENT "${tmb_prif_lines}\n")
add_custom_command(OUTPUT "${tmb_prif_later}/program.o"
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:tmb_prif_program> "${tmb_prif_later}/program.o"
  DEPENDS tmb_prif_program $<TARGET_OBJECTS:tmb_prif_program> COMMENT "PRIF: program.o" VERBATIM)
set(tmb_prif_modules "${tmb_prif_later}/program.o")

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
foreach(version IN LISTS tmb_flangs)
  tmb_add_prif_module(flang-${version} "${TMB_FLANG_${version}}" -module-dir
    $<TARGET_OBJECTS:tmb_prif_program>)
endforeach()
if(NOT tmb_flangs)
  message(STATUS "tombolo: no flang 22 or newer (package flang-22): its module prif is made by "
    "tombolo fc at the first use")
endif()
add_custom_target(prif_fortran_modules ALL DEPENDS ${tmb_prif_modules})
