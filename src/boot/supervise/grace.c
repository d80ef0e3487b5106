/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time that a process has had since it was ordered to end: see grace.h.
 *
 * Owns: nothing. Called by the supervisor. Calls: nothing. Invariant: the counted time never
 * shrinks, and between two readings it is at most the time that passed.
 */
#include "boot/supervise/grace.h"

uint64_t tmb_grace_check(struct tmb_grace *p, uint64_t now_ns, char state, uint64_t cpu_ns) {
  const uint64_t passed = now_ns > p->seen_ns ? now_ns - p->seen_ns : 0;
  const uint64_t ran = cpu_ns > p->cpu_ns ? cpu_ns - p->cpu_ns : 0;
  p->had_ns += state == 'R' && ran < passed ? ran : passed;
  p->seen_ns = now_ns;
  p->cpu_ns = cpu_ns;
  return p->had_ns;
}
