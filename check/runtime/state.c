/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the checker in a rank, and the records of accesses in the area.
 *
 * Owns: struct chk, the library's functions. Used by every file of this folder. Calls nothing.
 * Invariants: start.c fills them in; a record is used for another access once its turn comes again.
 */
#include "check/runtime/chk.h"

struct chk chk = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct chk_real chk_real;
struct chk_words chk_words;
_Thread_local CHK_FAST bool chk_within;
_Thread_local CHK_FAST int chk_strict_how;
