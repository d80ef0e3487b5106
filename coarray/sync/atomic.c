/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic subroutines: ATOMIC_DEFINE, ATOMIC_REF, ATOMIC_CAS and the operations.
 *
 * Owns nothing. Called by compiled programs. Calls: remote atomics on 32-bit and 64-bit words.
 * Invariants: complete on return; atoms are integers and logicals of kind 4 or 8. An atom in mapped
 * memory takes one instruction, as no network performs operations of the domains (caf_start). That
 * uses nothing of the layer below, so nothing marks that the program is inside (inside.h).
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "data/pending.h"
#include "inside.h"

CAF_EXPORT void CAF(atomic_define)(void *token, size_t offset, int image, void *value, int *stat,
                                   int type, int kind);
CAF_EXPORT void CAF(atomic_ref)(void *token, size_t offset, int image, void *value, int *stat,
                                int type, int kind);
CAF_EXPORT void CAF(atomic_cas)(void *token, size_t offset, int image, void *old, void *compare,
                                void *new_value, int *stat, int type, int kind);
CAF_EXPORT void CAF(atomic_op)(int op, void *token, size_t offset, int image, void *value,
                               void *old, int *stat, int type, int kind);

/* The atom of a statement. */
struct selector {
  void *token;
  size_t offset;
  int image, kind;
  int *stat;
};

/* The place of an atom in this process, in the fewest instructions, where the statement cannot fail
 * any more. NULL: it is not mapped, or there is more to do. */
static inline __attribute__((always_inline)) void *
find_here(const struct caf_token *t, size_t offset, int image, int kind, int *stat) {
  uint32_t rank;
  if (__builtin_expect(stat != NULL, 0)) {
    void *const hears = caf_word_short(t, offset, image, &rank);
    if (!hears || (kind != 4 && kind != 8) || caf_serve_is_due() || caf_has_reports()) return NULL;
    *stat = 0;
    return hears;
  }
  void *const here = caf_word_short(t, offset, image, &rank);
  return !here || (kind != 4 && kind != 8) || caf_serve_is_due() ? NULL : here;
}

static int64_t load(const void *p, int kind) {
  return kind == 4 ? *(const int32_t *)p : *(const int64_t *)p;
}

static void store(void *p, int kind, int64_t value) {
  if (kind == 4)
    *(int32_t *)p = (int32_t)value;
  else
    *(int64_t *)p = value;
}

/* Performs an operation on a word of this process: an instruction, as `op` is a constant. Returns
 * the value before. */
static inline __attribute__((always_inline)) int64_t perform(void *word, int kind, gex_OP_t op,
                                                             int64_t x, int64_t y) {
  return kind == 4 ? gexx_ad_do_I32(word, op, (int32_t)x, (int32_t)y)
                   : gexx_ad_do_I64(word, op, x, y);
}

/* Finds any atom. Returns its address there, or NULL after caf_fail. */
static void *find_any(const struct selector *s, uint32_t *rank) {
  const struct caf_status to = {.stat = s->stat};
  if (s->kind != 4 && s->kind != 8) {
    caf_fail(&to, CAF_STAT_ERROR, "atomic variables are of kind 4 or 8, not %d [TMB-2037]",
             s->kind);
    return NULL;
  }
  *rank = caf_rank_of(s->token, s->image, &to);
  if (*rank == UINT32_MAX || caf_failed(*rank, &to)) return NULL;
  void *word = caf_address(s->token, s->offset, (size_t)s->kind, *rank, &to);
  if (word && caf_is_near(*rank))
    (void)caf_place(s->token, *rank); /* for find_here of the next statement */
  else if (word && caf.pending & CAF_UNDER_WAY)
    caf_await_slow(*rank, word, (size_t)s->kind);
  caf_serve();
  return word;
}

/* Performs an operation on any atom. [in] x, y: operands, NULL: none. [out] result: the value
 * before, or NULL. */
static __attribute__((noinline)) void operate(const struct selector *s, gex_OP_t op, const void *x,
                                              const void *y, void *result) {
  CAF_INSIDE;
  uint32_t rank;
  void *const word = find_any(s, &rank);
  if (!word) return;
  int32_t before32 = 0;
  int64_t before = 0;
  const int64_t a = x ? load(x, s->kind) : 0, b = y ? load(y, s->kind) : 0;
  if (s->kind == 4)
    gex_Event_Wait(gex_AD_OpNB_I32(caf.ad32, &before32, rank, word, op, (int32_t)a, (int32_t)b, 0));
  else
    gex_Event_Wait(gex_AD_OpNB_I64(caf.ad64, &before, rank, word, op, a, b, 0));
  if (s->kind == 4) before = before32;
  if (result) store(result, s->kind, before);
  if (result && (op == GEX_OP_GET || op == GEX_OP_FCAS)) caf_looked(word, before);
  caf_ok(s->stat);
}

