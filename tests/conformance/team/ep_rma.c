/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 01.4, 01.5, 01.7, 01.8, 03: put and get to segments of further endpoints, through TM-pairs
 * and through teams made of them: several members in one process, offsets into bound segments,
 * memory outside segments, teams made before the segments were published.
 */
#include "job.h"

enum { EPS = 3, BYTES = 1 << 18, SLOT = 4096 };

/* Segments of this rank: library memory, client memory, the attached segment. */
static char client_memory[BYTES];
static gex_EP_t ep[EPS];
static char *base[EPS];       /* own, by endpoint index - 1 */
static char **peer_base[EPS]; /* [size] */

static void make_endpoints(void) {
  for (int i = 0; i < EPS; i++) {
    gex_Segment_t seg = job.seg;
    REQUIRE(gex_EP_Create(&ep[i], job.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
    if (i < 2)
      REQUIRE(gex_Segment_Create(&seg, job.client, i ? client_memory : NULL, BYTES, GEX_MK_HOST,
                                 0) == GASNET_OK);
    REQUIRE(gex_EP_BindSegment(ep[i], seg, 0) == GASNET_OK);
    base[i] = (char *)gex_Segment_QueryAddr(seg);
  }
}

/* Where localaddr is given, loads and stores there reach the owner's memory. */
static void check_local(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  void *local[EPS];
  for (int i = 0; i < EPS; i++) {
    const gex_TM_t pair = gex_TM_Pair(job.ep, (gex_EP_Index_t)(i + 1));
    REQUIRE(gex_Segment_QueryBound(pair, next, NULL, &local[i], NULL) == 0);
    uint64_t value = job.rank + 100u * (unsigned)i;
    if (local[i]) memcpy((char *)local[i] + 8, &value, 8);
    CHECK(local[i] != NULL || next != job.rank);
  }
  job_barrier();
  for (int i = 0; i < EPS; i++) {
    const gex_Rank_t last = (job.rank + job.size - 1) % job.size;
    void *back = NULL; /* who we map maps us */
    const gex_TM_t pair = gex_TM_Pair(job.ep, (gex_EP_Index_t)(i + 1));
    CHECK_EQ(gex_Segment_QueryBound(pair, last, NULL, &back, NULL), 0);
    uint64_t value;
    memcpy(&value, base[i] + 8, 8);
    if (back) CHECK_EQ(value, last + 100u * (unsigned)i);
  }
  /* Memory of the library and attached memory are mapped alike; memory of the client is not. */
  CHECK_EQ(local[0] != NULL, local[2] != NULL);
  CHECK_EQ(local[1] != NULL, next == job.rank);
  job_barrier();
}

static void publish(void) {
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, ep, EPS, 0) == GASNET_OK);
  for (int i = 0; i < EPS; i++) {
    peer_base[i] = (char **)check_room(job.size, sizeof(char *));
    for (gex_Rank_t r = 0; r < job.size; r++) {
      void *owner = NULL;
      REQUIRE(gex_Segment_QueryBound(gex_TM_Pair(ep[0], (gex_EP_Index_t)(i + 1)), r, &owner, NULL,
                                     NULL) == 0);
      peer_base[i][r] = (char *)owner;
    }
  }
  check_local();
}

/* One put and one get of each form to (tm, rank); `addr` is in the owner's space, `offset` that of
 * addr in the bound segment. */
