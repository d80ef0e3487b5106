/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal result codes: 0 is success, negative values are the rows of error.def.
 *
 * Owns: enum tmb_error. Called by every layer; calls nothing.
 * Invariants: TMB_OK is 0, every other code is negative and unique.
 */
#ifndef TMB_BASE_ERROR_H
#define TMB_BASE_ERROR_H

enum tmb_error {
  TMB_OK = 0,
#define TMB_ERROR(name, value, text, remedy) TMB_##name = (value),
#include "base/error.def"
#undef TMB_ERROR
};

/*
 * Text of an internal result code.
 * in code: any value.
 * Returns a constant string, "unknown error" for values outside error.def. Threads: any.
 */
const char *tmb_error_text(int code);

/* Name of an error code, as "TMB_E_NOMEM", for a message that is reported; "unknown" for other
 * values. Threads: any. */
const char *tmb_error_name(int code);

/* The user's remedy of an error that ends the program: a clause for the end of a message. */
const char *tmb_error_remedy(int code);

/*
 * The user's remedy where the system has refused a descriptor (a pipe, an eventfd, a file). in
 * error: an errno. Returns a clause for the end of a message, constant. Threads: any.
 */
const char *tmb_error_fd_remedy(int error);

#endif
