/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wavefront.c: a table in which each entry needs its left and upper neighbours, in parallel.
 *
 * Entry (i, j) = (i-1, j) + (i, j-1) modulo 2^64, the first row and column are 1. Rank r owns a
 * block of columns; when it has finished its part of a row, it puts the last entry beside the next
 * rank's block with a signal that counts rows, so that the ranks work on a slanting front, each as
 * far behind its left neighbour as it must be and no further. One signal, no barrier in the loop.
 * Compile: tombolo cc wavefront.c -o wavefront
 * Run:     tombolo run -n 4 ./wavefront 2000        (rows, and columns of each rank; default 500)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex_ext.h>

/* The last entry, computed by one rank alone. */
static uint64_t alone(size_t rows, size_t columns) {
  uint64_t *row = malloc(columns * sizeof *row), last;
  if (!row) gasnet_exit(1);
  for (size_t j = 0; j < columns; j++) row[j] = 1;
  for (size_t i = 1; i < rows; i++)
    for (size_t j = 1; j < columns; j++) row[j] += row[j - 1];
  last = row[columns - 1];
  free(row);
  return last;
}

/* One row of this rank's block. [in] before: the entry left of it, 0 in the first block. */
static void fill_row(uint64_t *row, size_t n, uint64_t before, int first_row, int first_block) {
  for (size_t j = 0; j < n; j++) {
    row[j] = first_row || (first_block && j == 0) ? 1 : row[j] + before;
    before = row[j];
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "WAVE", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t size = gex_TM_QuerySize(team), me = gex_TM_QueryRank(team);
  const size_t n = argc > 1 ? (size_t)atoll(argv[1]) : 500;
  const uintptr_t bytes = ((n + 1) * sizeof(uint64_t) + 4095) / 4096 * 4096;
  uint64_t *row = malloc(n * sizeof *row); /* this rank's part of the current row */
  if (!row || gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) gasnet_exit(1);
  uint64_t *const rows_done = gex_Segment_QueryAddr(segment); /* signal from the left */
  const uint64_t *const left = rows_done + 1;                 /* [n] entries from the left */
  uint64_t *next = NULL; /* the same two in the right neighbour's segment */
  if (me + 1 < size) gex_Segment_QueryBound(team, me + 1, (void **)&next, NULL, NULL);
  *rows_done = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (size_t i = 0; i < n; i++) {
    if (me) (void)gexx_Signal_Wait(rows_done, GEXX_SIG_GT, i);
    fill_row(row, n, me ? left[i] : 0, i == 0, me == 0);
    if (next)
      gexx_RMA_PutSignalBlocking(team, me + 1, next + 1 + i, &row[n - 1], sizeof *row,
                                 GEX_EVENT_NOW, next, GEXX_SIG_ADD, 1, 0);
  }
  int bad = 0;
  if (me == size - 1) {
    bad = row[n - 1] != alone(n, n * size);
    printf("%s: %zu x %zu entries on %u ranks, last %016llx\n", bad ? "FAILED" : "ok", n, n * size,
           size, (unsigned long long)row[n - 1]);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad);
}
