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

set(TMB_CROSS_TARGET "${TMB_CROSS_PROCESSOR}")
include("${CMAKE_CURRENT_LIST_DIR}/cross_root.cmake")
list(APPEND CMAKE_FIND_ROOT_PATH "/usr/${tmb_triple}")
