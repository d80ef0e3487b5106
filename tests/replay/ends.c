/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose ranks end in the midst of a job, for tests/replay/ends.py. Whether rank 0 does so
 * depends on the order of the messages that it gets.
 */
#include "bugs.h"

#include <signal.h>

/* Two rounds of messages to rank 0. Returns whether it is to end now. */
static bool has_to_end(void) {
  for (int i = 0; i < 4 && me; i++) {
    delay(60);
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
  }
  if (me) return false;
  GASNET_BLOCKUNTIL(count == 8);
  printf("rank 0: %s\n", order);
  fflush(stdout);
  return order[0] == '2' && order[7] == '1';
}

static unsigned pause_us(unsigned most_us) {
  unsigned r = 0;
  if (getrandom(&r, sizeof r, 0) != sizeof r) abort();
  return r % most_us;
}

CASE(ends_segv) {
  static long *volatile nowhere;
  if (has_to_end()) *nowhere = 1;
}
CASE(ends_abort) {
  if (has_to_end()) abort();
}
CASE(ends_exit) {
  if (has_to_end()) _exit(3);
}
CASE(ends_exec) {
  if (has_to_end()) (void)execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
}
CASE(ends_killed) {
  if (has_to_end()) (void)raise(SIGKILL);
}

/* Rank 0 fails if no message has come until it needs one; nothing that it calls has an event. */
CASE(ends_early) {
  static long *volatile nowhere;
  if (me == 1) (void)usleep(pause_us(20000));
  if (me == 1) gex_AM_RequestShort(tm, 0, H_NAME, 0);
  for (int i = 0; i < 100 && me == 0; i++) {
    (void)gasnet_AMPoll();
    (void)usleep(100);
  }
  if (me == 0 && count == 0) *nowhere = 1;
}

/* Messages go round until a rank, or the launcher, is killed from outside. */
SCRIPTED(goes_round) {
  const gex_Rank_t next = (me + 1) % 3;
  if (me == 0) gex_AM_RequestShort(tm, next, H_ADD, 0, 1);
  for (long i = 1;; i++) {
    GASNET_BLOCKUNTIL(count == i);
    gex_AM_RequestShort(tm, next, H_ADD, 0, 1);
  }
}
