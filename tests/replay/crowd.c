/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded bugs of jobs of up to RANKS_MAX ranks, one case each, for tests/replay/crowd.py. What a
 * rank has seen depends on the order of the run; it prints that as a hash. The bug shows in some of
 * these orders.
 */
#include "bugs.h"

#include <pthread.h>

static gex_Rank_t ranks(void) {
  return gex_TM_QuerySize(tm);
}

static void append_seen(uint32_t n) {
  came = came * 31 + n + 1;
}

/* A fourth of the orders of this rank show the bug. */
static void end(gex_Rank_t of) {
  printf("rank %u: order %x, %ld\n", me, came, count);
  fflush(stdout);
  verdict(me == of && (came ^ came >> 7) % 4 == 1, "the order");
}

/* Messages of all ranks to one, and their replies. */
CASE(crowd_to_one) {
  enum { EACH = 4 };
  for (int i = 0; i < EACH && me; i++) {
    delay(50);
    gex_AM_RequestShort(tm, 0, H_ITEM, 0, (int)me * EACH + i);
  }
  GASNET_BLOCKUNTIL(count == (me ? EACH : EACH * (long)(ranks() - 1)));
  end(0);
}

/* Messages of all ranks to all, with long replies, taken by polls. */
CASE(crowd_to_all) {
  for (gex_Rank_t i = 1; i < ranks(); i++) {
    delay(20);
    const gex_Rank_t to = (me + i) % ranks();
    if (i % 4)
      gex_AM_RequestShort(tm, to, H_ITEM, 0, (int)me);
    else
      gex_AM_RequestShort(tm, to, H_LONG, 0, (int)me);
  }
  while (count < 2 * (long)(ranks() - 1)) (void)gasnet_AMPoll();
  end(ranks() - 1);
}

/* How often each rank asks whether all have come to a barrier. */
CASE(crowd_tests) {
  for (int i = 0; i < 3; i++) {
    delay(100);
    const gex_Event_t all = gex_Coll_BarrierNB(tm, 0);
    while (gex_Event_Test(all) != GASNET_OK) {
      (void)gasnet_AMPoll();
      count++;
    }
    append_seen((uint32_t)count);
  }
  end(1);
}

/* Ranks draw numbers from a counter. */
CASE(crowd_tickets) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  for (int i = 0; i < 3; i++) {
    delay(50);
    append_seen((uint32_t)atomic(ad, GEX_OP_FADD, 1, 0));
  }
  end(ranks() - 1);
  barrier();
  gex_AD_Destroy(ad);
}

/* A lock made of compare-and-swap; its owners are in a list. */
CASE(crowd_owners) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FCAS, 0);
  barrier();
  delay(60);
  while (atomic(ad, GEX_OP_FCAS, 0, me + 1) != 0) {
    (void)gasnet_AMPoll();
    (void)usleep(20);
  }
  long owners = 0;
  gex_RMA_GetBlocking(tm, &owners, 0, base[0] + 1, sizeof owners, 0);
  owners = owners * 31 + (long)me + 1;
  (void)gex_RMA_PutBlocking(tm, 0, base[0] + 1, &owners, sizeof owners, 0);
  (void)atomic(ad, GEX_OP_FCAS, me + 1, 0);
  barrier();
  if (me == 0) append_seen((uint32_t)(owners = base[0][1]));
  end(0);
  gex_AD_Destroy(ad);
}

static uint64_t *signal_of(gex_Rank_t owner, unsigned index) {
  return (uint64_t *)(void *)&base[owner][64 + index];
}
static void post(gex_Rank_t to, unsigned index) {
  const long v = (long)me;
  (void)gexx_RMA_PutSignalBlocking(tm, to, base[to] + me, &v, sizeof v, GEX_EVENT_NOW,
                                   signal_of(to, index), GEXX_SIG_ADD, 1, 0);
}

/* Each rank serves signals of all others, whichever comes first. */
CASE(crowd_signals) {
  delay(100);
  for (gex_Rank_t i = 1; i < ranks(); i++) post((me + i) % ranks(), me);
  for (gex_Rank_t i = 1; i < ranks(); i++) {
    size_t index = 0;
    (void)gexx_Signal_WaitSome(signal_of(me, 0), ranks(), 8, &index);
    (void)gexx_Signal_Reset(signal_of(me, (unsigned)index));
    append_seen((uint32_t)index);
  }
  end(0);
}

/* Waits for one signal, of all ranks: how many have come. */
CASE(crowd_values) {
  for (int i = 1; i <= 2; i++) {
    delay(50);
    post(0, 0);
    if (me == 0) append_seen((uint32_t)gexx_Signal_Wait(signal_of(0, 0), GEXX_SIG_GE, 3 * i));
  }
  end(0);
}

/* Gets of a flag that the neighbour puts. */
CASE(crowd_flags) {
  const gex_Rank_t next = (me + 1) % ranks(), third = (me + 2) % ranks();
  long flag = 0;
  const long one = 1;
  delay(100);
  (void)gex_RMA_PutBlocking(tm, next, base[next] + 2, &one, sizeof one, 0);
  while (!flag) {
    gex_RMA_GetBlocking(tm, &flag, third, base[third] + 2, sizeof flag, 0);
    count++;
  }
  append_seen((uint32_t)count);
  end(1);
}

/* Posts to a semaphore, and tries to take them. */
CASE(crowd_posts) {
  static gexx_Sem_t sem;
  gexx_Sem_Handle_t *const all = (gexx_Sem_Handle_t *)(void *)base[0];
  gexx_Sem_Handle_t handle;
  if (me == 0) {
    (void)gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_SCONSUMER);
    *all = gexx_Sem_QueryHandle(sem);
  }
  barrier();
  (void)gex_RMA_GetBlocking(tm, &handle, 0, all, sizeof handle, 0);
  delay(60);
  if (me) gexx_Sem_Post(handle);
  for (gex_Rank_t taken = 0; me == 0 && taken < ranks() - 1; count++)
    if (gexx_Sem_Try(sem) == GASNET_OK) {
      taken++;
      append_seen((uint32_t)count);
    }
  end(0);
  barrier();
  if (me == 0) gexx_Sem_Free(sem);
}

/* Two threads of each rank send, and take a lock. */
static gex_HSL_t mutex = GEX_HSL_INITIALIZER;
static void *sends(void *name) {
  for (int i = 0; i < 3; i++) {
    delay(40);
    gex_AM_RequestShort(tm, (me + 1) % ranks(), H_NAME, 0);
    gex_HSL_Lock(&mutex);
    append_seen(*(const char *)name);
    gex_HSL_Unlock(&mutex);
  }
  return NULL;
}
CASE(crowd_threads) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread[i], NULL, sends, i ? "2" : "1") != 0) abort();
  GASNET_BLOCKUNTIL(count == 6);
  for (int i = 0; i < 2; i++) (void)pthread_join(thread[i], NULL);
  end(0);
}

/* Requests that may be refused, to one rank, are repeated: how often. */
CASE(crowd_refused) {
  enum { EACH = 40 };
  static volatile long refused;
  for (int i = 0; i < EACH && me; i++)
    while (gex_AM_RequestShort(tm, 0, H_ADD, GEX_FLAG_IMMEDIATE, i)) {
      refused++;
      (void)gasnet_AMPoll();
    }
  if (me == 0) GASNET_BLOCKUNTIL(count == EACH * (long)(ranks() - 1));
  append_seen((uint32_t)refused);
  end(1);
}
