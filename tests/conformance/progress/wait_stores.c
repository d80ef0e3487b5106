/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 5 */
/* again: TOMBOLO_WAIT=block */
/* One thread of each rank waits for plain stores of its neighbour, see wait_stores.h. */
#include "wait_stores.h"

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  play(0);
  CHECK_EQ(memory_of(job.rank)->sleepers, 0);
  job_barrier();
  return job_finish();
}
