/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* env: TOMBOLO_STATS=1 TOMBOLO_PLACES=2 TOMBOLO_CONDUIT=loop */
/* again: TOMBOLO_TEST_COLL_CHUNK=20000 */
/*
 * Long blocks of an exchange travel to ranks of other hosts in few messages, each of twice the
 * length that other messages of collectives have at most.
 */
#include "check.h"

#include <gasnetex_ext.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 << 10, RANKS_MAX = 4 };

static gex_TM_t world;
static gex_Rank_t me, size;

/* Messages with data to ranks of other hosts so far; out ranks: how many these are. */
static uint64_t sent_away(gex_Rank_t *ranks) {
  uint64_t all = 0, count = 0;
  gex_RankInfo_t *info;
  gex_Rank_t near, mine;
  gex_System_QueryNbrhdInfo(&info, &near, &mine);
  *ranks = size - near;
  for (gex_Rank_t r = 0; r < size; r++) {
    bool is_near = false;
    for (gex_Rank_t i = 0; i < near; i++) is_near |= info[i].gex_jobrank == r;
    if (is_near) continue;
    CHECK_EQ(gexx_Stats_Query(GEXX_STATS_AM_MEDIUM, r, &count, NULL), GASNET_OK);
    all += count;
  }
  return all;
}

static uint8_t byte_of(gex_Rank_t from, gex_Rank_t to, size_t at) {
  return (uint8_t)(from * 64 + to * 16 + at % 13 + at / 4096);
}

static void exchange(uint64_t most) {
  uint8_t *const in = malloc((size_t)size * BLOCK), *const out = malloc((size_t)size * BLOCK);
  gex_Rank_t far;
  bool right = true;
  REQUIRE(in != NULL && out != NULL);
  for (gex_Rank_t r = 0; r < size; r++)
    for (size_t i = 0; i < BLOCK; i++) in[r * (size_t)BLOCK + i] = byte_of(me, r, i);
  memset(out, 255, (size_t)size * BLOCK);
  gex_Coll_BarrierBlocking(world, 0);
  const uint64_t before = sent_away(&far);
  gex_Event_Wait(gexx_Coll_ExchangeNB(world, out, in, BLOCK, 0));
  CHECK_CMP(sent_away(&far) - before, <=, far * most);
  for (gex_Rank_t r = 0; r < size; r++)
    for (size_t i = 0; i < BLOCK; i++)
      right = right && out[r * (size_t)BLOCK + i] == byte_of(r, me, i);
  CHECK(right);
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &world, "PIECES", &argc, &argv, 0);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  check_set_rank(me);
  REQUIRE(size <= RANKS_MAX);
  const char *chunk = getenv("TOMBOLO_TEST_COLL_CHUNK");
  exchange(chunk ? (BLOCK + 39999) / 40000 : BLOCK / 65536);
  gex_Coll_BarrierBlocking(world, 0);
  gasnet_exit(check_done());
}
