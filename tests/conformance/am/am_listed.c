/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* debug: both */
/*
 * API 02.3, 08.4: the arguments of a numbered form may come from one macro of the client, as they
 * may with a function: the numbered names must expand it before they count.
 */
#include "job.h"

#include <gasnet.h>

enum { SHORTS = 200, MEDIUMS = 201, EACH = 3 };

#define THREE 11, 22, 33
#define TO_ME job.tm, job.rank

static volatile int seen;

static void check(gex_AM_Arg_t a, gex_AM_Arg_t b, gex_AM_Arg_t c) {
  CHECK_EQ(a, 11);
  CHECK_EQ(b, 22);
  CHECK_EQ(c, 33);
  seen++;
}

static void on_short(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b, gex_AM_Arg_t c) {
  (void)token;
  check(a, b, c);
}

static void on_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a, gex_AM_Arg_t b,
                      gex_AM_Arg_t c) {
  (void)token;
  (void)buf;
  CHECK_EQ(nbytes, 4);
  check(a, b, c);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  REQUIRE(gex_Client_Init(&client, &job.ep, &job.tm, "CONFORM", &argc, &argv,
                          GEX_FLAG_USES_GASNET1) == GASNET_OK);
  gex_Segment_t segment;
  REQUIRE(gex_Segment_Attach(&segment, job.tm, GASNET_PAGESIZE) == GASNET_OK);
  job.rank = gex_TM_QueryRank(job.tm);
  gex_AM_Entry_t table[] = {
      {SHORTS, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, NULL, NULL},
      {MEDIUMS, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 3, NULL, NULL},
  };
  CHECK_EQ(gex_EP_RegisterHandlers(job.ep, table, 2), GASNET_OK);
  char word[4] = "abc";
  CHECK_EQ(gex_AM_RequestShort3(TO_ME, SHORTS, 0, THREE), 0);
  CHECK_EQ(gex_AM_RequestMedium3(TO_ME, MEDIUMS, word, sizeof word, GEX_EVENT_NOW, 0, THREE), 0);
  CHECK_EQ(gasnet_AMRequestShort3(job.rank, SHORTS, THREE), GASNET_OK);
  GASNET_BLOCKUNTIL(seen == EACH);
  return job_finish();
}
