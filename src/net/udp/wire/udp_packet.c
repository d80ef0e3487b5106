/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing and reading records and headers, see udp_packet.h.
 *
 * Owns nothing. Called by the engine and the fuzzers. Calls libc. A record on the wire is a prefix
 * of 8 bytes (type, flags, length of the record, length of its payload), fields by type, then the
 * payload unless it is a tail. Invariants: the length in the prefix is a multiple of 8 and covers
 * fields, arguments and payload; a reader checks each against it before it looks.
 */
#include "net/udp/wire/udp_packet.h"

#include "base/error.h"

#include <string.h>

/* Fields of each type, as they lie in a packet. */
struct wire_prefix {
  uint8_t type, flags;
  uint16_t size;
  uint32_t bytes;
};
struct wire_am {
  uint8_t handler, nargs;
  uint16_t route;
};
struct wire_part {
  uint64_t addr, total;
  uint32_t id, action;
};
struct wire_data {
  uint64_t addr;
  uint32_t id, zero;
};
struct wire_signal {
  uint64_t addr, value;
};
struct wire_atomic {
  uint64_t addr, operand[2];
  uint32_t opcode, dt, id, bytes;
};

static const uint16_t fixed_bytes[UDP_RECORD_TYPES] = {
    [UDP_AM] = sizeof(struct wire_prefix) + sizeof(struct wire_am),
    [UDP_PUT] = sizeof(struct wire_prefix) + sizeof(uint64_t),
    [UDP_PART] = sizeof(struct wire_prefix) + sizeof(struct wire_part),
    [UDP_GET] = sizeof(struct wire_prefix) + sizeof(struct wire_part),
    [UDP_DATA] = sizeof(struct wire_prefix) + sizeof(struct wire_data),
    [UDP_SACK] = sizeof(struct wire_prefix) + UDP_SACK_BYTES,
    [UDP_PROBE] = sizeof(struct wire_prefix) + sizeof(struct wire_data),
    [UDP_ANSWER] = sizeof(struct wire_prefix) + sizeof(struct wire_data),
    [UDP_ATOMIC] = sizeof(struct wire_prefix) + sizeof(struct wire_atomic),
    [UDP_PIECE] = sizeof(struct wire_prefix) + sizeof(struct wire_part)};

static bool is_message(uint8_t action) {
  return action == UDP_ACT_MEDIUM || action == UDP_ACT_LONG;
}

static bool is_signal(uint8_t action) {
  return action == UDP_ACT_SET || action == UDP_ACT_ADD;
}

/* ---- writing */

static uint32_t add(uint8_t *packet, uint32_t at, const void *data, size_t bytes) {
  memcpy(packet + at, data, bytes);
  return at + (uint32_t)bytes;
}

static uint32_t add_am(uint8_t *packet, uint32_t at, const struct udp_record *r) {
  const struct wire_am am = {r->handler, r->nargs, r->route};
  at = add(packet, at, &am, sizeof am);
  return add(packet, at, r->args ? (const void *)r->args : "", r->nargs * sizeof(int32_t));
}

static uint32_t add_part(uint8_t *packet, uint32_t at, const struct udp_record *r) {
  const struct wire_part part = {r->addr, r->total, r->id, r->action};
  at = add(packet, at, &part, sizeof part);
  if (r->type == UDP_PART && !(r->flags & UDP_HEAD)) return at;
  if (is_message(r->action)) return add_am(packet, at, r);
  if (!is_signal(r->action)) return at;
  const struct wire_signal signal = {r->signal_addr, r->signal_value};
  return add(packet, at, &signal, sizeof signal);
}

static uint32_t add_atomic(uint8_t *packet, uint32_t at, const struct udp_record *r) {
  const struct wire_atomic atomic = {
      r->addr, {r->operand[0], r->operand[1]}, r->opcode, r->dt, r->id, (uint32_t)r->total};
  return add(packet, at, &atomic, sizeof atomic);
}

static uint32_t add_fields(uint8_t *packet, uint32_t at, const struct udp_record *r) {
  const struct wire_data data = {r->addr, r->id, 0};
  switch (r->type) {
  case UDP_AM: return add_am(packet, at, r);
  case UDP_PUT: return add(packet, at, &r->addr, sizeof r->addr);
  case UDP_DATA:
  case UDP_PROBE:
  case UDP_ANSWER: return add(packet, at, &data, sizeof data);
  case UDP_SACK: return add(packet, at, r->sack, UDP_SACK_BYTES);
  case UDP_ATOMIC: return add_atomic(packet, at, r);
  default: return add_part(packet, at, r);
  }
}

