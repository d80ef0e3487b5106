/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations by name (bupc_atomicX_OP_FORM).
 *
 * Called by UPC programs. Calls: remote atomics of the library; the processor's for the private
 * forms. Invariants: a strict form is a fence, the operation, a fence; an operation that the
 * library lacks is a loop of compare-and-swap.
 */
#include "rt.h"

#define OPERATE(BITS)                                                                 \
 static uint##BITS##_t operate##BITS(upcr_pts_t p, gex_OP_t op, uint##BITS##_t a,     \
                                     uint##BITS##_t b) {                              \
  uint##BITS##_t old = 0;                                                             \
  upcr_serve();                                                                       \
  upcr_complete();                                                                    \
  gex_Event_Wait(gex_AD_OpNB_U##BITS(rt.ad##BITS, &old, (gex_Rank_t)upcr_threadof(p), \
                                     rt_owner_addr(p), op, a, b, 0));                 \
  return old;                                                                         \
 }
OPERATE(32)
OPERATE(64)

#define SHARED(X, T, U, W, FORM, FENCE)                                                        \
 RT_EXPORT T bupc_atomic##X##_read_##FORM(upcr_pts_t p);                                       \
 RT_EXPORT void bupc_atomic##X##_set_##FORM(upcr_pts_t p, T v);                                \
 RT_EXPORT T bupc_atomic##X##_mswap_##FORM(upcr_pts_t p, T mask, T v);                         \
 RT_EXPORT T bupc_atomic##X##_cswap_##FORM(upcr_pts_t p, T old, T v);                          \
 RT_EXPORT T bupc_atomic##X##_fetchnot_##FORM(upcr_pts_t p);                                   \
 T bupc_atomic##X##_read_##FORM(upcr_pts_t p) {                                                \
  FENCE;                                                                                       \
  const T r = (T)operate##W(p, GEX_OP_GET, 0, 0);                                              \
  FENCE;                                                                                       \
  return r;                                                                                    \
 }                                                                                             \
 void bupc_atomic##X##_set_##FORM(upcr_pts_t p, T v) {                                         \
  FENCE;                                                                                       \
  operate##W(p, GEX_OP_SET, (U)v, 0);                                                          \
  FENCE;                                                                                       \
 }                                                                                             \
 T bupc_atomic##X##_mswap_##FORM(upcr_pts_t p, T mask, T v) {                                  \
  FENCE;                                                                                       \
  U old = operate##W(p, GEX_OP_GET, 0, 0), seen;                                               \
  while ((seen = operate##W(p, GEX_OP_FCAS, old, (old & ~(U)mask) | ((U)v & (U)mask))) != old) \
   old = seen;                                                                                 \
  FENCE;                                                                                       \
  return (T)old;                                                                               \
 }                                                                                             \
 T bupc_atomic##X##_cswap_##FORM(upcr_pts_t p, T old, T v) {                                   \
  FENCE;                                                                                       \
  const T r = (T)operate##W(p, GEX_OP_FCAS, (U)old, (U)v);                                     \
  FENCE;                                                                                       \
  return r;                                                                                    \
 }                                                                                             \
 T bupc_atomic##X##_fetchnot_##FORM(upcr_pts_t p) {                                            \
  FENCE;                                                                                       \
  const T r = (T)operate##W(p, GEX_OP_FXOR, (U) ~(U)0, 0);                                     \
  FENCE;                                                                                       \
  return r;                                                                                    \
 }                                                                                             \
 SHARED_OP(X, T, U, W, FORM, FENCE, swap, GEX_OP_SWAP)                                         \
 SHARED_OP(X, T, U, W, FORM, FENCE, fetchadd, GEX_OP_FADD)                                     \
 SHARED_OP(X, T, U, W, FORM, FENCE, fetchand, GEX_OP_FAND)                                     \
 SHARED_OP(X, T, U, W, FORM, FENCE, fetchor, GEX_OP_FOR)                                       \
 SHARED_OP(X, T, U, W, FORM, FENCE, fetchxor, GEX_OP_FXOR)

