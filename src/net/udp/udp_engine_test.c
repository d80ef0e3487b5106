/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines over a wire in memory: messages, puts, gets, signals, over a good wire and over bad ones;
 * credit, replies inside handlers, packets of unknown senders, replayed packets. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX 4000000u

static uint64_t requests, replies, sum, bad;
static uint32_t ranks;

/* Bytes of a payload follow from its number. */
static uint8_t byte_of(uint64_t number, size_t i) {
  return (uint8_t)(number * 131 + i * 7 + (i >> 8));
}

static void reply(const struct tmb_am_in *in) {
  const uint32_t at = rig_current;
  struct tmb_am_out out = {.peer = in->src,
                           .category = in->category,
                           .handler = 201,
                           .nargs = in->nargs,
                           .is_reply = 1,
                           .staged = -1,
                           .args = in->args,
                           .src = in->payload,
                           .nbytes = in->category == TMB_AM_MEDIUM ? in->nbytes : 0};
  if (in->category == TMB_AM_LONG) out.category = TMB_AM_SHORT;
  uint32_t tries = 0;
  while (udp_am_send(rig_net[at], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    (void)rig_progress(at, TMB_SERVE_REPLIES);
    for (uint32_t i = 0; i < ranks; i++)
      if (i != at) (void)rig_progress(i, TMB_SERVE_REPLIES);
    rig_now_ns += 1000;
  }
}

static void on_am(const struct tmb_am_in *in) {
  if (in->is_reply) {
    replies++;
  } else {
    requests++;
    sum += (uint64_t)(uint32_t)in->args[0];
  }
  const uint8_t *p = in->payload;
  for (size_t i = 0; i < in->nbytes && in->category != TMB_AM_SHORT; i++)
    if (p[i] != byte_of((uint64_t)(uint32_t)in->args[0], i)) bad++;
  if (in->nbytes && (uintptr_t)p % 16 && in->category == TMB_AM_MEDIUM) bad++;
  if (!in->is_reply) reply(in);
}

static void begin(uint32_t n, const struct udp_config *config, const char *fault) {
  requests = replies = sum = bad = 0;
  ranks = n;
  rig_on_am = on_am;
  rig_open(n, config, fault);
}

static void end(void) {
  uint32_t steps = 0;
  for (bool all = false; !all;) {
    assert_cmp(++steps, <, STEPS_MAX);
    rig_step(ranks);
    all = true;
    for (uint32_t i = 0; i < ranks; i++) all = udp_drained(rig_net[i]) && all;
  }
  rig_close(ranks);
}

static void send(uint32_t from, uint32_t to, int32_t number, size_t nbytes) {
  static uint8_t payload[TMB_AM_MEDIUM_BYTES_MAX];
  for (size_t i = 0; i < nbytes; i++) payload[i] = byte_of((uint64_t)(uint32_t)number, i);
  int32_t args[16] = {number};
  struct tmb_am_out out = {.peer = to,
                           .category = nbytes ? TMB_AM_MEDIUM : TMB_AM_SHORT,
                           .handler = 200,
                           .nargs = (uint8_t)(1 + number % 16),
                           .staged = -1,
                           .args = args,
                           .src = payload,
                           .nbytes = nbytes};
  uint32_t tries = 0;
  while (udp_am_send(rig_net[from], &out)) {
    assert_cmp(++tries, <, STEPS_MAX);
    rig_step(ranks);
  }
}

#if defined(__SANITIZE_ADDRESS__) /* each size and each fault comes some hundred times, too */
# define SHARE 3
#else
# define SHARE 1
#endif

/* `most` messages, or that share of them, of mixed sizes between all, each answered. */
static void messages(const struct udp_config *config, uint32_t n, uint32_t most,
                     const char *fault) {
  const uint32_t count = most / SHARE;
  static const size_t sizes[] = {0, 0, 8, 100, 0, 257, 1000, 1400, 5000, 0, 65536, 16, 3000};
  begin(n, config, fault);
  uint64_t expected = 0;
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t from = k % n, to = (k / n + from + 1) % n;
    if (from == to) continue;
    send(from, to, (int32_t)k, sizes[k % 13]);
    expected += k;
    if (k % 3 == 0) rig_step(n);
  }
  end();
  assert_int_equal(sum, expected);
  assert_int_equal(requests, replies);
  assert_int_equal(bad, 0);
}

TEST(good_wire) {
  struct udp_config config = rig_config();
  messages(&config, 2, 5000, NULL);
  messages(&config, 4, 5000, NULL);
  assert_int_equal(rig_stats[0].retransmits, 0);
  config.packet_bytes = UDP_PACKET_MAX - UDP_SEAL_TAG;
  messages(&config, 3, 3000, NULL);
}

