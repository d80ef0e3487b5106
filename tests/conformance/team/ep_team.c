/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/*
 * API 01.7: teams with several members in one process, made, used and destroyed by one thread, in
 * every scratch mode; their scratch memory comes back per member; a caller whose own endpoint is
 * not listed; barriers of all members in flight at once; atomic domains over such a team, which one
 * thread makes member by member (API 05.3).
 */
#include <gasnet_ratomic.h>

#include "job.h"

enum { EPS = 3, RANKS_MAX = 64, BYTES = 1 << 16, SCRATCH = 4096, BARRIERS = 30 };

static gex_EP_t ep[EPS]; /* indices 1.. */
static char *base[EPS];
static gex_EP_Location_t args[EPS * RANKS_MAX];
static gex_Rank_t count;

static void make_endpoints(void) {
  for (int i = 0; i < EPS; i++) base[i] = job_endpoint(&ep[i], BYTES);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, ep, EPS, 0) == GASNET_OK);
}

/* Members: endpoints 1..EPS of every rank, endpoint-major; the callers' own endpoint 0 is not one.
 */
static void list_members(void) {
  REQUIRE(job.size <= RANKS_MAX);
  count = 0;
  for (int i = 0; i < EPS; i++)
    for (gex_Rank_t r = 0; r < job.size; r++) {
      args[count].gex_rank = r;
      args[count++].gex_ep_index = (gex_EP_Index_t)(i + 1);
    }
}

static void use(const gex_TM_t *tms) {
  gex_Event_t event[EPS * BARRIERS];
  for (int i = 0; i < EPS; i++) {
    CHECK_EQ(gex_TM_QuerySize(tms[i]), count);
    CHECK_EQ(gex_TM_QueryRank(tms[i]), (gex_Rank_t)i * job.size + job.rank);
    CHECK_PTR(gex_TM_QueryEP(tms[i]), ep[i]);
  }
  for (int b = 0; b < BARRIERS; b++)
    for (int i = 0; i < EPS; i++) event[b * EPS + i] = gex_Coll_BarrierNB(tms[i], 0);
  gex_Event_WaitAll(event, EPS * BARRIERS, 0);
}

/* Every member adds 1 to a counter of each member, by a domain of its own. */
static void count_members(const gex_TM_t *tms) {
  gex_AD_t ad[EPS];
  uint64_t *counter[EPS];
  for (int i = 0; i < EPS; i++) {
    counter[i] = (uint64_t *)(void *)(base[i] + BYTES / 2);
    *counter[i] = 0;
    gex_AD_Create(&ad[i], tms[i], GEX_DT_U64, GEX_OP_INC | GEX_OP_GET, 0);
  }
  job_barrier();
  for (int i = 0; i < EPS; i++)
    for (gex_Rank_t m = 0; m < count; m++) {
      void *at = NULL;
      REQUIRE(gex_Segment_QueryBound(tms[i], m, &at, NULL, NULL) == 0);
      CHECK_EQ(gex_AD_OpNBI_U64(ad[i], NULL, m, (char *)at + BYTES / 2, GEX_OP_INC, 0, 0, 0), 0);
    }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  job_barrier();
  for (int i = 0; i < EPS; i++) {
    uint64_t seen = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(ad[i], &seen, (gex_Rank_t)i * job.size + job.rank, counter[i],
                                   GEX_OP_GET, 0, 0, GEX_FLAG_AD_MY_RANK));
    CHECK_EQ(seen, count);
  }
  job_barrier();
  for (int i = 0; i < EPS; i++) gex_AD_Destroy(ad[i]);
}

/* Where member i's scratch memory is said to be, for each mode. */
static gex_Addr_t scratch_of(int i, gex_Flags_t flags) {
  const int which = flags & GEX_FLAG_TM_SYMMETRIC_SCRATCH ? 0 : i;
  const uintptr_t offset = (uintptr_t)(which + 1) * SCRATCH;
  return flags & GEX_FLAG_SCRATCH_SEG_OFFSET ? (gex_Addr_t)offset : base[i] + offset;
}

static void check_mode(gex_Flags_t flags) {
  gex_Addr_t addrs[EPS * RANKS_MAX];
  gex_TM_t tms[EPS];
  for (int i = 0; i < EPS; i++) addrs[i] = scratch_of(i, flags);
  if (flags & GEX_FLAG_TM_GLOBAL_SCRATCH)
    for (gex_Rank_t m = 0; m < count; m++) addrs[m] = scratch_of(args[m].gex_ep_index - 1, flags);
  CHECK_EQ(gex_TM_Create(tms, EPS, job.tm, args, count, addrs, SCRATCH, flags), 1);
  use(tms);
  if (flags == GEX_FLAG_TM_NO_SCRATCH) count_members(tms);
  for (int i = 0; i < EPS; i++) {
    gex_Memvec_t back = {NULL, 0};
    const int returned = gex_TM_Destroy(tms[i], &back, flags & GEX_FLAG_SCRATCH_SEG_OFFSET);
    CHECK_EQ(returned != 0, !(flags & GEX_FLAG_TM_NO_SCRATCH));
    if (returned) CHECK_PTR(back.gex_addr, scratch_of(i, flags));
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4 * GASNET_PAGESIZE, NULL, 0);
  make_endpoints();
  list_members();
  for (int round = 0; round < 20; round++) {
    check_mode(GEX_FLAG_TM_NO_SCRATCH);
    check_mode(GEX_FLAG_TM_LOCAL_SCRATCH);
    check_mode(GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
    check_mode(GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
    check_mode(GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  }
  job_barrier();
  return job_finish();
}
