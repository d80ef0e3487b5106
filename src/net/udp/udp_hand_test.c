/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of long transfers are handed over as soon as the kernel has a message of them, so that
 * the peer takes them while the next ones are made; and none is made for a kernel that is full. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

enum { BYTES = 1 << 20 };

static struct udp_io_ops ops;
static uint32_t (*below)(void *io, const struct udp_out *out, uint32_t count);
static uint64_t calls, packets, most, whole; /* of rank 0 */
static uint32_t takes;                       /* packets that its kernel takes */

static uint32_t count_send(void *io, const struct udp_out *out, uint32_t count) {
  uint64_t bytes = 0;
  if (((const struct rig_port *)io)->rank != 0) return below(io, out, count);
  for (uint32_t i = 0; i < count; i++) bytes += out[i].head_bytes + out[i].tail_bytes;
  if (count > 1 && bytes > most) most = bytes;
  if (out[0].head_bytes + out[0].tail_bytes > whole) whole = out[0].head_bytes + out[0].tail_bytes;
  calls++;
  packets += count;
  const uint32_t taken = TMB_MIN(count, takes);
  takes -= taken;
  return taken ? below(io, out, taken) : 0;
}

static void open(uint32_t packet_bytes) {
  struct udp_config config = rig_config();
  struct udp_io ios[2];
  config.packet_bytes = packet_bytes;
  rig_wires(ios, &ops);
  below = ops.send;
  ops.send = count_send;
  rig_open_io(2, &config, NULL, ios);
  calls = packets = most = whole = 0;
  takes = UINT32_MAX;
}

static void put(uint64_t *done) {
  static uint8_t src[BYTES];
  const struct tmb_rma rma = {.peer = 1,
                              .remote = rig_segment[1],
                              .local = src,
                              .nbytes = BYTES,
                              .op = done,
                              .local_category = UDP_NO_CATEGORY};
  memset(src, 5, sizeof src);
  assert_int_equal(udp_put(rig_net[0], &rma), 0);
}

static void end(const uint64_t *done) {
  for (uint32_t steps = 0; !*done; steps++) {
    assert_cmp(steps, <, 100000);
    rig_step(2);
  }
  for (uint32_t i = 0; i < BYTES; i++) assert_int_equal(rig_segment[1][i], 5);
  rig_close(2);
}

static void in_messages(uint32_t packet_bytes) {
  uint64_t done = 0;
  open(packet_bytes);
  put(&done);
  assert_cmp(calls, >, 0); /* of the window, before the call of the client returns */
  end(&done);
  assert_cmp(most, <=, UDP_RUN_BYTES);
  /* As full as they can be, but where the window fills up. */
  assert_cmp(calls, <=, 2 * BYTES / (UDP_RUN_BYTES - whole % UDP_RUN_BYTES) + 40);
}

TEST(messages) {
  in_messages(1472);
  in_messages(8972);
  in_messages(UDP_PACKET_MAX - UDP_SEAL_TAG);
  if (!rig_seal()) return;
  in_messages(1472);
  in_messages(UDP_PACKET_MAX - UDP_SEAL_TAG);
  rig_unseal();
}

/* The kernel takes two packets and then none for a while: in each poll one is tried again, and a
 * new one. They stay whole, for none was lost on its way. */
TEST(full) {
  uint64_t done = 0;
  open(UDP_PACKET_MAX - UDP_SEAL_TAG);
  takes = 2;
  put(&done);
  assert_int_equal(packets, 3);
  for (uint32_t i = 0; i < 10; i++) rig_step(2);
  assert_cmp(packets, <=, 3 + 10 * 2);
  takes = UINT32_MAX;
  end(&done);
}

int main(void) {
  return unit_run(NULL, NULL);
}
