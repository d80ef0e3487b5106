/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stores.c: a token goes round the ranks of a host by plain stores; a rank that waits may sleep.
 *
 * For run-time libraries whose puts are inline code (gexx_Wait_Until). Others use signals:
 * notify_producer_consumer.c.
 * Compile: tombolo cc stores.c -o stores
 * Run:     tombolo run -n 4 ./stores
 */
/* mode: PAR */
/* ranks: 2 4 */
#include <gasnet_coll.h>
#include <gasnetex_ext.h>

#include <stdatomic.h>
#include <stdio.h>

/* The segment of a rank; on cache lines of their own. */
struct memory {
  _Alignas(64) uint32_t sleepers;
  _Alignas(64) _Atomic uint64_t token;
};

struct turn {
  _Atomic uint64_t *token;
  uint64_t wanted;
};

static int has_come(void *arg) {
  const struct turn *turn = arg;
  return atomic_load_explicit(turn->token, memory_order_relaxed) >= turn->wanted;
}

/* Waits until a peer has stored the token of this round. */
static void take(struct memory *mine, uint64_t round) {
  struct turn turn = {&mine->token, round};
  gexx_Wait_Until(&(gexx_WaitCond_t){has_come, &turn, &mine->sleepers, UINT64_MAX, NULL});
}

/* Stores the token in the memory of a peer, and calls the library only if the peer may sleep. */
static void give(gex_TM_t team, gex_Rank_t to, struct memory *theirs, uint64_t round) {
  atomic_store_explicit(&theirs->token, round, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  if (*(volatile uint32_t *)&theirs->sleepers) gexx_signal_wake(team, to);
}

/* Memory of a rank in this process; NULL: it is on another host. */
static struct memory *memory_of(gex_TM_t team, gex_Rank_t rank) {
  void *owner, *here;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &owner, &here, &bytes, 0));
  return here;
}

int main(int argc, char **argv) {
  enum { ROUNDS = 100 };
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "STORES", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);
  const gex_Rank_t rank = gex_TM_QueryRank(team), right = (rank + 1) % gex_TM_QuerySize(team);
  struct memory *mine = memory_of(team, rank), *next = memory_of(team, right);
  if (!next) {
    fprintf(stderr, "stores: rank %u is on another host\n", (unsigned)right);
    gasnet_exit(1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    if (rank != 0) take(mine, round);
    give(team, right, next, round);
    if (rank == 0) take(mine, round);
  }
  if (rank == 0) printf("the token went round %d times\n", ROUNDS);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
