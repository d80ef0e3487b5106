/* SPDX-License-Identifier: BSD-3-Clause */
/* Small puts share packets and acknowledgements: how many packets there are, when the first and the
 * last leave, that each completes once and a signal not before it has changed, over good wires and
 * bad ones. Messages share calls that hand packets over. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX 4000000u

enum { PUTS = 1000, CALL_NS = 100, SIGNAL_AT = 3 << 20 };

static uint64_t *signal_word(void) {
  return (uint64_t *)(void *)(rig_segment[1] + SIGNAL_AT);
}

static struct tmb_rma rma_of(size_t at, const void *src, size_t nbytes, uint64_t *done) {
  return (struct tmb_rma){.peer = 1,
                          .remote = rig_segment[1] + at,
                          .local = (void *)(uintptr_t)src,
                          .nbytes = nbytes,
                          .op = done};
}

/* A program that starts one put after the other; it polls where the window is full. */
static void put(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  for (uint32_t steps = 0;
       signal ? udp_put_signal(rig_net[0], rma, signal) : udp_put(rig_net[0], rma); steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(2);
  }
  rig_now_ns += CALL_NS;
}

static void await(const uint64_t *done, uint64_t count) {
  for (uint32_t steps = 0; *done < count; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(2);
  }
}

static void end(void) {
  uint32_t steps = 0;
  while (!udp_drained(rig_net[0]) || !udp_drained(rig_net[1])) {
    assert_cmp(++steps, <, STEPS_MAX);
    rig_step(2);
  }
  rig_close(2);
}

/* Puts of one operation, and of three in turn. */
TEST(shared_packets) {
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  uint64_t done = 0, three[3] = {0};
  for (uint64_t k = 0; k < PUTS; k++) {
    const struct tmb_rma rma = rma_of(k * 8, &k, sizeof k, &done);
    put(&rma, NULL);
  }
  const uint64_t from = rig_now_ns;
  await(&done, PUTS);
  assert_cmp(rig_now_ns - from, <, UDP_ACK_DELAY_NS); /* the last packet asks for it */
  for (uint64_t k = 0; k < PUTS; k++) {
    uint64_t came;
    memcpy(&came, rig_segment[1] + k * 8, sizeof came);
    assert_int_equal(came, k);
  }
  assert_cmp(rig_stats[0].packets_out, <, PUTS / 20);
  assert_cmp(rig_stats[1].packets_out, <, PUTS / 20);
  for (uint64_t k = 0; k < 300; k++) {
    const struct tmb_rma rma = rma_of(k * 8, &k, sizeof k, &three[k % 3]);
    put(&rma, NULL);
  }
  for (uint32_t i = 0; i < 3; i++) await(&three[i], 100);
  end();
  assert_int_equal(done, PUTS);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(three[i], 100);
}

/* The first two leave at once, and so does one that comes after a pause; the progress thread sends
 * the rest, also while the client makes no call. */
TEST(who_leaves_at_once) {
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  uint64_t done = 0, value = 7;
  const struct tmb_rma rma = rma_of(0, &value, sizeof value, &done);
  for (uint32_t k = 1; k <= 2; k++) {
    put(&rma, NULL);
    assert_int_equal(rig_stats[0].packets_out, k);
  }
  for (uint32_t k = 0; k < 5; k++) put(&rma, NULL);
  assert_int_equal(rig_stats[0].packets_out, 2);
  assert_true(udp_busy_transfers(rig_net[0])); /* the progress thread looks often */
  uint64_t ns = UINT64_MAX;
  assert_true(udp_tend(rig_net[0], rig_net[0]->time.tick, &ns));
  assert_int_equal(rig_stats[0].packets_out, 3);
  rig_now_ns += 5000;
  put(&rma, NULL);
  assert_int_equal(rig_stats[0].packets_out, 4);
  await(&done, 8);
  end();
}

static uint64_t clock_reads;

static uint64_t counted_now(void *io) {
  clock_reads++;
  return rig_wire_now(io);
}

/* In a burst the clock is read for each sixteenth put. Puts that follow at longer distances, with
 * no poll between them, leave at once after at most fifteen that do not. */
