/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races whose order goes through a third rank, or through a part of the ranks: one case
 * each, for tests/check/findings.py, compiled with `tombolo cc --check`. Lines that race end with a
 * comment `race: CASE`, those of correct cases have none. Run with 3 ranks; the argument is the
 * case.
 */
#define BEFORE_ATTACH make_domain
static void make_domain(void);
#include "three_ranks.h"

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

static volatile long sink;
static gex_AD_t domain;
static void make_domain(void) {
  gex_AD_Create(&domain, tm, GEX_DT_U64,
                GEX_OP_FADD | GEX_OP_INC | GEX_OP_GET | GEX_OP_SET | GEX_OP_FCAS, 0);
}

#define PUT(to, word)   (void)gex_RMA_PutBlocking(tm, to, base[to] + (word), v, 8, 0)
#define GET(from, word) (void)gex_RMA_GetBlocking(tm, v, from, base[from] + (word), 8, 0)
#define AWAIT(n)        (void)gexx_Signal_Wait(sig((int)me), GEXX_SIG_GE, (n))
/* A put to word 20 that adds 1 to the signal. */
#define SIGNAL(to)                                                                            \
 (void)gexx_RMA_PutSignalBlocking(tm, to, base[to] + 20, v, 8, GEX_EVENT_NOW, sig((int)(to)), \
                                  GEXX_SIG_ADD, 1, 0)

static void atomic(gex_Rank_t at, int word, gex_OP_t op, uint64_t *old, uint64_t a) {
  wait_for(gex_AD_OpNB_U64(domain, old, at, base[at] + word, op, a, 1, 0));
}
static void spin(gex_Rank_t at, int word, uint64_t least) {
  uint64_t now = 0;
  while (now < least) {
    atomic(at, word, GEX_OP_GET, &now, 0);
    gasnet_AMPoll();
  }
}
/* The team of two ranks; the third one is alone. */
static gex_TM_t team_of(gex_Rank_t a, gex_Rank_t b) {
  gex_TM_t half = GEX_TM_INVALID;
  (void)gex_TM_Split(&half, tm, me == a || me == b, (int)me, NULL, 0, 0);
  return half;
}
static void meet(gex_TM_t team) {
  gex_Coll_BarrierBlocking(team, 0);
}

/* ---- races */

