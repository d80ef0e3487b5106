/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stencil.upc: heat in a rod; threads give their borders to their neighbours by puts that post a
 * semaphore.
 *
 * Shows: a directory of blocks, semaphores in shared memory, work on local memory by plain pointers.
 * Compile: tombolo upcc -O2 stencil.upc -o stencil
 * Run:     tombolo run -n 4 ./stencil
 */
/* ranks: 1 2 4 */
#include <math.h>
#include <stdio.h>
#include <upc_relaxed.h>

#define CELLS 50 /* of each thread */
#define STEPS 400

/* Two generations, each with a cell of the neighbour at both ends. */
typedef struct {
  double cell[2][CELLS + 2];
} block_t;

shared block_t rod[THREADS];
bupc_sem_t *shared from_left[THREADS], *shared from_right[THREADS];
shared double heat[THREADS];

int main(void) {
  block_t *mine = (block_t *)&rod[MYTHREAD];
  const int left = MYTHREAD - 1, right = MYTHREAD + 1;
  from_left[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  from_right[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  for (int i = 1; i <= CELLS; i++) mine->cell[0][i] = MYTHREAD == 0 && i == CELLS / 2 ? 1000 : 0;
  upc_barrier;
  for (int step = 0; step < STEPS; step++) {
    double *now = mine->cell[step % 2], *next = mine->cell[(step + 1) % 2];
    const int g = step % 2;
/* book: signal */
    if (left >= 0)
      bupc_memput_signal(&rod[left].cell[g][CELLS + 1], &now[1], sizeof(double), from_right[left], 1);
    if (right < THREADS)
      bupc_memput_signal(&rod[right].cell[g][0], &now[CELLS], sizeof(double), from_left[right], 1);
    if (left >= 0) bupc_sem_wait(from_left[MYTHREAD]);
    else now[0] = now[1];
    if (right < THREADS) bupc_sem_wait(from_right[MYTHREAD]);
    else now[CELLS + 1] = now[CELLS];
/* book end */
    for (int i = 1; i <= CELLS; i++) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
  }
  double sum = 0, all = 0;
  for (int i = 1; i <= CELLS; i++) sum += mine->cell[STEPS % 2][i];
  heat[MYTHREAD] = sum;
  upc_barrier;
  for (int t = 0; t < THREADS; t++) all += heat[t];
  if (MYTHREAD == 0)
    printf("%s: heat after %d steps: %.9f\n", fabs(all - 1000) < 1e-6 ? "ok" : "FAILED", STEPS, all);
  return fabs(all - 1000) >= 1e-6;
}
