/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgements of signals and messages: carried by a packet that follows, else sent alone. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define SIGNAL_AT (3u << 20)

static uint64_t done, turns;

static void begin(void) {
  const struct udp_config config = rig_config();
  done = turns = 0;
  rig_open(2, &config, NULL);
}

static uint64_t signal_of(uint32_t rank) {
  return *(const uint64_t *)(const void *)(rig_segment[rank] + SIGNAL_AT);
}

/* A put of a word with a signal; rank 0 gets a report of its end. */
static void put(uint32_t from, uint64_t value) {
  static const uint64_t word;
  const struct tmb_rma rma = {.peer = !from,
                              .remote = rig_segment[!from],
                              .local = (void *)(uintptr_t)&word,
                              .nbytes = sizeof word,
                              .op = from ? NULL : &done};
  const struct tmb_signal sig = {(uint64_t *)(void *)(rig_segment[!from] + SIGNAL_AT), value,
                                 TMB_SIGNAL_SET};
  assert_int_equal(udp_put_signal(rig_net[from], &rma, &sig), 0);
}

static void look(uint32_t rank) {
  rig_now_ns += RIG_LATENCY;
  (void)rig_progress(rank, TMB_SERVE_ALL);
}

/* Rank 0 puts a signal, and rank 1 sees it. Returns how many packets rank 1 sent for that. */
static uint64_t come(void) {
  const uint64_t before = rig_stats[1].packets_out;
  put(0, ++turns);
  look(1);
  assert_int_equal(signal_of(1), turns);
  return rig_stats[1].packets_out - before;
}

/* One turn that rank 1 answers. Returns how many packets it sent. */
static uint64_t turn(void) {
  const uint64_t before = rig_stats[1].packets_out;
  (void)come();
  put(1, turns);
  for (uint32_t i = 0; i < 3 && signal_of(0) != turns; i++) look(0);
  assert_int_equal(signal_of(0), turns);
  assert_int_equal(done, turns);
  return rig_stats[1].packets_out - before;
}

/* A turn is one packet in each direction once a few have been answered. */
TEST(answered) {
  begin();
  for (uint32_t i = 0; i < UDP_ANSWERS_SURE; i++) assert_int_equal(turn(), 2);
  for (uint32_t i = 0; i < 20; i++) assert_int_equal(turn(), 1);
  rig_close(2);
}

/* A client that only polls again acknowledges then, and the next signal at once. */
TEST(unanswered) {
  begin();
  assert_int_equal(come(), 1);
  look(0);
  assert_int_equal(done, 1);
  for (uint32_t i = 0; i < 10; i++) (void)turn();
  assert_int_equal(come(), 0);
  look(1);
  look(0);
  assert_int_equal(done, turns);
  assert_int_equal(come(), 1);
  look(0);
  assert_int_equal(done, turns);
  rig_close(2);
}

/* A client that computes: its progress thread acknowledges. */
TEST(computing) {
  uint64_t ns = UINT64_MAX;
  begin();
  for (uint32_t i = 0; i < 10; i++) (void)turn();
  assert_int_equal(come(), 0);
  rig_current = 1;
  assert_true(udp_tend(rig_net[1], rig_net[1]->time.tick, &ns));
  rig_current = 0;
  look(0);
  assert_int_equal(done, turns);
  assert_int_equal(come(), 1);
  rig_close(2);
}

/* Messages that come one in each call, and are not answered, are acknowledged nevertheless. */
TEST(each_call) {
  begin();
  for (uint32_t i = 0; i < 2000; i++) {
    int32_t arg = (int32_t)i;
    struct tmb_am_out out = rig_medium(1, &arg, NULL, 0);
    assert_int_equal(udp_am_send(rig_net[0], &out), 0);
    (void)rig_progress(0, TMB_SERVE_ALL);
    (void)rig_progress(0, TMB_SERVE_ALL);
    (void)rig_progress(0, TMB_SERVE_ALL);
    look(1);
    assert_int_equal(rig_stats[1].received, i + 1);
  }
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
}

/* A put with a signal that nobody awaits the end of. */
static void quiet_put(uint32_t from, uint64_t value) {
  static const uint64_t word;
  const struct tmb_rma rma = {.peer = !from,
                              .remote = rig_segment[!from],
                              .local = (void *)(uintptr_t)&word,
                              .nbytes = sizeof word};
  const struct tmb_signal sig = {(uint64_t *)(void *)(rig_segment[!from] + SIGNAL_AT), value,
                                 TMB_SIGNAL_SET};
  assert_int_equal(udp_put_signal(rig_net[from], &rma, &sig), 0);
}

