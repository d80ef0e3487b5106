/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.c: each PE puts its number into a variable of the next one.
 *
 * Shows: start, a global variable that is symmetric, shmem_p, a barrier.
 * Compile: oshcc hello.c -o hello
 * Run:     oshrun -np 4 ./hello
 */
/* ranks: 1 2 4 */
/* book: all */
#include <shmem.h>
#include <stdio.h>

static int from;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_p(&from, me, (me + 1) % n);
  shmem_barrier_all();
  printf("Hello from PE %d of %d; PE %d wrote to me\n", me, n, from);
  shmem_finalize();
  return from == (me + n - 1) % n ? 0 : 1;
}
/* book end */
