/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NH with a parity, see udp_nh.h.
 *
 * Owns nothing. Called by udp_auth.c. Calls nothing. Of a unit with the words m0..m7 and the words
 * k0..k7 of the key at that place a result gets (m0 + k0)(m1 + k1) + (m2 + k2)(m3 + k3) + (m4 +
 * k4)(m5 + k5) + (m6 + k6)(m7 + k7), sums of words modulo 2^32, products and their sum modulo 2^64.
 * Words have the byte order of the host. A few words of 64 bits are hashed alike, products and
 * their sum modulo 2^128; their number times a word of the key is added, so that the results of
 * different numbers are equal as rarely. Invariant: the last stripe is filled up with zeros; who
 * calls hashes the length, too.
 */
#include "net/udp/guard/udp_nh.h"

#include <string.h>

#define UNITS    4u /* of a stripe; fixed by the format */
/* How far ahead data are fetched, and the lines that they are copied to. Chosen: puts of 1 MiB gain
 * 2 % by the first; a block is copied and hashed in half the time by the second. */
#define AHEAD    1024u
#define AHEAD_TO 512u

/* AVX2 is compiled where the compiler knows it, and used where the processor has it. */
#if defined(__SSE2__)
# include <immintrin.h>
# define HAS_WIDE 1
#else
# define HAS_WIDE 0
#endif

void udp_nh_open(struct udp_nh_key *key) {
  key->wide = HAS_WIDE;
#if HAS_WIDE
  if (!__builtin_cpu_supports("avx2")) key->wide = false;
#endif
}

static uint64_t product(uint32_t a, uint32_t b) {
  return (uint64_t)a * b;
}

/* Stripes number `first` to `end` - 1. in to: NULL, or where they are copied to; data: of stripe
 * `first`. */
static void add_stripes(const struct udp_nh_key *key, uint8_t *to, const uint8_t *data,
                        uint32_t first, uint32_t end, uint64_t out[UDP_NH_RESULTS]) {
  for (uint32_t s = first; s < end; s++, data += UDP_NH_STRIPE) {
    const uint32_t *k = key->word[s];
    uint32_t m[UDP_NH_STRIPE / 4];
    memcpy(m, data, sizeof m);
    if (to) memcpy(to + (s - first) * sizeof m, m, sizeof m);
    for (uint32_t i = 0; i < 8; i += 2) {
      uint32_t even = 0, odd = 0;
      for (uint32_t u = 0; u < UNITS; u++) {
        const uint32_t at = 8 * u + i;
        out[u] += product(m[at] + k[at], m[at + 1] + k[at + 1]);
        even ^= m[at];
        odd ^= m[at + 1];
      }
      out[UNITS] += product(even + k[8 * UNITS + i], odd + k[8 * UNITS + i + 1]);
    }
  }
}

#if HAS_WIDE
__attribute__((target("avx2"))) static inline __m256i load(const void *at) {
  return _mm256_loadu_si256((const __m256i *)at);
}

/* Odd words are moved by a shuffle: processors have more units for it than for shifts. */
__attribute__((target("avx2"))) static inline __m256i products(__m256i m, const uint32_t *key) {
  const __m256i x = _mm256_add_epi32(m, load(key));
  return _mm256_mul_epu32(x, _mm256_shuffle_epi32(x, 0xf5));
}

