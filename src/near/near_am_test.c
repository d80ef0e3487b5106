/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of near_am.c: two ranks in one process, each with an engine of its own on one arena.
 * Shorts in one slot and Mediums take paths of their own; here they share the ring with the others.
 */
#include "base/error.h"
#include "base/unit_test.h"
#include "net/up.h"

#include <string.h>

enum { RANKS = 2, HANDLER = 100, QUIET = 101, MESSAGES = 20000 };

#include "near/near_rig_test.h"

static int32_t handled; /* messages that have been checked */

/* Message k has k % 17 arguments, each of which says k; each fifth one is a Medium. */
static uint8_t args_of(int32_t k) {
  return (uint8_t)(k % (TMB_AM_ARGS_MAX + 1));
}

static size_t bytes_of(int32_t k) {
  return k % 5 ? 0 : 1 + (size_t)k % 200;
}

static void on_message(const struct tmb_am_in *in) {
  assert_int_equal(in->src, 1);
  assert_int_equal(in->nargs, args_of(handled));
  assert_int_equal(in->category, bytes_of(handled) ? TMB_AM_MEDIUM : TMB_AM_SHORT);
  for (uint32_t i = 0; i < in->nargs; i++) assert_int_equal(in->args[i], handled);
  for (size_t i = 0; i < bytes_of(handled); i++)
    assert_int_equal(((const unsigned char *)in->payload)[i], (unsigned char)handled);
  handled++;
}

static void on_quiet(const struct tmb_am_in *in) {
  (void)in;
}

static int set_up(void **state) {
  (void)state;
  tmb_up_set_internal(HANDLER, on_message);
  tmb_up_set_internal(QUIET, on_quiet);
  rig_open();
  handled = 0;
  return 0;
}

/* Message k from rank 1 to rank 0; each second Medium by its own path. */
static int send(int32_t k, bool reply) {
  int32_t args[TMB_AM_ARGS_MAX];
  unsigned char data[256];
  for (int i = 0; i < TMB_AM_ARGS_MAX; i++) args[i] = k;
  memset(data, (unsigned char)k, sizeof data);
  if (bytes_of(k) && k % 2 && args_of(k) <= 12)
    return tmb_near_send_medium(rank_of[1], 0, tmb_am_head(HANDLER, args_of(k), reply), args, data,
                                bytes_of(k))
               ? 0
               : TMB_AGAIN;
  struct tmb_am_out out = {.category = bytes_of(k) ? TMB_AM_MEDIUM : TMB_AM_SHORT,
                           .handler = HANDLER,
                           .nargs = args_of(k),
                           .is_reply = reply,
                           .staged = -1,
                           .args = args,
                           .src = data,
                           .nbytes = bytes_of(k)};
  const int rc = tmb_near_am_send(rank_of[1], 0, &out);
  if (rc) assert_int_equal(out.lacks, TMB_LACKS_RING);
  return rc;
}

/* Send a Medium of `words` words, each of them `word`, to rank 0, and have it handled. Returns the
 * kind of its record. */
static uint8_t kind_of(uint32_t word, uint32_t words) {
  uint32_t data[60];
  for (uint32_t i = 0; i < words; i++) data[i] = word;
  const struct tmb_near_ring *ring = tmb_near_ring(rank_of[0], 0, 0);
  const struct tmb_near_slot *slot = &ring->slot[rank_of[0]->inbox[0].head % rank_of[0]->slots[0]];
  assert_true(
      tmb_near_send_medium(rank_of[1], 0, tmb_am_head(QUIET, 0, false), NULL, data, 4u * words));
  if (slot->kind == TMB_NEAR_KIND_PAD) slot = ring->slot;
  assert_int_equal(tmb_near_progress(rank_of[0], TMB_SERVE_ALL), TMB_FOUND_WORK);
  return slot->kind;
}

/* Payload that looks like the first word of the next record at its place is not taken for one. Only
 * where it does is it cleared. */
TEST_BETWEEN(payload_is_no_record, set_up, rig_close) {
  const struct tmb_near_ring *ring = tmb_near_ring(rank_of[0], 0, 0);
  const uint32_t slots = rank_of[0]->slots[0], log2 = rank_of[0]->slots_log2[0];
  for (uint32_t k = 0; ring->tail < 5 * slots; k++) {
    const uint32_t at = (uint32_t)(ring->tail % slots), words = 30 + k % 30;
    const uint32_t lap = tmb_near_lap(ring->tail, log2);
    const uint8_t kind = kind_of(lap + 1, words);
    if (at + 4 <= slots) assert_int_equal(kind, TMB_NEAR_KIND_MEDIUM);
    assert_int_equal(kind_of(lap - 1, 2), TMB_NEAR_KIND_CLEAN);
    assert_int_equal(tmb_near_progress(rank_of[0], TMB_SERVE_ALL), TMB_FOUND_NOTHING);
    assert_int_equal(rank_of[0]->inbox[0].head, ring->tail);
  }
}

/* The sender runs ahead until the ring is full, many times round it; nothing is lost, changed or
 * out of order. */
TEST_BETWEEN(all_come_in_order, set_up, rig_close) {
  int full = 0;
  for (int32_t k = 0; k < MESSAGES;) {
    if (send(k, false) == 0) {
      k++;
      continue;
    }
    full++;
    assert_int_equal(tmb_near_progress(rank_of[0], TMB_SERVE_ALL), TMB_FOUND_WORK);
  }
  while (tmb_near_progress(rank_of[0], TMB_SERVE_ALL) == TMB_FOUND_WORK)
    ;
  assert_int_equal(handled, MESSAGES);
  assert_cmp(full, >, 10);
}

