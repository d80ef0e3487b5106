# SPDX-License-Identifier: BSD-3-Clause
# Tests of coarray Fortran: tests/fortran/*.f90, each compiled by `tombolo fc` together with
# tests/fortran/lib/check.f90, once for each gfortran that is found, and run at several numbers of
# images. Without a compiler they are left out with a message.
if(NOT TMB_FORTRAN OR NOT TARGET tombolo_tool OR TMB_SANITIZE)
  return()
endif()
if(NOT TARGET caf_shared OR NOT tmb_fortran_compilers)
  tmb_skip_all(fortran "no gfortran (package gfortran)")
  tmb_skip_all(fortran-asan "no gfortran (package gfortran)")
  return()
endif()

set(tmb_fortran_dir "${PROJECT_SOURCE_DIR}/tests/fortran")
file(GLOB tmb_fortran_tests CONFIGURE_DEPENDS "${tmb_fortran_dir}/*.f90")
set(tmb_fortran_programs "")
list(GET tmb_fortran_compilers -1 tmb_fortran_newest)
foreach(version IN LISTS tmb_fortran_compilers)
  foreach(src IN LISTS tmb_fortran_tests)
    get_filename_component(name "${src}" NAME_WE)
    tmb_read_header(hdr ${src} RANKS 1 2 3 4 8)
    if((hdr_since AND version LESS hdr_since) OR (hdr_until AND version GREATER hdr_until))
      continue() # other compilers break on it
    endif()
    set(folder "${PROJECT_BINARY_DIR}/tests/fortran/${version}/${name}")
    set(program "${folder}/${name}")
    add_custom_command(OUTPUT "${program}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
      COMMAND $<TARGET_FILE:tombolo_tool> fc --compiler=${TMB_GFORTRAN_${version}} -O1 -g1 -Wall
        -Wno-character-truncation -J "${folder}" "${tmb_fortran_dir}/lib/check.f90" "${src}"
        -o "${program}"
      DEPENDS "${src}" "${tmb_fortran_dir}/lib/check.f90" tombolo_tool caf_shared caf16_shared
        fortran_modules
      COMMENT "Fortran ${version}: ${name}" VERBATIM)
    list(APPEND tmb_fortran_programs "${program}")
    set(test fortran.${name})
    if(version EQUAL tmb_fortran_newest)
      add_custom_target(${test} DEPENDS "${program}")
    else() # the libraries are the same: few runs show that
      set(hdr_ranks 3)
      set(hdr_again "")
      set(test fortran.${name}.gfortran${version})
    endif()
    tmb_register_program(${test} fortran "${program}")
    if(version EQUAL tmb_fortran_newest AND NOT name STREQUAL "many")
      # Two images on each of two pretended hosts: each has near and far peers.
      set(hdr_ranks 4)
      set(hdr_again "")
      set(tmb_fortran_env "${hdr_env}")
      set(hdr_env "${tmb_fortran_env};TOMBOLO_CONDUIT=loop;TOMBOLO_PLACES=cyclic:2")
      tmb_register_program(far.fortran.${name} far "${program}")
      if(name MATCHES "^(attach|collectives|order|synchronise|teams|transfer)$")
        set(hdr_env "${tmb_fortran_env};TOMBOLO_CONDUIT=udp;TOMBOLO_PLACES=cyclic:2")
        tmb_register_program(fortran.${name}.udp fortran "${program}")
      endif()
    endif()
  endforeach()
endforeach()