/* Where the payload of a record starts whose fields end at `at`. */
static uint32_t payload_start(uint8_t type, uint32_t at) {
  return type == UDP_AM ? TMB_ALIGN_UP(at, 16u) : TMB_ALIGN_UP(at, 8u);
}

/* No byte of the process's memory leaves it unasked. Fields end at multiples of four bytes. */
static uint32_t pad_to(uint8_t *packet, uint32_t at, uint32_t end) {
  for (; at < end; at += 4) memset(packet + at, 0, 4);
  return end;
}

uint32_t udp_record_write(uint8_t *packet, uint32_t at, const struct udp_record *record,
                          uint32_t *payload_at) {
  const uint32_t start = at;
  at = add_fields(packet, at + (uint32_t)sizeof(struct wire_prefix), record);
  if (record->bytes && !(record->flags & UDP_TAIL)) {
    at = pad_to(packet, at, payload_start(record->type, at));
    if (payload_at) *payload_at = at;
    if (record->payload) memcpy(packet + at, record->payload, record->bytes);
    at += record->bytes;
  }
  while (at % 8) packet[at++] = 0;
  const struct wire_prefix prefix = {record->type, record->flags, (uint16_t)(at - start),
                                     record->bytes};
  memcpy(packet + start, &prefix, sizeof prefix);
  if (payload_at && record->flags & UDP_TAIL) *payload_at = pad_to(packet, at, udp_tail_at(at));
  return at;
}

uint32_t udp_message_write(uint8_t *packet, const struct udp_record *record) {
  const uint32_t start = UDP_HEADER_BYTES;
  uint32_t at = add_am(packet, start + (uint32_t)sizeof(struct wire_prefix), record);
  if (record->bytes) {
    at = pad_to(packet, at, payload_start(UDP_AM, at));
    memcpy(packet + at, record->payload, record->bytes);
    at += record->bytes;
  }
  while (at % 8) packet[at++] = 0;
  const struct wire_prefix prefix = {UDP_AM, record->flags, (uint16_t)(at - start), record->bytes};
  memcpy(packet + start, &prefix, sizeof prefix);
  return at;
}

void udp_short_write(uint8_t *record, const struct udp_short *s) {
  const uint32_t size = udp_short_bytes(s);
  uint8_t *at = record + sizeof(struct wire_prefix);
  struct wire_prefix prefix = {UDP_PUT, 0, (uint16_t)size, s->bytes};
  if (s->action == UDP_ACT_NONE) {
    memcpy(at, &s->addr, sizeof s->addr);
    at += sizeof s->addr;
  } else {
    const struct wire_part part = {s->addr, s->bytes, 0, s->action};
    const struct wire_signal signal = {s->signal_addr, s->signal_value};
    prefix.type = UDP_PART;
    prefix.flags = UDP_HEAD;
    memcpy(at, &part, sizeof part);
    memcpy(at + sizeof part, &signal, sizeof signal);
    at += sizeof part + sizeof signal;
  }
  memcpy(record, &prefix, sizeof prefix);
  if (s->bytes == sizeof(uint64_t)) {
    memcpy(at, s->payload, sizeof(uint64_t));
  } else if (s->bytes) {
    memset(record + size - sizeof(uint64_t), 0, sizeof(uint64_t));
    memcpy(at, s->payload, s->bytes);
  }
}

void udp_record_pad(uint8_t *record, uint32_t bytes, uint32_t more) {
  struct wire_prefix prefix;
  memcpy(&prefix, record, sizeof prefix);
  prefix.size = (uint16_t)(bytes + more);
  memcpy(record, &prefix, sizeof prefix);
  memset(record + bytes, 0, more);
}

uint32_t udp_record_bytes(const struct udp_record *record) {
  uint32_t bytes = fixed_bytes[record->type];
  const bool acts = record->type != UDP_PART || record->flags & UDP_HEAD;
  if (record->type == UDP_AM)
    bytes += record->nargs * 4u;
  else if (acts && is_message(record->action))
    bytes += (uint32_t)sizeof(struct wire_am) + record->nargs * 4u;
  else if (acts && is_signal(record->action))
    bytes += (uint32_t)sizeof(struct wire_signal);
  if (!(record->flags & UDP_TAIL)) bytes += 8 + record->bytes;
  return TMB_ALIGN_UP(bytes, 8u);
}

