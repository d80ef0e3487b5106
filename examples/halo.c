/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo.c: a ring of cells is smoothed step by step; neighbours exchange edges by tagged
 * notification.
 *
 * Each rank owns CELLS cells and, at both ends, a copy of the neighbour's outermost one, twice, for
 * even and odd steps. In a step it puts its two edges to the neighbours, tagged with the side that
 * they arrive at, works on the cells that need no copy, then waits for both notifications and does
 * the outermost cells. No barrier: a neighbour may be one step ahead, and writes the other copy.
 * Compile: tombolo cc halo.c -o halo
 * Run:     tombolo run -n 4 ./halo 10000        (steps; default 1000)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex_ext.h>

enum { CELLS = 64, LEFT = 0, RIGHT = 1 };

/* Integers, so that any order of working gives the same numbers. */
static uint64_t smooth(uint64_t left, uint64_t cell, uint64_t right) {
  return (left + 2 * cell + right + 1) / 4;
}

static uint64_t first_value(size_t cell) {
  return (cell * 2654435761u) % 1000003u * 4096;
}

/* Sum of position * cell after all steps, by one rank alone, for comparison. */
static uint64_t alone(size_t cells, int steps) {
  uint64_t *now = malloc(2 * cells * sizeof *now), *then = now + cells, sum = 0;
  if (!now) gasnet_exit(1);
  for (size_t i = 0; i < cells; i++) now[i] = first_value(i);
  for (int s = 0; s < steps; s++) {
    for (size_t i = 0; i < cells; i++)
      then[i] = smooth(now[(i + cells - 1) % cells], now[i], now[(i + 1) % cells]);
    memcpy(now, then, cells * sizeof *now);
  }
  for (size_t i = 0; i < cells; i++) sum += (i + 1) * now[i];
  free(now);
  return sum;
}

static gex_TM_t team;
static gex_Rank_t me, size;
static uint64_t (*edge)[2]; /* [2][2] in this rank's segment: by parity of the step, by side */

/* All steps on this rank's cells. */
static void run(uint64_t cell[CELLS], int steps) {
  const gex_Rank_t right = (me + 1) % size, left = (me + size - 1) % size;
  uint64_t(*at_left)[2], (*at_right)[2], next[CELLS];
  gexx_Notify_t from_left, from_right;
  gex_Segment_QueryBound(team, left, (void **)&at_left, NULL, NULL);
  gex_Segment_QueryBound(team, right, (void **)&at_right, NULL, NULL);
  /* book: init */
  gexx_Notify_Init(team, left, LEFT, 1, &from_left);
  gexx_Notify_Init(team, right, RIGHT, 1, &from_right);
  /* book end */
  for (int s = 0; s < steps; s++) {
    const int odd = s % 2;
    /* book: step */
    gexx_Notify_Start(from_left);
    gexx_Notify_Start(from_right);
    gexx_RMA_PutNotify(team, left, &at_left[odd][RIGHT], &cell[0], 8, RIGHT, 0);
    gexx_RMA_PutNotify(team, right, &at_right[odd][LEFT], &cell[CELLS - 1], 8, LEFT, 0);
    for (int i = 1; i < CELLS - 1; i++) next[i] = smooth(cell[i - 1], cell[i], cell[i + 1]);
    gexx_Notify_Wait(from_left, NULL);
    gexx_Notify_Wait(from_right, NULL);
    /* book end */
    next[0] = smooth(edge[odd][LEFT], cell[0], cell[1]);
    next[CELLS - 1] = smooth(cell[CELLS - 2], cell[CELLS - 1], edge[odd][RIGHT]);
    memcpy(cell, next, sizeof next);
  }
  gexx_Notify_Free(from_left);
  gexx_Notify_Free(from_right);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  uint64_t cell[CELLS], sum = 0, all = 0;
  if (gex_Client_Init(&client, &ep, &team, "HALO", &argc, &argv, 0) != GASNET_OK) return 1;
  size = gex_TM_QuerySize(team);
  me = gex_TM_QueryRank(team);
  const int steps = argc > 1 ? atoi(argv[1]) : 1000;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  edge = gex_Segment_QueryAddr(segment);
  for (size_t i = 0; i < CELLS; i++) cell[i] = first_value(me * CELLS + i);
  run(cell, steps);
  for (size_t i = 0; i < CELLS; i++) sum += (me * CELLS + i + 1) * cell[i];
  gex_Event_Wait(
      gex_Coll_ReduceToOneNB(team, 0, &all, &sum, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  int bad = 0;
  if (me == 0) {
    bad = all != alone((size_t)CELLS * size, steps);
    printf("%s: %d steps on %u cells of %u ranks\n", bad ? "FAILED" : "ok", steps,
           CELLS * (unsigned)size, size);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad);
}
