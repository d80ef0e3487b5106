/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs without a bug, for tests/replay/bugs.py. What some print depends on the order of the
 * run; others must end well under chaos, or in a replay whose memory changes at another time.
 */
#include "bugs.h"

#include <pthread.h>
#include <signal.h>

/* A test of implicit handles is true where nothing was started since. */
SCRIPTED(nothing_started) {
  long it = me;
  for (int i = 0; i < 100 && !code; i++) {
    verdict(gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK, "nothing was started");
    (void)gex_RMA_PutNBI(tm, (me + 1) % 3, base[(me + 1) % 3] + me, &it, sizeof it, GEX_EVENT_NOW,
                         0);
    verdict(gex_NBI_Test(GEX_EC_GET, 0) != GASNET_OK, "no get was started");
    if (i % 2) gex_NBI_Wait(GEX_EC_PUT, 0);
    while (gex_NBI_Test(GEX_EC_PUT, 0) != GASNET_OK) continue;
    gex_NBI_BeginAccessRegion(0);
    (void)gex_RMA_GetNBI(tm, &it, me, base[me] + me, sizeof it, 0);
    const gex_Event_t region = gex_NBI_EndAccessRegion(0);
    verdict(gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK, "the region's get is its event's");
    gex_Event_Wait(region);
  }
}

/* Messages of a rank to one of another host overtake each other, and so do their replies. Half of
 * them have as many arguments as there can be; of these one half are Longs, and one Long is sent in
 * several parts. Each rank prints the order. */
