/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 7 */
/* cases: gasnet1 ex pair */
/* again: TOMBOLO_TEST_SHM=0 */
/*
 * API 01.4, 08.2: a handler finds this rank attached if the sender was attached. Attach also runs
 * handlers of messages that were sent before it: a rank that waits for an answer attaches later.
 */
#include <gasnet.h>

#include "job.h"

static volatile int attached, early, seen, answered;
static gex_AM_Index_t ask_i = 201, answer_i = 202;

static void on_hello(gex_Token_t token) {
  (void)token;
  if (!attached) early++;
  seen++;
}
static void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, answer_i, 0);
}
static void on_answer(gex_Token_t token) {
  (void)token;
  answered++;
}

static void hello_to_all(void) {
  attached = 1;
  for (gex_Rank_t r = 0; r < gex_System_QueryJobSize(); r++)
    gex_AM_RequestShort0(job.tm, r, 200, 0);
  GASNET_BLOCKUNTIL(seen == (int)gex_System_QueryJobSize());
  CHECK_EQ(early, 0);
}

static void gasnet1(int *argc, char ***argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_hello}};
  REQUIRE(gasnet_init(argc, argv) == GASNET_OK);
  REQUIRE(gasnet_attach(table, 1, GASNET_PAGESIZE, 0) == GASNET_OK);
  gasnet_QueryGexObjects(&job.client, &job.ep, &job.tm, NULL);
  hello_to_all();
}

static void init_ex(int *argc, char ***argv) {
  gex_AM_Entry_t table[] = {
      {200, (gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "hello"},
      {ask_i, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {answer_i, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"}};
  job_start(argc, argv, 0, table, 3);
}

/* The last rank asks all others, which attach already, before it attaches. */
static void ask_the_attaching(void) {
  if (job.rank + 1 < job.size) return;
  sleep_ms(50);
  for (gex_Rank_t r = 0; r < job.size; r++) gex_AM_RequestShort0(job.tm, r, ask_i, 0);
  GASNET_BLOCKUNTIL(answered == (int)job.size);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "ex";
  if (!strcmp(what, "gasnet1")) {
    gasnet1(&argc, &argv);
  } else {
    init_ex(&argc, &argv);
    if (!strcmp(what, "pair")) ask_the_attaching();
    REQUIRE(gex_Segment_Attach(&job.seg, job.tm, GASNET_PAGESIZE) == GASNET_OK);
    hello_to_all();
  }
  job.rank = gex_TM_QueryRank(job.tm);
  check_set_rank(job.rank);
  return job_finish();
}
