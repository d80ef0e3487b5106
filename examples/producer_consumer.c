/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * producer_consumer.c: all ranks but 0 produce blocks, rank 0 consumes them.
 *
 * Each producer owns a few slots in rank 0's segment. A Long active message writes a block straight
 * into a slot and then runs a handler, which queues the slot. When the consumer is done with it, it
 * gives the slot back with a Short message; a producer waits for a free slot before it fills it.
 * Compile: tombolo cc producer_consumer.c -o producer_consumer
 * Run:     tombolo run -n 4 ./producer_consumer 1000        (blocks of each producer; default 100)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex.h>

enum { SLOTS = 4, WORDS = 4096, H_BLOCK = GEX_AM_INDEX_BASE, H_CREDIT };
struct item {
  gex_Rank_t producer;
  int slot;
};
static struct item *queue; /* [SLOTS * size], used in turn; filled by the handler */
static volatile unsigned queue_tail;
static volatile int in_use[SLOTS]; /* of this producer's slots; cleared by the handler */
static gex_Rank_t size;

/* book: handlers */
static void block_handler(gex_Token_t token, void *block, size_t nbytes, gex_AM_Arg_t slot) {
  gex_Token_Info_t info;
  (void)block, (void)nbytes;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  queue[queue_tail % (SLOTS * size)] = (struct item){info.gex_srcrank, slot};
  queue_tail++;
}
static void credit_handler(gex_Token_t token, gex_AM_Arg_t slot) {
  (void)token;
  in_use[slot] = 0;
}
/* book end */

/* Every word of a block holds the same number, so that a torn block would be noticed. */
static void produce(gex_TM_t team, uint32_t *slots, gex_Rank_t me, int blocks) {
  static uint32_t block[WORDS];
  for (int i = 0; i < blocks; i++) {
    for (int w = 0; w < WORDS; w++) block[w] = me * 1000003u + (uint32_t)i;
    const int slot = i % SLOTS;
    /* book: long */
    GASNET_BLOCKUNTIL(!in_use[slot]);
    in_use[slot] = 1;
    uint32_t *const to = slots + ((size_t)me * SLOTS + slot) * WORDS;
    gex_AM_RequestLong1(team, 0, H_BLOCK, block, sizeof block, to, GEX_EVENT_NOW, 0, slot);
    /* book end */
  }
}
static int consume(gex_TM_t team, const uint32_t *slots, unsigned blocks) {
  int bad = 0;
  for (unsigned done = 0; done < blocks; done++) {
    GASNET_BLOCKUNTIL(queue_tail > done);
    const struct item item = queue[done % (SLOTS * size)];
    const uint32_t *const block = slots + ((size_t)item.producer * SLOTS + item.slot) * WORDS;
    for (int w = 1; w < WORDS; w++) bad += block[w] != block[0];
    gex_AM_RequestShort1(team, item.producer, H_CREDIT, 0, item.slot);
  }
  return bad;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_AM_Entry_t table[] = {
      {H_BLOCK, (gex_AM_Fn_t)block_handler, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, NULL},
      {H_CREDIT, (gex_AM_Fn_t)credit_handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL,
       NULL}};
  if (gex_Client_Init(&client, &ep, &team, "PRODCONS", &argc, &argv, 0) != GASNET_OK) return 1;
  size = gex_TM_QuerySize(team);
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const int blocks = argc > 1 ? atoi(argv[1]) : 100;
  const uintptr_t bytes = (uintptr_t)size * SLOTS * WORDS * sizeof(uint32_t); /* whole pages */
  queue = malloc(SLOTS * size * sizeof *queue);
  if (!queue || gex_EP_RegisterHandlers(ep, table, 2) != GASNET_OK ||
      gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) /* a barrier, too */
    gasnet_exit(1);
  void *slots; /* rank 0's segment, as rank 0 addresses it */
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 0, &slots, NULL, NULL, 0));
  int bad = 0;
  if (me == 0) {
    bad = consume(team, slots, (size - 1) * (unsigned)blocks);
    printf("%s: %u blocks of %d bytes from %u producers\n", bad ? "FAILED" : "ok",
           (size - 1) * (unsigned)blocks, (int)(WORDS * sizeof(uint32_t)), (unsigned)size - 1);
  } else {
    produce(team, slots, me, blocks);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad != 0);
}
