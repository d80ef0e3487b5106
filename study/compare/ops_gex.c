/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single operations of Tombolo, for study/compare/ops.py.
 *
 * Owns: the counters of its handlers, the words of signals. Compiled by ops.py; not part of the
 * build. Calls: the public API, ops_loop.h. Messages longer than a Medium are Long ones. `signal`
 * is put with signal; `flag` a blocking put, then a put of a word; `semaphore` a put that posts.
 */
#define GASNET_SEQ 1
#include "ops_loop.h"
#include "written.h"

#include <gasnetex_ext.h>

enum { H_FLOOD = 200, H_ACK, H_BOUNCE, SEM_AT = 64, DATA_AT = 4096 };

static gex_TM_t tm;
static int rank;
static char *mine, *theirs;
static size_t medium_max;
static volatile long flooded, acknowledged, bounced;
static long last, floods, bounces;
static uint64_t turns;
static gex_Event_t pending;
static gexx_Sem_t sem;
static gexx_Sem_Handle_t their_sem;
static char *in, *out; /* of collectives, two ranks' */

static void on_flood(gex_Token_t token, void *data, size_t bytes) {
  (void)data, (void)bytes;
  if (++flooded == last) gex_AM_ReplyShort(token, H_ACK, 0);
}

static void on_ack(gex_Token_t token) {
  (void)token;
  acknowledged++;
}