__attribute__((target("avx2"))) static inline uint64_t sum(__m256i v) {
  uint64_t parts[4];
  _mm256_storeu_si256((__m256i *)(void *)parts, v);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

__attribute__((target("avx2"))) static TMB_ALWAYS_INLINE void
copy_stripe(uint8_t *to, __m256i m0, __m256i m1, __m256i m2, __m256i m3) {
  __m256i *const v = (__m256i *)(void *)to;
  __builtin_prefetch(to + AHEAD_TO); /* the lines that are written to, too: half the time */
  __builtin_prefetch(to + AHEAD_TO + 64);
  _mm256_storeu_si256(v, m0);
  _mm256_storeu_si256(v + 1, m1);
  _mm256_storeu_si256(v + 2, m2);
  _mm256_storeu_si256(v + 3, m3);
}

/* Stripes number `first` to `end` - 1. in to: whether it is NULL is known to the compiler. */
__attribute__((target("avx2"))) static TMB_ALWAYS_INLINE void
wide_stripes(const struct udp_nh_key *key, uint8_t *to, const uint8_t *data, uint32_t first,
             uint32_t end, uint64_t out[UDP_NH_RESULTS]) {
  __m256i y0 = _mm256_setzero_si256(), y1 = y0, y2 = y0, y3 = y0, y4 = y0;
  for (uint32_t s = first; s < end; s++, data += UDP_NH_STRIPE) {
    const uint32_t *k = key->word[s];
    __builtin_prefetch(data + AHEAD);
    __builtin_prefetch(data + AHEAD + 64);
    const __m256i m0 = load(data), m1 = load(data + 32);
    const __m256i m2 = load(data + 64), m3 = load(data + 96);
    if (to) copy_stripe(to + (s - first) * (size_t)UDP_NH_STRIPE, m0, m1, m2, m3);
    const __m256i parity = _mm256_xor_si256(_mm256_xor_si256(m0, m1), _mm256_xor_si256(m2, m3));
    y0 = _mm256_add_epi64(y0, products(m0, k));
    y1 = _mm256_add_epi64(y1, products(m1, k + 8));
    y2 = _mm256_add_epi64(y2, products(m2, k + 16));
    y3 = _mm256_add_epi64(y3, products(m3, k + 24));
    y4 = _mm256_add_epi64(y4, products(parity, k + 32));
  }
  out[0] += sum(y0);
  out[1] += sum(y1);
  out[2] += sum(y2);
  out[3] += sum(y3);
  out[4] += sum(y4);
}

__attribute__((target("avx2"))) static void add_wide(const struct udp_nh_key *key, uint8_t *to,
                                                     const uint8_t *data, uint32_t first,
                                                     uint32_t end, uint64_t out[UDP_NH_RESULTS]) {
  if (to)
    wide_stripes(key, to, data, first, end, out);
  else
    wide_stripes(key, NULL, data, first, end, out);
}
#else
static void add_wide(const struct udp_nh_key *key, uint8_t *to, const uint8_t *data, uint32_t first,
                     uint32_t end, uint64_t out[UDP_NH_RESULTS]) {
  add_stripes(key, to, data, first, end, out);
}
#endif

static void add(const struct udp_nh_key *key, uint8_t *to, const uint8_t *data, uint32_t first,
                uint32_t end, uint64_t out[UDP_NH_RESULTS]) {
  if (TMB_LIKELY(key->wide))
    add_wide(key, to, data, first, end, out);
  else
    add_stripes(key, to, data, first, end, out);
}

void udp_nh(const struct udp_nh_key *key, void *to, const void *data, uint32_t bytes,
            uint64_t out[UDP_NH_RESULTS]) {
  const uint8_t *p = data;
  const uint32_t whole = bytes / UDP_NH_STRIPE, rest = bytes % UDP_NH_STRIPE;
  memset(out, 0, UDP_NH_RESULTS * sizeof *out);
  if (whole) add(key, to, p, 0, whole, out);
  if (!rest) return;
  const size_t at = whole * (size_t)UDP_NH_STRIPE;
  uint8_t last[UDP_NH_STRIPE] = {0};
  memcpy(last, p + at, rest);
  if (to) memcpy((uint8_t *)to + at, last, rest);
  add(key, NULL, last, whole, whole + 1, out);
}

void udp_nh_words(const struct udp_nh_key *key, const uint64_t *words, uint32_t count,
                  uint64_t out[2]) {
  struct udp_nh_sum sum = udp_nh_begin(key, count);
  for (uint32_t i = 0; i < count; i += 2) udp_nh_pair(&sum, key->few + i, words[i], words[i + 1]);
  udp_nh_end(&sum, out);
}
