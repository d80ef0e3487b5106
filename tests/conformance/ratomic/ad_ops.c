/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 05.1, 05.2, 05.4: every type with every opcode at the edges of its values (wrap, signed
 * minimum, infinities, NaN, -0), as a compile-time constant and as a run-time value, NB and NBI;
 * result buffers; words beside the target. Of the pairs of values each rank tries one in
 * TMB_TEST_SHARE, by default all on one or two ranks and one in 6 on more.
 */
#include "ad_model.h"

#include <math.h>

enum { EDGES = 12, GUARD = 3 };

/* Operand bit patterns of a type. */
static void edges_of(gex_DT_t dt, uint64_t *v) {
  static const double real[EDGES] = {0.0, -0.0, 1.0,  -1.0,  1.5,      -2.25,
                                     3e9, 0.1,  1e30, 1e-30, INFINITY, -INFINITY};
  static const uint64_t whole[EDGES] = {0,
                                        1,
                                        2,
                                        UINT64_MAX,
                                        UINT64_MAX - 1,
                                        UINT64_C(0x7fffffff),
                                        UINT64_C(0x80000000),
                                        UINT64_C(0xffffffff),
                                        UINT64_C(0x7fffffffffffffff),
                                        UINT64_C(0x8000000000000000),
                                        UINT64_C(0x123456789abcdef1),
                                        UINT64_C(0xfedcba9800000003)};
  for (int i = 0; i < EDGES; i++) {
    v[i] = dt == GEX_DT_DBL    ? ad_bits_DBL(real[i])
           : dt == GEX_DT_FLT  ? ad_bits_FLT((float)real[i])
           : ad_bytes(dt) == 4 ? (uint32_t)(whole[i] >> (i > 8 ? 32 : 0))
                               : whole[i];
  }
}

static int is_nan(gex_DT_t dt, uint64_t bits) {
  return dt == GEX_DT_FLT   ? isnan(ad_value_FLT(bits))
         : dt == GEX_DT_DBL ? isnan(ad_value_DBL(bits))
                            : 0;
}

static gex_Rank_t target(void) {
  return (job.rank + 1) % job.size;
}

/* This rank's words at its target: GUARD words, the target, GUARD words. */
static char *slot(gex_DT_t dt) {
  return job.peer[target()] + job.rank * 256 + GUARD * 8 + (ad_bytes(dt) == 4 ? 4 : 0);
}

static uint64_t word_at(gex_DT_t dt, void *addr) {
  return gex_RMA_GetBlockingVal(job.tm, target(), addr, ad_bytes(dt), 0);
}

/* Minimum and maximum may order the zeros as they like (05.2). */
static int are_zeros(gex_DT_t dt, gex_OP_t op, uint64_t a, uint64_t b) {
  const uint64_t sign = dt == GEX_DT_FLT ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
  return (dt & (GEX_DT_FLT | GEX_DT_DBL)) &&
         (op & (GEX_OP_MIN | GEX_OP_MAX | GEX_OP_FMIN | GEX_OP_FMAX)) && !((a | b) & ~sign);
}

static void same(gex_DT_t dt, gex_OP_t op, const char *what, uint64_t got, uint64_t want) {
  if (got != want && !(is_nan(dt, got) && is_nan(dt, want)) && !are_zeros(dt, op, got, want))
    check_fail(__FILE__, __LINE__, "type 0x%x opcode 0x%x: %s is 0x%llx, not 0x%llx", dt, op, what,
               (unsigned long long)got, (unsigned long long)want);
  check_count(1);
}

/* One operation on x; `implicit` picks the form. */
static void try_one(gex_AD_t ad, gex_OP_t op, uint64_t x, uint64_t a, uint64_t b, int implicit) {
  const gex_DT_t dt = gex_AD_QueryDT(ad);
  const uint64_t canary = UINT64_C(0x5a5a5a5a5a5a5a5a);
  uint64_t result[2] = {canary, canary};
  gex_Event_t event = GEX_EVENT_INVALID;
  (void)ad_do(ad, target(), slot(dt), GEX_OP_SET, x, 0, 0);
  void *const out = op & AD_FETCHING ? result : NULL;
  CHECK_EQ(ad_call(ad, out, target(), slot(dt), op, a, b, 0, implicit ? NULL : &event), 0);
  if (implicit) gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_Event_Wait(event);
  uint64_t before = 0;
  memcpy(&before, result, ad_bytes(dt));
  if (op & AD_FETCHING) {
    same(dt, op, "the result", before, x);
    if (ad_bytes(dt) == 4) CHECK_EQ(fill_diff((char *)result + 4, 4, 0x5a), 4);
  }
  same(GEX_DT_U64, op, "memory behind the result", result[1], canary);
  same(dt, op, "the value after", ad_do(ad, target(), slot(dt), GEX_OP_GET, 0, 0, 0),
       ad_model(dt, op, x, a, b));
}

