/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash_table.c: a hash table over all PEs; each slot is claimed by one atomic operation.
 *
 * Shows: shmem_atomic_compare_swap, shmem_atomic_add, memory of the symmetric heap.
 * Compile: oshcc -O2 hash_table.c -o hash_table
 * Run:     oshrun -np 4 ./hash_table
 */
/* ranks: 1 3 4 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

#define SLOTS 4096 /* of each PE */
#define KEYS  1500 /* that each PE inserts; half of them also its neighbour */

static uint64_t *key, *count; /* [SLOTS]; key 0: free */

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}

/* Adds one to the count of k. */
static void insert(uint64_t k, int n) {
  for (uint64_t at = mix(k) % ((uint64_t)SLOTS * n);; at = (at + 1) % ((uint64_t)SLOTS * n)) {
    const int pe = (int)(at / SLOTS);
    const uint64_t before = shmem_atomic_compare_swap(&key[at % SLOTS], (uint64_t)0, k, pe);
    if (before != 0 && before != k) continue; /* another key has this slot */
    shmem_atomic_add(&count[at % SLOTS], (uint64_t)1, pe);
    return;
  }
}

int main(void) {
  static long mine[2], all[2]; /* keys, counts */
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  key = shmem_calloc(SLOTS, sizeof *key);
  count = shmem_calloc(SLOTS, sizeof *count);
  for (uint64_t i = 0; i < KEYS; i++) insert(1 + (uint64_t)me * (KEYS / 2) + i, n);
  shmem_barrier_all();
  for (int i = 0; i < SLOTS; i++) mine[0] += key[i] != 0, mine[1] += (long)count[i];
  shmem_sum_reduce(SHMEM_TEAM_WORLD, all, mine, 2);
  if (me == 0) printf("%ld keys, %ld insertions\n", all[0], all[1]);
  const int ok = all[0] == (long)(KEYS / 2) * (n + 1) && all[1] == (long)KEYS * n;
  shmem_finalize();
  return ok ? 0 : 1;
}