TEST(clock_of_bursts) {
  const struct udp_config config = rig_config();
  struct udp_io below[2];
  struct udp_io_ops ops;
  rig_wires(below, &ops);
  ops.now = counted_now;
  rig_open_io(2, &config, NULL, below);
  uint64_t done = 0, value = 7;
  const struct tmb_rma rma = rma_of(0, &value, sizeof value, &done);
  const struct tmb_signal sig = {signal_word(), 1, TMB_SIGNAL_ADD};
  for (uint32_t k = 0; k < 3; k++) put(&rma, NULL);
  clock_reads = 0;
  for (uint32_t k = 0; k < 32; k++) put(&rma, k % 8 ? NULL : &sig);
  assert_int_equal(clock_reads, 2);
  assert_int_equal(rig_stats[0].packets_out, 2);
  for (uint32_t k = 0; k < 16; k++) {
    rig_now_ns += 20000;
    put(&rma, NULL);
  }
  assert_int_equal(rig_stats[0].packets_out, 3);
  for (uint64_t k = 1; k <= 3; k++) {
    rig_now_ns += 20000;
    put(&rma, NULL);
    assert_int_equal(rig_stats[0].packets_out, 3 + k);
  }
  rig_step(2); /* a poll ends the burst */
  clock_reads = 0;
  put(&rma, NULL);
  assert_cmp(clock_reads, >=, 1);
  await(&done, 55);
  assert_int_equal(*signal_word(), 4);
  end();
}

/* Completion of a put with a signal says that the signal has changed; signals change in order. */
static void signals(const struct udp_config *config, const char *fault) {
  rig_open(2, config, fault);
  static uint64_t done[PUTS], puts;
  memset(done, 0, sizeof done);
  puts = 0;
  uint64_t last = 0;
  for (uint64_t k = 0; k < PUTS; k++) {
    static uint8_t sources[PUTS][256];
    uint8_t *src = sources[k];
    memset(src, (int)k, sizeof sources[k]);
    const size_t nbytes = k % 4 == 0 ? 0 : k % 4 == 1 ? 8 : k % 4 == 2 ? 100 : 256;
    const struct tmb_rma rma = rma_of(k * 256, src, nbytes, &done[k]);
    const struct tmb_signal sig = {signal_word(), k + 1, TMB_SIGNAL_SET};
    put(&rma, &sig);
    const struct tmb_rma plain = rma_of((1 << 20) + k * 8, src, 8, &puts);
    put(&plain, NULL);
    if (k % 10 == 0) rig_step(2);
    assert_cmp(*signal_word(), >=, last);
    last = *signal_word();
    for (uint64_t i = 0; i <= k; i++)
      if (done[i]) assert_cmp(*signal_word(), >, i);
  }
  for (uint64_t k = 0; k < PUTS; k++) await(&done[k], 1);
  await(&puts, PUTS);
  assert_int_equal(*signal_word(), PUTS);
  for (uint64_t k = 0; k < PUTS; k++) {
    const size_t nbytes = k % 4 == 0 ? 0 : k % 4 == 1 ? 8 : k % 4 == 2 ? 100 : 256;
    for (size_t i = 0; i < nbytes; i++) assert_int_equal(rig_segment[1][k * 256 + i], (uint8_t)k);
    assert_int_equal(rig_segment[1][(1 << 20) + k * 8], (uint8_t)k);
  }
  end();
  for (uint64_t k = 0; k < PUTS; k++) assert_int_equal(done[k], 1);
  assert_int_equal(puts, PUTS);
}

TEST(ordered) {
  struct udp_config config = rig_config();
  signals(&config, NULL);
  signals(&config, "loss=5,reorder=5,dup=2,seed=60");
  signals(&config, "loss=20,seed=61");
  config.packet_bytes = UDP_PACKET_MIN_MTU;
  signals(&config, "loss=1,corrupt=1,seed=62");
  config = rig_config();
  config.coalesce = false;
  signals(&config, "loss=1,seed=63");
}

