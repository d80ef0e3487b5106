/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded leaks, one case each, for tests/check/findings.py: the line that made what is never ended
 * has a comment `leak: CASE`, those of correct cases have none. Run with 3 ranks; the argument is
 * the case.
 */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>

#include <pthread.h>

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
CASE(implicit_put) {
  (void)gex_RMA_PutNBI(tm, 0, base, &v, 8, GEX_EVENT_NOW, 0); /* leak: implicit_put */
  gex_NBI_Wait(GEX_EC_GET, 0);
}
CASE(implicit_value) {
  (void)gex_RMA_PutNBIVal(tm, 0, base, 1, 8, 0); /* leak: implicit_value */
  gex_NBI_Wait(GEX_EC_LC, 0);
}
CASE(implicit_strided) {
  const ptrdiff_t by[1] = {8};
  const size_t count[1] = {1};
  (void)gex_VIS_StridedGetNBI(tm, &v, by, 0, base, by, 8, count, 1, 0); /* leak: implicit_strided */
}
CASE(implicit_atomic) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_INC, 0);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, base, GEX_OP_INC, 0, 0, 0); /* leak: implicit_atomic */
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET, 0);
  gex_Coll_BarrierBlocking(tm, 0);
  gex_AD_Destroy(ad);
}
static void *get_there(void *arg) {
  (void)gex_RMA_GetNBI(tm, arg, 0, base, 8, 0); /* leak: implicit_thread */
  return NULL;
}
CASE(implicit_thread) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, get_there, &v) == 0) (void)pthread_join(thread, NULL);
}
CASE(named_barrier) {
  gasnet_barrier_notify(1, 0); /* leak: named_barrier */
}
CASE(second_barrier) {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_wait(1, 0);
  gasnet_barrier_notify(2, 0); /* leak: second_barrier */
  (void)gasnet_barrier_try(3, 0);
}
CASE(team_barrier) {
  gex_TM_t copy;
  (void)gex_TM_Dup(&copy, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gasnet_coll_barrier_notify(copy, 1, 0); /* leak: team_barrier */
  gex_Coll_BarrierBlocking(tm, 0);
  (void)gex_TM_Destroy(copy, NULL, 0);
}
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
CASE(lock_held) {
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  gex_HSL_Lock(&lock); /* leak: lock_held */
}
CASE(lock_tried) {
  (void)gex_HSL_Trylock(&lock); /* leak: lock_tried */
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
CASE(ok_implicit) {
  (void)gex_RMA_PutNBI(tm, 0, base + 8 * gex_TM_QueryRank(tm), &v, 8, GEX_EVENT_NOW, 0);
  (void)gex_RMA_GetNBI(tm, &v, 0, base, 8, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  while (gex_NBI_Test(GEX_EC_GET, 0) != GASNET_OK) (void)gasnet_AMPoll();
}
CASE(ok_barrier) {
  gex_TM_t copy;
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_wait(1, 0);
  gasnet_barrier_notify(2, 0);
  while (gasnet_barrier_try(2, 0) != GASNET_OK) (void)gasnet_AMPoll();
  (void)gex_TM_Dup(&copy, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gasnet_coll_barrier_notify(copy, 1, 0);
  (void)gasnet_coll_barrier_wait(copy, 1, 0);
  (void)gex_TM_Destroy(copy, NULL, 0);
}
CASE(ok_lock) {
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  if (gex_HSL_Trylock(&lock) == GASNET_OK) gex_HSL_Unlock(&lock);
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
