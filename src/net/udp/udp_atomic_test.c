/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote atomic operations taken out of packets: each is performed once and each completes once,
 * over good wires and bad ones, also while the owner's client computes; impossible ones are
 * refused. */
#include "base/unit_test.h"
#include "net/udp/udp_rig_test.h"

#if defined(__SANITIZE_ADDRESS__)
# include <sanitizer/lsan_interface.h>
#endif

#define STEPS_MAX 4000000u

enum { OPS = 2000, ADD = 1, READ = 2, NONE = 3 };

static uint64_t *word(void) {
  return (uint64_t *)(void *)(rig_segment[1] + 64);
}

static struct tmb_net_atomic atomic_of(uint32_t opcode, uint64_t operand, uint64_t *result,
                                       uint64_t *done) {
  return (struct tmb_net_atomic){.peer = 1,
                                 .remote = word(),
                                 .opcode = opcode,
                                 .bytes = 8,
                                 .operand = {operand},
                                 .result = result,
                                 .op = done};
}

/* Actions of rank 1: its client polls, or computes while its progress thread polls. */
static void step(bool computes) {
  (void)rig_progress(0, TMB_SERVE_ALL);
  uint64_t ns = UINT64_MAX;
  rig_current = 1;
  if (computes)
    (void)udp_tend(rig_net[1], rig_net[1]->time.tick, &ns);
  else
    (void)udp_progress(rig_net[1], TMB_SERVE_ALL);
  rig_current = 0;
  rig_now_ns += 1000;
}

/* Two of three fetch. The values before are those that a counter passes: each one once. */
static void counted(const struct udp_config *config, const char *fault, bool computes) {
  static uint64_t result[OPS], done[OPS];
  static bool seen[OPS];
  memset(done, 0, sizeof done);
  memset(seen, 0, sizeof seen);
  rig_open(2, config, fault);
  for (uint64_t k = 0; k < OPS; k++) {
    result[k] = UINT64_MAX;
    const struct tmb_net_atomic a = atomic_of(ADD, 1, k % 3 ? &result[k] : NULL, &done[k]);
    for (uint32_t steps = 0; udp_atomic(rig_net[0], &a); steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      step(computes);
    }
    if (k % 16 == 0) step(computes);
  }
  for (uint64_t k = 0; k < OPS; k++)
    for (uint32_t steps = 0; !done[k]; steps++) {
      assert_cmp(steps, <, STEPS_MAX);
      step(computes);
    }
  assert_int_equal(*word(), OPS);
  for (uint32_t steps = 0; !udp_drained(rig_net[0]); steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    step(computes);
  }
  assert_int_equal(*word(), OPS);
  for (uint64_t k = 0; k < OPS; k++) {
    assert_int_equal(done[k], 1);
    if (k % 3 == 0) continue;
    assert_cmp(result[k], <, OPS);
    assert_false(seen[result[k]]);
    seen[result[k]] = true;
  }
  rig_close(2);
}

TEST(each_once) {
  struct udp_config config = rig_config();
  counted(&config, NULL, false);
  counted(&config, "loss=5,dup=5,reorder=5,seed=70", false);
  counted(&config, "loss=5,dup=5,reorder=5,seed=71", true);
  config.credit = 1;
  counted(&config, "loss=1,seed=72", true);
  config = rig_config();
  config.packet_bytes = UDP_PACKET_MIN_MTU;
  counted(&config, "loss=1,corrupt=1,seed=73", false);
}

/* Where a long transfer waits, the answer waits behind it and is right. */
TEST(behind_transfers) {
  const struct udp_config config = rig_config();
  static uint8_t data[1000000];
  rig_open(2, &config, "loss=1,seed=74");
  uint64_t put = 0, done = 0, result = 0;
  const struct tmb_rma rma = {
      .peer = 0, .remote = rig_segment[0], .local = data, .nbytes = sizeof data, .op = &put};
  *word() = 5;
  rig_current = 1;
  assert_int_equal(udp_put(rig_net[1], &rma), 0);
  rig_current = 0;
  const struct tmb_net_atomic a = atomic_of(ADD, 2, &result, &done);
  assert_int_equal(udp_atomic(rig_net[0], &a), 0);
  for (uint32_t steps = 0; !done || !put; steps++) {
    assert_cmp(steps, <, STEPS_MAX);
    step(false);
  }
  assert_int_equal(result, 5);
  assert_int_equal(*word(), 7);
  rig_close(2);
}

#if defined(__SANITIZE_ADDRESS__)
/* Memory that a fatal error holds is lost where a test goes on behind it. */
# define LEAKS_COUNT(on) ((on) ? __lsan_enable() : __lsan_disable())
#else
# define LEAKS_COUNT(on) ((void)0)
#endif

static jmp_buf refused;

static void on_fatal(void) {
  longjmp(refused, 1);
}

/* An opcode or a type that does not exist, and a word outside of the segment. */
TEST(impossible) {
  const struct udp_config config = rig_config();
  for (volatile int k = 0; k < 3; k++) {
    uint64_t done = 0, result = 0;
    struct tmb_net_atomic a = atomic_of(k == 0 ? NONE : READ, 0, &result, &done);
    LEAKS_COUNT(false);
    rig_open(2, &config, NULL);
    LEAKS_COUNT(true);
    a.remote = word();
    if (k == 1) a.bytes = 4;
    if (k == 2) a.remote = rig_segment[1] + RIG_SEGMENT - 4;
    volatile bool ended = false;
    rig_on_fatal = on_fatal;
    if (setjmp(refused)) {
      ended = true;
    } else {
      assert_int_equal(udp_atomic(rig_net[0], &a), 0);
      for (uint32_t i = 0; i < 100; i++) step(false);
    }
    rig_on_fatal = NULL;
    rig_current = 0;
    assert_true(ended);
    assert_int_equal(done, 0);
    rig_close(2);
  }
}

int main(void) {
  int failed = unit_run(NULL, NULL);
  char why[128];
  rig_cipher = udp_cipher_load(why, sizeof why);
  const struct CMUnitTest sealed[] = {cmocka_unit_test(each_once)};
  if (rig_cipher) failed += cmocka_run_group_tests(sealed, NULL, NULL);
  rig_unseal();
  return failed;
}
