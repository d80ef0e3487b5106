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

int main(void) {
  return unit_run(NULL, NULL);
}
