/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* cases: join_first init_first */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_CONDUIT=loop+TOMBOLO_PLACES=cyclic:2 */
/*
 * gexx_Client_Join: several clients of one process, each with handlers, a segment, collectives,
 * semaphores and atomics of its own, that do not meet; gex_Client_Init once beside them, in either
 * order; what is refused.
 */
#include "check.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <string.h>

enum { CLIENTS = 3, HANDLER = 200, PAGES = 4, DATA = 64, COUNTER = 256 };

static struct client {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  char *base, *theirs; /* of the next rank, there */
  volatile int seen;
  int rounds;
} c[CLIENTS];
static gex_Rank_t rank, size, next;

/* The same handler number in each client. */
static void on_0(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  c[0].seen += a;
}
static void on_1(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  c[1].seen += a;
}
static void on_2(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  c[2].seen += a;
}
static void (*const handler[CLIENTS])(gex_Token_t, gex_AM_Arg_t) = {on_0, on_1, on_2};

static void barrier(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static int start(int i, int join, gex_Flags_t flags, int *argc, char ***argv) {
  static const char *const name[CLIENTS] = {"FIRST", "SECOND", "THIRD"};
  struct client *k = &c[i];
  return join ? gexx_Client_Join(&k->client, &k->ep, &k->tm, name[i], argc, argv, flags)
              : gex_Client_Init(&k->client, &k->ep, &k->tm, name[i], argc, argv, flags);
}

static void set_up(int i) {
  struct client *k = &c[i];
  CHECK_EQ(gex_TM_QueryRank(k->tm), gex_System_QueryJobRank());
  CHECK_EQ(gex_TM_QuerySize(k->tm), gex_System_QueryJobSize());
  CHECK_PTR(gex_TM_QueryClient(k->tm), k->client);
  CHECK_PTR(gex_TM_QueryEP(k->tm), k->ep);
  CHECK_PTR(gex_EP_QueryClient(k->ep), k->client);
  CHECK_EQ(gex_EP_QueryIndex(k->ep), i);
  CHECK_PTR(gex_EP_QuerySegment(k->ep), GEX_SEGMENT_INVALID);
  gex_AM_Entry_t entry = {
      HANDLER, (gex_AM_Fn_t)handler[i], GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL};
  CHECK_EQ(gex_EP_RegisterHandlers(k->ep, &entry, 1), GASNET_OK);
  const uintptr_t bytes = (uintptr_t)(PAGES + i) * GASNET_PAGESIZE;
  REQUIRE(gex_Segment_Attach(&k->segment, k->tm, bytes) == GASNET_OK);
  CHECK_EQ(gex_Segment_QuerySize(k->segment), bytes);
  CHECK_PTR(gex_Segment_QueryClient(k->segment), k->client);
  k->base = gex_Segment_QueryAddr(k->segment);
  for (uintptr_t b = 0; b < bytes; b += 512) CHECK_EQ(k->base[b], 0);
  gex_Segment_t again = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_Segment_Attach(&again, k->tm, bytes), GASNET_ERR_BAD_ARG);
  void *owner = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(k->tm, next, &owner, NULL, NULL, 0));
  k->theirs = owner;
}

