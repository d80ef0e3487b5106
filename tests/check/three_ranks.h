/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of three ranks of races.c and local.c: segments, signals, handlers, and its main part.
 *
 * Owns: the variables of the job. Calls: the client API, and BEFORE_ATTACH() before the segments
 * are attached, where that is defined. Invariants: handlers only count, so they race with nothing.
 */
#ifndef TMBTEST_THREE_RANKS_H
#define TMBTEST_THREE_RANKS_H

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cases.h"

static gex_TM_t tm;
static gex_EP_t ep;
static gex_Client_t client;
static gex_Rank_t me;
static long *base[3]; /* of the segments; [0..15] data, [64] a signal, [128..] more data */
static long v[64];

static inline uint64_t *sig(int r) {
  return (uint64_t *)&base[r][64];
}
static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}
static inline void wait_for(gex_Event_t e) {
  gex_Event_Wait(e);
}

static volatile int handled;
static void on_short(gex_Token_t t) {
  (void)t;
  handled++;
}
static void on_long(gex_Token_t t, void *buf, size_t n) {
  (void)t, (void)buf, (void)n;
  handled++;
}

#define H_SHORT  200
#define H_LONG   201
#define H_DONE   202
#define H_MEDIUM 203

/* A put to a rank that adds 1 to its signal. */
#define PUT_SIGNAL(to)                                                                             \
 (void)gexx_RMA_PutSignalBlocking(tm, to, base[to], v, 8, GEX_EVENT_NOW, sig(to), GEXX_SIG_ADD, 1, \
                                  0)

/* Starts the job, runs the case of argv[1], and ends the job. */
static int run_three(int argc, char **argv) {
  gex_Segment_t segment;
  gex_AM_Entry_t entries[] = {
      {H_SHORT, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
      {H_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
      {H_DONE, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, NULL},
      {H_MEDIUM, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, NULL}};
  if (gex_Client_Init(&client, &ep, &tm, "CHECKED", &argc, &argv, GEX_FLAG_USES_GASNET1) !=
      GASNET_OK)
    return 1;
  me = gex_TM_QueryRank(tm);
  (void)gex_EP_RegisterHandlers(ep, entries, 4);
#ifdef BEFORE_ATTACH
  BEFORE_ATTACH();
#endif
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK) return 1;
  for (gex_Rank_t r = 0; r < 3; r++)
    (void)gex_Segment_QueryBound(tm, r, (void **)&base[r], NULL, NULL);
  memset(gex_Segment_QueryAddr(segment), 0, 8192);
  barrier();
  case_run(argc, argv);
  barrier();
  gasnet_exit(0);
}

#endif
