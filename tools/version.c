/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version line of the `tombolo` command.
 *
 * Owns: nothing. Called by main.c and by subcommands' --version. Calls: nothing.
 * Invariants: apart from main.c so that unit tests, which have a main of their own, can link
 * subcommands.
 */
#include "tool.h"

#include "build_info.h"

const char *tool_version(void) {
  return "tombolo " TMB_BUILD_VERSION " (" TMB_BUILD_REVISION ", " TMB_BUILD_COMPILER ")";
}
