/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded leaks, one case each, for tests/check/findings.py: the line that made what is never ended
 * has a comment `leak: CASE`, those of correct cases have none. Run with 3 ranks; the argument is
 * the case.
 */
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>

#include "../lib/cases.h"

static gex_TM_t tm;
static gex_Client_t client;
static char *base; /* of rank 0's segment */
static long v;

static void wait_for(gex_Event_t e) {
  gex_Event_Wait(e);
}

CASE(put_event) {
  const gex_Event_t e = gex_RMA_PutNB(tm, 0, base, &v, 8, GEX_EVENT_NOW, 0); /* leak: put_event */
  (void)e;
}
CASE(get_event) {
  const gex_Event_t e = gex_RMA_GetNB(tm, &v, 0, base, 8, 0); /* leak: get_event */
  (void)e;
}
CASE(barrier_event) {
  const gex_Event_t e = gex_Coll_BarrierNB(tm, 0); /* leak: barrier_event */
  (void)e;
}
CASE(atomic_event) {
  static uint64_t old;
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  gex_Event_t e;
  e = gex_AD_OpNB_U64(ad, &old, 0, base, GEX_OP_FADD, 1, 0, 0); /* leak: atomic_event */
  (void)e;
  gex_Coll_BarrierBlocking(tm, 0);
  gex_AD_Destroy(ad);
}
CASE(signal_event) {
  gex_Event_t e, *const now = GEX_EVENT_NOW;
  uint64_t *const sig = (uint64_t *)(void *)(base + 64);
  e = gexx_RMA_PutSignalNB(tm, 0, base, &v, 8, now, sig, 1, 1, 0); /* leak: signal_event */
  (void)e;
}
CASE(tagged_event) {
  gex_Event_t e;
  e = gexx_RMA_PutNotifyNB(tm, 0, base, &v, 8, GEX_EVENT_NOW, 1, 0); /* leak: tagged_event */
  (void)e;
}
CASE(strided_event) {
  const ptrdiff_t by[1] = {8};
  const size_t count[1] = {1};
  gex_Event_t e;
  e = gex_VIS_StridedGetNB(tm, &v, by, 0, base, by, 8, count, 1, 0); /* leak: strided_event */
  (void)e;
}
CASE(bound_event) {
  void *at;
  gex_Event_t e;
  e = gex_EP_QueryBoundSegmentNB(tm, 0, &at, NULL, NULL, 0); /* leak: bound_event */
  (void)e;
}
CASE(region_event) {
  gex_NBI_BeginAccessRegion(0);
  (void)gex_RMA_GetNBI(tm, &v, 0, base, 8, 0);
  const gex_Event_t e = gex_NBI_EndAccessRegion(0); /* leak: region_event */
  (void)e;
}
CASE(access_region) {
  gex_NBI_BeginAccessRegion(0); /* leak: access_region */
}
CASE(prepared) {
  (void)gex_AM_PrepareRequestMedium(tm, 0, NULL, 8, 8, NULL, 0, 0); /* leak: prepared */
}
CASE(segment) {
  gex_Segment_t s;
  (void)gex_Segment_Create(&s, client, NULL, 65536, GEX_MK_HOST, 0); /* leak: segment */
}
CASE(team) {
  gex_TM_t half;
  (void)gex_TM_Split(&half, tm, 0, 0, NULL, 0, 0); /* leak: team */
}
CASE(domain) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0); /* leak: domain */
}
CASE(semaphore) {
  gexx_Sem_t s;
  const unsigned flags = GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER;
  (void)gexx_Sem_Alloc(&s, flags); /* leak: semaphore */
}
CASE(request) {
  gexx_Notify_t r;
  (void)gexx_Notify_Init(tm, 0, 1, 1, &r); /* leak: request */
}
CASE(team_copy) {
  gex_TM_t copy;
  (void)gex_TM_Dup(&copy, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH); /* leak: team_copy */
}
CASE(team_of_list) {
  gex_TM_t one;
  gex_EP_Location_t self = {gex_TM_QueryRank(tm), 0};
  const gex_Flags_t flags = GEX_FLAG_TM_NO_SCRATCH;
  (void)gex_TM_Create(&one, 1, tm, &self, 1, NULL, 0, flags); /* leak: team_of_list */
}
CASE(plan) {
  gexx_Coll_Plan_t p;
  const gexx_Coll_Args_t args = {
      .gexx_kind = GEXX_COLL_BROADCAST, .gexx_dst = &v, .gexx_src = &v, .gexx_nbytes = 8};
  (void)gexx_Coll_Init(&p, tm, &args, 0); /* leak: plan */
}
CASE(ok_bound) {
  gex_EP_t ep;
  gex_Segment_t s;
  (void)gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_ALL, 0);
  (void)gex_Segment_Create(&s, client, NULL, 65536, GEX_MK_HOST, 0);
  (void)gex_EP_BindSegment(ep, s, 0);
}
CASE(ok_cancelled) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 0, NULL, 8, 8, NULL, 0, 0);
  (void)gex_AM_CancelRequestMedium(sd, 0);
}
CASE(ok_all) {
  gexx_Sem_t s;
  gexx_Notify_t r;
  gex_AD_t ad;
  const unsigned flags = GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER;
  (void)gexx_Sem_Alloc(&s, flags);
  gexx_Sem_Free(s);
  (void)gexx_Notify_Init(tm, 0, 1, 1, &r);
  gexx_Notify_Free(r);
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  wait_for(gex_Coll_BarrierNB(tm, 0));
  gex_AD_Destroy(ad);
  gex_NBI_BeginAccessRegion(0);
  (void)gex_RMA_GetNBI(tm, &v, 0, base, 8, 0);
  wait_for(gex_NBI_EndAccessRegion(0));
  wait_for(gex_RMA_GetNB(tm, &v, 0, base, 8, 0));
}

int main(int argc, char **argv) {
  gex_Segment_t segment;
  gex_EP_t ep;
  if (gex_Client_Init(&client, &ep, &tm, "LEAKS", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK) return 1;
  (void)gex_Segment_QueryBound(tm, 0, (void **)&base, NULL, NULL);
  gex_Coll_BarrierBlocking(tm, 0);
  case_run(argc, argv);
  gasnet_exit(0);
}
