/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races, one case each, for tests/check/findings.py: the lines that race end with a comment
 * `race: CASE`, those of correct cases have none. Run with 3 ranks; the argument is the case.
 */
#include "three_ranks.h"

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <sched.h>

/* An atomic addition of 1 to a rank's first word; puts with strides. */
#define ADD(ad, to) \
 wait_for(gex_AD_OpNB_U64(ad, &old, to, (uint64_t *)base[to], GEX_OP_FADD, 1, 0, 0))
#define PUT_STRIDED(to) \
 (void)gex_VIS_StridedPutBlocking(tm, to, base[to], stride, v, stride, 8, count, 1, 0)

#define MANY 2500 /* more than CHK_QUEUE of check/area.h */

CASE(put_put) {
  if (me) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: put_put put_put */
}
CASE(put_put_parts) {
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 64, 0);             /* race: put_put_parts */
  if (me == 2) gex_RMA_PutBlocking(tm, 0, (char *)base[0] + 60, v, 8, 0); /* race: put_put_parts */
}
CASE(put_get) {
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: put_get */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: put_get */
}
CASE(put_get_byte) {
  if (me == 1) gex_RMA_PutBlocking(tm, 0, (char *)base[0] + 3, v, 1, 0); /* race: put_get_byte */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 4, 0);             /* race: put_get_byte */
}
CASE(put_get_val) {
  if (me == 1) gex_RMA_PutBlockingVal(tm, 0, base[0], 7, 8, 0);    /* race: put_get_val */
  if (me == 2) (void)gex_RMA_GetBlockingVal(tm, 0, base[0], 8, 0); /* race: put_get_val */
}
CASE(put_not_waited) {
  if (me == 1) {
    gex_Event_t e =
        gex_RMA_PutNB(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0); /* race: put_not_waited */
    barrier();
    wait_for(e);
  } else {
    barrier();
    if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: put_not_waited */
  }
}
CASE(nbi_not_waited) {
  if (me == 1) gex_RMA_PutNBI(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0); /* race: nbi_not_waited */
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: nbi_not_waited */
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
CASE(nbi_wrong_category) {
  if (me == 1)
    gex_RMA_PutNBI(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0); /* race: nbi_wrong_category */
  gex_NBI_Wait(GEX_EC_GET, 0);
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: nbi_wrong_category */
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
CASE(region_not_waited) {
  gex_Event_t e = GEX_EVENT_INVALID;
  if (me == 1) {
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0); /* race: region_not_waited */
    e = gex_NBI_EndAccessRegion(0);
  }
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: region_not_waited */
  wait_for(e);
}
CASE(val_not_waited) {
  gex_Event_t e = GEX_EVENT_INVALID;
  if (me == 1) e = gex_RMA_PutNBVal(tm, 0, base[0], 1, 4, 0); /* race: val_not_waited */
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: val_not_waited */
  wait_for(e);
}
CASE(get_not_waited) {
  gex_Event_t e = GEX_EVENT_INVALID;
  if (me == 1) e = gex_RMA_GetNB(tm, v, 0, base[0], 8, 0); /* race: get_not_waited */
  barrier();
  if (me == 2) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: get_not_waited */
  wait_for(e);
}
CASE(source_reused) {
  if (me) return;
  gex_Event_t e = gex_RMA_PutNB(tm, 1, base[1], v, 8, GEX_EVENT_DEFER, 0); /* race: source_reused */
  gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);                            /* race: source_reused */
  wait_for(e);
}
CASE(source_reused_region) {
  if (me) return;
  gex_RMA_PutNBI(tm, 1, base[1], v, 512, GEX_EVENT_GROUP, 0); /* race: source_reused_region */
  gex_RMA_GetBlocking(tm, v + 60, 2, base[2], 8, 0);          /* race: source_reused_region */
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
CASE(result_used) {
  if (me) return;
  gex_Event_t e = gex_RMA_GetNB(tm, v, 1, base[1], 8, 0); /* race: result_used */
  gex_RMA_PutBlocking(tm, 2, base[2], v, 8, 0);           /* race: result_used */
  wait_for(e);
}
CASE(results_alike) {
  if (me) return;
  gex_Event_t e[11];
  for (int i = 0; i < 10; i++)
    e[i] = gex_RMA_GetNB(tm, v + 2 * i, 1, base[1], 8, 0);        /* race: results_alike */
  e[10] = gex_RMA_GetNB(tm, (char *)v + 7, 1, base[1] + 1, 1, 0); /* race: results_alike */
  gex_Event_WaitAll(e, 11, 0);
}
CASE(fetched_used) {
  static uint64_t old;
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (me == 0) {
    gex_Event_t e;
    e = gex_AD_OpNB_U64(ad, &old, 1, base[1], GEX_OP_FADD, 1, 0, 0); /* race: fetched_used */
    gex_RMA_PutBlocking(tm, 2, base[2], &old, 8, 0);                 /* race: fetched_used */
    wait_for(e);
  }
  barrier();
  gex_AD_Destroy(ad);
}
CASE(fetched_twice) {
  static uint64_t old;
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_GET, 0);
  for (gex_Rank_t r = 1; me == 0 && r < 3; r++)
    (void)gex_AD_OpNBI_U64(ad, &old, r, base[r], GEX_OP_GET, 0, 0, 0); /* race: fetched_twice */
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier();
  gex_AD_Destroy(ad);
}
CASE(two_puts) {
  if (me) return;
  gex_Event_t e = gex_RMA_PutNB(tm, 1, base[1], v, 8, GEX_EVENT_NOW, 0);     /* race: two_puts */
  gex_Event_t f = gex_RMA_PutNB(tm, 1, base[1], v + 1, 8, GEX_EVENT_NOW, 0); /* race: two_puts */
  wait_for(e);
  wait_for(f);
}
CASE(put_then_get) {
  if (me) return;
  gex_Event_t e = gex_RMA_PutNB(tm, 1, base[1], v, 8, GEX_EVENT_NOW, 0); /* race: put_then_get */
  gex_RMA_GetBlocking(tm, v + 8, 1, base[1], 8, 0);                      /* race: put_then_get */
  wait_for(e);
}
CASE(before_signal) {
  if (me == 1) {
    PUT_SIGNAL(2); /* race: before_signal */
  }
  if (me == 2) {
    gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0); /* race: before_signal */
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
  }
}
CASE(signal_of_other_put) {
  if (me == 1) {
    gex_RMA_PutNBI(tm, 2, base[2] + 8, v, 8, GEX_EVENT_NOW, 0); /* race: signal_of_other_put */
    PUT_SIGNAL(2);
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  if (me == 2) {
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
    gex_RMA_GetBlocking(tm, v, 2, base[2] + 8, 8, 0); /* race: signal_of_other_put */
  }
}
CASE(signal_third_rank) {
  if (me == 1) PUT_SIGNAL(2); /* race: signal_third_rank */
  if (me == 2) gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
  if (me == 0) gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0); /* race: signal_third_rank */
}
CASE(overwritten) {
  if (me == 1) PUT_SIGNAL(2); /* race: overwritten */
  if (me == 1) PUT_SIGNAL(2); /* race: overwritten */
  if (me == 2) {
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 2);
    gex_RMA_PutBlocking(tm, 1, base[1], v, 8, 0);
  }
}
CASE(message_too_early) {
  if (me == 1) {
    gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: message_too_early */
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled);
    gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: message_too_early */
  }
}
CASE(messages_too_early) { /* more than a queue of the checker has */
  if (me == 1) {
    for (int i = 0; i < MANY; i++) gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: messages_too_early */
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled >= MANY);
    gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: messages_too_early */
  }
}
CASE(long_too_early) {
  if (me == 1)
    gex_AM_RequestLong0(tm, 2, H_LONG, v, 8, base[2], GEX_EVENT_NOW, 0); /* race: long_too_early */
  if (me == 0) gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);             /* race: long_too_early */
  if (me == 2) GASNET_BLOCKUNTIL(handled);
}
CASE(broadcast_is_no_barrier) {
  static long w;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: broadcast_is_no_barrier */
  wait_for(gex_Coll_BroadcastNB(tm, 0, &w, &w, 8, 0));
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: broadcast_is_no_barrier */
}
CASE(reduce_is_no_barrier) {
  static long w, x;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: reduce_is_no_barrier */
  wait_for(gex_Coll_ReduceToOneNB(tm, 0, &w, &x, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: reduce_is_no_barrier */
}
CASE(coll_buffer) {
  gex_Event_t e = gex_Coll_BroadcastNB(tm, 0, base[me], base[me], 8, 0); /* race: coll_buffer */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 1, base[1], 8, 0);             /* race: coll_buffer */
  wait_for(e);
}
CASE(wrong_team) {
  gex_TM_t half;
  (void)gex_TM_Split(&half, tm, me < 2, 0, NULL, 0, 0);
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: wrong_team */
  gex_Coll_BarrierBlocking(half, 0);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: wrong_team */
}
CASE(barrier_notify_only) {
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: barrier_notify_only */
  gex_Event_t e = gex_Coll_BarrierNB(tm, 0);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: barrier_notify_only */
  wait_for(e);
}
CASE(atomic_and_put) {
  gex_AD_t ad;
  uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (me == 1) ADD(ad, 0);                                   /* race: atomic_and_put */
  if (me == 2) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: atomic_and_put */
}
CASE(sem_too_early) {
  static gexx_Sem_t sem;
  gexx_Sem_Handle_t h;
  (void)gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  h = gexx_Sem_QueryHandle(sem);
  wait_for(gex_Coll_BroadcastNB(tm, 2, &h, &h, sizeof h, 0));
  if (me == 1) {
    gexx_Sem_Post(h);
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: sem_too_early */
  }
  if (me == 2) {
    gexx_Sem_Wait(sem);
    gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: sem_too_early */
  }
}
CASE(strided) {
  const ptrdiff_t stride[1] = {16};
  const size_t count[1] = {4};
  if (me == 1) PUT_STRIDED(0);                                   /* race: strided */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0); /* race: strided */
}

