/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of reals and complex numbers of 2 bytes: kind 2 (IEEE binary16) and kind 3 (bfloat16).
 *
 * Owns nothing. Called by the rows of collective.c. Calls nothing. Invariants: an operation is done
 * in single precision and rounded once, to nearest, ties to even: for a sum of two such numbers
 * that is the correctly rounded result, since single precision has more than twice their digits
 * plus two (S. A. Figueroa, When is double rounding innocuous?, 1995, doi:10.1145/221332.221334).
 */
#include "collective/half.h"

#include <stdint.h>
#include <string.h>

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Rounds away the low bits, ties to even. */
static uint32_t round_off(uint32_t bits, unsigned low) {
  return (bits + ((1u << (low - 1)) - 1) + (bits >> low & 1)) >> low;
}

#define SIGN        0x8000u
#define INFINITE    0x7f800000u /* bits of a float; more: not a number */
#define HALF_TO     13u         /* bits that a float has more */
#define HALF_BIAS   112u        /* by which exponents differ */
#define HALF_LIMIT  0x477ff000u /* 65520: from here on infinite */
#define HALF_NORMAL 0x38800000u /* 2**-14 */

static float half_get(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & SIGN) << 16;
  const uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  if (exponent == 0x1f) return float_of(sign | INFINITE | fraction << HALF_TO);
  if (exponent == 0) {
    const float value = (float)fraction * 0x1p-24f;
    return sign ? -value : value;
  }
  return float_of(sign | (exponent + HALF_BIAS) << 23 | fraction << HALF_TO);
}

static uint16_t half_set(float value) {
  const uint32_t bits = bits_of(value), size = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & SIGN;
  if (size > INFINITE) return (uint16_t)(sign | 0x7e00);
  if (size >= HALF_LIMIT) return (uint16_t)(sign | 0x7c00);
  if (size < HALF_NORMAL) /* a float from 0.5 to 1 counts in steps of 2**-24, as these do */
    return (uint16_t)(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
  return (uint16_t)(sign | round_off(size - (HALF_BIAS << 23), HALF_TO));
}

static float brain_get(uint16_t brain) {
  return float_of((uint32_t)brain << 16);
}

static uint16_t brain_set(float value) {
  const uint32_t bits = bits_of(value), size = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & SIGN;
  return (uint16_t)(sign | (size > INFINITE ? 0x7fc0 : round_off(size, 16)));
}

#define COMBINE(NAME, GET, SET, EXPR)                                 \
 void NAME(const void *a, void *b, size_t count, const void *cdata) { \
  const uint16_t *p = a;                                              \
  uint16_t *q = b;                                                    \
  (void)cdata;                                                        \
  for (size_t i = 0; i < count; i++) {                                \
   const float x = GET(p[i]), y = GET(q[i]);                          \
   q[i] = SET(EXPR);                                                  \
  }                                                                   \
 }
COMBINE(caf_sum_r2, half_get, half_set, x + y)
COMBINE(caf_min_r2, half_get, half_set, x < y ? x : y)
COMBINE(caf_max_r2, half_get, half_set, x > y ? x : y)
COMBINE(caf_sum_r3, brain_get, brain_set, x + y)
COMBINE(caf_min_r3, brain_get, brain_set, x < y ? x : y)
COMBINE(caf_max_r3, brain_get, brain_set, x > y ? x : y)

/* A complex number is two reals. */
void caf_sum_c_r2(const void *a, void *b, size_t count, const void *cdata) {
  caf_sum_r2(a, b, 2 * count, cdata);
}

void caf_sum_c_r3(const void *a, void *b, size_t count, const void *cdata) {
  caf_sum_r3(a, b, 2 * count, cdata);
}
