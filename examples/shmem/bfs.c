/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bfs.c: breadth-first search in a graph whose vertices are dealt out over the PEs.
 *
 * Shows: shmem_atomic_compare_swap that claims a vertex, a queue on each PE that others fill, and
 * shmem_sum_reduce to see the end.
 * Compile: oshcc -O2 bfs.c -o bfs
 * Run:     oshrun -np 4 ./bfs
 */
/* ranks: 1 3 4 */
#include <shmem.h>
#include <stdio.h>

#define SIDE  60 /* the graph is a grid, so that the distances are known */
#define COUNT (SIDE * SIDE)

static int distance[COUNT]; /* of vertices v with v % n == me, at v / n; 0: not reached */
static int queue[2][COUNT]; /* vertices of this level, and of the next */
static long length[2], own, everyone;

/* Vertex v is reached at `level`: its PE gets it into its next queue, once. */
static void reach(int v, int level, int n) {
  const int pe = v % n;
  if (shmem_atomic_compare_swap(&distance[v / n], 0, level, pe) != 0) return;
  const long at = shmem_atomic_fetch_inc(&length[level % 2], pe);
  shmem_p(&queue[level % 2][at], v, pe);
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  int level = 1;
  if (me == 0) reach(0, level, n);
  do {
    shmem_barrier_all(); /* all have filled the queue of this level */
    const long count = length[level % 2];
    for (long i = 0; i < count; i++) {
      const int v = queue[level % 2][i], x = v % SIDE, y = v / SIDE;
      if (x > 0) reach(v - 1, level + 1, n);
      if (x < SIDE - 1) reach(v + 1, level + 1, n);
      if (y > 0) reach(v - SIDE, level + 1, n);
      if (y < SIDE - 1) reach(v + SIDE, level + 1, n);
    }
    shmem_barrier_all();
    length[level % 2] = 0;
    level++;
    own = length[level % 2];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &everyone, &own, 1);
  } while (everyone > 0);
  int ok = 1;
  for (int v = me; v < COUNT; v += n) ok = ok && distance[v / n] == 1 + v % SIDE + v / SIDE;
  if (me == 0) printf("%d levels\n", level - 1);
  shmem_finalize();
  return ok && level - 1 == 2 * SIDE - 1 ? 0 : 1;
}
