/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and hashes of packets, see udp_auth.h.
 *
 * Owns nothing. Called by the engine. Calls udp_siphash.h. A key is two outputs of SipHash, keyed
 * with the first half of the secret, over the second half, the job, the two ranks and a counter:
 * a pseudorandom function, so one key tells nothing of another. Invariant: the same on all hosts.
 */
#include "net/udp/udp_auth.h"

#include "net/udp/udp_siphash.h"

#include <string.h>

void udp_auth_key(const uint8_t *secret, uint64_t job_id, uint32_t src, uint32_t dst,
                  uint64_t key[2]) {
  uint64_t master[2];
  memcpy(master, secret, sizeof master);
  for (uint32_t i = 0; i < 2; i++) {
    const uint64_t words[3] = {job_id, (uint64_t)src << 32 | dst, i};
    struct udp_siphash state;
    udp_siphash_begin(&state, master);
    udp_siphash_feed(&state, secret + sizeof master, TMB_NET_SECRET_BYTES - sizeof master);
    udp_siphash_feed(&state, words, sizeof words);
    key[i] = udp_siphash_end(&state);
  }
}

uint64_t udp_auth_hash(const uint64_t key[2], const struct udp_header *header,
                       const struct udp_auth_input *input) {
  const uint64_t upper = (input->seq >> 32) << 32 | input->ack >> 32;
  struct udp_siphash state;
  udp_siphash_begin(&state, key);
  udp_siphash_feed(&state, (const uint8_t *)header + sizeof header->mac,
                   UDP_HEADER_BYTES - sizeof header->mac);
  udp_siphash_feed(&state, &upper, sizeof upper);
  udp_siphash_feed(&state, input->control, input->control_bytes);
  if (input->tail_bytes) udp_siphash_feed(&state, input->tail, input->tail_bytes);
  return udp_siphash_end(&state);
}