TEST(bad_wires) {
  const struct udp_config config = rig_config();
  messages(&config, 2, 4000, "loss=1,seed=3");
  messages(&config, 2, 4000, "loss=20,seed=4");
  assert_cmp(rig_stats[0].retransmits, >, 0);
  messages(&config, 3, 4000, "dup=20,seed=5");
  assert_cmp(rig_stats[0].duplicates, >, 0);
  messages(&config, 3, 4000, "reorder=20,seed=6");
  messages(&config, 2, 4000, "corrupt=10,seed=7");
  assert_cmp(rig_stats[0].refused, >, 0);
  messages(&config, 4, 4000, "loss=5,dup=5,reorder=5,corrupt=5,seed=8");
}

TEST(settings) {
  struct udp_config config = rig_config();
  config.credit = 1;
  messages(&config, 2, 1500, "loss=2,seed=9");
  config = rig_config();
  config.packet_bytes = UDP_PACKET_MIN_MTU;
  messages(&config, 2, 1500, "loss=2,dup=2,seed=10");
  config = rig_config();
  config.coalesce = false;
  messages(&config, 2, 1500, NULL);
  config = rig_config();
  messages(&config, 2, 1500, "corrupt=5,loss=1,seed=11");
  config.hash_payload = false;
  messages(&config, 2, 1500, "corrupt=5,loss=1,seed=11");
}

/* ---- remote memory */

struct shadow {
  uint64_t op[64];
};

static uint64_t addr(uint32_t rank, size_t at) {
  return (uint64_t)(uintptr_t)(rig_segment[rank] + at);
}

static void puts_and_gets(const struct udp_config *config, const char *fault, uint32_t rounds) {
  static const size_t sizes[] = {1, 8, 100, 1300, 4000, 8192, 20000, 100000, 300000, 1000000};
  begin(2, config, fault);
  static uint8_t src[1000000], back[1000000];
  for (uint32_t k = 0; k < rounds; k++) {
    const size_t nbytes = sizes[k % TMB_ARRAY_LEN(sizes)];
    uint64_t done[2] = {0, 0};
    for (size_t i = 0; i < nbytes; i++) src[i] = byte_of(k, i);
    uint64_t *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20));
    *signal = 0;
    struct tmb_rma rma = {.peer = 1,
                          .remote = (void *)(uintptr_t)addr(1, 64 + k % 7),
                          .local = src,
                          .nbytes = nbytes,
                          .op = &done[0],
                          .category = 0,
                          .local_category = 1,
                          .report_local = true};
    const struct tmb_signal sig = {signal, 5 + k, k % 2 ? TMB_SIGNAL_ADD : TMB_SIGNAL_SET};
    const bool notified = k % 3 == 0;
    assert_int_equal(notified ? udp_put_signal(rig_net[0], &rma, &sig) : udp_put(rig_net[0], &rma),
                     0);
    uint32_t steps = 0;
    while (done[0] < 2) {
      assert_cmp(++steps, <, STEPS_MAX);
      rig_step(2);
      if (notified && *signal) assert_memory_equal(rig_segment[1] + 64 + k % 7, src, nbytes);
    }
    assert_memory_equal(rig_segment[1] + 64 + k % 7, src, nbytes);
    for (steps = 0; notified && !*signal; steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rig_step(2);
    }
    if (notified) assert_int_equal(*signal, 5 + k);
    *signal = 0;
    rma.local = back;
    rma.op = &done[1];
    assert_int_equal(udp_get_signal(rig_net[0], &rma, notified ? &sig : NULL), 0);
    for (steps = 0; !done[1] || (notified && !*signal); steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rig_step(2);
    }
    assert_memory_equal(back, src, nbytes);
  }
  end();
}

TEST(remote_memory) {
  struct udp_config config = rig_config();
  puts_and_gets(&config, NULL, 60);
  assert_int_equal(rig_stats[0].retransmits, 0);
  puts_and_gets(&config, "loss=1,reorder=1,dup=1,corrupt=1,seed=20", 60);
  puts_and_gets(&config, "loss=10,seed=21", 30);
  config.packet_bytes = UDP_PACKET_MAX - UDP_SEAL_TAG;
  puts_and_gets(&config, NULL, 30);
  config.packet_bytes = UDP_PACKET_MIN_MTU;
  puts_and_gets(&config, "loss=1,seed=22", 20);
}

