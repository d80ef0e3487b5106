/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic subroutines: ATOMIC_DEFINE, ATOMIC_REF, ATOMIC_CAS and the operations.
 *
 * Owns nothing. Called by compiled programs. Calls: remote atomics on 32-bit and 64-bit words.
 * Invariants: complete on return; atoms are integers and logicals of kind 4 or 8.
 */
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

/* Where an atom is. */
struct atom {
  uint32_t rank;
  void *word;
  int kind;
};

/* Find an atom. Returns whether it is there. */
static bool find(struct atom *a, void *token, size_t offset, int image, int kind, int *stat) {
  const struct caf_status to = {.stat = stat};
  a->kind = kind;
  if (kind != 4 && kind != 8) {
    caf_fail(&to, CAF_STAT_ERROR, "atomic variables are of kind 4 or 8, not %d [TMB-2037]", kind);
    return false;
  }
  a->rank = caf_rank_of(token, image, &to);
  if (a->rank != UINT32_MAX && caf_failed(a->rank, &to)) return false;
  a->word = a->rank == UINT32_MAX ? NULL : caf_address(token, offset, (size_t)kind, a->rank, &to);
  if (a->word && caf.pending & CAF_UNDER_WAY) caf_await_slow(a->rank, a->word, (size_t)kind);
  caf_serve();
  return a->word != NULL;
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

/* Performs an operation, an instruction where `op` is a constant; returns the value before. */
static inline __attribute__((always_inline)) int64_t perform(const struct atom *a, gex_OP_t op,
                                                             int64_t x, int64_t y) {
  if (a->kind == 4) {
    int32_t before = 0;
    gex_Event_Wait(
        gex_AD_OpNB_I32(caf.ad32, &before, a->rank, a->word, op, (int32_t)x, (int32_t)y, 0));
    return before;
  }
  int64_t before = 0;
  gex_Event_Wait(gex_AD_OpNB_I64(caf.ad64, &before, a->rank, a->word, op, x, y, 0));
  return before;
}

void CAF(atomic_define)(void *token, size_t offset, int image, void *value, int *stat, int type,
                        int kind) {
  CAF_INSIDE;
  CAF_STATEMENT("ATOMIC_DEFINE");
  (void)type;
  struct atom a;
  if (!find(&a, token, offset, image, kind, stat)) return;
  (void)perform(&a, GEX_OP_SWAP, load(value, kind), 0);
  caf_ok(stat);
}

void CAF(atomic_ref)(void *token, size_t offset, int image, void *value, int *stat, int type,
                     int kind) {
  CAF_INSIDE;
  CAF_STATEMENT("ATOMIC_REF");
  (void)type;
  struct atom a;
  if (!find(&a, token, offset, image, kind, stat)) return;
  const int64_t found = perform(&a, GEX_OP_GET, 0, 0);
  store(value, kind, found);
  caf_looked(a.word, found);
  caf_ok(stat);
}

void CAF(atomic_cas)(void *token, size_t offset, int image, void *old, void *compare,
                     void *new_value, int *stat, int type, int kind) {
  CAF_INSIDE;
  CAF_STATEMENT("ATOMIC_CAS");
  (void)type;
  struct atom a;
  if (!find(&a, token, offset, image, kind, stat)) return;
  const int64_t found = perform(&a, GEX_OP_FCAS, load(compare, kind), load(new_value, kind));
  store(old, kind, found);
  caf_looked(a.word, found);
  caf_ok(stat);
}

void CAF(atomic_op)(int op, void *token, size_t offset, int image, void *value, void *old,
                    int *stat, int type, int kind) {
  CAF_INSIDE;
  CAF_STATEMENT("atomic operation");
  (void)type;
  const struct caf_status to = {.stat = stat};
  struct atom a;
  int64_t before;
  if (!find(&a, token, offset, image, kind, stat)) return;
  const int64_t operand = load(value, kind);
  switch (op) {
  case 1: before = perform(&a, GEX_OP_FADD, operand, 0); break;
  case 2: before = perform(&a, GEX_OP_FAND, operand, 0); break;
  case 3: before = perform(&a, GEX_OP_FOR, operand, 0); break;
  case 4: before = perform(&a, GEX_OP_FXOR, operand, 0); break;
  default:
    caf_fail(&to, CAF_STAT_ERROR,
             "the compiler asks for atomic operation %d, which is unknown [TMB-2036]", op);
    return;
  }
  if (old) store(old, kind, before);
  caf_ok(stat);
}
