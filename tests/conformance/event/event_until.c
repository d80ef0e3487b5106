/* SPDX-License-Identifier: BSD-3-Clause */
/* debug: both */
/* again: TOMBOLO_SHM=0 */
/*
 * gexx_Event_WaitUntil: ends with the event, which it synchronises; with a condition that a handler
 * makes true, or with the time, which leave the event alone. Without an event also with what a peer
 * stores, of which nobody informs the wait.
 */
#include "job.h"

#include <gasnetex_ext.h>

#include <time.h>

/* LATE_NS: longer than a wait sleeps before it notes down what it waits for */
enum { H_PING = GEX_AM_INDEX_BASE, SHORT_US = 2000, LATE_NS = 400000000 };

static volatile int pings;

static void ping_handler(gex_Token_t token) {
  (void)token;
  pings++;
}

static int pinged(void *arg) {
  return pings >= *(int *)arg;
}

static int is_stored(void *word) {
  return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE) == 7;
}

/* The last rank stores a word of rank 0, which sleeps by then, and does nothing else until rank 0
 * has seen it: nothing wakes rank 0. */
static void check_stored(void) {
  const gex_Rank_t last = job.size - 1;
  const uint64_t seven = 7;
  int wanted = pings + 1; /* only rank 0 pings from here on */
  if (job.rank == last && last > 0) nanosleep(&(struct timespec){0, LATE_NS}, NULL);
  if (job.rank == last) gex_RMA_PutBlocking(job.tm, 0, job.peer[0], &seven, sizeof seven, 0);
  if (job.rank == 0) {
    CHECK_EQ(gexx_Event_WaitUntil(GEX_EVENT_NO_OP, is_stored, job.base, UINT64_MAX),
             GASNET_ERR_NOT_READY);
    gex_AM_RequestShort0(job.tm, last, H_PING, 0);
  }
  if (job.rank == last) GASNET_BLOCKUNTIL(pinged(&wanted));
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entries[] = {
      {H_PING, (gex_AM_Fn_t)ping_handler, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL}};
  job_start(&argc, &argv, 4096, entries, 1);
  const gex_Rank_t right = (job.rank + 1) % job.size;
  int wanted = 1;

  CHECK_EQ(gexx_Event_WaitUntil(GEX_EVENT_INVALID, NULL, NULL, UINT64_MAX), GASNET_OK);
  /* the time: nobody has pinged */
  CHECK_EQ(gexx_Event_WaitUntil(GEX_EVENT_NO_OP, pinged, &wanted, 0), GASNET_ERR_NOT_READY);
  CHECK_EQ(gexx_Event_WaitUntil(GEX_EVENT_NO_OP, pinged, &wanted, SHORT_US), GASNET_ERR_NOT_READY);
  CHECK_EQ(pings, 0);
  job_barrier();

  /* a condition alone */
  gex_AM_RequestShort0(job.tm, right, H_PING, 0);
  CHECK_EQ(gexx_Event_WaitUntil(GEX_EVENT_NO_OP, pinged, &wanted, UINT64_MAX),
           GASNET_ERR_NOT_READY);
  CHECK_EQ(pings, 1);
  job_barrier();

  /* an event that comes late: the time and a condition leave it alone */
  wanted = 2;
  if (job.rank == 0) {
    const gex_Event_t barrier = gex_Coll_BarrierNB(job.tm, 0);
    if (job.size > 1) {
      CHECK_EQ(gexx_Event_WaitUntil(barrier, NULL, NULL, SHORT_US), GASNET_ERR_NOT_READY);
      gasnet_set_waitmode(GASNET_WAIT_BLOCK); /* sleeps before it looks at the clock */
      CHECK_EQ(gexx_Event_WaitUntil(barrier, NULL, NULL, SHORT_US), GASNET_ERR_NOT_READY);
      gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK);
      CHECK_EQ(gexx_Event_WaitUntil(barrier, pinged, &wanted, UINT64_MAX), GASNET_ERR_NOT_READY);
      CHECK_EQ(pings, 2);
      gex_AM_RequestShort0(job.tm, job.size - 1, H_PING, 0);
    }
    CHECK_EQ(gexx_Event_WaitUntil(barrier, NULL, NULL, UINT64_MAX), GASNET_OK);
  } else if (job.rank == job.size - 1) { /* this one comes last, when rank 0 has seen its ping */
    gex_AM_RequestShort0(job.tm, 0, H_PING, 0);
    while (pings < 2) (void)gexx_Event_WaitUntil(GEX_EVENT_NO_OP, pinged, &wanted, SHORT_US);
    gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  } else {
    gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  }

  /* many events, each as by gex_Event_Wait */
  wanted = 1000;
  for (int i = 0; i < 200; i++)
    while (gexx_Event_WaitUntil(gex_Coll_BarrierNB(job.tm, 0), pinged, &wanted, UINT64_MAX))
      CHECK_EQ(i, -1);
  check_stored();
  return job_finish();
}
