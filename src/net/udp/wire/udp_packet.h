/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content of a packet of the udp conduit, and how it is written and read.
 *
 * Owns nothing. Called by the engine and by the fuzzers. Calls nothing. A packet is
 *     header | control: records, one after the other | tag | tail: payload of the last record
 * where tag and tail may be missing. The header's hash always covers the control part and the tag;
 * the tag is the hash of the tail, by setting. A record
 * is a prefix, its fields, and its payload if that is short; the payload of a last record may be
 * the tail instead. Records start at multiples of 8 from the start of the packet. Invariants:
 * integers have the byte order of the hosts, which open has found to be equal on all; nothing is
 * read before its length has been checked, and the data that udp_record_read hands out lie in the
 * packet.
 */
#ifndef TMB_UDP_PACKET_H
#define TMB_UDP_PACKET_H

#include "base/compiler.h"
#include "net/net.h"

/* Bytes; fixed by the format (docs/UDP_PROTOCOL.md). */
#define UDP_HEADER_BYTES   40u
#define UDP_WIRE           4u     /* version of packets and connections; raised with each change */
#define UDP_PACKET_MAX     65504u /* a datagram of IPv4, rounded down to 16 */
#define UDP_PACKET_MIN_MTU 256u   /* room for the longest record and some payload */
#define UDP_INLINE_MAX     256u   /* payload in the control part, at most; longer is a tail */
#define UDP_RECORD_MAX     (128u + UDP_INLINE_MAX)
#define UDP_SACK_BYTES     32u
#define UDP_TAG_BYTES      8u  /* the hash of a tail, behind the control part */
#define UDP_PIECE_STEP     16u /* pieces begin at multiples of it */

/* Bits of udp_header.flags. */
enum {
  UDP_NUMBERED = 1, /* takes a place in the window; else seq is the next number, not taken */
  UDP_ACK_NOW = 2,  /* the sender waits for an acknowledgement */
  UDP_HASHED = 4,   /* the tag is there, if there is a tail */
  UDP_SECRET = 8,   /* control and tail are encrypted */
};

struct udp_header {
  uint64_t mac;     /* keyed hash of the following bytes, see udp_auth.h */
  uint32_t job;     /* low half of the job id */
  uint32_t src;     /* jobrank */
  uint32_t seq;     /* number of this packet, low half */
  uint32_t ack;     /* number below which all packets have come, low half */
  uint32_t sack;    /* bit i: packet ack + 1 + i has come */
  uint32_t handled; /* cost of the requests that have been handled, modulo 2^32 */
  uint16_t bytes;   /* of the packet */
  uint16_t control; /* bytes of the control part */
  uint8_t flags;
  uint8_t rail;
  uint16_t ack_delay_us; /* how long the packet that `ack` speaks of has waited, at most */
};

_Static_assert(sizeof(struct udp_header) == UDP_HEADER_BYTES, "the header has no padding");

/* Where the tail starts of a packet whose control part ends at `control_end`. */
static inline uint32_t udp_tail_at(uint32_t control_end) {
  return TMB_ALIGN_UP(control_end + UDP_TAG_BYTES, 16u);
}

enum udp_record_type {
  UDP_AM = 1, /* a message in one piece */
  UDP_PUT,    /* payload to an address */
  UDP_PART,   /* a part of a transfer at whose end an action is due */
  UDP_GET,    /* send memory back */
  UDP_DATA,   /* some of the data that a get asked for */
  UDP_SACK,   /* packets received beyond the bits of the header */
  UDP_PROBE,  /* filled up, to be answered at once: does this length pass this rail? */
  UDP_ANSWER, /* to a PROBE */
  UDP_ATOMIC, /* an operation on a word; with UDP_REPLY its value before is asked for, as DATA */
  UDP_PIECE,  /* a piece of a numbered packet that is too long for the path */
  UDP_RECORD_TYPES
};

/* Action when a transfer is complete, or a get has been read. */
enum udp_action {
  UDP_ACT_NONE,
  UDP_ACT_SET, /* TMB_SIGNAL_SET */
  UDP_ACT_ADD,
  UDP_ACT_MEDIUM,
  UDP_ACT_LONG,
  UDP_ACTIONS
};

/* Bits of udp_record.flags. */
enum { UDP_TAIL = 1, UDP_REPLY = 2, UDP_HEAD = 4, UDP_MEDIUM = 8, UDP_RECORD_FLAGS = 15 };

