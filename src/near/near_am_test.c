/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of near_am.c: two ranks in one process, each with an engine of its own on one arena.
 * Records of one slot take a path of their own; here they share the ring with longer ones.
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

/* Message k from rank 1 to rank 0. */
static int send(int32_t k, bool reply) {
  int32_t args[TMB_AM_ARGS_MAX];
  unsigned char data[256];
  for (int i = 0; i < TMB_AM_ARGS_MAX; i++) args[i] = k;
  memset(data, (unsigned char)k, sizeof data);
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
  assert_int_equal(send(100, true), 0); /* 101 bytes */
  assert_null(requests->answer);
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

/* A long request of a client is sent after what has come, or at the second attempt. Nothing else
 * asks what has come. */
TEST_BETWEEN(long_requests_let_others_first, set_up, rig_close) {
  enum { CLIENT = TMB_HANDLER_FIRST };
  struct tmb_am_out quiet = {.category = TMB_AM_SHORT, .handler = QUIET, .staged = -1};
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 8192}), 1);
  assert_int_equal(tmb_near_am_send(rank_of[0], 1, &quiet), 0);
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
  assert_int_equal(attempts((struct tmb_am_out){.handler = CLIENT, .nbytes = 32768}), 2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
