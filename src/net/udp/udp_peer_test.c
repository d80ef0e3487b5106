/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers of an engine that are unknown, slow, lost, silent, cut off, or that compute: what it takes
 * of them, whom it asks, and when it gives up. */
#include "net/udp/udp_talk_test.h"

/* ---- unknown senders */

static void inject(uint32_t to, const uint8_t *bytes, uint32_t count) {
  struct udp_out out = {.peer = to, .head = bytes, .head_bytes = count};
  (void)rig_wire_send(NULL, &out, 1);
}

/* The last datagram that waits for `rank`. */
static uint32_t last_sent(uint32_t rank, uint8_t *bytes) {
  const struct rig_port *port = rig_port[rank];
  const struct rig_datagram *d = &port->queue[(port->tail - 1) % RIG_QUEUE];
  memcpy(bytes, d->bytes, d->count);
  return d->count;
}

TEST(unknown_senders) {
  const struct udp_config config = rig_config();
  static uint8_t packet[UDP_DATAGRAM_MAX];
  begin(3, &config, NULL);
  send(0, 1, 41, 64);
  const uint32_t bytes = last_sent(1, packet);
  for (uint32_t i = 0; i < 10; i++) rig_step(3);
  assert_int_equal(requests, 1);
  assert_int_equal(sum, 41);
  /* Replayed: dropped by its number. Sent to another rank or back to its sender: by its hash. */
  for (uint32_t i = 0; i < 5; i++) inject(1, packet, bytes);
  inject(2, packet, bytes);
  inject(0, packet, bytes);
  for (uint32_t i = 0; i < 50; i++) rig_step(3);
  assert_int_equal(requests, 1);
  assert_int_equal(rig_stats[1].duplicates, 5);
  assert_int_equal(rig_stats[2].refused, 1);
  assert_int_equal(rig_stats[0].refused, 1);
  assert_null(rig_net[2]->peers.of[0]);
  /* Each bit that is covered, turned over. */
  const uint64_t before = rig_stats[1].refused;
  for (uint32_t bit = 0; bit < bytes * 8; bit++) {
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
    inject(1, packet, bytes);
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
    for (uint32_t i = 0; i < 20; i++) rig_step(3);
  }
  assert_int_equal(requests, 1);
  assert_int_equal(rig_stats[1].refused, before + bytes * 8);
  /* Datagrams of nothing sensible. */
  for (uint32_t n = 0; n < 200; n++) inject(2, packet + 200, n);
  for (uint32_t i = 0; i < 500; i++) rig_step(3);
  assert_int_equal(requests, 1);
  end();
}

/* Requests while only replies are served are kept and delivered later. They leave an eighth of the
 * credit to messages that need no client of the peer. */
TEST(kept_requests) {
  struct udp_config config = rig_config();
  config.credit = 16;
  begin(2, &config, NULL);
  uint32_t accepted = 0;
  for (uint32_t k = 0; k < 2000; k++) {
    int32_t args[1] = {1};
    struct tmb_am_out out = {.peer = 1, .handler = 200, .nargs = 1, .staged = -1, .args = args};
    accepted += udp_am_send(rig_net[0], &out) == 0;
    (void)rig_progress(0, TMB_SERVE_ALL);
    (void)rig_progress(1, TMB_SERVE_REPLIES);
    rig_now_ns += 1000;
  }
  assert_int_equal(accepted, 14);
  assert_int_equal(requests, 0);
  for (uint32_t i = 0; i < 2000; i++) rig_step(2);
  assert_int_equal(requests, 14);
  assert_int_equal(replies, 14);
  end();
}

/* A peer that does not look for a long time gets few packets meanwhile, and all in the end. */
TEST(slow_peer) {
  const struct udp_config config = rig_config();
  begin(2, &config, NULL);
  for (int32_t k = 0; k < 200; k++) {
    int32_t args[1] = {1};
    struct tmb_am_out out = {.peer = 1, .handler = 200, .nargs = 1, .staged = -1, .args = args};
    (void)udp_am_send(rig_net[0], &out);
  }
  for (uint32_t i = 0; i < 100000; i++) {
    (void)rig_progress(0, TMB_SERVE_ALL);
    rig_now_ns += 100000;
  }
  assert_cmp(rig_stats[0].retransmits, <, 60);
  for (uint32_t i = 0; i < 3000000 && requests < 200; i++) rig_step(2);
  assert_int_equal(requests, 200);
  end();
}

