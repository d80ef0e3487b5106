# SPDX-License-Identifier: BSD-3-Clause
# Compiles for riscv64 with Debian's cross compiler: cmake --preset riscv64, or
# cmake --toolchain cmake/toolchains/riscv64.cmake. docs/PROCESSORS.md says what is tested.
set(TMB_CROSS_PROCESSOR riscv64)
include("${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake")
