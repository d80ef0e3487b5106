/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single operations of an MPI library, for study/compare/ops.py.
 *
 * Owns: a window that is locked throughout, requests. Compiled by ops.py with the mpicc of each
 * MPI; not part of the build. Calls: MPI, ops_loop.h. `message` is two-sided; put and get are
 * one-sided, complete after MPI_Win_flush; `signal` is MPI_Put, MPI_Win_flush, MPI_Put of a word
 * that the target polls, MPI_Win_flush: one-sided calls have nothing shorter. With the argument
 * "two-sided" nothing one-sided is measured; with "few" all is repeated less often; with "overlap"
 * only overlap is measured, that of collectives, too.
 */
#include "ops_loop.h"
#include "written.h"

#include <mpi.h>

#include <stdint.h>

enum { N_MAX = 500, TAG = 1, TAG_ACK = 2, DATA_AT = 4096, WORD_AT = 64 };

static int rank;
static char *mine, *out;
static char *team_in, *team_out; /* of collectives, two ranks' */
static MPI_Win window;
static MPI_Request request[N_MAX];
static MPI_Status status[N_MAX];
static int in_flight;
static uint64_t turns, word;

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void prepare(int op, int n, size_t bytes) {
  in_flight = 0;
  for (int i = 0; rank == 1 && op == OP_MESSAGE && i < n; i++)
    MPI_Irecv(mine + DATA_AT, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request[i]);
}

static void put_and_tell(int peer, size_t bytes) {
  word = turns;
  MPI_Put(out, (int)bytes, MPI_BYTE, peer, DATA_AT, (int)bytes, MPI_BYTE, window);
  MPI_Win_flush(peer, window);
  MPI_Put(&word, 1, MPI_UINT64_T, peer, WORD_AT, 1, MPI_UINT64_T, window);
  MPI_Win_flush(peer, window);
}

static void collective(int op, size_t bytes) {
  MPI_Request *const r = &request[in_flight++];
  if (op == OP_BROADCAST)
    MPI_Ibcast(team_out, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, r);
  else if (op == OP_ALLREDUCE)
    MPI_Iallreduce(team_in, team_out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM,
                   MPI_COMM_WORLD, r);
  else
    MPI_Ialltoall(team_in, (int)bytes, MPI_BYTE, team_out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, r);
}

static void start(int op, size_t bytes) {
  if (op >= OP_BROADCAST)
    collective(op, bytes);
  else if (op == OP_PUT)
    MPI_Put(out, (int)bytes, MPI_BYTE, 1, DATA_AT, (int)bytes, MPI_BYTE, window);
  else if (op == OP_GET)
    MPI_Get(out, (int)bytes, MPI_BYTE, 1, DATA_AT, (int)bytes, MPI_BYTE, window);
  else if (op == OP_SIGNAL)
    put_and_tell(1, bytes);
  else
    MPI_Isend(out, (int)bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request[in_flight++]);
}

static void complete(int op) {
  if (op >= OP_BROADCAST) {
    MPI_Waitall(in_flight, request, status);
    return;
  }
  if (op != OP_MESSAGE) {
    MPI_Win_flush(1, window);
    return;
  }
  MPI_Waitall(in_flight, request, status);
  MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void serve(int op, int n, size_t bytes) {
  for (int i = 0; op >= OP_BROADCAST && i < n; i++) collective(op, bytes);
  if (op >= OP_BROADCAST) MPI_Waitall(in_flight, request, status);
  if (op != OP_MESSAGE) return;
  MPI_Waitall(n, request, status);
  MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ACK, MPI_COMM_WORLD);
}

static void tell(int op, size_t bytes) {
  if (op == OP_MESSAGE)
    MPI_Send(out, (int)bytes, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD);
  else
    put_and_tell(!rank, bytes);
}

static void hear(int op, size_t bytes) {
  const uint64_t *const flag = (const uint64_t *)(const void *)(mine + WORD_AT);
  int any;
  if (op == OP_MESSAGE) {
    MPI_Recv(mine + DATA_AT, (int)bytes, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != turns)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
  MPI_Win_sync(window);
}

static void bounce(int op, int n, size_t bytes) {
  for (int i = 0; i < n; i++) {
    turns++;
    if (rank == 0) tell(op, bytes);
    hear(op, bytes);
    if (rank == 1) tell(op, bytes);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool both = !ops_asked(argc, argv, "two-sided");
  out = written(OPS_BYTES_MAX);
  team_in = written(2 * OPS_BYTES_MAX);
  team_out = written(2 * OPS_BYTES_MAX);
  if (!out || !team_in || !team_out) MPI_Abort(MPI_COMM_WORLD, 1);
  if (both) {
    MPI_Win_allocate((MPI_Aint)(DATA_AT + OPS_BYTES_MAX), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &window);
    MPI_Win_lock_all(0, window);
  } else {
    mine = malloc(DATA_AT + OPS_BYTES_MAX);
    if (!mine) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(mine, 0, DATA_AT + OPS_BYTES_MAX);
  const struct side s = {.rank = rank,
                         .has = {[OP_PUT] = both,
                                 [OP_GET] = both,
                                 [OP_MESSAGE] = true,
                                 [OP_SIGNAL] = both,
                                 [OP_BROADCAST] = true,
                                 [OP_ALLREDUCE] = true,
                                 [OP_EXCHANGE] = true},
                         .few = ops_asked(argc, argv, "few"),
                         .overlap = ops_asked(argc, argv, "overlap"),
                         .cells = ops_asked(argc, argv, "cells"),
                         OPS_CALLS};
  barrier();
  ops_main(&s);
  if (both) MPI_Win_unlock_all(window);
  if (both) MPI_Win_free(&window);
  free(out);
  free(team_in);
  free(team_out);
  MPI_Finalize();
  return 0;
}
