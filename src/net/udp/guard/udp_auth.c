/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and hashes of packets, see udp_auth.h.
 *
 * Owns nothing. Called by the engine. Calls udp_siphash.h, udp_nh.h. A key is two outputs of
 * SipHash, keyed with the first half of the secret, over the second half, the job, the two ranks
 * and a counter: a pseudorandom function, so one key reveals nothing of another. The key of tails
 * is the outputs of SipHash for 0, 1, 2, ..., under the key of a pair that no job has. Invariant:
 * equal on all hosts.
 */
#include "net/udp/guard/udp_auth.h"

#include "base/error.h"
#include "net/udp/guard/udp_siphash.h"

#include <string.h>

/* Of a header, behind its tag. */
#define HASHED_WORDS ((UDP_HEADER_BYTES - sizeof(uint64_t)) / sizeof(uint64_t))

/* Blocks of a part of a packet, at most. */
#define BLOCKS_MAX   ((UDP_PACKET_MAX + UDP_NH_BLOCK - 1) / UDP_NH_BLOCK)

_Static_assert(sizeof(struct udp_header) - sizeof(uint64_t) == 8 * HASHED_WORDS, "whole words");
_Static_assert(HASHED_WORDS == 4, "as short_result takes them");
_Static_assert(HASHED_WORDS + 1 + UDP_AUTH_DIRECT / 8 <= UDP_NH_WORDS, "they fit");

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

void udp_auth_tail_key(const uint8_t *secret, uint64_t job_id, struct udp_nh_key *key) {
  const uint64_t long_words = sizeof key->word / sizeof(uint64_t);
  uint64_t master[2];
  udp_auth_key(secret, job_id, UINT32_MAX, UINT32_MAX, master);
  for (uint64_t i = 0; i < long_words + TMB_ARRAY_LEN(key->few); i++) {
    const struct udp_siphash_part number = {&i, 1};
    const uint64_t word = udp_siphash_words(master, &number, 1);
    if (i < long_words)
      memcpy((uint8_t *)key->word + i * sizeof word, &word, sizeof word);
    else
      key->few[i - long_words] = word;
  }
  udp_nh_open(key);
}

/* The results of the blocks of a tail or a long control part, of which the header has the length.
 * in to: NULL, or where it is copied to. */
static struct udp_siphash_part results(const struct udp_nh_key *key, uint8_t *to,
                                       const uint8_t *data, uint32_t bytes, uint64_t *out) {
  const struct udp_siphash_part made = {out, UDP_NH_RESULTS *
                                                 ((bytes + UDP_NH_BLOCK - 1) / UDP_NH_BLOCK)};
  for (uint32_t at = 0; at < bytes; at += UDP_NH_BLOCK, out += UDP_NH_RESULTS)
    udp_nh(key, to ? to + at : NULL, data + at, TMB_MIN(bytes - at, UDP_NH_BLOCK), out);
  return made;
}

static inline uint64_t word_at(const void *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* The result of the header, and of a control part that is short: that of udp_nh_words for the
 * header's words, the upper halves of the numbers, and the control part's words. */
static inline void short_result(const struct udp_header *header, const struct udp_auth_input *input,
                                uint32_t control_bytes, uint64_t out[2]) {
  const uint64_t *key = input->tail_key->few;
  const uint8_t *h = (const uint8_t *)header + sizeof header->mac, *c = input->control;
  const uint32_t words = control_bytes / 8, whole = words ? words - 1 : 0;
  const uint64_t upper = (input->seq >> 32) << 32 | input->ack >> 32;
  struct udp_nh_sum sum = udp_nh_begin(input->tail_key, HASHED_WORDS + 1 + words);
  udp_nh_pair(&sum, key, word_at(h), word_at(h + 8));
  udp_nh_pair(&sum, key + 2, word_at(h + 16), word_at(h + 24));
  udp_nh_pair(&sum, key + 4, upper, words ? word_at(c) : 0);
  for (uint32_t i = 1; i <= whole; i += 2)
    udp_nh_pair(&sum, key + 5 + i, word_at(c + 8 * i), i < whole ? word_at(c + 8 * i + 8) : 0);
  udp_nh_end(&sum, out);
}

/* The hash of a packet with a long control part. */
static TMB_NOINLINE uint64_t long_hash(const uint64_t key[2], const struct udp_header *header,
                                       const struct udp_auth_input *input) {
  uint64_t first[2], control[BLOCKS_MAX * UDP_NH_RESULTS];
  struct udp_siphash_part parts[2] = {{first, TMB_ARRAY_LEN(first)}};
  short_result(header, input, 0, first);
  parts[1] = results(input->tail_key, NULL, input->control, input->control_bytes, control);
  return udp_siphash_words(key, parts, TMB_ARRAY_LEN(parts));
}

uint64_t udp_auth_hash(const uint64_t key[2], const struct udp_header *header,
                       const struct udp_auth_input *input) {
  if (TMB_UNLIKELY(input->control_bytes > UDP_AUTH_DIRECT)) return long_hash(key, header, input);
  uint64_t first[2];
  short_result(header, input, input->control_bytes, first);
  return udp_siphash_pair(key, first);
}

uint64_t udp_auth_tail(const uint64_t key[2], const struct udp_nh_key *nh, void *to,
                       const void *tail, uint32_t bytes) {
  uint64_t made[BLOCKS_MAX * UDP_NH_RESULTS];
  const struct udp_siphash_part part = results(nh, to, tail, bytes, made);
  return udp_siphash_words(key, &part, 1);
}