/* A long transfer before small puts with signals: the signals keep the order. */
TEST(behind_transfers) {
  const struct udp_config config = rig_config();
  rig_open(2, &config, "loss=2,reorder=2,seed=64");
  static uint8_t src[100000];
  uint64_t done = 0, last = 0;
  for (uint64_t k = 1; k <= 300; k++) {
    const struct tmb_rma rma = rma_of(0, src, k % 10 ? 8 : sizeof src, &done);
    const struct tmb_signal sig = {signal_word(), k, TMB_SIGNAL_SET};
    put(&rma, &sig);
    if (k % 7 == 0) rig_step(2);
    assert_cmp(*signal_word(), >=, last);
    last = *signal_word();
  }
  await(&done, 300);
  assert_int_equal(*signal_word(), 300);
  end();
}

static uint64_t calls_of_send, messages;

static uint32_t counted_send(void *io, const struct udp_out *out, uint32_t count) {
  calls_of_send++;
  return rig_wire_send(io, out, count);
}

static void on_message(const struct tmb_am_in *in) {
  messages += in->nbytes == 1000;
}

/* Send a message that fills a packet. */
static void message(uint64_t after_ns) {
  static const uint8_t payload[1000];
  int32_t arg = 0;
  struct tmb_am_out out = rig_medium(1, &arg, payload, sizeof payload);
  assert_int_equal(udp_am_send(rig_net[0], &out), 0);
  rig_now_ns += after_ns;
}

/* Packets that are full soon after one another are handed over together, at most eight. The rest
 * leaves at the next poll, or by the progress thread. At longer distances each leaves at once. */
TEST(handed_over_together) {
  const struct udp_config config = rig_config();
  struct udp_io below[2];
  struct udp_io_ops ops;
  rig_wires(below, &ops);
  ops.send = counted_send;
  rig_open_io(2, &config, NULL, below);
  rig_on_am = on_message;
  calls_of_send = messages = 0;
  for (uint32_t k = 0; k < 9; k++) message(CALL_NS);
  assert_int_equal(calls_of_send, 1); /* the first; of the others one is open */
  assert_int_equal(rig_stats[0].packets_out, 1);
  message(CALL_NS);
  assert_int_equal(calls_of_send, 2);
  assert_int_equal(rig_stats[0].packets_out, 9);
  for (uint32_t steps = 0; messages < 10; steps++) {
    assert_cmp(steps, <, 100);
    rig_step(2);
  }
  for (uint32_t steps = 0; rig_net[0]->peers.of[1]->tx.una != 11; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(2);
  }
  uint64_t ns = UINT64_MAX;
  for (uint32_t k = 0; k < 4; k++) message(CALL_NS);
  assert_int_equal(rig_stats[0].packets_out, 11);
  assert_true(udp_busy_transfers(rig_net[0])); /* the progress thread looks often */
  assert_true(udp_tend(rig_net[0], rig_net[0]->time.tick, &ns));
  assert_int_equal(rig_stats[0].packets_out, 14);
  for (uint32_t k = 0; k < 4; k++) message(20000);
  assert_int_equal(rig_stats[0].packets_out, 17);
  for (uint32_t steps = 0; messages < 18; steps++) {
    assert_cmp(steps, <, 100);
    rig_step(2);
  }
  end();
}

enum { PEERS = 3, SEND_NS = 4000 };

static uint64_t sent_runs, sent_packets; /* runs of packets to one peer in a call */

static uint32_t slow_send(void *io, const struct udp_out *out, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) sent_runs += !i || out[i].peer != out[i - 1].peer;
  sent_packets += count;
  rig_now_ns += SEND_NS;
  return rig_wire_send(io, out, count);
}

/* Puts of so many bytes to several peers in turn, each `call_ns` after the one before, where each
 * call that hands packets over takes longer than puts of a burst lie apart. */
static void puts_in_turn(size_t nbytes, uint64_t puts, uint64_t call_ns) {
  static uint8_t src[1000];
  const struct udp_config config = rig_config();
  struct udp_io below[1 + PEERS];
  struct udp_io_ops ops;
  for (uint32_t i = 0; i <= PEERS; i++) {
    below[i] = rig_wire(i);
    ops = *below[i].ops;
    below[i].ops = &ops;
  }
  ops.send = slow_send;
  rig_open_io(1 + PEERS, &config, NULL, below);
  sent_runs = sent_packets = 0;
  uint64_t done = 0;
  for (uint64_t k = 0; k < puts; k++) {
    struct tmb_rma rma = rma_of(0, src, nbytes, &done);
    rma.peer = 1 + (uint32_t)k % PEERS;
    rma.remote = rig_segment[rma.peer];
    while (udp_put(rig_net[0], &rma)) rig_step(1 + PEERS);
    rig_now_ns += call_ns;
  }
  const uint64_t runs = sent_runs, packets = sent_packets;
  for (uint32_t steps = 0; done < puts; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    rig_step(1 + PEERS);
  }
  assert_cmp(packets, <, puts * (nbytes + 40) / 1440 * 13 / 10 + 20);
  if (nbytes == sizeof src || call_ns < CALL_NS) assert_cmp(runs, <, packets / 2);
  rig_close(1 + PEERS);
}

