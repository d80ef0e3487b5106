/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of record and replay in a rank.
 *
 * Owns: struct rpl, the library's functions, and the mark of the ordered thread. Used by every file
 * of this folder. Calls nothing. Invariants: start.c fills them in before the job starts.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

struct rpl rpl;
struct rpl_real rpl_real;
_Thread_local bool rpl_ordered;
