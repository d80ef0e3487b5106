/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded bugs that depend on the order in which ranks meet, one case each, for
 * tests/replay/bugs.py. A run in which the bug shows prints the order and ends with code 3. Delays
 * are random, so a bug shows in some of many runs.
 */
#include "bugs.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>

/* Additions must precede the scaling, but nothing orders the two senders. */
CASE(message_order) {
  if (me == 1) gex_AM_RequestShort(tm, 0, H_ADD, 0, 5);
  if (me == 2) {
    delay(200);
    gex_AM_RequestShort(tm, 0, H_SCALE, 0, 2);
  }
  if (me == 0) GASNET_BLOCKUNTIL(count == 2);
  verdict(me == 0 && value != 10, "scaled before added");
}

/* A receive from anybody takes the first message for that of rank 1. */
CASE(wildcard) {
  for (int i = 0; i < 4 && me; i++) {
    delay(50);
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
  }
  while (me == 0 && count < 8) (void)gasnet_AMPoll();
  verdict(me == 0 && order[0] == '2' && order[1] == '1' && order[2] == '1', order);
}

/* Messages that come to a thread of rank 0 beside the one that started the job: while that waits
 * for them, too, and while it waits for the thread. */
static atomic_int over;
static void *polls(void *arg) {
  while (!atomic_load(&over)) {
    (void)gasnet_AMPoll();
    (void)usleep(20);
  }
  return arg;
}
static void *waits(void *arg) {
  GASNET_BLOCKUNTIL(count == 16);
  return arg;
}
CASE(threads) {
  pthread_t thread;
  if (me == 0 && pthread_create(&thread, NULL, polls, NULL) != 0) abort();
  for (int i = 0; i < 4; i++) {
    delay(80);
    if (me) gex_AM_RequestShort(tm, 0, H_NAME, 0);
    if (me == 0) GASNET_BLOCKUNTIL(count == 2 * (i + 1));
    barrier();
  }
  atomic_store(&over, 1);
  if (me == 0) pthread_join(thread, NULL);
  barrier();
  if (me == 0 && pthread_create(&thread, NULL, waits, NULL) != 0) abort();
  for (int i = 0; i < 4 && me; i++) {
    delay(50);
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
  }
  if (me == 0) pthread_join(thread, NULL);
  verdict(me == 0 && order[0] == '2' && order[15] == '1', order);
}

/* Threads and locks of C11: the second thread must be the last one. */
static mtx_t mtx;
static cnd_t filled;
static int writes(void *name) {
  for (int i = 0; i < 4; i++) {
    delay(60);
    (void)mtx_lock(&mtx);
    order[count++] = *(const char *)name;
    if (count == 8) (void)cnd_signal(&filled);
    (void)mtx_unlock(&mtx);
  }
  return 0;
}
CASE(c11_threads) {
  thrd_t thread[2];
  if (me == 0 && (mtx_init(&mtx, mtx_plain) | cnd_init(&filled)) != thrd_success) abort();
  for (int i = 0; me == 0 && i < 2; i++)
    if (thrd_create(&thread[i], writes, i ? "2" : "1") != thrd_success) abort();
  if (me) return;
  (void)mtx_lock(&mtx);
  while (count < 8) (void)cnd_wait(&filled, &mtx);
  (void)mtx_unlock(&mtx);
  for (int i = 0; i < 2; i++) (void)thrd_join(thread[i], NULL);
  verdict(order[7] == '1', order);
}

/* A semaphore that lets one thread in: the second one must be the last. */
static sem_t free_;
static void *writes_alone(void *name) {
  for (int i = 0; i < 4; i++) {
    delay(60);
    while (i == 1 && sem_trywait(&free_) != 0)
      if (errno != EAGAIN) abort();
    if (i != 1) (void)sem_wait(&free_);
    order[count++] = *(const char *)name;
    (void)sem_post(&free_);
  }
  return NULL;
}
CASE(posix_semaphore) {
  pthread_t thread[2];
  if (me) return;
  (void)sem_init(&free_, 0, 1);
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread[i], NULL, writes_alone, i ? "2" : "1") != 0) abort();
  for (int i = 0; i < 2; i++) (void)pthread_join(thread[i], NULL);
  verdict(order[7] == '1', order);
}

/* Rank 0 asks once whether all have come, and takes a stale value if they have not. */
CASE(event_test) {
  const gex_Event_t all = gex_Coll_BarrierNB(tm, 0);
  if (me) {
    delay(200);
    (void)gasnet_AMPoll();
  } else {
    delay(100);
    (void)gasnet_AMPoll();
  }
  int late = 0;
  while (gex_Event_Test(all) != GASNET_OK) {
    late++;
    (void)gasnet_AMPoll();
  }
  snprintf(order, sizeof order, "%d tests", late);
  verdict(me == 0 && late % 7 == 3, order);
}

