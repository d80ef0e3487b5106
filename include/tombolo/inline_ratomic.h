/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/inline_ratomic.h: operations on atomic domains (API 05.4), the part that runs in the
 * caller.
 *
 * Included by gasnet_ratomic.h. Each operation is: is the domain direct? then one instruction on
 * the mapped word where the opcode is a compile-time constant and the processor has one; one
 * compare-and-swap where it has none, and a call that loops if that fails, or if the opcode is a
 * variable; otherwise the library's checked form, which serves domains of messages, unusual flags
 * and every call of a debug client. Invariants: no loop, no lock; a direct operation is complete on
 * return, hence the event is GEX_EVENT_INVALID; it is sequentially consistent, so that it is seen
 * by every operation that is issued later, and acquires and releases. A minimum or maximum that
 * changes nothing, and is not to release, is a load that acquires.
 */
#ifndef GEXX_INLINE_RATOMIC_H
#define GEXX_INLINE_RATOMIC_H

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Head of an atomic domain. */
struct gexx_ad_s {
  const intptr_t *delta; /* [size] as that of the team, or NULL: the library has to decide */
  gex_TM_t tm;
  void *cdata;
  uint32_t dt, ops, flags;
  uint32_t magic;
  uint64_t reserved[2];
};

/* One operation of any type. */
struct gexx_ad_op {
  void *result, *addr;
  const void *operand[2]; /* values of type dt */
  gex_Rank_t rank;
  gex_DT_t dt; /* of the call's suffix */
  gex_OP_t opcode;
  gex_Flags_t flags;
};

/* Library forms of the calls below, for every type. */
GEXX_API gex_Event_t gexx_ad_op_nb(gex_AD_t ad, const struct gexx_ad_op *op);
GEXX_API int gexx_ad_op_nbi(gex_AD_t ad, const struct gexx_ad_op *op);

/* Flags that the inlines leave to the library. */
#define GEXX_AD_SLOW_FLAGS \
 (GEX_FLAG_RANK_IS_JOBRANK | GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET)

/* Fetching form of any opcode. */
#define GEXX_AD_FETCHING(op) ((op) < GEX_OP_FAND ? GEX_OP_TO_FETCHING(op) : (op))

/* Fetching opcodes that need a loop, for integers and for floating point. */
#define GEXX_AD_LOOPS_INT    (GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX)
#define GEXX_AD_LOOPS_REAL \
 (GEXX_AD_LOOPS_INT | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FINC | GEX_OP_FDEC)

/* A file that is compiled with `tombolo cc --check` tells of its loads and stores. Functions with
 * this attribute do not: what they access is no memory of the program. */
#if defined(GEXX_FENCES_SEEN)
# define GEXX_UNTOLD static __attribute__((noinline, unused, no_sanitize("thread")))
GEXX_UNTOLD const intptr_t *gexx_ad_delta_untold(gex_AD_t ad) {
  return *(const intptr_t *const volatile *)&ad->delta;
}
# define GEXX_AD_DELTA(ad) gexx_ad_delta_untold(ad)
#else
# define GEXX_AD_DELTA(ad) __atomic_load_n(&(ad)->delta, __ATOMIC_RELAXED)
#endif

/* Table of a domain, NULL: the library has to decide. Read once for each operation: it changes when
 * a member is lost (ext_failure.h). */
GEXX_INLINE const intptr_t *gexx_ad_delta(gex_AD_t ad) {
  return GEXX_DEBUG ? (const intptr_t *)NULL : GEXX_AD_DELTA(ad);
}

/* Whether an operation on a domain with this table can be done here. */
GEXX_INLINE int gexx_ad_direct(const intptr_t *delta, gex_Flags_t flags) {
  return !GEXX_DEBUG && GEXX_LIKELY(delta != NULL) && !(flags & GEXX_AD_SLOW_FLAGS);
}

/* A release by a mere load needs a fence; all else that operations promise comes from their order.
 */
GEXX_INLINE void gexx_ad_before(gex_OP_t opcode, gex_Flags_t flags) {
  if (opcode == GEX_OP_GET && (flags & GEX_FLAG_AD_REL)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Asks the cache for the line of a word, in a state in which it can be written. */
GEXX_INLINE void gexx_ad_ask(const void *addr) {
#if defined(PLATFORM_ARCH_X86_64) /* the built-in would ask for a line that can be read */
  __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)addr));
#else
  __builtin_prefetch(addr, 1, 3);
#endif
}

