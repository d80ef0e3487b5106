/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of the program's own loads and stores, one case each, for tests/check/findings.py:
 * compiled with `tombolo cc --check`. Lines that race end with a comment `race: CASE`, those of
 * correct cases have none. Run with 3 ranks; the argument is the case.
 */
#define BEFORE_ATTACH first_segment
static void first_segment(void);
#include "three_ranks.h"

#include <gasnet_ratomic.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static long w[64];
static volatile long sink;

#define PUT(to, n) gex_RMA_PutBlocking(tm, to, base[to], v, n, 0)

CASE(store_put) {
  if (me == 0) base[0][0] = 1; /* race: store_put */
  if (me == 1) PUT(0, 8);      /* race: store_put */
}
CASE(load_put) {
  if (me == 0) sink = base[0][1]; /* race: load_put */
  if (me == 1) PUT(0, 16);        /* race: load_put */
}
CASE(store_get) {
  if (me == 0) base[0][0]++;                                 /* race: store_get */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: store_get */
}
CASE(byte_put) {
  if (me == 0) ((char *)base[0])[5] = 1;                                 /* race: byte_put */
  if (me == 1) gex_RMA_PutBlocking(tm, 0, (char *)base[0] + 5, v, 1, 0); /* race: byte_put */
}
/* The segment of another rank, as it is mapped here. */
static long *mapped(gex_Rank_t rank) {
  void *owner, *here;
  if (gex_Segment_QueryBound(tm, rank, &owner, &here, NULL) || !here) exit(3);
  return here;
}
CASE(store_there) {
  if (me == 1) mapped(0)[5] = 3;  /* race: store_there */
  if (me == 0) sink = base[0][5]; /* race: store_there */
}
CASE(load_there) {
  if (me == 1) sink = mapped(2)[0]; /* race: load_there */
  if (me == 0) PUT(2, 8);           /* race: load_there */
}
CASE(copy_put) {
  if (me == 0) memcpy(base[0] + 2, v, 64); /* race: copy_put */
  if (me == 1) PUT(0, 32);                 /* race: copy_put */
}
CASE(set_get) {
  if (me == 0) memset(base[0], 0, 4096);                         /* race: set_get */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0] + 9, 8, 0); /* race: set_get */
}
CASE(struct_put) {
  struct big {
    long a[12];
  };
  static struct big one;
  if (me == 0) *(struct big *)base[0] = one; /* race: struct_put */
  if (me == 1) PUT(0, 8);                    /* race: struct_put */
}
CASE(target_before_signal) {
  if (me == 1) PUT_SIGNAL(2); /* race: target_before_signal */
  if (me == 2) {
    sink = base[2][0]; /* race: target_before_signal */
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
  }
}
CASE(source_before_completion) {
  if (me) return;
  gex_Event_t e;
  e = gex_RMA_PutNB(tm, 1, base[1], v, 8, GEX_EVENT_DEFER, 0); /* race: source_before_completion */
  v[0] = 7;                                                    /* race: source_before_completion */
  wait_for(e);
}
CASE(result_before_completion) {
  if (me) return;
  gex_Event_t e;
  e = gex_RMA_GetNB(tm, v, 1, base[1], 8, 0); /* race: result_before_completion */
  sink = v[0];                                /* race: result_before_completion */
  wait_for(e);
}
CASE(fetched_too_early) {
  static uint64_t old;
  gex_AD_t ad;
  gex_Event_t e = GEX_EVENT_INVALID;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_GET, 0);
  if (me == 0) {
    e = gex_AD_OpNB_U64(ad, &old, 1, base[1], GEX_OP_GET, 0, 0, 0); /* race: fetched_too_early */
    sink = (long)old;                                               /* race: fetched_too_early */
  }
  wait_for(e);
  barrier();
  gex_AD_Destroy(ad);
}
CASE(copy_of_result) {
  if (me) return;
  (void)gex_RMA_GetNBI(tm, w, 1, base[1], 128, 0); /* race: copy_of_result */
  memcpy(v, w + 8, 16);                            /* race: copy_of_result */
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
CASE(segment_source) {
  if (me) return;
  gex_Event_t e;
  long *const src = base[0] + 128;
  e = gex_RMA_PutNB(tm, 1, base[1], src, 8, GEX_EVENT_DEFER, 0); /* race: segment_source */
  *src = 3;                                                      /* race: segment_source */
  wait_for(e);
}
CASE(barrier_without_wait) {
  gex_Event_t e = GEX_EVENT_INVALID;
  long *const dst = base[0];
  if (me == 1)
    e = gex_RMA_PutNB(tm, 0, dst, v, 8, GEX_EVENT_NOW, 0); /* race: barrier_without_wait */
  barrier();
  if (me == 0) sink = *dst; /* race: barrier_without_wait */
  wait_for(e);
}
CASE(message_then_store) {
  if (me == 1) {
    gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
    base[1][0] = 1; /* race: message_then_store */
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled);
    gex_RMA_GetBlocking(tm, v, 1, base[1], 8, 0); /* race: message_then_store */
  }
}
CASE(stored_before_message) {
  for (int i = 0; i < 2 && me == 1; i++) {
    base[1][0] = i; /* race: stored_before_message */
    if (i == 0) gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled);
    gex_RMA_GetBlocking(tm, v, 1, base[1], 8, 0); /* race: stored_before_message */
  }
}
static __attribute__((noinline)) void store(long *at, long value) {
  *at = value; /* race: stored_before_put */
}
/* A segment that has ended: a line that stored there is found in the next one, too. */
static void first_segment(void) {
  gex_Segment_t s;
  if (gex_Segment_Create(&s, client, NULL, 65536, GEX_MK_HOST, 0) != GASNET_OK) gasnet_exit(2);
  for (long i = 0; i < 64; i++) store((long *)gex_Segment_QueryAddr(s) + i, i);
  gex_Segment_Destroy(s, 0);
}
CASE(stored_before_put) {
  if (me) return;
  gex_Event_t e;
  long *const src = base[0] + 128;
  store(src, 1);
  e = gex_RMA_PutNB(tm, 1, base[1], src, 8, GEX_EVENT_DEFER, 0); /* race: stored_before_put */
  store(src, 2);
  wait_for(e);
}
CASE(loaded_before_store) {
  if (me == 0) {
    sink = base[0][0];
    base[0][0] = 1; /* race: loaded_before_store */
  }
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: loaded_before_store */
}
/* Vectors, as compilers make them of loops. */
typedef long two_longs __attribute__((vector_size(16), aligned(8), may_alias));
typedef float four_floats __attribute__((vector_size(16), aligned(4), may_alias));
static __attribute__((noinline)) void store_longs(long *at) {
  *(two_longs *)at = (two_longs){1, 1}; /* race: two_pages */
}
static __attribute__((noinline)) void store_floats(char *at) {
  *(four_floats *)(void *)at = (four_floats){1, 1, 1, 1}; /* race: floats_put */
}
CASE(two_pages) {
  for (int i = 0; i < 2; i++) { /* the line is known the second time */
    barrier();
    if (me == 0) store_longs(base[0] + 511);
  }
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 512, v, 8, 0); /* race: two_pages */
}
CASE(ok_two_pages) {
  for (int i = 0; i < 2; i++) {
    if (me == 0) store_longs(base[0] + 511);
    barrier();
  }
  if (me == 0) base[0][600] = 1;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 512, v, 8, 0);
}
CASE(floats_put) {
  char *const at = (char *)base[0] + 12;
  for (int i = 0; i < 2; i++) {
    barrier();
    if (me == 0) store_floats(at);
  }
  if (me == 1) gex_RMA_PutBlocking(tm, 0, at + 12, v, 1, 0); /* race: floats_put */
}
CASE(ok_floats_put) {
  char *const at = (char *)base[0] + 12;
  if (me == 0) store_floats(at);
  if (me == 1) gex_RMA_PutBlocking(tm, 0, at + 16, v, 1, 0);
  if (me == 2) gex_RMA_PutBlocking(tm, 0, at - 4, v, 4, 0);
}
CASE(other_bytes_before) {
  char *const bytes = (char *)base[0];
  if (me == 0) {
    for (int i = 0; i < 7; i++) bytes[i] = 1;
    bytes[7] = 1; /* race: other_bytes_before */
  }
  if (me == 1) gex_RMA_PutBlocking(tm, 0, bytes + 7, v, 1, 0); /* race: other_bytes_before */
}
/* Lines that go through memory in order are entered later than they run. */
CASE(stored_in_order) {
  long *const to = base[0] + 128;
  if (me == 0)
    for (int i = 0; i < 600; i++) to[i] = i;                         /* race: stored_in_order */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0] + 500, 512, 0); /* race: stored_in_order */
}
CASE(loaded_in_order) {
  const long *const from = base[0] + 128;
  if (me == 0)
    for (int i = 0; i < 2000; i++) sink = from[i];                  /* race: loaded_in_order */
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 2001, v, 8, 0); /* race: loaded_in_order */
}
CASE(ints_in_order) {
  int *const to = (int *)base[0] + 256;
  if (me == 0)
    for (int i = 1; i < 600; i++) to[i] = i;                 /* race: ints_in_order */
  if (me == 1) gex_RMA_PutBlocking(tm, 0, to + 77, v, 4, 0); /* race: ints_in_order */
}
static __attribute__((noinline)) void fill(long *to, long value) {
  for (int i = 0; i < 600; i++) to[i] = value; /* race: in_order_put */
}
CASE(in_order_put) {
  if (me) return;
  gex_Event_t e;
  long *const src = base[0] + 128;
  fill(src, 1);
  e = gex_RMA_PutNB(tm, 1, base[1], src + 555, 8, GEX_EVENT_DEFER, 0); /* race: in_order_put */
  fill(src, 2);
  wait_for(e);
}
CASE(in_order_after_message) {
  if (me == 1) {
    fill(base[1] + 128, 1);
    gex_AM_RequestShort0(tm, 2, H_SHORT, 0);
    for (int i = 0; i < 600; i++) base[1][128 + i]++; /* race: in_order_after_message */
  }
  if (me == 2) {
    GASNET_BLOCKUNTIL(handled);
    gex_RMA_GetBlocking(tm, v, 1, base[1] + 700, 8, 0); /* race: in_order_after_message */
  }
}
static void *fill_in_thread(void *to) {
  for (int i = 0; i < 600; i++) ((long *)to)[i] = i; /* race: in_order_by_thread */
  return NULL;
}
CASE(in_order_by_thread) {
  pthread_t t;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 600, v, 8, 0); /* race: in_order_by_thread */
  if (me == 0 && pthread_create(&t, NULL, fill_in_thread, base[0] + 128) == 0)
    pthread_join(t, NULL);
}
CASE(other_half_before) {
  int *const half = (int *)base[0];
  if (me == 0) {
    half[0] = 1;
    half[1] = 1; /* race: other_half_before */
    half[0] = 2;
  }
  if (me == 1) gex_RMA_PutBlocking(tm, 0, half + 1, v, 4, 0); /* race: other_half_before */
}
CASE(stored_at_random) {
  long *const to = base[0] + 128;
  if (me == 0)
    for (int i = 0; i < 600; i++) to[i * 77 % 601] = i;            /* race: stored_at_random */
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0] + 500, 8, 0); /* race: stored_at_random */
}
CASE(descending_bytes) {
  char *const to = (char *)(base[0] + 128);
  if (me == 0)
    for (int i = 99; i > 0; i--) to[i] = 1;                 /* race: descending_bytes */
  if (me == 1) gex_RMA_PutBlocking(tm, 0, to + 1, v, 1, 0); /* race: descending_bytes */
}
CASE(atomic_put) {
  if (me == 0) atomic_fetch_add((_Atomic long *)base[0], 1); /* race: atomic_put */
  if (me == 1) PUT(0, 8);                                    /* race: atomic_put */
}

