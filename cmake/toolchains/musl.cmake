# SPDX-License-Identifier: BSD-3-Clause
# Compiles the C library of Tombolo with musl-gcc (Debian: musl-tools), for this processor. musl has
# no headers of the kernel; scripts/cross_deps.sh musl makes a folder of links to them. There is no
# C++ library for musl here, so that the C++ compiler is that of glibc, for programs of the build
# alone: scripts/musl.sh switches all parts off that need one. docs/PROCESSORS.md says what works.
set(CMAKE_C_COMPILER musl-gcc)
set(TMB_CROSS_TARGET musl)
include("${CMAKE_CURRENT_LIST_DIR}/cross_root.cmake")
set(CMAKE_C_FLAGS_INIT "-isystem ${TMB_CROSS_ROOT}/kernel")