/* A record, in memory. Which fields mean something depends on `type`; the rest is zero. */
struct udp_record {
  uint8_t type, flags;
  uint8_t action;      /* PART with HEAD, GET */
  uint8_t handler;     /* AM, or PART with HEAD and a message as its action */
  uint8_t nargs;       /* as handler */
  uint16_t route;      /* as handler */
  uint32_t bytes;      /* of payload */
  uint32_t id;         /* PART: transfer; GET, DATA, ATOMIC: get; PROBE, ANSWER: probe; PIECE:
                          number of the packet, low half */
  uint32_t opcode, dt; /* ATOMIC, as in struct tmb_net_atomic */
  uint64_t operand[2]; /* ATOMIC, as in struct tmb_net_atomic */
  uint64_t addr;  /* PUT, GET, ATOMIC: in the target's space; PART: that, or the place in a Medium;
                     DATA: place in the get's memory; ANSWER: rail of the probe; PIECE: place in
                     the packet */
  uint64_t total; /* PART, GET, PIECE: bytes of the whole; ATOMIC: of the word, 4 or 8 */
  uint64_t signal_addr; /* action SET, ADD */
  uint64_t signal_value;
  const int32_t *args; /* [nargs], aligned to 4 */
  const void *payload; /* [bytes]; written: may be NULL, then the caller adds it */
  const uint8_t *sack; /* SACK: [UDP_SACK_BYTES] */
};

/*
 * Write a record.
 * out packet: the packet; at: where, a multiple of 8; there is room for UDP_RECORD_MAX bytes. With
 * UDP_TAIL, or without record->payload, no payload is written. Returns where the next one starts;
 * *payload_at (unless NULL): where the payload belongs in the packet.
 */
uint32_t udp_record_write(uint8_t *packet, uint32_t at, const struct udp_record *record,
                          uint32_t *payload_at);

/* Make a record longer: what is added means nothing. in record: where it starts; bytes: its own;
 * more: a multiple of 8, there is room for it behind the record. */
void udp_record_pad(uint8_t *record, uint32_t bytes, uint32_t more);

/* Bytes that a record takes at `at` at most, with its payload unless it is a tail. */
uint32_t udp_record_bytes(const struct udp_record *record);

/*
 * Read the record at *at and move *at behind it.
 * in packet: [bytes], aligned to 8; control_end: where the control part ends and the tail starts.
 * Returns 0, or TMB_E_PROTOCOL if it is not a record.
 */
int udp_record_read(const uint8_t *packet, uint32_t bytes, uint32_t control_end, uint32_t *at,
                    struct udp_record *record);

/* Write a Short or Medium message whose payload is no tail, as udp_record_write does, as the first
 * record of a packet. Returns where it ends. */
uint32_t udp_message_write(uint8_t *packet, const struct udp_record *record);

/* Read a control part that is one such message, and ends with the packet at `end`, a multiple of 8.
 * out record: the fields that a message has; the others are not set. Returns false if it is
 * anything else: udp_record_read may still take it. */
bool udp_message_read(const uint8_t *packet, uint32_t end, struct udp_record *record);

/* A put without a tail, or one with a signal in one record: most records of a program that gathers
 * small puts. They are written and read without a struct udp_record. */
struct udp_short {
  uint64_t addr, signal_addr, signal_value;
  const void *payload; /* [bytes] */
  uint32_t bytes;
  uint8_t action; /* UDP_ACT_NONE, UDP_ACT_SET or UDP_ACT_ADD */
};

/* Bytes of its record. */
static inline uint32_t udp_short_bytes(const struct udp_short *s) {
  return TMB_ALIGN_UP(s->bytes, 8u) + (s->action == UDP_ACT_NONE ? 16u : 48u);
}

/* Write it as udp_record_write does. in record: where it starts, a multiple of 8; it has room. */
void udp_short_write(uint8_t *record, const struct udp_short *s);

/* Read such a record with up to UDP_INLINE_MAX bytes of payload. in record: [room]. Returns its
 * bytes, or 0 if it is anything else: udp_record_read may still take it. */
uint32_t udp_short_read(const uint8_t *record, uint32_t room, struct udp_short *s);

/*
 * Check the lengths in a header. in data: [bytes] of a datagram from here on. Returns 0 and the
 * header, or TMB_E_PROTOCOL.
 */
int udp_header_read(const uint8_t *data, uint32_t bytes, struct udp_header *header);

#endif
