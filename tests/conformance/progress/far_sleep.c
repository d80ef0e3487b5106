/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop
 */
/*
 * A rank that waits for others, also of other hosts, sleeps until one of them, its host or a timer
 * of the network wakes it: in a second of waiting it wakes a few times, not a thousand times.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "job.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 3, WAKES_MAX = 250 };

static long wakes(void) {
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

int main(int argc, char **argv) {
  const char *conduit = getenv("TOMBOLO_CONDUIT");
  /* Each millisecond: these do not say what to wait for. */
  const bool looks = conduit && (!strcmp(conduit, "loop") || !strcmp(conduit, "mpi"));
  job_start(&argc, &argv, 0, NULL, 0);
  for (unsigned round = 0; round < ROUNDS; round++) {
    job_barrier();
    const long before = wakes();
    if (job.rank == round % job.size) nanosleep(&(struct timespec){1, 0}, NULL);
    job_barrier();
    const long count = wakes() - before;
    if (!CHECK(looks || count <= WAKES_MAX))
      fprintf(stderr, "rank %u woke %ld times in a second\n", job.rank, count);
  }
  return job_finish();
}