TEST(lost_peer) {
  const struct udp_config config = rig_config();
  begin(2, &config, NULL);
  static uint8_t src[100000];
  uint64_t done = 0;
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src, .op = &done};
  (void)udp_put(rig_net[0], &rma);
  (void)udp_get(rig_net[0], &rma);
  send(0, 1, 1, 60000);
  assert_int_equal(udp_peer_lost(rig_net[0], 1), 0);
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  assert_true(udp_drained(rig_net[0]));
  char text[256];
  udp_peer_explain(rig_net[0], 1, text, sizeof text);
  assert_non_null(strstr(text, "lost"));
  rig_close(2);
}

/* Work of the progress thread while the client of rank 1 computes. */
static void tend(uint32_t rank) {
  uint64_t ns = UINT64_MAX;
  rig_current = rank;
  (void)udp_tend(rig_net[rank], rig_net[rank]->time.tick, &ns);
  rig_current = 0;
}

/* Long puts complete and short ones too; messages and signals wait for the client. */
TEST(computing_peer) {
  const struct udp_config config = rig_config();
  begin(2, &config, "loss=1,seed=40");
  static uint8_t src[1000000];
  for (size_t i = 0; i < sizeof src; i++) src[i] = byte_of(3, i);
  uint64_t done = 0, *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20));
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src, .op = &done};
  const struct tmb_signal sig = {signal, 1, TMB_SIGNAL_ADD};
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  assert_int_equal(udp_put_signal(rig_net[0], &rma, &sig), 0);
  for (int32_t k = 0; k < 20; k++) send(0, 1, k, k % 2 ? 3000 : 0);
  requests = 0; /* those that the sending has delivered */
  const uint64_t before = replies;
  for (uint32_t steps = 0; done < 2 || rig_net[0]->peers.of[1]->tx.rail[0].in_flight; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    (void)rig_progress(0, TMB_SERVE_ALL);
    tend(1);
    rig_now_ns += 1000;
  }
  assert_memory_equal(rig_segment[1], src, sizeof src);
  assert_cmp(replies, >=, before);
  for (uint32_t i = 0; i < 100000; i++) rig_step(2);
  assert_int_equal(*signal, 1);
  assert_int_equal(bad, 0);
  assert_int_equal(replies, 20);
  end();
}

/* A client asks for descriptors, polls once more, finds its message and goes on without another
 * call: its progress thread retransmits lost packets. */
TEST(computes_on) {
  const struct udp_config config = rig_config();
  begin(2, &config, "loss=40,seed=11");
  requests = 0;
  rig_step(2);
  for (int32_t k = 0; k < 20; k++) send(1, 0, k, 100);
  struct pollfd fds[UDP_FDS_MAX];
  uint64_t limit = UINT64_MAX;
  rig_current = 1;
  (void)udp_wait_fds(rig_net[1], fds, UDP_FDS_MAX, &limit);
  rig_current = 0;
  (void)rig_progress(1, TMB_SERVE_ALL);
  for (uint32_t steps = 0; requests < 20 || rig_net[1]->peers.of[0]->tx.rail[0].in_flight;
       steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    (void)rig_progress(0, TMB_SERVE_ALL);
    tend(1);
    rig_now_ns += 10000;
  }
  end();
}

static bool is_readable(const struct pollfd *fds, uint32_t count) {
  struct pollfd look[UDP_FDS_MAX];
  memcpy(look, fds, count * sizeof *fds);
  return poll(look, count, 0) > 0;
}

/* A client that sleeps is woken by a message that its progress thread has received, once for all
 * that it then finds. */