#define SHARED_OP(X, T, U, W, FORM, FENCE, NAME, OP)              \
 RT_EXPORT T bupc_atomic##X##_##NAME##_##FORM(upcr_pts_t p, T v); \
 T bupc_atomic##X##_##NAME##_##FORM(upcr_pts_t p, T v) {          \
  FENCE;                                                          \
  const T r = (T)operate##W(p, OP, (U)v, 0);                      \
  FENCE;                                                          \
  return r;                                                       \
 }

/* The private forms: where a local address is at hand it is an address of this thread's memory or
 * of one that is mapped. */
#define PRIVATE(X, T)                                                                   \
 RT_EXPORT T bupc_atomic##X##_read_private(void *p);                                    \
 RT_EXPORT void bupc_atomic##X##_set_private(void *p, T v);                             \
 RT_EXPORT T bupc_atomic##X##_mswap_private(void *p, T mask, T v);                      \
 RT_EXPORT T bupc_atomic##X##_cswap_private(void *p, T old, T v);                       \
 RT_EXPORT T bupc_atomic##X##_fetchnot_private(void *p);                                \
 T bupc_atomic##X##_read_private(void *p) {                                             \
  return __atomic_load_n((T *)p, __ATOMIC_RELAXED);                                     \
 }                                                                                      \
 void bupc_atomic##X##_set_private(void *p, T v) {                                      \
  __atomic_store_n((T *)p, v, __ATOMIC_RELAXED);                                        \
 }                                                                                      \
 T bupc_atomic##X##_mswap_private(void *p, T mask, T v) {                               \
  T old = __atomic_load_n((T *)p, __ATOMIC_RELAXED);                                    \
  while (!__atomic_compare_exchange_n((T *)p, &old, (T)((old & ~mask) | (v & mask)), 0, \
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}           \
  return old;                                                                           \
 }                                                                                      \
 T bupc_atomic##X##_cswap_private(void *p, T old, T v) {                                \
  __atomic_compare_exchange_n((T *)p, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);  \
  return old;                                                                           \
 }                                                                                      \
 T bupc_atomic##X##_fetchnot_private(void *p) {                                         \
  return __atomic_fetch_xor((T *)p, (T) ~(T)0, __ATOMIC_RELAXED);                       \
 }                                                                                      \
 PRIVATE_OP(X, T, swap, __atomic_exchange_n)                                            \
 PRIVATE_OP(X, T, fetchadd, __atomic_fetch_add)                                         \
 PRIVATE_OP(X, T, fetchand, __atomic_fetch_and)                                         \
 PRIVATE_OP(X, T, fetchor, __atomic_fetch_or)                                           \
 PRIVATE_OP(X, T, fetchxor, __atomic_fetch_xor)

#define PRIVATE_OP(X, T, NAME, BUILTIN)                       \
 RT_EXPORT T bupc_atomic##X##_##NAME##_private(void *p, T v); \
 T bupc_atomic##X##_##NAME##_private(void *p, T v) {          \
  return BUILTIN((T *)p, v, __ATOMIC_RELAXED);                \
 }

#define NAMED(X, T, U, W)                 \
 SHARED(X, T, U, W, strict, upcr_fence()) \
 SHARED(X, T, U, W, relaxed, )            \
 PRIVATE(X, T)

NAMED(I64, int64_t, uint64_t, 64)
NAMED(U64, uint64_t, uint64_t, 64)
NAMED(I32, int32_t, uint32_t, 32)
NAMED(U32, uint32_t, uint32_t, 32)
NAMED(I, int, uint32_t, 32)
NAMED(UI, unsigned, uint32_t, 32)
NAMED(L, long, uint64_t, 64)
NAMED(UL, unsigned long, uint64_t, 64)
