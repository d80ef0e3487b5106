/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* mode: PAR */
/* again: TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=udp */
/* again: TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=udp+TOMBOLO_TEST_UDP_CREDITS=40 */
/*
 * docs/PROGRESS.md: two threads of each rank compute and poll by turns, while other ranks make
 * strided transfers with it, change its words and send messages. Handlers run in threads of the
 * client only, each message once, and all data are right.
 */
#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 60, ROWS = 40, WIDTH = 300, PITCH = 512, AREA = ROWS * PITCH, CALLED = 130 };
enum { THREADS = 2, COMPUTE_MAX_US = 15000 };

static gex_AD_t ad;
static uint64_t calls;
static _Thread_local bool is_client;

static void on_call(gex_Token_t token, void *data, size_t nbytes) {
  (void)token;
  CHECK(is_client);
  for (size_t i = 0; i < nbytes; i++) CHECK_EQ(((char *)data)[i], (char)nbytes);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* Makes no call for a while that differs from turn to turn. */
static void compute(unsigned *seed) {
  *seed = *seed * 1103515245u + 12345u;
  const uint64_t until = gasnett_ticks_to_us(gasnett_ticks_now()) + (*seed >> 8) % COMPUTE_MAX_US;
  while (gasnett_ticks_to_us(gasnett_ticks_now()) < until) continue;
}

struct worker {
  pthread_t thread;
  unsigned number, seed;
  char local[ROWS * WIDTH], back[ROWS * WIDTH];
};

/* One turn of a thread towards the next rank: each has an area there of its own. */
static void turn(struct worker *w, int t) {
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  char *const there = job.peer[peer] + 64 + w->number * AREA;
  const ptrdiff_t wide[1] = {PITCH}, tight[1] = {WIDTH};
  const size_t count[1] = {t % 2 ? ROWS : 1};
  uint64_t before;
  for (size_t i = 0; i < sizeof w->local; i++) w->local[i] = (char)(i * 3 + (unsigned)t);
  char data[100];
  memset(data, t % 100, sizeof data);
  gex_Event_Wait(
      gex_VIS_StridedPutNB(job.tm, peer, there, wide, w->local, tight, WIDTH, count, 1, 0));
  gex_AM_RequestMedium0(job.tm, peer, CALLED, data, (size_t)(t % 100), GEX_EVENT_NOW, 0);
  gex_Event_Wait(
      gex_AD_OpNB_U64(ad, &before, peer, (uint64_t *)(void *)job.peer[peer], GEX_OP_FADD, 1, 0, 0));
  gex_VIS_StridedGetBlocking(job.tm, w->back, tight, peer, there, wide, WIDTH, count, 1, 0);
  CHECK_EQ(memcmp(w->local, w->back, count[0] * WIDTH), 0);
}

static void *work(void *arg) {
  struct worker *w = arg;
  is_client = true;
  for (int t = 0; t < TURNS; t++) {
    turn(w, t);
    if (t % 3 == 0) compute(&w->seed);
    gasnet_AMPoll();
  }
  return NULL;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t handlers[] = {
      {CALLED, (gex_AM_Fn_t)on_call, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "call"}};
  is_client = true;
  job_start(&argc, &argv, 65536, handlers, 1);
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD, 0);
  static struct worker worker[THREADS];
  job_barrier();
  for (unsigned i = 0; i < THREADS; i++) {
    worker[i].number = i;
    worker[i].seed = job.rank * 17 + i;
    CHECK_EQ(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(worker[i].thread, NULL), 0);
  job_barrier();
  GASNET_BLOCKUNTIL(__atomic_load_n(&calls, __ATOMIC_RELAXED) == THREADS * TURNS);
  CHECK_EQ(*(uint64_t *)(void *)job.base, THREADS * TURNS);
  gex_AD_Destroy(ad);
  return job_finish();
}
