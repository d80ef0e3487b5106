/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function in UPC that programs of other languages call, in each rank: every thread shows its
 * number to its left neighbour. Compiled by tests/upc/interop.py and tests/shmem/beside.py.
 */
#include <upc.h>

shared int words[THREADS];

/* Collective. Returns the number that the right neighbour gave. */
int upc_part(int number) {
  words[MYTHREAD] = number;
  upc_barrier;
  const int right = words[(MYTHREAD + 1) % THREADS];
  upc_barrier;
  return right;
}
