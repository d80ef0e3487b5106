/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on words of this process, for every type and opcode.
 *
 * Owns: the loops of operations that the processor lacks. Called by the inlines of inline_ratomic.h
 * and by message handlers. Calls: those inlines for operations that are one instruction. A loop
 * asks for the cache line in a state in which it can be written and tries; a compare-and-swap that
 * fails has fetched the line, so the next attempt follows at once and mostly succeeds, whoever won
 * before; only after QUICK_TRIES failures (many contenders) does it rest for a random time, longer
 * each time. Invariants: there is no lock, so a rank that the kernel has suspended delays no other;
 * a minimum or maximum that changes nothing does not write where updates are full fences. That of
 * a client that is not to release does not come here.
 */
#include "base/atomic.h"
#include "base/log.h"
#include "ratomic/ratomic.h"

#include <string.h>

/* Compare-and-swap that fails: tries without a rest, then rests of up to 2^REST_BITS_MAX pauses.
 * Chosen; `tombolo bench atomic` measures contended words (study/RESULTS.md). */
#define QUICK_TRIES   4
#define REST_BITS_MAX 6

/* Opcodes that leave their write out where it would change nothing. */
#define SPARED        (TMB_UPDATES_FENCE ? GEX_OP_FMIN | GEX_OP_FMAX : 0)

struct contest {
  uint32_t tries;
  uint32_t random;
};

/* After a failed compare-and-swap: pause if there were many. Returns whether it paused, so that
 * the word should be read again. */
static bool rest(struct contest *c) {
  if (++c->tries < QUICK_TRIES) return false;
  const uint32_t grown = c->tries - QUICK_TRIES + 1;
  const uint32_t bits = grown < REST_BITS_MAX ? grown : REST_BITS_MAX;
  c->random = c->random * UINT32_C(1664525) + UINT32_C(1013904223); /* Numerical Recipes' LCG */
  for (uint32_t n = c->random >> (32 - bits); n; n--) tmb_cpu_pause();
  return true;
}

/* Functions of each type. */
#define DEFINE(S, T, W)                                                      \
 static T from_##S(W word) {                                                 \
  T value;                                                                   \
  memcpy(&value, &word, sizeof value);                                       \
  return value;                                                              \
 }                                                                           \
 static W word_##S(T value) {                                                \
  W word;                                                                    \
  memcpy(&word, &value, sizeof word);                                        \
  return word;                                                               \
 }                                                                           \
 static T loop_##S(void *addr, gex_OP_t op, T a) {                           \
  typedef W __attribute__((may_alias)) word_t;                               \
  word_t *const p = addr;                                                    \
  struct contest contest = {.random = (uint32_t)((uintptr_t)&contest >> 4)}; \
  tmb_prefetch_write(p);                                                     \
  W seen = tmb_load_rlx(p);                                                  \
  for (;;) {                                                                 \
   const W want = word_##S(gexx_ad_next_##S(op, from_##S(seen), a));         \
   if (want == seen && (op & SPARED)) {                                      \
    tmb_fence_seq();                                                         \
    const W again = tmb_load_acq(p);                                         \
    if (again == seen) return from_##S(seen);                                \
    seen = again;                                                            \
    continue;                                                                \
   }                                                                         \
   if (tmb_cas_seq(p, &seen, want)) return from_##S(seen);                   \
   if (rest(&contest)) seen = tmb_load_rlx(p);                               \
  }                                                                          \
 }
/* clang-format off */
#define RMW(S, T, loops)                                                                          \
 T gexx_ad_rmw_##S(void *addr, gex_OP_t op, T a, T b) {                                           \
  return (op & (loops)) ? loop_##S(addr, op, a) : gexx_ad_native_##S(addr, op, a, b);             \
 }
/* clang-format on */
#define GEXX_AD_INT(S, T, W) \
 DEFINE(S, T, W)             \
 RMW(S, T, GEXX_AD_LOOPS_INT)
#define GEXX_AD_REAL(S, T, W) \
 DEFINE(S, T, W)              \
 RMW(S, T, GEXX_AD_LOOPS_REAL)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL

#define APPLY(S, T)                                                          \
 static void apply_##S(const struct tmb_ratomic_rmw *m) {                    \
  T a, b;                                                                    \
  memcpy(&a, m->operand[0], sizeof a);                                       \
  memcpy(&b, m->operand[1], sizeof b);                                       \
  const T old = gexx_ad_rmw_##S(m->addr, GEXX_AD_FETCHING(m->opcode), a, b); \
  memcpy(m->old, &old, sizeof old);                                          \
 }
#define GEXX_AD_INT(S, T, W)  APPLY(S, T)
#define GEXX_AD_REAL(S, T, W) APPLY(S, T)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL

void tmb_ratomic_apply(const struct tmb_ratomic_rmw *rmw) {
  switch (rmw->dt) {
#define GEXX_AD_INT(S, T, W) \
 case GEX_DT_##S:            \
  apply_##S(rmw);            \
  break;
#define GEXX_AD_REAL GEXX_AD_INT
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
  default: tmb_bug("atomic operation on data type 0x%x", rmw->dt);
  }
}
