/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures operations whose target computes and makes no call, and what they take from it.
 *
 * Owns the figures. Called by hand: `TOMBOLO_PLACES=cyclic:2 tombolo run -n 2 ...` lets the ranks
 * share no memory. Calls the public API. Rank 1 computes in slices of SLICE_S seconds, each under
 * one kind of operation of rank 0, which waits for each operation before the next. Prints for each
 * kind: the median and the tenth percentile of an operation's time, how many a second, and what the
 * other threads of rank 1's process use of a processor, in percent of what the computation gets.
 * That is processor time, so other programs of the machine change it little. Invariant: between
 * barriers rank 1 makes no call. The argument is the number of slices of each kind (5, at most).
 */
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 5, KINDS = 6, BULK = 1 << 20, TIMES_MAX = 1 << 20 };
#define SLICE_S 0.5

static const char *const names[KINDS] = {"nothing",   "put 8 B",        "get 8 B",
                                         "fetch-add", "64 puts of 8 B", "put 1 MiB"};

struct bench {
  gex_TM_t tm;
  gex_AD_t ad;
  char *local, *theirs, *mine;
  double *times; /* [TIMES_MAX] of the operations of a kind */
  size_t count;
};

static double now_s(void) {
  return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-9;
}

static void barrier(struct bench *b) {
  gex_Event_Wait(gex_Coll_BarrierNB(b->tm, 0));
}

static void operate(struct bench *b, int kind) {
  uint64_t value = 1;
  switch (kind) {
  case 1: gex_RMA_PutBlocking(b->tm, 1, b->theirs, &value, 8, 0); break;
  case 2: gex_RMA_GetBlocking(b->tm, &value, 1, b->theirs, 8, 0); break;
  case 3:
    gex_Event_Wait(
        gex_AD_OpNB_U64(b->ad, &value, 1, (uint64_t *)(void *)b->theirs, GEX_OP_FADD, 1, 0, 0));
    break;
  case 4:
    for (int i = 0; i < 64; i++)
      gex_RMA_PutNBI(b->tm, 1, b->theirs + 8 * i, b->local, 8, GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    break;
  default: gex_RMA_PutBlocking(b->tm, 1, b->theirs, b->local, BULK, 0);
  }
}

/* Rank 0: operations of a kind for the length of a slice. */
static void disturb(struct bench *b, int kind) {
  const double end = now_s() + SLICE_S * 0.98;
  for (double from = now_s(); kind && from < end;) {
    operate(b, kind);
    const double to = now_s();
    if (b->count < TIMES_MAX) b->times[b->count++] = to - from;
    from = to;
  }
}

static double cpu_s(clockid_t clock) {
  struct timespec used;
  clock_gettime(clock, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Rank 1: a slice. Returns what other threads have used, in percent of this one. */
static double compute(void) {
  const double end = now_s() + SLICE_S;
  const double all = cpu_s(CLOCK_PROCESS_CPUTIME_ID), own = cpu_s(CLOCK_THREAD_CPUTIME_ID);
  volatile double x = 1;
  while (now_s() < end)
    for (int i = 0; i < 1000; i++) x = x * 0.999 + 1;
  const double computed = cpu_s(CLOCK_THREAD_CPUTIME_ID) - own;
  return 100 * (cpu_s(CLOCK_PROCESS_CPUTIME_ID) - all - computed) / computed;
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

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  struct bench b = {0};
  const int asked = argc > 1 ? atoi(argv[1]) : TURNS;
  const int turns = asked > 0 && asked < TURNS ? asked : TURNS;
  if (gex_Client_Init(&client, &ep, &b.tm, "SILENT", &argc, &argv, 0)) return 1;
  if (gex_Segment_Attach(&segment, b.tm, BULK) || gex_TM_QuerySize(b.tm) != 2) return 1;
  const gex_Rank_t rank = gex_TM_QueryRank(b.tm);
  void *base;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b.tm, 1, &base, NULL, NULL, 0));
  b.theirs = base;
  b.local = calloc(1, BULK);
  b.times = malloc(TIMES_MAX * sizeof *b.times);
  if (!b.local || !b.times) return 1;
  gex_AD_Create(&b.ad, b.tm, GEX_DT_U64, GEX_OP_FADD, 0);
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
      printf("silent %-15s median %9.1f us, p10 %9.1f us, %9.0f /s\n", names[kind],
             1e6 * quantile(b.times, b.count, 0.5), 1e6 * quantile(b.times, b.count, 0.1),
             (double)b.count / (turns * SLICE_S));
    if (rank == 1)
      printf("stolen %-15s median %9.2f %%\n", names[kind], quantile(stolen, (size_t)turns, 0.5));
    fflush(stdout);
  }
  gex_AD_Destroy(b.ad);
  barrier(&b);
  gasnet_exit(0);
}