void CAF(atomic_define)(void *token, size_t offset, int image, void *value, int *stat, int type,
                        int kind) {
  (void)type;
  void *const here = find_here(token, offset, image, kind, stat);
  if (here) {
    (void)perform(here, kind, GEX_OP_SWAP, load(value, kind), 0);
    return;
  }
  CAF_STATEMENT("ATOMIC_DEFINE");
  const struct selector s = {token, offset, image, kind, stat};
  operate(&s, GEX_OP_SWAP, value, NULL, NULL);
}

void CAF(atomic_ref)(void *token, size_t offset, int image, void *value, int *stat, int type,
                     int kind) {
  (void)type;
  void *const here = find_here(token, offset, image, kind, stat);
  if (here) {
    const int64_t found = perform(here, kind, GEX_OP_GET, 0, 0);
    store(value, kind, found);
    caf_looked(here, found);
    return;
  }
  CAF_STATEMENT("ATOMIC_REF");
  const struct selector s = {token, offset, image, kind, stat};
  operate(&s, GEX_OP_GET, NULL, NULL, value);
}

/* The value that ATOMIC_CAS compares with. gfortran 16 passes that of an expression in place of its
 * address: it is taken for the value where it is small and no memory is there. */
static int64_t load_compare(const void *compare, int kind) {
  const uintptr_t word = (uintptr_t)compare;
  if (__builtin_expect(word > UINT32_MAX && word < (uintptr_t)INT32_MIN, 1))
    return load(compare, kind);
  int64_t value = 0;
  struct iovec here = {&value, (size_t)kind}, there = {(void *)word, (size_t)kind};
  const ssize_t bytes = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  if (bytes == kind || (bytes < 0 && errno != EFAULT)) return load(compare, kind);
  return kind == 4 ? (int32_t)word : (int64_t)word;
}

void CAF(atomic_cas)(void *token, size_t offset, int image, void *old, void *compare,
                     void *new_value, int *stat, int type, int kind) {
  (void)type;
  void *const here = find_here(token, offset, image, kind, stat);
  if (here) {
    const int64_t with = load_compare(compare, kind);
    const int64_t found = perform(here, kind, GEX_OP_FCAS, with, load(new_value, kind));
    store(old, kind, found);
    if (found != with) caf_looked(here, found);
    return;
  }
  CAF_STATEMENT("ATOMIC_CAS");
  const struct selector s = {token, offset, image, kind, stat};
  int64_t with = 0;
  if (kind == 4 || kind == 8) store(&with, kind, load_compare(compare, kind));
  operate(&s, GEX_OP_FCAS, &with, new_value, old);
}

/* Operations of the compiler, from 1 on. */
static const gex_OP_t operations[] = {GEX_OP_FADD, GEX_OP_FAND, GEX_OP_FOR, GEX_OP_FXOR};

static int64_t perform_any(int op, void *word, int kind, int64_t x) {
  if (__builtin_expect(op == 1, 1)) return perform(word, kind, GEX_OP_FADD, x, 0);
  switch (op) {
  case 2: return perform(word, kind, GEX_OP_FAND, x, 0);
  case 3: return perform(word, kind, GEX_OP_FOR, x, 0);
  default: return perform(word, kind, GEX_OP_FXOR, x, 0);
  }
}

void CAF(atomic_op)(int op, void *token, size_t offset, int image, void *value, void *old,
                    int *stat, int type, int kind) {
  (void)type;
  const size_t index = (size_t)op - 1;
  const bool known = index < sizeof operations / sizeof operations[0];
  void *const here = known ? find_here(token, offset, image, kind, stat) : NULL;
  if (here) {
    const int64_t before = perform_any(op, here, kind, load(value, kind));
    if (old) store(old, kind, before);
    return;
  }
  CAF_STATEMENT("atomic operation");
  const struct selector s = {token, offset, image, kind, stat};
  if (known) {
    operate(&s, operations[index], value, NULL, old);
    return;
  }
  const struct caf_status to = {.stat = stat};
  caf_fail(&to, CAF_STAT_ERROR,
           "the compiler asks for atomic operation %d, which is unknown [TMB-2036]", op);
}
