/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.c: an active message travels round the ring of ranks, and each rank adds its number to it.
 *
 * A handler may not send requests, only one reply; so the handler notes what came, and the main
 * program, which waits with GASNET_BLOCKUNTIL, passes it on. At the end the sum is checked.
 * Compile: tombolo cc ring.c -o ring
 * Run:     tombolo run -n 4 ./ring 1000        (rounds; default 100)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex.h>

enum { HANDLER_PASS = GEX_AM_INDEX_BASE };

/* Written by the handler, read by main. */
static volatile int arrived;
static volatile int64_t value;

/* book: handler */
/* Runs on the receiving rank when it polls; a 64-bit number travels as two 32-bit arguments. */
static void pass_handler(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  (void)token;
  value = (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
  arrived++;
}
/* book end */

/* book: send */
static void send_value(gex_TM_t team, gex_Rank_t to, int64_t number) {
  gex_AM_RequestShort2(team, to, HANDLER_PASS, 0, number >> 32, number);
}
/* book end */

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  if (gex_Client_Init(&client, &ep, &team, "RING", &argc, &argv, 0) != GASNET_OK) return 1;

  /* The promise that this handler gets Short requests of two arguments is checked in debug mode. */
  /* book: register */
  gex_AM_Entry_t table[] = {{HANDLER_PASS, (gex_AM_Fn_t)pass_handler,
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "pass_handler"}};
  if (gex_EP_RegisterHandlers(ep, table, 1) != GASNET_OK) return 1;
  /* Nobody sends before everybody has registered. */
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  /* book end */

  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const gex_Rank_t size = gex_TM_QuerySize(team);
  const gex_Rank_t next = (me + 1) % size;

  if (me == 0) send_value(team, next, 0);
  for (int round = 1; round <= rounds; round++) {
    /* book: wait */
    GASNET_BLOCKUNTIL(arrived >= round);
    const int last_stop = me == 0 && round == rounds;
    if (!last_stop) send_value(team, next, value + me);
    /* book end */
  }

  int failed = 0;
  if (me == 0) {
    const int64_t expected = (int64_t)rounds * size * (size - 1) / 2;
    failed = value != expected;
    printf("%s: %d rounds over %u ranks: sum %lld, expected %lld\n", failed ? "FAILED" : "ok",
           rounds, (unsigned)size, (long long)value, (long long)expected);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(failed);
}
