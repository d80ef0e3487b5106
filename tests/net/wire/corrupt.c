/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damage to a frame that checksums do not show.
 *
 * Owns: nothing. Called by wire.c. Calls: nothing. A datagram whose UDP checksum is wrong is
 * dropped by the receiving kernel, so to a program it is a lost one. What a program has to defend
 * itself against is damage that the checksum misses; so the checksum is corrected here (RFC 1624).
 * Invariants: nothing outside the frame is touched; the Ethernet header stays as it is.
 */
#include "model.h"

enum { ETHERNET = 14, IPV6_HEADER = 40, UDP_HEADER = 8, UDP = 17 };

static uint32_t get16(const uint8_t *at) {
  return (uint32_t)at[0] << 8 | at[1];
}

/* Where the UDP header of a frame begins; 0: it has none, or is a fragment. */
static size_t udp_header(const uint8_t *frame, size_t bytes) {
  if (bytes < ETHERNET + 20) return 0;
  const uint8_t *ip = frame + ETHERNET;
  const uint32_t type = get16(frame + 12);
  size_t at = 0;
  if (type == 0x0800 && ip[9] == UDP && (get16(ip + 6) & 0x3fff) == 0)
    at = ETHERNET + 4 * (size_t)(ip[0] & 15);
  if (type == 0x86dd && bytes >= ETHERNET + IPV6_HEADER && ip[6] == UDP)
    at = ETHERNET + IPV6_HEADER;
  return at && at + UDP_HEADER < bytes ? at : 0;
}

bool wire_is_datagram(const uint8_t *frame, size_t bytes) {
  return udp_header(frame, bytes) != 0;
}

/* The 16-bit word at offset `at` of the datagram changes from `old` to `new`. */
static void fix_checksum(uint8_t *udp, uint32_t old, uint32_t new) {
  const uint32_t sum = get16(udp + 6);
  if (!sum) return; /* the datagram has none */
  uint32_t next = (~sum & 0xffff) + (~old & 0xffff) + new;
  next = (next & 0xffff) + (next >> 16);
  next = ~((next & 0xffff) + (next >> 16)) & 0xffff;
  if (!next) next = 0xffff;
  udp[6] = (uint8_t)(next >> 8);
  udp[7] = (uint8_t)next;
}

void wire_corrupt(uint8_t *frame, size_t bytes, uint64_t random) {
  const uint8_t flip = (uint8_t)(1u << (random & 7));
  const uint64_t place = random >> 8;
  if (bytes <= ETHERNET) return;
  const size_t udp = udp_header(frame, bytes);
  if (!udp) {
    frame[ETHERNET + place % (bytes - ETHERNET)] ^= flip;
    return;
  }
  const size_t length = get16(frame + udp + 4); /* of the datagram; padding may follow it */
  const size_t end = length > UDP_HEADER && udp + length <= bytes ? udp + length : bytes;
  const size_t at = udp + UDP_HEADER + place % (end - udp - UDP_HEADER);
  const size_t word = at - (at - udp) % 2; /* the last one may be half a word, padded with zero */
  const uint32_t old = get16(frame + word) & (word + 1 < end ? 0xffff : 0xff00);
  frame[at] ^= flip;
  const uint32_t new = get16(frame + word) & (word + 1 < end ? 0xffff : 0xff00);
  fix_checksum(frame + udp, old, new);
}
