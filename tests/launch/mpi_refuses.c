/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded before an MPI library (LD_PRELOAD): MPI_Comm_dup fails, with an error that an MPI library
 * gives.
 */
#include <mpi.h>

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  (void)comm, (void)copy;
  return MPI_ERR_COMM;
}
