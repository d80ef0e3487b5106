/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp+TOMBOLO_TEST_UDP_FAULT=loss=1 */
/* timeout: 120 */
/*
 * Random mix of all point-to-point operations with every payload checked (soak_mix.h). The number
 * of operations of the whole job is the first argument, else TMB_TEST_COUNT, else 200000; long runs
 * print progress: `soak 100000000`.
 */
#include "soak_mix.h"

int main(int argc, char **argv) {
  soak_job(&argc, &argv, 1);
  const long long total =
      argc > 1 ? strtoll(argv[1], NULL, 0) : env_number("TMB_TEST_COUNT", 200000);
  REQUIRE(total > 0);
  const uint64_t mine = ((uint64_t)total + job.size - 1) / job.size;
  struct soak_worker *const w = soak_new(0);
  job_barrier();
  const double begin = now_s();
  double shown = begin;
  for (uint64_t i = 0; i < mine; i++) {
    soak_step(w);
    if (i % 4096 == 0 && check_failures() > 100) break;
    if (job.rank == 0 && i % 65536 == 0 && now_s() - shown > 10) {
      shown = now_s();
      fprintf(stderr, "soak: rank 0 at %.1f %%, %.0f operations/s here\n",
              100.0 * (double)i / (double)mine, (double)i / (shown - begin));
    }
  }
  soak_end(w);
  job_barrier();
  for (int kind = 0; kind < SOAK_KINDS && mine > 1000; kind++) CHECK_CMP(w->by_kind[kind], >, 0);
  soak_report(now_s() - begin);
  return job_finish();
}
