/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restrict a test to few processors, so that its ranks outnumber them on any machine. Called before
 * the client is initialised. Define _GNU_SOURCE first.
 */
#ifndef TMB_TEST_PROCESSORS_H
#define TMB_TEST_PROCESSORS_H

#include <sched.h>

/* Let this process run on the first `count` of its processors only; on all if it has fewer, or if
 * the kernel refuses. */
static inline void restrict_to(int count) {
  cpu_set_t may, few;
  if (sched_getaffinity(0, sizeof may, &may)) return;
  CPU_ZERO(&few);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&few) < count; c++)
    if (CPU_ISSET(c, &may)) CPU_SET(c, &few);
  (void)sched_setaffinity(0, sizeof few, &few);
}

#endif
