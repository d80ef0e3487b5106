/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bucket_sort.c: integer sort; each PE sends its keys to the PE of their bucket.
 *
 * Shows: shmem_atomic_fetch_add that reserves room on a PE, shmem_put to it, a scan.
 * Compile: oshcc -O2 bucket_sort.c -o bucket_sort
 * Run:     oshrun -np 4 ./bucket_sort
 */
/* ranks: 1 2 4 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 20000 /* of each PE */
#define MOST 1000000

static long filled, before, sum[2], total[2];

static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Sorts this PE's keys, so that those of one bucket lie together, and puts each bucket to its PE in
 * one piece. first: [n + 1] zeros; becomes where each bucket begins. */
static void distribute(int *own, long *first, int *bucket) {
  const int me = shmem_my_pe(), n = shmem_n_pes();
  qsort(own, KEYS, sizeof *own, compare);
  for (int i = 0; i < KEYS; i++) first[(long)own[i] * n / MOST + 1]++;
  for (int pe = 0; pe < n; pe++) first[pe + 1] += first[pe];
  for (int k = 0; k < n; k++) {
    const int pe = (me + k) % n;
    const long count = first[pe + 1] - first[pe];
    const long at = shmem_atomic_fetch_add(&filled, count, pe);
    shmem_put(&bucket[at], &own[first[pe]], (size_t)count, pe);
  }
  shmem_barrier_all();
}

/* Whether the sorted buckets of all PEs are the keys of all, in order. */
static int is_sorted(const int *bucket) {
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_sum_exscan(SHMEM_TEAM_WORLD, &before, &filled, 1); /* place of my first key among all */
  for (long i = 0; i < filled; i++) sum[1] += bucket[i];
  shmem_sum_reduce(SHMEM_TEAM_WORLD, total, sum, 2);
  if (filled && (long)bucket[0] * n / MOST != me) return 0;
  return total[0] == total[1] && (me != n - 1 || before + filled == (long)KEYS * n);
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int *bucket = shmem_malloc((size_t)KEYS * (size_t)n * sizeof *bucket); /* untouched: no memory */
  int *own = malloc(KEYS * sizeof *own);
  long *first = calloc((size_t)n + 1, sizeof *first);
  if (!bucket || !own || !first) shmem_global_exit(1);
  unsigned seed = 1u + (unsigned)me;
  for (int i = 0; i < KEYS; i++) {
    seed = seed * 1103515245u + 12345u;
    own[i] = (int)((seed >> 8) % MOST);
    sum[0] += own[i];
  }
  distribute(own, first, bucket);
  qsort(bucket, (size_t)filled, sizeof *bucket, compare);
  const int ok = is_sorted(bucket);
  if (me == n - 1) printf("%ld keys sorted on %d PEs\n", before + filled, n);
  free(own);
  free(first);
  shmem_finalize();
  return ok ? 0 : 1;
}