/* A window full of a transfer's packets has taken little memory, also where packets are short. */
TEST(little_memory) {
  enum { BYTES_MAX = 192 << 10 };
  struct udp_config config = rig_config();
  config.packet_bytes = UDP_PACKET_MIN_MTU;
  static uint8_t src[1000000];
  uint64_t done = 0;
  begin(2, &config, NULL);
  const struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src, .op = &done};
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  for (uint32_t steps = 0; !done; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(2);
  }
  for (uint32_t i = 0; i < 50; i++) rig_step(2);
  uint64_t kept = 0, packets = 0;
  for (uint32_t c = 0; c < UDP_BUF_CLASSES; c++)
    for (const struct udp_buf *b = rig_net[0]->spare.bufs[c]; b; b = b->next, packets++)
      kept += udp_buf_bytes(b);
  assert_cmp(packets, >, UDP_WINDOW / 4);
  assert_cmp(kept, <=, BYTES_MAX);
  end();
}

/* Long messages, short and long, and puts with a signal without an operation. */
TEST(sources_free_on_return) {
  const struct udp_config config = rig_config();
  static const size_t sizes[] = {0, 100, 3000, 200000, 700000};
  static uint8_t src[700000];
  begin(2, &config, "loss=1,seed=30");
  for (uint32_t k = 0; k < 40; k++) {
    const size_t nbytes = sizes[k % TMB_ARRAY_LEN(sizes)];
    int32_t args[2] = {(int32_t)k, 0};
    for (size_t i = 0; i < nbytes; i++) src[i] = byte_of(k, i);
    struct tmb_resume resume = {0};
    const uint64_t before = requests;
    uint64_t *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20));
    *signal = 0;
    if (k & 1) {
      struct tmb_am_out out = {.peer = 1,
                               .category = TMB_AM_LONG,
                               .handler = 200,
                               .nargs = 2,
                               .staged = -1,
                               .args = args,
                               .src = src,
                               .nbytes = nbytes,
                               .dest = rig_segment[1] + 4096,
                               .resume = &resume};
      while (udp_am_long(rig_net[0], &out)) rig_step(2);
    } else {
      const struct tmb_rma rma = {.peer = 1,
                                  .remote = rig_segment[1] + 4096,
                                  .local = src,
                                  .nbytes = nbytes,
                                  .resume = &resume};
      const struct tmb_signal sig = {signal, 1, TMB_SIGNAL_ADD};
      while (udp_put_signal(rig_net[0], &rma, &sig)) rig_step(2);
    }
    memset(src, 0xee, nbytes);
    for (uint32_t steps = 0; requests == before && !*signal; steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rig_step(2);
    }
    for (size_t i = 0; i < nbytes; i++) assert_int_equal(rig_segment[1][4096 + i], byte_of(k, i));
  }
  end();
  assert_int_equal(bad, 0);
  assert_int_equal(requests, replies);
}

/* Signals of one rank change in order, whatever the wire does and whatever comes with them. */
TEST(ordered_signals) {
  const struct udp_config config = rig_config();
  static uint8_t src[5000];
  begin(2, &config, "loss=5,reorder=5,seed=50");
  uint64_t *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20)), done = 0, last = 0;
  for (uint32_t k = 1; k <= 3000; k++) {
    struct tmb_rma rma = {.peer = 1,
                          .remote = rig_segment[1],
                          .local = src,
                          .nbytes = k % 7 ? 0 : sizeof src,
                          .op = k % 5 ? NULL : &done};
    const struct tmb_signal sig = {signal, k, TMB_SIGNAL_SET};
    int rc = TMB_AGAIN; /* while the window has no room */
    for (uint32_t steps = 0; rc; steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rc = udp_put_signal(rig_net[0], &rma, &sig);
      rig_step(2);
      assert_cmp(*signal, >=, last);
      last = *signal;
    }
  }
  for (uint32_t steps = 0; *signal < 3000; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(2);
    assert_cmp(*signal, >=, last);
    last = *signal;
  }
  end();
}

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
  rig_receives_not[1] = 0;
  for (uint32_t i = 0; i < 8000; i++) {
    rig_step(2);
    rig_now_ns += 500000;
  }
  assert_int_equal(rig_stats[0].stalled, 0);
  assert_int_equal(rig_stats[1].stalled, 0);
  end();
}

int main(void) {
  const struct CMUnitTest sealed[] = {
      cmocka_unit_test(good_wire),       cmocka_unit_test(bad_wires),
      cmocka_unit_test(settings),        cmocka_unit_test(remote_memory),
      cmocka_unit_test(ordered_signals), cmocka_unit_test(computing_peer),
      cmocka_unit_test(computes_on),     cmocka_unit_test(woken),
      cmocka_unit_test(silent_peer)};
  int failed = unit_run(NULL, NULL);
  if (rig_seal()) failed += cmocka_run_group_tests(sealed, NULL, NULL);
  rig_unseal();
  return failed;
}
