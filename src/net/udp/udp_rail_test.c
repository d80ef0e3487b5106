/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails: engines over two wires in memory, each of which carries so many bytes in a second. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX 4000000u
#define LONG      (3u << 20)
#define FAST      1000   /* bytes in a microsecond */
#define AWAY_NS   50000u /* on a wire, beside its rate */

static uint32_t longest[2]; /* bytes of a packet that a wire carries */
static uint32_t speed[2];   /* of each wire, bytes in a microsecond; 0: it is cut */
static uint64_t free_ns[2][2], carried[2];
static struct udp_io below[2];
static struct udp_io_ops ops;
static uint32_t fall_backs; /* times that the engine has asked for connections instead */

static void note_fall_back(void *io, uint32_t rank) {
  (void)io;
  (void)rank;
  fall_backs++;
}

/* A packet comes when those before it on its wire have. */
static uint32_t wires_send(void *io, const struct udp_out *out, uint32_t count) {
  const uint32_t from = ((const struct rig_port *)io)->rank;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t r = out[i].rail, bytes = out[i].head_bytes + out[i].tail_bytes;
    assert_cmp(r, <, 2);
    if (!speed[r] || bytes > longest[r]) continue;
    struct rig_port *to = rig_port[out[i].peer];
    const uint32_t before = to->tail;
    (void)rig_wire_send(io, &out[i], 1);
    if (to->tail == before) continue;
    uint64_t *at = &free_ns[from][r];
    *at = TMB_MAX(*at, rig_now_ns) + bytes * (uint64_t)1000 / speed[r];
    carried[r] += bytes;
    /* The queue is read in order: put it where its time belongs. */
    uint32_t k = to->tail - 1;
    struct rig_datagram d = to->queue[k % RIG_QUEUE];
    d.due_ns = *at + AWAY_NS;
    for (; k != to->head && to->queue[(k - 1) % RIG_QUEUE].due_ns > d.due_ns; k--)
      to->queue[k % RIG_QUEUE] = to->queue[(k - 1) % RIG_QUEUE];
    to->queue[k % RIG_QUEUE] = d;
  }
  return count;
}

static void begin(uint32_t first, uint32_t second, const char *fault) {
  const struct udp_config config = rig_config();
  speed[0] = first;
  speed[1] = second;
  longest[0] = longest[1] = UINT32_MAX;
  memset(free_ns, 0, sizeof free_ns);
  memset(carried, 0, sizeof carried);
  rig_rails = 2;
  rig_wires(below, &ops);
  ops.send = wires_send;
  ops.fall_back = note_fall_back;
  rig_open_io(2, &config, fault, below);
}

static uint64_t done;
static uint8_t src[LONG];

static void start_put(void) {
  done = 0;
  for (size_t i = 0; i < LONG; i++) src[i] = (uint8_t)(i * 7 + (i >> 9) + rig_now_ns);
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1] + 8, .local = src, .nbytes = LONG, .op = &done};
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
}

static void end_put(void) {
  for (uint32_t n = 0; !done; n++) {
    assert_cmp(n, <, STEPS_MAX);
    rig_step(2);
  }
  assert_memory_equal(rig_segment[1] + 8, src, LONG);
}

/* Nanoseconds of a long put. */
static uint64_t put(void) {
  const uint64_t from = rig_now_ns;
  start_put();
  end_put();
  return rig_now_ns - from;
}

static struct udp_peer *peer(void) {
  return rig_net[0]->peers.of[1];
}

/* Two wires carry almost twice as much; a slow one beside a fast one does no harm. */
TEST(shared) {
  begin(125, 0, NULL);
  (void)put();
  const uint64_t one = put();
  rig_close(2);
  begin(125, 125, NULL);
  (void)put();
  const uint64_t two = put();
  assert_cmp(two * 17, <, one * 10);
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
  begin(125, 12, NULL);
  (void)put();
  (void)put();
  const uint64_t uneven = put();
  assert_cmp(uneven * 10, <, one * 11);
  rig_close(2);
}

/* Short messages and puts take one rail; the second is not used before it has carried anything. */
TEST(unproven) {
  begin(FAST, 0, NULL);
  for (uint32_t i = 0; i < 5; i++) (void)put();
  assert_int_equal(peer()->tx.rail[1].carries, 0);
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
}

