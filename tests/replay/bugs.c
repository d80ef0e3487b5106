/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded bugs that depend on the order in which ranks meet, one case each, for
 * tests/replay/bugs.py. Run with 3 ranks; the argument is the case. A run in which the bug shows
 * prints the order and ends with code 3. Delays are random, so a bug shows in some of many runs.
 */
#include <gasnetex.h>

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static gex_TM_t tm;
static gex_EP_t ep;
static gex_Client_t client;
static gex_Rank_t me;
static long *base[3]; /* of the segments */

#define H_ADD   200
#define H_SCALE 201
#define H_NAME  202

static volatile long value, count;
static char order[256];

static void on_add(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value += n;
  count++;
}
static void on_scale(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value *= n;
  count++;
}
/* Append the sender to the order. */
static void on_name(gex_Token_t t) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(t, &info, GEX_TI_SRCRANK);
  order[count++] = (char)('0' + info.gex_srcrank);
}

/* Wait for a random time, at most so many microseconds. */
static void delay(unsigned most_us) {
  unsigned r = 0;
  if (getrandom(&r, sizeof r, 0) != sizeof r) abort();
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += (long)(r % (most_us + 1)) * 1000;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
}

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

/* The bug shows if the condition holds on this rank. */
static int code;
static void verdict(int bug, const char *text) {
  if (!bug) return;
  printf("rank %u: wrong: %s\n", me, text);
  fflush(stdout);
  code = 3;
}

#define CASE(name) static void name(void)

/* Additions must precede the scaling, but nothing orders the two senders. */
CASE(message_order) {
  if (me == 1) gex_AM_RequestShort(tm, 0, H_ADD, 0, 5);
  if (me == 2) {
    delay(200);
    gex_AM_RequestShort(tm, 0, H_SCALE, 0, 2);
  }
  if (me == 0) GASNET_BLOCKUNTIL(count == 2);
  verdict(me == 0 && value != 10, "scaled before added");
}

/* A receive from anybody takes the first message for that of rank 1. */
CASE(wildcard) {
  for (int i = 0; i < 4 && me; i++) {
    delay(50);
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
  }
  while (me == 0 && count < 8) (void)gasnet_AMPoll();
  verdict(me == 0 && order[0] == '2' && order[1] == '1' && order[2] == '1', order);
}

/* No bug: a message goes round. With a further argument rank 0 makes another call in between. */
static int changed;
static void ring(void) {
  if (me == 0) gex_AM_RequestShort(tm, 1, H_NAME, 0);
  if (me == 0 && changed) gex_NBI_Wait(GEX_EC_ALL, 0);
  while (count < 1) (void)gasnet_AMPoll();
  if (me) gex_AM_RequestShort(tm, (me + 1) % 3, H_NAME, 0);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {{"message_order", message_order}, {"wildcard", wildcard}, {"ring", ring}};

int main(int argc, char **argv) {
  gex_Segment_t segment;
  gex_AM_Entry_t handlers[] = {
      {H_ADD, (gex_AM_Fn_t)on_add, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_SCALE, (gex_AM_Fn_t)on_scale, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_NAME, (gex_AM_Fn_t)on_name, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL}};
  gex_Client_Init(&client, &ep, &tm, "bugs", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, 65536);
  gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  me = gex_TM_QueryRank(tm);
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm) && r < 3; r++) {
    void *at = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &at, NULL, NULL, 0));
    base[r] = at;
  }
  memset(base[me], 0, 65536);
  barrier();
  changed = argc > 2;
  for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  barrier();
  gasnet_exit(code);
}
