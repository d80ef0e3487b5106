/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of packets: the bytes written depend on nothing but the record, so that no byte of memory
 * that the packet had before leaves the process.
 *
 * Owns: nothing. Run by ctest. Calls: udp_packet.
 * Invariants: each record is written over two different fillings; the sent bytes are equal.
 */

#include "base/compiler.h"
#include "base/unit_test.h"
#include "net/udp/wire/udp_packet.h"

#include <string.h>

enum { BYTES = 512, ARGS = 7 };

static const int32_t args[ARGS] = {1, 2, 3, 4, 5, 6, 7};
static const uint8_t sack[UDP_SACK_BYTES];

static void written_twice(const struct udp_record *record, uint32_t at) {
  _Alignas(16) static uint8_t packet[2][BYTES];
  uint32_t end[2], payload_at[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    memset(packet[i], i ? 0xff : 0x5a, BYTES);
    end[i] = udp_record_write(packet[i], at, record, &payload_at[i]);
    if (record->flags & UDP_TAIL) end[i] = payload_at[i]; /* the payload follows */
  }
  assert_int_equal(end[0], end[1]);
  assert_memory_equal(packet[0] + at, packet[1] + at, end[0] - at);
}

TEST(records_are_whole) {
  for (uint8_t type = 0; type < UDP_RECORD_TYPES; type++)
    for (uint8_t nargs = 0; nargs <= ARGS; nargs++)
      for (uint32_t bytes = 0; bytes < 20; bytes++)
        for (uint8_t tail = 0; tail < 2; tail++) {
          struct udp_record r = {.type = type, .nargs = nargs, .args = args, .sack = sack};
          if (type != UDP_SACK) {
            r.flags = (uint8_t)(tail && bytes ? UDP_TAIL : 0);
            r.bytes = bytes;
            r.payload = "an example of a payload";
          }
          for (uint32_t at = UDP_HEADER_BYTES; at < UDP_HEADER_BYTES + 32; at += 8)
            written_twice(&r, at);
        }
}

static struct udp_record message(uint8_t nargs, uint32_t bytes) {
  return (struct udp_record){.type = UDP_AM,
                             .flags = (uint8_t)(bytes       ? UDP_MEDIUM
                                                : nargs % 2 ? UDP_REPLY
                                                            : 0),
                             .handler = 200,
                             .route = 65,
                             .nargs = nargs,
                             .args = args,
                             .bytes = bytes,
                             .payload = "an example of a payload"};
}

TEST(messages_are_written_alike) {
  _Alignas(16) static uint8_t packet[2][BYTES];
  for (uint8_t nargs = 0; nargs <= ARGS; nargs++)
    for (uint32_t bytes = 0; bytes < 20; bytes++) {
      const struct udp_record r = message(nargs, bytes);
      memset(packet[0], 0x5a, BYTES);
      memset(packet[1], 0xff, BYTES);
      const uint32_t end = udp_record_write(packet[0], UDP_HEADER_BYTES, &r, NULL);
      assert_int_equal(udp_message_write(packet[1], &r), end);
      assert_memory_equal(packet[0] + UDP_HEADER_BYTES, packet[1] + UDP_HEADER_BYTES,
                          end - UDP_HEADER_BYTES);
    }
}

/* Whatever udp_message_read takes, udp_record_read takes alike. Returns whether it took it. */
static bool read_alike(const uint8_t *packet, uint32_t end) {
  struct udp_record one, other;
  uint32_t at = UDP_HEADER_BYTES;
  if (!udp_message_read(packet, end, &one)) return false;
  assert_int_equal(udp_record_read(packet, end, end, &at, &other), 0);
  assert_int_equal(at, end);
  assert_int_equal(other.type, UDP_AM);
  assert_int_equal(one.type, other.type);
  assert_int_equal(one.flags, other.flags);
  assert_int_equal(one.handler, other.handler);
  assert_int_equal(one.route, other.route);
  assert_int_equal(one.nargs, other.nargs);
  assert_int_equal(one.bytes, other.bytes);
  assert_ptr_equal(one.args, other.args);
  assert_ptr_equal(one.payload, other.payload);
  return true;
}

/* Messages, and messages of which a byte is wrong. */
TEST(messages_are_read_alike) {
  _Alignas(16) static uint8_t packet[BYTES];
  uint32_t wrong_taken = 0, refused = 0;
  for (uint8_t nargs = 0; nargs <= ARGS; nargs++)
    for (uint32_t bytes = 0; bytes < 20; bytes++) {
      const struct udp_record r = message(nargs, bytes);
      const uint32_t end = udp_message_write(packet, &r);
      assert_true(read_alike(packet, end));
      for (uint32_t longer = end + 8; longer <= end + 16; longer += 8)
        assert_false(read_alike(packet, longer));
      assert_false(read_alike(packet, end - 8));
      for (uint32_t at = UDP_HEADER_BYTES; at < end; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
          packet[at] ^= (uint8_t)(1u << bit);
          if (read_alike(packet, end))
            wrong_taken++;
          else
            refused++;
          packet[at] ^= (uint8_t)(1u << bit);
        }
    }
  assert_cmp(wrong_taken, >, 0); /* another handler */
  assert_cmp(refused, >, 0);
}

