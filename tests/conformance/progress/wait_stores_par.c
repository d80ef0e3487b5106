/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 5 */
/* again: TOMBOLO_WAIT=block */
/* Two threads of each rank wait for plain stores of their neighbours, see wait_stores.h. */
#include "threads.h"
#include "wait_stores.h"

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  run_threads(GAMES, play);
  CHECK_EQ(memory_of(job.rank)->sleepers, 0);
  job_barrier();
  return job_finish();
}
