/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that count as lost in a window, and the end of a cut that was made by mistake. */
#include "base/unit_test.h"
#include "net/udp/window/udp_window.h"

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
  const struct udp_ack reported = {.ack = ack, .sack = sack};
  assert_true(udp_tx_ack(&tx, &reported, now_ns, count, NULL));
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
TEST_BETWEEN(overtaken_in_a_queue, begin, end) {
  const uint64_t now = settle(20), window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + 10 * MS);
  assert_int_not_equal(udp_tx_detect(&tx, now + 10 * MS + 1000), UINT64_MAX);
  assert_int_equal(tx.lost, 0);
  hear(tx.next, 0, now + 10 * MS + 50000);
  assert_int_equal(udp_tx_detect(&tx, now + 20 * MS), UINT64_MAX);
  assert_int_equal(tx.lost, 0);
  assert_cmp(tx.rail[0].cc.window, >=, window);
}

/* A packet that does not arrive is lost, once its time is over. */
TEST_BETWEEN(lost, begin, end) {
  const uint64_t now = settle(20), window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  const uint64_t due = udp_tx_detect(&tx, now + MS);
  assert_cmp(due, >, now + MS);
  assert_cmp(due, <, now + 2 * MS);
  assert_int_equal(udp_tx_detect(&tx, due), UINT64_MAX);
  assert_int_equal(tx.lost, 1);
  assert_cmp(tx.rail[0].cc.window, <, window);
  udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), due);
  hear(tx.next, 0, due + MS);
  assert_cmp(tx.rail[0].cc.window, <, window);
  assert_int_equal(tx.rail[0].reorder, 0);
}

/* The packet arrives late, before an answer to the second one can: the window is restored, and the
 * next such packet has more time. */
TEST_BETWEEN(late, begin, end) {
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
  assert_cmp(tx.rail[0].cc.window, >=, window);
  assert_int_equal(tx.rail[0].reorder, 1);
  const uint64_t waited = first - now;
  now = first + MS;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  assert_cmp(udp_tx_detect(&tx, now + MS) - now, >, waited + MS / 8);
}

