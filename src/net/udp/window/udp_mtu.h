/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Length of packets to a peer: the search for the longest that the path carries (RFC 8899).
 *
 * Owns nothing. Called by the engine and by tests. Calls nothing. Packets begin at a length that
 * nearly every path carries. Once they are as long as that, longer ones are tried: packets without
 * a number, filled up, which the peer answers. One that was answered is the new length; else the
 * half between is tried, until two lengths are next to each other. After a while the longest is
 * tried again, for paths change. Invariant: low <= bytes <= most, all multiples of 16.
 */
#ifndef TMB_UDP_MTU_H
#define TMB_UDP_MTU_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes; fixed by IPv6 and IPv4, and by the alignment of packets. */
#define UDP_MTU_BASE 1232u /* the guarantee of IPv6, without its headers */
#define UDP_MTU_LOW  512u  /* where not even that passes: only IPv4 */
#define UDP_MTU_STEP 16u

struct udp_mtu {
  uint32_t bytes;      /* a packet may have now */
  uint32_t base, most; /* to begin with, 0: the length is given; and at best */
  uint32_t failed;     /* did not pass; above `bytes` */
  uint32_t probe;      /* is being tried, 0: none */
  uint32_t id;         /* of the length that is being tried */
  uint32_t tries;      /* of it */
  uint64_t due_ns;     /* when to try next, UINT64_MAX: not by time */
  uint64_t rest_ns;    /* no search before */
  uint64_t passed_ns;  /* when a long packet was acknowledged last */
};

/* in base: to begin with, or 0: `most` is given and nothing is searched. */
void udp_mtu_open(struct udp_mtu *m, uint32_t base, uint32_t most);

/* A longer packet would have been of use: search, unless that was done a short while ago. */
void udp_mtu_want(struct udp_mtu *m, uint64_t now_ns);

/* The search is due: the length to be tried now, 0: the search is over. in wait_ns: time for an
 * answer. */
uint32_t udp_mtu_next(struct udp_mtu *m, uint64_t now_ns, uint64_t wait_ns);

/* The peer has answered a packet of the search. Returns whether `bytes` has changed. */
bool udp_mtu_answered(struct udp_mtu *m, uint32_t id, uint64_t now_ns);

/* A numbered packet of so many bytes has been acknowledged. */
static inline void udp_mtu_passed(struct udp_mtu *m, uint64_t bytes, uint64_t now_ns) {
  if (bytes <= UDP_MTU_LOW || bytes > m->bytes) return;
  if (bytes > m->base || m->bytes <= m->base) m->passed_ns = now_ns;
}

/*
 * One has been lost again, which was sent last at sent_ns, `tries` times so far. Returns whether
 * `bytes` has been lowered, because long packets vanish and short ones do not.
 */
bool udp_mtu_lost(struct udp_mtu *m, uint64_t bytes, uint32_t tries, uint64_t sent_ns);

#endif
