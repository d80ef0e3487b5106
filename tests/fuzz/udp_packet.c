/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: headers and records of packets of the udp conduit, as bytes from anywhere. What a reader
 * hands out lies in the packet, and what it has read is written back the same. */
#include "net/udp/wire/udp_packet.h"

#include <stdlib.h>
#include <string.h>

/* What both have read is the same. */
static void same(const struct udp_short *s, const struct udp_record *r, bool as_long) {
  if (!as_long || s->bytes != r->bytes || s->addr != r->addr || s->action != r->action) abort();
  if (s->bytes && s->payload != r->payload) abort();
  if (s->action && (s->signal_addr != r->signal_addr || s->signal_value != r->signal_value))
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(const uint8_t *packet, uint32_t bytes, const void *p, size_t count) {
  const uint8_t *at = p;
  if (count && (at < packet || at + count > packet + bytes)) abort();
}

/* Read each byte, so that a sanitizer looks at it. */
static unsigned touch(const void *p, size_t count) {
  unsigned sum = 0;
  for (size_t i = 0; i < count; i++) sum += ((const uint8_t *)p)[i];
  return sum;
}

static void write_back(const struct udp_record *r) {
  static TMB_ALIGNED(16) uint8_t out[UDP_PACKET_MAX];
  struct udp_record again;
  uint32_t at = UDP_HEADER_BYTES;
  if (udp_record_bytes(r) + r->bytes + 64 > sizeof out) return;
  const uint32_t end = udp_record_write(out, at, r, NULL);
  uint32_t bytes = end;
  if (r->flags & UDP_TAIL) {
    bytes = udp_tail_at(end);
    memcpy(out + bytes, r->payload, r->bytes);
    bytes += r->bytes;
  }
  if (udp_record_read(out, bytes, end, &at, &again)) abort();
  if (again.type != r->type || again.bytes != r->bytes || again.addr != r->addr ||
      again.total != r->total || again.id != r->id || again.nargs != r->nargs)
    abort();
  if (r->bytes && memcmp(again.payload, r->payload, r->bytes)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > UDP_PACKET_MAX) return 0;
  uint8_t *packet = aligned_alloc(16, TMB_ALIGN_UP(size + 1, (size_t)16));
  if (!packet) return 0;
  memcpy(packet, data, size);
  struct udp_header h;
  unsigned sum = 0;
  if (!udp_header_read(packet, (uint32_t)size, &h)) {
    const uint32_t end = UDP_HEADER_BYTES + h.control;
    uint32_t at = UDP_HEADER_BYTES;
    struct udp_record r;
    while (at < end) {
      struct udp_short s;
      const uint32_t short_bytes = udp_short_read(packet + at, end - at, &s), start = at;
      if (udp_record_read(packet, h.bytes, end, &at, &r)) {
        if (short_bytes) abort();
        break;
      }
      if (short_bytes) same(&s, &r, at - start == short_bytes);
      within(packet, h.bytes, r.payload, r.bytes);
      within(packet, h.bytes, r.args, r.nargs * sizeof *r.args);
      sum += touch(r.payload, r.bytes) + touch(r.args, r.nargs * sizeof *r.args);
      if (r.sack) sum += touch(r.sack, UDP_SACK_BYTES);
      write_back(&r);
    }
  }
  free(packet);
  return sum == 0x7fffffff;
}
