/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 05.3, 05.4: concurrent histories. Fetch-adds of all ranks return a permutation; an exchange
 * chain loses nothing; a lock of compare-and-swaps excludes; floating-point sums are exact on
 * integers; bits, products, minima and maxima of all ranks combine. Operations start at once after
 * creation, while other ranks may still be in it.
 */
#include "ad_model.h"

enum { EACH = 400, LOCKED = 60, HEAD = 4096 };

static const gex_Rank_t home = 0;

/* Words of the test: at the home rank, one cache line apart. */
static void *word(int i) {
  return job.peer[home] + HEAD + i * 64;
}

static gex_AD_t make(gex_DT_t dt) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, job.tm, dt, ad_ops_of(dt), 0);
  return ad;
}

static void end(gex_AD_t ad) {
  job_barrier();
  gex_AD_Destroy(ad);
}

static uint64_t final_value(gex_AD_t ad, int i) {
  job_barrier();
  return ad_do(ad, home, word(i), GEX_OP_GET, 0, 0, 0);
}

/* Every value 0 .. size*EACH-1 is returned once: each rank marks its own with a fetch-or. */
static void check_permutation(gex_DT_t dt, int i) {
  const gex_AD_t ad = make(dt), marks = make(GEX_DT_U64);
  const uint64_t total = (uint64_t)job.size * EACH;
  uint64_t last = 0;
  for (int k = 0; k < EACH; k++) {
    const uint64_t got = ad_do(ad, home, word(i), GEX_OP_FINC, 0, 0, 0);
    CHECK(got < total && (k == 0 || got > last));
    last = got;
    const uint64_t bit = UINT64_C(1) << (got % 64);
    void *const at = job.peer[home] + 2 * HEAD + got / 64 * 8;
    CHECK_EQ(ad_do(marks, home, at, GEX_OP_FXOR, bit, 0, 0) & bit, 0);
  }
  CHECK_EQ(final_value(ad, i), total);
  uint64_t bits = 0;
  for (uint64_t w = 0; w < (total + 63) / 64; w++) {
    void *const at = job.peer[home] + 2 * HEAD + w * 8;
    bits += (uint64_t)__builtin_popcountll(ad_do(marks, home, at, GEX_OP_GET, 0, 0, 0));
  }
  CHECK_EQ(bits, total);
  job_barrier();
  if (job.rank == home) memset(job.base + 2 * HEAD, 0, total / 8 + 8);
  end(marks);
  end(ad);
}

/* Exchanges hand each value to exactly one other: the sum of what came back and what is left is the
 * sum of what was put in. */
static void check_chain(int i) {
  const gex_AD_t ad = make(GEX_DT_U64);
  uint64_t in = 0, out = 0;
  for (int k = 0; k < EACH; k++) {
    const uint64_t mine = mix64(job.rank * 100000u + (unsigned)k);
    in += mine;
    out += ad_do(ad, home, word(i), GEX_OP_SWAP, mine, 0, 0);
  }
  (void)ad_do(ad, home, word(i + 1), GEX_OP_ADD, in, 0, 0);
  (void)ad_do(ad, home, word(i + 1), GEX_OP_SUB, out, 0, 0);
  const uint64_t left = final_value(ad, i);
  CHECK_EQ(final_value(ad, i + 1), left);
  end(ad);
}

/* A lock guards two plain words of the home rank. */
static void check_lock(int i) {
  const gex_AD_t ad = make(GEX_DT_U32);
  char *const guarded = (char *)word(i + 1);
  for (int k = 0; k < LOCKED; k++) {
    while (ad_do(ad, home, word(i), GEX_OP_FCAS, 0, job.rank + 1, GEX_FLAG_AD_ACQ)) gasnet_AMPoll();
    const uint64_t a = gex_RMA_GetBlockingVal(job.tm, home, guarded, 8, 0);
    const uint64_t b = gex_RMA_GetBlockingVal(job.tm, home, guarded + 8, 8, 0);
    CHECK_EQ(a + b, 0);
    CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, home, guarded, a + 1, 8, 0), 0);
    CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, home, guarded + 8, b - 1, 8, 0), 0);
    CHECK_EQ(ad_do(ad, home, word(i), GEX_OP_SWAP, 0, 0, GEX_FLAG_AD_REL), job.rank + 1);
  }
  job_barrier();
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, home, guarded, 8, 0), (uint64_t)LOCKED * job.size);
  end(ad);
}

