/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4, see udp_siphash.h.
 *
 * Owns nothing. Called by udp_auth.c. Calls nothing. Two rounds for each word, four at the end.
 * Invariant: the result depends on the bytes fed and not on how they were divided into calls.
 */
#include "net/udp/guard/udp_siphash.h"

#include "base/compiler.h"

#include <string.h>

static inline uint64_t rotate(uint64_t x, unsigned bits) {
  return x << bits | x >> (64 - bits);
}

static TMB_ALWAYS_INLINE void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[2] += v[3];
  v[1] = rotate(v[1], 13) ^ v[0];
  v[3] = rotate(v[3], 16) ^ v[2];
  v[0] = rotate(v[0], 32);
  v[2] += v[1];
  v[0] += v[3];
  v[1] = rotate(v[1], 17) ^ v[2];
  v[3] = rotate(v[3], 21) ^ v[0];
  v[2] = rotate(v[2], 32);
}

static TMB_ALWAYS_INLINE void word(uint64_t v[4], uint64_t m) {
  v[3] ^= m;
  sip_round(v);
  sip_round(v);
  v[0] ^= m;
}

/* in last: the word that holds the length. */
static TMB_ALWAYS_INLINE uint64_t end(uint64_t v[4], uint64_t last) {
  word(v, last);
  v[2] ^= 0xff;
  for (unsigned i = 0; i < 4; i++) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline uint64_t load(const uint8_t *p) {
  uint64_t m;
  memcpy(&m, p, sizeof m);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  m = __builtin_bswap64(m);
#endif
  return m;
}

static TMB_ALWAYS_INLINE void begin(uint64_t v[4], const uint64_t key[2]) {
  v[0] = key[0] ^ 0x736f6d6570736575u;
  v[1] = key[1] ^ 0x646f72616e646f6du;
  v[2] = key[0] ^ 0x6c7967656e657261u;
  v[3] = key[1] ^ 0x7465646279746573u;
}

void udp_siphash_begin(struct udp_siphash *state, const uint64_t key[2]) {
  begin(state->v, key);
  state->rest = 0;
  state->bytes = 0;
}

/* Feed bytes one by one until a word is full or the data end. Returns how many. */
static size_t feed_bytes(struct udp_siphash *state, const uint8_t *p, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    state->rest |= (uint64_t)p[done++] << 8 * (state->bytes++ & 7);
    if (state->bytes & 7) continue;
    word(state->v, state->rest);
    state->rest = 0;
    break;
  }
  return done;
}

void udp_siphash_feed(struct udp_siphash *state, const void *data, size_t bytes) {
  const uint8_t *p = data;
  if (state->bytes & 7) {
    const size_t done = feed_bytes(state, p, bytes);
    p += done;
    bytes -= done;
  }
  uint64_t v[4] = {state->v[0], state->v[1], state->v[2], state->v[3]};
  state->bytes += bytes & ~(size_t)7;
  for (; bytes >= 8; bytes -= 8, p += 8) word(v, load(p));
  memcpy(state->v, v, sizeof v);
  if (bytes) (void)feed_bytes(state, p, bytes);
}

uint64_t udp_siphash_end(struct udp_siphash *state) {
  return end(state->v, state->rest | state->bytes << 56);
}

uint64_t udp_siphash_words(const uint64_t key[2], const struct udp_siphash_part *parts,
                           uint32_t count) {
  uint64_t v[4], words = 0;
  begin(v, key);
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *p = parts[i].data;
    for (uint32_t n = parts[i].words; n; n--, p += 8) word(v, load(p));
    words += parts[i].words;
  }
  return end(v, words << 59); /* 8 * words << 56 */
}

uint64_t udp_siphash_pair(const uint64_t key[2], const uint64_t words[2]) {
  uint64_t v[4];
  begin(v, key);
  word(v, load((const uint8_t *)words));
  word(v, load((const uint8_t *)(words + 1)));
  return end(v, (uint64_t)16 << 56);
}