/* A short put as a record. */
static struct udp_record record_of(const struct udp_short *s) {
  struct udp_record r = {
      .type = UDP_PUT, .addr = s->addr, .bytes = s->bytes, .payload = s->payload};
  if (s->action == UDP_ACT_NONE) return r;
  r.type = UDP_PART;
  r.flags = UDP_HEAD;
  r.action = s->action;
  r.total = s->bytes;
  r.signal_addr = s->signal_addr;
  r.signal_value = s->signal_value;
  return r;
}

/* Whatever udp_short_read takes, udp_record_read takes alike. Returns its bytes, or 0. */
static uint32_t short_read_alike(const uint8_t *packet, uint32_t end) {
  struct udp_short s;
  struct udp_record other;
  uint32_t at = UDP_HEADER_BYTES;
  const uint32_t bytes = udp_short_read(packet + at, end - at, &s);
  if (!bytes) return 0;
  assert_int_equal(udp_record_read(packet, end, end, &at, &other), 0);
  assert_int_equal(at, UDP_HEADER_BYTES + bytes);
  const struct udp_record one = record_of(&s);
  assert_int_equal(one.type, other.type);
  assert_int_equal(one.flags, other.flags);
  assert_int_equal(one.action, other.action);
  assert_int_equal(one.bytes, other.bytes);
  assert_int_equal(one.addr, other.addr);
  assert_int_equal(one.total, other.total);
  if (other.bytes) assert_ptr_equal(one.payload, other.payload);
  if (s.action == UDP_ACT_NONE) return bytes;
  assert_int_equal(one.signal_addr, other.signal_addr);
  assert_int_equal(one.signal_value, other.signal_value);
  return bytes;
}

static struct udp_short short_of(uint8_t action, uint32_t bytes) {
  return (struct udp_short){.addr = 0x123456789abcdef0,
                            .signal_addr = 0x1000,
                            .signal_value = 0xfedcba9876543210,
                            .payload = "an example of a payload",
                            .bytes = bytes,
                            .action = action};
}

TEST(short_puts_are_written_alike) {
  _Alignas(16) static uint8_t packet[2][BYTES];
  for (uint8_t action = UDP_ACT_NONE; action <= UDP_ACT_ADD; action++)
    for (uint32_t bytes = 0; bytes < 20; bytes++) {
      const struct udp_short s = short_of(action, bytes);
      const struct udp_record r = record_of(&s);
      memset(packet[0], 0x5a, BYTES);
      memset(packet[1], 0xff, BYTES);
      const uint32_t end = udp_record_write(packet[0], UDP_HEADER_BYTES, &r, NULL);
      udp_short_write(packet[1] + UDP_HEADER_BYTES, &s);
      assert_int_equal(UDP_HEADER_BYTES + udp_short_bytes(&s), end);
      assert_memory_equal(packet[0] + UDP_HEADER_BYTES, packet[1] + UDP_HEADER_BYTES,
                          end - UDP_HEADER_BYTES);
    }
}

/* Short puts, cut ones, longer ones, and those of which a bit is wrong. */
TEST(short_puts_are_read_alike) {
  _Alignas(16) static uint8_t packet[BYTES];
  uint32_t wrong_taken = 0, refused = 0;
  for (uint8_t action = UDP_ACT_NONE; action <= UDP_ACT_ADD; action++)
    for (uint32_t bytes = 0; bytes < 20; bytes++) {
      const struct udp_short s = short_of(action, bytes);
      const uint32_t size = udp_short_bytes(&s), end = UDP_HEADER_BYTES + size;
      udp_short_write(packet + UDP_HEADER_BYTES, &s);
      assert_int_equal(short_read_alike(packet, end), size);
      assert_int_equal(short_read_alike(packet, end + 8), size);
      for (uint32_t cut = UDP_HEADER_BYTES; cut < end; cut += 8)
        assert_int_equal(short_read_alike(packet, cut), 0);
      for (uint32_t at = UDP_HEADER_BYTES; at < end; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
          packet[at] ^= (uint8_t)(1u << bit);
          if (short_read_alike(packet, end))
            wrong_taken++;
          else
            refused++;
          packet[at] ^= (uint8_t)(1u << bit);
        }
    }
  assert_cmp(wrong_taken, >, 0); /* another address */
  assert_cmp(refused, >, 0);
}

int main(void) {
  return unit_run(NULL, NULL);
}
