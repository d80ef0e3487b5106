/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts to rank 1, which makes no call meanwhile: `ofi_absent BYTES`. The puts ask for their
 * local completion, so each returns before rank 1 has its data, and then its source changes. Rank 1
 * goes on when rank 0 signals it; where a put waits for it, that never comes, and SIGALRM ends the
 * job. Without a progress thread (ofi_test.py), else that answers. */
#include "ofi_pair.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { PUTS = 8, LIMIT_S = 20 };

/* Rank 0. Before the puts, keys are exchanged: the first access of memory is a message. */
static void put_all(char *source, size_t bytes, pid_t peer) {
  for (int i = 0; i < PUTS; i++) {
    memset(source, i + 1, bytes);
    (void)gex_RMA_PutNBI(tm, 1, owner + (size_t)i * bytes, source, bytes, GEX_EVENT_NOW, 0);
  }
  memset(source, 0, bytes);
  (void)kill(peer, SIGUSR1);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

static int count_wrong(size_t bytes) {
  int wrong = 0;
  for (int i = 0; i < PUTS; i++)
    for (size_t at = 0; at < bytes; at++) wrong += mine[(size_t)i * bytes + at] != i + 1;
  return wrong;
}

int main(int argc, char **argv) {
  const size_t bytes = (size_t)pair_start("ABSENT", &argc, &argv);
  const gex_Rank_t rank = gex_TM_QueryRank(tm);
  pid_t pids[2] = {0, 0}, own = getpid();
  sigset_t set;
  int number = 0, wrong = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  pair_attach(PUTS * bytes, PUTS * bytes, !rank);
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, 1, &pids[1], &own, sizeof own, 0));
  char *const source = calloc(1, bytes);
  for (int i = 0; i < 3 && rank == 0; i++)
    (void)gex_RMA_PutBlocking(tm, 1, owner, source, bytes, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  alarm(LIMIT_S);
  if (rank == 0) put_all(source, bytes, pids[1]);
  if (rank == 1) (void)sigwait(&set, &number);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (rank == 1) wrong = count_wrong(bytes);
  if (wrong) fprintf(stderr, "%d bytes are wrong\n", wrong);
  free(source);
  gasnet_exit(wrong != 0);
  return 0;
}