static void check_runtime(gex_AD_t ad) {
  const gex_DT_t dt = gex_AD_QueryDT(ad);
  const gex_OP_t ops = gex_AD_QueryOps(ad);
  uint64_t v[EDGES], rng = test_seed() + job.rank;
  edges_of(dt, v);
  const long long share = env_number("TMB_TEST_SHARE", job.size > 2 ? 6 : 1);
  for (int bit = 0; bit < 29; bit++)
    for (int i = 0; i < EDGES && (ops >> bit & 1); i++)
      for (int k = 0; k < EDGES; k++) {
        if (rng_below(&rng, (uint64_t)share)) continue;
        try_one(ad, 1u << bit, v[i], v[k], v[(i + k) % EDGES], (i + k) & 1);
      }
}

/* ---- the same opcodes as constants: another code path of the inlines */
#define CONSTANT(S, T, OP)                                                                 \
 do {                                                                                      \
  T old = 0;                                                                               \
  (void)ad_do(ad, target(), slot(dt), GEX_OP_SET, x, 0, 0);                                \
  gex_Event_Wait(                                                                          \
      gex_AD_OpNB_##S(ad, &old, target(), slot(dt), GEX_OP_F##OP, ad_value_##S(a), 0, 0)); \
  same(dt, GEX_OP_F##OP, "the result", ad_bits_##S(old), x);                               \
  const uint64_t once = ad_model(dt, GEX_OP_##OP, x, a, 0);                                \
  same(dt, GEX_OP_F##OP, "the value after", word_at(dt, slot(dt)), once);                  \
  CHECK_EQ(gex_AD_OpNBI_##S(ad, NULL, target(), slot(dt), GEX_OP_##OP, ad_value_##S(a), 0, \
                            i & 1 ? GEX_FLAG_AD_REL : 0),                                  \
           0);                                                                             \
  gex_NBI_Wait(GEX_EC_RMW, 0);                                                             \
  same(dt, GEX_OP_##OP, "the value after", word_at(dt, slot(dt)),                          \
       ad_model(dt, GEX_OP_##OP, once, a, 0));                                             \
 } while (0);

/* CAS that matches and one that does not, swap, set, get. */
#define CONSTANT_MOVES(S, T)                                                             \
 do {                                                                                    \
  T old = 0;                                                                             \
  const T tx = ad_value_##S(x), ta = ad_value_##S(a);                                    \
  CHECK_EQ(gex_AD_OpNBI_##S(ad, NULL, target(), slot(dt), GEX_OP_SET, tx, 0, 0), 0);     \
  gex_NBI_Wait(GEX_EC_PUT, 0);                                                           \
  gex_Event_Wait(gex_AD_OpNB_##S(ad, &old, target(), slot(dt), GEX_OP_FCAS, tx, ta, 0)); \
  same(dt, GEX_OP_FCAS, "the result", ad_bits_##S(old), x);                              \
  same(dt, GEX_OP_FCAS, "the value after", word_at(dt, slot(dt)), a);                    \
  gex_Event_Wait(gex_AD_OpNB_##S(ad, NULL, target(), slot(dt), GEX_OP_CAS, tx, tx, 0));  \
  same(dt, GEX_OP_CAS, "the value after", word_at(dt, slot(dt)), a);                     \
  gex_Event_Wait(gex_AD_OpNB_##S(ad, &old, target(), slot(dt), GEX_OP_SWAP, tx, 0, 0));  \
  same(dt, GEX_OP_SWAP, "the result", ad_bits_##S(old), a);                              \
  CHECK_EQ(gex_AD_OpNBI_##S(ad, &old, target(), slot(dt), GEX_OP_GET, 0, 0,              \
                            GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL),                          \
           0);                                                                           \
  gex_NBI_Wait(GEX_EC_GET, 0);                                                           \
  same(dt, GEX_OP_GET, "the result", ad_bits_##S(old), x);                               \
 } while (0)

/* One function per type, so that opcodes stay constants of reasonably small functions. */
#define CONSTANTS(S, T, ROWS)                                            \
 static void constants_##S(gex_AD_t ad, uint64_t x, uint64_t a, int i) { \
  const gex_DT_t dt = GEX_DT_##S;                                        \
  ROWS CONSTANT_MOVES(S, T);                                             \
 }
#define REAL_ROWS(S, T) \
 CONSTANT(S, T, ADD)    \
 CONSTANT(S, T, SUB)    \
 CONSTANT(S, T, MULT)   \
 CONSTANT(S, T, MIN) CONSTANT(S, T, MAX) CONSTANT(S, T, INC) CONSTANT(S, T, DEC)
#define INT_ROWS(S, T) REAL_ROWS(S, T) CONSTANT(S, T, AND) CONSTANT(S, T, OR) CONSTANT(S, T, XOR)
CONSTANTS(I32, int32_t, INT_ROWS(I32, int32_t))
CONSTANTS(U32, uint32_t, INT_ROWS(U32, uint32_t))
CONSTANTS(I64, int64_t, INT_ROWS(I64, int64_t))
CONSTANTS(U64, uint64_t, INT_ROWS(U64, uint64_t))
CONSTANTS(FLT, float, REAL_ROWS(FLT, float))
CONSTANTS(DBL, double, REAL_ROWS(DBL, double))

static void check_constants(gex_AD_t ad) {
  const gex_DT_t dt = gex_AD_QueryDT(ad);
  uint64_t v[EDGES];
  edges_of(dt, v);
  for (int i = 0; i < EDGES; i++) {
    const uint64_t x = v[i], a = v[(i * 5 + 1) % EDGES];
    if (x == a) continue;
    switch (dt) {
    case GEX_DT_I32: constants_I32(ad, x, a, i); break;
    case GEX_DT_U32: constants_U32(ad, x, a, i); break;
    case GEX_DT_I64: constants_I64(ad, x, a, i); break;
    case GEX_DT_U64: constants_U64(ad, x, a, i); break;
    case GEX_DT_FLT: constants_FLT(ad, x, a, i); break;
    default: constants_DBL(ad, x, a, i); break;
    }
  }
}

/* Quiet NaN: CAS compares bits here, so it matches itself; -0 does not match +0. */
static void check_nan(gex_AD_t ad) {
  const gex_DT_t dt = gex_AD_QueryDT(ad);
  const int single = dt == GEX_DT_FLT;
  const uint64_t quiet = single ? ad_bits_FLT(nanf("")) : ad_bits_DBL(nan(""));
  const uint64_t minus = single ? ad_bits_FLT(-0.0f) : ad_bits_DBL(-0.0);
  const uint64_t one = single ? ad_bits_FLT(1) : ad_bits_DBL(1);
  try_one(ad, GEX_OP_FCAS, quiet, quiet, one, 0);
  try_one(ad, GEX_OP_FCAS, 0, minus, one, 0);
  try_one(ad, GEX_OP_CAS, minus, minus, one, 1);
  try_one(ad, GEX_OP_SWAP, quiet, minus, 0, 1);
  try_one(ad, GEX_OP_FADD, quiet, one, 0, 0);
  try_one(ad, GEX_OP_FMULT, one, quiet, 0, 1);
  try_one(ad, GEX_OP_GET, quiet, 0, 0, 0);
}

static void check_guards(void) {
  const char *mine = job.base + ((job.rank + job.size - 1) % job.size) * 256;
  CHECK_EQ(fill_diff(mine, GUARD * 8, 0), GUARD * 8);
  CHECK_EQ(fill_diff(mine + GUARD * 8 + 8, GUARD * 8, 0), GUARD * 8);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  for (int i = 0; i < AD_TYPES; i++) {
    gex_AD_t ad = GEX_AD_INVALID;
    gex_AD_Create(&ad, job.tm, ad_type[i], ad_ops_of(ad_type[i]), 0);
    check_runtime(ad);
    check_constants(ad);
    if (ad_type[i] & (GEX_DT_FLT | GEX_DT_DBL)) check_nan(ad);
    job_barrier();
    check_guards();
    gex_AD_Destroy(ad);
  }
  return job_finish();
}
