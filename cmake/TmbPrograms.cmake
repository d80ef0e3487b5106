# SPDX-License-Identifier: BSD-3-Clause
# Programs: tools/*.c -> bin/tombolo; bench/*.c -> bench/<name>;
# examples/*.{c,cc} -> examples/<name>. A folder that is not there yet, or an optional package
# that is missing, is left out with a message.

# tmb_client_program(TARGET OUTDIR SOURCES...): a program of the public headers and the library
# only. It is compiled as a GASNET_SEQ client unless a source says `/* mode: PAR */` (see
# TmbHeader.cmake).
include(TmbHeader)
function(tmb_client_program target outdir)
  add_executable(${target} ${ARGN})
  string(REGEX REPLACE "^.*__" "" name "${target}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}"
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${outdir}")
  target_link_libraries(${target} PRIVATE tmb_warnings tmb_client Threads::Threads m)
  tmb_read_header(hdr ${ARGN})
  target_compile_definitions(${target} PRIVATE GASNET_${hdr_mode}=1)
  if(hdr_debug)
    target_compile_definitions(${target} PRIVATE GASNET_DEBUG=1)
  endif()
endfunction()

# tmb_bench_objects(OUT FOLDER MODE SOURCES...): the objects of SOURCES of FOLDER/lib, each compiled
# once for all programs of a thread mode. FOLDER: bench or study.
function(tmb_bench_objects out folder mode)
  set(objects "")
  foreach(src IN LISTS ARGN)
    get_filename_component(name "${src}" NAME_WE)
    set(target tmb_${folder}_${name}_${mode})
    if(NOT TARGET ${target})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/${folder}/lib/${src}")
      target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/${folder}")
      target_compile_definitions(${target} PRIVATE GASNET_${mode}=1)
      target_link_libraries(${target} PRIVATE tmb_warnings tmb_client Threads::Threads)
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# tmb_bench_program(FOLDER NAME SOURCES... LIB SOURCES...): FOLDER__NAME, a measuring program of
# bench or an application of study, with the LIB sources of FOLDER/lib.
function(tmb_bench_program folder name)
  cmake_parse_arguments(arg "" "" "LIB" ${ARGN})
  tmb_read_header(hdr ${arg_UNPARSED_ARGUMENTS})
  tmb_bench_objects(objects ${folder} ${hdr_mode} ${arg_LIB})
  tmb_client_program(${folder}__${name} bench ${arg_UNPARSED_ARGUMENTS})
  target_sources(${folder}__${name} PRIVATE ${objects})
  target_include_directories(${folder}__${name} PRIVATE "${PROJECT_SOURCE_DIR}/${folder}")
endfunction()

# tmb_install_bench(PROGRAM COMPONENT): installs a measuring program that a command of ours has
# linked. Its run path becomes that of the others: beside the prefix's libraries.
function(tmb_install_bench program component)
  get_filename_component(name "${program}" NAME)
  set(folder "${CMAKE_INSTALL_LIBEXECDIR}/tombolo")
  install(PROGRAMS "${program}" DESTINATION "${folder}" COMPONENT ${component})
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/${name}\"
    NEW_RPATH \"\\\$ORIGIN/../../${CMAKE_INSTALL_LIBDIR}\")" COMPONENT ${component})
  add_custom_target(${component}_bench ALL DEPENDS "${program}")
  add_dependencies(installed ${component}_bench)
  add_dependencies(${component}_tests ${component}_bench)
endfunction()

