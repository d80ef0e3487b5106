/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * columns.c: columns, blocks and scattered elements of a matrix go to the next rank.
 *
 * The example of the chapter "Strided data" of the Book. Each part checks what has arrived.
 * Compile: tombolo cc columns.c -o columns
 * Run:     tombolo run -n 2 ./columns
 */
/* mode: SEQ */
/* ranks: 2 */
#include <gasnet_vis.h>
#include <gasnetex.h>

enum { ROWS = 40, COLUMNS = 30 };
typedef double matrix[ROWS][COLUMNS];

static gex_TM_t team;
static gex_Rank_t me, right, left;
static matrix *mine, *theirs, source;
static int bad;

static void check(const char *what, double got, double want) {
  if (got == want) return;
  printf("FAILED: rank %u: %s: %g, expected %g\n", me, what, got, want);
  bad = 1;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

static double value(gex_Rank_t rank, int row, int column) {
  return rank * 10000.0 + row * 100 + column;
}

static void column(void) {
  /* book: column */
  /* Column 7 of source becomes column 0 there: ROWS elements, one row apart on both sides. */
  const ptrdiff_t stride[] = {sizeof source[0]};
  const size_t count[] = {ROWS};
  gex_VIS_StridedPutBlocking(team, right, &(*theirs)[0][0], stride, &source[0][7], stride,
                             sizeof(double), count, 1, 0);
  /* book end */
  barrier();
  check("column", (*mine)[ROWS - 1][0], value(left, ROWS - 1, 7));
}

static void block(void) {
  double packed[10][5];
  barrier();
  /* book: block */
  /* A block of 10 x 5 elements at (20, 10) there arrives without gaps here. */
  const ptrdiff_t from[] = {sizeof(double), sizeof source[0]};
  const ptrdiff_t to[] = {sizeof(double), sizeof packed[0]};
  const size_t count[] = {5, 10};
  gex_VIS_StridedGetBlocking(team, packed, to, right, &(*theirs)[20][10], from, sizeof(double),
                             count, 2, 0);
  /* book end */
  check("block", packed[9][4], value(right, 29, 14) + 0.5);
}

static void list(void) {
  barrier();
  /* book: list */
  /* The diagonal, as lists of addresses: element i goes to row i, column i. */
  void *from[COLUMNS], *to[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) {
    from[i] = &source[i][i];
    to[i] = &(*theirs)[i][i];
  }
  gex_VIS_IndexedPutBlocking(team, right, COLUMNS, to, sizeof(double), COLUMNS, from,
                             sizeof(double), 0);
  /* book end */
  barrier();
  check("diagonal", (*mine)[12][12], value(left, 12, 12));
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "COLUMNS", &argc, &argv, 0) != GASNET_OK) return 1;
  const uintptr_t bytes = (sizeof(matrix) + GASNET_PAGESIZE - 1) & ~(GASNET_PAGESIZE - 1UL);
  if (gex_Segment_Attach(&segment, team, bytes) != GASNET_OK) gasnet_exit(1);
  const gex_Rank_t size = gex_TM_QuerySize(team);
  me = gex_TM_QueryRank(team);
  right = (me + 1) % size;
  left = (me + size - 1) % size;
  mine = gex_Segment_QueryAddr(segment);
  gex_Segment_QueryBound(team, right, (void **)&theirs, NULL, NULL);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) {
      source[r][c] = value(me, r, c);
      (*mine)[r][c] = value(me, r, c) + 0.5;
    }
  barrier(); /* all matrices are filled */
  column();
  block();
  list();
  barrier();
  if (!bad) printf("ok: rank %u\n", me);
  gasnet_exit(bad);
}
