/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of tests/replay/bugs.py and crowd.py share: one program, whose argument is the
 * case. bugs.c, chaos.c, right.c and crowd.c have the cases, bugs_main.c the handlers and the job.
 */
#ifndef REPLAY_BUGS_H
#define REPLAY_BUGS_H

#include <gasnetex.h>

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/cases.h"
#include "delay.h"

#define SCRIPTED CASE /* no test of the list: bugs.py runs it in a way of its own */

enum {
  H_ADD = 200, /* to the value */
  H_SCALE,     /* the value */
  H_NAME,      /* append the sender to the order */
  H_ASK,       /* answer by two replies */
  H_TELL,
  H_ITEM, /* append a number to the order, and answer */
  H_BACK,
  H_MANY,  /* the same without an answer, with all arguments */
  H_PLACE, /* and as a Long */
  H_LONG,  /* append a number, and answer by a long reply */
  H_FULL
};

#define SEGMENT_BYTES 262144
#define RANKS_MAX     32 /* of crowd.c; other cases have 3 ranks */

extern gex_TM_t tm;
extern gex_Rank_t me;
extern long *base[RANKS_MAX]; /* of the segments */
extern int changed;           /* there is a further argument */
extern int code;              /* of the end */

extern volatile long value, count;
extern char order[256];
extern volatile uint32_t came; /* a hash of the numbers that have come, in their order */

void barrier(void);
/* The bug shows if the condition holds on this rank. */
void verdict(int bug, const char *text);
/* An operation on the first word of rank 0. Returns its value before. */
uint64_t atomic(gex_AD_t ad, gex_OP_t op, uint64_t a, uint64_t b);

#endif
