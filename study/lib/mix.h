/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mixing function for keys, hashes and random numbers of the applications.
 *
 * Owns nothing. Called by study/apps/<name>. The finaliser of splitmix64 (G. L. Steele, D. Lea, C.
 * H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014); one to one.
 */
#ifndef TMB_BENCH_MIX_H
#define TMB_BENCH_MIX_H

#include <stdint.h>

#define MIX_STEP UINT64_C(0x9e3779b97f4a7c15) /* from one state of the generator to the next */

static inline uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Number that the generator draws in state `x`. */
static inline uint64_t mix_next(uint64_t x) {
  return mix64(x + MIX_STEP);
}

#endif
