/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines over a wire in memory: messages, puts, gets and signals, over a good wire and over bad
 * ones. */
#include "net/udp/udp_talk_test.h"

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
  for (uint32_t steps = 0; !tmb_load_acq(&done); steps++) {
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

int main(void) {
  const struct CMUnitTest sealed[] = {cmocka_unit_test(good_wire), cmocka_unit_test(bad_wires),
                                      cmocka_unit_test(settings), cmocka_unit_test(remote_memory),
                                      cmocka_unit_test(ordered_signals)};
  int failed = unit_run(NULL, NULL);
  if (rig_seal()) failed += cmocka_run_group_tests(sealed, NULL, NULL);
  rig_unseal();
  return failed;
}
