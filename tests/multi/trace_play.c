/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/*
 * A program of which each event is known, driven by trace.py: rank 0 puts, gets, adds, signals and
 * sends to rank 1, which waits and replies; both meet. Argument 1 says how it ends: "abort", "kill"
 * "many" (a number of puts, argument 2) and "slow" (a number of questions, 10 ms apart); without
 * one in order.
 */
#include "job.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <signal.h>
#include <unistd.h>

enum { REQUEST = 200, REPLY, BYTES = 4096 };

static volatile int replies;

static void on_reply(gex_Token_t token) {
  (void)token;
  replies++;
}

static void on_request(gex_Token_t token, void *buf, size_t nbytes) {
  (void)buf;
  (void)nbytes;
  gex_AM_ReplyShort0(token, REPLY, 0);
}

/* Rank 1 waits; rank 0 signals when it has got an answer, which rank 1 gives in its wait: it begins
 * a barrier, which lets rank 0 go on, and ends it behind the wait. */
static void signal_late(void) {
  uint64_t *signal = (uint64_t *)(void *)((char *)job.base + BYTES);
  static char data[64];
  gex_Event_t met = gex_Coll_BarrierNB(job.tm, 0);
  if (job.rank == 1) {
    gexx_Trace_Begin("consume");
    CHECK_EQ(gexx_Signal_Wait(signal, GEXX_SIG_GE, 7), 7);
    gexx_Trace_End();
    gex_Event_Wait(met);
    return;
  }
  gex_Event_Wait(met);
  gex_AM_RequestMedium0(job.tm, 1, REQUEST, data, 33, GEX_EVENT_NOW, 0);
  GASNET_BLOCKUNTIL(replies == 1);
  gexx_Trace_Mark("late");
  gexx_RMA_PutSignalBlocking(job.tm, 1, job.peer[1], data, sizeof data, GEX_EVENT_DEFER,
                             (uint64_t *)(void *)((char *)job.peer[1] + BYTES), GEXX_SIG_SET, 7, 0);
}

static void access_memory(void) {
  static char data[100];
  gex_AD_t ad;
  uint64_t old = 1;
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (job.rank == 0) {
    gex_RMA_PutBlocking(job.tm, 1, job.peer[1], data, 40, 0);
    gex_RMA_GetBlocking(job.tm, data, 1, job.peer[1], 24, 0);
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 1, (uint64_t *)(void *)((char *)job.peer[1] + 2048),
                                   GEX_OP_FADD, 5, 0, 0));
    CHECK_EQ(old, 0);
  }
  job_barrier();
  gex_AD_Destroy(ad);
}

static void combine(void) {
  int64_t mine = 1, all = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(job.tm, &all, &mine, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  CHECK_EQ(all, job.size);
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, 1, &all, &mine, 8, 0));
}

/* Rank 0 asks, and waits for each answer: what is known of the clocks must put all in order. */
static void ask_slowly(int times) {
  char data[8] = {0};
  job_barrier();
  for (int i = 1; i <= times && job.rank == 0; i++) {
    usleep(10000);
    gex_AM_RequestMedium0(job.tm, 1, REQUEST, data, sizeof data, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(replies == i);
  }
  job_barrier();
}

int main(int argc, char **argv) {
  gex_AM_Entry_t handlers[] = {
      {REQUEST, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, "ask"},
      {REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, NULL, "answer"}};
  job_start(&argc, &argv, 2 * BYTES, handlers, 2);
  const char *how = argc > 1 ? argv[1] : "";
  if (job.size < 2) return job_finish();
  if (strcmp(how, "many") == 0 && job.rank == 0)
    for (int i = atoi(argv[2]); i > 0; i--)
      gex_RMA_PutBlocking(job.tm, 1, job.peer[1], &i, sizeof i, 0);
  if (strcmp(how, "slow") == 0) {
    ask_slowly(atoi(argv[2]));
    return job_finish();
  }
  signal_late();
  access_memory();
  combine();
  if (job.rank == 1 && strcmp(how, "abort") == 0) abort();
  if (job.rank == 1 && strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (job.rank == 0 && (strcmp(how, "abort") == 0 || strcmp(how, "kill") == 0)) job_barrier();
  return job_finish();
}