CASE(memset_and_get) {
  if (me == 1) gasnet_memset(0, base[0], 1, 8);              /* race: memset_and_get */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: memset_and_get */
}
CASE(memset_not_waited) {
  gasnet_handle_t e = GASNET_INVALID_HANDLE;
  if (me == 1) e = gasnet_memset_nb(0, base[0], 1, 8); /* race: memset_not_waited */
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: memset_not_waited */
  gasnet_wait_syncnb(e);
}
CASE(strided_legacy) {
  const size_t stride[1] = {16}, count[2] = {8, 4};
  if (me == 1) gasnet_puts_bulk(0, base[0], stride, v, stride, count, 1); /* race: strided_legacy */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0);          /* race: strided_legacy */
}
CASE(indexed_legacy_not_waited) {
  void *const to[2] = {base[0], base[0] + 2}, *const from[1] = {v};
  gasnet_handle_t e = GASNET_INVALID_HANDLE;
  if (me == 1)
    e = gasnet_puti_nb_bulk(0, 2, to, 8, 1, from, 16); /* race: indexed_legacy_not_waited */
  barrier();
  if (me == 2)
    gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0); /* race: indexed_legacy_not_waited */
  gasnet_wait_syncnb(e);
}
CASE(broadcast_legacy_is_no_barrier) {
  static long w, x;
  const int flags = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
  if (me == 1)
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: broadcast_legacy_is_no_barrier */
  gasnet_coll_broadcast(GASNET_TEAM_ALL, &w, 0, &x, 8, flags);
  if (me == 2)
    gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: broadcast_legacy_is_no_barrier */
}
CASE(plan_buffer) {
  gexx_Coll_Plan_t plan;
  const gexx_Coll_Args_t args = {.gexx_kind = GEXX_COLL_BROADCAST,
                                 .gexx_dst = base[me],
                                 .gexx_src = base[me],
                                 .gexx_nbytes = 8};
  (void)gexx_Coll_Init(&plan, tm, &args, 0);
  gex_Event_t e = gexx_Coll_StartNB(plan, 0);                /* race: plan_buffer */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 1, base[1], 8, 0); /* race: plan_buffer */
  wait_for(e);
  gexx_Coll_Free(plan);
}

