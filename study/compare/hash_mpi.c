/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inserts into a distributed hash table by MPI's one-sided calls: the peer of study/apps/hash.
 *
 * Owns nothing. Compiled by study/compare/apps.py with study/lib/app.c and links_mpi.c. A
 * compare-and-swap takes a slot, a put fills it, each with a flush, in a window that is locked
 * throughout. Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "apps/hash/table.h"
#include "lib/app.h"

#include <mpi.h>

#include <stddef.h>
#include <string.h>

static MPI_Win window;
static uint64_t slots, inserts;

static void insert(const struct job *job, uint64_t key) {
  const int rank = table_rank(key, job->size);
  const uint64_t empty = 0, value = table_value(key);
  uint64_t i = table_slot(key, slots), before = 1;
  for (;; i = (i + 1) & (slots - 1)) {
    MPI_Compare_and_swap(&key, &empty, &before, MPI_UINT64_T, rank,
                         (MPI_Aint)(i * sizeof(struct entry)), window);
    MPI_Win_flush(rank, window);
    if (before == 0) break;
  }
  MPI_Put(&value, 1, MPI_UINT64_T, rank,
          (MPI_Aint)(i * sizeof(struct entry) + offsetof(struct entry, value)), 1, MPI_UINT64_T,
          window);
  MPI_Win_flush_local(rank, window); /* `value` may go */
}

static bool is_found(const struct job *job, uint64_t key) {
  const int rank = table_rank(key, job->size);
  struct entry e;
  for (uint64_t i = table_slot(key, slots);; i = (i + 1) & (slots - 1)) {
    MPI_Get(&e, sizeof e, MPI_BYTE, rank, (MPI_Aint)(i * sizeof e), sizeof e, MPI_BYTE, window);
    MPI_Win_flush(rank, window);
    if (e.key == key) return e.value == table_value(key);
    if (!e.key) return false;
  }
}

static bool run(struct job *job, const struct app_options *o) {
  struct entry *mine;
  double best = 0;
  MPI_Win_allocate((MPI_Aint)(slots * sizeof *mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                   &window);
  MPI_Win_lock_all(0, window);
  for (long i = 0; i <= o->iterations; i++) {
    memset(mine, 0, slots * sizeof *mine);
    MPI_Win_sync(window);
    job_barrier(job);
    const double begin = job_now();
    for (uint64_t n = 0; n < inserts; n++) insert(job, table_key((uint64_t)job->rank, n));
    MPI_Win_flush_all(window);
    job_barrier(job);
    const double seconds = job_max(job, job_now() - begin);
    if (i && (best == 0 || seconds < best)) best = seconds;
  }
  uint64_t missing = 0;
  for (uint64_t n = 0; n < inserts; n++)
    if (!is_found(job, table_key((uint64_t)((job->rank + 1) % job->size), n))) missing++;
  const bool good = job_sum(job, (double)missing) == 0;
  app_report(
      job, o,
      &(struct app_result){
          .seconds = best, .work = (double)inserts * job->size, .verified = good, .share = 0});
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return good;
}

static const struct app_number numbers[] = {
    {"inserts", 'n', 20000, 1, 0, "Keys that each rank inserts"}};
static const struct job_way ways[] = {{"mpi-rma", ""}};
static const struct app_program program =
    APP_PROGRAM("hash", "Inserts into a distributed hash table", numbers, 3, APP_WAYS(ways),
                .unit = "M inserts/s");

static bool run_all(struct job *job, const struct app_options *options) {
  inserts = (uint64_t)options->n[0];
  slots = table_slots(inserts);
  return run(job, options);
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