# The run-time library with the sanitizers, and the same programs linked to it: label fortran-asan.
# spans: coarray/data/span.c knows blocks of glibc's malloc, not the sanitizer's.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=address,undefined")
check_c_source_compiles("int main(void) { return 0; }" TMB_HAVE_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)
# gfortran links them with the sanitizers of gcc, which are not those of clang.
if(TMB_HAVE_SANITIZERS AND NOT CMAKE_CROSSCOMPILING AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(tmb_asan_dir "${PROJECT_BINARY_DIR}/tests/fortran/asan")
  set(tmb_asan_flags -fsanitize=address,undefined)
  set(tmb_caf_newest "${tmb_caf_12}") # what the newest compiler calls
  if(tmb_fortran_newest GREATER_EQUAL 16)
    set(tmb_caf_newest "${tmb_caf_16}")
  endif()
  add_library(caf_asan SHARED ${tmb_caf_sources} "${tmb_caf_newest}")
  set_target_properties(caf_asan PROPERTIES OUTPUT_NAME caf_tombolo_asan
    C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY "${tmb_asan_dir}")
  target_compile_definitions(caf_asan PRIVATE GASNET_PARSYNC=1 _GNU_SOURCE=1 GEXX_NO_IDENT=1)
  target_compile_options(caf_asan PRIVATE ${tmb_caf_options} ${tmb_asan_flags}
    -fno-omit-frame-pointer $<$<CONFIG:RelWithDebInfo>:-O1> $<$<CONFIG:RelWithDebInfo>:-g1>
    ${tmb_few_paths})
  target_link_options(caf_asan PRIVATE ${tmb_asan_flags})
  target_include_directories(caf_asan PRIVATE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/coarray")
  target_link_libraries(caf_asan PRIVATE tmb_warnings Threads::Threads PUBLIC tombolo_shared)
  foreach(src IN LISTS tmb_fortran_tests)
    get_filename_component(name "${src}" NAME_WE)
    tmb_read_header(hdr ${src})
    if(name MATCHES "^(many|spans)$" OR (hdr_since AND tmb_fortran_newest LESS hdr_since) OR
        (hdr_until AND tmb_fortran_newest GREATER hdr_until))
      continue()
    endif()
    set(folder "${tmb_asan_dir}/${name}")
    set(program "${folder}/${name}")
    add_custom_command(OUTPUT "${program}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
      COMMAND ${TMB_GFORTRAN_${tmb_fortran_newest}} -fcoarray=lib -g1 -O0 -fsanitize=address
        -I "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/fortran/${tmb_fortran_newest}"
        -J "${folder}" "${tmb_fortran_dir}/lib/check.f90" "${src}" -o "${program}"
        -L "${tmb_asan_dir}" -lcaf_tombolo_asan "-Wl,-rpath,${tmb_asan_dir}"
        $<TARGET_FILE:tombolo_shared> "-Wl,-rpath,$<TARGET_FILE_DIR:tombolo_shared>"
      DEPENDS "${src}" "${tmb_fortran_dir}/lib/check.f90" caf_asan fortran_modules
      COMMENT "Fortran with sanitizers: ${name}" VERBATIM)
    list(APPEND tmb_fortran_programs "${program}")
    set(hdr_ranks 3)
    set(hdr_again "")
    # A program does not free the allocatable variables of its main program, and calls internal
    # procedures by code on the stack.
    list(APPEND hdr_env "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0")
    tmb_register_program(fortran-asan.${name} fortran-asan "${program}")
  endforeach()
endif()

# Calls as compilers emit them that are not installed, written by hand: calls/NAME.c, with
# libcaf_tombolo16 where NAME ends in 16.
file(GLOB tmb_fortran_calls CONFIGURE_DEPENDS "${tmb_fortran_dir}/calls/*.c")
foreach(src IN LISTS tmb_fortran_calls)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src})
  string(REGEX MATCH "16$" since "${name}")
  add_executable(fortran.calls.${name} "${src}")
  set_target_properties(fortran.calls.${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/fortran/calls")
  target_link_libraries(fortran.calls.${name} PRIVATE tmb_warnings caf${since}_shared)
  tmb_register_program(fortran.calls.${name} fortran
    "${PROJECT_BINARY_DIR}/tests/fortran/calls/fortran.calls.${name}")
endforeach()

# Scripts.
file(GLOB tmb_fortran_scripts CONFIGURE_DEPENDS "${tmb_fortran_dir}/*.py")
foreach(src IN LISTS tmb_fortran_scripts)
  get_filename_component(name "${src}" NAME_WE)
  tmb_read_header(hdr ${src})
  list(APPEND hdr_env "TOMBOLO_FC=${TMB_GFORTRAN_${tmb_fortran_newest}}")
  tmb_register_run(fortran.${name} fortran "python3;${src}")
endforeach()

# Examples, with the newest compiler.
file(GLOB tmb_fortran_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/fortran/*.f90")
foreach(src IN LISTS tmb_fortran_examples)
  get_filename_component(name "${src}" NAME_WE)
  set(program "${PROJECT_BINARY_DIR}/examples/fortran/${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/examples/fortran"
    COMMAND $<TARGET_FILE:tombolo_tool> fc --compiler=${TMB_GFORTRAN_${tmb_fortran_newest}} -O2
      -Wall "${src}" -o "${program}"
    DEPENDS "${src}" tombolo_tool caf_shared caf16_shared fortran_modules
    COMMENT "Fortran example: ${name}" VERBATIM)
  list(APPEND tmb_fortran_programs "${program}")
  tmb_read_header(hdr ${src})
  set(hdr_ranks 1 2 4)
  tmb_register_program(examples.fortran.${name} examples "${program}")
endforeach()
add_custom_target(fortran_tests ALL DEPENDS ${tmb_fortran_programs})

# `tombolo bench fortran`.
if(TMB_BENCH)
  set(program "${PROJECT_BINARY_DIR}/bench/tombolo-bench-fortran")
  set(src "${PROJECT_SOURCE_DIR}/bench/fortran")
  add_library(bench_fortran_floors OBJECT "${src}/floors.c")
  target_compile_definitions(bench_fortran_floors PRIVATE _GNU_SOURCE=1)
  target_link_libraries(bench_fortran_floors PRIVATE tmb_warnings)
  add_custom_command(OUTPUT "${program}"
    COMMAND $<TARGET_FILE:tombolo_tool> fc --compiler=${TMB_GFORTRAN_${tmb_fortran_newest}} -O3
      -Wall -ffree-line-length-none "${src}/tombolo-bench-fortran.F90"
      $<TARGET_OBJECTS:bench_fortran_floors>
      "-Wl,-rpath,$ORIGIN/../../lib" -o "${program}"
    DEPENDS "${src}/tombolo-bench-fortran.F90" $<TARGET_OBJECTS:bench_fortran_floors>
      tombolo_tool caf_shared caf16_shared fortran_modules
    COMMENT "Fortran: tombolo-bench-fortran" VERBATIM)
  tmb_install_bench("${program}" fortran)
  # Counted by scripts/count_paths.py: each path is a function.
  set(program "${PROJECT_BINARY_DIR}/bench/tombolo-bench-count-fortran")
  add_custom_command(OUTPUT "${program}"
    COMMAND $<TARGET_FILE:tombolo_tool> fc --compiler=${TMB_GFORTRAN_${tmb_fortran_newest}} -O3
      -fno-inline -Wall -J "${PROJECT_BINARY_DIR}/bench" "${src}/tombolo-bench-count-fortran.f90"
      -o "${program}"
    DEPENDS "${src}/tombolo-bench-count-fortran.f90" tombolo_tool caf_shared caf16_shared
    COMMENT "Fortran: tombolo-bench-count-fortran" VERBATIM)
  add_custom_target(fortran_count ALL DEPENDS "${program}")
  add_dependencies(fortran_tests fortran_count)
endif()
