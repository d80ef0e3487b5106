/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/* timeout: 120 */
/*
 * Collectives that one rank enters late, each round by another delay: the others have shown what
 * they have and must find the rest later, whether the call itself still waits, or a wait that
 * spins, or one that sleeps. Source and destination are often the same memory, so what a rank has
 * begun to combine must not be what it combines again.
 */
#include "check.h"

#include <gasnetex_ext.h>

#include <string.h>
#include <time.h>

enum { ROUNDS = 240, WORDS_MAX = 40, RANKS_MAX = 64 };

static gex_TM_t world;
static gex_Rank_t me, size;

static uint64_t mix(uint64_t v) {
  v = (v ^ v >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return v ^ v >> 29;
}

static uint64_t value(uint64_t round, gex_Rank_t rank, size_t i) {
  return mix(round << 20 | rank << 8 | i);
}

/* One rank of a round comes late: now and then by milliseconds, else by some hand-offs. */
static void be_late(uint64_t round) {
  if (mix(round) % size != me) return;
  if (round % 16 == 0) {
    const struct timespec nap = {0, 3000000};
    nanosleep(&nap, NULL);
  } else {
    for (volatile uint64_t i = 0; i < mix(round + 1) % 2000; i++) {}
  }
}

static void all_reduce(uint64_t round, size_t words) {
  uint64_t in[WORDS_MAX] = {0}, out[WORDS_MAX], *dst = round % 3 ? out : in;
  for (size_t i = 0; i < words; i++) in[i] = value(round, me, i);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(world, dst, in, GEX_DT_U64, 8, words, GEX_OP_ADD, NULL, NULL, 0));
  for (size_t i = 0; i < words; i++) {
    uint64_t sum = 0;
    for (gex_Rank_t r = 0; r < size; r++) sum += value(round, r, i);
    CHECK_EQ(dst[i], sum);
  }
}

static void all_gather(uint64_t round, size_t words) {
  uint64_t in[WORDS_MAX] = {0}, out[RANKS_MAX * WORDS_MAX],
           *src = round % 3 ? in : out + me * words;
  for (size_t i = 0; i < words; i++) src[i] = value(round, me, i);
  gex_Event_Wait(gexx_Coll_AllGatherNB(world, out, src, 8 * words, 0));
  for (gex_Rank_t r = 0; r < size; r++)
    for (size_t i = 0; i < words; i++) CHECK_EQ(out[r * words + i], value(round, r, i));
}

static void exchange(uint64_t round, size_t words) {
  uint64_t in[RANKS_MAX * WORDS_MAX], out[RANKS_MAX * WORDS_MAX];
  for (size_t i = 0; i < words * size; i++) in[i] = value(round, me, i);
  gex_Event_Wait(gexx_Coll_ExchangeNB(world, out, in, 8 * words, 0));
  for (gex_Rank_t r = 0; r < size; r++)
    for (size_t i = 0; i < words; i++)
      CHECK_EQ(out[r * words + i], value(round, r, me * words + i));
}

static void broadcast(uint64_t round, size_t words) {
  uint64_t in[WORDS_MAX] = {0}, out[WORDS_MAX] = {0}, *dst = round % 3 ? out : in;
  const gex_Rank_t root = (gex_Rank_t)(mix(round + 2) % size);
  for (size_t i = 0; i < words; i++) in[i] = value(round, me, i);
  gex_Event_Wait(gex_Coll_BroadcastNB(world, root, dst, in, 8 * words, 0));
  for (size_t i = 0; i < words; i++) CHECK_EQ(dst[i], value(round, root, i));
}

/* Two in flight, completed in the other order: the second finds the first in flight. */
static void two(uint64_t round, size_t words) {
  uint64_t in[WORDS_MAX] = {0}, sum[WORDS_MAX], out[RANKS_MAX * WORDS_MAX];
  for (size_t i = 0; i < words; i++) in[i] = value(round, me, i);
  gex_Event_t first =
      gex_Coll_ReduceToAllNB(world, sum, in, GEX_DT_U64, 8, words, GEX_OP_XOR, NULL, NULL, 0);
  gex_Event_t second = gexx_Coll_AllGatherNB(world, out, in, 8 * words, 0);
  gex_Event_Wait(second);
  gex_Event_Wait(first);
  for (size_t i = 0; i < words; i++) {
    uint64_t all = 0;
    for (gex_Rank_t r = 0; r < size; r++) all ^= out[r * words + i];
    CHECK_EQ(sum[i], all);
  }
}

int main(int argc, char **argv) {
  static void (*const kinds[])(uint64_t, size_t) = {all_reduce, all_gather, exchange, broadcast,
                                                    two};
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &world, "COLLLATE", &argc, &argv, 0);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  REQUIRE(size <= RANKS_MAX);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    const size_t words = mix(round + 3) % 4 ? 1 + mix(round + 4) % 12 : WORDS_MAX;
    be_late(round);
    kinds[round % (sizeof kinds / sizeof *kinds)](round, words);
  }
  gex_Coll_BarrierBlocking(world, 0);
  gasnet_exit(check_done());
}
