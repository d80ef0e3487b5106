/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures operations whose target computes and makes no call, and their cost for it.
 *
 * Owns the figures. Called by hand: `TOMBOLO_PLACES=cyclic:2 tombolo run -n 2 ...` lets the ranks
 * share no memory. Calls the public API. Rank 1 computes in slices of SLICE_S seconds, each under
 * one kind of operation of rank 0, which waits for each operation before the next. Prints for each
 * kind: the median and the tenth percentile of an operation's time, how many a second, and the use
 * of one processor by the other threads of rank 1's process, in percent. That is processor time
 * over the time of the clock: the load of other programs does not change it. The argument is the
 * number of slices of each kind (5, at most). Hand-over is the time of a call that sends a message,
 * one in a slice; its handler waits. Invariant: between barriers rank 1 makes no call.
 */
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/usage.h"

enum { TURNS = 5, BULK = 1 << 20, HUGE = 16 << 20, TIMES_MAX = 1 << 20 };
enum { ROWS = 64, WIDTH = 256, PITCH = 1024, TAKE = 130, PLACED = 131 };
#define SLICE_S 0.5

struct bench {
  gex_EP_t ep;
  gex_TM_t tm;
  gex_AD_t ad;
  char *local, *theirs;
  void *near[ROWS], *far[ROWS]; /* of an indexed transfer */
  double *times;                /* [TIMES_MAX] of the operations of a kind */
  size_t count;
};

static double now_s(void) {
  return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-9;
}

static void barrier(struct bench *b) {
  gex_Event_Wait(gex_Coll_BarrierNB(b->tm, 0));
}

/* ---- the operations: each is complete when its function returns */

static void put_small(struct bench *b) {
  uint64_t value = 1;
  gex_RMA_PutBlocking(b->tm, 1, b->theirs, &value, 8, 0);
}

static void get_small(struct bench *b) {
  uint64_t value;
  gex_RMA_GetBlocking(b->tm, &value, 1, b->theirs, 8, 0);
}

static void put_signal(struct bench *b) {
  gex_Event_Wait(gexx_RMA_PutSignalNB(b->tm, 1, b->theirs + 8, b->local, 8, GEX_EVENT_DEFER,
                                      (uint64_t *)(void *)b->theirs, GEXX_SIG_ADD, 1, 0));
}

static void fetch_add(struct bench *b) {
  uint64_t value;
  gex_Event_Wait(
      gex_AD_OpNB_U64(b->ad, &value, 1, (uint64_t *)(void *)b->theirs, GEX_OP_FADD, 1, 0, 0));
}

static void add(struct bench *b) {
  gex_Event_Wait(
      gex_AD_OpNB_U64(b->ad, NULL, 1, (uint64_t *)(void *)b->theirs, GEX_OP_ADD, 1, 0, 0));
}

