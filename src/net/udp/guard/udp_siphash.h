/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4: the keyed hash that packets of the udp conduit carry.
 *
 * Owns nothing. Called by udp_auth.c and by tests. Calls nothing. Source: J.-P. Aumasson, D. J.
 * Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012, doi:10.1007/978-3-642-34931-7_28.
 * Invariant: input is fed in words of 8 bytes, the low byte first, as the paper says, on hosts of
 * either byte order.
 */
#ifndef TMB_UDP_SIPHASH_H
#define TMB_UDP_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct udp_siphash {
  uint64_t v[4];
  uint64_t rest;  /* bytes that do not fill a word yet */
  uint64_t bytes; /* fed so far */
};

/* Begin. in key: [2]. */
void udp_siphash_begin(struct udp_siphash *state, const uint64_t key[2]);

/* Feed `bytes` bytes; may be called any number of times. */
void udp_siphash_feed(struct udp_siphash *state, const void *data, size_t bytes);

/* The hash of the bytes fed so far. */
uint64_t udp_siphash_end(struct udp_siphash *state);

/* Whole words, one after the other. */
struct udp_siphash_part {
  const void *data; /* [8 * words] */
  uint32_t words;
};

/* The hash of the words of all parts: the result of begin, feed and end, without a state in memory
 * between them. in key: [2]; parts: [count]. */
uint64_t udp_siphash_words(const uint64_t key[2], const struct udp_siphash_part *parts,
                           uint32_t count);

/* The same of two words. */
uint64_t udp_siphash_pair(const uint64_t key[2], const uint64_t words[2]);

#endif
