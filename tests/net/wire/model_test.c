/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the emulated link: times, chances, order, damage, settings.
 *
 * Owns: the time that the model is given. Called by ctest. Calls: model.h.
 * Invariants: no clock is read and every seed is fixed, so that a run is like any other.
 */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define US     1000u
#define FRAMES 100000u
#define TO_ONE 2u /* port 1 as bits */

static struct wire_model make(uint64_t seed, const char *const *words) {
  struct wire_settings settings = {.queue_bytes = 1 << 20, .hold_ns = 1000 * US};
  struct wire_model m;
  for (; *words; words++) assert_true(wire_setting(&settings, *words));
  wire_model_init(&m, 3, seed, &settings);
  return m;
}

#define MAKE(seed, ...) make(seed, (const char *const[]){__VA_ARGS__, NULL})

#define NEVER           UINT64_MAX

static bool datagram; /* what pass() passes */

/* Passes one frame from port 0 to port 1. Returns its first arrival, NEVER if there is none. */
static uint64_t pass(struct wire_model *m, uint64_t now, size_t bytes) {
  struct wire_fate fate = {.datagram = datagram};
  wire_model_pass(m, 0, TO_ONE, now, bytes, &fate);
  assert_int_equal(fate.counts[0] + fate.counts[2], 0);
  return fate.counts[1] ? fate.copies[1][0].at_ns : NEVER;
}

static void test_delay(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "delay=100us");
  assert_int_equal(pass(&m, 5000, 1500), 5000 + 100 * US);
}

static void test_rate(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "rate=1gbit", "delay=10us");
  /* 1250 bytes take 10 us; they are handed over at once */
  for (unsigned i = 1; i <= 100; i++) assert_int_equal(pass(&m, 0, 1250), (10 + 10 * i) * US);
  /* the line is free again */
  assert_int_equal(pass(&m, 5000 * US, 1250), 5020 * US);
}

static void test_two_senders(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "rate=1gbit");
  struct wire_fate fate = {0};
  wire_model_pass(&m, 0, 4, 0, 1250, &fate);
  assert_int_equal(fate.copies[2][0].at_ns, 10 * US);
  wire_model_pass(&m, 1, 4, 0, 1250, &fate);
  assert_int_equal(fate.copies[2][0].at_ns, 20 * US);
  wire_model_pass(&m, 2, 3, 0, 1250, &fate); /* the other direction is free, for both */
  assert_int_equal(fate.copies[0][0].at_ns, 10 * US);
  assert_int_equal(fate.copies[1][0].at_ns, 10 * US);
}

static void test_udp_only(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "loss=100%", "udp_only=1", "delay=10us");
  assert_int_equal(pass(&m, 0, 100), 10 * US);
  datagram = true;
  assert_int_equal(pass(&m, 0, 100), NEVER);
  datagram = false;
}

static void test_queue(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "rate=1gbit", "queue=12500");
  unsigned came = 0;
  for (unsigned i = 0; i < 50; i++) came += pass(&m, 0, 1250) != NEVER;
  assert_int_equal(came, 11); /* ten wait behind the first */
  assert_int_equal(m.ports[0].counts.overflowed, 39);
}

static void test_chances(void **state) {
  (void)state;
  struct wire_model a = MAKE(7, "loss=2%", "duplicate=0.1"), b = MAKE(7, "loss=0.02");
  struct wire_model c = MAKE(8, "loss=0.02");
  unsigned differ = 0;
  for (unsigned i = 0; i < FRAMES; i++) {
    const uint64_t at = pass(&a, i, 100);
    assert_int_equal(at != NEVER, pass(&b, i, 100) != NEVER); /* whatever else is set */
    differ += (at != NEVER) != (pass(&c, i, 100) != NEVER);
  }
  assert_in_range(a.ports[0].counts.lost, FRAMES / 50 - 300, FRAMES / 50 + 300);
  assert_in_range(a.ports[0].counts.duplicated, FRAMES / 10 - 800, FRAMES / 10 + 800);
  assert_int_equal(a.ports[0].counts.delivered,
                   FRAMES - a.ports[0].counts.lost + a.ports[0].counts.duplicated);
  assert_in_range(differ, FRAMES / 50, FRAMES / 20); /* another seed loses others */
}