/* One of two links is cut in mid-run and joined again. */
TEST(cut) {
  for (uint32_t r = 0; r < 2; r++) {
    begin(125, 125, r ? "loss=1,seed=3" : NULL);
    for (uint32_t i = 0; i < 3; i++) (void)put();
    assert_cmp(carried[0], >, LONG);
    assert_cmp(carried[1], >, LONG / 2);
    start_put();
    for (uint32_t n = 0; n < 2000; n++) rig_step(2);
    speed[r] = 0;
    end_put();
    for (uint32_t i = 0; i < 20; i++) (void)put();
    assert_int_equal(rig_net[0]->peers.rails_noted, 1u << r);
    assert_int_equal(peer()->tx.main, !r);
    speed[r] = 125;
    carried[r] = 0;
    for (uint32_t i = 0; i < 100 && carried[r] < LONG; i++) (void)put();
    assert_cmp(carried[r], >=, LONG);
    assert_null(rig_lost_why);
    rig_close(2);
  }
}

/* One of two links is cut before anything came: it is named, and connections are not asked for. */
TEST(never) {
  for (uint32_t r = 0; r < 2; r++) {
    begin(r ? 125 : 0, r ? 0 : 125, NULL);
    fall_backs = 0;
    for (uint32_t i = 0; i < 5; i++) (void)put();
    assert_int_equal(rig_net[0]->peers.rails_noted, r ? 0 : 1);
    assert_int_equal(peer()->tx.main, !r);
    assert_int_equal(fall_backs, 0);
    assert_null(rig_lost_why);
    rig_close(2);
  }
}

/* Both rails are cut for a while: nobody is given up. */
TEST(both) {
  begin(125, 125, NULL);
  for (uint32_t i = 0; i < 3; i++) (void)put();
  start_put();
  for (uint32_t n = 0; n < 1000; n++) rig_step(2);
  speed[0] = speed[1] = 0;
  for (uint32_t n = 0; n < 200000; n++) rig_step(2);
  speed[0] = speed[1] = 125;
  end_put();
  (void)put();
  rig_close(2);
}

/* Losses that come of the link, not of a queue, do not stop transfers. */
TEST(random_loss) {
  uint64_t ns[2];
  for (uint32_t i = 0; i < 2; i++) {
    begin(125, 0, i ? "loss=1,seed=5" : NULL);
    (void)put();
    ns[i] = 0;
    for (uint32_t k = 0; k < 10; k++) ns[i] += put();
    rig_close(2);
  }
  assert_cmp(ns[1], <, 2 * ns[0]);
}

static void begin_stream(const struct udp_config *config) {
  begin(FAST, FAST, NULL);
  rig_close(2);
  rig_rails = 1;
  rig_wires(below, &ops);
  ops.send = wires_send;
  for (uint32_t i = 0; i < 2; i++) below[i].has_stream = true;
  rig_open_io(2, config, NULL, below);
}

/* Somebody changes the bytes of a connection, so that no long packet arrives there: datagrams carry
 * everything, numbered packets in pieces. Later the connection works, and is used again. */
TEST(changed_stream) {
  struct udp_config config = rig_config();
  config.packet_bytes = 1440;
  config.stream_min = 32768;
  config.stream_bytes = UDP_PACKET_MAX - 32;
  begin_stream(&config);
  longest[0] = 1472;
  longest[1] = 4096;
  uint64_t ns = 0;
  for (uint32_t i = 0; i < 4; i++) ns += put();
  assert_cmp(rig_stats[0].timeouts, >, 0); /* it was tried */
  assert_cmp(ns, <, 4000000000u);
  for (uint32_t i = 0; i < 8; i++) ns += put();
  assert_cmp(ns, <, 6000000000u);
  longest[1] = UINT32_MAX;
  carried[1] = 0;
  for (uint32_t i = 0; i < 8; i++) {
    rig_now_ns += 8000000000u;
    (void)put();
  }
  assert_cmp(carried[1], >, LONG);
  rig_close(2);
}

/* All packets take connections, and long ones get lost there. */
TEST(changed_long) {
  struct udp_config config = rig_config();
  config.packet_bytes = UDP_PACKET_MAX - 32;
  config.base_bytes = UDP_MTU_BASE;
  config.begins_long = true;
  begin(FAST, 0, NULL);
  rig_close(2);
  rig_rails = 1;
  rig_wires(below, &ops);
  ops.send = wires_send;
  rig_open_io(2, &config, NULL, below);
  (void)put();
  assert_int_equal(peer()->mtu.bytes, UDP_PACKET_MAX - 32);
  longest[0] = 2000;
  assert_cmp(put(), <, 3000000000u);
  rig_close(2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
