/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap's part of the MPI plug-in: see base/mpi_boot.h.
 *
 * Owns: a communicator of its own, so that nothing here meets the program's messages. Called by
 * boot/pm/pm_mpi.c and mpi.c. Calls: MPI. It is never freed: MPI_Finalize does so, and a collective
 * call of ours at the end could meet ranks that have left. Invariants: see base/mpi_boot.h; an MPI
 * that is begun here is finalised by the conduit, or here where no conduit is opened.
 */
#include "base/mpi_boot.h"
#include "base/compiler.h"
#include "net/mpi/mpi_engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm world;
static int world_rank, world_size;
static bool owned; /* MPI was initialised here, and the conduit has not taken it over */

static int boot_begin(const char *level) {
  int given = MPI_THREAD_SINGLE;
  const int wanted = nmpi_level(level);
  const int rc = MPI_Init_thread(NULL, NULL, wanted < 0 ? MPI_THREAD_SERIALIZED : wanted, &given);
  owned = rc == MPI_SUCCESS;
  return rc;
}

static void boot_end(void) {
  if (owned) (void)MPI_Finalize();
  owned = false;
}

bool nmpi_boot_take(void) {
  const bool taken = owned;
  owned = false;
  return taken;
}

static int boot_open(uint32_t *rank, uint32_t *size) {
  int rc = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (rc == MPI_SUCCESS) rc = MPI_Comm_rank(world, &world_rank);
  if (rc == MPI_SUCCESS) rc = MPI_Comm_size(world, &world_size);
  *rank = (uint32_t)world_rank;
  *size = (uint32_t)world_size;
  return rc;
}

/* Until all ranks have called this. Spins, as MPI does where it waits. */
static int meet(void (*idle)(void)) {
  MPI_Request request;
  int done = 0, rc = MPI_Ibarrier(world, &request);
  while (rc == MPI_SUCCESS && (rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS) {
    if (done) break;
    idle();
  }
  return rc;
}

static int boot_share(const char *mine, size_t bytes, void (*idle)(void), char **all,
                      size_t *total) {
  int *counts = calloc((size_t)world_size, 2 * sizeof *counts), *at = counts + world_size;
  const int count = bytes < INT_MAX ? (int)bytes : INT_MAX;
  int sum = 0;
  *all = NULL;
  if (!counts) return MPI_ERR_NO_MEM;
  int rc = idle ? meet(idle) : MPI_SUCCESS;
  if (rc == MPI_SUCCESS) rc = MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, world);
  for (int r = 0; r < world_size && rc == MPI_SUCCESS; r++) {
    at[r] = sum;
    if (counts[r] > INT_MAX - sum) rc = MPI_ERR_COUNT;
    sum += rc == MPI_SUCCESS ? counts[r] : 0;
  }
  if (rc == MPI_SUCCESS && !(*all = malloc((size_t)sum + 1))) rc = MPI_ERR_NO_MEM;
  if (rc == MPI_SUCCESS)
    rc = MPI_Allgatherv(mine, count, MPI_BYTE, *all, counts, at, MPI_BYTE, world);
  free(counts);
  *total = (size_t)sum;
  return rc;
}

static int boot_hosts(uint32_t *host_of) {
  MPI_Comm host;
  uint32_t lowest = (uint32_t)world_rank;
  int rc = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &host);
  if (rc != MPI_SUCCESS) return rc;
  rc = MPI_Bcast(&lowest, 1, MPI_UINT32_T, 0, host);
  MPI_Comm_free(&host);
  if (rc == MPI_SUCCESS)
    rc = MPI_Allgather(&lowest, 1, MPI_UINT32_T, host_of, 1, MPI_UINT32_T, world);
  return rc;
}

static void boot_explain(int code, char *text, size_t bytes) {
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, words, &length) != MPI_SUCCESS)
    snprintf(words, sizeof words, "unknown code %d", code);
  snprintf(text, bytes, "%s", words);
}

TMB_EXPORT extern const struct tmb_mpi_boot tombolo_mpi_boot;

const struct tmb_mpi_boot tombolo_mpi_boot = {
    .abi = TMB_MPI_BOOT_ABI,
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    .first = 1,
#endif
    .begin = boot_begin,
    .open = boot_open,
    .share = boot_share,
    .hosts = boot_hosts,
    .explain = boot_explain,
    .end = boot_end,
};
