/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic memory operations (OpenSHMEM 1.6, 9.7).
 *
 * Owns nothing. Called by programs. Calls: atomic domains for PEs that are not mapped. Invariants:
 * towards a mapped PE an operation is an instruction of this processor, and a domain's handlers use
 * that instruction at the owner (docs/DECISIONS/0098), so that both are atomic among each other,
 * whatever the context. A PE is woken after its word has changed.
 */
#include "../sh.h"

#include <string.h>

/* ---- the slow path */

struct amo {
  const char *call;
  const void *dest;
  void *fetch; /* NULL: the operation does not fetch */
  enum sh_kind kind;
  gex_OP_t op;
  uint64_t a, b; /* bits of the operands */
  int pe;
};

static size_t bytes_of(enum sh_kind kind) {
  return kind == SH_I64 || kind == SH_U64 || kind == SH_DBL ? 8 : 4;
}

SH_LONG static gex_Event_t start(struct shmem_ctx_s *ctx, const struct amo *m) {
  const struct sh_far to = sh_find(ctx, m->call, "dest", m->dest, bytes_of(m->kind), m->pe);
  if (to.offset % bytes_of(m->kind))
    sh_fatal(m->call, "argument dest is %p, which is not aligned to %zu bytes [TMB-2328]", m->dest,
             bytes_of(m->kind));
  gex_Event_t event = GEX_EVENT_INVALID;
#define PERFORM(S, T)                                                                \
 case SH_##S: {                                                                      \
  T a, b;                                                                            \
  memcpy(&a, &m->a, sizeof a);                                                       \
  memcpy(&b, &m->b, sizeof b);                                                       \
  event = gex_AD_OpNB_##S(sh.ad[SH_##S], m->fetch, to.pe, to.owner, m->op, a, b, 0); \
  break;                                                                             \
 }
  switch (m->kind) {
    PERFORM(I32, int32_t)
    PERFORM(U32, uint32_t)
    PERFORM(I64, int64_t)
    PERFORM(U64, uint64_t)
    PERFORM(FLT, float)
    PERFORM(DBL, double)
  }
#undef PERFORM
  if (sh.near[to.pe] && m->op != GEX_OP_GET) sh_wake(to.pe);
  return event;
}

SH_LONG static void fetch_long(struct shmem_ctx_s *ctx, const struct amo *m) {
  sh_complete(start(ctx, m));
}

SH_LONG static void start_long(struct shmem_ctx_s *ctx, const struct amo *m) {
  sh_pend(ctx, start(ctx, m));
}

/* ---- the fast path */

#define KIND(T)                        \
 _Generic((T)0, float                  \
          : SH_FLT, double             \
          : SH_DBL, int                \
          : SH_I32, unsigned           \
          : SH_U32, long               \
          : SH_I64, unsigned long      \
          : SH_U64, long long          \
          : SH_I64, unsigned long long \
          : SH_U64)

/* The bits of a value. */
#define BITS(value)                       \
 ({                                       \
 uint64_t bits_ = 0;                      \
 memcpy(&bits_, &(value), sizeof(value)); \
 bits_;                                   \
 })
#define AMO(T, CALL, FETCH, OP, A, B)      \
 &(const struct amo) {                     \
  CALL, dest, FETCH, KIND(T), OP, A, B, pe \
 }
#define WORD(C, T)                 \
 struct shmem_ctx_s *const c_ = C; \
 T *const at = (T *)(void *)sh_here(c_, dest, pe)
#define WAKE() (sh_wake_waiter(c_, pe), sh_progress())

/* The first argument of forms without a context, and with one. */
#define SH_NO_CTX
#define SH_ONE_CTX shmem_ctx_t ctx,

/* The three forms of an operation that changes the word: fetching, not fetching, nbi. NEW: the
 * expression that performs it on `at` and gives the value before. */
