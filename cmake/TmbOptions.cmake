# SPDX-License-Identifier: BSD-3-Clause
# Every option of the build, the default build type, and where outputs go.
option(TMB_WERROR "Treat compiler warnings as errors; the presets do" OFF)
# A project that adds this one as a subdirectory gets the library and the command alone.
string(COMPARE EQUAL "${CMAKE_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}" tmb_top)
option(TMB_TESTS "Build the tests" ${tmb_top})
option(TMB_BENCH "Build the benchmarks" ${tmb_top})
option(TMB_EXAMPLES "Build the examples" ${tmb_top})
option(TMB_CUDA "Build the plug-in for CUDA devices (needs no CUDA toolkit)" ON)
option(TMB_FORTRAN "Build the coarray Fortran runtime (needs no Fortran compiler)" ON)
option(TMB_UPC "Build the UPC compiler and runtime" ON)
option(TMB_SHMEM "Build the OpenSHMEM library" ON)
option(TMB_PYTHON "Build the Python binding (needs Python's headers and NumPy)" ON)
option(TMB_FUZZ "Build the fuzzers (needs clang with libFuzzer)" ON)
option(TMB_INSTALL "Create the install rules" ON)
option(TMB_PREEMPT "Stop threads at random at locks and publications, for tests" OFF)
option(TMB_COVERAGE "Instrument for gcov" OFF)
set(TMB_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, address,undefined or thread")
set(TMB_TEST_FOLDERS "unit;conformance;inside;multi;fault;net;launch" CACHE STRING
  "Kinds of tests that are built (list)")
set(TMB_TEST_MODES "SEQ;PARSYNC;PAR" CACHE STRING
  "Thread modes of the unit tests and multi-rank tests that are built (list)")
set(TMB_TEST_RANKS "" CACHE STRING "Run the multi-rank tests only at these rank counts (list)")
set_property(CACHE TMB_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

get_property(tmb_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT tmb_multi_config)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
