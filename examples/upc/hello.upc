/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.upc: every thread says hello, and writes to its neighbour.
 *
 * Compile: tombolo upcc hello.upc -o hello
 * Run:     tombolo run -n 4 ./hello
 */
/* ranks: 1 2 4 */
#include <stdio.h>
#include <upc_relaxed.h>

#define N 10

/* book: all */
shared int from[THREADS];
shared [3] int a[N * THREADS];

int main(void) {
  int sum = 0, i;

  from[(MYTHREAD + 1) % THREADS] = MYTHREAD;
  upc_forall (i = 0; i < N * THREADS; i++; &a[i])
    a[i] = i;
  upc_barrier;

  for (i = 0; i < N * THREADS; i++) sum += a[i];
/* book end */
  printf("Hello from thread %d of %d; thread %d wrote to me; the sum is %d\n", MYTHREAD, THREADS,
         from[MYTHREAD], sum);
  return sum != N * THREADS * (N * THREADS - 1) / 2;
}
