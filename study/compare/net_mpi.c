/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of an MPI library on two hosts, for study/compare/net.py.
 *
 * Owns: buffers. Compiled by net.py with the mpicc of each MPI that is installed; not part of the
 * build. Calls: MPI, net_loop.h. Streams keep IN_FLIGHT messages in progress, as a program would
 * that wants the bandwidth.
 */
#include "net_loop.h"
#include "written.h"

#include <mpi.h>

enum { IN_FLIGHT = 64 };

static int rank;
static char *mine, *theirs;

static void round_trip(int n) {
  for (int i = 0; i < n; i++) {
    if (rank == 0) MPI_Send(mine, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(theirs, 0, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(mine, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void many(int n, int bytes) {
  MPI_Request requests[IN_FLIGHT];
  MPI_Status statuses[IN_FLIGHT];
  for (int done = 0; done < n; done += IN_FLIGHT) {
    const int now = n - done < IN_FLIGHT ? n - done : IN_FLIGHT;
    for (int i = 0; i < now; i++) {
      if (rank == 0)
        MPI_Isend(mine, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(theirs, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(now, requests, statuses);
  }
  if (rank == 0)
    MPI_Recv(theirs, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(mine, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

static void flood(int n) {
  many(n, 8);
}

static void stream(int n, size_t bytes) {
  many(n, (int)bytes);
}

static void allreduce(int n, size_t bytes) {
  for (int i = 0; i < n; i++)
    MPI_Allreduce(mine, theirs, (int)(bytes / 8), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  mine = written(LOOP_BYTES_MAX);
  theirs = written(LOOP_BYTES_MAX);
  if (!mine || !theirs) MPI_Abort(MPI_COMM_WORLD, 1);
  const struct side s = {round_trip, flood, stream, allreduce, barrier, rank};
  if (argc > 1 && strcmp(argv[1], "trips") == 0)
    loop_trips(&s);
  else if (argc > 1 && strcmp(argv[1], "shorts") == 0)
    loop_shorts(&s);
  else
    loop_main(&s);
  MPI_Finalize();
  free(mine);
  free(theirs);
  return 0;
}
