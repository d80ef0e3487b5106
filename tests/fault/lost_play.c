/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 */
/* cases: leave */
/* timeout: 30 */
/*
 * The program that lost.py plays with from outside (ext_failure.h): it says what it sees of its
 * peers. By itself it checks that ranks may leave in good order at different times.
 */
#include "loss.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t asked_to_leave;

static void on_usr1(int sig) {
  (void)sig;
  asked_to_leave = 1;
}

/* Says every change of a peer's state until SIGUSR1 comes. */
static void watch(void) {
  int last[LOSS_RANKS_MAX] = {0};
  while (!asked_to_leave) {
    (void)gexx_Poll(20000);
    for (gex_Rank_t r = 0; r < job.size; r++) {
      const int state = gexx_Peer_Query(r);
      gexx_Peer_Info_t info;
      gexx_Peer_QueryInfo(r, &info);
      if (state == last[r]) continue;
      last[r] = state;
      CHECK_EQ(info.gexx_lost, state == GEXX_PEER_STOPPED || state == GEXX_PEER_FAILED);
      if (state == GEXX_PEER_ALIVE)
        printf("rank %u sees %u alive\n", job.rank, r);
      else if (state == GEXX_PEER_SUSPENDED)
        printf("rank %u sees %u suspended\n", job.rank, r);
      else
        printf("rank %u sees %u state %d\n", job.rank, r, state);
      fflush(stdout);
    }
  }
}

/* The last rank dies; then rank 1 ends the job with a code of its own. */
static void end_job(int code) {
  if (job.rank == job.size - 1) loss_die("kill");
  loss_await(job.size - 1, 1);
  loss_meet();
  if (job.rank == 1) {
    CHECK_EQ(gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT), GASNET_OK);
    gasnet_exit(code);
  }
  for (;;) (void)gexx_Poll(1000000);
}

/* One rank takes its consent back. */
static void back(void) {
  if (job.rank == 1) CHECK_EQ(gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT), GASNET_OK);
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  printf("rank %u is back\n", job.rank);
  fflush(stdout);
}

/* Each rank leaves in turn; those that stay see it end in good order, and use what is left. */
static void leave(void) {
  for (gex_Rank_t r = job.size - 1; r > job.rank; r--) {
    loss_await(r, 1);
    CHECK_EQ(loss_state[r], GEXX_PEER_STOPPED);
    loss_meet();
  }
}

int main(int argc, char **argv) {
  signal(SIGUSR1, on_usr1);
  loss_start(&argc, &argv, NULL, 0);
  REQUIRE(argc > 1);
  if (strcmp(argv[1], "watch") == 0) watch();
  if (strcmp(argv[1], "abort") == 0) end_job(atoi(argv[2]));
  if (strcmp(argv[1], "back") == 0) {
    back();
    for (;;) (void)gexx_Poll(1000000);
  }
  if (strcmp(argv[1], "leave") == 0) leave();
  loss_finish();
}