/* The put has not completed when its rank begins the chain of signals. */
CASE(chain_too_early) {
  gex_Event_t e = GEX_EVENT_INVALID;
  if (me == 0) {
    e = gex_RMA_PutNB(tm, 2, base[2], v, 8, GEX_EVENT_NOW, 0); /* race: chain_too_early */
    SIGNAL(1);
  }
  if (me == 1) AWAIT(1);
  if (me == 1) SIGNAL(2);
  if (me == 2) {
    AWAIT(1);
    sink = base[2][0]; /* race: chain_too_early */
  }
  wait_for(e);
}
/* Rank 1 passes on before it has waited. */
CASE(chain_not_waited) {
  if (me == 0) PUT(2, 0); /* race: chain_not_waited */
  if (me == 0) SIGNAL(1);
  if (me == 1) SIGNAL(2);
  if (me == 1) AWAIT(1);
  if (me == 2) {
    AWAIT(1);
    sink = base[2][0]; /* race: chain_not_waited */
  }
}
/* What is put behind the post is not ordered by it. */
CASE(poster_goes_on) {
  gexx_Sem_t sem;
  (void)gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  gexx_Sem_Handle_t h = gexx_Sem_QueryHandle(sem);
  wait_for(gex_Coll_BroadcastNB(tm, 0, &h, &h, sizeof h, 0));
  if (me) {
    gexx_Sem_PutSignal(h, base[0] + me, v, 8, 1);
    if (me == 2) PUT(0, 4); /* race: poster_goes_on */
  } else {
    gexx_Sem_WaitN(sem, 2);
    sink = base[0][1] + base[0][2];
    sink = base[0][4]; /* race: poster_goes_on */
  }
  barrier();
  gexx_Sem_Free(sem);
}
/* Columns that overlap in one byte of each row. */
CASE(columns) {
  const ptrdiff_t to = 32, from = 8;
  const size_t count = 4;
  char *const at = (char *)base[0];
  if (me == 1)
    gex_VIS_StridedPutBlocking(tm, 0, at, &to, v, &from, 5, &count, 1, 0); /* race: columns */
  if (me == 2)
    gex_VIS_StridedPutBlocking(tm, 0, at + 4, &to, v, &from, 4, &count, 1, 0); /* race: columns */
}
CASE(pieces) {
  void *from[1] = {v}, *one[3] = {base[2] + 1, base[2] + 5, base[2] + 9},
       *two[2] = {base[2] + 3, (char *)base[2] + 79};
  if (me == 0) gex_VIS_IndexedPutBlocking(tm, 2, 3, one, 8, 1, from, 24, 0); /* race: pieces */
  if (me == 1) gex_VIS_IndexedPutBlocking(tm, 2, 2, two, 8, 1, from, 16, 0); /* race: pieces */
}
/* The word that orders is changed before the data. */
CASE(counted_before) {
  if (me == 0) {
    atomic(1, 8, GEX_OP_INC, NULL, 0);
    PUT(2, 0); /* race: counted_before */
  }
  if (me == 2) {
    spin(1, 8, 1);
    sink = base[2][0]; /* race: counted_before */
  }
}
/* Two teams that rank 1 meets in the other order. */
CASE(teams_in_turn) {
  const gex_TM_t low = team_of(0, 1), high = team_of(1, 2);
  if (me == 0) PUT(2, 0); /* race: teams_in_turn */
  if (me == 1) meet(high);
  meet(low);
  if (me == 2) meet(high);
  if (me == 2) sink = base[2][0]; /* race: teams_in_turn */
}
/* A reduction to rank 1 orders nothing for rank 2. */
CASE(other_than_root) {
  long sum = 1;
  if (me == 0) PUT(2, 0); /* race: other_than_root */
  wait_for(gex_Coll_ReduceToOneNB(tm, 1, &sum, &sum, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  if (me == 2) sink = base[2][0]; /* race: other_than_root */
}
CASE(other_than_source) {
  if (me == 1) PUT(2, 0); /* race: other_than_source */
  wait_for(gex_Coll_BroadcastNB(tm, 0, v, v, 8, 0));
  if (me == 2) sink = base[2][0]; /* race: other_than_source */
}
/* A gather to rank 0. */
CASE(gathered_by_other) {
  static long all[3];
  if (me == 1) PUT(2, 0); /* race: gathered_by_other */
  gasnet_coll_gather(GASNET_TEAM_ALL, 0, all, v, 8,
                     GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  if (me == 2) sink = base[2][0]; /* race: gathered_by_other */
}
/* A barrier has begun, and not ended. */
CASE(between_phases) {
  const gex_Event_t e = gex_Coll_BarrierNB(tm, 0);
  if (me == 1) PUT(2, 0); /* race: between_phases */
  wait_for(e);
  if (me == 2) sink = base[2][0]; /* race: between_phases */
}
CASE(read_between_phases) {
  if (me == 1) PUT(2, 0); /* race: read_between_phases */
  const gex_Event_t e = gex_Coll_BarrierNB(tm, 0);
  if (me == 2) sink = base[2][0]; /* race: read_between_phases */
  wait_for(e);
}
CASE(tag_too_early) {
  if (me == 1) gexx_RMA_PutNotify(tm, 0, base[0], v, 8, 7, 0); /* race: tag_too_early */
  if (me == 0) {
    sink = base[0][0]; /* race: tag_too_early */
    gexx_Notify_t req;
    gexx_Notify_Status_t status;
    (void)gexx_Notify_Init(tm, 1, 7, 1, &req);
    gexx_Notify_Start(req);
    gexx_Notify_Wait(req, &status);
    gexx_Notify_Free(req);
  }
}
/* The lock orders ranks 0 and 1, and rank 2 has not taken it. */
CASE(beside_swap) {
  uint64_t old = 1;
  if (me < 2) {
    while (old) atomic(2, 10, GEX_OP_FCAS, &old, 0);
    GET(2, 0);
    PUT(2, 0); /* race: beside_swap */
    atomic(2, 10, GEX_OP_SET, NULL, 0);
  }
  if (me == 2) sink = base[2][0]; /* race: beside_swap */
}

/* ---- correct */

CASE(ok_chain) {
  for (uint64_t i = 1; i <= 20; i++) {
    if (me == 0) {
      if (i > 1) AWAIT(i - 1);
      PUT(2, 0);
      SIGNAL(1);
    }
    if (me == 1) {
      AWAIT(i);
      base[1][20]++;
      SIGNAL(2);
    }
    if (me == 2) {
      AWAIT(i);
      base[2][0] += base[2][20];
      SIGNAL(0);
    }
  }
}
CASE(ok_posters) {
  gexx_Sem_t sem;
  (void)gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  gexx_Sem_Handle_t h = gexx_Sem_QueryHandle(sem);
  wait_for(gex_Coll_BroadcastNB(tm, 0, &h, &h, sizeof h, 0));
  for (int i = 0; i < 10; i++) {
    if (me) {
      gexx_Sem_PutSignalAsync(h, base[0] + me, v, 8, 1);
      gexx_Sem_PutSignal(h, base[0] + 2 + me, v, 8, 2);
    } else {
      gexx_Sem_WaitN(sem, 6);
      base[0][1] = base[0][2] = base[0][3] + base[0][4];
    }
    barrier();
  }
  gexx_Sem_Free(sem);
}
CASE(ok_columns) {
  const ptrdiff_t to = 16, from = 8;
  const size_t count = 8;
  char *const at = (char *)base[0];
  gex_VIS_StridedPutBlocking(tm, 0, at + 5 * me, &to, v, &from, 5, &count, 1, 0);
  if (!me)
    for (int i = 0; i < 8; i++) at[16 * i + 15] = 1;
}
CASE(ok_pieces) {
  void *to[3] = {(char *)base[2] + 3 * me, (char *)base[2] + 9 + 3 * me, base[2] + 8 + me},
       *from = v;
  gex_VIS_IndexedPutBlocking(tm, 2, 3, to, 3, 1, &from, 9, 0);
}
CASE(ok_counted) {
  uint64_t old = 0;
  if (me == 0) PUT(2, 0);
  if (me == 0) atomic(1, 8, GEX_OP_FADD, &old, 1);
  if (me == 1) {
    spin(1, 8, 1);
    atomic(1, 9, GEX_OP_FADD, &old, 1);
  }
  if (me == 2) {
    spin(1, 9, 1);
    sink = base[2][0];
  }
}
CASE(ok_teams_in_turn) {
  const gex_TM_t low = team_of(0, 1), high = team_of(1, 2);
  for (int i = 0; i < 5; i++) {
    if (me == 0) PUT(2, 0);
    meet(low);
    meet(high);
    if (me == 2) base[2][0] = i;
    if (me == 2) PUT(0, 1);
    if (me > 0) meet(high);
    if (me < 2) meet(low);
    if (me == 0) sink = base[0][1];
  }
}
CASE(ok_roots) {
  long sum = 1;
  for (gex_Rank_t i = 0; i < 6; i++) {
    const gex_Rank_t root = i % 3, next = (root + 1) % 3;
    if (me != root) (void)gex_RMA_PutBlocking(tm, root, base[root] + me, v, 8, 0);
    wait_for(
        gex_Coll_ReduceToOneNB(tm, root, &sum, &sum, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    if (me == root) base[root][(root + 1) % 3] = base[root][(root + 2) % 3] = 1;
    if (me == root) PUT(next, 8);
    wait_for(gex_Coll_BroadcastNB(tm, root, v, v, 8, 0));
    if (me == next) sink = base[next][8];
    wait_for(gex_Coll_ReduceToAllNB(tm, &sum, &sum, GEX_DT_I64, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
  }
}
CASE(ok_phases) {
  for (int i = 0; i < 10; i++) {
    if (me == 1) PUT(2, 0);
    const gex_Event_t e = gex_Coll_BarrierNB(tm, 0);
    base[me][30] = i;
    wait_for(e);
    if (me == 2) base[2][0]++;
    barrier();
    GET((me + 1) % 3, 30);
    barrier();
  }
}
CASE(ok_swap) {
  for (int i = 0; i < 10; i++) {
    uint64_t old = 1;
    while (old) {
      atomic(1, 10, GEX_OP_FCAS, &old, 0);
      gasnet_AMPoll();
    }
    GET(2, 0);
    v[0]++;
    PUT(2, 0);
    atomic(1, 10, GEX_OP_SET, NULL, 0);
  }
}
CASE(ok_exchange) {
  static long from[3], to[3];
  for (int i = 0; i < 5; i++) {
    PUT((me + 1) % 3, 0);
    gasnet_coll_exchange(GASNET_TEAM_ALL, to, from, 8,
                         GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
    base[me][0] = i;
    gasnet_coll_exchange(GASNET_TEAM_ALL, to, from, 8,
                         GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  }
}

int main(int argc, char **argv) {
  return run_three(argc, argv);
}
