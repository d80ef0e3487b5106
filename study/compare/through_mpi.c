/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conduit mpi beside MPI in one process: round trips of 16 bytes and streams of 1 MiB.
 *
 * Owns: the program. Called by through_mpi.py, two ranks on two pretended hosts. Calls: MPI and the
 * public API. Rounds alternate between the two; prints "NAME BYTES MEDIAN LEAST MOST" in
 * microseconds: mpi_rtt, am_rtt (Short request and reply), mpi_send and put (until they are
 * complete, one after the other).
 */
#include <gasnetex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/lib/echo.h"

enum { ROUNDS = 31, LONG_BYTES = 1 << 20 };

static gex_TM_t tm;
static char *data, *remote;

static void mpi_rtt(int me, int turns) {
  for (int i = 0; i < turns; i++) {
    if (me == 0) MPI_Send(data, 16, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(data, 16, MPI_CHAR, !me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(data, 16, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
}

static void am_rtt(int me, int turns) {
  static uint64_t until; /* asked may be ahead: rank 0 need not wait */
  until += (uint64_t)turns;
  if (me == 1) GASNET_BLOCKUNTIL(asked >= until);
  for (int i = 0; i < turns && me == 0; i++) {
    const uint64_t next = answered + 1;
    gex_AM_RequestShort0(tm, 1, H_ASK, 0);
    GASNET_BLOCKUNTIL(answered == next);
  }
}

static void mpi_send(int me, int turns) {
  for (int i = 0; i < turns; i++) {
    if (me == 0) MPI_Ssend(data, LONG_BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (me == 1) MPI_Recv(data, LONG_BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void put(int me, int turns) {
  for (int i = 0; i < turns && me == 0; i++)
    gex_RMA_PutBlocking(tm, 1, remote, data, LONG_BYTES, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static const struct {
  const char *name;
  int bytes, turns;
  void (*run)(int me, int turns);
} rows[] = {{"mpi_rtt", 16, 2000, mpi_rtt},
            {"am_rtt", 16, 2000, am_rtt},
            {"mpi_send", LONG_BYTES, 20, mpi_send},
            {"put", LONG_BYTES, 20, put}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static gex_AM_Entry_t handlers[] = {ECHO_ENTRIES};
  static double us[ROWS][ROUNDS];
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  void *owner = NULL, *local = NULL;
  uintptr_t bytes = 0;
  int me = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (gex_Client_Init(&client, &ep, &tm, "THROUGH", &argc, &argv, 0) ||
      gex_EP_RegisterHandlers(ep, handlers, 2) || gex_Segment_Attach(&segment, tm, 4 << 20))
    return 1;
  if (gex_TM_QuerySize(tm) != 2) return 1;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, !me, &owner, &local, &bytes, 0));
  remote = owner;
  data = calloc(1, LONG_BYTES);
  if (!data) return 1;
  for (int round = 0; round < ROUNDS; round++) {
    for (int row = 0; row < ROWS; row++) {
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      const double from = MPI_Wtime();
      rows[row].run(me, rows[row].turns);
      us[row][round] = (MPI_Wtime() - from) * 1e6 / rows[row].turns;
    }
  }
  for (int row = 0; row < ROWS && me == 0; row++) {
    qsort(us[row], ROUNDS, sizeof us[row][0], by_size);
    printf("%s %d %.3f %.3f %.3f\n", rows[row].name, rows[row].bytes, us[row][ROUNDS / 2],
           us[row][0], us[row][ROUNDS - 1]);
  }
  fflush(stdout);
  MPI_Finalize();
  gasnet_exit(0);
}
