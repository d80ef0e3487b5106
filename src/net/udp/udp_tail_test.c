/* SPDX-License-Identifier: BSD-3-Clause */
/* The tail of a packet is copied to its place while it is checked: a wrong one completes nothing, a
 * wrong head writes nothing, and a packet that comes again writes nothing. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#define RANKS 2u
#define BYTES 20000u

static uint8_t src[BYTES], packet[UDP_PACKET_MAX];

/* Rank 0 puts to rank 1; the packet does not come. Returns its bytes. */
static uint32_t caught(uint64_t *done) {
  const struct tmb_rma put = {
      .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = BYTES, .op = done};
  struct rig_port *port = rig_port[1];
  assert_int_equal(udp_put(rig_net[0], &put), 0);
  assert_int_equal(port->tail - port->head, 1);
  struct rig_datagram *d = &port->queue[port->head++ % RIG_QUEUE];
  const uint32_t count = d->count;
  memcpy(packet, d->bytes, count);
  free(d->bytes);
  return count;
}

/* Give rank 1 the packet. Returns whether it was refused. */
static bool refused(uint32_t count) {
  const uint64_t before = rig_stats[1].refused;
  struct rig_port *port = rig_port[1];
  struct rig_datagram *d = &port->queue[port->tail++ % RIG_QUEUE];
  d->bytes = malloc(count);
  assert_non_null(d->bytes);
  memcpy(d->bytes, packet, count);
  d->count = count;
  d->due_ns = rig_now_ns;
  (void)rig_progress(1, TMB_SERVE_ALL);
  return rig_stats[1].refused > before;
}

static uint32_t control_bytes(void) {
  struct udp_header h;
  memcpy(&h, packet, sizeof h);
  return h.control;
}

static uint32_t written(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < BYTES; i++) count += rig_segment[1][i] != 0;
  return count;
}

TEST(wrong_and_again) {
  struct udp_config config = rig_config();
  uint64_t done = 0;
  config.packet_bytes = UDP_PACKET_MAX - UDP_SEAL_TAG;
  memset(src, 0x5a, sizeof src);
  rig_open(RANKS, &config, NULL);
  const uint32_t count = caught(&done), tail_at = count - BYTES;
  const uint32_t hashed = UDP_HEADER_BYTES + control_bytes() + UDP_TAG_BYTES;
  assert_int_equal(udp_tail_at(UDP_HEADER_BYTES + control_bytes()), tail_at);
  for (uint32_t bit = 0; bit < 8 * hashed; bit++) {
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_true(refused(count));
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  assert_int_equal(written(), 0);
  for (uint32_t bit = 8 * tail_at; bit < 8 * count; bit += 1009) {
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_true(refused(count));
    packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  assert_true(refused(count - 1));
  assert_int_equal(rig_net[1]->peers.of[0]->rx.next, 1);
  assert_false(refused(count));
  assert_int_equal(rig_net[1]->peers.of[0]->rx.next, 2);
  assert_memory_equal(rig_segment[1], src, BYTES);
  memset(rig_segment[1], 0, BYTES); /* the program goes on */
  assert_false(refused(count));
  assert_int_equal(rig_stats[1].duplicates, 1);
  assert_int_equal(written(), 0);
  for (uint32_t i = 0; i < 1000 && !done; i++) rig_step(RANKS);
  assert_int_equal(done, 1);
  rig_close(RANKS);
}

int main(void) {
  return unit_run(NULL, NULL);
}
