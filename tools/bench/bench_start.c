/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo bench startup`: how long jobs take from command to end, and the memory of a rank.
 *
 * Owns: the startup rows. Called by bench.c. Calls: bench_job.c, and /bin/true for the floor.
 * Invariants: the time of a start is that of the whole `tombolo run` of a program that initialises,
 * passes one barrier and ends. Its floor is starting as many processes that do nothing, all at
 * once.
 */
#define _GNU_SOURCE
#include "bench/bench.h"
#include "tool.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* Milliseconds to start and end `count` processes; negative if that fails. */
static double spawn_floor(uint32_t count) {
  char *const argv[] = {"true", NULL};
  pid_t pid;
  uint32_t started = 0;
  const uint64_t start = tmb_os_now_ns();
  while (started < count && posix_spawnp(&pid, "true", NULL, NULL, argv, environ) == 0) started++;
  for (uint32_t i = 0; i < started; i++)
    while (wait(NULL) < 0 && errno == EINTR) {}
  return started == count ? (double)(tmb_os_now_ns() - start) / 1e6 : -1;
}

static int measure_start(const struct bench_options *o, struct bench_results *results,
                         uint32_t ranks) {
  const size_t runs = o->quick ? 3 : ranks <= 16 ? 11 : ranks <= 128 ? 5 : 3;
  struct bench_job job = {.program = "startup", .ranks = ranks};
  struct bench_figure *f = bench_add(results, "startup", "start", runs);
  if (!f) return TOOL_EXIT_FAILED;
  f->ranks = ranks;
  snprintf(f->unit, sizeof f->unit, "ms");
  snprintf(f->floor, sizeof f->floor, "spawn");
  for (size_t i = 0; i < runs; i++) {
    const double floor = spawn_floor(ranks);
    if (floor < 0) {
      tmb_print("bench: %u processes `true` could not be started", ranks);
      return TOOL_EXIT_FAILED;
    }
    const int rc = bench_job_run(o, &job, NULL);
    if (rc) return rc;
    f->floors[f->floor_count++] = floor;
    f->samples[f->count++] = job.wall_s * 1e3;
  }
  return 0;
}

int bench_startup(const struct bench_options *o, struct bench_results *results) {
  static const uint32_t counts[] = {2, 16, 128, 1024};
  const uint32_t most = o->ranks ? o->ranks : o->quick ? 16 : 1024;
  for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= most; i++) {
    struct bench_job pairs = {.program = "startup", .mode = "pairs", .ranks = counts[i]};
    int rc = measure_start(o, results, counts[i]);
    if (rc == 0) rc = bench_job_run(o, &pairs, results);
    if (rc) return rc;
  }
  return 0;
}
