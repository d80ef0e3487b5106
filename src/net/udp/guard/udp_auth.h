/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authentic senders of packets: keys and hashes.
 *
 * Owns nothing. Called by the engine. Calls udp_siphash.h, udp_nh.h. Each ordered pair of ranks has
 * a key of its own, derived from the secret of the job, so a packet can neither be forged nor
 * turned back to its sender. The hash is SipHash-2-4 of results of NH: of the header after itself
 * with the upper halves of the numbers, which do not travel, and the control part; of the blocks of
 * the control part if it is long; and, if the flag UDP_HASHED says so, of the tail's blocks. NH
 * before a pseudorandom function is one, too, up to the probability that two packets have equal
 * results: a sender without the key that has q tries makes a wrong packet pass with probability q *
 * 2^-63. Invariant: nothing of a packet is used before its hash was right.
 */
#ifndef TMB_UDP_AUTH_H
#define TMB_UDP_AUTH_H

#include "net/udp/guard/udp_nh.h"
#include "net/udp/wire/udp_packet.h"

/* Bytes of a control part that is hashed with the header, at most; fixed by the format. */
#define UDP_AUTH_DIRECT 256u

/* The key of packets from `src` to `dst`. in secret: [TMB_NET_SECRET_BYTES]. */
void udp_auth_key(const uint8_t *secret, uint64_t job_id, uint32_t src, uint32_t dst,
                  uint64_t key[2]);

/* The key of NH, for all packets of a job. in secret: [TMB_NET_SECRET_BYTES]. */
void udp_auth_tail_key(const uint8_t *secret, uint64_t job_id, struct udp_nh_key *key);

/* Input of the hash beside the header. */
struct udp_auth_input {
  uint64_t seq, ack; /* whole numbers */
  const void *control;
  const void *tail;
  const struct udp_nh_key *tail_key;
  uint32_t control_bytes; /* a multiple of 8 */
  uint32_t tail_bytes;    /* 0 without UDP_HASHED */
};

/* The hash of a packet; header->mac is not read. */
uint64_t udp_auth_hash(const uint64_t key[2], const struct udp_header *header,
                       const struct udp_auth_input *input);

#endif
