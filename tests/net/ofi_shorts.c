/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends many short things to rank 1: `ofi_shorts COUNT
 * puts|messages|kilobytes|mixed|silent|turns`. Puts go to words of their own, messages carry their
 * index, kilobytes are puts of 1 KiB. With `turns` messages go to all others in turn. With `mixed`
 * puts and messages alternate, and some are too long to share a message with others, and polls let
 * what waits leave. With `silent` rank 0 makes no call after the last put until rank 1 has seen it.
 * How much that takes at the network is counted by who starts it (ofi_test.py).
 */
#include "ofi_pair.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { H_SHORT = GEX_AM_INDEX_BASE, H_LONGER, SEEN_AT = 0, WORDS_AT = 64, LIMIT_S = 60 };

static volatile uint64_t arrived, wrong;
static uint64_t step = 1; /* words of a put */

static void on_message(gex_Token_t token, gex_AM_Arg_t index) {
  (void)token;
  if ((uint64_t)index != arrived) wrong++;
  arrived++;
}

static void on_longer(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t index) {
  const unsigned char *const text = data;
  if (text[0] != (index & 0xff) || text[bytes - 1] != (index & 0xff)) wrong++;
  on_message(token, index);
}

static void put(uint64_t i) {
  static uint64_t value[128];
  value[0] = value[step - 1] = i + 1;
  (void)gex_RMA_PutNBI(tm, 1, owner + WORDS_AT + 8 * step * i, value, 8 * step, GEX_EVENT_NOW, 0);
}

static void send_in_turn(uint64_t count) {
  const uint64_t others = gex_TM_QuerySize(tm) - 1;
  for (uint64_t i = 0; i < count * others; i++)
    gex_AM_RequestShort1(tm, (gex_Rank_t)(1 + i % others), H_SHORT, 0, (gex_AM_Arg_t)(i / others));
}

static void send(uint64_t i, bool longer) {
  static char text[40000];
  memset(text, (int)(i & 0xff), sizeof text);
  if (longer)
    gex_AM_RequestMedium1(tm, 1, H_LONGER, text, i % 3 ? 300 : sizeof text, GEX_EVENT_NOW, 0,
                          (gex_AM_Arg_t)i);
  else
    gex_AM_RequestShort1(tm, 1, H_SHORT, 0, (gex_AM_Arg_t)i);
}

/* The clock, so that nobody waits for ever. */
static void check_time(time_t since) {
  if (time(NULL) - since < LIMIT_S) return;
  fputs("what was put has not come\n", stderr);
  gasnet_exit(1);
}

/* Without a call until rank 1 says that it has seen the last word. */
static void keep_silent(void) {
  volatile uint64_t *const seen = (volatile uint64_t *)(void *)(mine + SEEN_AT);
  for (const time_t since = time(NULL); !*seen; check_time(since)) usleep(1000);
}

static void await_last(uint64_t count) {
  volatile uint64_t *const words = (volatile uint64_t *)(void *)(mine + WORDS_AT);
  for (const time_t since = time(NULL); !words[count - 1]; check_time(since)) gasnet_AMPoll();
  (void)gex_RMA_PutBlockingVal(tm, 0, owner + SEEN_AT, 1, 8, 0);
}

/* Parts of it; mixed: some are longer; turns: to all others. */
static bool with_puts, sends, mixed, turns, silent;

static void read_form(const char *form) {
  silent = strcmp(form, "silent") == 0;
  mixed = strcmp(form, "mixed") == 0;
  turns = strcmp(form, "turns") == 0;
  sends = mixed || turns || strcmp(form, "messages") == 0;
  with_puts = mixed || !sends;
  if (strcmp(form, "kilobytes") == 0) step = 128;
}

/* Rank 0 starts all of it. */
static void start(uint64_t count) {
  if (turns) {
    send_in_turn(count);
    return;
  }
  for (uint64_t i = 0; i < count; i++) {
    if (with_puts) put(i);
    for (uint64_t polls = mixed ? i % 6 : 0; polls; polls--) gasnet_AMPoll();
    if (sends) send(i, mixed && i % 2);
  }
  if (silent) keep_silent();
}

/* The others: whether all of it has come. */
static void check(uint64_t count) {
  for (const time_t since = time(NULL); sends && arrived < count; check_time(since))
    gasnet_AMPoll();
  const uint64_t *const words = (const uint64_t *)(const void *)(mine + WORDS_AT);
  for (uint64_t i = 0; with_puts && i < count; i++)
    wrong += words[step * i] != i + 1 || words[step * i + step - 1] != i + 1;
}

int main(int argc, char **argv) {
  const uint64_t count = pair_start("SHORTS", &argc, &argv);
  read_form(argc > 2 ? argv[2] : "puts");
  gex_AM_Entry_t table[] = {
      {H_SHORT, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "short"},
      {H_LONGER, (gex_AM_Fn_t)on_longer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL,
       "longer"}};
  gex_EP_RegisterHandlers(ep, table, 2);
  const gex_Rank_t rank = gex_TM_QueryRank(tm);
  pair_attach(WORDS_AT + 8 * step * count, WORDS_AT + 8 * step * count, !rank);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (rank == 0) start(count);
  if (rank == 1 && silent) await_last(count);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (rank) check(count);
  if (wrong) fprintf(stderr, "%llu wrong\n", (unsigned long long)wrong);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(wrong != 0);
  return 0;
}