/* The answer to one that was sent again says nothing of packets that were sent before that. */
TEST_BETWEEN(answer_to_the_first, begin, end) {
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

/* Sends 12 packets after 20 good ones, and nothing is heard of them. Returns the time of the
 * time-out. */
static uint64_t time_out_of_12(void) {
  const uint64_t now = settle(20);
  for (int i = 0; i < 12; i++) send(now + (uint64_t)i * 1000);
  udp_tx_timeout(&tx, 0, false, now + 10 * MS);
  return now + 10 * MS;
}

/* A peer that has not polled for long answers in parts: the first part, which has the retransmitted
 * packet, does not make the rest lost; a packet missing after a later one is. */
TEST_BETWEEN(late_in_parts, begin, end) {
  uint64_t now = time_out_of_12();
  const uint64_t first = tx.una;
  assert_int_equal(tx.lost, 1);
  udp_tx_sent(&tx, udp_tx_slot(&tx, first), now);
  now += 2 * MS;
  hear(first + 6, 0, now);
  (void)udp_tx_detect(&tx, now + 5 * MS);
  assert_int_equal(tx.lost, 0);
  send(now);
  hear(first + 6, 0x3f, now + MS); /* all but one */
  const uint64_t window = tx.rail[0].cc.window;
  (void)udp_tx_detect(&tx, now + 20 * MS);
  assert_int_equal(tx.lost, 1);
  assert_cmp(tx.rail[0].cc.window, <, window);
}

/* When nothing but the packet that was sent again has come, those before it are lost. */
TEST_BETWEEN(lost_before_a_timeout, begin, end) {
  uint64_t now = time_out_of_12();
  const uint64_t first = tx.una;
  udp_tx_sent(&tx, udp_tx_slot(&tx, first), now);
  hear(first + 1, 0, now + MS);
  (void)udp_tx_detect(&tx, now + 5 * MS);
  assert_int_equal(tx.lost, 11);
}

/* Round trips were long once, and are short now: the packets of a broken connection are lost as
 * well, and not retransmitted one a time-out. */
TEST_BETWEEN(lost_with_a_connection, begin, end) {
  uint64_t now = MS;
  send(now);
  now += 200 * MS;
  hear(tx.next, 0, now);
  const uint64_t first = tx.una;
  for (int i = 0; i < 12; i++) send(now);
  now += udp_tx_rto(&tx.rail[0]);
  udp_tx_timeout(&tx, 0, false, now);
  udp_tx_sent(&tx, udp_tx_slot(&tx, first), now);
  now += MS;
  hear(first + 1, 0, now);
  (void)udp_tx_detect(&tx, now);
  assert_int_equal(tx.lost, 11);
}

/* A peer that waits for a packet of its own to carry the acknowledgement says so: the time-out is
 * longer by that, up to 2 ms. */
TEST_BETWEEN(time_out_of_late_acknowledgements, begin, end) {
  static const uint64_t waits_us[] = {1500, 1000, 60000};
  static const uint64_t longer_us[] = {1500, 1500, 2000};
  uint64_t now = MS;
  for (int i = 0; i < 40; i++, now += MS) {
    send(now);
    hear(tx.next, 0, now + MS / 10);
  }
  const uint64_t least = udp_tx_rto(&tx.rail[0]);
  for (int i = 0; i < 3; i++, now += 100 * MS) {
    send(now);
    const struct udp_ack ack = {.ack = tx.next, .delay_ns = waits_us[i] * 1000};
    assert_true(udp_tx_ack(&tx, &ack, now + MS / 10 + ack.delay_ns, count, NULL));
    assert_int_equal(udp_tx_rto(&tx.rail[0]), least + longer_us[i] * 1000);
  }
}

/* Round trips of 200 ms: some packets are sent again before one is measured, and none after. */
TEST_BETWEEN(far_network, begin, end) {
  uint64_t now = MS;
  uint32_t again = 0;
  assert_cmp(udp_tx_rto(&tx.rail[0]), >=, 25 * MS); /* oversubscribed hosts are slow to answer */
  for (int k = 0; k < 8; k++) {
    const uint64_t sent = now;
    if (k < 3) again = 0; /* the first ones */
    send(now);
    while (now - sent + udp_tx_rto(&tx.rail[0]) < 200 * MS) {
      now += udp_tx_rto(&tx.rail[0]);
      udp_tx_timeout(&tx, 0, false, now);
      udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), now);
      again++;
    }
    now = sent + 200 * MS;
    hear(tx.next, 0, now);
    now += MS;
  }
  assert_int_equal(again, 0);
  assert_cmp(tx.rail[0].srtt_ns, >=, 199 * MS);
}

/* An answer that says it has waited for nearly all of its round trip was not that fast: losses are
 * still distinguished from a queue by the shortest one. */
TEST_BETWEEN(untrue_delay, begin, end) {
  uint64_t now = settle(20);
  struct udp_ack reported = {.delay_ns = MS - 10000};
  send(now);
  now += MS;
  reported.ack = tx.next;
  assert_true(udp_tx_ack(&tx, &reported, now, count, NULL));
  assert_int_equal(tx.rail[0].min_rtt_ns, MS);
  assert_int_equal(tx.rail[0].srtt_ns, MS);
  send(now); /* one that has really waited */
  now += 3 * MS;
  reported = (struct udp_ack){.ack = tx.next, .delay_ns = 2 * MS};
  assert_true(udp_tx_ack(&tx, &reported, now, count, NULL));
  assert_int_equal(tx.rail[0].srtt_ns, MS);
  const uint64_t window = tx.rail[0].cc.window;
  send(now);
  send(now + 10000);
  hear(tx.una, 1, now + MS);
  (void)udp_tx_detect(&tx, now + 2 * MS);
  assert_int_equal(tx.lost, 1);
  assert_cmp(tx.rail[0].cc.window, >=, window * 94 / 100);
}

