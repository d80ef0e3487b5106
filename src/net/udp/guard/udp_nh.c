/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NH of UMAC, see udp_nh.h.
 *
 * Owns nothing. Called by udp_auth.c. Calls nothing. A group is 32 bytes, eight words m0..m7. With
 * the eight words k of the key at that place it adds (m0 + k0)(m4 + k4) + (m1 + k1)(m5 + k5) + (m2
 * + k2)(m6 + k6) + (m3 + k3)(m7 + k7), sums of words modulo 2^32, products and their sum modulo
 * 2^64. The second result takes the key 16 bytes later. Words have the byte order of the host.
 * Invariant: the last group is filled up with zeros, and the number of bits is added, as RFC 4418
 * says.
 */
#include "net/udp/guard/udp_nh.h"

#include <string.h>

#define GROUP_BYTES 32u /* fixed: bytes that one step of the hash takes */

/* Chosen, record 0090: payloads from which steps of four groups gain more than they
 * cost; how far ahead data are fetched. */
#define LONG_BYTES  16384u
#define AHEAD       512u

/* AVX2 and AVX-512 are compiled where the compiler knows them, and used where the processor has
 * them. */
#if defined(__SSE2__)
# include <immintrin.h>
# define HAS_WIDE 1
#else
# define HAS_WIDE 0
#endif

void udp_nh_open(struct udp_nh_key *key, const uint32_t *words) {
  for (uint32_t unit = 0; unit < UDP_NH_UNITS; unit++)
    memcpy(unit % 2 ? key->odd[unit / 2] : key->even[unit / 2], words + 4 * (size_t)unit, 16);
  key->step = 1;
#if HAS_WIDE
  if (__builtin_cpu_supports("avx2")) key->step = 2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) key->step = 4;
#endif
}

static uint64_t product(uint32_t a, uint32_t b) {
  return (uint64_t)a * b;
}

/* Groups number `first` to `end` - 1. in data: of group `first`. */
static void add_groups(const struct udp_nh_key *key, const uint8_t *data, uint32_t first,
                       uint32_t end, uint64_t out[2]) {
  for (uint32_t g = first; g < end; g++, data += GROUP_BYTES) {
    uint32_t m[8];
    memcpy(m, data, sizeof m);
    const uint32_t *k0 = key->even[g], *k1 = key->odd[g], *k2 = key->even[g + 1];
    for (uint32_t i = 0; i < 4; i++) {
      out[0] += product(m[i] + k0[i], m[i + 4] + k1[i]);
      out[1] += product(m[i] + k1[i], m[i + 4] + k2[i]);
    }
  }
}

#if HAS_WIDE
/* Moves odd words by a shuffle: processors have more units for it than for shifts. */
__attribute__((target("avx2"))) static inline __m256i products(__m256i a, __m256i b) {
  const __m256i odd =
      _mm256_mul_epu32(_mm256_shuffle_epi32(a, 0xf5), _mm256_shuffle_epi32(b, 0xf5));
  return _mm256_add_epi64(_mm256_mul_epu32(a, b), odd);
}

__attribute__((target("avx2"))) static inline uint64_t sum(__m256i v) {
  uint64_t parts[4];
  _mm256_storeu_si256((__m256i *)(void *)parts, v);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

/* 16 bytes at `data`, and as many of the group behind. */
__attribute__((target("avx2"))) static inline __m256i halves(const uint8_t *data) {
  const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)data);
  const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(data + GROUP_BYTES));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

