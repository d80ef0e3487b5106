/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_COLL_BOARD_MAX=0 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_RING_SLOTS=64 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_COLL_CHUNK=64 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_COLL_EAGER_MAX=0 */
/* again: TOMBOLO_COLL_ALG=all=board TOMBOLO_TEST_COLL_BOARD_MAX=1GB+TOMBOLO_COLL_DIRECT=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 GASNET_SUPERNODE_MAXSIZE=2+TOMBOLO_COLL_ALG=all=nodes */
/* timeout: 120 */
/*
 * API 06.3, 06.4: broadcast and reductions over the job: every root, sizes from nothing to far
 * above a message, in place, every type and operator, results equal on all ranks, many in flight,
 * synced in any order.
 */
#include "job.h"

#include <gasnet_coll.h>

static const size_t sizes[] = {0, 1, 7, 8, 64, 1000, 4096, 65536, 100001, 400000};
enum { SIZES = sizeof sizes / sizeof *sizes, BYTES_MAX = 400000 };
static char *src, *dst;

static void broadcasts(void) {
  for (unsigned i = 0; i < SIZES; i++) {
    for (gex_Rank_t root = 0; root < job.size; root++) {
      if (sizes[i] > 4096 && root % 3 != 0) continue;
      const uint64_t seed = test_seed() + i * 1000 + root;
      memset(dst, 0x5a, sizes[i] + 1);
      pattern_fill(src, sizes[i], job.rank == root ? seed : ~seed);
      gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, root, dst, src, sizes[i], 0));
      CHECK_BYTES(dst, sizes[i], seed);
      CHECK_EQ((unsigned char)dst[sizes[i]], 0x5a);
      /* in place at the root */
      pattern_fill(dst, sizes[i], job.rank == root ? seed + 7 : ~seed);
      gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, root, dst, dst, sizes[i], 0));
      CHECK_BYTES(dst, sizes[i], seed + 7);
    }
  }
}

/* One element of every rank, as a small number so that products stay exact. */
static uint64_t element(gex_Rank_t rank, size_t i) {
  return mix64(rank * UINT64_C(1000003) + i) % 3 + 1;
}