CASE(source_of_prepared) {
  if (me == 1) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 2, base[1], 8, 8, GEX_EVENT_NOW, 0, 0);
    (void)gex_AM_CommitRequestMedium0(sd, H_MEDIUM, 8); /* race: source_of_prepared */
  }
  if (me == 0) gex_RMA_PutBlocking(tm, 1, base[1], v, 8, 0); /* race: source_of_prepared */
}

/* ---- correct: nothing may be found */

CASE(ok_source_of_prepared) {
  if (me == 1) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(tm, 2, base[1], 8, 8, GEX_EVENT_NOW, 0, 0);
    (void)gex_AM_CommitRequestMedium0(sd, H_MEDIUM, 8);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  gex_RMA_PutBlocking(tm, 1, base[1], v, 8, 0);
}

CASE(ok_barrier) {
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}
CASE(ok_bytes) {
  if (me) gex_RMA_PutBlocking(tm, 0, (char *)base[0] + me, v, 1, 0);
}
CASE(ok_signal) {
  if (me == 1)
    gexx_RMA_PutSignalNBI(tm, 2, base[2], v, 8, GEX_EVENT_NOW, sig(2), GEXX_SIG_ADD, 1, 0);
  if (me == 2) {
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
    gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier();
  if (me == 0) gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);
}
CASE(ok_message) {
  if (me == 1) {
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
    gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled);
    gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
  }
}
CASE(ok_many_messages) { /* from rank 1 to rank 2 and back */
  for (int i = 0; i < MANY; i++) {
    if (me == 1) {
      gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
      gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
    }
    if (me) GASNET_BLOCKUNTIL(handled > i);
    if (me == 2) {
      gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
      gex_AM_RequestShort0(tm, 1, H_SHORT, 0);
    }
  }
}
CASE(ok_long) {
  if (me == 1) gex_AM_RequestLong0(tm, 2, H_LONG, v, 8, base[2], GEX_EVENT_NOW, 0);
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);
}
/* A Long that was refused has written nothing. Rank 2 does not poll before. */
CASE(ok_refused_long) {
  enum { TRIES = 1 << 20 };
  if (me == 1) {
    int i = 0;
    while (i < TRIES && !gex_AM_RequestLong0(tm, 2, H_LONG, v, 8, base[2] + 128 + i, GEX_EVENT_NOW,
                                             GEX_FLAG_IMMEDIATE))
      i++;
    gex_RMA_PutBlocking(tm, 2, base[2] + 128 + i, v, 8, 0);
    gex_RMA_PutBlockingVal(tm, 2, base[2], 1, 8, 0);
  }
  while (me == 2 && !*(volatile long *)base[2]) sched_yield();
}
CASE(ok_memset) {
  if (me == 1) gasnet_memset_nbi(0, base[0], 1, 8);
  if (me == 1) gasnet_wait_syncnbi_puts();
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}
CASE(ok_memset_in_region) {
  if (me == 1) {
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0);
    wait_for(gasnet_memset_nb(0, base[0] + 1, 1, 8));
    gex_RMA_PutNBI(tm, 0, base[0] + 2, v, 8, GEX_EVENT_NOW, 0);
    wait_for(gex_NBI_EndAccessRegion(0));
  }
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 24, 0);
}
CASE(ok_gather_all_legacy) {
  static long w[3];
  const int flags = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
  gasnet_coll_gather_all(GASNET_TEAM_ALL, w, v, 8, flags);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}
