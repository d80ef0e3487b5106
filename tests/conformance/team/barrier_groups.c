/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 5 7 16 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 GASNET_SUPERNODE_MAXSIZE=3 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop */
/* env: TOMBOLO_STATS=1 */
/* timeout: 120 */
/*
 * API 06.2: barriers and splits of teams over several neighbourhoods: only one member of each
 * sends, and no more than the rounds among these; a barrier of each of many teams at once; teams
 * that are destroyed as soon as their barrier is complete; members that come late by turns.
 */
#include "job.h"

#include <gasnetex_ext.h>

#include <stdbool.h>
#include <stdlib.h>

enum { TIMES = 50, TEAMS = 12, ROUNDS = 30, CYCLES = 60, SPLITS = 6 };

static gex_Rank_t *node; /* [job size] the first rank of each rank's neighbourhood */

static void find_nodes(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count, me;
  node = calloc(job.size, sizeof *node);
  REQUIRE(node != NULL);
  gex_System_QueryNbrhdInfo(&info, &count, &me);
  gex_RMA_PutBlockingVal(job.tm, job.rank, job.base + 8, info[0].gex_jobrank, 8, 0);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    node[r] = (gex_Rank_t)gex_RMA_GetBlockingVal(job.tm, r, job.peer[r] + 8, 8, 0);
  job_barrier();
}

/* Messages of a kind, GEXX_STATS_*, to ranks of other neighbourhoods so far. */
static uint64_t sent_away(int kind) {
  uint64_t all = 0, count;
  for (gex_Rank_t r = 0; r < job.size; r++) {
    if (node[r] == node[job.rank]) continue;
    CHECK_EQ(gexx_Stats_Query(kind, r, &count, NULL), GASNET_OK);
    all += count;
  }
  return all;
}

/* Neighbourhoods of a team; out leads: this member is the first of its own. */
static gex_Rank_t nodes_of(gex_TM_t tm, bool *leads) {
  gex_Rank_t nodes = 0;
  *leads = false;
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm); r++) {
    const gex_Rank_t mine = node[gex_TM_TranslateRankToJobrank(tm, r)];
    gex_Rank_t before = 0;
    while (before < r && node[gex_TM_TranslateRankToJobrank(tm, before)] != mine) before++;
    if (before < r) continue;
    nodes++;
    *leads |= r == gex_TM_QueryRank(tm);
  }
  return nodes;
}

static uint64_t rounds_among(gex_Rank_t count) {
  uint64_t rounds = 0;
  while (1u << rounds < count) rounds++;
  return rounds;
}

/* in by_messages: leaders have no shared memory for the signals of this team. */
static void only_leaders_send(gex_TM_t tm, bool by_messages) {
  bool leads;
  const gex_Rank_t nodes = nodes_of(tm, &leads);
  if (nodes == 1 || nodes == gex_TM_QuerySize(tm) || !by_messages) return;
  gex_Coll_BarrierBlocking(tm, 0);
  const uint64_t before = sent_away(GEXX_STATS_AM_SHORT);
  for (int i = 0; i < TIMES; i++) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  for (int i = 0; i < TIMES; i++) gex_Coll_BarrierBlocking(tm, 0);
  CHECK_EQ(sent_away(GEXX_STATS_AM_SHORT) - before, leads ? 2 * TIMES * rounds_among(nodes) : 0);
}

static gex_TM_t split(gex_TM_t parent, int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  (void)gex_TM_Split(&tm, parent, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  REQUIRE(tm != GEX_TM_INVALID);
  return tm;
}

/* What members give to a split reaches other neighbourhoods by their leaders. The new team has the
 * members of one colour by key. */
static void leaders_split(gex_TM_t parent) {
  bool leads;
  const gex_Rank_t nodes = nodes_of(parent, &leads), size = gex_TM_QuerySize(parent);
  const gex_Rank_t me = gex_TM_QueryRank(parent), odd = me % 2;
  const gex_Rank_t mine = size / 2 + (size % 2 && !odd);
  if (nodes == 1 || nodes == size) return;
  const uint64_t before = sent_away(GEXX_STATS_AM_MEDIUM);
  for (int i = 0; i < SPLITS; i++) {
    const gex_TM_t tm = split(parent, (int)odd, (int)(size - me));
    CHECK_EQ(gex_TM_QuerySize(tm), mine);
    for (gex_Rank_t r = 0; r < mine; r++)
      CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r),
               gex_TM_TranslateRankToJobrank(parent, 2 * (mine - 1 - r) + odd));
    gex_TM_Destroy(tm, NULL, 0);
  }
  CHECK_EQ(sent_away(GEXX_STATS_AM_MEDIUM) - before, leads ? SPLITS * rounds_among(nodes) : 0);
}

/* Everybody has come to round `round`, and nobody to more than the next. */
static void check_round(gex_TM_t tm, uint64_t round) {
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm); r++) {
    const gex_Rank_t at = gex_TM_TranslateRankToJobrank(tm, r);
    const uint64_t seen = gex_RMA_GetBlockingVal(job.tm, at, job.peer[at], 8, 0);
    CHECK(seen == round || seen == round + 1);
  }
}

/* More teams than have rows, a barrier of each at once, begun and awaited in any order. */
static void many_at_once(void) {
  gex_TM_t tm[TEAMS];
  gex_Event_t event[TEAMS];
  for (int i = 0; i < TEAMS; i++)
    tm[i] = split(job.tm, i % 4 == 3 ? (int)(job.rank % 3) : 0,
                  (int)(i % 2 ? job.rank : job.size - job.rank));
  for (int i = 0; i < TEAMS; i++) only_leaders_send(tm[i], i % 4 != 3 && i < 4);
  for (int i = 0; i < 3; i++) leaders_split(tm[i]);
  for (uint64_t k = 1; k <= ROUNDS; k++) {
    *(volatile uint64_t *)(void *)job.base = k;
    if (k % job.size == job.rank) sleep_ms(1);
    for (int i = 0; i < TEAMS; i++) {
      const int at = (int)(i + job.rank) % TEAMS;
      event[at] = gex_Coll_BarrierNB(tm[at], 0);
    }
    for (int i = 0; i < TEAMS; i++) gex_Event_Wait(event[i * 5 % TEAMS]);
    check_round(job.tm, k);
  }
  for (int i = 0; i < TEAMS; i++) gex_TM_Destroy(tm[i * 7 % TEAMS], NULL, 0);
}

/* Each team ends as soon as its barrier is over, by turns with another barrier and without. */
static void come_and_go(void) {
  for (int i = 0; i < CYCLES; i++) {
    const gex_TM_t tm = split(job.tm, i % 5 == 4 ? (int)(job.rank % 2) : 0, (int)job.rank);
    if (i % 3) gex_Coll_BarrierBlocking(tm, 0);
    if (i % 3 == 2) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gex_TM_Destroy(tm, NULL, i % 3 && i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  find_nodes();
  /* the job's own barrier signals in memory inside a host */
  gex_Rank_t hosts;
  gex_System_QueryMyPosition(NULL, NULL, &hosts, NULL);
  only_leaders_send(job.tm, hosts > 1);
  leaders_split(job.tm);
  many_at_once();
  come_and_go();
  free(node);
  return job_finish();
}