#define FETCHING(F, CTX, C, T, NAME, ARGS, NEW, OP, A, B)                              \
 SH_DEF(T, F##atomic_##NAME, (SH_##CTX##_CTX T * dest SHMEM_ARGS_##ARGS(T), int pe)) { \
  WORD(C, T);                                                                          \
  T before;                                                                            \
  if (SH_LIKELY(at)) {                                                                 \
   before = NEW;                                                                       \
   WAKE();                                                                             \
  } else {                                                                             \
   fetch_long(c_, AMO(T, #F "atomic_" #NAME, &before, OP, A, B));                      \
  }                                                                                    \
  return before;                                                                       \
 }                                                                                     \
 SH_DEF(void, F##atomic_##NAME##_nbi,                                                  \
        (SH_##CTX##_CTX T * fetch, T * dest SHMEM_ARGS_##ARGS(T), int pe)) {           \
  WORD(C, T);                                                                          \
  if (SH_LIKELY(at)) {                                                                 \
   *fetch = NEW;                                                                       \
   WAKE();                                                                             \
  } else {                                                                             \
   start_long(c_, AMO(T, #F "atomic_" #NAME "_nbi", fetch, OP, A, B));                 \
  }                                                                                    \
 }
#define CHANGING(F, CTX, C, T, NAME, ARGS, NEW, OP, A, B)                                 \
 SH_DEF(void, F##atomic_##NAME, (SH_##CTX##_CTX T * dest SHMEM_ARGS_##ARGS(T), int pe)) { \
  WORD(C, T);                                                                             \
  if (SH_LIKELY(at)) {                                                                    \
   NEW;                                                                                   \
   WAKE();                                                                                \
  } else {                                                                                \
   start_long(c_, AMO(T, #F "atomic_" #NAME, NULL, OP, A, B));                            \
  }                                                                                       \
 }
#define SHMEM_ARGS_0(T)
#define SHMEM_ARGS_1(T) , T value
#define SHMEM_ARGS_2(T) , T cond, T value
#define SEQ             __ATOMIC_SEQ_CST

#define SWAP(T)                             \
 ({                                         \
 T old_;                                    \
 __atomic_exchange(at, &value, &old_, SEQ); \
 old_;                                      \
 })
#define READ(T)                 \
 ({                             \
 T old_;                        \
 sh_progress();                 \
 __atomic_load(at, &old_, SEQ); \
 old_;                          \
 })
#define CSWAP(T)                                                 \
 ({                                                              \
 T old_ = cond;                                                  \
 __atomic_compare_exchange_n(at, &old_, value, false, SEQ, SEQ); \
 old_;                                                           \
 })

#define EXTENDED(F, CTX, C, T)                                                            \
 SH_DEF(T, F##atomic_fetch, (SH_##CTX##_CTX const T *source, int pe)) {                   \
  T *const dest = (T *)(uintptr_t)source;                                                 \
  WORD(C, T);                                                                             \
  T before;                                                                               \
  if (SH_LIKELY(at))                                                                      \
   before = READ(T);                                                                      \
  else                                                                                    \
   fetch_long(c_, AMO(T, #F "atomic_fetch", &before, GEX_OP_GET, 0, 0));                  \
  return before;                                                                          \
 }                                                                                        \
 SH_DEF(void, F##atomic_fetch_nbi, (SH_##CTX##_CTX T * fetch, const T *source, int pe)) { \
  T *const dest = (T *)(uintptr_t)source;                                                 \
  WORD(C, T);                                                                             \
  if (SH_LIKELY(at))                                                                      \
   *fetch = READ(T);                                                                      \
  else                                                                                    \
   start_long(c_, AMO(T, #F "atomic_fetch_nbi", fetch, GEX_OP_GET, 0, 0));                \
 }                                                                                        \
 FETCHING(F, CTX, C, T, swap, 1, SWAP(T), GEX_OP_SWAP, BITS(value), 0)                    \
 CHANGING(F, CTX, C, T, set, 1, __atomic_store(at, &value, SEQ), GEX_OP_SET, BITS(value), 0)

#define STANDARD(F, CTX, C, T)                                                                   \
 FETCHING(F, CTX, C, T, compare_swap, 2, CSWAP(T), GEX_OP_FCAS, BITS(cond), BITS(value))         \
 FETCHING(F, CTX, C, T, fetch_inc, 0, __atomic_fetch_add(at, 1, SEQ), GEX_OP_FADD, BITS((T){1}), \
          0)                                                                                     \
 FETCHING(F, CTX, C, T, fetch_add, 1, __atomic_fetch_add(at, value, SEQ), GEX_OP_FADD,           \
          BITS(value), 0)                                                                        \
 CHANGING(F, CTX, C, T, inc, 0, __atomic_fetch_add(at, 1, SEQ), GEX_OP_ADD, BITS((T){1}), 0)     \
 CHANGING(F, CTX, C, T, add, 1, __atomic_fetch_add(at, value, SEQ), GEX_OP_ADD, BITS(value), 0)

#define BITWISE(F, CTX, C, T)                                                                    \
 FETCHING(F, CTX, C, T, fetch_and, 1, __atomic_fetch_and(at, value, SEQ), GEX_OP_FAND,           \
          BITS(value), 0)                                                                        \
 FETCHING(F, CTX, C, T, fetch_or, 1, __atomic_fetch_or(at, value, SEQ), GEX_OP_FOR, BITS(value), \
          0)                                                                                     \
 FETCHING(F, CTX, C, T, fetch_xor, 1, __atomic_fetch_xor(at, value, SEQ), GEX_OP_FXOR,           \
          BITS(value), 0)                                                                        \
 CHANGING(F, CTX, C, T, and, 1, __atomic_fetch_and(at, value, SEQ), GEX_OP_AND, BITS(value), 0)  \
 CHANGING(F, CTX, C, T, or, 1, __atomic_fetch_or(at, value, SEQ), GEX_OP_OR, BITS(value), 0)     \
 CHANGING(F, CTX, C, T, xor, 1, __atomic_fetch_xor(at, value, SEQ), GEX_OP_XOR, BITS(value), 0)

#define DEFINE_EXTENDED(N, T)   \
 EXTENDED(N##_, NO, &sh.ctx, T) \
 EXTENDED(ctx_##N##_, ONE, sh_ctx(ctx), T)
#define DEFINE_STANDARD(N, T)   \
 STANDARD(N##_, NO, &sh.ctx, T) \
 STANDARD(ctx_##N##_, ONE, sh_ctx(ctx), T)
#define DEFINE_BITWISE(N, T)   \
 BITWISE(N##_, NO, &sh.ctx, T) \
 BITWISE(ctx_##N##_, ONE, sh_ctx(ctx), T)
SHMEM_TYPES_AMO_EXT_(DEFINE_EXTENDED)
SHMEM_TYPES_AMO_(DEFINE_STANDARD)
SHMEM_TYPES_AMO_BIT_(DEFINE_BITWISE)

/* ---- names of OpenSHMEM 1.0 to 1.3 */

#define OLD_STANDARD(N, T)                                        \
 SH_DEF(T, N##_cswap, (T * dest, T cond, T value, int pe)) {      \
  return pshmem_##N##_atomic_compare_swap(dest, cond, value, pe); \
 }                                                                \
 SH_DEF(T, N##_finc, (T * dest, int pe)) {                        \
  return pshmem_##N##_atomic_fetch_inc(dest, pe);                 \
 }                                                                \
 SH_DEF(T, N##_fadd, (T * dest, T value, int pe)) {               \
  return pshmem_##N##_atomic_fetch_add(dest, value, pe);          \
 }                                                                \
 SH_DEF(void, N##_inc, (T * dest, int pe)) {                      \
  pshmem_##N##_atomic_inc(dest, pe);                              \
 }                                                                \
 SH_DEF(void, N##_add, (T * dest, T value, int pe)) {             \
  pshmem_##N##_atomic_add(dest, value, pe);                       \
 }
SHMEM_TYPES_OLD_AMO_(OLD_STANDARD)
#define OLD_EXTENDED(N, T)                            \
 SH_DEF(T, N##_fetch, (const T *dest, int pe)) {      \
  return pshmem_##N##_atomic_fetch(dest, pe);         \
 }                                                    \
 SH_DEF(void, N##_set, (T * dest, T value, int pe)) { \
  pshmem_##N##_atomic_set(dest, value, pe);           \
 }                                                    \
 SH_DEF(T, N##_swap, (T * dest, T value, int pe)) {   \
  return pshmem_##N##_atomic_swap(dest, value, pe);   \
 }
SHMEM_TYPES_OLD_AMO_EXT_(OLD_EXTENDED)
SH_DEF(long, swap, (long *dest, long value, int pe)) {
  return pshmem_long_atomic_swap(dest, value, pe);
}
