/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The active message that carries a piece of a message.
 *
 * Owns its index and its arguments. Included by inbox.c and message.c. Calls nothing. Invariants:
 * the package has the same numbers of kinds.
 */
#ifndef TMBPY_MESSAGE_H
#define TMBPY_MESSAGE_H

#include "core.h"

#define TMBPY_MESSAGE_INDEX GEX_AM_INDEX_BASE
#define TMBPY_MESSAGE_NARGS 7 /* kind, id (2), bytes (2), offset (2) */

/* Kinds of messages. */
enum {
  TMBPY_KIND_SEND,
  TMBPY_KIND_CALL,
  TMBPY_KIND_ANSWER,
  TMBPY_KIND_ERROR,
  TMBPY_KIND_ENDED,
  TMBPY_KIND_LOST
};

#endif
