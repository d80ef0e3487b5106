/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processor time and sleeps of a rank, for the programs that measure what the simulator takes.
 *
 * Owns nothing. Included by sim_check.c and sim_points.c behind _GNU_SOURCE (RUSAGE_THREAD). Calls
 * the kernel. The conduit's progress thread wakes by its clock while long transfers run, not for
 * frames: it has most of the sleeps of a long broadcast, so only those of the calling thread count.
 */
#ifndef TMB_COMPARE_SPENT_H
#define TMB_COMPARE_SPENT_H

#include <sys/resource.h>

/* Processor seconds of all threads of this rank so far; how often the calling thread slept. */
struct spent {
  double seconds, sleeps;
};

static inline struct spent spent_so_far(void) {
  struct rusage all, own;
  getrusage(RUSAGE_SELF, &all);
  getrusage(RUSAGE_THREAD, &own);
  return (struct spent){(double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) +
                            1e-6 * (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec),
                        (double)own.ru_nvcsw};
}

#endif
