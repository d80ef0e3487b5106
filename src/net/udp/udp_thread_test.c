/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that the progress thread may deliver: those of marked handlers, while the client
 * computes; their replies leave at once, and completions wait for the client. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

enum { MARKED = 70, OTHER = 71, CLIENT = 200 };

static uint32_t by_client, by_thread, refused_replies;
static uint64_t done;
static bool replies;

static void on_am(const struct tmb_am_in *in) {
  (void)in;
  by_client++;
}

static int send_to(uint32_t from, uint8_t handler, uint8_t category, bool is_reply) {
  static const char data[40000];
  struct tmb_am_out out = {.peer = !from,
                           .category = category,
                           .handler = handler,
                           .is_reply = is_reply,
                           .staged = -1,
                           .src = data,
                           .nbytes = category == TMB_AM_MEDIUM ? sizeof data : 0};
  return udp_am_send(rig_net[from], &out);
}

static void on_am_by_thread(const struct tmb_am_in *in) {
  assert_int_equal(in->handler, MARKED);
  by_thread++;
  if (replies && send_to(1, CLIENT, TMB_AM_SHORT, true)) refused_replies++;
}

static void begin(uint64_t marked) {
  const struct udp_config config = rig_config();
  rig_thread_handlers[MARKED / 64] = marked ? UINT64_C(1) << (MARKED % 64) : 0;
  rig_on_am = on_am;
  rig_on_am_by_thread = on_am_by_thread;
  by_client = by_thread = refused_replies = 0;
  done = 0;
  replies = false;
  rig_open(2, &config, NULL);
}

/* Rank 1 computes: its progress thread polls, until no more packets are in flight. */
static void tend(uint32_t times) {
  uint64_t ns = UINT64_MAX;
  for (uint32_t i = 0; i < times; i++) {
    rig_now_ns += RIG_LATENCY;
    rig_current = 1;
    assert_true(udp_tend(rig_net[1], rig_net[1]->time.tick, &ns));
    rig_current = 0;
    rig_now_ns += RIG_LATENCY;
    (void)rig_progress(0, TMB_SERVE_ALL);
  }
}

/* A marked handler runs in the thread, also with a long payload; others wait for the client. */
TEST(marked) {
  begin(1);
  assert_int_equal(send_to(0, MARKED, TMB_AM_SHORT, false), 0);
  assert_int_equal(send_to(0, OTHER, TMB_AM_SHORT, false), 0);
  assert_int_equal(send_to(0, CLIENT, TMB_AM_SHORT, false), 0);
  assert_int_equal(send_to(0, MARKED, TMB_AM_MEDIUM, false), 0);
  tend(40);
  assert_int_equal(by_thread, 2);
  assert_int_equal(by_client, 0);
  (void)rig_progress(1, TMB_SERVE_ALL);
  assert_int_equal(by_thread, 2);
  assert_int_equal(by_client, 2);
  rig_close(2);
}

/* Without marks all wait. */
TEST(unmarked) {
  begin(0);
  assert_int_equal(send_to(0, MARKED, TMB_AM_SHORT, false), 0);
  tend(4);
  assert_int_equal(by_thread, 0);
  (void)rig_progress(1, TMB_SERVE_ALL);
  assert_int_equal(by_client, 1);
  rig_close(2);
}

/* Messages that were kept because the client was inside a handler, or the thread waited for room,
 * are delivered by the thread later. */
TEST(kept) {
  begin(1);
  assert_int_equal(send_to(0, MARKED, TMB_AM_SHORT, false), 0);
  assert_int_equal(send_to(0, OTHER, TMB_AM_SHORT, false), 0);
  rig_now_ns += RIG_LATENCY;
  (void)rig_progress(1, TMB_SERVE_REPLIES);
  assert_int_equal(rig_net[1]->kept.by_thread, 1);
  assert_int_equal(send_to(0, MARKED, TMB_AM_SHORT, false), 0);
  rig_now_ns += RIG_LATENCY;
  const uint64_t tick = rig_net[1]->time.tick;
  assert_int_equal(rig_progress(1, TMB_SERVE_NOTHING), TMB_FOUND_NOTHING);
  assert_int_equal(rig_net[1]->time.tick, tick);
  assert_int_equal(by_thread + by_client, 0);
  tend(5);
  assert_int_equal(by_thread, 2);
  assert_int_equal(rig_net[1]->kept.by_thread, 0);
  (void)rig_progress(1, TMB_SERVE_ALL);
  assert_int_equal(by_client, 1);
  rig_close(2);
}

/* Credit comes back: far more requests than there is credit for, while the client computes. */
TEST(credit) {
  begin(1);
  uint32_t sent = 0;
  for (uint32_t turns = 0; sent < 5000 && turns < 100000; turns++) {
    if (send_to(0, MARKED, TMB_AM_SHORT, false) == 0)
      sent++;
    else
      tend(1);
  }
  assert_int_equal(sent, 5000);
  tend(100);
  assert_int_equal(by_thread, 5000);
  rig_close(2);
}

/* The reply of a handler leaves with the poll that ran it. Completions that the thread finds are
 * not reported inside it. */
TEST(answers) {
  begin(1);
  replies = true;
  static const uint64_t word = 7;
  const struct tmb_rma rma = {.peer = 0,
                              .remote = rig_segment[0],
                              .local = (void *)(uintptr_t)&word,
                              .nbytes = sizeof word,
                              .op = &done};
  assert_int_equal(udp_put(rig_net[1], &rma), 0);
  rig_now_ns += RIG_LATENCY;
  (void)rig_progress(0, TMB_SERVE_ALL);
  assert_int_equal(send_to(0, MARKED, TMB_AM_SHORT, false), 0);
  tend(3);
  assert_int_equal(by_thread, 1);
  assert_int_equal(refused_replies, 0);
  assert_int_equal(by_client, 1); /* the reply, at rank 0 */
  assert_int_equal(done, 0);
  (void)rig_progress(1, TMB_SERVE_ALL);
  assert_int_equal(done, 1);
  rig_close(2);
}

/* A thread that waits for room when the conduit closes gets an error. */
TEST(ends) {
  begin(1);
  tmb_store_rlx(&rig_net[1]->helper.ends, true);
  assert_int_equal(rig_progress(1, TMB_SERVE_NOTHING), TMB_E_SYS);
  rig_close(2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
