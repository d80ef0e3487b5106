/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the OpenSHMEM library.
 *
 * Owns nothing. Called by all files. Calls: the end of the job. Invariants: a message names the
 * PE; one that ends the job names the routine, the argument, its value and the remedy.
 */
#include "../sh.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const char *call, const char *format, va_list args) {
  char text[1024];
  const int at = snprintf(text, sizeof text, "%s%s%s", call ? "shmem_" : "", call ? call : "",
                          call ? ": " : "");
  vsnprintf(text + at, sizeof text - (size_t)at, format, args);
  fflush(stdout);
  if (sh.joined)
    fprintf(stderr, "SHMEM: PE %u of %u: %s\n", sh.pe, sh.size, text);
  else
    fprintf(stderr, "SHMEM: %s\n", text);
  fflush(stderr);
}

void sh_fatal(const char *call, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(call, format, args);
  va_end(args);
  sh.ended = true; /* exit handlers wait for nobody */
  if (sh.joined) gasnet_exit(1);
  exit(1);
}

void sh_say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(NULL, format, args);
  va_end(args);
}
