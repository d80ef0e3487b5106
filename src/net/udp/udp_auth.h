/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may send us packets: keys and hashes.
 *
 * Owns nothing. Called by the engine. Calls udp_siphash.h. Each ordered pair of ranks has a key of
 * its own, derived from the secret of the job, so a packet can neither be forged nor turned back to
 * its sender. The hash covers the header after itself, the upper halves of the numbers, which do
 * not travel, the control part, and the tail if the flag UDP_HASHED says so. Invariant: a header is
 * acted upon only after udp_auth_check.
 */
#ifndef TMB_UDP_AUTH_H
#define TMB_UDP_AUTH_H

#include "net/udp/udp_packet.h"

/* The key of packets from `src` to `dst`. in secret: [TMB_NET_SECRET_BYTES]. */
void udp_auth_key(const uint8_t *secret, uint64_t job_id, uint32_t src, uint32_t dst,
                  uint64_t key[2]);

/* What the hash covers beside the header. */
struct udp_auth_input {
  uint64_t seq, ack; /* whole numbers */
  const void *control;
  const void *tail;
  uint32_t control_bytes;
  uint32_t tail_bytes; /* 0 without UDP_HASHED */
};

/* The hash of a packet; header->mac is not read. */
uint64_t udp_auth_hash(const uint64_t key[2], const struct udp_header *header,
                       const struct udp_auth_input *input);

#endif
