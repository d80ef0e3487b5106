/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carrier of packets for the engine: sockets, or in tests a wire in memory.
 *
 * Owns nothing. Implemented by udp_socket.c and by tests; wrapped by udp_fault.c. Called by the
 * engine under its lock. Invariants: a datagram that was taken by send may be lost, doubled or
 * overtake others, but is never divided; several packets may come in one datagram, each states its
 * length.
 */
#ifndef TMB_UDP_IO_H
#define TMB_UDP_IO_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct pollfd;

/* An outgoing packet: head and tail lie apart. */
enum udp_send_mode {
  UDP_SEND_WHOLE,
  UDP_SEND_ALONE, /* not joined with others */
};

struct udp_out {
  uint32_t peer, rail;
  uint32_t head_bytes, tail_bytes;
  const void *head, *tail;
  enum udp_send_mode mode;
  bool changes; /* the program may write to the tail's memory meanwhile */
  bool tagged;  /* the tail lies in `head`, and its hash before it */
};

#define UDP_BATCH        8u     /* datagrams of one receive call; chosen */
#define UDP_DATAGRAM_MAX 65536u /* bytes; fixed by UDP */
/* Bytes of packets that the kernel takes in one message: below 64 KiB with all headers, so that a
 * token bucket passes it whole. Chosen. */
#define UDP_RUN_BYTES    60000u

/* Where datagrams arrive. */
struct udp_datagrams {
  uint8_t *memory; /* [UDP_BATCH * UDP_DATAGRAM_MAX], aligned to 64 */
  uint32_t count;
  bool more; /* others are buffered: no descriptor becomes readable for them */
  uint32_t bytes[UDP_BATCH];
  uint32_t placed; /* bit i: the tail of packet i lies where `place` said, not in memory */
  /* Of who receives, may be empty: where the tail of a packet belongs whose head has come. in head:
   * [bytes], aligned to 16. Returns NULL if the tail is to be read behind its head. The answer
   * holds until the end of the call of recv. */
  uint8_t *(*place)(void *placer, const uint8_t *head, uint32_t bytes);
  void *placer;
  /* Bit i: packet i lies at at[i], in memory of the io, until the next call of recv. */
  uint32_t lent;
  uint8_t *at[UDP_BATCH];
  /* Of who receives, may be NULL: whether nothing of a packet is needed once it has been taken in,
   * which is before the next call of recv, so that it may be lent. in packet: [bytes], aligned to
   * 16. */
  bool (*lends)(const void *placer, const uint8_t *packet, uint32_t bytes);
};

struct udp_io_ops {
  uint64_t (*now)(void *io); /* ns */
  /* Hand packets over, in order. Returns how many were taken; the rest may be tried later. */
  uint32_t (*send)(void *io, const struct udp_out *out, uint32_t count);
  /* Receive: one datagram, or as many as fit if `many`. in->count is set. */
  void (*recv)(void *io, struct udp_datagrams *in, bool many);
  uint32_t (*fds)(void *io, struct pollfd *fds, uint32_t max);
  /* Whether the system has said that nobody listens at `peer`; resets it. */
  bool (*refused)(void *io, uint32_t peer);
  /* Try a connection to `peer`, too: it has not answered any datagram. May be empty. */
  void (*fall_back)(void *io, uint32_t peer);
  /* Bytes for `peer` by `rail` that the host has not let out yet, as far as is known. May be empty.
   */
  uint32_t (*waiting)(void *io, uint32_t peer, uint32_t rail);
  void (*close)(void *io);
};

/* The slots that each table has: functions P_now and so on. */
#define UDP_IO_MANDATORY(P)                                                                  \
 .now = P##_now, .send = P##_send, .recv = P##_recv, .fds = P##_fds, .refused = P##_refused, \
 .close = P##_close

struct udp_io {
  const struct udp_io_ops *ops;
  void *state;
  uint32_t rails;
  /* Adds one more rail, with number `rails`: a connection, made by the first packet for it, for
   * long transfers. It takes packets of up to UDP_PACKET_MAX bytes and keeps their order. */
  bool has_stream;
};

/* Add to a number of the statistics. */
static inline void udp_count(uint64_t *number, uint64_t n) {
  tmb_store_rlx(number, *number + n);
}

#endif
