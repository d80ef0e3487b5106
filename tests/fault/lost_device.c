/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 */
/* again: TOMBOLO_TEST_SHM=0+TOMBOLO_TEST_MK_STAGES=1 TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop
 */
/* timeout: 60 */
/*
 * Threads put and get long pieces of device memory while the rank that owns it dies in the middle
 * (GEXX_FAILURE_REPORT): every operation ends, and the loss is met; transfers among the others go
 * on.
 */
#include "loss.h"
#include "mk_dev.h"
#include "threads.h"

#include <gasnet_mk.h>
#include <stdlib.h>

enum { THREADS = 3, PIECE = 3 << 20 };

static gex_Rank_t victim;
static gex_TM_t pair;
static char *
    *base; /* of the device segment of each rank: PIECE bytes for each of its peers' threads */

static gex_Rank_t neighbour(void) { /* one that stays, not this rank if there is another one */
  return job.size < 3 ? job.rank : 1 - job.rank;
}

/* Puts a piece and gets it back. Returns whether it is the same. */
static int there_and_back(gex_Rank_t to, int id, char *piece, char *back) {
  char *const there = base[to] + ((size_t)job.rank * THREADS + (size_t)id) * PIECE + 1;
  (void)gex_RMA_PutBlocking(pair, to, there, piece, PIECE - 2, 0);
  gex_Event_Wait(gex_RMA_GetNB(pair, back, to, there, PIECE - 2, 0));
  return memcmp(piece, back, PIECE - 2) == 0;
}

static void body(int id) {
  char *const piece = (char *)malloc(2 * (size_t)PIECE), *const back = piece + PIECE;
  if (!piece) check_abandon();
  pattern_fill(piece, PIECE, job.rank * THREADS + (unsigned)id);
  const double until = now_s() + 30;
  int met = 0;
  while (!met) {
    (void)there_and_back(victim, id, piece, back);
    gex_Rank_t who = victim;
    met = job.rank != victim && gexx_Lost_Take(&who) == GEXX_ERR_LOST;
    CHECK_EQ(who, victim);
    if (!CHECK_CMP(now_s(), <, until)) break;
  }
  threads_meet();
  CHECK(there_and_back(neighbour(), id, piece, back));
  free(piece);
}

int main(int argc, char **argv) {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  dev_select();
  loss_start(&argc, &argv, NULL, 0);
  victim = job.size - 1;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, (uintptr_t)job.size * THREADS * PIECE,
                             dev_kind(job.client, 0), 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  pair = gex_TM_Pair(job.ep, gex_EP_QueryIndex(ep));
  base = (char **)check_room(job.size, sizeof *base);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    REQUIRE(gex_Segment_QueryBound(pair, r, &owner, NULL, NULL) == 0);
    base[r] = (char *)owner;
  }
  job_barrier();
  if (job.rank == victim) loss_die_soon("uexit", 20000);
  run_threads(THREADS, body);
  loss_meet();
  loss_finish();
  return 0;
}