static void test_order(void **state) {
  (void)state;
  struct wire_model m = MAKE(3, "jitter=500us", "delay=50us");
  uint64_t last = 0, least = UINT64_MAX;
  for (unsigned i = 0; i < 1000; i++) {
    const uint64_t now = i * (uint64_t)10 * US, at = pass(&m, now, 100);
    assert_in_range(at, last, UINT64_MAX);
    assert_in_range(at - now, 50 * US, 550 * US);
    least = at - now < least ? at - now : least;
    last = at;
  }
  struct wire_model r = MAKE(3, "reorder=10%", "hold=35us");
  unsigned overtaken = 0;
  last = 0;
  for (unsigned i = 0; i < 1000; i++) {
    const uint64_t at = pass(&r, i * (uint64_t)10 * US, 100);
    overtaken += at < last;
    last = at > last ? at : last;
  }
  assert_int_equal(r.ports[0].counts.reordered > 60, 1);
  assert_in_range(overtaken, 101, UINT32_MAX); /* three frames pass each that is held back */
}

static void test_cut(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "delay=1us");
  m.ports[1].cut = true;
  assert_int_equal(pass(&m, 0, 100), NEVER);
  m.ports[1].cut = false;
  m.ports[0].cut = true;
  assert_int_equal(pass(&m, 0, 100), NEVER);
  m.ports[0].cut = false;
  assert_int_equal(pass(&m, 0, 100), 1 * US);
  assert_int_equal(m.ports[0].counts.unplugged, 2);
}

/* ---- damage */

/* Sum of 16-bit words, the last one padded. */
static uint32_t sum16(const uint8_t *data, size_t bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes; i += 2)
    sum += (uint32_t)data[i] << 8 | (i + 1 < bytes ? data[i + 1] : 0);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/* A UDP datagram of `payload` bytes over IPv4 or IPv6 with a right checksum. Returns its length. */
static size_t make_datagram(uint8_t *frame, int family, size_t payload) {
  const size_t header = family == 4 ? 20 : 40, udp = 14 + header, length = 8 + payload;
  memset(frame, 0, udp + length);
  for (size_t i = 0; i < payload; i++) frame[udp + 8 + i] = (uint8_t)(i * 7 + payload);
  frame[12] = family == 4 ? 0x08 : 0x86;
  frame[13] = family == 4 ? 0x00 : 0xdd;
  frame[14] = family == 4 ? 0x45 : 0x60;
  frame[14 + (family == 4 ? 9 : 6)] = 17;
  frame[udp + 4] = (uint8_t)(length >> 8);
  frame[udp + 5] = (uint8_t)length;
  const uint32_t sum = ~sum16(frame + udp, length) & 0xffff; /* the addresses are zero */
  frame[udp + 6] = (uint8_t)(sum >> 8);
  frame[udp + 7] = (uint8_t)sum;
  return udp + length;
}

static void test_corrupt_datagram(void **state) {
  (void)state;
  uint8_t frame[2000], whole[2000];
  for (uint64_t i = 0; i < 4000; i++) {
    const int family = i & 1 ? 4 : 6;
    const size_t udp = 14 + (family == 4 ? 20u : 40u), payload = 1 + i % 97;
    const size_t bytes = make_datagram(frame, family, payload);
    memcpy(whole, frame, bytes);
    wire_corrupt(frame, bytes, i * 0x9e3779b97f4a7c15u);
    assert_memory_equal(frame, whole, udp + 6);
    assert_memory_not_equal(frame + udp + 8, whole + udp + 8, payload);
    assert_int_equal(sum16(frame + udp, 8 + payload), 0xffff); /* still right */
  }
}

static void test_corrupt_other(void **state) {
  (void)state;
  uint8_t frame[60] = {0};
  frame[12] = 0x08;
  frame[13] = 0x06; /* ARP */
  wire_corrupt(frame, sizeof frame, 0x1234567);
  unsigned changed = 0;
  for (size_t i = 14; i < sizeof frame; i++) changed += frame[i] != 0;
  assert_int_equal(changed, 1);
  wire_corrupt(frame, 14, 77); /* nothing behind the header */
}

