/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credit_flow.c: a pipeline over all ranks in which nobody is overrun, by semaphores.
 *
 * Rank 0 makes items, each further rank adds its number and hands them on, the last one sums them.
 * Between neighbours there are two semaphores: `items`, posted by a put that carries an item, and
 * `credits`, which the receiver posts for each place it has emptied and which starts at the number
 * of places. Handles, 16 bytes each, go to the neighbours through the segments.
 * Compile: tombolo cc credit_flow.c -o credit_flow
 * Run:     tombolo run -n 4 ./credit_flow 5000        (items; default 1000)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex_ext.h>
#include <stddef.h>

enum { PLACES = 8 };
struct room {
  gexx_Sem_Handle_t items, credits; /* of this rank: what comes from below; room above */
  uint64_t place[PLACES];
};

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  gexx_Sem_t items, credits;
  struct room *mine, *above_at = NULL, above = {0}, below = {0};
  if (gex_Client_Init(&client, &ep, &team, "CREDIT", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t size = gex_TM_QuerySize(team), me = gex_TM_QueryRank(team), last = size - 1;
  const uint64_t count = argc > 1 ? (uint64_t)atoll(argv[1]) : 1000;
  const unsigned flags = GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK ||
      gexx_Sem_Alloc(&items, flags) != GASNET_OK || gexx_Sem_Alloc(&credits, flags) != GASNET_OK)
    gasnet_exit(1);
  mine = gex_Segment_QueryAddr(segment);
  mine->items = gexx_Sem_QueryHandle(items);
  mine->credits = gexx_Sem_QueryHandle(credits);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me < last) {
    gex_Segment_QueryBound(team, me + 1, (void **)&above_at, NULL, NULL);
    gex_RMA_GetBlocking(team, &above, me + 1, above_at, offsetof(struct room, place), 0);
    gexx_Sem_PostN(mine->credits, PLACES);
  }
  if (me) {
    void *below_at;
    gex_Segment_QueryBound(team, me - 1, &below_at, NULL, NULL);
    gex_RMA_GetBlocking(team, &below, me - 1, below_at, offsetof(struct room, place), 0);
  }
  /* book: loop */
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t item = i;
    if (me) {
      gexx_Sem_Wait(items);
      item = mine->place[i % PLACES] + me;
      gexx_Sem_Post(below.credits);
    }
    if (me < last) {
      gexx_Sem_Wait(credits);
      gexx_Sem_PutSignal(above.items, &above_at->place[i % PLACES], &item, sizeof item, 1);
    } else {
      sum += item;
    }
  }
  /* book end */
  const uint64_t want = count * (count - 1) / 2 + count * ((uint64_t)last * size / 2);
  if (me == last)
    printf("%s: %llu items through %u ranks, sum %llu\n", sum == want ? "ok" : "FAILED",
           (unsigned long long)count, size, (unsigned long long)sum);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gexx_Sem_Free(items);
  gexx_Sem_Free(credits);
  gasnet_exit(me == last && sum != want);
}
