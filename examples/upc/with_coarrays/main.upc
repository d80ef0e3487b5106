/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UPC and coarray Fortran in one process: threads call a Fortran function that has coarrays.
 *
 *     tombolo fc -c ring.f90
 *     tombolo upcc main.upc ring.o $(tombolo fc --show ring.o | grep -o -- ' -[LlW][^ ]*') \
 *         -lgfortran -lm -o ring
 *     tombolo run -n 4 ./ring
 */
#include <stdio.h>
#include <upc.h>

enum { N = 1000 };
static shared [N] int words[N * THREADS];

int ring(int turns, int give); /* ring.f90 */

int main(void) {
  const int left = (MYTHREAD + THREADS - 1) % THREADS;
  int wrong = 0;
  upc_lock_t *lock = upc_all_lock_alloc();
  for (int round = 0; round < 3; round++) {
    shared int *count = upc_all_alloc(THREADS, sizeof(int));
    if (MYTHREAD == 0) *count = 0;
    upc_forall (int i = 0; i < N * THREADS; i++; &words[i]) words[i] = i + round;
    const int sum = ring(10, round);
    wrong += sum != 100 * THREADS * (THREADS + 1) / 2 + N * round * THREADS;
    upc_barrier;
    for (int i = 0; i < N; i++) wrong += words[N * left + i] != N * left + i + round;
    upc_lock(lock);
    *count += 1;
    upc_unlock(lock);
    upc_barrier;
    wrong += *count != THREADS;
    upc_all_free(count);
  }
  printf("thread %d: %s\n", MYTHREAD, wrong ? "wrong" : "right");
  return wrong != 0;
}
