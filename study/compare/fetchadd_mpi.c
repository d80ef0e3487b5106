/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetch-and-adds of an MPI library, for study/compare/fetchadd.py: MPI_Fetch_and_op and a flush.
 *
 * Owns: a window of one word a rank, locked throughout. Compiled by fetchadd.py with the mpicc of
 * each MPI; not part of the build. Calls: MPI, fetchadd_loop.h. Exit codes: 0 done, 1 a word does
 * not have the sum.
 */
#include "fetchadd_loop.h"

#include <mpi.h>

static MPI_Win window;

static uint64_t fadd_one(int rank) {
  const uint64_t one = 1;
  uint64_t old = 0;
  MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, rank, 0, MPI_SUM, window);
  MPI_Win_flush(rank, window);
  return old;
}

static uint64_t sum(uint64_t value) {
  uint64_t all = 0;
  MPI_Allreduce(&value, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  int rank, size;
  uint64_t *mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Win_lock_all(0, window);
  for (int spread = 0; spread < 2; spread++) {
    *mine = 0;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = fadd_now();
    MPI_Barrier(MPI_COMM_WORLD);
    const uint64_t n = fadd_run(spread ? (rank + 1) % size : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = fadd_now() - begin;
    MPI_Win_sync(window);
    const uint64_t all = sum(n), found = sum(spread || rank == 0 ? *mine : 0);
    if (all != found) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
      printf("%s %llu %.6f\n", spread ? "spread" : "hot", (unsigned long long)all, took);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
