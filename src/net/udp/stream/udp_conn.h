/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection of the stream mode: made, greeted, written to, read from.
 *
 * Owns struct udp_conn. Called by udp_stream.c. Calls the kernel and udp_frame.h. Invariants: a
 * descriptor is in epoll from its making to its closing, and asks for room to write only while
 * something waits; output that waits and input that was read are bounded.
 */
#ifndef TMB_UDP_CONN_H
#define TMB_UDP_CONN_H

#include "net/udp/io/udp_addr.h"
#include "net/udp/io/udp_io.h"
#include "net/udp/stream/udp_frame.h"

#define UDP_CONN_UNKNOWN  UINT32_MAX
#define UDP_CONN_HEAD_MAX 512u /* bytes of a head on the wire; fixed by the format */

enum udp_conn_state {
  UDP_CONN_BEGUN,   /* ours: the kernel connects, or the challenge has not come */
  UDP_CONN_GREETED, /* ours: the hello is out */
  UDP_CONN_ASKED,   /* theirs: the challenge is out */
  UDP_CONN_UP
};

/* A packet whose tail is read straight to where it belongs. */
struct udp_conn_tail {
  TMB_ALIGNED(16) uint8_t head[UDP_CONN_HEAD_MAX];
  uint32_t head_bytes;  /* 0: there is none */
  uint32_t bytes, come; /* of the tail */
  bool dropped;         /* it belongs nowhere any more: the rest of it is skipped */
};

struct udp_conn {
  struct udp_conn *next, *next_full;
  int fd; /* -1: closed */
  uint32_t peer;
  uint8_t state;
  bool is_full; /* in the list of those with packets to hand over */
  bool writing; /* epoll reports room to write */
  bool refused; /* nobody listens there */
  bool places;  /* a read ends behind the head of the next packet; its tail is read straight to its
                    place */
  uint64_t since_ns;
  uint64_t part_ns; /* since when a part of a packet waits for its rest, 0: none does */
  struct udp_challenge challenge;
  struct udp_hello hello;
  struct udp_bytes in, out; /* out: in BEGUN and GREETED packets for later */
  struct udp_conn_tail tail;
};

/* State that all connections of a rank share. */
struct udp_conn_env {
  struct udp_greeter greeter;
  int family, epoll;
  struct tmb_net_stats *stats;
  const struct udp_datagrams *in; /* of the call of recv, which says where tails belong */
};

uint64_t udp_conn_now(void);
void udp_count_refused(const struct udp_conn_env *env);

/* Begin to connect. Returns NULL without memory; with fd -1 and perhaps `refused` if the kernel
 * says no at once. */
struct udp_conn *udp_conn_made(const struct udp_conn_env *env, uint32_t peer,
                               const struct udp_addr *addr);
/* A connection that was accepted; sends the challenge. Closes fd and returns NULL if that is not
 * possible. */
struct udp_conn *udp_conn_accepted(const struct udp_conn_env *env, int fd);
void udp_conn_shut(const struct udp_conn_env *env, struct udp_conn *c);
void udp_conn_free(struct udp_conn *c);

static inline bool udp_conn_is_up(const struct udp_conn *c) {
  return c->state == UDP_CONN_UP && c->fd >= 0;
}

/* Greet, write waiting bytes, read. in events: of epoll. Returns false if it is to be closed. */
bool udp_conn_serve(const struct udp_conn_env *env, struct udp_conn *c, uint32_t events);

/* Send packets, or keep them up to a limit; drop more. Returns false if it is to be closed. */
bool udp_conn_send(const struct udp_conn_env *env, struct udp_conn *c, const struct udp_out *out,
                   uint32_t count);

/* Bytes that wait in `from`, which is not up, are to be sent by `to`. */
void udp_conn_move(struct udp_conn *from, struct udp_conn *to);

/* Bytes of the next packet that has come; 0: none; negative: no packet, close it. */
int udp_conn_next(const struct udp_conn_env *env, const struct udp_conn *c);

/* Take that packet. out memory: [bytes], the result of udp_conn_next. Returns whether it is only
 * its head, because the tail lies where it belongs. */
bool udp_conn_take(struct udp_conn *c, uint8_t *memory, uint32_t bytes);

/* Address of that packet, if it has been read whole and is aligned to 16; else NULL. */
uint8_t *udp_conn_packet(const struct udp_conn *c);
/* Step over it: it is used where it lies, before more is read. in bytes: as udp_conn_take. */
void udp_conn_skip(struct udp_conn *c, uint32_t bytes);

#endif
