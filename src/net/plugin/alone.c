/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's messages for a conduit's plug-in, which links nothing of the library.
 *
 * Owns nothing. Called by os/sync/lock.c, which is compiled into each plug-in. Calls libc. Not part
 * of the unit tests, which are linked with the library. Invariant: a bug ends the process.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tmb_bug_at(const char *func, const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "tombolo: bug in a conduit, %s at %s:%d: ", func, file, line);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  abort();
}
