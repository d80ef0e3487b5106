/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of this process, for programs of study/compare that are compiled without
 * bench/lib/bench.c.
 *
 * Owns: nothing. Called by start_gex.c and start_mpi.c, whose ranks all live while any reads.
 * Calls: the C library. Source: proc_pid_smaps(5): Pss is this process's share of its pages, where
 * a page of n processes counts 1/n, so the sum over all ranks is what a job needs. Invariant: 0
 * where the kernel does not say.
 */
#ifndef TMB_BENCH_MEMORY_H
#define TMB_BENCH_MEMORY_H

#include <stdio.h>

static inline unsigned long memory_pss_kib(void) {
  char line[256];
  unsigned long kib = 0;
  FILE *const file = fopen("/proc/self/smaps_rollup", "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "Pss: %lu", &kib) == 1) break;
  fclose(file);
  return kib;
}

#endif
