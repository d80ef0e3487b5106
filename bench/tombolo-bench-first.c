/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the first milliseconds of a job: round trips of short messages right after the start,
 * beside later ones, when the kernel and the waits have settled, and beside messages by hand.
 *
 * Owns: nothing. Called by bench/first.py, which starts it again and again. Calls: the public API,
 * gasnett_ticks. Ranks 2k and 2k + 1 are a pair. Prints one line a pair: mean nanoseconds of a
 * round trip, of chunk after chunk of CHUNK of them since the attachment, then of one long chunk
 * after a pause of SETTLE_TRIPS; and a line of those by hand. Invariant: nothing happens between
 * the attachment and the first trip.
 */
#include <gasnet_coll.h>
#include <gasnet_tools.h>
#include <gasnetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/echo.h"
#include "lib/usage.h"

enum { CHUNK = 1000, CHUNKS = 20, SETTLE_TRIPS = 200000, HAND_SLOTS = 64 };

/* Mean time of n round trips from the lower rank of a pair to the upper. */
static double trips(gex_TM_t tm, gex_Rank_t peer, uint64_t n) {
  const gasnett_tick_t from = gasnett_ticks_now();
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t next = answered + 1;
    gex_AM_RequestShort(tm, peer, H_ASK, 0);
    GASNET_BLOCKUNTIL(answered == next);
  }
  return (double)gasnett_ticks_to_ns(gasnett_ticks_now() - from) / (double)n;
}

/* ---- messages by hand: what each of them must do */

/* A message in one cache line, and a ring of them that any rank may write. */
struct hand_slot {
  _Alignas(64) uint64_t number;
  uint32_t handler, src;
};

struct hand_ring {
  _Alignas(64) uint64_t tail;
  struct hand_slot slot[HAND_SLOTS];
};

struct hand {
  struct hand_ring ring[2]; /* of requests and of replies */
};

static struct hand *own, *other;
static uint64_t hand_taken[2], hand_asked, hand_answered;

/* A slot is reserved by an atomic addition, filled, and published by its number. */
static void hand_send(uint32_t ring, uint32_t handler, uint32_t src) {
  struct hand_ring *const to = &other->ring[ring];
  const uint64_t at = __atomic_fetch_add(&to->tail, 1, __ATOMIC_RELAXED);
  struct hand_slot *const slot = &to->slot[at % HAND_SLOTS];
  slot->handler = handler;
  slot->src = src;
  __atomic_store_n(&slot->number, at + 1, __ATOMIC_RELEASE);
}

static void hand_ask(uint32_t src) {
  hand_asked++;
  hand_send(1, 1, src);
}

static void hand_answer(uint32_t src) {
  (void)src;
  hand_answered++;
}

static void (*volatile hand_handlers[])(uint32_t src) = {hand_ask, hand_answer};

static void hand_poll(void) {
  for (uint32_t i = 0; i < 2; i++) {
    struct hand_slot *const slot = &own->ring[i].slot[hand_taken[i] % HAND_SLOTS];
    if (__atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) != hand_taken[i] + 1) continue;
    hand_taken[i]++;
    hand_handlers[slot->handler](slot->src);
  }
}

/* Mean time of CHUNK round trips by hand, on the lower rank of a pair. */
static double hand_trips(gex_Rank_t rank) {
  const gasnett_tick_t from = gasnett_ticks_now();
  for (uint64_t i = 0; i < CHUNK; i++) {
    const uint64_t next = hand_answered + 1;
    hand_send(0, 0, rank);
    while (hand_answered != next) hand_poll();
  }
  return (double)gasnett_ticks_to_ns(gasnett_ticks_now() - from) / CHUNK;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints the median of the chunks by hand, in the first memory of both segments. */
static void by_hand(gex_TM_t tm, gex_Segment_t segment, gex_Rank_t rank) {
  void *there;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank ^ 1u, NULL, &there, NULL, 0));
  own = gex_Segment_QueryAddr(segment);
  other = there;
  memset(own, 0, sizeof *own);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (!other) return;
  while ((rank & 1) && hand_asked < (uint64_t)CHUNK * CHUNKS) hand_poll();
  if (rank & 1) return;
  double chunk[CHUNKS];
  for (uint32_t i = 0; i < CHUNKS; i++) chunk[i] = hand_trips(rank);
  qsort(chunk, CHUNKS, sizeof *chunk, by_value);
  printf("by hand %.0f\n", chunk[CHUNKS / 2]);
}

static const char usage[] = "Usage: tombolo run -n RANKS tombolo-bench-first\n"
                            "Measure round trips of short messages right after the start of a job, "
                            "and later, between ranks\n"
                            "2k and 2k + 1. bench/first.py starts it again and again.";

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_AM_Entry_t table[] = {ECHO_ENTRIES};
  (void)usage_number(argc, argv, usage, 0);
  if (gex_Client_Init(&client, &ep, &tm, "FIRST", &argc, &argv, 0)) return 1;
  if (gex_EP_RegisterHandlers(ep, table, 2)) return 1;
  if (gex_Segment_Attach(&segment, tm, 65536)) return 1;
  const gex_Rank_t rank = gex_TM_QueryRank(tm), peer = rank ^ 1u;
  const uint64_t all = (uint64_t)CHUNK * CHUNKS + 2 * (uint64_t)SETTLE_TRIPS;
  if (peer >= gex_TM_QuerySize(tm)) return 1;
  if (rank & 1) {
    GASNET_BLOCKUNTIL(asked == all);
  } else {
    double chunk[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++) chunk[i] = trips(tm, peer, CHUNK);
    (void)trips(tm, peer, SETTLE_TRIPS);
    const double steady = trips(tm, peer, SETTLE_TRIPS);
    printf("first");
    for (uint32_t i = 0; i < CHUNKS; i++) printf(" %.0f", chunk[i]);
    printf(" steady %.0f\n", steady);
  }
  by_hand(tm, segment, rank);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
}