SCRIPTED(overtaken) {
  enum { ITEMS = 40, LONG_BYTES = 150000 };
  static char data[LONG_BYTES];
  const gex_Rank_t next = (me + 1) % 3;
  for (int i = 0; i < ITEMS; i++) {
    const bool many_parts = i == ITEMS / 2 + 2;
    if (i % 4 == 1)
      gex_AM_RequestShort(tm, next, H_MANY, 0, i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                          15);
    else if (i % 4 == 2)
      gex_AM_RequestLong(tm, next, H_PLACE, memset(data, i, sizeof data),
                         many_parts ? sizeof data : 8,
                         (char *)base[next] + (many_parts ? 0 : LONG_BYTES + 8 * i), GEX_EVENT_NOW,
                         0, i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    else
      gex_AM_RequestShort(tm, next, H_ITEM, 0, i);
  }
  GASNET_BLOCKUNTIL(count == ITEMS + ITEMS / 2);
  printf("rank %u: order %x\n", me, came);
}

/* Calls that may be refused are repeated until they are done. Each rank prints how often.
 */
static gex_AM_SrcDesc_t prepare_now(gex_Rank_t to, int *refused) {
  gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
  while ((sd = gex_AM_PrepareRequestMedium(tm, to, NULL, 64, 64, NULL, GEX_FLAG_IMMEDIATE, 0)) ==
         GEX_AM_SRCDESC_NO_OP) {
    ++*refused;
    (void)gasnet_AMPoll();
  }
  return sd;
}
SCRIPTED(refused_calls) {
  enum { ITEMS = 200 };
  const gex_Rank_t next = (me + 1) % 3;
  int refused[4] = {0};
  const long one = 1;
  for (int i = 0; i < ITEMS; i++) {
    if (i % 50 == 0) delay(100);
    while (gex_AM_RequestShort(tm, next, H_ITEM, GEX_FLAG_IMMEDIATE, i)) {
      refused[0]++;
      (void)gasnet_AMPoll();
    }
    if (i % 10) continue;
    gex_AM_SrcDesc_t sd = prepare_now(next, &refused[1]);
    memset(gex_AM_SrcDescAddr(sd), i, 64);
    while (gex_AM_CommitRequestMedium_v2(sd, H_ASK, 64, GEX_FLAG_IMMEDIATE)) refused[2]++;
    while (gex_RMA_PutNBI(tm, next, base[next] + me, &one, sizeof one, GEX_EVENT_NOW,
                          GEX_FLAG_IMMEDIATE)) {
      refused[3]++;
      (void)gasnet_AMPoll();
    }
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  GASNET_BLOCKUNTIL(count == 2 * ITEMS + ITEMS / 10);
  printf("rank %u: refused %d %d %d %d, order %x\n", me, refused[0], refused[1], refused[2],
         refused[3], came);
}

/* The same, of strided and tagged transfers. */
SCRIPTED(refused_transfers) {
  enum { ITEMS = 200 };
  const gex_Rank_t next = (me + 1) % 3;
  int refused[3] = {0};
  const ptrdiff_t stride = 24;
  const size_t three = 3;
  const long one = 1;
  void *const from[] = {base[me] + 1, base[me] + 3, base[me] + 5};
  void *const to[] = {base[next] + 11, base[next] + 13, base[next] + 15};
  gexx_Notify_t all;
  gexx_Notify_Init(tm, GEXX_NOTIFY_ANY_SOURCE, 5, ITEMS, &all);
  gexx_Notify_Start(all);
  for (int i = 0; i < ITEMS; i++) {
    if (i % 50 == 0) delay(100);
    while (gex_VIS_IndexedPutNBI(tm, next, 3, to, 8, 3, from, 8, GEX_FLAG_IMMEDIATE)) {
      refused[0]++;
      (void)gasnet_AMPoll();
    }
    gex_Event_t got;
    while ((got = gex_VIS_StridedGetNB(tm, base[me] + 20, &stride, next, base[next] + 40, &stride,
                                       8, &three, 1, GEX_FLAG_IMMEDIATE)) == GEX_EVENT_NO_OP) {
      refused[1]++;
      (void)gasnet_AMPoll();
    }
    while (gexx_RMA_PutNotifyNBI(tm, next, base[next] + 60, &one, sizeof one, GEX_EVENT_NOW, 5,
                                 GEX_FLAG_IMMEDIATE)) {
      refused[2]++;
      (void)gasnet_AMPoll();
    }
    gex_Event_Wait(got);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gexx_Notify_Wait(all, NULL);
  gexx_Notify_Free(all);
  printf("rank %u: refused %d %d %d\n", me, refused[0], refused[1], refused[2]);
}

/* Each rank asks the others for more long replies than there are buffers. */
SCRIPTED(flood) {
  enum { ITEMS = 60 };
  delay(300);
  for (int i = 0; i < ITEMS; i++) {
    gex_AM_RequestShort(tm, (me + 1) % 3, H_LONG, 0, i);
    gex_AM_RequestShort(tm, (me + 2) % 3, H_LONG, 0, i);
    if (i % 20 == 0) delay(50);
  }
  GASNET_BLOCKUNTIL(count == 4 * ITEMS);
  printf("rank %u: order %x\n", me, came);
}

/* A handler that prepares a reply runs where a request waits for its buffer. */
SCRIPTED(prepared) {
  enum { ROUNDS = 40, ASK_BYTES = 30000 };
  for (int i = 1; i <= ROUNDS; i++) {
    delay(300);
    for (gex_Rank_t r = 0; r < 3; r++) {
      gex_AM_SrcDesc_t sd =
          gex_AM_PrepareRequestMedium(tm, r, NULL, ASK_BYTES, ASK_BYTES, NULL, 0, 0);
      memset(gex_AM_SrcDescAddr(sd), i, ASK_BYTES);
      gex_AM_CommitRequestMedium(sd, H_ASK, ASK_BYTES);
    }
  }
  while (value < 3 * ROUNDS || count < 3 * ROUNDS) (void)gasnet_AMPoll();
}

/* A test of a signal or semaphore is true where a wait has seen what it asks for. */
SCRIPTED(signals_seen) {
  uint64_t *const sig = (uint64_t *)(void *)base[me];
  gexx_Sem_t sem;
  verdict(gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER),
          "alloc");
  for (uint64_t i = 1; i < 50; i++) {
    (void)gexx_RMA_PutSignalBlocking(tm, (me + 1) % 3, NULL, NULL, 0, GEX_EVENT_NOW,
                                     (uint64_t *)(void *)base[(me + 1) % 3], GEXX_SIG_SET, i, 0);
    (void)gexx_Signal_Wait(sig, GEXX_SIG_GE, i);
    verdict(gexx_Signal_Test(sig, GEXX_SIG_GE, i) != GASNET_OK, "the signal was seen");
    gexx_Sem_PostN(gexx_Sem_QueryHandle(sem), 3);
    gexx_Sem_Wait(sem);
    verdict(gexx_Sem_Try(sem) != GASNET_OK || gexx_Sem_TryN(sem, 1) != GASNET_OK, "3 were posted");
    barrier();
  }
  verdict(gexx_Signal_TryConsume(sig, 49) != GASNET_OK, "the signal is 49");
  gexx_Sem_Free(sem);
}

/* A message goes round. With a further argument rank 0 makes another call in between. */
SCRIPTED(ring) {
  if (me == 0) gex_AM_RequestShort(tm, 1, H_NAME, 0);
  if (me == 0 && changed) gex_NBI_Wait(GEX_EC_ALL, 0);
  while (count < 1) (void)gasnet_AMPoll();
  if (me) gex_AM_RequestShort(tm, (me + 1) % 3, H_NAME, 0);
}

/* In the next cases delays make the replay differ from the recording, in memory alone. */
static int replayed(void) {
  return getenv("TOMBOLO_REPLAY") != NULL;
}
/* Wait in a recording, and in a replay, for so many milliseconds. */
static void pause_for(unsigned recorded_ms, unsigned replayed_ms) {
  (void)usleep(1000 * (replayed() ? replayed_ms : recorded_ms));
}
static void put_flag(void) {
  const long one = 1;
  (void)gex_RMA_PutBlocking(tm, 0, base[0], &one, sizeof one, 0);
}
#define FLAG (*(volatile long *)base[0])

/* A message comes in the first loop; in the replay that makes no step. */
SCRIPTED(memory_no_step) {
  if (me == 1) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  pause_for(me == 1 ? 20 : 0, me == 0 ? 50 : 0);
  if (me == 1) put_flag();
  if (me) return;
  GASNET_BLOCKUNTIL(FLAG);
  GASNET_BLOCKUNTIL(count == 1);
}

/* A message comes in a loop of polls, which is over sooner in the replay. */
SCRIPTED(memory_few_polls) {
  pause_for(me == 1 ? 10 : 0, me == 0 ? 50 : 0);
  if (me == 1) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  pause_for(me == 1 ? 20 : 0, 0);
  if (me == 1) put_flag();
  if (me) return;
  do (void)gasnet_AMPoll();
  while (!FLAG);
  GASNET_BLOCKUNTIL(count == 1);
}

/* A message comes in the second loop. In the replay the first one makes steps, too, and the message
 * is there, but must wait. */
SCRIPTED(memory_more_steps) {
  pause_for(me == 1 ? 30 : 0, me == 2 ? 150 : 0);
  if (me == 1) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  if (me == 2) put_flag();
  pause_for(me ? 0 : 10, 0);
  if (me) return;
  GASNET_BLOCKUNTIL(FLAG);
  printf("%ld messages\n", (long)count);
  GASNET_BLOCKUNTIL(count == 1);
}

/* A word has a value for a while; in the replay it is as before when it is read. */
SCRIPTED(memory_as_before) {
  long first, second;
  pause_for(me == 1 ? 10 : 0, 0);
  if (me == 1) *(volatile long *)base[1] = 5;
  pause_for(me == 1 ? 40 : 0, 0);
  if (me == 1) *(volatile long *)base[1] = 0;
  if (me) return;
  pause_for(0, 20);
  gex_RMA_GetBlocking(tm, &first, 1, base[1], sizeof first, 0);
  pause_for(30, 0);
  gex_RMA_GetBlocking(tm, &second, 1, base[1], sizeof second, 0);
  printf("%ld, then %ld\n", first, second);
}

/* The job lasts until it is ended. */
SCRIPTED(lasts) {
  GASNET_BLOCKUNTIL(count > 0);
}

/* A debugger stops here. */
static volatile int stops;
__attribute__((noinline)) static void checkpoint(int step) {
  stops = step + 1;
}

/* Put the numbers of a step to both neighbours, and send them a message. */
static void give(long number, int step) {
  long many[16];
  for (int i = 0; i < 16; i++) many[i] = number;
  for (gex_Rank_t r = (me + 1) % 3; r != me; r = (r + 1) % 3) {
    (void)gex_RMA_PutBlocking(tm, r, base[r] + 128 + 16 * me, many, sizeof many, 0);
    (void)gex_RMA_PutBlocking(tm, r, base[r] + 8 + me, &number, sizeof number, 0);
    gex_AM_RequestShort(tm, r, H_NAME, 0);
  }
  GASNET_BLOCKUNTIL(count == 2 * (step + 1));
}

/* Puts, gets, messages, collectives and atomic operations, whose results depend on the
 * order. Each rank prints its own; a debugger stops one at each step. */
SCRIPTED(everything) {
  gex_AD_t ad;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  const gex_Rank_t next = (me + 1) % 3;
  char text[256] = "";
  size_t at = 0;
  barrier();
  for (int step = 0; step < 4; step++) {
    delay(60);
    const long number = (long)atomic(ad, GEX_OP_FADD, 1, 0);
    checkpoint(step);
    give(number, step);
    long looks = 0, sum = 0, there = -1, many[16], mixed = number * (long)me;
    do { /* what this rank has put there may be late, or another rank's */
      gex_RMA_GetBlocking(tm, &there, next, base[next] + 8 + (me + 2) % 3, sizeof there, 0);
      looks++;
    } while (there < 3 * step);
    barrier();
    gex_RMA_GetBlocking(tm, many, next, base[next] + 128 + 16 * me, sizeof many, 0);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &mixed, GEX_DT_I64, sizeof sum, 1, GEX_OP_ADD,
                                          NULL, NULL, 0));
    at += (size_t)snprintf(text + at, sizeof text - at, " %ld %ld %ld %ld", number, looks, sum,
                           many[15]);
    barrier();
  }
  printf("rank %u: %d %s%s\n", me, stops, order, text);
  fflush(stdout);
  gex_AD_Destroy(ad);
}

/* More events than a group of the file holds, and fewer in a second thread. With a further argument
 * rank 1 is killed behind them. */
static long add(gex_AD_t ad, int times) {
  uint64_t old = 0;
  for (int i = 0; i < times; i++)
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, me, base[me], GEX_OP_FADD, 1, 0, 0));
  return (long)old;
}
static void *add_some(void *ad) {
  (void)add(*(gex_AD_t *)ad, 5000);
  return NULL;
}
SCRIPTED(many_events) {
  gex_AD_t ad;
  pthread_t thread;
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  barrier();
  if (pthread_create(&thread, NULL, add_some, &ad) == 0) (void)pthread_join(thread, NULL);
  printf("rank %u: %ld\n", me, add(ad, 70000));
  fflush(stdout);
  barrier(); /* all have printed */
  if (changed && me == 1) (void)raise(SIGKILL);
  barrier();
  gex_AD_Destroy(ad);
}
