/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 05.3, 05.4: domains over permuted and smaller teams and over teams of further endpoints;
 * jobranks, offsets, promises; queries and client data; many domains at once.
 */
#include "ad_model.h"

enum { DOMAINS = 40, FAR_BYTES = 65536 };

/* Adds 1 to the word `offset` of each member by team rank and by jobrank; then own words hold what
 * the members added. */
static void add_to_all(gex_AD_t ad, char *const *base, uintptr_t offset) {
  const gex_TM_t tm = gex_AD_QueryTM(ad);
  const gex_Rank_t size = gex_TM_QuerySize(tm);
  for (gex_Rank_t r = 0; r < size; r++) {
    const gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(tm, r);
    char *const addr = base[jobrank] + offset;
    (void)ad_do(ad, r, addr, GEX_OP_ADD, r + 1, 0, 0);
    (void)ad_do(ad, jobrank, addr, GEX_OP_FADD, 1000, 0, GEX_FLAG_RANK_IS_JOBRANK);
    (void)ad_do(ad, r, (void *)offset, GEX_OP_FADD, 1000000, 0, GEX_FLAG_PEER_SEG_OFFSET);
  }
  gex_Coll_BarrierBlocking(tm, 0);
  uint64_t mine;
  memcpy(&mine, base[job.rank] + offset, sizeof mine);
  CHECK_EQ(mine, (gex_TM_QueryRank(tm) + 1001001u) * (uint64_t)size);
}

static void check_split(int color, int key, uintptr_t offset) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AD_t ad = GEX_AD_INVALID;
  (void)gex_TM_Split(&tm, job.tm, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_Create(&ad, tm, GEX_DT_U64, ad_ops_of(GEX_DT_U64), GEX_FLAG_AD_FAVOR_MY_NBRHD);
  CHECK_PTR(gex_AD_QueryTM(ad), tm);
  CHECK_EQ(gex_AD_QueryDT(ad), GEX_DT_U64);
  CHECK_EQ(gex_AD_QueryOps(ad), ad_ops_of(GEX_DT_U64));
  CHECK_EQ(gex_AD_QueryFlags(ad), GEX_FLAG_AD_FAVOR_MY_NBRHD);
  CHECK_PTR(gex_AD_QueryCData(ad), NULL);
  gex_AD_SetCData(ad, &tm);
  CHECK_PTR(gex_AD_QueryCData(ad), &tm);
  add_to_all(ad, job.peer, offset);
  gex_Coll_BarrierBlocking(tm, 0);
  gex_AD_Destroy(ad);
  (void)gex_TM_Destroy(tm, NULL, 0);
}

/* Own rank, own neighbourhood, result by offset. */
static void check_flags(void) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_RankInfo_t *near = NULL;
  gex_Rank_t count = 0;
  uint64_t *const result = (uint64_t *)(void *)(job.base + 512);
  gex_AD_Create(&ad, job.tm, GEX_DT_I64, GEX_OP_FADD | GEX_OP_GET, GEX_FLAG_AD_FAVOR_REMOTE);
  gex_System_QueryNbrhdInfo(&near, &count, NULL);
  for (gex_Rank_t i = 0; i < count; i++) {
    const gex_Rank_t r = near[i].gex_jobrank;
    (void)ad_do(ad, r, job.peer[r] + 256, GEX_OP_FADD, 1, 0,
                GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
  }
  job_barrier();
  *result = 77;
  gex_Event_Wait(gex_AD_OpNB_I64(ad, (int64_t *)(uintptr_t)512, job.rank, job.base + 256,
                                 GEX_OP_GET, 0, 0, GEX_FLAG_AD_MY_RANK | GEX_FLAG_SELF_SEG_OFFSET));
  CHECK_EQ(*result, count);
  *result = 77;
  const gex_Rank_t next = (job.rank + 1) % job.size;
  const gex_Flags_t both = GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_SELF_SEG_OFFSET;
  CHECK_EQ(gex_AD_OpNBI_I64(ad, (int64_t *)(uintptr_t)512, next, (void *)(uintptr_t)256, GEX_OP_GET,
                            0, 0, both | GEX_FLAG_RANK_IS_JOBRANK),
           0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  CHECK(*result >= 1 && *result <= job.size);
  job_barrier();
  gex_AD_Destroy(ad);
}

/* Many domains of all types that live together and die in another order. */
static void check_many(void) {
  gex_AD_t ad[DOMAINS];
  for (int i = 0; i < DOMAINS; i++)
    gex_AD_Create(&ad[i], job.tm, ad_type[i % AD_TYPES], GEX_OP_INC | GEX_OP_GET, 0);
  for (int i = 0; i < DOMAINS; i++)
    for (gex_Rank_t r = 0; r < job.size; r++)
      (void)ad_do(ad[i], r, job.peer[r] + 1024 + i * 8, GEX_OP_INC, 0, 0, 0);
  job_barrier();
  for (int i = 0; i < DOMAINS; i++) {
    const gex_DT_t dt = ad_type[i % AD_TYPES];
    const uint64_t want = dt == GEX_DT_FLT   ? ad_bits_FLT((float)job.size)
                          : dt == GEX_DT_DBL ? ad_bits_DBL((double)job.size)
                                             : job.size;
    CHECK_EQ(ad_do(ad[i], job.rank, job.base + 1024 + i * 8, GEX_OP_GET, 0, 0, 0), want);
  }
  job_barrier();
  for (int i = 0; i < DOMAINS; i++) gex_AD_Destroy(ad[(i * 7) % DOMAINS]);
}

/* A team of second endpoints, whose segments peers do not map. */
static void check_endpoints(void) {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AD_t ad = GEX_AD_INVALID;
  gex_EP_Location_t *member = (gex_EP_Location_t *)calloc(job.size, sizeof *member);
  char **base = (char **)calloc(job.size, sizeof *base);
  if (!member || !base) check_abandon();
  (void)job_endpoint(&ep, FAR_BYTES);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    member[r].gex_rank = job.size - 1 - r;
    member[r].gex_ep_index = gex_EP_QueryIndex(ep);
    REQUIRE(gex_Segment_QueryBound(gex_TM_Pair(ep, gex_EP_QueryIndex(ep)), r, &owner, NULL, NULL) ==
            0);
    base[r] = (char *)owner;
  }
  REQUIRE(gex_TM_Create(&tm, 1, job.tm, member, job.size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  gex_AD_Create(&ad, tm, GEX_DT_U64, ad_ops_of(GEX_DT_U64), 0);
  add_to_all(ad, base, 4096);
  job_barrier();
  gex_AD_Destroy(ad);
  (void)gex_TM_Destroy(tm, NULL, 0);
  free(member);
  free(base);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  check_split(0, 0, 0);
  check_split(0, -(int)job.rank, 8);
  check_split((int)(job.rank % 3), (int)(mix64(job.rank) % 1000), 16);
  check_split((int)job.rank, 0, 24);
  check_flags();
  check_many();
  check_endpoints();
  return job_finish();
}