TEST(woken) {
  const struct udp_config config = rig_config();
  begin(2, &config, NULL);
  for (uint32_t round = 0; round < 3; round++) {
    struct pollfd fds[UDP_FDS_MAX];
    uint64_t limit = UINT64_MAX;
    requests = 0;
    rig_current = 1;
    const uint32_t count = udp_wait_fds(rig_net[1], fds, UDP_FDS_MAX, &limit);
    rig_current = 0;
    (void)rig_progress(1, TMB_SERVE_ALL);
    assert_false(is_readable(fds, count));
    send(0, 1, (int32_t)round, 100);
    rig_net[1]->time.wait_tick = 0; /* it slept so long that the progress thread took over */
    for (uint32_t i = 0; i < 1000; i++) {
      (void)rig_progress(0, TMB_SERVE_ALL);
      tend(1);
      rig_now_ns += 1000;
    }
    assert_int_equal(requests, 0);
    assert_true(is_readable(fds, count));
    (void)rig_progress(1, TMB_SERVE_ALL);
    assert_int_equal(requests, 1);
    assert_false(is_readable(fds, count));
    for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  }
  end();
}

/* Signals that the progress thread keeps change before later messages, also if there are many. */
TEST(kept_signals) {
  const struct udp_config config = rig_config();
  begin(2, &config, NULL);
  uint64_t *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20)), last = 0;
  for (uint32_t k = 1; k <= 400; k++) {
    struct tmb_rma rma = {.peer = 1, .remote = rig_segment[1]};
    const struct tmb_signal sig = {signal, k, TMB_SIGNAL_SET};
    assert_int_equal(udp_put_signal(rig_net[0], &rma, &sig), 0);
    (void)rig_progress(0, TMB_SERVE_ALL);
    rig_now_ns += RIG_LATENCY;
    if (k % 200) {
      tend(1);
      continue;
    }
    for (uint32_t i = 0; i < 20; i++) { /* the last waits at the socket for the client's call */
      (void)rig_progress(0, TMB_SERVE_ALL);
      rig_now_ns += 1000;
    }
    for (uint32_t i = 0; i < 100 || *signal < k; i++) {
      assert_cmp(i, <, STEPS_MAX);
      rig_step(2);
      assert_cmp(*signal, >=, last);
      last = *signal;
    }
  }
  assert_int_equal(*signal, 400);
  for (const struct udp_batch *b = rig_net[1]->spare.batches; b; b = b->next)
    assert_cmp(b->capacity, <, 128); /* kept messages were not delivered all at once */
  end();
}

/* A peer that computes is there; one that answers nothing is lost after the time-out, also when
 * nothing is in flight to it. */
TEST(silent_peer) {
  struct udp_config config = rig_config();
  config.peer_timeout_ns = 2000000000;
  for (uint32_t pending = 0; pending < 2; pending++) {
    begin(2, &config, NULL);
    send(0, 1, 1, 0);
    for (uint32_t i = 0; i < 1000; i++) rig_step(2);
    assert_int_equal(replies, 1);
    if (pending) send(0, 1, 2, 0);
    for (uint32_t i = 0; i < 10000; i++) {
      (void)rig_progress(0, TMB_SERVE_ALL);
      tend(1);
      rig_now_ns += 1000000;
    }
    assert_null(rig_lost_why);
    const uint64_t silent_ns = rig_now_ns;
    while (!rig_lost_why) {
      assert_cmp(rig_now_ns - silent_ns, <, 5000000000u);
      (void)rig_progress(0, TMB_SERVE_ALL);
      rig_now_ns += 1000000;
    }
    assert_int_equal(rig_lost_peer, 1);
    assert_cmp(rig_now_ns - silent_ns, >, 1900000000u);
    assert_int_equal(udp_peer_lost(rig_net[0], 1), 0);
    rig_close(2);
  }
}

/* A rank that receives nothing reports itself, not the peers that it does not hear; one that sends
 * nothing is reported by the others. Of two halves the one with rank 0 is right, and of two ranks
 * that lose only each other the lower one. */
