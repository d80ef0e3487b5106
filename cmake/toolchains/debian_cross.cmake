# SPDX-License-Identifier: BSD-3-Clause
# What the toolchains of other processors share: Debian's cross compiler for TMB_CROSS_PROCESSOR
# (packages gcc-, g++-PROCESSOR-linux-gnu), QEMU as the emulator of what it compiles (package
# qemu-user-static), and the libraries that scripts/cross_deps.sh has compiled for it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TMB_CROSS_PROCESSOR})
set(tmb_triple ${TMB_CROSS_PROCESSOR}-linux-gnu)
set(CMAKE_C_COMPILER ${tmb_triple}-gcc)
set(CMAKE_CXX_COMPILER ${tmb_triple}-g++)

find_program(TMB_QEMU NAMES qemu-${TMB_CROSS_PROCESSOR}-static qemu-${TMB_CROSS_PROCESSOR}
  DOC "Emulator that runs programs of the target processor")
if(TMB_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${TMB_QEMU};-L;/usr/${tmb_triple}")
endif()

# Only what is compiled for the target is found; programs are those of this machine.
set(TMB_CROSS_CACHE "$ENV{XDG_CACHE_HOME}")
if(NOT TMB_CROSS_CACHE)
  set(TMB_CROSS_CACHE "$ENV{HOME}/.cache")
endif()
set(TMB_CROSS_ROOT "${TMB_CROSS_CACHE}/tombolo/cross/${TMB_CROSS_PROCESSOR}")
set(CMAKE_FIND_ROOT_PATH "${TMB_CROSS_ROOT}" "/usr/${tmb_triple}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${TMB_CROSS_ROOT}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
