/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the run-time library, and the end of a job for an error.
 *
 * Owns: struct upcr_state, and the variables that compiled programs read. Used by every file of
 * upc/runtime. Calls: gasnet_exit. Invariants: start.c alone writes the variables.
 */
#include "rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct upcr_state rt;
RT_EXPORT int upcr_threads, upcr_mythread, upcr_threads_shift = -1;
RT_EXPORT long upcr_threads_inverse;
#ifdef UPCR_WIDE
RT_EXPORT char **upcr_base;
#else
RT_EXPORT char *upcr_base[UPCR_THREADS_MAX];
#endif

void rt_fatal(const char *format, ...) {
  char text[1024], line[1100];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fflush(NULL);
  snprintf(line, sizeof line, "UPC: thread %d of %d: %s\n", upcr_mythread, upcr_threads, text);
  fputs(line, stderr); /* in one write, which a long formatted text is not */
  fflush(stderr);
  gasnet_exit(1);
  abort();
}