/* Sum 1..n in floating point, half of it by NBI, then taken away by halves. */
static void check_real(gex_DT_t dt, int i) {
  const gex_AD_t ad = make(dt);
  const uint64_t n = (uint64_t)job.size * 40;
  for (uint64_t v = job.rank + 1; v <= n; v += job.size) {
    const uint64_t bits = dt == GEX_DT_FLT ? ad_bits_FLT((float)v) : ad_bits_DBL((double)v);
    if (v & 1)
      (void)ad_do(ad, home, word(i), GEX_OP_FADD, bits, 0, 0);
    else
      CHECK_EQ(ad_call(ad, NULL, home, word(i), GEX_OP_ADD, bits, 0, 0, NULL), 0);
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  uint64_t sum = final_value(ad, i);
  CHECK_EQ(dt == GEX_DT_FLT ? (uint64_t)ad_value_FLT(sum) : (uint64_t)ad_value_DBL(sum),
           n * (n + 1) / 2);
  job_barrier();
  for (uint64_t v = job.rank + 1; v <= n; v += job.size) {
    const uint64_t bits = dt == GEX_DT_FLT ? ad_bits_FLT((float)v) : ad_bits_DBL((double)v);
    (void)ad_do(ad, home, word(i), GEX_OP_FSUB, bits, 0, 0);
  }
  CHECK_EQ(final_value(ad, i), 0);
  end(ad);
}

/* Minimum, maximum, OR, and product of all ranks' operands. */
static void check_combine(gex_DT_t dt, int i) {
  const gex_AD_t ad = make(dt);
  const int wide = ad_bytes(dt) == 8;
  const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
  uint64_t low = 0, high = 0, bits = 0, product = 1;
  if (job.rank == home) (void)ad_do(ad, home, word(i + 3), GEX_OP_SET, 1, 0, 0);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (uint64_t k = 0; k < 50; k++) {
      const uint64_t v = mix64(r * 1000 + k) & mask;
      if (r == job.rank) {
        (void)ad_do(ad, home, word(i), GEX_OP_FMIN, v, 0, 0);
        (void)ad_do(ad, home, word(i + 1), GEX_OP_MAX, v, 0, 0);
        (void)ad_do(ad, home, word(i + 2), GEX_OP_FOR, v & (v >> 7) & (v >> 13), 0, 0);
        (void)ad_do(ad, home, word(i + 3), GEX_OP_MULT, v | 1, 0, 0);
      }
      low = ad_model(dt, GEX_OP_MIN, low, v, 0);
      high = ad_model(dt, GEX_OP_MAX, high, v, 0);
      bits |= v & (v >> 7) & (v >> 13);
      product = ad_model(dt, GEX_OP_MULT, product, v | 1, 0);
    }
  CHECK_EQ(final_value(ad, i), low);
  CHECK_EQ(final_value(ad, i + 1), high);
  CHECK_EQ(final_value(ad, i + 2), bits);
  CHECK_EQ(final_value(ad, i + 3), product);
  end(ad);
}

/* Opcodes known when compiling, of all ranks at once: a compare-and-swap that fails is repeated. */
static void check_constants(int i) {
  const gex_AD_t whole = make(GEX_DT_U64), real = make(GEX_DT_DBL);
  const uint64_t rounds = EACH;
  uint64_t highest = 0, old;
  double sum, seen = -1;
  if (job.rank == home) (void)ad_do(whole, home, word(i + 1), GEX_OP_SET, 1, 0, 0);
  job_barrier();
  for (uint64_t k = 0; k < rounds; k++) {
    const uint64_t mine = k * job.size + job.rank;
    gex_Event_Wait(gex_AD_OpNB_U64(whole, &old, home, word(i), GEX_OP_FMAX, mine, 0, 0));
    CHECK(old >= highest);
    highest = old > mine ? old : mine;
    gex_Event_Wait(gex_AD_OpNB_U64(whole, NULL, home, word(i + 1), GEX_OP_MULT, 3, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_DBL(real, &sum, home, word(i + 2), GEX_OP_FADD, 1, 0, 0));
    CHECK(sum > seen);
    seen = sum;
  }
  uint64_t product = 1;
  for (uint64_t k = 0; k < rounds * job.size; k++) product *= 3;
  CHECK_EQ(final_value(whole, i), rounds * job.size - 1);
  CHECK_EQ(final_value(whole, i + 1), product);
  CHECK_EQ((uint64_t)ad_value_DBL(final_value(real, i + 2)), rounds * job.size);
  end(real);
  end(whole);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  check_permutation(GEX_DT_U32, 0);
  check_permutation(GEX_DT_I64, 1);
  check_chain(2);
  check_lock(4);
  check_real(GEX_DT_FLT, 6);
  check_real(GEX_DT_DBL, 7);
  check_combine(GEX_DT_I32, 8);
  check_combine(GEX_DT_U32, 12);
  check_combine(GEX_DT_I64, 16);
  check_combine(GEX_DT_U64, 20);
  check_constants(24);
  return job_finish();
}
