/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/*
 * A program that takes the user's locale before it starts the library, driven by in_locale.py:
 * numbers of settings and of messages are read and printed with a point, words without regard to
 * the locale's letters. LOCALE_POINT, where set, is the point that the locale must have.
 */
#include "job.h"

#include <gasnet_tools.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char text[64];
  const char *point = getenv("LOCALE_POINT");
  setlocale(LC_ALL, "");
  job_start(&argc, &argv, 4096, NULL, 0);
  snprintf(text, sizeof text, "%.1f", 0.5);
  if (point) CHECK_EQ(text[1], *point);
  gasnett_setenv("LOCALE_REAL", "2.5");
  CHECK_EQ((int)(4 * gasnett_getenv_dbl_withdefault("LOCALE_REAL", 0)), 10);
  CHECK_EQ(gasnett_parse_int("1.5 KIB", 1), 1536);
  gasnett_setenv("LOCALE_WORD", "FALSE");
  CHECK_EQ(gasnett_getenv_yesno_withdefault("LOCALE_WORD", 1), 0);
  gasnett_envdbl_display("LOCALE_SHOWN", 0.25, 0);
  snprintf(text, sizeof text, "%.1f", 0.5); /* the client's locale is as before */
  if (point) CHECK_EQ(text[1], *point);
  job_barrier();
  return job_finish();
}
