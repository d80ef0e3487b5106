/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * The soak (soak_mix.h) with several threads per process, TMB_TEST_THREADS (default 4); operations
 * of the whole job as in soak.c, by default COUNT.
 */
#include "soak_mix.h"
#include "threads.h"

#ifdef __SANITIZE_THREAD__ /* 100000 take 4 s of processor time there */
enum { COUNT = 30000 };
#else
enum { COUNT = 100000 };
#endif

static uint64_t per_worker;

static void body(int id) {
  struct soak_worker *const w = soak_workers[id];
  for (uint64_t i = 0; i < per_worker && check_failures() < 100; i++) soak_step(w);
  soak_end(w);
}

int main(int argc, char **argv) {
  const int threads = (int)env_number("TMB_TEST_THREADS", 4);
  REQUIRE(threads >= 1 && threads <= SOAK_WORKERS_MAX);
  soak_job(&argc, &argv, threads);
  const long long total =
      argc > 1 ? strtoll(argv[1], NULL, 0) : env_number("TMB_TEST_COUNT", COUNT);
  REQUIRE(total > 0);
  per_worker =
      ((uint64_t)total + job.size * (unsigned)threads - 1) / (job.size * (unsigned)threads);
  for (int i = 0; i < threads; i++) soak_new(i);
  job_barrier();
  const double begin = now_s();
  run_threads(threads, body);
  job_barrier();
  soak_report(now_s() - begin);
  return job_finish();
}