/* A TCP segment over IPv4 with a right checksum. Returns its length. */
static size_t make_segment(uint8_t *frame, size_t payload) {
  const size_t tcp = 34, header = 32, length = header + payload;
  memset(frame, 0, tcp + length);
  for (size_t i = 0; i < payload; i++) frame[tcp + header + i] = (uint8_t)(i * 5 + payload);
  frame[12] = 0x08;
  frame[14] = 0x45;
  frame[16] = (uint8_t)((20 + length) >> 8);
  frame[17] = (uint8_t)(20 + length);
  frame[23] = 6;
  frame[tcp + 12] = 0x80; /* options follow */
  const uint32_t sum = ~sum16(frame + tcp, length) & 0xffff;
  frame[tcp + 16] = (uint8_t)(sum >> 8);
  frame[tcp + 17] = (uint8_t)sum;
  return tcp + length;
}

static void test_forge_segment(void **state) {
  (void)state;
  uint8_t frame[2000], whole[2000];
  for (uint64_t i = 0; i < 4000; i++) {
    const size_t payload = 1 + i % 97, bytes = make_segment(frame, payload);
    memcpy(whole, frame, bytes);
    wire_forge(frame, bytes, i * 0x9e3779b97f4a7c15u);
    assert_memory_equal(frame, whole, 34 + 16);
    assert_memory_not_equal(frame + 66, whole + 66, payload);
    assert_int_equal(sum16(frame + 34, 32 + payload), 0xffff);
  }
  assert_false(wire_has_payload(frame, make_segment(frame, 0)));
  assert_true(wire_has_payload(frame, make_segment(frame, 1)));
  assert_false(wire_is_datagram(frame, make_segment(frame, 1)));
}

/* The changed copy is the first of two that arrive together; the other one is whole. */
static void test_forge_first(void **state) {
  (void)state;
  struct wire_model m = MAKE(1, "forge=100%", "delay=10us");
  struct wire_fate fate = {.payload = true};
  wire_model_pass(&m, 0, TO_ONE, 0, 100, &fate);
  assert_int_equal(fate.counts[1], 2);
  assert_true(fate.copies[1][0].forged && !fate.copies[1][0].corrupt);
  assert_true(!fate.copies[1][1].forged && !fate.copies[1][1].corrupt);
  assert_int_equal(fate.copies[1][0].at_ns, fate.copies[1][1].at_ns);
  assert_int_equal(m.ports[0].counts.forged, 1);
  fate.payload = false; /* there is nothing to change */
  wire_model_pass(&m, 0, TO_ONE, 0, 100, &fate);
  assert_int_equal(fate.counts[1], 1);
}

/* ---- settings */

static void test_settings(void **state) {
  (void)state;
  struct wire_settings s = {0};
  assert_true(wire_setting(&s, "rate=2.5gbit"));
  assert_true(wire_setting(&s, "hold=3ms"));
  assert_true(wire_setting(&s, "queue=64k"));
  assert_true(wire_setting(&s, "corrupt=0.5%"));
  assert_int_equal(s.rate_bps, 2500000000u);
  assert_int_equal(s.hold_ns, 3000000);
  assert_int_equal(s.queue_bytes, 65536);
  assert_int_equal((int)(s.corrupt * 1e5 + 0.5), 500);
  assert_true(wire_setting(&s, "rate=0"));
  assert_int_equal(s.rate_bps, 0);
  static const char *const wrong[] = {"delay=5",    "delay=",    "delay",    "loss=101%", "loss=-1",
                                      "rate=1gbps", "losss=0.1", "loss=nan", "=3"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const struct wire_settings before = s;
    assert_false(wire_setting(&s, wrong[i]));
    assert_memory_equal(&before, &s, sizeof s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_delay),
      cmocka_unit_test(test_rate),
      cmocka_unit_test(test_two_senders),
      cmocka_unit_test(test_udp_only),
      cmocka_unit_test(test_queue),
      cmocka_unit_test(test_chances),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_cut),
      cmocka_unit_test(test_corrupt_datagram),
      cmocka_unit_test(test_corrupt_other),
      cmocka_unit_test(test_forge_segment),
      cmocka_unit_test(test_forge_first),
      cmocka_unit_test(test_settings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