TEST(cut_off) {
  enum { RANKS = 4, ANY = 9 };
  static const struct {
    uint32_t ranks, receives_not[RANKS], lost, by; /* receives_not: bit i: none of rank i */
  } cases[] = {{4, {0, 0, 15, 0}, 2, 2},   {4, {15, 0, 0, 0}, 0, 0}, {4, {4, 4, 0, 4}, 2, ANY},
               {4, {4, 4, 15, 4}, 2, ANY}, {2, {2, 1}, 1, 0},        {2, {2, 0}, 1, 0},
               {2, {0, 1}, 1, 1},          {4, {0, 4, 2, 0}, 2, 1},  {4, {12, 12, 3, 3}, 2, 1}};
  struct udp_config config = rig_config();
  config.peer_timeout_ns = 2000000000;
  for (size_t c = 0; c < TMB_ARRAY_LEN(cases); c++) {
    begin(cases[c].ranks, &config, NULL);
    send(0, 1, 1, 0);
    for (uint32_t i = 0; i < 1000; i++) rig_step(cases[c].ranks);
    memcpy(rig_receives_not, cases[c].receives_not, sizeof cases[c].receives_not);
    for (uint32_t i = 0; i < cases[c].ranks; i++) send(i, (i + 1) % cases[c].ranks, 2, 0);
    for (uint32_t i = 0; !rig_lost_why; i++) {
      assert_cmp(i, <, 20000);
      rig_step(cases[c].ranks);
      rig_now_ns += 500000;
    }
    if (rig_lost_peer != cases[c].lost) print_message("case %zu\n", c);
    assert_int_equal(rig_lost_peer, cases[c].lost);
    if (cases[c].by != ANY) assert_int_equal(rig_lost_by, cases[c].by);
    memset(rig_receives_not, 0, sizeof rig_receives_not);
    rig_close(cases[c].ranks);
  }
}

/* Rank 1 receives again: soon nobody is shown as not answering. */
static void receive_again(void) {
  rig_receives_not[1] = 0;
  for (uint32_t i = 0; i < 8000; i++) {
    rig_step(2);
    rig_now_ns += 500000;
  }
  assert_int_equal(rig_stats[0].stalled, 0);
  assert_int_equal(rig_stats[1].stalled, 0);
}

/* A peer that speaks and acknowledges nothing is shown as not answering until it does. */
TEST(asked_in_vain) {
  const struct udp_config config = rig_config();
  begin(2, &config, NULL);
  send(0, 1, 1, 0);
  for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  assert_int_equal(rig_stats[0].stalled, 0);
  rig_receives_not[1] = 1;
  send(0, 1, 2, 0);
  send(1, 0, 2, 0);
  for (uint32_t i = 0; i < 8000; i++) {
    rig_step(2);
    rig_now_ns += 500000;
    if (i < 2000) continue; /* a second */
    assert_int_equal(rig_stats[0].stalled, 2);
    assert_int_equal(rig_stats[0].stalled_count, 1);
    assert_cmp(rig_stats[0].looked_ns - rig_stats[0].heard_ns, <, 1100000000u);
  }
  assert_cmp(rig_stats[1].looked_ns - rig_stats[1].heard_ns, >, 3900000000u);
  receive_again();
  end();
}

/* A rank that has nothing in flight, and only waits, shows that it hears nobody, too. */
TEST(waits_in_vain) {
  struct udp_config config = rig_config();
  config.peer_timeout_ns = 30000000000u;
  begin(2, &config, NULL);
  send(0, 1, 1, 0);
  for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  assert_int_equal(rig_net[1]->peers.of[0]->tx.una, rig_net[1]->peers.of[0]->tx.next);
  rig_receives_not[1] = 1;
  send(0, 1, 2, 0);
  for (uint32_t i = 0; i < 40000; i++) { /* 20 s */
    rig_step(2);
    rig_now_ns += 500000;
    if (i < 20000) continue;
    assert_int_equal(rig_stats[1].stalled, 1);
    assert_int_equal(rig_stats[1].stalled_count, 1);
    assert_cmp(rig_stats[1].looked_ns - rig_stats[1].stalled_heard_ns, >, 9900000000u);
    assert_cmp(rig_now_ns - rig_stats[1].looked_ns, <, 2000000000u);
    assert_cmp(rig_stats[0].looked_ns - rig_stats[0].heard_ns, <, 2100000000u);
  }
  receive_again();
  assert_null(rig_lost_why);
  end();
}

int main(void) {
  const struct CMUnitTest sealed[] = {cmocka_unit_test(computing_peer),
                                      cmocka_unit_test(computes_on), cmocka_unit_test(woken),
                                      cmocka_unit_test(silent_peer)};
  int failed = unit_run(NULL, NULL);
  if (rig_seal()) failed += cmocka_run_group_tests(sealed, NULL, NULL);
  rig_unseal();
  return failed;
}
