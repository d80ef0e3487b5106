/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version line of the `tombolo` command, and arguments that several subcommands have.
 *
 * Owns: nothing. Called by main.c and by subcommands. Calls: argp.
 * Invariants: apart from main.c so that unit tests, which have a main of their own, can link
 * subcommands.
 */
#include "tool.h"

#include "build_info.h"

#include <stdio.h>
#include <stdlib.h>

const char *tool_version(void) {
  return "tombolo " TMB_BUILD_VERSION " (" TMB_BUILD_REVISION ", " TMB_BUILD_COMPILER ")";
}

error_t tool_job_option(int key, char *arg, struct argp_state *state, const char **job) {
  if (key == TOOL_VERSION_KEY) {
    puts(tool_version());
    exit(0);
  }
  if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
  if (*job) argp_usage(state);
  *job = arg;
  return 0;
}
