/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damage to a frame, and changes by somebody, that checksums do not show.
 *
 * Owns: nothing. Called by wire.c. Calls: nothing. A datagram whose UDP checksum is wrong is
 * dropped by the receiving kernel, so to a program it is a lost one. What a program has to defend
 * itself against is damage that the checksum misses; so the checksum is corrected here (RFC 1624).
 * Who forges a frame does the same, also for TCP. Invariants: nothing outside the frame is
 * touched; the Ethernet header stays as it is.
 */
#include "model.h"

enum { ETHERNET = 14, IPV4_HEADER = 20, IPV6_HEADER = 40, UDP = 17, TCP = 6 };

/* The payload of a frame, as offsets in it. */
struct payload {
  size_t header;   /* of UDP or TCP; 0: it has neither, or is a fragment */
  size_t at, end;  /* equal: it is empty */
  size_t checksum; /* 2 bytes */
  bool optional;   /* a checksum of zero says that there is none */
};

static uint32_t get16(const uint8_t *at) {
  return (uint32_t)at[0] << 8 | at[1];
}

/* Where the packet of UDP or TCP in a frame begins and ends; padding may follow it. Returns its
 * protocol, 0: it has neither, or is a fragment. */
static int find_packet(const uint8_t *frame, size_t bytes, size_t *at, size_t *end) {
  if (bytes < ETHERNET + IPV4_HEADER) return 0;
  const uint8_t *ip = frame + ETHERNET;
  const uint32_t type = get16(frame + 12);
  int protocol = 0;
  if (type == 0x0800 && (get16(ip + 6) & 0x3fff) == 0) {
    *at = ETHERNET + 4 * (size_t)(ip[0] & 15);
    *end = ETHERNET + get16(ip + 2);
    protocol = ip[9];
  } else if (type == 0x86dd && bytes >= ETHERNET + IPV6_HEADER) {
    *at = ETHERNET + IPV6_HEADER;
    *end = *at + get16(ip + 4);
    protocol = ip[6];
  }
  if (*end > bytes || *end <= *at) *end = bytes;
  return protocol == UDP || protocol == TCP ? protocol : 0;
}

static struct payload find_payload(const uint8_t *frame, size_t bytes) {
  size_t at = 0, end = 0;
  const int protocol = find_packet(frame, bytes, &at, &end);
  const size_t least = protocol == UDP ? 8 : 20;
  if (!protocol || at + least > end) return (struct payload){0};
  const size_t header = protocol == UDP ? least : 4 * (size_t)(frame[at + 12] >> 4);
  if (header < least || at + header > end) return (struct payload){0};
  return (struct payload){.header = at,
                          .at = at + header,
                          .end = end,
                          .checksum = at + (protocol == UDP ? 6 : 16),
                          .optional = protocol == UDP};
}

bool wire_is_datagram(const uint8_t *frame, size_t bytes) {
  const struct payload p = find_payload(frame, bytes);
  return p.optional && p.at < p.end;
}

bool wire_has_payload(const uint8_t *frame, size_t bytes) {
  const struct payload p = find_payload(frame, bytes);
  return p.at < p.end;
}

/* The 16-bit word at an even offset of the packet changes from `old` to `new`. */
static void fix_checksum(uint8_t *frame, const struct payload *p, uint32_t old, uint32_t new) {
  const uint32_t sum = get16(frame + p->checksum);
  if (!sum && p->optional) return; /* the datagram has none */
  uint32_t next = (~sum & 0xffff) + (~old & 0xffff) + new;
  next = (next & 0xffff) + (next >> 16);
  next = ~((next & 0xffff) + (next >> 16)) & 0xffff;
  if (!next && p->optional) next = 0xffff;
  frame[p->checksum] = (uint8_t)(next >> 8);
  frame[p->checksum + 1] = (uint8_t)next;
}

static void change(uint8_t *frame, const struct payload *p, uint64_t random) {
  const size_t at = p->at + (random >> 8) % (p->end - p->at);
  const size_t word = at - (at - p->header) % 2; /* the last may be half a word, with a zero */
  const uint32_t mask = word + 1 < p->end ? 0xffff : 0xff00;
  const size_t second = word + 1 < p->end ? word + 1 : word;
  const uint32_t old = ((uint32_t)frame[word] << 8 | frame[second]) & mask;
  frame[at] ^= (uint8_t)(1u << (random & 7));
  const uint32_t new = ((uint32_t)frame[word] << 8 | frame[second]) & mask;
  fix_checksum(frame, p, old, new);
}

void wire_forge(uint8_t *frame, size_t bytes, uint64_t random) {
  const struct payload p = find_payload(frame, bytes);
  if (p.at < p.end) change(frame, &p, random);
}

void wire_corrupt(uint8_t *frame, size_t bytes, uint64_t random) {
  if (bytes <= ETHERNET) return;
  if (wire_is_datagram(frame, bytes)) {
    wire_forge(frame, bytes, random);
    return;
  }
  frame[ETHERNET + (random >> 8) % (bytes - ETHERNET)] ^= (uint8_t)(1u << (random & 7));
}
