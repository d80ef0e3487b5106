# SPDX-License-Identifier: BSD-3-Clause
# The last install rule: keeps the list of installed files in the prefix, so that `make uninstall`
# finds it without the build tree. Packages (an installation by component) have no list.
set(TMB_MANIFEST "${CMAKE_INSTALL_LIBDIR}/tombolo/install_manifest.txt")
configure_file("${PROJECT_SOURCE_DIR}/cmake/install/manifest.cmake.in"
  "${PROJECT_BINARY_DIR}/generated/manifest.cmake" @ONLY)
install(SCRIPT "${PROJECT_BINARY_DIR}/generated/manifest.cmake")