static void check_forms(gex_TM_t tm, gex_Rank_t rank, char *addr, uintptr_t offset, size_t n,
                        uint64_t seed) {
  char out[SLOT], in[SLOT];
  gex_Event_t lc;
  pattern_fill(out, n, seed);
  CHECK_EQ(gex_RMA_PutBlocking(tm, rank, addr, out, n, 0), 0);
  memset(in, 0, sizeof in);
  CHECK_EQ(gex_RMA_GetBlocking(tm, in, rank, addr, n, 0), 0);
  CHECK_BYTES(in, n, seed);
  pattern_fill(out, n, seed + 1);
  const gex_Event_t put = gex_RMA_PutNB(tm, rank, addr, out, n, &lc, 0);
  gex_Event_Wait(lc);
  gex_Event_Wait(put);
  gex_Event_Wait(gex_RMA_GetNB(tm, in, rank, addr, n, 0));
  CHECK_BYTES(in, n, seed + 1);
  pattern_fill(out, n, seed + 2);
  CHECK_EQ(gex_RMA_PutNBI(tm, rank, addr, out, n, GEX_EVENT_DEFER, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(gex_RMA_GetNBI(tm, in, rank, (void *)offset, n, GEX_FLAG_PEER_SEG_OFFSET), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  CHECK_BYTES(in, n, seed + 2);
  CHECK_EQ(gex_RMA_PutBlockingVal(tm, rank, (void *)offset, seed, 8, GEX_FLAG_PEER_SEG_OFFSET), 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(tm, rank, addr, 8, GEX_FLAG_PEER_SEG_SOME), seed);
  CHECK_EQ(gex_RMA_GetBlockingVal(tm, rank, addr, 8, GEX_FLAG_PEER_SEG_UNKNOWN), seed);
}

/* Slot of this rank at endpoint i of another one: the same offset everywhere. */
static uintptr_t slot_of(gex_Rank_t from) {
  return (uintptr_t)(from % (BYTES / SLOT)) * SLOT;
}

static void check_pairs(void) {
  for (int from = -1; from < EPS; from++)
    for (int to = 0; to < EPS; to++)
      for (gex_Rank_t r = 0; r < job.size; r++) {
        const gex_TM_t pair = gex_TM_Pair(from < 0 ? job.ep : ep[from], (gex_EP_Index_t)(to + 1));
        const uintptr_t at = slot_of(job.rank);
        check_forms(pair, r, peer_base[to][r] + at, at, 1 + (r * 977u + (unsigned)to) % SLOT,
                    job.rank * 1000u + r);
      }
  job_barrier();
}

/* Local buffers named by offset into the initiating endpoint's own segment, targets at the
 * primordial endpoint of the next rank; immediate calls until one succeeds. */
static void check_self_offsets(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  const uintptr_t from = BYTES / 2, back = from + SLOT, there = from + 2 * SLOT;
  const gex_Flags_t both = GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET;
  for (int i = 0; i < EPS - 1; i++) { /* the last one shares the attached segment */
    const gex_TM_t pair = gex_TM_Pair(ep[i], 0);
    pattern_fill(base[i] + from, SLOT, job.rank + 7u);
    CHECK_EQ(gex_RMA_PutBlocking(pair, next, (void *)there, (void *)from, SLOT, both), 0);
    CHECK_EQ(gex_RMA_GetBlocking(pair, (void *)back, next, (void *)there, SLOT, both), 0);
    CHECK_BYTES(base[i] + back, SLOT, job.rank + 7u);
    CHECK_EQ(gex_RMA_PutBlocking(pair, next, job.peer[next] + there, base[i] + from, SLOT,
                                 GEX_FLAG_SELF_SEG_BOUND),
             0);
    gex_Event_t event;
    do {
      gasnet_AMPoll();
      event = gex_RMA_PutNB(gex_TM_Pair(ep[i], 2), next, peer_base[1][next] + there, base[i] + from,
                            SLOT, GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE);
    } while (event == GEX_EVENT_NO_OP);
    gex_Event_Wait(event);
    job_barrier();
    CHECK_BYTES(job.base + there, SLOT, (job.rank + job.size - 1) % job.size + 7u);
    CHECK_BYTES(base[1] + there, SLOT, (job.rank + job.size - 1) % job.size + 7u);
    job_barrier();
  }
}

/* Memory outside every segment, and a large transfer. */
static char outside[BYTES];
static void check_outside(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size, last = (job.rank + job.size - 1) % job.size;
  const gex_TM_t pair = gex_TM_Pair(job.ep, 1);
  char *const out = (char *)malloc(BYTES);
  REQUIRE(out != NULL);
  pattern_fill(out, BYTES, job.rank + 5);
  /* `outside` has the same address in all ranks only if the program is not relocated: ask. */
  CHECK_EQ(
      gex_RMA_PutBlocking(pair, next, peer_base[0][next], &(char *){outside}, sizeof(char *), 0),
      0);
  job_barrier();
  char *theirs = NULL; /* of the previous rank */
  memcpy(&theirs, base[0], sizeof theirs);
  CHECK_EQ(gex_RMA_PutBlocking(pair, last, theirs, out, BYTES, GEX_FLAG_PEER_SEG_UNKNOWN), 0);
  job_barrier();
  CHECK_BYTES(outside, BYTES, next + 5);
  memset(out, 0, BYTES);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, out, last, theirs, BYTES, GEX_FLAG_PEER_SEG_UNKNOWN), 0);
  CHECK_BYTES(out, BYTES, job.rank + 5);
  job_barrier();
  free(out);
}

/* A team of all endpoints of all processes, own index fastest. */
static void make_big_team(gex_TM_t *tms) {
  const size_t count = (size_t)job.size * EPS;
  gex_EP_Location_t *const args = (gex_EP_Location_t *)calloc(count, sizeof *args);
  REQUIRE(args != NULL);
  for (size_t i = 0; i < count; i++) {
    args[i].gex_rank = (gex_Rank_t)(i / EPS);
    args[i].gex_ep_index = (gex_EP_Index_t)(i % EPS + 1);
  }
  CHECK_EQ(gex_TM_Create(tms, EPS, job.tm, args, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
  free(args);
}

static void check_big_team(const gex_TM_t *tms) {
  for (int i = 0; i < EPS; i++) {
    CHECK_EQ(gex_TM_QuerySize(tms[i]), job.size * EPS);
    CHECK_EQ(gex_TM_QueryRank(tms[i]), job.rank * EPS + (gex_Rank_t)i);
    CHECK_PTR(gex_TM_QueryEP(tms[i]), ep[i]);
  }
  for (gex_Rank_t r = 0; r < job.size * EPS; r++) {
    const gex_EP_Location_t at = gex_TM_TranslateRankToEP(tms[0], r, 0);
    CHECK_EQ(at.gex_rank, r / EPS);
    CHECK_EQ(at.gex_ep_index, r % EPS + 1);
    CHECK_EQ(gex_TM_TranslateRankToJobrank(tms[1], r), r / EPS);
    const uintptr_t slot = slot_of(job.rank);
    check_forms(tms[r % EPS], r, peer_base[r % EPS][r / EPS] + slot, slot, 999, r + job.rank);
  }
  const gex_Rank_t back = gex_TM_TranslateJobrankToRank(tms[0], job.rank);
  CHECK_EQ(back / EPS, job.rank);
  /* One thread serves all its members: barriers are begun on each, then waited for. */
  for (int step = 0; step < 20; step++) {
    gex_Event_t event[EPS];
    for (int i = 0; i < EPS; i++) event[i] = gex_Coll_BarrierNB(tms[i], 0);
    gex_Event_WaitAll(event, EPS, 0);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, BYTES, NULL, 0);
  make_endpoints();
  gex_TM_t tms[EPS];
  make_big_team(tms); /* before the segments are published */
  publish();
  check_pairs();
  check_self_offsets();
  check_outside();
  check_big_team(tms);
  for (int i = 0; i < EPS; i++) CHECK_EQ(gex_TM_Destroy(tms[i], NULL, 0), 0);
  job_barrier();
  return job_finish();
}