/* Puts to several peers in turn share packets, and these share calls, as those to one do. */
TEST(peers_in_turn) {
  puts_in_turn(8, PUTS, CALL_NS);
  puts_in_turn(8, 8 * PUTS, 20); /* a packet of each peer is full every 4 us */
  puts_in_turn(250, PUTS, CALL_NS);
  puts_in_turn(1000, PUTS, CALL_NS);
}

enum flood { PUT, GET, MEDIUM, FLOODS };

/* Start one operation of a flood; the window may be full. */
static int start(enum flood kind, const struct tmb_rma *rma) {
  int32_t arg = 0;
  struct tmb_am_out out = rig_medium(1, &arg, rma->local, rma->nbytes);
  if (kind == PUT) return udp_put(rig_net[0], rma);
  return kind == GET ? udp_get(rig_net[0], rma) : udp_am_send(rig_net[0], &out);
}

static uint64_t arrived;

static void on_arrival(const struct tmb_am_in *in) {
  const uint8_t *p = in->payload;
  for (size_t i = 0; i < in->nbytes; i++) assert_int_equal(p[i], (uint8_t)(i * 7));
  arrived++;
}

/* Many operations of one length, gets in bursts of eight: packets are about as few as their bytes
 * allow. */
static void flood(enum flood kind, size_t nbytes) {
  enum { COUNT = 600 };
  static uint8_t local[8192], expected[8192];
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  rig_on_am = on_arrival;
  arrived = 0;
  uint64_t done = 0;
  for (size_t i = 0; i < sizeof local; i++) expected[i] = local[i] = (uint8_t)(i * 7);
  if (kind == GET) memcpy(rig_segment[1], expected, sizeof expected);
  if (kind == GET) memset(local, 0, sizeof local);
  const struct tmb_rma rma = rma_of(0, local, nbytes, &done);
  for (uint64_t k = 0; k < COUNT; k++, rig_now_ns += CALL_NS) {
    for (uint32_t steps = 0; start(kind, &rma); steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      rig_step(2);
    }
    if (kind == GET && k % 8 == 7) await(&done, k + 1);
  }
  await(kind == MEDIUM ? &arrived : &done, COUNT);
  assert_memory_equal(kind == GET   ? local
                      : kind == PUT ? rig_segment[1]
                                    : expected,
                      expected, nbytes);
  const uint64_t packets = rig_stats[kind == GET].packets_out;
  const uint64_t few = kind == GET ? COUNT / 4 : 20; /* of each burst, packets that are not full */
  assert_cmp(packets, <, COUNT * (nbytes + 40) / 1440 * 13 / 10 + few);
  end();
}

/* Operations up to 8 KiB of a flood fill packets up, also those that are longer than one. */
TEST(filled_packets) {
  static const size_t sizes[] = {250, 257, 420, 600, 730, 1401, 1450, 2000, 3000, 5000, 8192};
  for (enum flood kind = PUT; kind < FLOODS; kind++)
    for (uint32_t i = 0; i < TMB_ARRAY_LEN(sizes); i++) flood(kind, sizes[i]);
  rig_on_am = NULL;
}

/* A packet is open when the path to the peer becomes narrower; a put that is cut follows. */
TEST(narrower_path) {
  static uint8_t src[2000];
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  rig_on_am = on_message;
  messages = 0;
  for (uint32_t k = 0; k < 2; k++) message(CALL_NS);
  uint64_t done = 0;
  const struct tmb_rma cut = rma_of(0, src, sizeof src, &done);
  int32_t arg = 0;
  struct tmb_am_out small = rig_medium(1, &arg, src, 250);
  assert_int_equal(udp_am_send(rig_net[0], &small), 0);
  struct udp_peer *p = rig_net[0]->peers.of[1];
  assert_non_null(p->gather.buf);
  assert_cmp(p->gather.end, >, 1200);
  p->mtu.bytes = 1200;
  memset(src, 9, sizeof src);
  put(&cut, NULL);
  await(&done, 1);
  for (uint32_t i = 0; i < sizeof src; i++) assert_int_equal(rig_segment[1][i], 9);
  assert_int_equal(messages, 2);
  rig_on_am = NULL;
  end();
}

