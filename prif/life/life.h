/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an image.
 *
 * Owns nothing. Included by prif/life, and by prif/flang, whose functions take the place of those
 * of flang's run-time library. Calls nothing. Invariants: the program's stop callbacks run once, in
 * the first of these calls.
 */
#ifndef PRIF_LIFE_H
#define PRIF_LIFE_H

#include "prif.h"

/* A stop; code, text NULL: it has none. */
struct prif_stop_code {
  bool is_error, quiet;
  const int32_t *code;
  const char *text; /* [len] */
  size_t len;
};

/* A stop callback that flang calls have registered. The length belongs to the text. */
typedef void prif_stop_callback(const bool *is_error_stop, const bool *quiet,
                                const int32_t *stop_code_int, const char *stop_code_char,
                                size_t len);
void prif_add_callback(prif_stop_callback *callback);

/* Runs the stop callbacks of the program, last registered first: those of the module, then those
 * of prif_add_callback. */
void prif_run_callbacks(const struct prif_stop_code *stop);

/* Normal termination of this image, and error termination of all: callbacks, the stop code, the
 * end. */
__attribute__((noreturn)) void prif_stop_now(const struct prif_stop_code *stop);
__attribute__((noreturn)) void prif_error_stop_now(const struct prif_stop_code *stop);

#endif
