/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nqueens.upc: counts the placements of N queens; threads take first rows from a shared counter.
 *
 * Shows: a lock, a shared counter, a collective reduction, a value checked against the known one.
 * Compile: tombolo upcc -O2 nqueens.upc -o nqueens
 * Run:     tombolo run -n 4 ./nqueens 10
 */
/* ranks: 1 2 4 */
#include <stdio.h>
#include <stdlib.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

static const long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};

shared int next_task; /* columns of the queens in the first two rows */
shared long found[THREADS];
shared long total;
upc_lock_t *task_lock;

/* Number of placements in the rows below; bits: columns and diagonals that are attacked. */
static long place(unsigned all, unsigned columns, unsigned left, unsigned right) {
  if (columns == all) return 1;
  long placements = 0;
  for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
    const unsigned queen = open & -open;
    placements += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return placements;
}

static int take_task(void) {
  upc_lock(task_lock);
  const int task = next_task++;
  upc_unlock(task_lock);
  return task;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 9;
  if (n < 2 || n > 13) {
    if (MYTHREAD == 0) fprintf(stderr, "nqueens: N is from 2 to 13\n");
    return 1;
  }
  const unsigned all = (1u << n) - 1;
  task_lock = upc_all_lock_alloc();
  for (int task; (task = take_task()) < n * n;) {
    const unsigned a = 1u << task / n, b = 1u << task % n;
    if (a == b || a << 1 == b || a >> 1 == b) continue;
    found[MYTHREAD] += place(all, a | b, (a << 1 | b) << 1, (a >> 1 | b) >> 1);
  }
  upc_all_reduceL(&total, found, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  if (MYTHREAD == 0)
    printf("%s: %d queens can be placed in %ld ways\n", total == known[n] ? "ok" : "FAILED", n,
           total);
  upc_all_lock_free(task_lock);
  return total != known[n];
}
