/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the checker in a rank, and the records of accesses in the area.
 *
 * Owns: struct chk, and the library's functions. Used by every file of this folder. Calls nothing.
 * Invariants: start.c fills them in; a record is used for another access once its turn comes again.
 */
#include "check/runtime/chk.h"

struct chk chk = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct chk_real chk_real;
_Thread_local bool chk_within;

struct chk_access *chk_access_at(uint64_t number) {
  if (!number) return NULL;
  struct chk_access *all = chk_at(chk.area, chk.area->where_access);
  struct chk_access *const a = &all[number & (CHK_ACCESSES - 1)];
  return __atomic_load_n(&a->number, __ATOMIC_ACQUIRE) == number ? a : NULL;
}

bool chk_ordered(const struct chk_access *a) {
  if (a->accept != CHK_OPEN && chk.clock[a->accept_rank] >= a->accept) return true;
  if (a->rank == chk.rank && chk.in_order && !(a->flags & CHK_LOCAL)) return true;
  if (a->done == CHK_OPEN) return false;
  return a->rank == chk.rank || chk.clock[a->rank] >= a->done;
}
