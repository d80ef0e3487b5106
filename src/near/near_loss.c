/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Precautions of the on-node engine, so that the loss of a rank stops nobody else.
 *
 * Owns: the claims of this process and the list of lost peers. Called by near_am.c (claims, repair)
 * and through tmb_near_expect_loss and tmb_near_lost. Calls: near_bulk. A producer that dies
 * between reserving slots and publishing its record leaves a hole that the consumer would wait at
 * for ever. So, once losses are expected, a producer writes into the arena the slots that it is
 * about to reserve before each attempt; a consumer that stands before a hole reads all claims, and
 * skips it when only lost ranks claim it. Invariants: whoever has reserved a slot claims it until
 * it is published, so a reserved slot that no living rank claims is a lost rank's or was published
 * meanwhile; a failed attempt leaves no claim; of several claims of lost ranks the shortest is
 * skipped, because the rest is claimed again.
 */
#include "base/error.h"
#include "base/log.h"
#include "near/near.h"

#include <stddef.h>
#include <stdlib.h>

/* A claim: position of the first slot, number of slots (0: none), request or reply ring, owner. */
#define POS_BITS   34
#define COUNT_BITS 9
#define POS_MASK   ((UINT64_C(1) << POS_BITS) - 1)
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define TAKEN \
 UINT64_C(    \
     1) /* value of a word that a thread has taken and in which it has not written a claim yet */
_Static_assert(POS_BITS + COUNT_BITS + 1 + TMB_NEAR_RANK_BITS == 64, "a claim is one word");
_Static_assert(2 * TMB_NEAR_RECORD_SLOTS_MAX <= COUNT_MASK, "a record and its padding fit");

void tmb_near_expect_loss(struct tmb_near *near, uint64_t *offset, uint64_t *stride) {
  *offset = offsetof(struct tmb_near_ctl, door.bell);
  *stride = sizeof(struct tmb_near_ctl);
  if (near->claims) return;
  near->lost = calloc(near->env.count, sizeof *near->lost);
  near->mark = calloc(near->env.count, sizeof *near->mark);
  if (!near->lost || !near->mark)
    tmb_fatal("out of memory for the failure reports of %u ranks", near->env.count);
  near->claims = tmb_near_claims(near, near->env.index);
}

/* ---- producers */

uint64_t tmb_near_claim_ring(uint32_t rank, uint32_t reply) {
  return (uint64_t)(rank << 1 | reply) << (POS_BITS + COUNT_BITS);
}

uint64_t tmb_near_claim(uint64_t ring, uint64_t pos, uint64_t count) {
  return ring | count << POS_BITS | (pos & POS_MASK);
}

uint64_t *tmb_near_claim_take(struct tmb_near *near) {
  static _Thread_local uint32_t last; /* the word that this thread took last: most likely free,
                                         because each thread begins its search at its own */
  if (!near->env.threads) return near->claims;
  for (uint32_t i = last;; i = (i + 1) % TMB_NEAR_CLAIMS) {
    uint64_t expected = 0;
    if (tmb_load_rlx(&near->claims[i]) || !tmb_cas_acq(&near->claims[i], &expected, TAKEN))
      continue;
    last = i;
    return &near->claims[i];
  }
}

/* ---- consumers */

static bool is_ready(const struct tmb_near_inbox *box, uint64_t head, uint32_t log2) {
  const struct tmb_near_slot *slot = &box->ring->slot[head & ((UINT64_C(1) << log2) - 1)];
  const uint64_t word = tmb_load_acq((const uint64_t *)(const void *)slot);
  return (uint32_t)word == tmb_near_lap(head, log2);
}

/* Slots from `head` on that a claim covers, 0: none. */
static uint32_t covered(uint64_t claim, uint64_t ring, uint64_t head) {
  const uint64_t count = claim >> POS_BITS & COUNT_MASK;
  const uint64_t past = (head - claim) & POS_MASK;
  if (claim >> (POS_BITS + COUNT_BITS) != ring >> (POS_BITS + COUNT_BITS) || past >= count)
    return 0;
  return (uint32_t)(count - past);
}

/* Number of slots from `head` on that are claimed by lost ranks only; 0 when there are none or a
 * living rank may write there. */
static uint32_t hole(const struct tmb_near *near, uint32_t reply, uint64_t head) {
  const uint64_t ring = tmb_near_claim_ring(near->env.index, reply);
  uint32_t shortest = 0;
  for (uint32_t r = 0; r < near->env.count; r++) {
    const uint64_t *claims = tmb_near_claims(near, r);
    for (uint32_t i = 0; i < TMB_NEAR_CLAIMS; i++) {
      const uint32_t slots = covered(tmb_load_acq(&claims[i]), ring, head);
      if (slots && !tmb_load_acq(&near->lost[r])) return 0;
      if (slots && (!shortest || slots < shortest)) shortest = slots;
    }
  }
  return shortest;
}

int tmb_near_repair(struct tmb_near *near, struct tmb_near_inbox *box, uint32_t reply) {
  const uint32_t log2 = near->slots_log2[reply];
  const uint64_t head = box->head;
  if (tmb_load_acq(&box->ring->tail) == head || is_ready(box, head, log2)) return 0;
  const uint32_t slots = hole(near, reply, head);
  if (!slots || is_ready(box, head, log2)) return 0;
  for (uint32_t i = 0; i < slots; i++)
    tmb_store_rlx((uint64_t *)(void *)&box->ring->slot[(head + i) & (near->slots[reply] - 1)], 0);
  uint32_t lap;
  (void)tmb_near_inbox_move(near, box, reply, head + slots, &lap);
  tmb_near_inbox_publish(near, box, reply, head + slots);
  return 1;
}

int tmb_near_lost(struct tmb_near *near, uint32_t peer) {
  if (!near->lost[peer]) {
    for (uint32_t i = 0; i < 2; i++)
      near->mark[peer].tail[i] = tmb_load_acq(&near->inbox[i].ring->tail);
    tmb_near_bulk_reclaim(near, peer);
    tmb_store_rel(&near->lost[peer], 1);
    tmb_store_rel(&near->lost_count, near->lost_count + 1);
  }
  for (uint32_t i = 0; i < 2; i++)
    if (tmb_load_acq(&near->inbox[i].head) < near->mark[peer].tail[i]) return TMB_AGAIN;
  return 0;
}
