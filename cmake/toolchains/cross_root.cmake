# SPDX-License-Identifier: BSD-3-Clause
# Where a toolchain file finds what is compiled for its target: the folder that
# scripts/cross_deps.sh fills. Included by the files beside it with TMB_CROSS_TARGET set, the
# folder's name. Sets TMB_CROSS_ROOT. Programs that run while building are those of this machine.
set(TMB_CROSS_CACHE "$ENV{XDG_CACHE_HOME}")
if(NOT TMB_CROSS_CACHE)
  set(TMB_CROSS_CACHE "$ENV{HOME}/.cache")
endif()
set(TMB_CROSS_ROOT "${TMB_CROSS_CACHE}/tombolo/cross/${TMB_CROSS_TARGET}")
set(CMAKE_FIND_ROOT_PATH "${TMB_CROSS_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${TMB_CROSS_ROOT}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
