/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* debug: both */
/* cases: upcxx caffeine chapel testam E 9LIVES UPCR a-name.with:odd/signs long empty */
/*
 * API 01.1: gex_Client_Init takes any client name, as released clients pass names that the text
 * does not allow; gex_Client_QueryName returns an equal string, not the client's own memory.
 */
#include "job.h"

static char name[2000];

int main(int argc, char **argv) {
  const char *const asked = argc > 1 ? argv[1] : "upcxx";
  if (strcmp(asked, "long") == 0)
    memset(name, 'n', sizeof name - 1);
  else if (strcmp(asked, "empty") != 0)
    strncpy(name, asked, sizeof name - 1);
  REQUIRE(gex_Client_Init(&job.client, &job.ep, &job.tm, name, &argc, &argv, 0) == GASNET_OK);
  job.rank = gex_TM_QueryRank(job.tm);
  check_set_rank(job.rank);
  CHECK_STR(gex_Client_QueryName(job.client), name);
  const size_t length = strlen(name);
  name[0] = '#';
  CHECK_CMP(gex_Client_QueryName(job.client)[0], !=, '#');
  CHECK_CMP(strlen(gex_Client_QueryName(job.client)), ==, length);
  return job_finish();
}