/* ---- reading */

/* A part of a packet that is being read. */
struct reader {
  const uint8_t *packet;
  uint32_t at, end;
};

static bool take(struct reader *in, void *data, uint32_t bytes) {
  if (in->end - in->at < bytes) return false;
  memcpy(data, in->packet + in->at, bytes);
  in->at += bytes;
  return true;
}

static bool take_am(struct reader *in, struct udp_record *r) {
  struct wire_am am;
  if (!take(in, &am, sizeof am) || !tmb_am_args_fit(am.nargs, am.route) ||
      am.route >> (TMB_ROUTE_BITS + 1))
    return false;
  if (in->end - in->at < am.nargs * 4u) return false;
  r->handler = am.handler;
  r->nargs = am.nargs;
  r->route = am.route;
  r->args = (const int32_t *)(const void *)(in->packet + in->at);
  in->at += am.nargs * 4u;
  return true;
}

static bool take_signal(struct reader *in, struct udp_record *r) {
  struct wire_signal signal;
  if (!take(in, &signal, sizeof signal) || signal.addr % sizeof(uint64_t)) return false;
  r->signal_addr = signal.addr;
  r->signal_value = signal.value;
  return true;
}

static bool take_part(struct reader *in, struct udp_record *r) {
  struct wire_part part;
  if (!take(in, &part, sizeof part) || part.action >= UDP_ACTIONS) return false;
  r->addr = part.addr;
  r->total = part.total;
  r->id = part.id;
  r->action = (uint8_t)part.action;
  const bool get = r->type == UDP_GET;
  if (get ? is_message(r->action) : r->action == UDP_ACT_NONE || r->bytes > r->total) return false;
  if (!get && r->action == UDP_ACT_MEDIUM &&
      (r->total > TMB_AM_MEDIUM_BYTES_MAX || r->addr > r->total - r->bytes))
    return false;
  if (!get && !(r->flags & UDP_HEAD)) return true;
  if (is_message(r->action)) return take_am(in, r);
  return !is_signal(r->action) || take_signal(in, r);
}

static bool take_atomic(struct reader *in, struct udp_record *r) {
  struct wire_atomic atomic;
  if (!take(in, &atomic, sizeof atomic) || (atomic.bytes != 4 && atomic.bytes != 8)) return false;
  r->addr = atomic.addr;
  memcpy(r->operand, atomic.operand, sizeof r->operand);
  r->opcode = atomic.opcode;
  r->dt = atomic.dt;
  r->id = atomic.id;
  r->total = atomic.bytes;
  return true;
}

static bool take_piece(struct reader *in, struct udp_record *r) {
  struct wire_part part;
  if (!take(in, &part, sizeof part) || part.total > UDP_PACKET_MAX || part.addr % UDP_PIECE_STEP)
    return false;
  r->addr = part.addr;
  r->total = part.total;
  r->id = part.id;
  if (r->bytes > r->total || r->addr > r->total - r->bytes) return false;
  return r->bytes % UDP_PIECE_STEP == 0 || r->addr + r->bytes == r->total; /* the last */
}

static bool take_fields(struct reader *in, struct udp_record *r) {
  struct wire_data data;
  switch (r->type) {
  case UDP_AM: return take_am(in, r);
  case UDP_PUT: return take(in, &r->addr, sizeof r->addr);
  case UDP_PART:
  case UDP_GET: return take_part(in, r);
  case UDP_ATOMIC: return take_atomic(in, r);
  case UDP_PIECE: return take_piece(in, r);
  case UDP_DATA:
  case UDP_PROBE:
  case UDP_ANSWER:
    if (!take(in, &data, sizeof data)) return false;
    r->addr = data.addr;
    r->id = data.id;
    return true;
  default: /* UDP_SACK */
    if (in->end - in->at < UDP_SACK_BYTES) return false;
    r->sack = in->packet + in->at;
    in->at += UDP_SACK_BYTES;
    return true;
  }
}

/* The payload of a record whose fields have been read: in it, or the tail. */
static bool take_payload(struct reader *in, struct udp_record *r, const struct reader *tail) {
  if (r->flags & UDP_TAIL) {
    if (r->bytes != tail->end - tail->at) return false;
    r->payload = tail->packet + tail->at;
    return true;
  }
  if (!r->bytes) return true;
  if (r->type == UDP_SACK || r->type == UDP_GET || r->type == UDP_ANSWER || r->type == UDP_ATOMIC)
    return false;
  const uint32_t start = payload_start(r->type, in->at);
  if (start > in->end || in->end - start < r->bytes) return false;
  r->payload = in->packet + start;
  return true;
}

