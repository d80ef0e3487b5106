/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequential model of atomic operations (API 05.2) for tests: value after, by type and opcode, and
 * typed calls behind one interface. Values travel as the bit pattern of the type.
 */
#ifndef TMB_TEST_AD_MODEL_H
#define TMB_TEST_AD_MODEL_H

#include "job.h"

#include <gasnet_ratomic.h>

/* Rows X(name) of opcodes without their fetching form; ints: of integers only. */
#define AD_OPS_COMMON(X) X(ADD) X(SUB) X(MULT) X(MIN) X(MAX) X(INC) X(DEC)
#define AD_OPS_INT(X)    X(AND) X(OR) X(XOR)

#define AD_FETCHING                                                                    \
 (GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FINC | \
  GEX_OP_FDEC | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_GET)
#define AD_PLAIN                                                                              \
 (GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC | \
  GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_SET | GEX_OP_CAS)
#define AD_ONLY_INT (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR)

enum { AD_TYPES = 6 };
static const gex_DT_t ad_type[AD_TYPES] = {GEX_DT_I32, GEX_DT_U32, GEX_DT_I64,
                                           GEX_DT_U64, GEX_DT_FLT, GEX_DT_DBL};

static inline size_t ad_bytes(gex_DT_t dt) {
  return dt & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT) ? 4 : 8;
}

static inline gex_OP_t ad_ops_of(gex_DT_t dt) {
  const gex_OP_t all = AD_FETCHING | AD_PLAIN;
  return dt & (GEX_DT_FLT | GEX_DT_DBL) ? all & ~(gex_OP_t)AD_ONLY_INT : all;
}

/* ---- the model: one function per type; W: unsigned word of the same size */
#define AD_MODEL(S, T, W, UP)                                                                    \
 static inline uint64_t ad_bits_##S(T v) {                                                       \
  W w;                                                                                           \
  memcpy(&w, &v, sizeof w);                                                                      \
  return w;                                                                                      \
 }                                                                                               \
 static inline T ad_value_##S(uint64_t bits) {                                                   \
  const W w = (W)bits;                                                                           \
  T v;                                                                                           \
  memcpy(&v, &w, sizeof v);                                                                      \
  return v;                                                                                      \
 }                                                                                               \
 static inline uint64_t ad_arith_##S(gex_OP_t op, uint64_t x, uint64_t y) {                      \
  const T a = ad_value_##S(x), b = ad_value_##S(y);                                              \
  T r = a;                                                                                       \
  if (op == GEX_OP_ADD) r = (T)((UP)a + (UP)b);                                                  \
  if (op == GEX_OP_SUB) r = (T)((UP)a - (UP)b);                                                  \
  if (op == GEX_OP_MULT) r = (T)((UP)a * (UP)b);                                                 \
  if (op == GEX_OP_INC) r = (T)((UP)a + 1);                                                      \
  if (op == GEX_OP_DEC) r = (T)((UP)a - 1);                                                      \
  if (op == GEX_OP_MIN) r = a < b ? a : b;                                                       \
  if (op == GEX_OP_MAX) r = a > b ? a : b;                                                       \
  return ad_bits_##S(r);                                                                         \
 }                                                                                               \
 static inline int ad_call_##S(gex_AD_t ad, void *result, gex_Rank_t rank, void *addr,           \
                               gex_OP_t op, uint64_t x, uint64_t y, gex_Flags_t flags,           \
                               gex_Event_t *event) {                                             \
  if (!event)                                                                                    \
   return gex_AD_OpNBI_##S(ad, (T *)result, rank, addr, op, ad_value_##S(x), ad_value_##S(y),    \
                           flags);                                                               \
  *event =                                                                                       \
      gex_AD_OpNB_##S(ad, (T *)result, rank, addr, op, ad_value_##S(x), ad_value_##S(y), flags); \
  return *event == GEX_EVENT_NO_OP;                                                              \
 }
AD_MODEL(I32, int32_t, uint32_t, uint32_t)
AD_MODEL(U32, uint32_t, uint32_t, uint32_t)
AD_MODEL(I64, int64_t, uint64_t, uint64_t)
AD_MODEL(U64, uint64_t, uint64_t, uint64_t)
AD_MODEL(FLT, float, uint32_t, float)
AD_MODEL(DBL, double, uint64_t, double)

#define AD_SWITCH(dt, F, ...)                 \
 ((dt) == GEX_DT_I32   ? F##_I32(__VA_ARGS__) \
  : (dt) == GEX_DT_U32 ? F##_U32(__VA_ARGS__) \
  : (dt) == GEX_DT_I64 ? F##_I64(__VA_ARGS__) \
  : (dt) == GEX_DT_U64 ? F##_U64(__VA_ARGS__) \
  : (dt) == GEX_DT_FLT ? F##_FLT(__VA_ARGS__) \
                       : F##_DBL(__VA_ARGS__))

/* Value after `op` on x with operands a, b. */
static inline uint64_t ad_model(gex_DT_t dt, gex_OP_t op, uint64_t x, uint64_t a, uint64_t b) {
  const gex_OP_t plain = op & AD_PLAIN ? op : GEX_OP_TO_NONFETCHING(op);
  if (op == GEX_OP_GET) return x;
  if (plain == GEX_OP_SET) return a;
  if (plain == GEX_OP_CAS) return x == a ? b : x;
  if (plain == GEX_OP_AND) return x & a;
  if (plain == GEX_OP_OR) return x | a;
  if (plain == GEX_OP_XOR) return x ^ a;
  return AD_SWITCH(dt, ad_arith, plain, x, a);
}

/* A request of any type. */
struct ad_request {
  gex_Rank_t rank;
  void *addr;
  gex_OP_t op;
  uint64_t a, b;
  gex_Flags_t flags;
};

/* Starts an operation; event NULL: implicit. Returns whether nothing was started. */
static inline int ad_start(gex_AD_t ad, void *result, struct ad_request q, gex_Event_t *event) {
  return AD_SWITCH(gex_AD_QueryDT(ad), ad_call, ad, result, q.rank, q.addr, q.op, q.a, q.b, q.flags,
                   event);
}
#define ad_call(ad, result, rank, addr, op, a, b, flags, event) \
 ad_start((ad), (result), (struct ad_request){(rank), (addr), (op), (a), (b), (flags)}, (event))

/* Do the request and wait for it. Returns the value before if `op` fetches, else 0. */
static inline uint64_t ad_finish(gex_AD_t ad, struct ad_request q) {
  uint64_t result = 0;
  gex_Event_t event;
  CHECK_EQ(ad_start(ad, &result, q, &event), 0);
  gex_Event_Wait(event);
  return result;
}
#define ad_do(ad, rank, addr, op, a, b, flags) \
 ad_finish((ad), (struct ad_request){(rank), (addr), (op), (a), (b), (flags)})

#endif
