# SPDX-License-Identifier: BSD-3-Clause
# The library: every src/**/*.c that is not a unit test is compiled once (PIC, hidden visibility)
# and put into both libtombolo.so (versioned, exports limited by tombolo.map) and libtombolo.a.
# src/net/udp, src/net/ofi and src/net/mpi are plug-ins (TmbPlugins.cmake), src/net/plugin is what
# these share.
# Also generates build_info.h: what this build is, for `tombolo info`.
file(GLOB_RECURSE TMB_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.c")
list(FILTER TMB_SOURCES EXCLUDE REGEX "_test\\.c$|/src/net/(udp|ofi|mpi|plugin)/")
if(NOT TMB_SOURCES)
  message(FATAL_ERROR "no library sources under ${PROJECT_SOURCE_DIR}/src")
endif()

execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" describe --always --dirty
  OUTPUT_VARIABLE TMB_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET RESULT_VARIABLE tmb_git_rc)
if(NOT tmb_git_rc EQUAL 0)
  # A tarball of git archive names its commit here; elsewhere the file has a pattern.
  set(tmb_named "${PROJECT_SOURCE_DIR}/cmake/revision.txt")
  if(EXISTS "${tmb_named}")
    file(STRINGS "${tmb_named}" TMB_REVISION LIMIT_COUNT 1)
  endif()
  if(NOT TMB_REVISION MATCHES "^[0-9a-f]+$")
    set(TMB_REVISION "unknown")
  endif()
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" tmb_type_upper)
string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${tmb_type_upper}}" TMB_BUILD_FLAGS)
configure_file("${PROJECT_SOURCE_DIR}/cmake/build_info.h.in"
  "${PROJECT_BINARY_DIR}/generated/build_info.h" @ONLY)

add_library(tmb_objects OBJECT ${TMB_SOURCES})
set_target_properties(tmb_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_include_directories(tmb_objects PRIVATE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(tmb_objects PRIVATE GEXX_NO_IDENT=1)
target_link_libraries(tmb_objects PRIVATE tmb_warnings Threads::Threads)

# tmb_runtime_objects(TARGET MODE FOLDERS...): compiles the objects of a language's library, which
# stands on the public API, in a thread mode, with headers of these folders.
function(tmb_runtime_objects target mode)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_compile_definitions(${target} PRIVATE GASNET_${mode}=1 _GNU_SOURCE=1
    GEXX_NO_IDENT=1) # a program is not of the thread mode of a library that it links
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/src" ${ARGN}) # of src: base/container/heap.h
  target_link_libraries(${target} PRIVATE tmb_warnings Threads::Threads)
endfunction()

set(tmb_map "${PROJECT_SOURCE_DIR}/cmake/tombolo.map")
# Threads, handlers and keys of the library outlive a dlclose of the module that has brought it.
set(tmb_stays "LINKER:-z,nodelete")
add_library(tombolo_shared SHARED $<TARGET_OBJECTS:tmb_objects>)
set_target_properties(tombolo_shared PROPERTIES OUTPUT_NAME tombolo EXPORT_NAME tombolo
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  LINK_DEPENDS "${tmb_map}")
target_link_options(tombolo_shared PRIVATE "LINKER:--version-script=${tmb_map}" ${tmb_stays})
if(NOT TMB_SANITIZE)
  target_link_options(tombolo_shared PRIVATE "LINKER:--no-undefined")
endif()
# The frames of a crash need the unwinder of libgcc: as a part of the library it is not loaded.
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libgcc)
check_c_source_compiles("#include <unwind.h>
  int main(void) { return _Unwind_GetIP(0) == 1; }" TMB_STATIC_UNWINDER)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(TMB_STATIC_UNWINDER)
  target_link_options(tombolo_shared PRIVATE -static-libgcc)
endif()

# `tombolo cc` finds the headers beside its own folder, as in an installation.
file(GLOB tmb_headers CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/include/*")
foreach(tmb_header IN LISTS tmb_headers)
  get_filename_component(tmb_name "${tmb_header}" NAME)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
  file(CREATE_LINK "${tmb_header}" "${PROJECT_BINARY_DIR}/include/${tmb_name}" SYMBOLIC)
endforeach()

add_library(tombolo_static STATIC $<TARGET_OBJECTS:tmb_objects>)
set_target_properties(tombolo_static PROPERTIES OUTPUT_NAME tombolo EXPORT_NAME tombolo_static
  LINKER_LANGUAGE C)

foreach(lib tombolo_shared tombolo_static)
  target_include_directories(${lib} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${lib} PUBLIC Threads::Threads)
endforeach()

# The library that our programs and multi-rank tests link: the shared one, as a user would. Test
# programs stay small and are linked quickly.
# The names that find_package gives, for a project that adds this one as a subdirectory.
add_library(tombolo::tombolo ALIAS tombolo_shared)
add_library(tombolo::tombolo_static ALIAS tombolo_static)
add_library(tmb_client ALIAS tombolo_shared)