/* Of two events the one of rank 1 must be first, but nothing makes it so. */
CASE(wait_some) {
  gex_TM_t two[2];
  gex_Event_t event[2] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  for (gex_Rank_t r = 0; r < 2; r++)
    (void)gex_TM_Split(&two[r], tm, me == 0 || me == r + 1, (int)me, NULL, 0,
                       GEX_FLAG_TM_NO_SCRATCH);
  barrier();
  delay(me == 2 ? 120 : 60);
  for (gex_Rank_t r = 0; r < 2; r++)
    if (me == 0 || me == r + 1) event[r] = gex_Coll_BarrierNB(two[r], 0);
  gex_Event_WaitSome(event, 2, 0);
  const int wrong = me == 0 && event[0] != GEX_EVENT_INVALID;
  gex_Event_WaitAll(event, 2, 0);
  verdict(wrong, "the second event was first");
}

static uint64_t *signal_of(gex_Rank_t owner, unsigned index) {
  return (uint64_t *)(void *)&base[owner][64 + index];
}
static void post(gex_Rank_t to, unsigned index) {
  long v = (long)me;
  (void)gexx_RMA_PutSignalBlocking(tm, to, base[to] + me, &v, sizeof v, GEX_EVENT_NOW,
                                   signal_of(to, index), GEXX_SIG_ADD, 1, 0);
}

/* Which of several signals is served first. */
CASE(signal_some) {
  if (me) {
    delay(me == 2 ? 120 : 60);
    post(0, me);
  }
  for (int i = 0; me == 0 && i < 2; i++) {
    size_t index = 0;
    (void)gexx_Signal_WaitSome(signal_of(0, 0), 3, 8, &index);
    (void)gexx_Signal_Reset(signal_of(0, (unsigned)index));
    order[i] = (char)('0' + index);
  }
  verdict(me == 0 && order[0] == '2', order);
}

/* A wait for one signal also sees the second, or not. */
CASE(signal_value) {
  if (me) {
    delay(20);
    post(0, 0);
  }
  const uint64_t seen = me ? 0 : gexx_Signal_Wait(signal_of(0, 0), GEXX_SIG_GE, 1);
  verdict(me == 0 && seen == 2, "both signals at once");
}
/* Ranks draw numbers; that of rank 2 must not be the first. */
CASE(atomic_ticket) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_SET, 0);
  barrier();
  delay(me == 2 ? 100 : 50);
  const uint64_t number = atomic(ad, GEX_OP_FADD, 1, 0);
  verdict(me == 2 && number == 0, "rank 2 has drawn number 0");
  barrier();
  gex_AD_Destroy(ad);
}

/* A lock made of compare-and-swap: the last owner writes. */
CASE(lock_order) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_SET, 0);
  barrier();
  delay(60);
  while (atomic(ad, GEX_OP_FCAS, 0, me + 1) != 0) (void)gasnet_AMPoll();
  long owners = 0;
  gex_RMA_GetBlocking(tm, &owners, 0, base[0] + 1, sizeof owners, 0);
  owners = owners * 10 + (long)me + 1;
  (void)gex_RMA_PutBlocking(tm, 0, base[0] + 1, &owners, sizeof owners, 0);
  (void)atomic(ad, GEX_OP_FCAS, me + 1, 0);
  barrier();
  verdict(me == 0 && base[0][1] == 321, "the last rank had the lock first");
  gex_AD_Destroy(ad);
}

/* A get of a flag comes before the put. */
CASE(early_get) {
  long flag = 0, polls = 0;
  const long one = 1;
  delay(80);
  if (me == 1) (void)gex_RMA_PutBlocking(tm, 2, base[2], &one, sizeof one, 0);
  while (me == 0 && !flag) {
    gex_RMA_GetBlocking(tm, &flag, 2, base[2], sizeof flag, 0);
    polls++;
  }
  snprintf(order, sizeof order, "%ld gets", polls);
  verdict(me == 0 && polls % 5 == 2, order);
}

/* A wake-up is lost if the message of rank 2 comes before that of rank 1: rank 0 waits for ever. */
CASE(hang) {
  if (me == 1) gex_AM_RequestShort(tm, 0, H_SCALE, 0, 0); /* sets the value to 0 */
  if (me == 2) {
    delay(200);
    gex_AM_RequestShort(tm, 0, H_ADD, 0, 1);
  }
  if (me == 0) GASNET_BLOCKUNTIL(count == 2);
  if (me == 0) GASNET_BLOCKUNTIL(value == 1);
}

/* Semaphores: the consumer takes what is there, and expects both. */
CASE(sem_try) {
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
  int taken = 0, tries = 0;
  while (me == 0 && taken < 2) {
    taken += gexx_Sem_Try(sem) == GASNET_OK;
    tries++;
  }
  snprintf(order, sizeof order, "%d tries", tries);
  verdict(me == 0 && tries % 5 == 2, order);
  barrier();
  if (me == 0) gexx_Sem_Free(sem);
}
