/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crashes in places that tests/fault/crashes.py knows: its argument is HOW RANKS, RANKS a mask.
 */
/* mode: SEQ */
/* ranks: 1 */
/* debug: both */
#include <gasnetex.h>

#include <stdlib.h>
#include <string.h>

static gex_TM_t team;

static __attribute__((noinline)) int descend(const volatile int *at, int depth) {
  if (depth == 0) return *at; /* line of null */
  return descend(at, depth - 1) + 1;
}

static __attribute__((noinline)) int call(int (*function)(int)) {
  return function(1) + 1; /* line of call */
}

static void on_request(gex_Token_t token, gex_AM_Arg_t depth) {
  static const volatile int *const nowhere;
  (void)token;
  (void)descend(nowhere, (int)depth); /* line of handler */
}

static __attribute__((noinline)) void crash(const char *how) {
  static const volatile int *const nowhere;
  static int (*volatile missing)(int);
  if (strcmp(how, "null") == 0) exit(descend(nowhere, 3)); /* line of crash */
  if (strcmp(how, "call") == 0) exit(call(missing));
  if (strcmp(how, "abort") == 0) abort(); /* line of abort */
  if (strcmp(how, "check") == 0)
    gex_RMA_PutBlocking(team, 99, &team, &team, 1, 0); /* line of check */
  if (strcmp(how, "handler") == 0) {
    gex_AM_RequestShort(team, gex_TM_QueryRank(team), 200, 0, 2); /* line of request */
    for (;;) gasnet_AMPoll();
  }
}

int main(int argc, char **argv) {
  static gex_AM_Entry_t table[] = {
      {200, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "crash"}};
  gex_Client_t client;
  gex_EP_t ep;
  if (gex_Client_Init(&client, &ep, &team, "CRASHES", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_EP_RegisterHandlers(ep, table, 1) != GASNET_OK) return 1;
  if (argc < 3) return 0;
  if (atoi(argv[2]) >> gex_TM_QueryRank(team) & 1) crash(argv[1]);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
