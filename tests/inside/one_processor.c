/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* far: no */
/*
 * Ranks that may use one processor only do not spin before they yield: nobody can end the wait
 * meanwhile. A rank that is alone there spins.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "core/job.h"

#include "job.h"

#include <sched.h>

/* The first processor that this process may use, for all ranks of the job the same. */
static void keep_first_cpu(void) {
  cpu_set_t all, first;
  int cpu = 0;
  CPU_ZERO(&first);
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  while (!CPU_ISSET(cpu, &all)) cpu++;
  CPU_SET(cpu, &first);
  CHECK_EQ(sched_setaffinity(0, sizeof first, &first), 0);
}

int main(int argc, char **argv) {
  keep_first_cpu();
  job_start(&argc, &argv, 4096, NULL, 0);
  if (job.size == 1) {
    CHECK_CMP(tmb_job.wait.spin_ns, >, 0u);
  } else {
    CHECK_EQ(tmb_job.wait.spin_ns, 0u);
  }
  for (int i = 0; i < 100; i++) job_barrier();
  return job_finish();
}