#define REDUCE_TEST(T, DT)                                                                         \
 static T expect_##DT(gex_OP_t op, size_t i) {                                                     \
  T acc = (T)element(0, i);                                                                        \
  for (gex_Rank_t r = 1; r < job.size; r++) {                                                      \
   const T x = (T)element(r, i);                                                                   \
   if (op == GEX_OP_ADD) acc = (T)(acc + x);                                                       \
   if (op == GEX_OP_MULT) acc = (T)(acc * x);                                                      \
   if (op == GEX_OP_MIN ? x < acc : op == GEX_OP_MAX && x > acc) acc = x;                          \
  }                                                                                                \
  return acc;                                                                                      \
 }                                                                                                 \
 static void reduce_##DT(gex_OP_t op, size_t count, gex_Rank_t root) {                             \
  T *x = (T *)(void *)src, *y = (T *)(void *)dst;                                                  \
  for (size_t i = 0; i < count; i++) x[i] = (T)element(job.rank, i);                               \
  memset(dst, 0x5a, count * sizeof(T));                                                            \
  gex_Event_Wait(gex_Coll_ReduceToOneNB(job.tm, root, dst, src, GEX_DT_##DT, sizeof(T), count, op, \
                                        NULL, NULL, 0));                                           \
  size_t bad = 0;                                                                                  \
  for (size_t i = 0; i < count && job.rank == root; i++) bad += !(y[i] == expect_##DT(op, i));     \
  CHECK_EQ(bad, 0);                                                                                \
  if (job.rank != root) CHECK_EQ(fill_diff(dst, count * sizeof(T), 0x5a), count * sizeof(T));      \
  memset(dst, 0x5a, count * sizeof(T));                                                            \
  gex_Event_Wait(                                                                                  \
      gex_Coll_ReduceToAllNB(job.tm, dst, src, GEX_DT_##DT, sizeof(T), count, op, NULL, NULL, 0)); \
  for (size_t i = 0; i < count; i++) bad += !(y[i] == expect_##DT(op, i));                         \
  CHECK_EQ(bad, 0);                                                                                \
  gex_Event_Wait(                                                                                  \
      gex_Coll_ReduceToAllNB(job.tm, src, src, GEX_DT_##DT, sizeof(T), count, op, NULL, NULL, 0)); \
  CHECK_EQ(memcmp(src, dst, count * sizeof(T)), 0);                                                \
 }
REDUCE_TEST(int32_t, I32)
REDUCE_TEST(uint32_t, U32)
REDUCE_TEST(int64_t, I64)
REDUCE_TEST(uint64_t, U64)
REDUCE_TEST(float, FLT)
REDUCE_TEST(double, DBL)

static void reductions(void) {
  static const size_t counts[] = {1, 2, 3, 100, 1025, 5000, 40000};
  static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX};
  for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
    for (unsigned o = 0; o < 4; o++) {
      const gex_Rank_t root = (gex_Rank_t)(c + o) % job.size;
      if (counts[c] > 1025 && o != c % 4) continue;
      reduce_I32(ops[o], counts[c], root);
      reduce_U64(ops[o], counts[c], root);
      reduce_DBL(ops[o], counts[c], root);
      if (counts[c] > 1025) continue;
      reduce_U32(ops[o], counts[c], root);
      reduce_I64(ops[o], counts[c], root);
      reduce_FLT(ops[o], counts[c], root);
    }
}

static void bits(void) {
  uint64_t mine = mix64(job.rank), all[3], want[3] = {mix64(0), mix64(0), mix64(0)};
  for (gex_Rank_t r = 1; r < job.size; r++) {
    want[0] &= mix64(r);
    want[1] |= mix64(r);
    want[2] ^= mix64(r);
  }
  static const gex_OP_t ops[] = {GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR};
  for (int i = 0; i < 3; i++) {
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(job.tm, &all[i], &mine, GEX_DT_U64, 8, 1, ops[i], NULL, NULL, 0));
    CHECK_CMP(all[i], ==, want[i]);
  }
}

/* Rounding differs with the order: all ranks must see the same bits nevertheless. */
static void same_bits(void) {
  double *x = (double *)(void *)src, *y = (double *)(void *)dst;
  for (size_t count = 1; count <= 20000; count = count * 5 + 1) {
    for (size_t i = 0; i < count; i++)
      x[i] = (double)mix64(job.rank * 77 + i) / (double)(1 + mix64(i) % 1000);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(job.tm, y, x, GEX_DT_DBL, 8, count, GEX_OP_ADD, NULL, NULL, 0));
    uint64_t sum = 0, both[2], seen[2];
    for (size_t i = 0; i < count; i++) sum = mix64(sum ^ ((uint64_t *)(void *)dst)[i]);
    both[0] = sum;
    both[1] = ~sum;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(job.tm, seen, both, GEX_DT_U64, 8, 2, GEX_OP_MAX, NULL, NULL, 0));
    CHECK_CMP(seen[0], ==, sum);
    CHECK_CMP(seen[1], ==, ~sum);
  }
}

enum { MANY = 600 };

static void many(void) {
  static uint64_t in[MANY], out[MANY], sums[MANY];
  static gex_Event_t ev[2 * MANY];
  for (int round = 0; round < 3; round++) {
    for (unsigned i = 0; i < MANY; i++) {
      in[i] = mix64(job.rank + i * 1000 + (unsigned)round);
      ev[2 * i] = gex_Coll_BroadcastNB(job.tm, i % job.size, &out[i], &in[i], 8, 0);
      ev[2 * i + 1] = gex_Coll_ReduceToAllNB(job.tm, &sums[i], &in[i], GEX_DT_U64, 8, 1, GEX_OP_ADD,
                                             NULL, NULL, 0);
    }
    for (unsigned i = 0; i < 2 * MANY && round == 0; i++) gex_Event_Wait(ev[2 * MANY - 1 - i]);
    if (round == 1) gex_Event_WaitAll(ev, 2 * MANY, 0);
    for (unsigned i = 0; i < 2 * MANY && round == 2; i++) gex_Event_Wait(ev[i * 7 % (2 * MANY)]);
    for (unsigned i = 0; i < MANY; i++) {
      uint64_t sum = 0;
      for (gex_Rank_t r = 0; r < job.size; r++) sum += mix64(r + i * 1000 + (unsigned)round);
      CHECK_CMP(sums[i], ==, sum);
      CHECK_CMP(out[i], ==, mix64(i % job.size + i * 1000 + (unsigned)round));
    }
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  src = malloc(BYTES_MAX + 64);
  dst = malloc(BYTES_MAX + 64);
  REQUIRE(src && dst);
  broadcasts();
  reductions();
  bits();
  same_bits();
  many();
  return job_finish();
}
