/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of near_loss.c: three ranks in one process, each with an engine of its own on one
 * arena; a producer "dies" between reserving slots and publishing them.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/unit_test.h"
#include "net/up.h"

#include <string.h>

enum { RANKS = 3, HANDLER = 100 };

#include "near/near_rig_test.h"

static uint32_t got[RANKS]; /* messages that rank 0 has got, by source */

static void on_message(const struct tmb_am_in *in) {
  got[in->src]++;
  if (in->category == TMB_AM_MEDIUM)
    for (size_t i = 0; i < in->nbytes; i++)
      assert_int_equal(((const unsigned char *)in->payload)[i], (unsigned char)in->args[0]);
}

static int set_up(void **state) {
  (void)state;
  tmb_up_set_internal(HANDLER, on_message);
  rig_open();
  for (uint32_t r = 0; r < RANKS; r++) {
    uint64_t offset, stride;
    tmb_near_expect_loss(rank_of[r], &offset, &stride);
    assert_int_equal(stride, sizeof(struct tmb_near_ctl));
  }
  memset(got, 0, sizeof got);
  return 0;
}

/* A Medium of n bytes, all equal to `fill`, from a rank to rank 0. */
static int send(uint32_t from, unsigned char fill, size_t n) {
  static unsigned char data[TMB_AM_MEDIUM_BYTES_MAX];
  const int32_t args[1] = {fill};
  memset(data, fill, n);
  struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                           .handler = HANDLER,
                           .nargs = 1,
                           .staged = -1,
                           .args = args,
                           .src = data,
                           .nbytes = n};
  return tmb_near_am_send(rank_of[from], 0, &out);
}

/* Actions of a producer before it dies: it claims and reserves slots in rank 0's request ring, and
 * with `scribble` writes into some of them. */
static void half_send(uint32_t from, uint64_t slots, bool scribble) {
  struct tmb_near *near = rank_of[from];
  struct tmb_near_ring *ring = tmb_near_ring(near, 0, 0);
  const uint64_t pos = ring->tail;
  tmb_near_claims(near, from)[1] = tmb_near_claim(tmb_near_claim_ring(0, 0), pos, slots);
  ring->tail = pos + slots;
  if (scribble)
    for (uint64_t i = 1; i < slots; i++)
      memset(&ring->slot[(pos + i) & (near->slots[0] - 1)], 0x80, TMB_NEAR_SLOT_BYTES);
}

static void serve(void) {
  for (int i = 0; i < 100; i++) (void)tmb_near_progress(rank_of[0], TMB_SERVE_ALL);
}

/* Rank 0 learns of the loss. Returns whether everything that the peer had sent has been handled. */
static bool lose(uint32_t peer) {
  for (int i = 0; i < 10; i++) {
    if (tmb_near_lost(rank_of[0], peer) == 0) return true;
    serve();
  }
  return false;
}

TEST_BETWEEN(hole_is_skipped, set_up, rig_close) {
  for (int round = 0; round < 2000; round++) { /* many times round the ring, holes everywhere */
    const uint32_t before = got[2];
    assert_int_equal(send(1, 1, 10), 0);
    half_send(1, 1 + (uint64_t)round % 5, round % 2);
    assert_int_equal(send(2, 2, 700), 0);
    serve();
    if (round == 0) assert_int_equal(got[2], before); /* nobody knows yet */
    assert_true(lose(1));
    serve();
    assert_int_equal(got[2], before + 1);
    assert_int_equal(got[1], round + 1);
  }
}

TEST_BETWEEN(living_producer_is_waited_for, set_up, rig_close) {
  struct tmb_near_ring *ring = tmb_near_ring(rank_of[0], 0, 0);
  const uint64_t pos = ring->tail;
  half_send(2, 2, false); /* alive, only slow */
  assert_int_equal(send(2, 5, 10), 0);
  assert_false(lose(1));
  serve();
  assert_int_equal(got[2], 0);
  const struct tmb_near_slot empty = {.kind = TMB_NEAR_KIND_PAD, .slots = 2};
  ring->slot[pos].kind = empty.kind;
  ring->slot[pos].slots = empty.slots;
  tmb_store_rel(&ring->slot[pos].lap, tmb_near_lap(pos, rank_of[0]->slots_log2[0]));
  serve();
  assert_int_equal(got[2], 1);
  assert_true(lose(1));
}

/* A rank that died before its attempt succeeded claims slots that another lost rank has got. */
TEST_BETWEEN(claims_of_two_lost_ranks, set_up, rig_close) {
  struct tmb_near_ring *ring = tmb_near_ring(rank_of[0], 0, 0);
  tmb_near_claims(rank_of[2], 2)[1] = tmb_near_claim(tmb_near_claim_ring(0, 0), ring->tail, 1);
  half_send(1, 4, true);
  (void)tmb_near_lost(rank_of[0], 2);
  serve();
  assert_true(lose(1));
  assert_int_equal(rank_of[0]->inbox[0].head, ring->tail);
  rank_of[0]->lost[2] = 0; /* lent to the others again */
  assert_int_equal(send(2, 3, 100), 0);
  serve();
  assert_int_equal(got[2], 1);
  rank_of[0]->lost[2] = 1;
  tmb_near_claims(rank_of[2], 2)[1] = tmb_near_claim(tmb_near_claim_ring(0, 0), ring->tail, 4);
  half_send(1, 1, false);
  assert_int_equal(send(0, 9, 100), 0);
  serve();
  assert_int_equal(got[0], 1);
}

TEST_BETWEEN(failed_attempt_leaves_no_claim, set_up, rig_close) {
  while (send(1, 1, 600) == 0) {}
  assert_int_equal(*tmb_near_claims(rank_of[1], 1), 0);
  serve();
  assert_int_equal(send(1, 1, 600), 0);
  assert_int_equal(*tmb_near_claims(rank_of[1], 1), 0);
}

TEST_BETWEEN(buffers_come_back, set_up, rig_close) {
  uint32_t sent = 0;
  while (send(1, 7, 60000) == 0) sent++;
  assert_int_equal(sent, 16);                        /* of such long ones */
  assert_int_equal(tmb_near_lost(rank_of[1], 0), 0); /* rank 0 is lost to rank 1 */
  struct tmb_am_out out = {.peer = 2, .category = TMB_AM_MEDIUM, .nbytes = 60000, .staged = -1};
  for (uint32_t i = 0; i < sent; i++) {
    out.staged = -1;
    assert_non_null(tmb_near_bulk_take(rank_of[1], &out));
  }
  out.staged = -1;
  assert_null(tmb_near_bulk_take(rank_of[1], &out));
}

int main(void) {
  tmb_cfg_init();
  return unit_run(NULL, NULL);
}