static void transfer(int i) {
  struct client *k = &c[i];
  uint64_t value = 1000 * (uint64_t)i + rank, got = 0;
  gex_RMA_PutBlocking(k->tm, next, k->theirs + DATA, &value, sizeof value, 0);
  barrier(k->tm);
  memcpy(&got, k->base + DATA, sizeof got);
  CHECK_EQ(got, 1000 * i + (int)((rank + size - 1) % size));
  gex_RMA_GetBlocking(k->tm, &got, next, k->theirs + DATA, sizeof got, 0);
  CHECK_EQ(got, value);
  gex_AM_RequestShort1(k->tm, next, HANDLER, 0, 10 + i);
  GASNET_BLOCKUNTIL(k->seen == 10 + i);
  uint32_t sum = 0, one = rank + 1;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(k->tm, &sum, &one, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
  CHECK_EQ(sum, size * (size + 1) / 2);
  gex_AD_t ad;
  gex_AD_Create(&ad, k->tm, GEX_DT_U64, GEX_OP_ADD, 0);
  gex_Event_Wait(
      gex_AD_OpNB_U64(ad, NULL, next, k->theirs + COUNTER, GEX_OP_ADD, 5, 0, GEX_FLAG_AD_REL));
  barrier(k->tm);
  memcpy(&got, k->base + COUNTER, sizeof got);
  CHECK_EQ(got, 5 * ++k->rounds);
  gex_AD_Destroy(ad);
}

/* Data that arrive with a post, in the segment of each client. */
static void post_data(int i) {
  struct client *k = &c[i];
  gexx_Sem_t sem;
  REQUIRE(gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER) ==
          GASNET_OK);
  const gexx_Sem_Handle_t mine = gexx_Sem_QueryHandle(sem);
  gexx_Sem_Handle_t all[64];
  gex_Event_Wait(gexx_Coll_AllGatherNB(k->tm, all, &mine, sizeof mine, 0));
  uint64_t value = 77 + (uint64_t)i + rank, got = 0;
  gexx_Sem_PutSignal(all[next], k->theirs + 2 * DATA, &value, sizeof value, 1);
  gexx_Sem_Wait(sem);
  memcpy(&got, k->base + 2 * DATA, sizeof got);
  CHECK_EQ(got, 77 + i + (int)((rank + size - 1) % size));
  barrier(k->tm); /* a network may let the second post overtake the first, with its data */
  value++;
  gexx_Sem_PutSignalAsync(all[next], k->theirs + 3 * DATA, &value, sizeof value, 1);
  gexx_Sem_Wait(sem);
  memcpy(&got, k->base + 3 * DATA, sizeof got);
  CHECK_EQ(got, 78 + i + (int)((rank + size - 1) % size));
  barrier(k->tm);
  gexx_Sem_Free(sem);
}

/* A part of a client's team belongs to that client. */
static void split(int i) {
  struct client *k = &c[i];
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, k->tm, (int)rank % 2, (int)rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK_PTR(gex_TM_QueryClient(half), k->client);
  CHECK_EQ(gex_TM_QuerySize(half), (size + 1 - rank % 2) / 2);
  barrier(half);
  gex_TM_Destroy(half, NULL, 0);
}

int main(int argc, char **argv) {
  const int join_first = argc < 2 || !strcmp(argv[1], "join_first");
  REQUIRE(start(0, join_first, 0, &argc, &argv) == GASNET_OK);
  rank = gex_System_QueryJobRank();
  size = gex_System_QueryJobSize();
  next = (rank + 1) % size;
  check_set_rank(rank);
  CHECK_EQ(start(1, 1, GEX_FLAG_USES_GASNET1, NULL, NULL), GASNET_ERR_NOT_INIT);
  if (join_first) CHECK_EQ(start(1, 0, GEX_FLAG_USES_GASNET1, NULL, NULL), GASNET_ERR_NOT_INIT);
  CHECK_CMP(gexx_Client_Count(), >=, 1);
  set_up(0);
  REQUIRE(start(1, 1, 0, NULL, NULL) == GASNET_OK);
  REQUIRE(start(2, !join_first, 0, NULL, NULL) == GASNET_OK);
  CHECK_EQ(start(0, 0, 0, NULL, NULL), GASNET_ERR_NOT_INIT); /* gex_Client_Init came already */
  CHECK_CMP(gexx_Client_Count(), >=, CLIENTS);
  set_up(2);
  set_up(1);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < CLIENTS; i++) {
      c[i].seen = 0;
      barrier(c[(i + 1) % CLIENTS].tm);
      transfer(i);
      post_data(i);
      split(i);
    }
  for (int i = 0; i < CLIENTS; i++) barrier(c[i].tm);
  const int code = check_done();
  gasnet_exit(code);
  return code;
}
