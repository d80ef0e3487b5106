/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_COLL_ALG=all=board TOMBOLO_TEST_COLL_BOARD_MAX=1GB+TOMBOLO_COLL_DIRECT=0 */
/* debug: both */
/* timeout: 120 */
/*
 * Shared memory of teams: more teams alive than there are rows, teams that come and go in any
 * order, a root that runs far ahead of a rank that does something else, small and long data by
 * turns.
 */
#include "check.h"

#include <gasnetex_ext.h>

#include <time.h>

enum { TEAMS = 40, CYCLES = 12, AHEAD = 500, LONG_WORDS = 5000 };

static gex_TM_t world;
static gex_Rank_t me, size;

static uint64_t mix(uint64_t v) {
  v = (v ^ v >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return v ^ v >> 29;
}

/* A barrier and collectives of some lengths on a team. */
static void use(gex_TM_t tm, uint64_t seed) {
  static uint64_t in[LONG_WORDS], out[LONG_WORDS];
  const gex_Rank_t rank = gex_TM_QueryRank(tm), members = gex_TM_QuerySize(tm);
  const size_t words = mix(seed) % 3 == 0 ? 1 + mix(seed) % 6 : 1 + mix(seed) % LONG_WORDS;
  const gex_Rank_t root = (gex_Rank_t)(mix(seed + 1) % members);
  gex_Coll_BarrierBlocking(tm, 0);
  for (size_t i = 0; i < words; i++) in[i] = mix(seed + i) * (rank + 1);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, out, in, GEX_DT_U64, 8, words, GEX_OP_ADD, NULL, NULL, 0));
  for (size_t i = 0; i < words; i++)
    CHECK_EQ(out[i], mix(seed + i) * ((uint64_t)members * (members + 1) / 2));
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, out, in, 8 * words, 0));
  for (size_t i = 0; i < words; i++) CHECK_EQ(out[i], mix(seed + i) * (root + 1));
}

static gex_TM_t split(int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  (void)gex_TM_Split(&tm, world, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  REQUIRE(tm != GEX_TM_INVALID);
  return tm;
}

/* More teams than rows, used and destroyed in another order than they were made. */
static void many_teams(uint64_t seed) {
  gex_TM_t tm[TEAMS];
  for (int i = 0; i < TEAMS; i++)
    tm[i] = split((int)(mix(seed + i) % 3 ? 0 : me % 2), (int)(mix(seed ^ i) % 2 ? me : size - me));
  for (int i = 0; i < TEAMS; i++) use(tm[i * 7 % TEAMS], seed + 100 + i * 7 % TEAMS);
  for (int i = 0; i < TEAMS; i++) gex_TM_Destroy(tm[i * 11 % TEAMS], NULL, 0);
}

/* A team made from a list: the same teams as a split by parity. */
static void listed_team(uint64_t seed) {
  gex_EP_Location_t list[64];
  size_t count = 0;
  gex_TM_t tm = GEX_TM_INVALID;
  for (gex_Rank_t r = me % 2; r < size; r += 2)
    list[count++] = (gex_EP_Location_t){.gex_rank = r, .gex_ep_index = 0};
  (void)gex_TM_Create(&tm, 1, world, list, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  REQUIRE(tm != GEX_TM_INVALID);
  CHECK_EQ(gex_TM_QuerySize(tm), count);
  use(tm, seed);
  gex_TM_Destroy(tm, NULL, 0);
}

/* A type of 16 bytes that wants its alignment, API 06.4. */
struct wide {
  _Alignas(16) uint64_t v[2];
};

static void add_wide(const void *x, void *y, size_t count, const void *cdata) {
  const struct wide *a = x;
  struct wide *b = y;
  CHECK_EQ((uintptr_t)x % 16, 0);
  CHECK_EQ((uintptr_t)y % 16, 0);
  CHECK(cdata == &world);
  for (size_t i = 0; i < count && (uintptr_t)x % 16 == 0 && (uintptr_t)y % 16 == 0; i++) {
    b[i].v[0] += a[i].v[0];
    b[i].v[1] ^= a[i].v[1];
  }
}

/* Vectors of every place: beside the number, in a slot, in several, in the sender's memory. */
static void aligned(void) {
  static struct wide in[LONG_WORDS], out[LONG_WORDS];
  const size_t counts[] = {1, 2, 3, 5, 6, 7, 100, 1023, 1025, LONG_WORDS};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    for (size_t i = 0; i < counts[k]; i++) in[i] = (struct wide){{me + i, me % 2 ? i : 0}};
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, out, in, GEX_DT_USER, sizeof *in, counts[k],
                                          GEX_OP_USER, add_wide, &world, 0));
    for (size_t i = 0; i < counts[k]; i++) {
      CHECK_EQ(out[i].v[0], size * i + (uint64_t)size * (size - 1) / 2);
      CHECK_EQ(out[i].v[1], size / 2 % 2 ? i : 0);
    }
    gex_Event_Wait(gexx_Coll_ScanNB(world, out, in, GEX_DT_USER, sizeof *in, counts[k], GEX_OP_USER,
                                    add_wide, &world, 0));
    for (size_t i = 0; i < counts[k]; i++)
      CHECK_EQ(out[i].v[0], (me + 1) * i + (uint64_t)me * (me + 1) / 2);
  }
}

/* The root is through with many broadcasts before the last rank looks at the first. */
static void run_ahead(void) {
  static uint64_t data[AHEAD], big[AHEAD][64];
  gex_Event_t event[2 * AHEAD];
  const struct timespec pause = {0, 30000000};
  if (me + 1 == size) nanosleep(&pause, NULL);
  for (uint64_t i = 0; i < AHEAD; i++) {
    data[i] = me ? 0 : mix(i);
    for (int k = 0; k < 64; k++) big[i][k] = me ? 0 : mix(i + (uint64_t)k);
    event[2 * i] = gex_Coll_BroadcastNB(world, 0, &data[i], &data[i], 8, 0);
    event[2 * i + 1] = gex_Coll_BroadcastNB(world, 0, big[i], big[i], sizeof big[i], 0);
  }
  gex_Event_WaitAll(event, 2 * AHEAD, 0);
  for (uint64_t i = 0; i < AHEAD; i++) {
    CHECK_EQ(data[i], mix(i));
    for (int k = 0; k < 64; k++) CHECK_EQ(big[i][k], mix(i + (uint64_t)k));
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  REQUIRE(gex_Client_Init(&client, &ep, &world, "BOARDS", &argc, &argv, 0) == GASNET_OK);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  for (uint64_t i = 0; i < CYCLES; i++) {
    many_teams(1000 * i);
    listed_team(1000 * i + 500);
  }
  run_ahead();
  aligned();
  use(world, 1);
  gasnet_exit(check_done());
}
