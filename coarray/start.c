/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start of the run-time library: it joins the job, attaches the segment, makes the initial team.
 *
 * Owns nothing. Called by the first `register` of a static coarray, which runs before main, or
 * by `init`. Calls: the public interface. Invariants: every image starts at one point of one
 * program; the segment is as large as the library allows, because untouched memory costs nothing.
 */
#include "data/pending.h"
#include "sync/control.h"
#include "sync/post.h"

#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>

static void make_initial_team(void) {
  struct caf_team *team = &caf.initial;
  team->tm = caf.tm;
  team->number = -1;
  team->size = caf.size;
  team->rank = caf.rank;
  caf.delta = calloc(caf.size, sizeof *caf.delta);
  caf.bound = calloc(caf.size, sizeof *caf.bound);
  team->jobrank = malloc(caf.size * sizeof *team->jobrank);
  if (!team->jobrank || !caf.delta || !caf.bound) {
    caf_refuse("out of memory for the table of %u images [TMB-0001]", caf.size);
    gasnet_exit(1);
  }
  for (uint32_t r = 0; r < caf.size; r++) team->jobrank[r] = r;
  caf.image = (int)caf.rank + 1;
  caf_team_enter(team);
}

static void make_shared(void) {
  caf.shared = caf_heap_alloc(sizeof *caf.shared + 2 * caf.size * sizeof caf.shared->word[0]);
  caf.shared_addr = malloc(caf.size * sizeof *caf.shared_addr);
  caf.expected = calloc(caf.size, sizeof *caf.expected);
  caf.lost = calloc(caf.size, sizeof *caf.lost);
  caf.reach = calloc(caf.size, sizeof *caf.reach);
  if (!caf.shared || !caf.shared_addr || !caf.expected || !caf.lost || !caf.reach) {
    caf_refuse("out of memory for the counters of %u images; segment of %zu bytes [TMB-0001]",
               caf.size, (size_t)caf.segment_bytes);
    gasnet_exit(1);
  }
  /* The segment begins as zeros, and nothing was allocated from it before. */
  const uintptr_t mine = (uintptr_t)caf.shared;
  gexx_WaitInfo_SetMembers("image", 1);
  caf.shown = gexx_Trace_Follow(&caf.statement) != 0;
  gex_Event_Wait(gexx_Coll_AllGatherNB(caf.tm, caf.shared_addr, &mine, sizeof mine, 0));
  caf.attached = caf.shared->word + caf.size;
  if (caf_words_init(&caf.initial, NULL) || caf_attach_init()) gasnet_exit(1);
}

/* A process of the job is lost. Called from polls. */
static void on_loss(gex_Rank_t rank, int state, void *cdata) {
  (void)cdata;
  if (caf.lost[rank]) return;
  caf.lost[rank] = state == GEXX_PEER_STOPPED ? CAF_STAT_STOPPED : CAF_STAT_FAILED;
  __atomic_fetch_add(&caf.lost_count, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&caf.images, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&caf.renumbered_images, 0, __ATOMIC_RELEASE);
  __atomic_fetch_add(&caf.shared->word[rank], CAF_LOSS, __ATOMIC_RELEASE);
  if (!caf.waiting) return;
  caf.woken++;
  __atomic_fetch_add(caf.waiting, CAF_LOSS, __ATOMIC_RELEASE);
}

/* From now on the images that are left go on when one fails; not beside another client of the
 * process, which would wait for it. */
static void survive(void) {
  static const uint32_t polls[] = {0, 1}; /* where a poll has to be seen: always reports */
  caf.changes = &polls[0];
  caf.changes_seen = &polls[1];
  if (caf.size > 1 && gex_EP_QueryIndex(caf.ep) == 0) {
    gexx_Job_SetFailureCallback(on_loss, NULL);
    gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT);
  }
  if (!caf.shown && !caf.ordered) gexx_Peer_QueryWords(&caf.changes, &caf.changes_seen);
}

void caf_start(int *argc, char ***argv) {
  if (caf.ready) return;
  caf.ready = true;
  caf_free_quit();
  if (gexx_Client_Join(&caf.client, &caf.ep, &caf.tm, "TOMBOLO_CAF", argc, argv, 0) != GASNET_OK) {
    caf_refuse("the communication layer does not start [TMB-2055]");
    exit(1);
  }
  caf.rank = gex_TM_QueryRank(caf.tm);
  caf.size = gex_TM_QuerySize(caf.tm);
  caf.ordered = gasnett_getenv("TOMBOLO_REPLAY_AREA") != NULL;
  make_initial_team();
  gex_Segment_t segment;
  caf.segment_bytes = gasnet_getMaxLocalSegmentSize();
  if (gex_Segment_Attach(&segment, caf.tm, caf.segment_bytes) != GASNET_OK) {
    caf_refuse("no segment of %zu bytes; set GASNET_MAX_SEGSIZE to less [TMB-2035]",
               (size_t)caf.segment_bytes);
    gasnet_exit(1);
  }
  caf.segment = gex_Segment_QueryAddr(segment);
  caf.segment_bytes = gex_Segment_QuerySize(segment);
  caf_heap_init(caf.segment, caf.segment_bytes);
  make_shared();
  gex_Rank_t near;
  (void)caf_is_near(caf.rank); /* accesses of its own coarrays do not ask */
  gex_System_QueryNbrhdInfo(NULL, &near, NULL);
  if (near < caf.size) caf_serves(CAF_BY_MESSAGE);
  caf_remote_start();
  caf_events_start();
  const gex_OP_t ops = GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD | GEX_OP_ADD | GEX_OP_FAND |
                       GEX_OP_AND | GEX_OP_FOR | GEX_OP_OR | GEX_OP_FXOR | GEX_OP_XOR |
                       GEX_OP_FCAS | GEX_OP_SWAP;
  /* locks and events are read by this processor as well, so no network may perform these domains
   * (docs/DECISIONS/0098) */
  gex_AD_Create(&caf.ad32, caf.tm, GEX_DT_I32, ops, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  gex_AD_Create(&caf.ad64, caf.tm, GEX_DT_I64, ops, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  if (caf_posts_start()) {
    caf_refuse("out of memory for posts of events of %u images [TMB-0001]", caf.size);
    gasnet_exit(1);
  }
  survive();
  caf_catch_quit();
}