static void put_many(struct bench *b) {
  for (int i = 0; i < 64; i++)
    gex_RMA_PutNBI(b->tm, 1, b->theirs + 8 * i, b->local, 8, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

static void put_bulk(struct bench *b) {
  gex_RMA_PutBlocking(b->tm, 1, b->theirs, b->local, BULK, 0);
}

static void put_huge(struct bench *b) {
  gex_RMA_PutBlocking(b->tm, 1, b->theirs, b->local, HUGE, 0);
}

static void get_huge(struct bench *b) {
  gex_RMA_GetBlocking(b->tm, b->local, 1, b->theirs, HUGE, 0);
}

static const ptrdiff_t wide[1] = {PITCH}, tight[1] = {WIDTH};
static const size_t rows[1] = {ROWS};

static void put_strided(struct bench *b) {
  gex_VIS_StridedPutBlocking(b->tm, 1, b->theirs, wide, b->local, tight, WIDTH, rows, 1, 0);
}

static void get_strided(struct bench *b) {
  gex_VIS_StridedGetBlocking(b->tm, b->local, tight, 1, b->theirs, wide, WIDTH, rows, 1, 0);
}

static void put_indexed(struct bench *b) {
  gex_VIS_IndexedPutBlocking(b->tm, 1, ROWS, b->far, WIDTH, ROWS, b->near, WIDTH, 0);
}

static void get_indexed(struct bench *b) {
  gex_VIS_IndexedGetBlocking(b->tm, ROWS, b->near, WIDTH, 1, ROWS, b->far, WIDTH, 0);
}

/* Strided, with a handler of the client at the target. */
static void put_and_run(struct bench *b) {
  gex_VIS_SetPeerCompletionHandler(PLACED, b->local, 8, 0);
  put_strided(b);
}

static void put_tagged(struct bench *b) {
  gex_Event_Wait(gexx_RMA_PutNotifyNB(b->tm, 1, b->theirs, b->local, 8192, GEX_EVENT_DEFER, 1, 0));
}

static void send_medium(struct bench *b) {
  gex_AM_RequestMedium0(b->tm, 1, TAKE, b->local, 8192, GEX_EVENT_NOW, 0);
}

static void send_long(struct bench *b) {
  gex_AM_RequestLong0(b->tm, 1, TAKE, b->local, BULK, b->theirs, GEX_EVENT_NOW, 0);
}

static const struct {
  const char *name;
  void (*operate)(struct bench *b); /* NULL: nothing is done */
  bool once;                        /* in a slice */
} kinds[] = {{"nothing", NULL, false},
             {"put 8 B", put_small, false},
             {"get 8 B", get_small, false},
             {"put with signal", put_signal, false},
             {"fetch-add", fetch_add, false},
             {"add", add, false},
             {"64 puts of 8 B", put_many, false},
             {"put 1 MiB", put_bulk, false},
             {"put 16 MiB", put_huge, false},
             {"get 16 MiB", get_huge, false},
             {"strided put", put_strided, false},
             {"strided get", get_strided, false},
             {"indexed put", put_indexed, false},
             {"indexed get", get_indexed, false},
             {"put with handler", put_and_run, true},
             {"tagged put 8 KiB", put_tagged, true},
             {"medium 8 KiB out", send_medium, true},
             {"long 1 MiB out", send_long, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void on_take(gex_Token_t token, void *data, size_t nbytes) {
  (void)token;
  (void)data;
  (void)nbytes;
}

/* Rank 0: operations of a kind for the length of a slice. */
static void disturb(struct bench *b, int kind) {
  const double end = now_s() + SLICE_S * 0.98;
  for (double from = now_s(); kinds[kind].operate && from < end;) {
    kinds[kind].operate(b);
    const double to = now_s();
    if (b->count < TIMES_MAX) b->times[b->count++] = to - from;
    if (kinds[kind].once) return;
    from = to;
  }
}

static double cpu_s(clockid_t clock) {
  struct timespec used;
  clock_gettime(clock, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Rank 1: a slice. Returns the use of a processor by other threads, in percent. */
static double compute(void) {
  const double begin = now_s(), end = begin + SLICE_S;
  const double all = cpu_s(CLOCK_PROCESS_CPUTIME_ID), own = cpu_s(CLOCK_THREAD_CPUTIME_ID);
  volatile double x = 1;
  while (now_s() < end)
    for (int i = 0; i < 1000; i++) x = x * 0.999 + 1;
  const double computed = cpu_s(CLOCK_THREAD_CPUTIME_ID) - own;
  return 100 * (cpu_s(CLOCK_PROCESS_CPUTIME_ID) - all - computed) / (now_s() - begin);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value below which `part` of the list lies. */
static double quantile(double *list, size_t count, double part) {
  if (!count) return 0;
  qsort(list, count, sizeof *list, compare);
  return list[(size_t)(part * (double)(count - 1))];
}

/* Everything that the operations need. Returns whether it is there. */
static bool prepare(struct bench *b) {
  gex_Segment_t segment;
  gex_AM_Entry_t take[] = {
      {TAKE, (gex_AM_Fn_t)on_take, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, NULL, "take"},
      {PLACED, (gex_AM_Fn_t)on_take, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "placed"}};
  void *base;
  if (gex_TM_QuerySize(b->tm) != 2 || gex_EP_RegisterHandlers(b->ep, take, 2) ||
      gex_Segment_Attach(&segment, b->tm, HUGE))
    return false;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b->tm, 1, &base, NULL, NULL, 0));
  b->theirs = base;
  b->local = malloc(HUGE);
  b->times = malloc(TIMES_MAX * sizeof *b->times);
  if (!b->local || !b->times) return false;
  memset(b->local, 1, HUGE); /* pages that were never written are one page of zeros */
  for (size_t i = 0; i < ROWS; i++) {
    b->near[i] = b->local + i * WIDTH;
    b->far[i] = b->theirs + i * PITCH;
  }
  gex_AD_Create(&b->ad, b->tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD, 0);
  return true;
}

static const char usage[] =
    "Usage: TOMBOLO_PLACES=cyclic:2 tombolo run -n 2 tombolo-bench-silent [SLICES]\n"
    "Measure operations whose target computes and makes no call, and what they take from it.\n"
    "SLICES: half seconds of each kind of operation, 1 to 5 (default 5).";

int main(int argc, char **argv) {
  gex_Client_t client;
  struct bench b = {0};
  const int asked = usage_number(argc, argv, usage, 1);
  const int turns = asked > 0 && asked < TURNS ? asked : TURNS;
  if (gex_Client_Init(&client, &b.ep, &b.tm, "SILENT", &argc, &argv, 0) || !prepare(&b)) return 1;
  const gex_Rank_t rank = gex_TM_QueryRank(b.tm);
  for (int kind = 0; kind < KINDS; kind++) {
    double stolen[TURNS] = {0};
    b.count = 0;
    for (int turn = 0; turn < turns; turn++) {
      barrier(&b);
      if (rank == 1)
        stolen[turn] = compute();
      else
        disturb(&b, kind);
    }
    barrier(&b);
    if (rank == 0 && kind)
      printf("silent %-16s median %9.1f us, p10 %9.1f us, %9.0f /s\n", kinds[kind].name,
             1e6 * quantile(b.times, b.count, 0.5), 1e6 * quantile(b.times, b.count, 0.1),
             (double)b.count / (turns * SLICE_S));
    if (rank == 1)
      printf("stolen %-16s median %9.2f %%\n", kinds[kind].name,
             quantile(stolen, (size_t)turns, 0.5));
    fflush(stdout);
  }
  gex_AD_Destroy(b.ad);
  barrier(&b);
  gasnet_exit(0);
}