/* ---- correct: nothing may be found */

CASE(ok_loop) {
  for (int i = 0; i < 20; i++) {
    for (int k = 0; k < 512; k++) base[me][k + 128] += k;
    barrier();
    gex_RMA_GetBlocking(tm, v, (me + 1) % 3, base[(me + 1) % 3] + 128, 512, 0);
    barrier();
    gex_RMA_PutBlocking(tm, (me + 1) % 3, base[(me + 1) % 3] + 128, v, 512, 0);
    barrier();
  }
}
CASE(ok_bytes) {
  if (me == 0) ((char *)base[0])[0] = 1;
  if (me) gex_RMA_PutBlocking(tm, 0, (char *)base[0] + me, v, 1, 0);
}
CASE(ok_beside_descending) {
  char *const to = (char *)(base[0] + 128);
  for (int i = 99; i > 2 && me == 0; i--) to[i] = 1;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, to, v, 3, 0);
}
CASE(ok_in_order) {
  long *const mine = base[me] + 128;
  for (int k = 0; k < 5 && me == 0; k++) {
    for (int i = 0; i < 600; i++) mine[i] += k;
    gex_RMA_PutBlocking(tm, 1, base[1], mine + 555, 8, 0);
    for (int i = 0; i < 600; i++) mine[i] += k;
    gex_Event_t e = gex_RMA_PutNB(tm, 1, base[1], mine + 20, 8, GEX_EVENT_DEFER, 0);
    for (int i = 21; i < 600; i++) mine[i] += k; /* behind its source */
    wait_for(e);
  }
  if (me == 0) PUT_SIGNAL(2);
  if (me == 2) {
    for (int i = 0; i < 600; i++) mine[i] = i;
    gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
    gex_RMA_GetBlocking(tm, v, 0, base[0] + 200, 512, 0);
  }
}
/* A thread stores, and another one of its rank gives to the other ranks, and stores on. */
static sem_t turn[2];
static void *fill_in_turns(void *arg) {
  long *to = arg;
  for (int k = 0; k < 20; k++) {
    for (int i = 0; i < 64; i++) *to++ = i;
    sem_post(&turn[0]);
    sem_wait(&turn[1]);
  }
  return NULL;
}
CASE(ok_in_order_by_thread) {
  pthread_t t;
  if (me == 1) sem_init(&turn[0], 0, 0), sem_init(&turn[1], 0, 0);
  if (me == 1 && pthread_create(&t, NULL, fill_in_turns, base[1] + 128) != 0) return;
  for (int k = 0; k < 20; k++) {
    if (me == 1) sem_wait(&turn[0]);
    barrier();
    if (me == 1) sem_post(&turn[1]);
    if (me == 2) gex_RMA_GetBlocking(tm, v, 1, base[1] + 128 + 64 * k, 512, 0);
  }
  if (me == 1) pthread_join(t, NULL);
}
CASE(ok_source_is_target) {
  if (me) return;
  wait_for(gex_RMA_PutNB(tm, 0, base[0], base[0], 8, GEX_EVENT_DEFER, 0));
  wait_for(gex_RMA_GetNB(tm, base[0], 0, base[0], 8, 0));
}
CASE(ok_signal) {
  if (me == 1) PUT_SIGNAL(2);
  if (me != 2) return;
  gexx_Signal_Wait(sig(2), GEXX_SIG_GE, 1);
  sink = base[2][0];
  base[2][0] = 5;
}
CASE(ok_long) {
  if (me == 1) gex_AM_RequestLong0(tm, 2, H_LONG, v, 8, base[2], GEX_EVENT_NOW, 0);
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  sink = base[2][0];
}
CASE(ok_source) {
  if (me) return;
  gex_Event_t e = gex_RMA_PutNB(tm, 1, base[1], v, 8, GEX_EVENT_NOW, 0);
  v[0] = 7;
  wait_for(e);
  gex_Event_t lc;
  e = gex_RMA_PutNB(tm, 1, base[1], v, 8, &lc, 0);
  wait_for(lc);
  v[0] = 8;
  wait_for(e);
  e = gex_RMA_GetNB(tm, v + 8, 1, base[1], 8, 0);
  sink = v[0];
  v[16] = 2;
  wait_for(e);
  sink = v[8];
}
CASE(ok_broadcast) {
  if (me == 0) base[0][0] = 4;
  wait_for(gex_Coll_BroadcastNB(tm, 0, base[me], base[0], 8, 0));
  sink = base[me][0];
}
CASE(ok_fetched) {
  uint64_t old = 0;
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  for (int i = 0; i < 3; i++) {
    wait_for(gex_AD_OpNB_U64(ad, &old, 1, base[1], GEX_OP_FADD, 1, 0, 0));
    sink = (long)old;
    old = 0;
    (void)gex_AD_OpNBI_U64(ad, &old, 1, base[1], GEX_OP_FADD, 1, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    sink = (long)old;
  }
  barrier();
  gex_AD_Destroy(ad);
}
CASE(ok_four) { /* of words that lie together, each rank its own */
  for (int i = 0; i < 4 && !me; i++) base[0][i] = i;
  if (me == 1) gex_RMA_PutBlocking(tm, 0, base[0] + 4, v, 64, 0);
}
CASE(ok_there) {
  atomic_long *const flag = (atomic_long *)((me ? mapped(0) : base[0]) + 20);
  if (me == 1) {
    mapped(0)[3] = 4;
    atomic_store(flag, 1);
  }
  if (me == 0) {
    while (!atomic_load(flag)) continue;
    sink = base[0][3];
  }
}
CASE(ok_atomic) {
  atomic_fetch_add((_Atomic long *)base[me], 1);
  barrier();
  if (me == 1) PUT(0, 8);
}

int main(int argc, char **argv) {
  return run_three(argc, argv);
}
