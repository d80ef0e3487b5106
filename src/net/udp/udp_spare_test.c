/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers kept for later packets are bounded, a retransmission copies only data that may change,
 * and packets that come in one datagram are copied once at most. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

enum { BYTES = 700000, KEPT_MAX = 2 << 20 };

/* Bytes of a class that rank 0 keeps. */
static uint64_t kept(uint32_t size_class) {
  uint64_t bytes = 0;
  for (const struct udp_buf *b = rig_net[0]->spare.bufs[size_class]; b; b = b->next)
    bytes += udp_buf_bytes(b);
  return bytes;
}

/* As many packets as several peers' windows hold; all are given back. */
TEST(bounded) {
  enum { COUNT = 4000 };
  static const uint32_t lengths[UDP_BUF_CLASSES] = {100, 2000, 9000, 17000, 33000, 60000};
  static struct udp_buf *list[COUNT];
  const struct udp_config config = rig_config();
  rig_open(2, &config, NULL);
  for (uint32_t c = 0; c < UDP_BUF_CLASSES; c++) {
    for (uint32_t i = 0; i < COUNT; i++) list[i] = udp_buf_get(rig_net[0], lengths[c]);
    for (uint32_t i = 0; i < COUNT; i++) udp_buf_put(rig_net[0], list[i]);
    assert_cmp(kept(c), <=, KEPT_MAX);
    assert_cmp(kept(c), >, KEPT_MAX * 9 / 10);
    list[0] = udp_buf_get(rig_net[0], lengths[c]); /* one that was kept: there is room again */
    const uint64_t before = kept(c);
    udp_buf_put(rig_net[0], list[0]);
    assert_cmp(kept(c), >, before);
  }
  rig_close(2);
}

static uint64_t mediums;

static void on_medium(const struct tmb_am_in *in) {
  assert_int_equal(in->nbytes, TMB_AM_MEDIUM_BYTES_MAX);
  mediums++;
}

/* The longest Medium is longer than a packet: the memory of its copy, and that where it is put
 * together, are used again. */
TEST(longest_medium) {
  static uint8_t src[TMB_AM_MEDIUM_BYTES_MAX];
  struct udp_config config = rig_config();
  config.packet_bytes = UDP_PACKET_MAX - UDP_SEAL_TAG;
  rig_open(2, &config, NULL);
  rig_on_am = on_medium;
  mediums = 0;
  int32_t arg = 0;
  struct tmb_am_out out = rig_medium(1, &arg, src, sizeof src);
  assert_int_equal(udp_am_send(rig_net[0], &out), 0);
  for (uint32_t steps = 0; !mediums || !udp_drained(rig_net[0]); steps++) {
    assert_cmp(steps, <, 1000000);
    rig_step(2);
  }
  for (uint32_t i = 0; i < 2; i++)
    assert_cmp(rig_net[i]->spare.buf_count[UDP_BUF_CLASSES - 1], >, 0);
  rig_on_am = NULL;
  rig_close(2);
}

/* Long messages whose source is free at once, in the longest packets, over a wire that loses. */
TEST(resent_from_the_copy) {
  static uint8_t src[BYTES];
  struct udp_config config = rig_config();
  config.packet_bytes = UDP_PACKET_MAX - UDP_SEAL_TAG;
  rig_open(2, &config, "loss=10,seed=5");
  uint64_t *signal = (uint64_t *)(void *)(rig_segment[1] + (3u << 20));
  *signal = 0;
  for (uint64_t k = 1; k <= 20; k++) {
    const struct tmb_rma rma = {
        .peer = 1, .remote = rig_segment[1], .local = src, .nbytes = sizeof src};
    const struct tmb_signal set = {signal, k, TMB_SIGNAL_SET};
    assert_int_equal(udp_put_signal(rig_net[0], &rma, &set), 0);
    for (uint32_t steps = 0; *signal < k; steps++) {
      assert_cmp(steps, <, 1000000);
      rig_step(2);
    }
  }
  for (uint32_t i = 0; i < 5000; i++) rig_step(2);
  assert_cmp(rig_stats[0].retransmits, >, 10);
  assert_int_equal(kept(UDP_BUF_CLASSES - 1), 0);
  rig_close(2);
}

/* The copy of a source whose end is awaited lies in a buffer that is kept afterwards. */
TEST(copies_are_kept) {
  static uint8_t src[60000];
  static const uint32_t lengths[] = {17000, 33000, 60000};
  const struct udp_config config = rig_config();
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(lengths); i++) {
    rig_open(2, &config, NULL);
    uint64_t done = 0;
    const struct tmb_rma rma = {.peer = 1,
                                .remote = rig_segment[1],
                                .local = src,
                                .nbytes = lengths[i],
                                .op = &done,
                                .report_local = true};
    assert_int_equal(udp_put(rig_net[0], &rma), 0);
    for (uint32_t steps = 0; done < 2; steps++) {
      assert_cmp(steps, <, 1000000);
      rig_step(2);
    }
    assert_cmp(kept(3 + i), >=, lengths[i]);
    rig_close(2);
  }
}

/* Packets of a length that is no multiple of 16, which the kernel hands over as one datagram: all
 * but the first have to be aligned. A block of memory holds the copies of many. */
TEST(run_copied_once) {
  enum { COUNT = 8, LENGTH = 1003 };
  _Alignas(64) static uint8_t run[COUNT * 1440], src[COUNT][LENGTH];
  const struct udp_config config = rig_config();
  uint32_t bytes = 0, blocks = 0;
  rig_open(2, &config, NULL);
  for (uint32_t k = 0; k < COUNT; k++) {
    memset(src[k], (int)k + 1, LENGTH);
    const struct tmb_rma rma = {.peer = 1,
                                .remote = rig_segment[1] + (size_t)k * LENGTH,
                                .local = src[k],
                                .nbytes = LENGTH};
    assert_int_equal(udp_put(rig_net[0], &rma), 0);
  }
  for (uint32_t i = 0; i < 3; i++) (void)rig_progress(0, TMB_SERVE_ALL);
  struct rig_port *port = rig_port[1];
  for (; port->head != port->tail; port->head++) {
    const struct rig_datagram *d = &port->queue[port->head % RIG_QUEUE];
    memcpy(run + bytes, d->bytes, d->count);
    bytes += d->count;
    free(d->bytes);
  }
  struct udp_batch *b = udp_batch_get(rig_net[1]);
  rig_current = 1;
  udp_datagram_take(rig_net[1], b, run, bytes);
  rig_current = 0;
  for (const struct udp_kept *k = b->kept; k; k = k->next) blocks++;
  assert_memory_equal(rig_segment[1], src, sizeof src);
  assert_int_equal(rig_stats[1].packets_in, COUNT);
  assert_int_equal(blocks, 1);
  udp_batch_put(rig_net[1], b);
  rig_close(2);
}

int main(void) {
  return unit_run(NULL, NULL);
}
