# SPDX-License-Identifier: BSD-3-Clause
# Compiles with the newest clang of the system instead of gcc: cmake --preset clang. Older than 14
# is untried. docs/PROCESSORS.md says what is tested.
foreach(version RANGE 22 14 -1)
  list(APPEND tmb_clang_names clang-${version})
  list(APPEND tmb_clangxx_names clang++-${version})
endforeach()
find_program(TMB_CLANG_C NAMES ${tmb_clang_names} clang DOC "the newest clang")
find_program(TMB_CLANG_CXX NAMES ${tmb_clangxx_names} clang++ DOC "the newest clang++")
set(CMAKE_C_COMPILER "${TMB_CLANG_C}")
set(CMAKE_CXX_COMPILER "${TMB_CLANG_CXX}")