/* Both ranks poll for a while. */
static void poll_for(uint64_t ns) {
  for (const uint64_t until = rig_now_ns + ns; rig_now_ns < until; rig_now_ns += 9000) rig_step(2);
}

static uint64_t in_flight(void) {
  const struct udp_tx *tx = &rig_net[0]->peers.of[1]->tx;
  return tx->next - tx->una;
}

/* Two neighbours that have put to each other. */
static void begin_exchange(void) {
  begin();
  for (uint32_t i = 0; i < 10; i++) {
    quiet_put(0, i);
    quiet_put(1, i);
    poll_for(500000);
  }
}

/* Neighbours that put to each other every half millisecond send nothing else. */
TEST(exchanged) {
  begin_exchange();
  const uint64_t before = rig_stats[0].packets_out + rig_stats[1].packets_out;
  for (uint32_t i = 0; i < 50; i++) {
    quiet_put(0, i + 100);
    quiet_put(1, i + 100);
    poll_for(500000);
    assert_int_equal(signal_of(0), i + 100);
    assert_int_equal(signal_of(1), i + 100);
  }
  /* Each quarter of a window asks for an acknowledgement. */
  assert_cmp(rig_stats[0].packets_out + rig_stats[1].packets_out - before, <=, 104);
  assert_int_equal(rig_stats[0].retransmits + rig_stats[1].retransmits, 0);
  rig_close(2);
}

/* A signal does not wait for the acknowledgement of the one before. One that no packet follows is
 * acknowledged before the sender's time-out, and those after it at once. */
TEST(followed) {
  begin_exchange();
  const uint64_t before = rig_stats[0].packets_out;
  quiet_put(0, 20);
  poll_for(100000);
  assert_cmp(in_flight(), >=, 1);
  quiet_put(0, 21);
  assert_int_equal(rig_stats[0].packets_out - before, 2);
  poll_for(3000000);
  assert_int_equal(in_flight(), 0);
  for (uint32_t i = 0; i < 4; i++) {
    quiet_put(0, i);
    poll_for(4000000);
  }
  quiet_put(0, 22);
  poll_for(100000);
  assert_int_equal(in_flight(), 0);
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
}

static void message(uint32_t from) {
  int32_t arg = 7;
  struct tmb_am_out out = rig_medium(!from, &arg, NULL, 0);
  assert_int_equal(udp_am_send(rig_net[from], &out), 0);
}

/* Neighbours that send each other a message every half millisecond, answers of none: packets. */
static uint64_t message_turns(uint32_t turns_wanted) {
  const uint64_t before = rig_stats[0].packets_out + rig_stats[1].packets_out;
  for (uint32_t i = 0; i < turns_wanted; i++) {
    message(0);
    message(1);
    poll_for(500000);
  }
  return rig_stats[0].packets_out + rig_stats[1].packets_out - before;
}

/* Their messages carry the acknowledgements, once a few have come too late for them. */
TEST(messages_exchanged) {
  begin();
  assert_cmp(message_turns(10), >=, 22);
  assert_cmp(message_turns(50), <=, 104);
  assert_int_equal(rig_stats[0].received, 60);
  assert_int_equal(rig_stats[1].received, 60);
  assert_int_equal(rig_stats[0].retransmits + rig_stats[1].retransmits, 0);
  rig_close(2);
}

/* A message does not wait for the late acknowledgement of the one before. One that no packet
 * follows is acknowledged before the sender's time-out, and those after it soon again. */
TEST(messages_followed) {
  begin();
  (void)message_turns(10);
  const uint64_t before = rig_stats[0].packets_out;
  message(0);
  poll_for(1000000);
  assert_cmp(in_flight(), >=, 1);
  message(0);
  assert_int_equal(rig_stats[0].packets_out - before, 2);
  poll_for(3000000);
  assert_int_equal(in_flight(), 0);
  for (uint32_t i = 0; i < 4; i++) {
    message(0);
    poll_for(4000000);
  }
  message(0);
  poll_for(UDP_ACK_DELAY_NS + 100000);
  assert_int_equal(in_flight(), 0);
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
