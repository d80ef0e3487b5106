/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NH with a parity: the universal hash that makes a long payload short before SipHash takes it.
 *
 * Owns nothing. Called by udp_auth.c and by tests. Calls nothing. A block is cut into stripes of
 * 128 bytes, and each stripe into four units of 32 bytes. Column 0 of the block is the first unit
 * of each stripe, and so on; column 4 is the exclusive or of the four. Each column has a result of
 * its own: NH of it, with words of 32 bits and a key that no other column has. Two blocks of one
 * length that differ, differ in two columns at least: where they differ in one of the first four
 * only, they do in the parity. NH makes two columns equal with probability 2^-32, so somebody who
 * does not know the key chooses two blocks whose results are all equal with probability 2^-64 at
 * most. A few words are hashed by NH with words of 64 bits, once: equal with probability 2^-64 at
 * most, whatever their number. The results must not be shown: they reveal the key. udp_auth.c puts
 * them into SipHash. Sources: J. Black, S. Halevi, H. Krawczyk, T. Krovetz, P. Rogaway, "UMAC: Fast
 * and Secure Message Authentication", CRYPTO '99, doi:10.1007/3-540-48405-1_14, for NH; M. Nandi,
 * "On the Minimum Number of Multiplications Necessary for Universal Hash Functions", FSE 2014,
 * doi:10.1007/978-3-662-46706-0_25, for a code before it. Invariant: the results do not depend on
 * the processor.
 */
#ifndef TMB_UDP_NH_H
#define TMB_UDP_NH_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Fixed by the format: bytes of a stripe; stripes of a block at most; results of a block. */
#define UDP_NH_STRIPE    128u
#define UDP_NH_STRIPES   64u
#define UDP_NH_RESULTS   5u
#define UDP_NH_BLOCK     (UDP_NH_STRIPE * UDP_NH_STRIPES)

/* Words of the key for one stripe: eight for each column. */
#define UDP_NH_KEY_WORDS (8 * UDP_NH_RESULTS)

/* Fixed by the format: words of 64 bits that are hashed without columns, at most; even. */
#define UDP_NH_WORDS     38u

struct udp_nh_key {
  TMB_ALIGNED(32) uint32_t word[UDP_NH_STRIPES][UDP_NH_KEY_WORDS]; /* random, as the next */
  uint64_t few[UDP_NH_WORDS + 1]; /* the last one is of the number of words */
  bool wide;                      /* use AVX2 */
};

/* Find out what the processor can do. */
void udp_nh_open(struct udp_nh_key *key);

/* Hash one block. in to: NULL, or where it is copied to, in the same go; data: [bytes], at most
 * UDP_NH_BLOCK. Neither need be aligned. */
void udp_nh(const struct udp_nh_key *key, void *to, const void *data, uint32_t bytes,
            uint64_t out[UDP_NH_RESULTS]);

__extension__ typedef unsigned __int128 udp_nh_wide;

/* The hash of a few words, taken by pairs: what udp_nh_words returns. */
struct udp_nh_sum {
  udp_nh_wide sum;
};

/* in count: of the words that follow. */
static inline struct udp_nh_sum udp_nh_begin(const struct udp_nh_key *key, uint32_t count) {
  return (struct udp_nh_sum){(udp_nh_wide)count * key->few[UDP_NH_WORDS]};
}

/* Words number i and i + 1; the latter is 0 where there is none. in key: word i of key->few. */
static inline void udp_nh_pair(struct udp_nh_sum *s, const uint64_t key[2], uint64_t a,
                               uint64_t b) {
  s->sum += (udp_nh_wide)(a + key[0]) * (b + key[1]);
}

static inline void udp_nh_end(const struct udp_nh_sum *s, uint64_t out[2]) {
  out[0] = (uint64_t)s->sum;
  out[1] = (uint64_t)(s->sum >> 64);
}

/* Hash a few words. in words: [count], with a zero behind them if their number is odd. */
void udp_nh_words(const struct udp_nh_key *key, const uint64_t *words, uint32_t count,
                  uint64_t out[2]);

#endif
