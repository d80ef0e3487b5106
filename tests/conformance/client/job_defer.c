/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/*
 * API 01.1, 01.11: init without argc and argv, client flags, deferred progress threads.
 */
#include "job.h"

int main(void) {
  const gex_Flags_t flags = GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS;
  char name[] = "A_NAME_2";
  REQUIRE(gex_Client_Init(&job.client, &job.ep, &job.tm, name, NULL, NULL, flags) == GASNET_OK);
  name[0] = 'X'; /* the library has a copy */
  check_set_rank(gex_System_QueryJobRank());
  CHECK_STR(gex_Client_QueryName(job.client), "A_NAME_2");
  CHECK_EQ(gex_Client_QueryFlags(job.client), flags);
  unsigned count = 77;
  const gex_ProgressThreadInfo_t *info = NULL;
  CHECK_EQ(gex_System_QueryProgressThreads(job.client, &count, &info, 0), GASNET_OK);
  CHECK_EQ(count, 0);
  CHECK_EQ(gex_System_QueryJobRank(), gex_TM_QueryRank(job.tm));
  job_barrier();
  return job_finish();
}
