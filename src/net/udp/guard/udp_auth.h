/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authentic senders of packets: keys and hashes.
 *
 * Owns nothing. Called by the engine. Calls udp_siphash.h, udp_nh.h. Each ordered pair of ranks has
 * a key of its own, derived from the secret of the job, so a packet can neither be forged nor
 * turned back to its sender. The hash is SipHash-2-4 of results of NH: of the header after itself
 * with the upper halves of the numbers, which do not travel, and the control part; of the blocks of
 * the control part if it is long. If the flag UDP_HASHED says so, the control part ends with a tag
 * here: SipHash-2-4 of the results of NH of the tail's blocks. So a head is authentic before its
 * tail is looked at. Inputs of the two have other lengths: 2 and a multiple of 5 words, or a
 * multiple of 5. NH before a pseudorandom function is one, too, up to the probability that two
 * packets have equal results: a sender without the key that has q tries makes a wrong packet pass
 * with probability q * 2^-63. Invariant: nothing of a packet is used before its hash was right, but
 * that a tail may pass through its destination, which is that of an operation that is not complete.
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
  uint32_t control_bytes; /* with the tag; a multiple of 8 */
  uint32_t tail_bytes;    /* this and `tail`: of a packet that is sealed, see udp_seal.h */
};

/* The hash of a packet; header->mac is not read. */
uint64_t udp_auth_hash(const uint64_t key[2], const struct udp_header *header,
                       const struct udp_auth_input *input);

/* The tag of a tail. in to: NULL, or where it is copied to, in the same go. */
uint64_t udp_auth_tail(const uint64_t key[2], const struct udp_nh_key *nh, void *to,
                       const void *tail, uint32_t bytes);

#endif