int udp_record_read(const uint8_t *packet, uint32_t bytes, uint32_t control_end, uint32_t *at,
                    struct udp_record *record) {
  struct reader in = {packet, *at, control_end};
  struct wire_prefix prefix;
  *record = (struct udp_record){0};
  if (!take(&in, &prefix, sizeof prefix)) return TMB_E_PROTOCOL;
  if (prefix.size % 8 || prefix.size < sizeof prefix || control_end - *at < prefix.size)
    return TMB_E_PROTOCOL;
  if (!prefix.type || prefix.type >= UDP_RECORD_TYPES || prefix.flags & ~UDP_RECORD_FLAGS)
    return TMB_E_PROTOCOL;
  in.end = *at + prefix.size;
  record->type = prefix.type;
  record->flags = prefix.flags;
  record->bytes = prefix.bytes;
  if (!take_fields(&in, record)) return TMB_E_PROTOCOL;
  if (prefix.flags & UDP_TAIL && in.end != control_end) return TMB_E_PROTOCOL; /* only the last */
  const uint32_t tail_at = TMB_MIN(udp_tail_at(control_end), bytes);
  if (!take_payload(&in, record, &(struct reader){packet, tail_at, bytes})) return TMB_E_PROTOCOL;
  *at = in.end;
  return 0;
}

bool udp_message_read(const uint8_t *packet, uint32_t end, struct udp_record *record) {
  struct reader in = {packet, UDP_HEADER_BYTES, end};
  struct wire_prefix prefix;
  if (!take(&in, &prefix, sizeof prefix) || prefix.type != UDP_AM) return false;
  if (prefix.size != end - UDP_HEADER_BYTES || prefix.flags & ~(UDP_REPLY | UDP_MEDIUM))
    return false;
  record->type = UDP_AM;
  record->flags = prefix.flags;
  record->bytes = prefix.bytes;
  record->payload = NULL;
  return take_am(&in, record) && take_payload(&in, record, NULL);
}

/* The fields of a put with a signal in one record. */
static bool read_signal(const uint8_t *at, struct udp_short *s) {
  struct wire_part part;
  struct wire_signal signal;
  memcpy(&part, at, sizeof part);
  memcpy(&signal, at + sizeof part, sizeof signal);
  s->addr = part.addr;
  s->action = (uint8_t)part.action;
  s->signal_addr = signal.addr;
  s->signal_value = signal.value;
  return (part.action == UDP_ACT_SET || part.action == UDP_ACT_ADD) && part.total == s->bytes &&
         signal.addr % sizeof(uint64_t) == 0;
}

uint32_t udp_short_read(const uint8_t *record, uint32_t room, struct udp_short *s) {
  struct wire_prefix prefix;
  if (room < sizeof prefix) return 0;
  memcpy(&prefix, record, sizeof prefix);
  const bool signals = prefix.type == UDP_PART && prefix.flags == UDP_HEAD;
  if (prefix.bytes > UDP_INLINE_MAX || prefix.size > room) return 0;
  if (!signals && (prefix.type != UDP_PUT || prefix.flags)) return 0;
  s->bytes = prefix.bytes;
  s->action = signals ? UDP_ACT_SET : UDP_ACT_NONE;
  if (prefix.size != udp_short_bytes(s)) return 0;
  s->payload = record + prefix.size - TMB_ALIGN_UP(prefix.bytes, 8u);
  if (signals) return read_signal(record + sizeof prefix, s) ? prefix.size : 0;
  memcpy(&s->addr, record + sizeof prefix, sizeof s->addr);
  return prefix.size;
}

int udp_header_read(const uint8_t *data, uint32_t bytes, struct udp_header *header) {
  if (bytes < UDP_HEADER_BYTES) return TMB_E_PROTOCOL;
  memcpy(header, data, sizeof *header);
  if (header->bytes < UDP_HEADER_BYTES || header->bytes > bytes) return TMB_E_PROTOCOL;
  if (header->control % 8 || header->control > header->bytes - UDP_HEADER_BYTES)
    return TMB_E_PROTOCOL;
  return 0;
}
