/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagram.c: a pipeline whose execution diagram `tombolo view --diagram` draws.
 *
 * Each rank has the same work on each of its rows, needs the left neighbour's last column, and puts
 * its own last column to the right neighbour with a signal, once for each block of rows. With one
 * block the ranks work one after the other; with many they overlap. The work is a sleep, so that
 * the diagram is the same on a machine with few processors; a region 'rows' marks it in the trace.
 * Compile: tombolo cc diagram.c -o diagram
 * Run:     tombolo run -n 4 --trace out.json ./diagram 8      (blocks; default 4)
 *          tombolo view --diagram out.svg out.json
 */
/* mode: SEQ */
/* ranks: 1 4 */
#define _POSIX_C_SOURCE 200809L /* nanosleep, also by -std=c11 */
#include <gasnetex_ext.h>

#include <time.h>

enum { ROWS = 64, NAP_US = 250 }; /* for each row */

static void work(int rows) {
  const long ns = 1000L * NAP_US * rows;
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  gexx_Trace_Begin("rows");
  nanosleep(&time, NULL);
  gexx_Trace_End();
}

/* Where the blocks of the left neighbour arrive, in this rank's segment and in the next one's. */
struct place {
  uint64_t done; /* a signal: blocks so far */
  double left[ROWS];
};

/* All blocks of this rank. [in] next: of the right neighbour, NULL in the last rank. */
static void run(gex_TM_t team, int blocks, double *column, struct place *mine, struct place *next) {
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const int rows = ROWS / blocks;
  for (int first = 0; first < ROWS; first += rows) {
    if (me) (void)gexx_Signal_Wait(&mine->done, GEXX_SIG_GT, (uint64_t)(first / rows));
    work(rows);
    for (int i = first; me && i < first + rows; i++) column[i] += mine->left[i];
    if (next)
      gexx_RMA_PutSignalBlocking(team, me + 1, next->left + first, column + first,
                                 sizeof(double) * (size_t)rows, GEX_EVENT_NOW, &next->done,
                                 GEXX_SIG_ADD, 1, 0);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  double column[ROWS];
  if (gex_Client_Init(&client, &ep, &team, "DIAGRAM", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t size = gex_TM_QuerySize(team), me = gex_TM_QueryRank(team);
  const int blocks = argc > 1 ? atoi(argv[1]) : 4;
  if (blocks < 1 || ROWS % blocks) {
    if (me == 0) fprintf(stderr, "diagram: %s blocks: give a divisor of %d\n", argv[1], ROWS);
    gasnet_exit(2);
  }
  if (gex_Segment_Attach(&segment, team, 4096) != GASNET_OK) gasnet_exit(1);
  struct place *const mine = gex_Segment_QueryAddr(segment);
  struct place *next = NULL;
  if (me + 1 < size) gex_Segment_QueryBound(team, me + 1, (void **)&next, NULL, NULL);
  for (int i = 0; i < ROWS; i++) column[i] = me;
  mine->done = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  run(team, blocks, column, mine, next);

  int bad = 0;
  for (int i = 0; i < ROWS; i++) bad += column[i] != (double)me * (me + 1) / 2;
  if (me == size - 1) printf("%s: %d blocks on %u ranks\n", bad ? "FAILED" : "ok", blocks, size);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(bad ? 1 : 0);
}
