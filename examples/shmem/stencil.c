/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stencil.c: heat in a rod; PEs give their borders to their neighbours by puts with a signal.
 *
 * Shows: symmetric arrays as global variables, shmem_put_signal, shmem_signal_wait_until.
 * Compile: oshcc -O2 stencil.c -o stencil -lm
 * Run:     oshrun -np 4 ./stencil
 */
/* ranks: 1 2 4 */
#include <math.h>
#include <shmem.h>
#include <stdio.h>

#define CELLS 50 /* of each PE */
#define STEPS 400

static double rod[2][CELLS + 2];       /* two generations, each with a cell of both neighbours */
static uint64_t from_left, from_right; /* steps whose border has arrived */
static double heat, total;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes(), left = me - 1, right = me + 1;
  if (me == 0) rod[0][1] = 1000;
  shmem_barrier_all();
  for (int step = 0; step < STEPS; step++) {
    double *now = rod[step % 2], *next = rod[(step + 1) % 2];
    const uint64_t done = (uint64_t)step + 1;
    /* book: signal */
    if (left >= 0)
      shmem_put_signal(&now[CELLS + 1], &now[1], 1, &from_right, done, SHMEM_SIGNAL_SET, left);
    if (right < n)
      shmem_put_signal(&now[0], &now[CELLS], 1, &from_left, done, SHMEM_SIGNAL_SET, right);
    if (left >= 0) shmem_signal_wait_until(&from_left, SHMEM_CMP_GE, done);
    if (right < n) shmem_signal_wait_until(&from_right, SHMEM_CMP_GE, done);
    /* book end */
    if (left < 0) now[0] = now[1];
    if (right == n) now[CELLS + 1] = now[CELLS];
    for (int i = 1; i <= CELLS; i++)
      next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
  }
  for (int i = 1; i <= CELLS; i++) heat += rod[STEPS % 2][i];
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &total, &heat, 1);
  if (me == 0) printf("heat after %d steps: %.6f\n", STEPS, total);
  const int ok = fabs(total - 1000) < 1e-6;
  shmem_finalize();
  return ok ? 0 : 1;
}
