/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 5 16 32 */
/* env: TOMBOLO_STATS=1 */
/* again: TOMBOLO_WAIT=block */
/* timeout: 120 */
/*
 * Collectives of more ranks than processors, which each rank restricts to two before the job
 * begins: of the ranks that come to one only the last wakes others, each at most once; and ranks
 * that are far ahead of a late root wait for room, are woken when there is some, and find right
 * results. Whoever reads last wakes those that wait for room, and nobody else; a broadcast or
 * reduction of several pieces wakes its readers for all that there is room for at once.
 */
#define _GNU_SOURCE
#include "check.h"
#include "processors.h"

#include <gasnetex_ext.h>

#include <string.h>
#include <time.h>

enum { OPS = 32, AHEAD = 150, RANKS_MAX = 64, LONG_WORDS = 4000, PIECE_WORDS = 2048, PIECES = 4 };

static gex_TM_t world;
static gex_Rank_t me, size;
static uint64_t in[PIECES * PIECE_WORDS], out[PIECES * PIECE_WORDS];

static uint64_t sum_of(uint64_t value) {
  uint64_t sum = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(world, &sum, &value, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  return sum;
}

/* Sum of round + r over ranks from `low` up to `high` - 1. */
static uint64_t expected(uint64_t round, uint64_t low, uint64_t high) {
  uint64_t sum = 0;
  for (uint64_t r = low; r < high; r++) sum += round * 100 + r;
  return sum;
}

static void all_reduce(uint64_t round) {
  CHECK_EQ(sum_of(round * 100 + me), expected(round, 0, size));
}

static void all_gather(uint64_t round) {
  in[0] = round * 100 + me;
  gex_Event_Wait(gexx_Coll_AllGatherNB(world, out, in, 8, 0));
  for (gex_Rank_t r = 0; r < size; r++) CHECK_EQ(out[r], round * 100 + r);
}

static void exchange(uint64_t round) {
  for (gex_Rank_t r = 0; r < size; r++) in[r] = round * 10000 + me * 100 + r;
  gex_Event_Wait(gexx_Coll_ExchangeNB(world, out, in, 8, 0));
  for (gex_Rank_t r = 0; r < size; r++) CHECK_EQ(out[r], round * 10000 + r * 100 + me);
}

static void scan(uint64_t round) {
  in[0] = round * 100 + me;
  gex_Event_Wait(gexx_Coll_ScanNB(world, out, in, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  CHECK_EQ(out[0], expected(round, 0, me + 1));
}

static void reduce_scatter(uint64_t round) {
  for (gex_Rank_t r = 0; r < size; r++) in[r] = round * 100 + me + r;
  gex_Event_Wait(
      gexx_Coll_ReduceScatterNB(world, out, in, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  CHECK_EQ(out[0], expected(round, 0, size) + (uint64_t)size * me);
}

static void reduce(uint64_t round) {
  const gex_Rank_t root = (gex_Rank_t)(round % size);
  in[0] = round * 100 + me;
  gex_Event_Wait(
      gex_Coll_ReduceToOneNB(world, root, out, in, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  if (me == root) CHECK_EQ(out[0], expected(round, 0, size));
}

static void reduce_in_place(uint64_t round) {
  const gex_Rank_t root = (gex_Rank_t)(round % size);
  in[0] = round * 100 + me;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(world, root, me == root ? in : out, in, GEX_DT_U64, 8, 1,
                                        GEX_OP_ADD, NULL, NULL, 0));
  if (me == root) CHECK_EQ(in[0], expected(round, 0, size));
}

static void gather(uint64_t round) {
  const gex_Rank_t root = (gex_Rank_t)(round % size);
  in[0] = round * 100 + me;
  gex_Event_Wait(gexx_Coll_GatherNB(world, root, out, in, 8, 0));
  for (gex_Rank_t r = 0; me == root && r < size; r++) CHECK_EQ(out[r], round * 100 + r);
}

static void broadcast_pieces(uint64_t round) {
  const size_t words = sizeof in / sizeof *in;
  for (size_t i = 0; i < words; i++) in[i] = me == round % size ? round * 10000 + i : 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(world, (gex_Rank_t)(round % size), out, in, sizeof in, 0));
  for (size_t i = 0; i < words; i += PIECE_WORDS - 1) CHECK_EQ(out[i], round * 10000 + i);
}

/* All come to each of several pieces. */
static void reduce_pieces(uint64_t round) {
  const size_t words = PIECES * PIECE_WORDS;
  const gex_Rank_t root = (gex_Rank_t)(round % size);
  for (size_t i = 0; i < words; i++) in[i] = round * 100 + me + i;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(world, root, out, in, GEX_DT_U64, 8, words, GEX_OP_ADD,
                                        NULL, NULL, 0));
  for (size_t i = 0; me == root && i < words; i += PIECE_WORDS - 1)
    CHECK_EQ(out[i], expected(round, 0, size) + (uint64_t)size * i);
}

static uint64_t wakes(void) {
  uint64_t count = 0;
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_WAKE, GEX_RANK_INVALID, &count, NULL), GASNET_OK);
  return count;
}

/* Each call wakes ranks at most so many times, all together. A sum after each keeps all ranks
 * together, so that few wait for room. */
static void few_wakes(void (*kind)(uint64_t), uint64_t most) {
  (void)sum_of(0);
  const uint64_t before = wakes();
  for (uint64_t round = 0; round < OPS; round++) {
    kind(round);
    CHECK_EQ(sum_of(1), size);
  }
  const uint64_t all = sum_of(wakes() - before);
  CHECK_CMP(all, <=, (most + size) * OPS + size);
}

/* All but one rank run ahead of it as far as there is room. */
static void ahead(size_t words) {
  const gex_Rank_t late = size / 2;
  const struct timespec nap = {0, 5000000};
  (void)sum_of(0);
  if (me == late) nanosleep(&nap, NULL);
  for (uint64_t round = 0; round < AHEAD; round++) {
    for (size_t i = 0; i < words; i++) in[i] = round * 100 + me + i;
    gex_Event_Wait(gex_Coll_ReduceToOneNB(world, late, out, in, GEX_DT_U64, 8, words, GEX_OP_ADD,
                                          NULL, NULL, 0));
    if (me != late) continue;
    CHECK_EQ(out[0], expected(round, 0, size));
    CHECK_EQ(out[words - 1], expected(round, 0, size) + (uint64_t)size * (words - 1));
  }
  const uint64_t before = wakes();
  for (uint64_t round = 0; round < AHEAD; round++) {
    if (me == 0)
      for (size_t i = 0; i < words; i++) in[i] = round + i;
    gex_Event_Wait(gex_Coll_BroadcastNB(world, 0, out, in, 8 * words, 0));
    CHECK_EQ(out[0], round);
    CHECK_EQ(out[words - 1], round + words - 1);
  }
  const uint64_t pieces = AHEAD * ((words + PIECE_WORDS - 1) / PIECE_WORDS);
  CHECK_CMP(sum_of(wakes() - before), <=, 2 * pieces * size); /* of half of them for room */
}

int main(int argc, char **argv) {
  static void (*const kinds[])(uint64_t) = {all_reduce,     all_gather, exchange,        scan,
                                            reduce_scatter, reduce,     reduce_in_place, gather};
  gex_Client_t client;
  gex_EP_t ep;
  restrict_to(2);
  gex_Client_Init(&client, &ep, &world, "COLLCROWD", &argc, &argv, 0);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  REQUIRE(size <= RANKS_MAX);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) few_wakes(kinds[k], size);
  few_wakes(reduce_pieces, 1);                     /* the root */
  few_wakes(broadcast_pieces, 3 * (uint64_t)size); /* to two halves of the slots, and for room */
  ahead(1);
  ahead(LONG_WORDS);
  gex_Coll_BarrierBlocking(world, 0);
  gasnet_exit(check_done());
}
