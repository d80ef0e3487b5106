/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that look random, for the hooks that disturb.
 *
 * Owns: nothing; how many were drawn is in struct tmb_hooks. Called by the hooks. Calls nothing.
 * Invariant: the sequence follows from the seed and the rank, whatever thread draws.
 */
#include "base/atomic.h"
#include "net/hook/hook.h"

uint64_t tmb_hook_random(const struct tmb_hook *hook, int64_t seed) {
  /* splitmix64: G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014, doi:10.1145/2660193.2660195 */
  uint64_t z = (uint64_t)seed * UINT64_C(0xd1342543de82ef95) + ((uint64_t)hook->rank << 32) +
               tmb_fetch_add_rlx(&tmb_hooks.drawn, 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
