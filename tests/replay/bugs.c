/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded bugs that depend on the order in which ranks meet, one case each, for
 * tests/replay/bugs.py. Run with 3 ranks; the argument is the case. A run in which the bug shows
 * prints the order and ends with code 3. Delays are random, so a bug shows in some of many runs.
 */
#include <gasnetex.h>

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "../lib/cases.h"
#include "delay.h"

static gex_TM_t tm;
static gex_EP_t ep;
static gex_Client_t client;
static gex_Rank_t me;
static long *base[3]; /* of the segments */

#define A15                                                                                \
 gex_AM_Arg_t a1, gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,      \
     gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10, \
     gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14, gex_AM_Arg_t a15

#define H_ADD   200
#define H_SCALE 201
#define H_NAME  202
#define H_ASK   203
#define H_TELL  204
#define H_ITEM  205
#define H_MANY  206
#define H_BACK  207
#define H_LONG  208
#define H_FULL  209

static volatile long value, count;
static char order[256];

static void on_add(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value += n;
  count++;
}
static void on_scale(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value *= n;
  count++;
}
/* Append the sender to the order. */
static void on_name(gex_Token_t t) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(t, &info, GEX_TI_SRCRANK);
  order[count++] = (char)('0' + info.gex_srcrank);
}

/* Prepare a reply, and send another one. */
static void on_ask(gex_Token_t t, void *buf, size_t nbytes) {
  (void)buf, (void)nbytes;
  gex_AM_CancelReplyMedium(gex_AM_PrepareReplyMedium(t, NULL, 8, 8, NULL, 0, 0), 0);
  gex_AM_ReplyShort(t, H_TELL, 0);
  value++;
}
static void on_tell(gex_Token_t t) {
  (void)t;
  count++;
}

/* Append a number to the order, which is kept as a hash; a request is answered. */
static volatile uint32_t came;
static void append(uint32_t n) {
  came = came * 31 + n;
  count++;
}
static void on_item(gex_Token_t t, gex_AM_Arg_t n) {
  append((uint32_t)n);
  gex_AM_ReplyShort(t, H_BACK, 0, n);
}
static void on_back(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  append((uint32_t)n);
}
static void on_many(gex_Token_t t, gex_AM_Arg_t n, A15) {
  (void)t, (void)(a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15);
  append((uint32_t)n);
}

/* A request is answered by the largest reply, which waits for a buffer. */
static void on_long(gex_Token_t t, gex_AM_Arg_t n) {
  append((uint32_t)n);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(t, NULL, 65536, 65536, NULL, 0, 1);
  memset(gex_AM_SrcDescAddr(sd), n, 65536);
  gex_AM_CommitReplyMedium(sd, H_FULL, 65536, n);
}
static void on_full(gex_Token_t t, void *buf, size_t nbytes, gex_AM_Arg_t n) {
  (void)t;
  append(((const unsigned char *)buf)[nbytes - 1] == (unsigned char)n ? (uint32_t)n : UINT32_MAX);
}

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

/* The bug shows if the condition holds on this rank. */
static int code;
static void verdict(int bug, const char *text) {
  if (!bug) return;
  printf("rank %u: wrong: %s\n", me, text);
  fflush(stdout);
  code = 3;
}

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

static uint64_t atomic(gex_AD_t ad, gex_OP_t op, uint64_t a, uint64_t b) {
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, (uint64_t *)(void *)base[0], op, a, b, 0));
  return old;
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

#define SCRIPTED CASE /* no test of the list: bugs.py runs it in a way of its own */

/* The next cases have bugs that show only under chaos; `chaos_needs` of bugs.py says what each
 * needs. */

/* The message of rank 1 is sent before that of rank 2, which is an answer to a later one of rank 1;
 * a poll may deliver them in another order, but does so only if it is made to. */
static void send_pair(int number) {
  if (me == 1) {
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
    gex_AM_RequestShort(tm, 2, H_NAME, 0);
  }
  while (me == 2 && count < number) (void)gasnet_AMPoll();
  if (me == 2) (void)usleep(8000); /* packets of other hosts are slow */
  if (me == 2) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  while (me == 0 && count < 2 * number) {
    (void)gasnet_AMPoll();
    (void)usleep(2000);
  }
}
SCRIPTED(chaos) {
  send_pair(1);
  verdict(me == 0 && order[0] == '2', order);
}

/* Of several pairs the third one must be in order. */
SCRIPTED(chaos_third) {
  for (int i = 1; i <= 4; i++) {
    send_pair(i);
    barrier();
  }
  verdict(me == 0 && order[4] == '2', order);
}

