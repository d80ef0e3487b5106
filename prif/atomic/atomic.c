/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic subroutines: prif_atomic_*, each for a coarray and an offset, and for an address.
 *
 * Owns nothing. Called by programs. Calls: remote atomics on 64-bit words. Invariants: an operation
 * is complete when it returns; it orders nothing else, but comes after earlier puts of this image
 * to its word; a logical variable is false when its word is 0, and is written as 0 or 1.
 */
#include "access/place.h"

/* Performs an operation. Returns the word as it was, 0 where the operation fetches nothing. */
static int64_t perform(const struct prif_place *p, gex_OP_t op, int64_t x, int64_t y, bool fetch) {
  int64_t before = 0;
  gex_Event_Wait(gex_AD_OpNB_I64(caf.ad64, fetch ? &before : NULL, p->rank, p->at, op, x, y, 0));
  return before;
}

static bool find(struct prif_place *p, const struct prif_where *where,
                 const struct prif_status *to) {
  if (!prif_find_word(p, where, to)) return false;
  caf_await(p->rank, p->at, sizeof(int64_t));
  return true;
}

/* Statements that do not read: op is one that fetches nothing. */
static void change(const struct prif_where *where, gex_OP_t op, int64_t value, int32_t *stat) {
  const struct prif_status to = {.stat = stat};
  struct prif_place p;
  if (!find(&p, where, &to)) return;
  (void)perform(&p, op, value, 0, false);
  prif_finish(p.rank, &to);
}

static void fetch(const struct prif_where *where, gex_OP_t op, int64_t value, int64_t *old,
                  int32_t *stat) {
  const struct prif_status to = {.stat = stat};
  struct prif_place p;
  if (!find(&p, where, &to)) return;
  *old = perform(&p, op, value, 0, true);
  prif_finish(p.rank, &to);
}

/* Reads of an atomic variable, which programs poll in loops. They make progress, and yield the
 * processor after several equal values. */
static void read_word(const struct prif_where *where, bool logical, int64_t *value, int32_t *stat) {
  const struct prif_status to = {.stat = stat};
  struct prif_place p;
  caf_serve();
  if (!find(&p, where, &to)) return;
  const int64_t found = perform(&p, GEX_OP_GET, 0, 0, true);
  *value = logical ? found != 0 : found;
  caf_looked(p.at, found);
  prif_finish(p.rank, &to);
}

/* Words that are not 0 are all true: of logical ones, the one that is there is compared with. */
static void swap(const struct prif_where *where, bool logical, int64_t *old, int64_t compare,
                 int64_t new, int32_t *stat) {
  const struct prif_status to = {.stat = stat};
  struct prif_place p;
  caf_serve();
  if (!find(&p, where, &to)) return;
  int64_t expected = logical ? compare != 0 : compare, found;
  while ((found = perform(&p, GEX_OP_FCAS, expected, logical ? new != 0 : new, true)) != expected &&
         logical && (found != 0) == (compare != 0))
    expected = found;
  *old = logical ? found != 0 : found;
  caf_looked(p.at, found);
  prif_finish(p.rank, &to);
}

/* A procedure and its indirect form, which differ in how they name the variable. */
#define BOTH(name, call, ...)                                                             \
 void PRIF(name)(PRIF_VARIABLE, __VA_ARGS__, int32_t * stat) {                            \
  PRIF_STATEMENT("prif_" #name);                                                          \
  const struct prif_where *const where = PRIF_WHERE;                                      \
  call;                                                                                   \
 }                                                                                        \
 void PRIF(name##_indirect)(PRIF_ADDRESS(atom_remote_ptr), __VA_ARGS__, int32_t * stat) { \
  PRIF_STATEMENT("prif_" #name "_indirect");                                              \
  const struct prif_where *const where = PRIF_WHERE_AT(atom_remote_ptr);                  \
  call;                                                                                   \
 }                                                                                        \
 PRIF_FLANG(name)                                                                         \
 PRIF_FLANG(name##_indirect)

BOTH(atomic_add, change(where, GEX_OP_ADD, *value, stat), const int64_t *value)
BOTH(atomic_and, change(where, GEX_OP_AND, *value, stat), const int64_t *value)
BOTH(atomic_or, change(where, GEX_OP_OR, *value, stat), const int64_t *value)
BOTH(atomic_xor, change(where, GEX_OP_XOR, *value, stat), const int64_t *value)
BOTH(atomic_define_int, change(where, GEX_OP_SET, *value, stat), const int64_t *value)
BOTH(atomic_define_logical, change(where, GEX_OP_SET, *value != 0, stat), const int64_t *value)
BOTH(atomic_ref_int, read_word(where, false, value, stat), int64_t *value)
BOTH(atomic_ref_logical, read_word(where, true, value, stat), int64_t *value)
BOTH(atomic_fetch_add, fetch(where, GEX_OP_FADD, *value, old, stat), const int64_t *value,
     int64_t *old)
BOTH(atomic_fetch_and, fetch(where, GEX_OP_FAND, *value, old, stat), const int64_t *value,
     int64_t *old)
BOTH(atomic_fetch_or, fetch(where, GEX_OP_FOR, *value, old, stat), const int64_t *value,
     int64_t *old)
BOTH(atomic_fetch_xor, fetch(where, GEX_OP_FXOR, *value, old, stat), const int64_t *value,
     int64_t *old)
BOTH(atomic_cas_int, swap(where, false, old, *compare, *new, stat), int64_t *old,
     const int64_t *compare, const int64_t *new)
BOTH(atomic_cas_logical, swap(where, true, old, *compare, *new, stat), int64_t *old,
     const int64_t *compare, const int64_t *new)
