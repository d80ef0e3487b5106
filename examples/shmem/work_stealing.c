/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work_stealing.c: PEs take tasks from their own list, and from those of others when it is empty.
 *
 * Shows: one shmem_atomic_fetch_inc takes a task from any PE; nobody is asked.
 * Compile: oshcc -O2 work_stealing.c -o work_stealing
 * Run:     oshrun -np 4 ./work_stealing
 */
/* ranks: 1 2 4 */
#include <shmem.h>
#include <stdio.h>

#define TASKS 300 /* of PE 0; PE i has TASKS / (i + 1) */

static long next;            /* the next task of this PE's list */
static long count;           /* tasks in it */
static long done[2], all[2]; /* tasks, and the sum of their results */

/* Task t of a PE: sums of different lengths. */
static long work(long t) {
  long sum = 0;
  for (long i = 0; i <= t * 50; i++) sum += i % 7;
  return sum;
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  count = TASKS / (me + 1);
  shmem_barrier_all();
  for (int k = 0; k < n; k++) { /* my list first, then those behind me */
    const int victim = (me + k) % n;
    const long tasks = shmem_g(&count, victim);
    for (long t; (t = shmem_atomic_fetch_inc(&next, victim)) < tasks; done[0]++) done[1] += work(t);
  }
  shmem_sum_reduce(SHMEM_TEAM_WORLD, all, done, 2);
  long tasks = 0, sum = 0;
  for (int pe = 0; pe < n; pe++)
    for (long t = 0; t < TASKS / (pe + 1); t++, tasks++) sum += work(t);
  if (me == 0) printf("%ld tasks\n", all[0]);
  const int ok = all[0] == tasks && all[1] == sum;
  shmem_finalize();
  return ok ? 0 : 1;
}
