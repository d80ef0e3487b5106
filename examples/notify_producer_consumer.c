/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_producer_consumer.c: all ranks but 0 produce blocks, rank 0 consumes whichever comes next.
 *
 * A block goes into the producer's own slots in rank 0's segment by a put with a signal: when the
 * signal is seen, the block is there. Rank 0 finds the next producer with gexx_Signal_WaitSome, and
 * gives a slot back by a signal without data. No message handlers, no buffers but the slots.
 * Compile: tombolo cc notify_producer_consumer.c -o notify_producer_consumer
 * Run:     tombolo run -n 4 ./notify_producer_consumer 1000    (blocks of each producer)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex_ext.h>

enum { SLOTS = 4, WORDS = 1000 };
struct lane { /* of one producer, in the segment of rank 0; the head also in the producer's */
  uint64_t filled, freed,
      next; /* signals: blocks that wait, slots given back; next: rank 0's own */
  uint32_t slot[SLOTS][WORDS];
};

/* Every word of a block holds the same number, so that a torn block would be noticed. */
static void produce(gex_TM_t team, struct lane *lane, struct lane *mine, unsigned blocks) {
  static uint32_t block[WORDS];
  for (unsigned i = 0; i < blocks; i++) {
    for (int w = 0; w < WORDS; w++) block[w] = gex_TM_QueryRank(team) * 1000003u + i;
    /* book: produce */
    if (i >= SLOTS) (void)gexx_Signal_WaitConsume(&mine->freed, 1);
    gexx_RMA_PutSignalBlocking(team, 0, lane->slot[i % SLOTS], block, sizeof block, GEX_EVENT_NOW,
                               &lane->filled, GEXX_SIG_ADD, 1, 0);
    /* book end */
  }
}
static int consume(gex_TM_t team, struct lane *lanes, struct lane **theirs, unsigned blocks) {
  size_t from = 0;
  int bad = 0;
  for (unsigned done = 0; done < blocks; done++) {
    /* book: consume */
    (void)gexx_Signal_WaitSome(&lanes[0].filled, gex_TM_QuerySize(team), sizeof *lanes, &from);
    (void)gexx_Signal_WaitConsume(&lanes[from].filled, 1);
    /* book end */
    const uint32_t *const block = lanes[from].slot[lanes[from].next % SLOTS];
    const uint32_t want = (uint32_t)from * 1000003u + (uint32_t)lanes[from].next++;
    for (int w = 0; w < WORDS; w++) bad += block[w] != want;
    gexx_RMA_PutSignalBlocking(team, (gex_Rank_t)from, NULL, NULL, 0, GEX_EVENT_NOW,
                               &theirs[from]->freed, GEXX_SIG_ADD, 1, 0);
    from = (from + 1) % gex_TM_QuerySize(team); /* the others' turn */
  }
  return bad;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "PRODCONS", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t size = gex_TM_QuerySize(team), me = gex_TM_QueryRank(team);
  const unsigned blocks = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
  const uintptr_t bytes = (size * sizeof(struct lane) + 4095) / 4096 * 4096;
  struct lane **base = malloc(size * sizeof *base); /* of each rank, as it addresses them */
  if (!base || gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) gasnet_exit(1);
  for (gex_Rank_t r = 0; r < size; r++)
    gex_Segment_QueryBound(team, r, (void **)&base[r], NULL, NULL);
  memset(base[me], 0, size * sizeof(struct lane));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  int bad = 0;
  if (me) {
    produce(team, base[0] + me, base[me], blocks);
  } else {
    bad = consume(team, base[0], base, (size - 1) * blocks);
    printf("%s: %u blocks of %u bytes from %u producers\n", bad ? "FAILED" : "ok",
           (size - 1) * blocks, (unsigned)(WORDS * sizeof(uint32_t)), size - 1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad != 0);
}
