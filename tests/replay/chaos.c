/* SPDX-License-Identifier: BSD-3-Clause */
/* Bugs that show only under chaos; `chaos_needs` of bugs.py says what each needs. */
#include "bugs.h"

/* The message of rank 1 is sent before that of rank 2, which is an answer to a later one of rank 1;
 * a poll may deliver them in another order, but does so only if it is made to. */
static void send_pair(int number) {
  const unsigned poll_us = getenv("TOMBOLO_CONDUIT") ? 20000 : 4000; /* packets are slow */
  if (me == 1) {
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
    gex_AM_RequestShort(tm, 2, H_NAME, 0);
  }
  while (me == 2 && count < number) (void)gasnet_AMPoll();
  if (me == 2) (void)usleep(poll_us * 2 / 5);
  if (me == 2) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  while (me == 0 && count < 2 * number) {
    (void)gasnet_AMPoll();
    (void)usleep(poll_us);
  }
}
SCRIPTED(chaos) {
  send_pair(1);
  verdict(me == 0 && order[0] == '2', order);
}

/* Of several pairs the third one must be in order. */
SCRIPTED(chaos_third) {
  for (int i = 1; i <= 4; i++) {
    send_pair(i);
    barrier();
  }
  verdict(me == 0 && order[4] == '2', order);
}

/* A request that is refused is not repeated. */
SCRIPTED(chaos_lost) {
  for (int i = 0; i < 6; i++) {
    if (me) (void)gex_AM_RequestShort(tm, 0, H_ADD, i == 4 ? GEX_FLAG_IMMEDIATE : 0, 1);
    barrier();
  }
  if (me) gex_AM_RequestShort(tm, 0, H_ITEM, 0, 1);
  while (me == 0 && came != 32) (void)gasnet_AMPoll(); /* two of them */
  verdict(me == 0 && value != 12, "a request was refused");
}

/* The others have passed a barrier, so rank 0 takes a single test for enough. */
static bool is_late(void) {
  const gex_Event_t all = gex_Coll_BarrierNB(tm, 0);
  const long before = count;
  if (me) gex_Event_Wait(all);
  if (me) gex_AM_RequestShort(tm, 0, H_ADD, 0, 1);
  while (me == 0 && count < before + 2) (void)gasnet_AMPoll();
  const bool late = me == 0 && gex_Event_Test(all) != GASNET_OK;
  if (late) gex_Event_Wait(all);
  return late;
}
SCRIPTED(chaos_event) {
  for (int i = 0; i < 3; i++) verdict(is_late() && i == 1, "the barrier is not over");
}
SCRIPTED(chaos_barrier) {
  gasnet_barrier_notify(7, 0);
  if (me) (void)gasnet_barrier_wait(7, 0);
  if (me) gex_AM_RequestShort(tm, 0, H_ADD, 0, 1);
  while (me == 0 && count < 2) (void)gasnet_AMPoll();
  if (me || gasnet_barrier_try(7, 0) == GASNET_OK) return;
  verdict(gasnet_barrier_wait(7, 0) == GASNET_OK, "the barrier is not over");
}

/* Two bugs that do not depend on each other: a message is overtaken, or a test is late. One of them
 * is enough. */
SCRIPTED(chaos_either) {
  send_pair(1);
  const bool overtaken = order[0] == '2', late = is_late();
  verdict(overtaken || late, "overtaken or late");
}

/* A message is overtaken, and a test is late: the bug needs both. */
SCRIPTED(chaos_both) {
  send_pair(1);
  const bool overtaken = order[0] == '2';
  verdict(is_late() && overtaken, "overtaken and late");
}
