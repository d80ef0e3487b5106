# SPDX-License-Identifier: BSD-3-Clause
# The Python binding: bindings/python/src/ext/**.c -> python/tombolo/_core*.so in the build tree,
# with the package's Python files beside it: PYTHONPATH=build/python is an installed package. Needed
# are the headers of Python 3.11 or later (package python3-dev) and, to run it, NumPy. The module
# uses the limited API, so that one file serves all later versions; a free-threaded Python gets one
# of its own.
if(NOT TMB_PYTHON OR TMB_SANITIZE)
  message(STATUS "tombolo: TMB_PYTHON is OFF, or a sanitizer: no Python binding")
  return()
endif()

# tmb_try_python(PATH): sets TMB_PYTHON_{INCLUDE,SUFFIX,SITE,THREADS} if this Python can be used.
# One that is named is not asked for NumPy, where no test runs it.
function(tmb_try_python path)
  set(what "")
  if(TMB_PYTHON_EXECUTABLE AND NOT TMB_TESTS)
    set(what build)
  endif()
  execute_process(COMMAND "${path}" "${PROJECT_SOURCE_DIR}/bindings/python/probe.py" ${what}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(TMB_PYTHON_REASON "${path}: ${answer}" PARENT_SCOPE)
    return()
  endif()
  list(GET answer 0 include)
  list(GET answer 1 suffix)
  list(GET answer 2 free_threaded)
  list(GET answer 3 version)
  set(TMB_PYTHON_INCLUDE "${include}" PARENT_SCOPE)
  set(TMB_PYTHON_SUFFIX "${suffix}" PARENT_SCOPE)
  set(TMB_PYTHON_FREE_THREADED "${free_threaded}" PARENT_SCOPE)
  set(TMB_PYTHON_VERSION "${version}" PARENT_SCOPE)
endfunction()

if(SKBUILD) # pip builds for the Python that runs it
  set(TMB_PYTHON_EXECUTABLE "${Python_EXECUTABLE}")
endif()
set(TMB_PYTHON_EXECUTABLE "" CACHE FILEPATH "Python to build the binding for; empty: look for one")
set(tmb_pythons "${TMB_PYTHON_EXECUTABLE}")
if(NOT TMB_PYTHON_EXECUTABLE)
  find_program(TMB_PYTHON_IN_PATH python3)
  mark_as_advanced(TMB_PYTHON_IN_PATH)
  set(tmb_pythons "${TMB_PYTHON_IN_PATH}" /usr/bin/python3)
endif()
set(TMB_PYTHON_INCLUDE "")
foreach(python IN LISTS tmb_pythons)
  if(python AND NOT TMB_PYTHON_INCLUDE)
    tmb_try_python("${python}")
    set(TMB_PYTHON3 "${python}")
  endif()
endforeach()
if(NOT TMB_PYTHON_INCLUDE)
  if(SKBUILD)
    message(FATAL_ERROR "tombolo: pip cannot build the Python package: ${TMB_PYTHON_REASON} "
      "(package python3-dev has the headers)")
  endif()
  message(STATUS "tombolo: no Python with headers and NumPy (${TMB_PYTHON_REASON}; packages "
    "python3-dev, python3-numpy; or set TMB_PYTHON_EXECUTABLE): no Python binding")
  return()
endif()

set(tmb_py_dir "${PROJECT_SOURCE_DIR}/bindings/python")
set(tmb_py_out "${PROJECT_BINARY_DIR}/python/tombolo")
file(GLOB_RECURSE tmb_py_ext CONFIGURE_DEPENDS "${tmb_py_dir}/src/ext/*.c")
add_library(python_core MODULE ${tmb_py_ext})
set_target_properties(python_core PROPERTIES PREFIX "" OUTPUT_NAME _core
  SUFFIX "${TMB_PYTHON_SUFFIX}" LIBRARY_OUTPUT_DIRECTORY "${tmb_py_out}" C_VISIBILITY_PRESET hidden
  INSTALL_RPATH "$ORIGIN/_lib;$ORIGIN/../../..") # of a wheel; of lib/python3/site-packages/tombolo
target_include_directories(python_core PRIVATE "${tmb_py_dir}/src/ext")
target_include_directories(python_core SYSTEM PRIVATE "${TMB_PYTHON_INCLUDE}")
target_compile_definitions(python_core PRIVATE GASNET_PAR=1 GEXX_NO_IDENT=1 _GNU_SOURCE=1)
if(NOT TMB_PYTHON_FREE_THREADED)
  target_compile_definitions(python_core PRIVATE Py_LIMITED_API=0x030b0000)
endif()
target_link_libraries(python_core PRIVATE tmb_warnings tombolo_shared)

file(GLOB tmb_py_files CONFIGURE_DEPENDS "${tmb_py_dir}/src/tombolo/*.py"
  "${tmb_py_dir}/src/tombolo/*.pyi" "${tmb_py_dir}/src/tombolo/py.typed")
set(tmb_py_stamp "${PROJECT_BINARY_DIR}/python/copied")
add_custom_command(OUTPUT "${tmb_py_stamp}"
  COMMAND ${CMAKE_COMMAND} -E make_directory "${tmb_py_out}"
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${tmb_py_files} "${tmb_py_out}"
  COMMAND ${CMAKE_COMMAND} -E touch "${tmb_py_stamp}"
  DEPENDS ${tmb_py_files} COMMENT "Python: package tombolo" VERBATIM)
add_custom_target(python_package ALL DEPENDS "${tmb_py_stamp}")
