/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library prints when a call returns an error: caught from stderr, and checked.
 */
#ifndef TMB_TEST_MESSAGES_H
#define TMB_TEST_MESSAGES_H

#include "check.h"

#include <gasnetex.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int messages_stderr = -1;
static FILE *messages_file;

/* Error returns print a note from now on, into a file. */
static inline void messages_begin(void) {
  messages_file = tmpfile();
  REQUIRE(messages_file != NULL);
  fflush(stderr);
  messages_stderr = dup(2);
  dup2(fileno(messages_file), 2);
  gex_System_SetVerboseErrors(1);
}

/* Stderr is back; the notes must hold both texts. */
static inline void messages_expect(const char *first, const char *second) {
  char text[8192] = {0};
  gex_System_SetVerboseErrors(0);
  fflush(stderr);
  dup2(messages_stderr, 2);
  close(messages_stderr);
  rewind(messages_file);
  const size_t n = fread(text, 1, sizeof text - 1, messages_file);
  text[n] = 0;
  fclose(messages_file);
  if (!strstr(text, first) || !strstr(text, second))
    check_fail(__FILE__, __LINE__, "no \"%s\" and \"%s\" in the note \"%s\"", first, second, text);
}

#endif
