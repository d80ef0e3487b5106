# SPDX-License-Identifier: BSD-3-Clause
# Compiles for aarch64 with Debian's cross compiler: cmake --preset aarch64, or
# cmake --toolchain cmake/toolchains/aarch64.cmake. docs/PROCESSORS.md says what is tested.
set(TMB_CROSS_PROCESSOR aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake")
