# SPDX-License-Identifier: BSD-3-Clause
# Tests of PRIF: programs that `use prif` (tests/prif/use), compiled by the newest gfortran and by
# flang, each with tests/prif/lib; programs of flang -fcoarray (tests/prif/coarray); and
# scripts that run a program (tests/prif/programs). Without a compiler they are left out with a
# message.
if(NOT TMB_FORTRAN OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()
if(NOT tmb_prif_fortran)
  tmb_skip_all(prif "no gfortran or flang (packages gfortran, flang-22)")
  return()
endif()
set(tmb_prif_dir "${PROJECT_SOURCE_DIR}/tests/prif")
set(tmb_prif_programs "")
set(tmb_prif_lib "${tmb_prif_dir}/lib/check.f90")
file(GLOB tmb_prif_parts CONFIGURE_DEPENDS "${tmb_prif_dir}/lib/parts.f90") # uses check
list(APPEND tmb_prif_lib ${tmb_prif_parts})
file(GLOB tmb_prif_use CONFIGURE_DEPENDS "${tmb_prif_dir}/use/*.f90"
  "${PROJECT_SOURCE_DIR}/examples/prif/*.f90")
file(GLOB tmb_prif_coarray CONFIGURE_DEPENDS "${tmb_prif_dir}/coarray/*.f90")
file(GLOB tmb_prif_coarray23 CONFIGURE_DEPENDS "${tmb_prif_dir}/coarray23/*.f90")
set(tmb_prif_gfortran ${tmb_prif_fortran})
list(FILTER tmb_prif_gfortran EXCLUDE REGEX "flang")
set(tmb_prif_newest "")
if(tmb_prif_gfortran)
  list(GET tmb_prif_gfortran -1 tmb_prif_newest)
endif()

# Sets OUT to the command of a compiler that writes modules to FOLDER and finds those of the library
# and of tests/prif/lib. NAME: as in tmb_prif_fortran.
function(tmb_prif_compile out name folder)
  if(name MATCHES "flang-(.*)")
    set(compile "${TMB_FLANG_${CMAKE_MATCH_1}}" -fcoarray -module-dir "${folder}")
  else()
    set(compile "${TMB_GFORTRAN_${name}}" -Wall -J "${folder}")
  endif()
  set(${out} ${compile} -O1 -g1 -I "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/${name}"
    -I "${PROJECT_BINARY_DIR}/tests/prif/${name}/lib" PARENT_SCOPE)
endfunction()

# tmb_prif_program(PROGRAM NAME SOURCES...): compiles and links one.
function(tmb_prif_program program name)
  get_filename_component(folder "${program}" DIRECTORY)
  set(modules "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/${name}")
  tmb_prif_compile(compile ${name} "${folder}")
  if(name MATCHES "flang")
    list(APPEND compile ${tmb_prif_wraps})
  endif()
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND ${compile} ${ARGN} -o "${program}"
      "${modules}/libprif_fortran.a" $<TARGET_FILE:prif_shared> $<TARGET_FILE:tombolo_shared>
      "-Wl,-rpath,$<TARGET_FILE_DIR:prif_shared>"
    DEPENDS ${ARGN} prif_shared prif_fortran_modules
    COMMENT "PRIF ${name}: ${program}" VERBATIM)
endfunction()

# tests/prif/lib, compiled once by each compiler: flang takes 0.6 s for it.
foreach(name IN LISTS tmb_prif_fortran)
  set(folder "${PROJECT_BINARY_DIR}/tests/prif/${name}/lib")
  file(MAKE_DIRECTORY "${folder}")
  tmb_prif_compile(compile ${name} "${folder}")
  set(tmb_prif_lib_${name} "${folder}/check.o" "${folder}/parts.o")
  add_custom_command(OUTPUT ${tmb_prif_lib_${name}} COMMAND ${compile} -c ${tmb_prif_lib}
    WORKING_DIRECTORY "${folder}" DEPENDS ${tmb_prif_lib} prif_fortran_modules
    COMMENT "PRIF ${name}: tests/prif/lib" VERBATIM)
endforeach()

# tmb_prif_test(TEST NAME FOLDER SOURCE): registers the runs of a program, as its header says.
macro(tmb_prif_test test name folder src)
  get_filename_component(tmb_base "${src}" NAME_WE)
  set(tmb_path "${PROJECT_BINARY_DIR}/tests/prif/${name}/${folder}/${tmb_base}/${tmb_base}")
  tmb_prif_program("${tmb_path}" ${name} ${tmb_prif_lib_${name}} "${src}")
  list(APPEND tmb_prif_programs "${tmb_path}")
  tmb_read_header(hdr ${src} RANKS 1 2 4 7)
  tmb_register_program(${test} prif "${tmb_path}")
endmacro()

# Scripts that run a program: tests/prif/programs, without the library of checks.
# tmb_prif_script(TEST NAME PROGRAM SCRIPT)
macro(tmb_prif_script test name program script)
  set(tmb_path "${PROJECT_BINARY_DIR}/tests/prif/${name}/programs/${program}/${program}")
  tmb_prif_program("${tmb_path}" ${name} "${tmb_prif_dir}/programs/${program}.f90")
  list(APPEND tmb_prif_programs "${tmb_path}")
  set(src "${tmb_prif_dir}/programs/${script}")
  tmb_read_header(hdr ${src})
  tmb_register_run(${test} prif "python3;${src};${tmb_path}")
endmacro()

foreach(src IN LISTS tmb_prif_use)
  get_filename_component(base "${src}" NAME_WE)
  if(tmb_prif_newest)
    tmb_prif_test(prif.${base} ${tmb_prif_newest} use "${src}")
  endif()
endforeach()

# Tests of flang 22 are named .flang, those of others have the version.
foreach(version IN LISTS tmb_flangs)
  set(tmb_of ${version})
  if(version STREQUAL "22")
    set(tmb_of "")
  endif()
  foreach(src IN LISTS tmb_prif_use)
    get_filename_component(base "${src}" NAME_WE)
    tmb_prif_test(prif.${base}.flang${tmb_of} flang-${version} use "${src}")
  endforeach()
  foreach(src IN LISTS tmb_prif_coarray)
    get_filename_component(base "${src}" NAME_WE)
    tmb_prif_test(prif.coarray${tmb_of}.${base} flang-${version} coarray "${src}")
  endforeach()
  tmb_prif_script(prif.ends.flang${tmb_of} flang-${version} ends ends.py)
  tmb_prif_script(prif.coarray${tmb_of}.ends flang-${version} statements coarray_ends.py)
  if(version LESS 23)
    continue()
  endif()
  foreach(src IN LISTS tmb_prif_coarray23)
    get_filename_component(base "${src}" NAME_WE)
    tmb_prif_test(prif.coarray${tmb_of}.${base} flang-${version} coarray "${src}")
  endforeach()
endforeach()

foreach(name IN ITEMS interfaces fc)
  tmb_read_header(hdr "${tmb_prif_dir}/programs/${name}.py")
  tmb_register_run(prif.${name} prif "python3;${tmb_prif_dir}/programs/${name}.py")
endforeach()
if(tmb_prif_newest)
  tmb_prif_script(prif.ends ${tmb_prif_newest} ends ends.py)
  tmb_read_header(hdr "${tmb_prif_dir}/programs/late.py")
  tmb_register_run(prif.late prif
    "python3;${tmb_prif_dir}/programs/late.py;${TMB_GFORTRAN_${tmb_prif_newest}}")
endif()
add_custom_target(prif_tests ALL DEPENDS ${tmb_prif_programs})
