/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of a SEQ client whose threads call in turns, one case each, for
 * tests/check/findings.py: its implicit operations are one set, whichever thread starts and waits.
 */
#include "three_ranks.h"

#include <pthread.h>

static void *put(void *arg) {
  (void)arg;
  gex_RMA_PutNBI(tm, 0, base[0], v, 8, GEX_EVENT_NOW, 0); /* race: not_waited */
  return NULL;
}
static void *prepare(void *arg) {
  *(gex_AM_SrcDesc_t *)arg = gex_AM_PrepareRequestMedium(tm, 2, NULL, 8, 8, NULL, 0, 0);
  return NULL;
}
static void on_a_thread(void *(*call)(void *), void *arg) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, call, arg)) exit(1);
  pthread_join(thread, NULL);
}

CASE(not_waited) {
  if (me == 1) on_a_thread(put, NULL);
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: not_waited */
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
CASE(ok_waited) {
  if (me == 1) on_a_thread(put, NULL);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier();
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}
CASE(ok_prepared) {
  gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
  if (me == 1) {
    gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
    on_a_thread(prepare, &sd);
    memset(gex_AM_SrcDescAddr(sd), 0, 8);
    (void)gex_AM_CommitRequestMedium0(sd, H_MEDIUM, 8);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
}

int main(int argc, char **argv) {
  return run_three(argc, argv);
}
