/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_get.c: the forms of put and get, between a rank and the next one.
 *
 * The example of the chapter "Put, get, signal" of the Book. Each part uses its own words of the
 * segment, and checks what it has moved.
 * Compile: tombolo cc put_get.c -o put_get
 * Run:     tombolo run -n 2 ./put_get
 */
/* mode: SEQ */
/* ranks: 2 */
#include <gasnetex_ext.h>

enum { WORDS = 1000 };

/* Layout of the segment of every rank. */
struct shared {
  uint64_t from_left[WORDS];
  uint64_t blocks[10][WORDS];
  uint64_t signalled[WORDS];
  uint64_t arrived; /* a signal */
};

static gex_TM_t team;
static gex_Rank_t me, right;
static struct shared *mine, *theirs; /* theirs: as its owner addresses it */
static int bad;

static void check(const char *what, uint64_t got, uint64_t want) {
  if (got == want) return;
  printf("FAILED: rank %u: %s: %llu, expected %llu\n", me, what, (unsigned long long)got,
         (unsigned long long)want);
  bad = 1;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

static void put_and_work(void) {
  uint64_t source[WORDS];
  for (int i = 0; i < WORDS; i++) source[i] = (uint64_t)i * 3;
  /* book: nb */
  gex_Event_t leaf;
  gex_Event_t put = gex_RMA_PutNB(team, right, theirs->from_left, source, sizeof source, &leaf, 0);
  /* ... work that does not change source ... */
  gex_Event_Wait(leaf); /* local completion: source may be reused */
  memset(source, 0, sizeof source);
  gex_Event_Wait(put); /* remote completion: the data are in place */
  /* book end */
  barrier();
  check("put", mine->from_left[WORDS - 1], (WORDS - 1) * 3);
}

static void get_many(void) {
  uint64_t copy[10][WORDS];
  for (uint64_t b = 0; b < 10; b++) mine->blocks[b][0] = 100 * me + b;
  barrier();
  /* book: nbi */
  for (int b = 0; b < 10; b++)
    gex_RMA_GetNBI(team, copy[b], right, theirs->blocks[b], sizeof copy[b], 0);
  gex_NBI_Wait(GEX_EC_GET, 0); /* all ten are here */
  /* book end */
  for (uint64_t b = 0; b < 10; b++) check("get", copy[b][0], 100 * right + b);
}

static void put_in_region(void) {
  static uint64_t source[10][WORDS];
  for (uint64_t b = 0; b < 10; b++) source[b][0] = b + 1;
  barrier();
  /* book: region */
  gex_NBI_BeginAccessRegion(0);
  for (int b = 0; b < 10; b++)
    gex_RMA_PutNBI(team, right, theirs->blocks[b], source[b], sizeof source[b], GEX_EVENT_DEFER, 0);
  gex_Event_t all = gex_NBI_EndAccessRegion(0); /* one event for the ten puts */
  gex_Event_Wait(all);
  /* book end */
  barrier();
  for (uint64_t b = 0; b < 10; b++) check("region", mine->blocks[b][0], b + 1);
}

static void values(void) {
  barrier();
  /* book: value */
  gex_RMA_PutBlockingVal(team, right, &theirs->from_left[0], 42, sizeof(uint64_t), 0);
  uint64_t back = gex_RMA_GetBlockingVal(team, right, &theirs->from_left[0], sizeof back, 0);
  /* book end */
  check("value", back, 42);
}

static void signals(void) {
  uint64_t source[WORDS];
  for (int i = 0; i < WORDS; i++) source[i] = 7;
  barrier();
  /* book: signal */
  /* The producer: data, then 1 is added to the signal. */
  gexx_RMA_PutSignalBlocking(team, right, theirs->signalled, source, sizeof source, GEX_EVENT_NOW,
                             &theirs->arrived, GEXX_SIG_ADD, 1, 0);
  /* The consumer: waits for the signal, then reads the data. */
  gexx_Signal_WaitConsume(&mine->arrived, 1);
  uint64_t last = mine->signalled[WORDS - 1];
  /* book end */
  check("signal", last, 7);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "PUTGET", &argc, &argv, 0) != GASNET_OK) return 1;
  const uintptr_t bytes = (sizeof(struct shared) + GASNET_PAGESIZE - 1) & ~(GASNET_PAGESIZE - 1UL);
  if (gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) gasnet_exit(1);
  me = gex_TM_QueryRank(team);
  right = (me + 1) % gex_TM_QuerySize(team);
  mine = gex_Segment_QueryAddr(segment);
  gex_Segment_QueryBound(team, right, (void **)&theirs, NULL, NULL);
  mine->arrived = 0;
  barrier(); /* nobody puts before all signals are zero */

  put_and_work();
  get_many();
  put_in_region();
  values();
  signals();

  barrier();
  if (!bad) printf("ok: rank %u\n", me);
  gasnet_exit(bad);
}