/* Paced packets leave in bursts that one call hands over, at the rate that the window gives. */
TEST(bursts) {
  struct udp_cc cc;
  udp_cc_open(&cc, PACKET);
  cc.window = cc.threshold = 400 * PACKET;
  cc.max_bytes = cc.window;
  uint64_t now = 1000 * MS, sent = 0, calls = 0;
  cc.next_ns = now;
  for (const uint64_t stop = now + 100 * MS; now < stop; calls++) {
    while (!udp_cc_waits(&cc, now)) {
      udp_cc_pace(&cc, PACKET, now, MS);
      sent += PACKET;
    }
    now = cc.next_ns;
  }
  const uint64_t due = 125 * cc.window; /* 1.25 windows a round trip */
  assert_cmp(sent, >, due - due / 50);
  assert_cmp(sent, <, due + due / 50);
  assert_cmp(sent / calls, >, 38 * PACKET);
  assert_cmp(sent / calls, <=, 40 * PACKET);
  cc.window = cc.threshold =
      40 * PACKET; /* 100 times slower, in longer round trips: a millisecond's bytes */
  cc.burst = 0;
  cc.next_ns = now;
  for (sent = 0; !udp_cc_waits(&cc, now); sent += PACKET) udp_cc_pace(&cc, PACKET, now, 10 * MS);
  assert_cmp(sent, >=, 4 * PACKET);
  assert_cmp(sent, <=, 6 * PACKET);
}

/* One rail, alike in both but for slots. */
static void assert_alike(const struct udp_tx *one, const struct udp_tx *other) {
  assert_int_equal(one->una, other->una);
  assert_int_equal(one->next, other->next);
  assert_int_equal(one->lost, other->lost);
  assert_memory_equal(one->rail, other->rail, sizeof one->rail);
  assert_int_equal(udp_tx_slot((struct udp_tx *)(uintptr_t)one, one->una - 1)->state,
                   UDP_SLOT_FREE);
}

/* The acknowledgement of a packet alone in flight, by both ways, of packets of any length. */
TEST(lone_acknowledgements) {
  const uint32_t lengths[] = {64, PACKET, 9000, 20000}; /* the last ones use the window */
  struct udp_tx other;
  for (uint32_t rails = 1; rails <= 2; rails++) {
    assert_int_equal(udp_tx_open(&tx, PACKET, rails), 0);
    assert_int_equal(udp_tx_open(&other, PACKET, rails), 0);
    uint64_t now = MS;
    for (uint32_t i = 0; i < 200; i++) {
      const struct udp_ack reported = {.ack = tx.next + 1, .delay_ns = i % 3 * 50000};
      struct udp_tx *const both[] = {&tx, &other};
      for (uint32_t b = 0; b < 2; b++) {
        struct udp_slot *slot = udp_tx_take(both[b]);
        slot->head_bytes = lengths[i / 7 % 4];
        slot->rail = (uint8_t)(i / 50 % rails);
        udp_tx_sent(both[b], slot, now);
      }
      assert_true(udp_tx_is_lone(&tx));
      now += i % 5 ? MS + i * 1000 : 0; /* at once, too */
      assert_true(udp_tx_ack(&tx, &reported, now, count, NULL));
      udp_tx_ack_lone(&other, reported.delay_ns, now);
      assert_alike(&other, &tx);
    }
    udp_tx_close(&tx);
    udp_tx_close(&other);
  }
}

/* Of two packets, of one that was sent twice, and after a time-out, the whole way is taken. */
TEST_BETWEEN(not_lone, begin, end) {
  send(MS);
  assert_true(udp_tx_is_lone(&tx));
  send(MS);
  assert_false(udp_tx_is_lone(&tx));
  hear(tx.next, 0, 2 * MS);
  assert_false(udp_tx_is_lone(&tx));
  send(3 * MS);
  udp_tx_timeout(&tx, 0, false, 4 * MS);
  assert_false(udp_tx_is_lone(&tx));
  udp_tx_sent(&tx, udp_tx_slot(&tx, tx.una), 4 * MS);
  assert_false(udp_tx_is_lone(&tx));
  hear(tx.next, 0, 5 * MS);
  send(6 * MS);
  assert_false(udp_tx_is_lone(&tx)); /* earlier ones may be lost until udp_tx_detect has looked */
}

int main(void) {
  return unit_run(NULL, NULL);
}
