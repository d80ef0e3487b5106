# SPDX-License-Identifier: BSD-3-Clause
# UPC: upc/runtime/*.c -> libtombolo-upc, a client of the public headers like any other; and
# upc/compiler/*.cc -> upc1, which turns UPC into C. `tombolo upcc` finds both beside the command:
# libexec/tombolo/upc1, lib/tombolo/upc/{include,crt.o}.
if(NOT TMB_UPC)
  message(STATUS "tombolo: TMB_UPC is OFF: no UPC")
  return()
endif()

set(tmb_upc_dir "${PROJECT_SOURCE_DIR}/upc")
set(tmb_upc_support "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tombolo/upc")

# ---- the run-time library
file(GLOB_RECURSE tmb_upc_sources CONFIGURE_DEPENDS "${tmb_upc_dir}/runtime/*.c")
list(FILTER tmb_upc_sources EXCLUDE REGEX "/crt[a-z_]*\\.c$|_test\\.c$")
# tmb_add_upc_library(SUFFIX DEFINITIONS...): the library, shared and static, for one form of
# pointers-to-shared.
function(tmb_add_upc_library suffix)
  set(objects tmb_upc_objects${suffix})
  add_library(${objects} OBJECT ${tmb_upc_sources})
  tmb_runtime_objects(${objects} PARSYNC "${tmb_upc_dir}/include" "${tmb_upc_dir}/runtime")
  target_compile_definitions(${objects} PRIVATE ${ARGN})
  string(REPLACE "_" "-" name "tombolo-upc${suffix}")
  add_library(upc_shared${suffix} SHARED $<TARGET_OBJECTS:${objects}>)
  set_target_properties(upc_shared${suffix} PROPERTIES OUTPUT_NAME ${name}
    EXPORT_NAME upc${suffix} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C INSTALL_RPATH "$ORIGIN")
  target_link_libraries(upc_shared${suffix} PUBLIC tombolo_shared)
  target_link_options(upc_shared${suffix} PRIVATE ${tmb_stays})
  add_library(upc_static${suffix} STATIC $<TARGET_OBJECTS:${objects}>)
  set_target_properties(upc_static${suffix} PROPERTIES OUTPUT_NAME ${name}
    EXPORT_NAME upc_static${suffix} LINKER_LANGUAGE C)
  target_link_libraries(upc_static${suffix} PUBLIC tombolo_static)
endfunction()
tmb_add_upc_library("")
tmb_add_upc_library(_wide UPCR_WIDE=1)

# ---- what every program is linked with, and the headers
set(tmb_upc_objects "")
foreach(name crt crt_extern crt_shared crt_tentative)
  add_library(upc_${name} OBJECT "${tmb_upc_dir}/runtime/${name}.c")
  set_target_properties(upc_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(upc_${name} PRIVATE "${tmb_upc_dir}/include")
  target_link_libraries(upc_${name} PRIVATE tmb_warnings)
  add_custom_command(OUTPUT "${tmb_upc_support}/${name}.o"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${tmb_upc_support}"
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:upc_${name}> "${tmb_upc_support}/${name}.o"
    DEPENDS upc_${name} $<TARGET_OBJECTS:upc_${name}> COMMENT "UPC: ${name}.o" VERBATIM)
  list(APPEND tmb_upc_objects "${tmb_upc_support}/${name}.o")
endforeach()
add_custom_target(upc_support ALL
  COMMAND ${CMAKE_COMMAND} -E create_symlink "${tmb_upc_dir}/include" "${tmb_upc_support}/include"
  DEPENDS ${tmb_upc_objects})

# ---- the compiler
file(GLOB_RECURSE tmb_upc1_sources CONFIGURE_DEPENDS "${tmb_upc_dir}/compiler/*.cc")
add_executable(upc1 ${tmb_upc1_sources})
set_target_properties(upc1 PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tombolo")
target_include_directories(upc1 PRIVATE "${tmb_upc_dir}/compiler")
# Optimising it takes longer than it ever saves: the C compiler takes most of the time of upcc.
# With -g1, not -g, it compiles in half the time (gcc 12).
target_compile_options(upc1 PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>
  $<$<CONFIG:RelWithDebInfo>:-g1>)
target_link_libraries(upc1 PRIVATE tmb_warnings)