CASE(ok_all_sync_legacy) {
  static long w, x;
  const int flags = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
  gasnet_coll_broadcast(GASNET_TEAM_ALL, &w, 0, &x, 8, flags);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}
CASE(ok_plan) {
  static long w[3];
  gexx_Coll_Plan_t plan;
  const gexx_Coll_Args_t args = {
      .gexx_kind = GEXX_COLL_ALL_GATHER, .gexx_dst = w, .gexx_src = v, .gexx_nbytes = 8};
  (void)gexx_Coll_Init(&plan, tm, &args, 0);
  for (int i = 0; i < 3; i++) {
    if ((int)me == i) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
    wait_for(gexx_Coll_StartNB(plan, 0));
  }
  gexx_Coll_Free(plan);
}
/* Teams of equal members that ranks use in another order than that of their making. */
CASE(ok_teams) {
  gex_TM_t a, b, c;
  (void)gex_TM_Dup(&a, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Dup(&b, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Destroy(a, NULL, 0);
  (void)gex_TM_Dup(&c, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Event_t e = gex_Coll_BarrierNB(me == 1 ? c : b, 0);
  gex_Event_t f = gex_Coll_BarrierNB(me == 1 ? b : c, 0);
  wait_for(e);
  wait_for(f);
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
  gex_Coll_BarrierBlocking(c, 0);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
  (void)gex_TM_Destroy(b, NULL, 0);
  (void)gex_TM_Destroy(c, NULL, 0);
}
CASE(ok_strided) {
  const ptrdiff_t stride[1] = {16};
  const size_t count[1] = {4};
  if (me == 1) PUT_STRIDED(0);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0] + 1, 8, 0);
}
CASE(ok_strided_nothing) { /* team, rank and addresses are ignored; counts, too, without bytes */
  static const ptrdiff_t stride[2] = {16, 64};
  static const size_t none[2] = {3, 0};
  (void)gex_VIS_StridedPutBlocking(GEX_TM_INVALID, 7, NULL, stride, NULL, stride, 8, none, 2, 0);
  (void)gex_VIS_StridedGetNBI(tm, v, NULL, 0, base[0], NULL, 0, NULL, 2, 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
}
CASE(ok_peer_handler) {
  const ptrdiff_t stride[1] = {16};
  const size_t count[1] = {4};
  if (me == 1) {
    gex_VIS_SetPeerCompletionHandler(H_DONE, v, 8, 0);
    PUT_STRIDED(2);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0);
}
CASE(behind_atomic) {
  gex_AD_t ad;
  uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (me) ADD(ad, 0);
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 2, v, 8, 0); /* race: behind_atomic */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0); /* race: behind_atomic */
  barrier();
  gex_AD_Destroy(ad);
}
CASE(atomic_not_waited) {
  gex_AD_t ad;
  static uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  gex_Event_t e = GEX_EVENT_INVALID;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 1, v, 8, 0); /* its granule is not as all are */
  if (me == 1)
    e = gex_AD_OpNB_U64(ad, &old, 0, base[0], GEX_OP_FADD, 1, 0, 0); /* race: atomic_not_waited */
  barrier();
  if (me == 2) gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0); /* race: atomic_not_waited */
  if (me == 1) wait_for(e);
  barrier();
  gex_AD_Destroy(ad);
}
CASE(put_in_atomic) {
  gex_AD_t ad;
  static uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (me == 1) {
    gex_Event_t e;
    gex_RMA_PutBlocking(tm, 0, base[0] + 1, v, 8, 0);
    e = gex_AD_OpNB_U64(ad, &old, 0, base[0], GEX_OP_FADD, 1, 0, 0); /* race: put_in_atomic */
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);                    /* race: put_in_atomic */
    wait_for(e);
  }
  barrier();
  gex_AD_Destroy(ad);
}
CASE(put_by_bytes) { /* one line, whose bytes are remembered as one access */
  char *const to = (char *)base[0];
  for (int i = 0; me == 1 && i < 8; i++)
    gex_RMA_PutBlocking(tm, 0, to + i, v, 1, 0);        /* race: put_by_bytes */
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, to, 1, 0); /* race: put_by_bytes */
}
CASE(ok_seen_at_once) { /* rank 1 enters nothing more before rank 0 has put */
  volatile long *const over = base[1];
  gex_AD_t ad;
  uint64_t old = 0;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
  if (me) gex_RMA_PutBlocking(tm, 0, base[0] + me, v, 8, 0);
  barrier();
  if (me == 1) {
    for (int i = 0; i < 2; i++) gex_RMA_PutBlocking(tm, 0, base[0] + 8, v, 8, 0);
    ADD(ad, 0);
    while (!*over) sched_yield();
  }
  while (me == 0 && !old) wait_for(gex_AD_OpNB_U64(ad, &old, 0, base[0], GEX_OP_GET, 0, 0, 0));
  if (me == 0) {
    gex_RMA_PutBlocking(tm, 0, base[0] + 8, v, 8, 0);
    (void)gex_RMA_PutBlockingVal(tm, 1, base[1], 1, 8, 0);
  }
  barrier();
  gex_AD_Destroy(ad);
}
CASE(ok_atomic_by_two) { /* what both put is ordered, though neither has heard of the other */
  gex_AD_t ad;
  uint64_t old = 0;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
  for (uint64_t round = 1; round < 20; round++) {
    if (me) {
      gex_RMA_PutBlocking(tm, 0, base[0] + 8 + me, v, 8, 0);
      ADD(ad, 0);
    }
    while (me == 0 && old < 2 * round)
      wait_for(gex_AD_OpNB_U64(ad, &old, 0, (uint64_t *)base[0], GEX_OP_GET, 0, 0, 0));
    if (me == 0) gex_RMA_GetBlocking(tm, v, 0, base[0] + 9, 16, 0);
    barrier();
  }
  gex_AD_Destroy(ad);
}
#define PAST_MOST 65536 /* CHK_PAST_MOST of check/area.h */
static void ping(gex_Rank_t to) {
  (void)gex_AM_RequestShort0(tm, to, H_SHORT, 0);
}
CASE(ok_forgotten_past) { /* rank 0 takes what rank 1 gave so many changes of its clocks ago */
  volatile long *const over = &base[0][32];
  gex_AD_t ad;
  uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (me == 2) {
    gex_RMA_PutBlocking(tm, 0, base[0] + 8, v, 8, 0);
    ping(1);
  }
  if (me == 1) {
    GASNET_BLOCKUNTIL(handled == 1);
    ADD(ad, 0);
  }
  for (int i = 1; me && i < PAST_MOST + 10; i++) {
    if (me == 1) ping(2);
    GASNET_BLOCKUNTIL(handled >= (me == 1 ? i + 1 : i));
    if (me == 2) ping(1);
    if (me == 1) ADD(ad, 1);
  }
  if (me == 1) (void)gex_RMA_PutBlockingVal(tm, 0, (void *)over, 1, 8, 0);
  while (me == 0 && !*over) gasnet_AMPoll(); /* a load that is not seen, and orders nothing */
  if (me == 0) {
    ADD(ad, 0);
    gex_RMA_GetBlocking(tm, v, 0, base[0] + 8, 8, 0);
  }
  gex_AD_Destroy(ad);
}
CASE(ok_atomic) {
  gex_AD_t ad;
  uint64_t old;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  ADD(ad, 0);
  gex_Coll_BarrierBlocking(tm, 0);
  gex_AD_Destroy(ad);
}
CASE(ok_sequence) {
  for (int i = 0; i < 100; i++) {
    gex_RMA_PutBlocking(tm, (me + 1) % 3, base[(me + 1) % 3], v, 512, 0);
    barrier();
    gex_RMA_GetBlocking(tm, v, me, base[me], 512, 0);
    barrier();
  }
}

int main(int argc, char **argv) {
  return run_three(argc, argv);
}