/* For opcodes that the processor lacks. gexx_ad_next_: the value after; UP is the type in which it
 * is computed. gexx_ad_same_: whether a word stays as it is; old: its value. gexx_ad_once_:
 * performs the operation by one compare-and-swap, or by the library if that fails or changes
 * nothing. */
#define GEXX_AD_ONCE(S, T, W, UP)                                                      \
 GEXX_API T gexx_ad_rmw_##S(void *addr, gex_OP_t op, T a, T b);                        \
 GEXX_INLINE T gexx_ad_next_##S(gex_OP_t op, T x, T a) {                               \
  switch (op) {                                                                        \
  case GEX_OP_FADD: return (T)((UP)x + (UP)a);                                         \
  case GEX_OP_FSUB: return (T)((UP)x - (UP)a);                                         \
  case GEX_OP_FINC: return (T)((UP)x + (UP)1);                                         \
  case GEX_OP_FDEC: return (T)((UP)x - (UP)1);                                         \
  case GEX_OP_FMULT: return (T)((UP)x * (UP)a);                                        \
  case GEX_OP_FMIN: return x < a ? x : a;                                              \
  default: return x > a ? x : a;                                                       \
  }                                                                                    \
 }                                                                                     \
 GEXX_INLINE int gexx_ad_same_##S(const void *addr, gex_OP_t op, T a, T *old) {        \
  typedef const W __attribute__((__may_alias__)) word_t;                               \
  const W seen = __atomic_load_n((word_t *)addr, __ATOMIC_ACQUIRE);                    \
  T next;                                                                              \
  memcpy(old, &seen, sizeof *old);                                                     \
  next = gexx_ad_next_##S(op, *old, a);                                                \
  return !memcmp(&next, &seen, sizeof next);                                           \
 }                                                                                     \
 GEXX_INLINE T gexx_ad_once_##S(void *addr, gex_OP_t op, T a, T b) {                   \
  typedef W __attribute__((__may_alias__)) word_t;                                     \
  W seen, want;                                                                        \
  T old, next;                                                                         \
  gexx_ad_ask(addr);                                                                   \
  seen = __atomic_load_n((word_t *)addr, __ATOMIC_RELAXED);                            \
  memcpy(&old, &seen, sizeof old);                                                     \
  next = gexx_ad_next_##S(op, old, a);                                                 \
  memcpy(&want, &next, sizeof want);                                                   \
  if (want != seen && __atomic_compare_exchange_n((word_t *)addr, &seen, want, 0,      \
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
   return old;                                                                         \
  return gexx_ad_rmw_##S(addr, op, a, b);                                              \
 }

/* Whether a minimum or maximum that changes nothing is a load: it leaves the line to its other
 * readers. One that is to release is for the library. */
#define GEXX_AD_SPARES(op, flags)                                                     \
 (__builtin_constant_p(op) && (GEXX_AD_FETCHING(op) & (GEX_OP_FMIN | GEX_OP_FMAX)) && \
  !((flags)&GEX_FLAG_AD_REL))

/* gexx_ad_rmw_: performs any operation on a word of this process; `op` is a fetching opcode.
 * Returns the value before. gexx_ad_native_: that for opcodes that are one instruction. */
#define GEXX_AD_INT(S, T, W)                                                                 \
 GEXX_AD_ONCE(S, T, W, W)                                                                    \
 GEXX_INLINE T gexx_ad_native_##S(void *addr, gex_OP_t op, T a, T b) {                       \
  typedef W __attribute__((__may_alias__)) word_t;                                           \
  word_t *const p = (word_t *)addr;                                                          \
  W seen = (W)a;                                                                             \
  switch (op) {                                                                              \
  case GEX_OP_FADD: return (T)__atomic_fetch_add(p, (W)a, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_FSUB: return (T)__atomic_fetch_sub(p, (W)a, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_FINC: return (T)__atomic_fetch_add(p, (W)1, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_FDEC: return (T)__atomic_fetch_sub(p, (W)1, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_FAND: return (T)__atomic_fetch_and(p, (W)a, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_FOR: return (T)__atomic_fetch_or(p, (W)a, __ATOMIC_SEQ_CST);                   \
  case GEX_OP_FXOR: return (T)__atomic_fetch_xor(p, (W)a, __ATOMIC_SEQ_CST);                 \
  case GEX_OP_SWAP: return (T)__atomic_exchange_n(p, (W)a, __ATOMIC_SEQ_CST);                \
  case GEX_OP_FCAS:                                                                          \
   (void)__atomic_compare_exchange_n(p, &seen, (W)b, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
   return (T)seen;                                                                           \
  default: return (T)__atomic_load_n(p, __ATOMIC_SEQ_CST);                                   \
  }                                                                                          \
 }                                                                                           \
 GEXX_INLINE_ALWAYS T gexx_ad_do_##S(void *addr, gex_OP_t op, T a, T b) {                    \
  const gex_OP_t fetching = GEXX_AD_FETCHING(op);                                            \
  if (!__builtin_constant_p(op)) return gexx_ad_rmw_##S(addr, fetching, a, b);               \
  return fetching & GEXX_AD_LOOPS_INT ? gexx_ad_once_##S(addr, fetching, a, b)               \
                                      : gexx_ad_native_##S(addr, fetching, a, b);            \
 }
#define GEXX_AD_REAL(S, T, W)                                                                \
 GEXX_AD_ONCE(S, T, W, T)                                                                    \
 GEXX_INLINE T gexx_ad_native_##S(void *addr, gex_OP_t op, T a, T b) {                       \
  typedef W __attribute__((__may_alias__)) word_t;                                           \
  word_t *const p = (word_t *)addr;                                                          \
  W seen, next;                                                                              \
  T old;                                                                                     \
  memcpy(&seen, &a, sizeof seen);                                                            \
  memcpy(&next, &b, sizeof next);                                                            \
  switch (op) {                                                                              \
  case GEX_OP_SWAP: seen = __atomic_exchange_n(p, seen, __ATOMIC_SEQ_CST); break;            \
  case GEX_OP_FCAS:                                                                          \
   (void)__atomic_compare_exchange_n(p, &seen, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
   break;                                                                                    \
  default: seen = __atomic_load_n(p, __ATOMIC_SEQ_CST); break;                               \
  }                                                                                          \
  memcpy(&old, &seen, sizeof old);                                                           \
  return old;                                                                                \
 }                                                                                           \
 GEXX_INLINE_ALWAYS T gexx_ad_do_##S(void *addr, gex_OP_t op, T a, T b) {                    \
  const gex_OP_t fetching = GEXX_AD_FETCHING(op);                                            \
  if (!__builtin_constant_p(op)) return gexx_ad_rmw_##S(addr, fetching, a, b);               \
  return fetching & GEXX_AD_LOOPS_REAL ? gexx_ad_once_##S(addr, fetching, a, b)              \
                                       : gexx_ad_native_##S(addr, fetching, a, b);           \
 }
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL

/* One operation with its operands. */
#if defined(GEXX_UNTOLD)
# define GEXX_AD_MAKE(S, T)                                                                        \
  struct gexx_ad_made_##S {                                                                        \
   struct gexx_ad_op op;                                                                           \
   T operand[2];                                                                                   \
  };                                                                                               \
  GEXX_UNTOLD void gexx_ad_make_##S(struct gexx_ad_made_##S *m, T *result_p, void *tgt_addr,       \
                                    gex_Rank_t tgt_rank, gex_OP_t opcode, gex_Flags_t flags, T a,  \
                                    T b) {                                                         \
   const struct gexx_ad_op op = {                                                                  \
       result_p, tgt_addr, {&m->operand[0], &m->operand[1]}, tgt_rank, GEX_DT_##S, opcode, flags}; \
   m->op = op;                                                                                     \
   m->operand[0] = a;                                                                              \
   m->operand[1] = b;                                                                              \
  }
# define GEXX_AD_MADE(S)                                                      \
  struct gexx_ad_made_##S made;                                               \
  gexx_ad_make_##S(&made, result_p, tgt_addr, tgt_rank, opcode, flags, a, b); \
  const struct gexx_ad_op *const op = &made.op
#else
# define GEXX_AD_MAKE(S, T)
# define GEXX_AD_MADE(S)            \
  const struct gexx_ad_op op[1] = { \
      {result_p, tgt_addr, {&a, &b}, tgt_rank, GEX_DT_##S, opcode, flags}}
#endif

/* The far form of a call of one kind: K is nb or nbi, R its result. */
#define GEXX_AD_FAR(S, T, R, K)                                                     \
 GEXX_INLINE R gexx_ad_far_##K##_##S(gex_AD_t ad, T *result_p, gex_Rank_t tgt_rank, \
                                     void *tgt_addr, gex_OP_t opcode, T a, T b,     \
                                     gex_Flags_t flags) {                           \
  GEXX_AD_MADE(S);                                                                  \
  return gexx_ad_op_##K(ad, op);                                                    \
 }

/* Operations, one pair per type. [out] result_p: where a fetching opcode stores the value before;
 * private to the operation until it is synchronised; ignored by other opcodes. [in] tgt_rank: in
 * the domain's team, or a jobrank with GEX_FLAG_RANK_IS_JOBRANK. [in] tgt_addr: aligned, in the
 * owner's address space, inside the bound segment of the target. [in] opcode: one of the domain's;
 * a constant is fastest. [in] operand1, operand2: used as the opcode says, else ignored. [in]
 * flags: GEX_FLAG_IMMEDIATE, one of GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD (promises),
 * GEX_FLAG_AD_ACQ, GEX_FLAG_AD_REL, GEX_FLAG_RANK_IS_JOBRANK, GEX_FLAG_SELF_SEG_OFFSET (result_p is
 * an offset), GEX_FLAG_PEER_SEG_OFFSET (tgt_addr is one). NB returns the root event
 * (GEX_EVENT_INVALID: complete; GEX_EVENT_NO_OP only with IMMEDIATE); NBI returns 0, non-zero only
 * with IMMEDIATE when nothing was done, and completes in GEX_EC_PUT (SET), GEX_EC_GET (GET) or
 * GEX_EC_RMW. Normal context; may poll; any thread. Cost on a direct domain: one instruction, or a
 * loop over compare-and-swap for MULT, MIN, MAX and all floating-point arithmetic. API 05.4. */
#define GEXX_AD_CALLS(S, T)                                                                        \
 GEXX_AD_MAKE(S, T)                                                                                \
 GEXX_AD_FAR(S, T, gex_Event_t, nb)                                                                \
 GEXX_AD_FAR(S, T, int, nbi)                                                                       \
 GEXX_INLINE_ALWAYS void gexx_ad_near_##S(const intptr_t *delta, T *result_p, gex_Rank_t tgt_rank, \
                                          void *tgt_addr, gex_OP_t opcode, T a, T b,               \
                                          gex_Flags_t flags) {                                     \
  void *const here = (void *)((uintptr_t)tgt_addr + (uintptr_t)delta[tgt_rank]);                   \
  gexx_ad_before(opcode, flags);                                                                   \
  T old;                                                                                           \
  if (!GEXX_AD_SPARES(opcode, flags) ||                                                            \
      !gexx_ad_same_##S(here, GEXX_AD_FETCHING(opcode), a, &old))                                  \
   old = gexx_ad_do_##S(here, opcode, a, b);                                                       \
  if (opcode >= GEX_OP_FAND) *result_p = old;                                                      \
 }                                                                                                 \
 GEXX_INLINE_ALWAYS GEXX_WARN_UNUSED gex_Event_t gex_AD_OpNB_##S(                                  \
     gex_AD_t ad, T *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode, T operand1,   \
     T operand2, gex_Flags_t flags) {                                                              \
  const intptr_t *const delta = gexx_ad_delta(ad);                                                 \
  if (!gexx_ad_direct(delta, flags))                                                               \
   return gexx_ad_far_nb_##S(ad, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags); \
  gexx_ad_near_##S(delta, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags);        \
  return GEX_EVENT_INVALID;                                                                        \
 }                                                                                                 \
 GEXX_INLINE_ALWAYS int gex_AD_OpNBI_##S(gex_AD_t ad, T *result_p, gex_Rank_t tgt_rank,            \
                                         void *tgt_addr, gex_OP_t opcode, T operand1, T operand2,  \
                                         gex_Flags_t flags) {                                      \
  const intptr_t *const delta = gexx_ad_delta(ad);                                                 \
  if (!gexx_ad_direct(delta, flags))                                                               \
   return gexx_ad_far_nbi_##S(ad, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2,        \
                              flags);                                                              \
  gexx_ad_near_##S(delta, result_p, tgt_rank, tgt_addr, opcode, operand1, operand2, flags);        \
  return 0;                                                                                        \
 }
#define GEXX_AD_INT(S, T, W)  GEXX_AD_CALLS(S, T)
#define GEXX_AD_REAL(S, T, W) GEXX_AD_CALLS(S, T)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
#undef GEXX_AD_ONCE
#undef GEXX_AD_SPARES
#undef GEXX_AD_CALLS
#undef GEXX_AD_FAR
#undef GEXX_AD_MAKE
#undef GEXX_AD_MADE
#undef GEXX_AD_DELTA

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
