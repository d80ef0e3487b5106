/* SPDX-License-Identifier: BSD-3-Clause */
/* Length of packets: engines over a wire in memory that drops packets that are too long for it. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define STEPS_MAX 4000000u
#define MOST      8944u
#define LONG      (2u << 20)

/* A wire that carries packets up to a length, 0: none. */
static uint32_t carried, dropped, probes_to_lose;
static struct udp_io below[2];
static struct udp_io_ops ops;

static bool is_probe(const struct udp_out *out) {
  return out->mode == UDP_SEND_ALONE;
}

static uint32_t narrow_send(void *io, const struct udp_out *out, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t bytes = out[i].head_bytes + out[i].tail_bytes;
    if (!carried) continue;
    if (is_probe(&out[i]) && probes_to_lose) {
      probes_to_lose--;
      continue;
    }
    if (bytes > carried)
      dropped++;
    else
      (void)rig_wire_send(io, &out[i], 1);
  }
  return count;
}

static struct udp_mtu *mtu(void) {
  return &rig_net[0]->peers.of[1]->mtu;
}

static void begin(uint32_t passes, const char *fault) {
  struct udp_config config = rig_config();
  config.packet_bytes = MOST;
  config.base_bytes = UDP_MTU_BASE;
  carried = passes;
  dropped = probes_to_lose = 0;
  rig_wires(below, &ops);
  ops.send = narrow_send;
  rig_open_io(2, &config, fault, below);
}

static void put(size_t nbytes) {
  static uint8_t src[LONG];
  uint64_t done = 0;
  for (size_t i = 0; i < nbytes; i++) src[i] = (uint8_t)(i * 7 + (i >> 9) + carried);
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1] + 8, .local = src, .nbytes = nbytes, .op = &done};
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  for (uint32_t n = 0; !done; n++) {
    assert_cmp(n, <, STEPS_MAX);
    rig_step(2);
  }
  assert_memory_equal(rig_segment[1] + 8, src, nbytes);
}

static void rest(uint64_t ns) {
  for (const uint64_t until = rig_now_ns + ns; rig_now_ns < until; rig_now_ns += 100000)
    rig_step(2);
}

/* Long packets once they have been tried, and only where they are of use. */
TEST(found) {
  begin(UINT32_MAX, NULL);
  put(500);
  rest(10000000);
  assert_int_equal(mtu()->bytes, UDP_MTU_BASE);
  assert_cmp(rig_stats[0].packets_out, <, 8);
  put(LONG);
  assert_int_equal(mtu()->bytes, MOST);
  assert_int_equal(rig_stats[0].retransmits, 0);
  rig_close(2);
}

TEST(narrow_path) {
  static const uint32_t paths[] = {MOST - 1, 5000, 1472, 1372, 1248, 1232};
  for (size_t i = 0; i < TMB_ARRAY_LEN(paths); i++) {
    begin(paths[i], NULL);
    put(LONG);
    rest(1000000000);
    assert_int_equal(mtu()->bytes, TMB_ALIGN_DOWN(paths[i], UDP_MTU_STEP));
    assert_int_equal(mtu()->due_ns, UINT64_MAX);
    assert_int_equal(rig_stats[0].retransmits, 0); /* only probes were dropped */
    put(LONG);
    assert_cmp(dropped, <=, 30);
    rig_close(2);
  }
}

TEST(lost_probes) {
  begin(UINT32_MAX, NULL);
  probes_to_lose = 2;
  put(LONG);
  rest(200000000);
  assert_int_equal(mtu()->bytes, MOST);
  rig_close(2);
  begin(1400, "loss=10,dup=5,reorder=5,seed=4");
  for (uint32_t i = 0; i < 10; i++) put(LONG / 4);
  rest(2000000000);
  assert_cmp(mtu()->bytes, >, UDP_MTU_BASE);
  assert_cmp(mtu()->bytes, <=, 1400);
  rig_close(2);
}

/* The path changes while it is used: narrower, below the length that every path carries, and wide
 * again. */
TEST(changes) {
  begin(UINT32_MAX, NULL);
  put(LONG);
  assert_int_equal(mtu()->bytes, MOST);
  carried = 1400;
  put(LONG);
  assert_cmp(rig_stats[0].retransmits, >, 0); /* in pieces: nothing else passes */
  rest(1000000000);
  assert_int_equal(mtu()->bytes, 1392);
  carried = 600;
  put(LONG);
  rest(1000000000);
  assert_int_equal(mtu()->bytes, 592);
  carried = UINT32_MAX;
  rest(31000000000);
  put(LONG);
  rest(1000000000);
  assert_int_equal(mtu()->bytes, MOST);
  rig_close(2);
}

/* A path on which nothing passes proves nothing about lengths. */
TEST(cable_out) {
  begin(UINT32_MAX, NULL);
  put(LONG);
  static uint8_t src[100000];
  uint64_t done = 0;
  struct tmb_rma rma = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src, .op = &done};
  carried = 0;
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
  for (uint32_t n = 0; n < 300000; n++) rig_step(2);
  carried = UINT32_MAX;
  for (uint32_t n = 0; !done; n++) {
    assert_cmp(n, <, STEPS_MAX);
    rig_step(2);
  }
  put(LONG);
  rest(100000000);
  assert_int_equal(mtu()->bytes, MOST);
  rig_close(2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