/* A reply of one slot says where the next one goes; the request that is handled next uses that up.
 * A longer one says nothing. */
TEST_BETWEEN(answers_are_expected, set_up, rig_close) {
  struct tmb_near_inbox *requests = &rank_of[1]->inbox[0];
  const struct tmb_near_ring *replies = tmb_near_ring(rank_of[1], 0, 1);
  assert_null(requests->answer);
  assert_int_equal(send(1, true), 0);
  assert_ptr_equal(requests->answer, &replies->slot[1]);
  struct tmb_am_out out = {.category = TMB_AM_SHORT, .handler = QUIET, .staged = -1};
  assert_int_equal(tmb_near_am_send(rank_of[0], 1, &out), 0);
  assert_int_equal(tmb_near_progress(rank_of[1], TMB_SERVE_REQUESTS), TMB_FOUND_WORK);
  assert_null(requests->answer);
  assert_int_equal(send(5, true), 0); /* a Medium of 6 bytes and 5 arguments: one slot */
  assert_ptr_equal(requests->answer, &replies->slot[2]);
  requests->answer = NULL;
  assert_int_equal(send(105, true), 0); /* 106 bytes and 3 arguments: three slots */
  assert_int_equal(send(100, true), 0); /* 101 bytes and 15 arguments: three slots */
  assert_null(requests->answer);
}

/* Whether a client's Medium of so many bytes takes the shortest path. */
static bool plain(size_t nbytes) {
  static const char data[32768];
  return tmb_near_send_medium(rank_of[1], 0, tmb_am_head(TMB_HANDLER_FIRST, 0, false), NULL, data,
                              nbytes);
}

/* Sends one by a buffer from rank 1 to rank 0, as `like` says; once more if that fails. Returns the
 * number of attempts. */
static int attempts(struct tmb_am_out like) {
  static const char data[32768];
  like.category = TMB_AM_MEDIUM;
  like.staged = -1;
  like.src = data;
  const int rc = tmb_near_am_send(rank_of[1], 0, &like);
  if (rc == 0) return 1;
  assert_int_equal(rc, TMB_AGAIN);
  assert_int_equal(like.lacks, TMB_LACKS_BUFFER);
  assert_int_equal(like.staged, -1);
  assert_int_equal(tmb_near_am_send(rank_of[1], 0, &like), 0);
  return 2;
}

/* Take a buffer for so many bytes and give it back. Returns its index. */
static int32_t turn(size_t nbytes) {
  const int32_t index = tmb_near_bulk_take_index(rank_of[1], false, nbytes);
  assert_cmp(index, >=, 0);
  tmb_near_bulk_done(rank_of[1], 1, (uint32_t)index);
  return index;
}

/* Whether payloads of so many bytes go round so many buffers, of which `held` are being read. */
static void go_round(size_t nbytes, int held, int32_t buffers) {
  int32_t index[150];
  rank_of[1]->bulk_next[0] = 0;
  for (int i = 0; i < 150; i++) {
    index[i] = tmb_near_bulk_take_index(rank_of[1], false, nbytes);
    assert_int_equal(index[i], i % buffers);
    if (i >= held) tmb_near_bulk_done(rank_of[1], 1, (uint32_t)index[i - held]);
  }
  for (int i = 150 - held; i < 150; i++) tmb_near_bulk_done(rank_of[1], 1, (uint32_t)index[i]);
}

/* Payloads go round all buffers, or as many as the cache holds. */
TEST_BETWEEN(buffers_in_turn, set_up, rig_close) {
  struct tmb_near *const near = rank_of[1];
  near->round_bytes = TMB_NEAR_ROUND_BYTES_MAX;
  for (int held = 0; held < 4; held++) {
    go_round(600, held, 64);
    go_round(8192, held, 64);
    go_round(16384, held, 32);
    go_round(32768, held, 16);
  }
  near->bulk_next[0] = 63; /* of shorter ones */
  assert_int_equal(turn(32768), 0);
  near->bulk_count[0] = 16;
  go_round(8192, 2, 16);
  near->round_bytes = TMB_NEAR_ROUND_BYTES_MIN;
  for (int held = 0; held < 4; held++) go_round(8192, held, 16);
  go_round(TMB_AM_MEDIUM_BYTES_MAX, 0, 2);
}

/* A long request of a client is sent after what has come, or at the second attempt. Nothing else
 * asks what has come. */
TEST_BETWEEN(long_requests_let_others_first, set_up, rig_close) {
  enum { CLIENT = TMB_HANDLER_FIRST };
  struct tmb_am_out quiet = {.category = TMB_AM_SHORT, .handler = QUIET, .staged = -1};
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192}), 1);
  assert_true(plain(8192));
  assert_int_equal(tmb_near_am_send(rank_of[0], 1, &quiet), 0);
  assert_false(plain(8192));
  assert_true(plain(64));
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192}), 2);
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 64}), 1);
  assert_int_equal(attempts((struct tmb_am_out){.handler = HANDLER, .nbytes = 8192}), 1);
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192, .is_reply = 1}),
                   1);
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192, .immediate = 1}),
                   1);
  assert_int_equal(tmb_near_progress(rank_of[1], TMB_SERVE_ALL), TMB_FOUND_WORK);
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192}), 1);

  quiet.is_reply = 1;
  assert_int_equal(tmb_near_am_send(rank_of[0], 1, &quiet), 0);
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192}), 1);
  assert_true(plain(8192));
  assert_false(plain(32768));
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 32768}), 2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