/* Groups 0 to `end` - 1, two by two. in end: even. */
__attribute__((target("avx2"))) static void
add_twos(const struct udp_nh_key *key, const uint8_t *data, uint32_t end, uint64_t out[2]) {
  __m256i y0 = _mm256_setzero_si256(), y1 = y0;
  for (uint32_t g = 0; g < end; g += 2, data += 2 * (size_t)GROUP_BYTES) {
    __builtin_prefetch(data + AHEAD);
    const __m256i low = halves(data), high = halves(data + 16); /* m0..m3 of both groups; m4..m7 */
    const __m256i k0 = _mm256_load_si256((const __m256i *)(const void *)key->even[g]);
    const __m256i k1 = _mm256_load_si256((const __m256i *)(const void *)key->odd[g]);
    const __m256i k2 = _mm256_loadu_si256((const __m256i *)(const void *)key->even[g + 1]);
    y0 = _mm256_add_epi64(y0, products(_mm256_add_epi32(low, k0), _mm256_add_epi32(high, k1)));
    y1 = _mm256_add_epi64(y1, products(_mm256_add_epi32(low, k1), _mm256_add_epi32(high, k2)));
  }
  out[0] += sum(y0);
  out[1] += sum(y1);
}

__attribute__((target("avx512f"))) static inline __m512i products512(__m512i a, __m512i b) {
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
  return _mm512_add_epi64(_mm512_mul_epu32(a, b), odd);
}

/* gcc's _mm512_reduce_add_epi64 adds signed numbers, which overflow. */
__attribute__((target("avx512f"))) static inline uint64_t sum512(__m512i v) {
  return sum(_mm256_add_epi64(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
}

/* Groups 0 to `end` - 1, four by four. in end: a multiple of 4. */
__attribute__((target("avx512f"))) static void
add_fours(const struct udp_nh_key *key, const uint8_t *data, uint32_t end, uint64_t out[2]) {
  __m512i y0 = _mm512_setzero_si512(), y1 = y0;
  for (uint32_t g = 0; g < end; g += 4, data += 4 * (size_t)GROUP_BYTES) {
    __builtin_prefetch(data + AHEAD);
    __builtin_prefetch(data + AHEAD + 64);
    const __m512i m0 = _mm512_loadu_si512(data), m1 = _mm512_loadu_si512(data + 64);
    const __m512i low = _mm512_shuffle_i64x2(m0, m1, 0x88); /* m0..m3 of the four groups */
    const __m512i high = _mm512_shuffle_i64x2(m0, m1, 0xdd);
    const __m512i k0 = _mm512_loadu_si512(key->even[g]), k1 = _mm512_loadu_si512(key->odd[g]);
    const __m512i k2 = _mm512_loadu_si512(key->even[g + 1]);
    y0 = _mm512_add_epi64(y0, products512(_mm512_add_epi32(low, k0), _mm512_add_epi32(high, k1)));
    y1 = _mm512_add_epi64(y1, products512(_mm512_add_epi32(low, k1), _mm512_add_epi32(high, k2)));
  }
  out[0] += sum512(y0);
  out[1] += sum512(y1);
}

/* Groups 0 to `end` - 1. in end: a multiple of `step`. */
static void add_wide(const struct udp_nh_key *key, const uint8_t *data, uint32_t end, uint32_t step,
                     uint64_t out[2]) {
  if (step == 4)
    add_fours(key, data, end, out);
  else
    add_twos(key, data, end, out);
}
#else
static void add_wide(const struct udp_nh_key *key, const uint8_t *data, uint32_t end, uint32_t step,
                     uint64_t out[2]) {
  (void)step;
  add_groups(key, data, 0, end, out);
}
#endif

uint32_t udp_nh_step(const struct udp_nh_key *key, uint32_t payload_bytes) {
  return payload_bytes < LONG_BYTES && key->step > 2 ? 2 : key->step;
}

void udp_nh(const struct udp_nh_key *key, const void *data, uint32_t bytes, uint32_t step,
            uint64_t out[2]) {
  const uint8_t *p = data;
  const uint32_t whole = bytes / GROUP_BYTES, rest = bytes % GROUP_BYTES;
  const uint32_t wide = step > 1 ? whole & ~(step - 1) : 0;
  out[0] = out[1] = bytes * (uint64_t)8;
  if (wide) add_wide(key, p, wide, step, out);
  add_groups(key, p + wide * (size_t)GROUP_BYTES, wide, whole, out);
  if (!rest && bytes) return;
  uint8_t last[GROUP_BYTES] = {0};
  if (rest) memcpy(last, p + whole * (size_t)GROUP_BYTES, rest);
  add_groups(key, last, whole, whole + 1, out);
}