/* A put whose end of reading somebody awaits, and that is longer than packets, is copied. */
TEST(copied_sources) {
  static uint8_t src[65536];
  const struct udp_config config = rig_config();
  for (size_t nbytes = 8192; nbytes <= sizeof src; nbytes *= 2) {
    rig_open(2, &config, NULL);
    uint64_t done = 0;
    struct tmb_rma rma = rma_of(0, src, nbytes, &done);
    rma.report_local = true;
    rma.local_category = 1;
    assert_int_equal(udp_put(rig_net[0], &rma), 0);
    assert_int_equal(done, 1); /* its source is free; nothing has been received */
    await(&done, 2);
    end();
  }
}

/* Where packets are as long, such puts are copied into packets, which are handed over together. */
TEST(copied_into_packets) {
  enum { COUNT = 160, BYTES = 10000 };
  static uint8_t src[BYTES];
  struct udp_config config = rig_config();
  config.packet_bytes = 49152;
  struct udp_io below[2];
  struct udp_io_ops ops;
  rig_wires(below, &ops);
  ops.send = counted_send;
  rig_open_io(2, &config, NULL, below);
  calls_of_send = 0;
  uint64_t done = 0;
  for (uint64_t k = 0; k < COUNT; k++) {
    struct tmb_rma rma = rma_of(k * BYTES, src, BYTES, &done);
    rma.report_local = true;
    memset(src, (int)k, sizeof src);
    put(&rma, NULL);
    assert_cmp(done, >, k); /* its source is free */
  }
  const uint64_t calls = calls_of_send;
  await(&done, 2 * COUNT);
  for (uint64_t k = 0; k < COUNT; k++) {
    memset(src, (int)k, sizeof src);
    assert_memory_equal(rig_segment[1] + k * BYTES, src, BYTES);
  }
  assert_cmp(calls, <, COUNT / 3);
  end();
}

/* Where the peer does not answer, small puts are refused once the window is full, and kept nowhere;
 * accepted ones arrive later. */
TEST(full_window) {
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  uint64_t done = 0, accepted = 0;
  for (uint64_t k = 0; k < 100000; k++) {
    const struct tmb_rma rma = rma_of(0, &k, sizeof k, &done);
    const int rc = udp_put(rig_net[0], &rma);
    if (rc) assert_int_equal(rc, TMB_AGAIN);
    accepted += !rc;
    rig_now_ns += CALL_NS;
  }
  assert_cmp(accepted, >, 100);
  assert_cmp(accepted, <, 100000);
  assert_null(rig_net[0]->peers.of[1]->bulk.first);
  await(&done, accepted);
  end();
  assert_int_equal(done, accepted);
}

/* A peer that is lost with puts in flight, gathered, and acknowledged out of order. */
TEST(lost_peer) {
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  uint64_t done = 0, value = 1;
  const struct tmb_rma rma = rma_of(0, &value, sizeof value, &done);
  const struct tmb_signal sig = {signal_word(), 1, TMB_SIGNAL_ADD};
  for (uint32_t k = 0; k < 3; k++) put(&rma, &sig);
  for (uint32_t k = 0; k < 200; k++) put(&rma, k % 2 ? &sig : NULL);
  assert_non_null(rig_net[0]->peers.of[1]->gather.pending);
  assert_int_equal(udp_peer_lost(rig_net[0], 1), 0);
  const uint64_t before = done;
  for (uint32_t i = 0; i < 1000; i++) rig_step(2);
  assert_int_equal(done, before);
  assert_true(udp_drained(rig_net[0]));
  rig_close(2);
}

int main(void) {
  int failed = unit_run(NULL, NULL);
  if (rig_seal()) failed += unit_run(NULL, NULL);
  rig_unseal();
  return failed;
}
