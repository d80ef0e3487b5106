/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STAT= and ERRMSG= of PRIF procedures.
 *
 * Owns nothing. Called by all entry points. Calls: caf_fail of coarray/, which ends the program
 * where STAT= is absent. Invariants: ERRMSG= changes on errors only, and is spared the number of
 * the message.
 */
#include "prif.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int prif_code_of(int caf_code) {
  switch (caf_code) {
  case CAF_STAT_FAILED: return PRIF_STAT_FAILED_IMAGE;
  case CAF_STAT_STOPPED: return PRIF_STAT_STOPPED_IMAGE;
  case CAF_STAT_LOCKED: return PRIF_STAT_LOCKED;
  case CAF_STAT_LOCKED_OTHER: return PRIF_STAT_LOCKED_OTHER_IMAGE;
  case CAF_STAT_ERROR: return PRIF_STAT_ERROR;
  default: return caf_code; /* 0, or one of entry.h */
  }
}

/* The core pads its text with blanks. */
void prif_pass_slow(const struct prif_status *to, const struct prif_core *core) {
  char text[PRIF_TEXT_ROOM + 1];
  size_t len = sizeof core->text;
  while (len > 0 && core->text[len - 1] == ' ') len--;
  memcpy(text, core->text, len);
  text[len] = '\0';
  *to->stat = prif_code_of(core->stat);
  prif_desc_message(to->errmsg, to->errmsg_alloc, text);
}

void prif_fail(const struct prif_status *to, int code, const char *format, ...) {
  char text[PRIF_TEXT_ROOM];
  struct prif_core core;
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  caf_fail(prif_core(&core, to), code, "%s", text);
  prif_pass_slow(to, &core);
}
