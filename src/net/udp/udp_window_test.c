/* SPDX-License-Identifier: BSD-3-Clause */
/* What counts as lost in a window, and what becomes of a cut that was made by mistake. */
#include "net/udp/udp_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS     1000000u
#define PACKET 1472u

static struct udp_tx tx;
static uint32_t acked;

static void count(void *ctx, struct udp_slot *slot) {
  (void)ctx;
  (void)slot;
  acked++;
}

static void send(uint64_t now_ns) {
  struct udp_slot *slot = udp_tx_take(&tx);
  slot->head_bytes = PACKET;
  udp_tx_sent(&tx, slot, now_ns);
}

/* All below `ack` have come, and of the next those in `sack`. */
static void hear(uint64_t ack, uint32_t sack, uint64_t now_ns) {
  const struct udp_ack news = {.ack = ack, .sack = sack};
  assert_true(udp_tx_ack(&tx, &news, now_ns, count, NULL));
}

static int begin(void **state) {
  (void)state;
  acked = 0;
  return udp_tx_open(&tx, PACKET, 1);
}

static int end(void **state) {
  (void)state;
  udp_tx_close(&tx);
  return 0;
}

/* Round trips of a millisecond, so many. Returns the time. */
static uint64_t settle(uint32_t rounds) {
  uint64_t now = MS;
  for (uint32_t i = 0; i < rounds; i++) {
    send(now);
    now += MS;
    hear(tx.next, 0, now);
  }
  return now;
}

/* A queue has grown from nothing to 9 ms, and of two packets there the later one comes first. */
static void overtaken_in_a_queue(void **state) {
  (void)state;
  const uint64_t now = settle(20), window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + 10 * MS);
  assert_true(udp_tx_detect(&tx, now + 10 * MS + 1000) != UINT64_MAX);
  assert_int_equal(tx.lost, 0);
  hear(tx.next, 0, now + 10 * MS + 50000);
  assert_int_equal(udp_tx_detect(&tx, now + 20 * MS), UINT64_MAX);
  assert_int_equal(tx.lost, 0);
  assert_true(tx.rail[0].cc.window >= window);
}

/* One that does not come is lost, once its time is over. */
static void lost(void **state) {
  (void)state;
  const uint64_t now = settle(20), window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  const uint64_t due = udp_tx_detect(&tx, now + MS);
  assert_true(due > now + MS && due < now + 2 * MS);
  assert_int_equal(udp_tx_detect(&tx, due), UINT64_MAX);
  assert_int_equal(tx.lost, 1);
  assert_true(tx.rail[0].cc.window < window);
  udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), due);
  hear(tx.next, 0, due + MS);
  assert_true(tx.rail[0].cc.window < window);
  assert_int_equal(tx.rail[0].patience, 0);
}

/* It comes late, before an answer to the second one can: the window is what it was, and the next
 * such packet has more time. */
static void late(void **state) {
  (void)state;
  uint64_t now = settle(20);
  const uint64_t window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  const uint64_t first = udp_tx_detect(&tx, now + MS);
  (void)udp_tx_detect(&tx, first);
  assert_int_equal(tx.lost, 1);
  udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), first);
  hear(tx.next, 0, first + 20000);
  assert_true(tx.rail[0].cc.window >= window);
  assert_int_equal(tx.rail[0].patience, 1);
  const uint64_t waited = first - now;
  now = first + MS;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  assert_true(udp_tx_detect(&tx, now + MS) - now > waited + MS / 8);
}

/* The answer to one that was sent again says nothing of packets that were sent before that. */
static void answer_to_the_first(void **state) {
  (void)state;
  const uint64_t now = settle(20);
  for (int i = 0; i < 10; i++) send(now + (uint64_t)i * 1000);
  hear(tx.una, 1, now + MS);
  const uint64_t due = udp_tx_detect(&tx, now + MS);
  (void)udp_tx_detect(&tx, due);
  assert_int_equal(tx.lost, 1);
  udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), due);
  hear(tx.una + 2, 0, due + 20000);
  (void)udp_tx_detect(&tx, due + 5 * MS);
  assert_int_equal(tx.lost, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(overtaken_in_a_queue, begin, end),
      cmocka_unit_test_setup_teardown(lost, begin, end),
      cmocka_unit_test_setup_teardown(late, begin, end),
      cmocka_unit_test_setup_teardown(answer_to_the_first, begin, end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
