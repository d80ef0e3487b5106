/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of the command lines that the compiling commands make.
 *
 * Owns nothing. Called by tools/fc and tools/upcc. Calls: asprintf.
 * Invariant: a text that is returned lives until the process becomes the compiler.
 */
#define _GNU_SOURCE
#include "base/log.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>

char *tool_format(const char *a, const char *b, const char *c) {
  char *text = NULL;
  if (asprintf(&text, "%s%s%s", a, b, c) < 0) {
    tmb_print("no memory for a command line");
    exit(TOOL_EXIT_FAILED);
  }
  return text;
}
