# SPDX-License-Identifier: BSD-3-Clause
# Compiles the C library of Tombolo with musl-gcc (Debian: musl-tools), for this processor. musl has
# no headers of the kernel; scripts/cross_deps.sh musl makes a folder of links to them. There is no
# C++ library for musl here, so that the C++ compiler is that of glibc, for programs of the build
# alone: scripts/musl.sh switches all parts off that need one. docs/PROCESSORS.md says what works.
set(CMAKE_C_COMPILER musl-gcc)
set(TMB_CROSS_CACHE "$ENV{XDG_CACHE_HOME}")
if(NOT TMB_CROSS_CACHE)
  set(TMB_CROSS_CACHE "$ENV{HOME}/.cache")
endif()
set(TMB_CROSS_ROOT "${TMB_CROSS_CACHE}/tombolo/cross/musl")
set(CMAKE_C_FLAGS_INIT "-isystem ${TMB_CROSS_ROOT}/kernel")
set(CMAKE_FIND_ROOT_PATH "${TMB_CROSS_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${TMB_CROSS_ROOT}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
