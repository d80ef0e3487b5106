# SPDX-License-Identifier: BSD-3-Clause
# Tests of the Python binding: each bindings/python/tests/test_*.py is a ctest of the label python,
# run by pytest, which starts the jobs.
if(NOT TMB_PYTHON OR TMB_SANITIZE OR NOT TARGET tombolo_tool)
  return()
endif()
if(NOT TARGET python_core)
  tmb_skip_all(python "no Python with headers and NumPy (packages python3-dev, python3-numpy)")
  return()
endif()
execute_process(COMMAND "${TMB_PYTHON3}" -c "import pytest" ERROR_QUIET OUTPUT_QUIET
  RESULT_VARIABLE tmb_no_pytest)
if(tmb_no_pytest)
  tmb_skip_all(python "no pytest (package python3-pytest)")
  return()
endif()
foreach(simulated mk_sim cuda_mock) # devices that the tests use
  if(TARGET ${simulated})
    add_dependencies(python_package ${simulated})
  endif()
endforeach()
file(GLOB tmb_py_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/python/tests/test_*.py")
foreach(src IN LISTS tmb_py_tests)
  get_filename_component(name "${src}" NAME_WE)
  string(REGEX REPLACE "^test_" "" name "${name}")
  add_test(NAME python.${name}
    COMMAND "${TMB_PYTHON3}" -B -m pytest -q --no-header -p no:cacheprovider "${src}")
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 300 COST 150
    ENVIRONMENT "TMB_BUILD=${PROJECT_BINARY_DIR}")
  if(name MATCHES "^(pip|optional)$") # one compiles the library; the other fetches packages
    set_tests_properties(python.${name} PROPERTIES LABELS "python;nightly" TIMEOUT 1200)
  endif()
endforeach()