# ---- the tombolo command
file(GLOB_RECURSE tmb_tool_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*.c")
list(FILTER tmb_tool_sources EXCLUDE REGEX "_test\\.c$|/tools/sim/plan\\.c$")
include(CheckIncludeFile)
check_include_file(argp.h TMB_HAVE_ARGP)
if(NOT TMB_HAVE_ARGP)
  message(STATUS "tombolo: the C library has no argp.h (musl: package argp-standalone): the "
    "tombolo command and the benchmarks are left out. Start ranks by GASNET_PSHM_NODES=N ./prog")
  set(tmb_tool_sources "")
  set(TMB_BENCH OFF)
endif()
if(tmb_tool_sources)
  if(PkgConfig_FOUND)
    pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
  endif()
  if(NOT JANSSON_FOUND)
    message(FATAL_ERROR "tombolo: pkg-config does not find jansson (packages pkg-config, "
      "libjansson-dev): run scripts/install_deps.sh")
  endif()
  # All but main() is compiled once for the command and for its unit tests.
  set(tmb_tool_parts ${tmb_tool_sources})
  list(FILTER tmb_tool_parts EXCLUDE REGEX "/main\\.c$")
  add_library(tmb_tool_objects OBJECT ${tmb_tool_parts})
  add_executable(tombolo_tool "${PROJECT_SOURCE_DIR}/tools/main.c"
    $<TARGET_OBJECTS:tmb_tool_objects>)
  set_target_properties(tombolo_tool PROPERTIES OUTPUT_NAME tombolo)
  foreach(target tmb_tool_objects tombolo_tool)
    target_include_directories(${target} PRIVATE
      "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tools" "${PROJECT_SOURCE_DIR}"
      "${PROJECT_BINARY_DIR}/generated")
    target_link_libraries(${target} PRIVATE tmb_warnings tombolo_static PkgConfig::JANSSON m)
    if(TMB_SANITIZE OR TMB_PREEMPT) # it starts ranks there, and compiling takes longer
      target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
    endif()
  endforeach()

  # The page of `tombolo view` is part of the command: tools/view/assets.c includes its files.
  file(GLOB tmb_view_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/view/page/*"
    "${PROJECT_SOURCE_DIR}/tools/view/vendor/*/*")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tools/view/assets.c" PROPERTIES
    COMPILE_DEFINITIONS "TMB_VIEW_DIR=\"${PROJECT_SOURCE_DIR}/tools/view\""
    OBJECT_DEPENDS "${tmb_view_files}")
else()
  message(STATUS "tombolo: no tools/ yet: the tombolo command is left out")
endif()

# ---- `tombolo sim`, a program of its own on SimGrid; nothing of the library knows of it
find_path(TMB_SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(TMB_SIMGRID_LIBRARY simgrid)
if(TARGET tombolo_tool AND TMB_SIMGRID_INCLUDE AND TMB_SIMGRID_LIBRARY AND NOT TMB_SANITIZE
   AND NOT TMB_PREEMPT)
  file(GLOB tmb_sim_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/sim/*.cc"
    "${PROJECT_SOURCE_DIR}/tools/sim/apps/*.cc" "${PROJECT_SOURCE_DIR}/tools/sim/plan.c")
  add_executable(tombolo_sim ${tmb_sim_sources})
  set_target_properties(tombolo_sim PROPERTIES OUTPUT_NAME sim
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/sim")
  target_include_directories(tombolo_sim PRIVATE "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/tools")
  target_include_directories(tombolo_sim SYSTEM PRIVATE "${TMB_SIMGRID_INCLUDE}")
  target_compile_options(tombolo_sim PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1>) # -g: a third longer
  target_precompile_headers(tombolo_sim PRIVATE # to parse it takes most of each source's time
    "$<$<COMPILE_LANGUAGE:CXX>:${TMB_SIMGRID_INCLUDE}/simgrid/s4u.hpp>")
  file(RELATIVE_PATH tmb_sim_machines "/${CMAKE_INSTALL_LIBEXECDIR}/tombolo"
    "/${CMAKE_INSTALL_DATADIR}/tombolo/machines")
  target_compile_definitions(tombolo_sim PRIVATE
    TMB_SIM_MACHINES="${PROJECT_SOURCE_DIR}/tools/sim/machines"
    TMB_SIM_MACHINES_INSTALLED="${tmb_sim_machines}")
  target_link_libraries(tombolo_sim PRIVATE tmb_warnings tombolo_static PkgConfig::JANSSON
    "${TMB_SIMGRID_LIBRARY}" m)
elseif(TARGET tombolo_tool)
  message(STATUS "tombolo: no SimGrid (package libsimgrid-dev), or a sanitizer: no `tombolo sim`")
endif()

# ---- benchmarks
if(TMB_BENCH)
  file(GLOB tmb_bench_lib CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/lib/*.c")
  list(TRANSFORM tmb_bench_lib REPLACE "^.*/" "")
  file(GLOB tmb_bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.c")
  foreach(src IN LISTS tmb_bench_sources)
    get_filename_component(name "${src}" NAME_WE)
    tmb_bench_program(bench ${name} ${src} LIB ${tmb_bench_lib})
  endforeach()
endif()

# ---- examples
if(TMB_EXAMPLES)
  file(GLOB tmb_example_sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/examples/*.c" "${PROJECT_SOURCE_DIR}/examples/*.cc")
  foreach(src IN LISTS tmb_example_sources)
    get_filename_component(name "${src}" NAME_WE)
    tmb_client_program(examples__${name} examples ${src})
  endforeach()
  set_target_properties(examples__await_cxx PROPERTIES CXX_STANDARD 20) # for coroutines
endif()

# ---- `installed`: what `make install` and `make packages` need; TmbFortranTests.cmake,
# TmbUpcTests.cmake and TmbShmemTests.cmake add measuring programs. `programs`: also the examples,
# that is everything but the tests and the study.
add_custom_target(installed)
add_custom_target(programs)
get_property(tmb_installed DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTY BUILDSYSTEM_TARGETS)
set(tmb_examples ${tmb_installed})
list(FILTER tmb_examples INCLUDE REGEX "^examples__")
list(FILTER tmb_installed INCLUDE REGEX
  "^(tombolo_(shared|static|tool|sim|check|check_client|replay|mk_cuda|net_.*)|caf(16)?_.*|prif_.*|\
fortran_modules|upc.*|shmem_.*|python_.*|bench__.*)$")
add_dependencies(installed ${tmb_installed})
add_dependencies(programs installed ${tmb_examples})