static void on_bounce(gex_Token_t token, void *data, size_t bytes) {
  (void)token, (void)data, (void)bytes;
  bounced++;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void prepare(int op, int n, size_t bytes) {
  (void)bytes;
  if (op != OP_MESSAGE) return;
  last += n;
  floods++;
}

static void send(int handler, size_t bytes) {
  if (bytes <= medium_max)
    gex_AM_RequestMedium(tm, (gex_Rank_t)!rank, (gex_AM_Index_t)handler, mine + DATA_AT, bytes,
                         GEX_EVENT_NOW, 0);
  else
    gex_AM_RequestLong(tm, (gex_Rank_t)!rank, (gex_AM_Index_t)handler, mine + DATA_AT, bytes,
                       theirs + DATA_AT, GEX_EVENT_NOW, 0);
}

static gex_Event_t collective(int op, size_t bytes) {
  const size_t count = bytes / sizeof(double);
  switch (op) {
  case OP_BROADCAST: return gex_Coll_BroadcastNB(tm, 0, out, in, bytes, 0);
  case OP_ALLREDUCE:
    return gex_Coll_ReduceToAllNB(tm, out, in, GEX_DT_DBL, sizeof(double), count, GEX_OP_ADD, NULL,
                                  NULL, 0);
  default: return gexx_Coll_ExchangeNB(tm, out, in, bytes, 0);
  }
}

static void start(int op, size_t bytes) {
  char *const to = theirs + DATA_AT, *const from = mine + DATA_AT;
  switch (op) {
  case OP_PUT_BLOCKING: gex_RMA_PutBlocking(tm, 1, to, from, bytes, 0); break;
  case OP_GET_BLOCKING: gex_RMA_GetBlocking(tm, from, 1, to, bytes, 0); break;
  case OP_PUT_NB: pending = gex_RMA_PutNB(tm, 1, to, from, bytes, GEX_EVENT_DEFER, 0); break;
  case OP_GET_NB: pending = gex_RMA_GetNB(tm, from, 1, to, bytes, 0); break;
  case OP_PUT: gex_RMA_PutNBI(tm, 1, to, from, bytes, GEX_EVENT_DEFER, 0); break;
  case OP_GET: gex_RMA_GetNBI(tm, from, 1, to, bytes, 0); break;
  case OP_MESSAGE: send(H_FLOOD, bytes); break;
  case OP_BROADCAST:
  case OP_ALLREDUCE:
  case OP_EXCHANGE: pending = collective(op, bytes); break;
  default:
    gexx_RMA_PutSignalNBI(tm, 1, to, from, bytes, GEX_EVENT_DEFER, (uint64_t *)(void *)(theirs + 8),
                          GEXX_SIG_ADD, 1, 0);
  }
}

static void complete(int op) {
  if (op == OP_MESSAGE)
    GASNET_BLOCKUNTIL(acknowledged == floods);
  else if (op == OP_PUT_NB || op >= OP_GET_NB)
    gex_Event_Wait(pending);
  else if (op != OP_PUT_BLOCKING && op != OP_GET_BLOCKING)
    gex_NBI_Wait(GEX_EC_ALL, 0);
}

static void serve(int op, int n, size_t bytes) {
  if (op == OP_MESSAGE) GASNET_BLOCKUNTIL(flooded == last);
  for (int i = 0; op >= OP_BROADCAST && i < n; i++) gex_Event_Wait(collective(op, bytes));
}

static void tell(int op, size_t bytes) {
  char *const to = theirs + DATA_AT, *const from = mine + DATA_AT;
  uint64_t *const word = (uint64_t *)(void *)theirs;
  const gex_Rank_t peer = (gex_Rank_t)!rank;
  if (op == OP_MESSAGE) {
    send(H_BOUNCE, bytes);
  } else if (op == OP_SIGNAL) {
    gexx_RMA_PutSignalBlocking(tm, peer, to, from, bytes, GEX_EVENT_NOW, word, GEXX_SIG_SET, turns,
                               0);
  } else if (op == OP_FLAG) {
    gex_RMA_PutBlocking(tm, peer, to, from, bytes, 0);
    gex_RMA_PutBlockingVal(tm, peer, word, turns, sizeof *word, 0);
  } else {
    gexx_Sem_PutSignal(their_sem, to, from, bytes, 1);
  }
}

static void hear(int op) {
  const uint64_t *const word = (const uint64_t *)(const void *)mine;
  if (op == OP_MESSAGE) {
    bounces++;
    GASNET_BLOCKUNTIL(bounced == bounces);
  } else if (op == OP_SEMAPHORE) {
    gexx_Sem_Wait(sem);
  } else if (op == OP_SIGNAL) {
    (void)gexx_Signal_Wait(word, GEXX_SIG_EQ, turns);
  } else {
    GASNET_BLOCKUNTIL(__atomic_load_n(word, __ATOMIC_ACQUIRE) == turns);
  }
}

static void bounce(int op, int n, size_t bytes) {
  for (int i = 0; i < n; i++) {
    turns++;
    if (rank == 0) tell(op, bytes);
    hear(op);
    if (rank == 1) tell(op, bytes);
  }
}

static void attach(void) {
  gex_Segment_t segment;
  void *owner = NULL;
  uintptr_t size = 0;
  if (gex_Segment_Attach(&segment, tm, 2 * OPS_BYTES_MAX) != GASNET_OK) gasnet_exit(1);
  mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, 2 * OPS_BYTES_MAX);
  if (gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER))
    gasnet_exit(1);
  const gexx_Sem_Handle_t handle = gexx_Sem_QueryHandle(sem);
  memcpy(mine + SEM_AT, &handle, sizeof handle);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (gex_Rank_t)!rank, &owner, NULL, &size, 0));
  theirs = owner;
  barrier();
  gex_RMA_GetBlocking(tm, &their_sem, (gex_Rank_t)!rank, theirs + SEM_AT, sizeof their_sem, 0);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_AM_Entry_t table[] = {
      {H_FLOOD, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, NULL, "flood"},
      {H_ACK, (gex_AM_Fn_t)on_ack, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "ack"},
      {H_BOUNCE, (gex_AM_Fn_t)on_bounce, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, NULL,
       "bounce"},
  };
  gex_Client_Init(&client, &ep, &tm, "OPS", &argc, &argv, 0);
  rank = (int)gex_TM_QueryRank(tm);
  gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
  medium_max = gex_AM_MaxRequestMedium(tm, (gex_Rank_t)!rank, GEX_EVENT_NOW, 0, 0);
  attach();
  in = written(2 * OPS_BYTES_MAX);
  out = written(2 * OPS_BYTES_MAX);
  if (!in || !out) gasnet_exit(1);
  struct side s = {.rank = rank,
                   .few = ops_asked(argc, argv, "few"),
                   .overlap = ops_asked(argc, argv, "overlap"),
                   .cells = ops_asked(argc, argv, "cells"),
                   OPS_CALLS};
  for (int op = 0; op < OPS; op++) s.has[op] = true;
  ops_main(&s);
  gasnet_exit(0);
}
