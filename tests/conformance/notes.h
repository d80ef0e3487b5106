/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library prints when a call returns an error: caught from stderr, and checked.
 */
#ifndef TMB_TEST_NOTES_H
#define TMB_TEST_NOTES_H

#include "check.h"

#include <gasnetex.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int notes_stderr = -1;
static FILE *notes_file;

/* Error returns print a note from now on, into a file. */
static inline void notes_begin(void) {
  notes_file = tmpfile();
  REQUIRE(notes_file != NULL);
  fflush(stderr);
  notes_stderr = dup(2);
  dup2(fileno(notes_file), 2);
  gex_System_SetVerboseErrors(1);
}

/* Stderr is back; the notes must hold both texts. */
static inline void notes_expect(const char *first, const char *second) {
  char text[8192] = {0};
  gex_System_SetVerboseErrors(0);
  fflush(stderr);
  dup2(notes_stderr, 2);
  close(notes_stderr);
  rewind(notes_file);
  const size_t n = fread(text, 1, sizeof text - 1, notes_file);
  text[n] = 0;
  fclose(notes_file);
  if (!strstr(text, first) || !strstr(text, second))
    check_fail(__FILE__, __LINE__, "no \"%s\" and \"%s\" in the note \"%s\"", first, second, text);
}

#endif