/* A request that is refused is not repeated. */
SCRIPTED(chaos_lost) {
  for (int i = 0; i < 6; i++) {
    if (me) (void)gex_AM_RequestShort(tm, 0, H_ADD, i == 4 ? GEX_FLAG_IMMEDIATE : 0, 1);
    barrier();
  }
  if (me) gex_AM_RequestShort(tm, 0, H_ITEM, 0, 1);
  while (me == 0 && came != 32) (void)gasnet_AMPoll(); /* two of them */
  verdict(me == 0 && value != 12, "a request was refused");
}

/* The others have passed a barrier, so rank 0 takes a single test for enough. */
static bool is_late(void) {
  const gex_Event_t all = gex_Coll_BarrierNB(tm, 0);
  const long before = count;
  if (me) gex_Event_Wait(all);
  if (me) gex_AM_RequestShort(tm, 0, H_ADD, 0, 1);
  while (me == 0 && count < before + 2) (void)gasnet_AMPoll();
  const bool late = me == 0 && gex_Event_Test(all) != GASNET_OK;
  if (late) gex_Event_Wait(all);
  return late;
}
SCRIPTED(chaos_event) {
  for (int i = 0; i < 3; i++) verdict(is_late() && i == 1, "the barrier is not over");
}
SCRIPTED(chaos_barrier) {
  gasnet_barrier_notify(7, 0);
  if (me) (void)gasnet_barrier_wait(7, 0);
  if (me) gex_AM_RequestShort(tm, 0, H_ADD, 0, 1);
  while (me == 0 && count < 2) (void)gasnet_AMPoll();
  if (me || gasnet_barrier_try(7, 0) == GASNET_OK) return;
  verdict(gasnet_barrier_wait(7, 0) == GASNET_OK, "the barrier is not over");
}

/* A message is overtaken, and a test is late: the bug needs both. */
SCRIPTED(chaos_both) {
  send_pair(1);
  const bool overtaken = order[0] == '2';
  verdict(is_late() && overtaken, "overtaken and late");
}

/* No bug: a test of implicit handles is true where nothing was started since. */
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

/* No bug: messages of a rank to one of another host overtake each other, also one with as many
 * arguments as there can be, and so do their replies. Each rank prints the order. */
SCRIPTED(overtaken) {
  enum { ITEMS = 40 };
  const gex_Rank_t next = (me + 1) % 3;
  for (int i = 0; i < ITEMS; i++) {
    if (i == ITEMS / 2)
      gex_AM_RequestShort(tm, next, H_MANY, 0, i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                          15);
    else
      gex_AM_RequestShort(tm, next, H_ITEM, 0, i);
  }
  GASNET_BLOCKUNTIL(count == 2 * ITEMS - 1);
  printf("rank %u: order %x\n", me, came);
}

/* No bug: calls that may be refused are repeated until they are done. Each rank prints how often.
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

/* No bug: each rank asks the others for more long replies than there are buffers. */
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

/* No bug: a handler that prepares a reply runs where a request waits for its buffer. */
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

/* No bug: a test of a signal or semaphore is true where a wait has seen what it asks for. */
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

/* No bug: a message goes round. With a further argument rank 0 makes another call in between. */
static int changed;
SCRIPTED(ring) {
  if (me == 0) gex_AM_RequestShort(tm, 1, H_NAME, 0);
  if (me == 0 && changed) gex_NBI_Wait(GEX_EC_ALL, 0);
  while (count < 1) (void)gasnet_AMPoll();
  if (me) gex_AM_RequestShort(tm, (me + 1) % 3, H_NAME, 0);
}

/* The next cases have no bug. Delays make the replay differ from the recording, in memory alone. */
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

/* No bug: the job lasts until it is ended. */
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

/* No bug: puts, gets, messages, collectives and atomic operations, whose results depend on the
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

int main(int argc, char **argv) {
  gex_Segment_t segment;
  gex_AM_Entry_t handlers[] = {
      {H_ADD, (gex_AM_Fn_t)on_add, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_SCALE, (gex_AM_Fn_t)on_scale, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_NAME, (gex_AM_Fn_t)on_name, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL},
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {H_TELL, (gex_AM_Fn_t)on_tell, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, NULL, NULL},
      {H_ITEM, (gex_AM_Fn_t)on_item, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_MANY, (gex_AM_Fn_t)on_many, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 16, NULL, NULL},
      {H_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_FULL, (gex_AM_Fn_t)on_full, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 1, NULL, NULL},
      {H_BACK, (gex_AM_Fn_t)on_back, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, NULL}};
  gex_Client_Init(&client, &ep, &tm, "bugs", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, 65536);
  gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  me = gex_TM_QueryRank(tm);
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm) && r < 3; r++) {
    void *at = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &at, NULL, NULL, 0));
    base[r] = at;
  }
  memset(base[me], 0, 65536);
  barrier();
  changed = argc > 2;
  case_run(argc, argv);
  barrier();
  gasnet_exit(code);
}
