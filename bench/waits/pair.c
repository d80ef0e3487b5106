/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of C, see pair.h: the operations to which study/compare/waits.py compares those of
 * languages.
 *
 * Owns: a client of the job beside that of the language, with a segment of its own. Called by the
 * programs of this folder. Calls: the public API. Invariants: a sample of the language follows one
 * of C at once, so that load and frequency change both; a lock is a word that is 0 when free.
 */
#include "pair.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 15, SAMPLES_MAX = 64, LOOK_US = 1000 };
enum { COUNT_ALONE = 2000, COUNT_ALL = 1600, COUNT_LEAST = 25 };

/* Words of a rank that others change, each in a line of its own. */
struct words {
  _Alignas(64) uint64_t left;
  _Alignas(64) uint64_t right;
  _Alignas(64) uint64_t ring;
  _Alignas(64) uint64_t lock;
  _Alignas(64) uint64_t counter;
};

static struct {
  gex_TM_t tm;
  gex_AD_t ad;
  gex_Rank_t rank, size;
  struct words **there;       /* [size] addresses of their owners */
  struct words *mine, *first; /* first: of rank 0, mapped here */
  uint64_t signals;
  double start, c[SAMPLES_MAX], ours[SAMPLES_MAX];
  int samples;
} pair;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + (double)t.tv_nsec / 1e3;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(pair.tm, 0));
}

void pair_begin(void) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gexx_Client_Join(&client, &ep, &pair.tm, "WAITS", NULL, NULL, 0) != GASNET_OK ||
      gex_Segment_Attach(&segment, pair.tm, 4096) != GASNET_OK) {
    fputs("waits: cannot join the job\n", stderr);
    exit(1);
  }
  pair.rank = gex_TM_QueryRank(pair.tm);
  pair.size = gex_TM_QuerySize(pair.tm);
  pair.there = malloc(pair.size * sizeof *pair.there);
  if (!pair.there) exit(1);
  for (gex_Rank_t r = 0; r < pair.size; r++) {
    void *owners = NULL, *here = NULL;
    gex_Segment_QueryBound(pair.tm, r, &owners, &here, NULL);
    pair.there[r] = owners;
    if (r == 0) pair.first = here;
  }
  pair.mine = pair.there[pair.rank];
  gex_AD_Create(&pair.ad, pair.tm, GEX_DT_U64, GEX_OP_FCAS, 0);
  barrier();
}

int pair_samples(void) {
  return SAMPLES;
}

int pair_count(void) {
  const int shared = COUNT_ALL / (int)(pair.size * pair.size) * 4;
  return pair.size == 2 ? COUNT_ALONE : shared < COUNT_LEAST ? COUNT_LEAST : shared;
}

static void post(gex_Rank_t rank, uint64_t *word) {
  gexx_RMA_PutSignalBlocking(pair.tm, rank, NULL, NULL, 0, GEX_EVENT_NOW, word, GEXX_SIG_ADD, 1, 0);
}

/* Two ranks have one neighbour. */
static void neighbours(void) {
  const gex_Rank_t left = (pair.rank + pair.size - 1) % pair.size;
  const gex_Rank_t right = (pair.rank + 1) % pair.size;
  pair.signals++;
  post(left, &pair.there[left]->right);
  if (left != right) post(right, &pair.there[right]->left);
  gexx_Signal_Wait(&pair.mine->right, GEXX_SIG_GE, pair.signals);
  if (left != right) gexx_Signal_Wait(&pair.mine->left, GEXX_SIG_GE, pair.signals);
}

static void ring(void) {
  const gex_Rank_t right = (pair.rank + 1) % pair.size;
  if (pair.rank) gexx_Signal_WaitConsume(&pair.mine->ring, 1);
  post(right, &pair.there[right]->ring);
  if (!pair.rank) gexx_Signal_WaitConsume(&pair.mine->ring, 1);
}

static uint64_t swap_lock(uint64_t expected, uint64_t value) {
  uint64_t before = 0;
  gex_Event_Wait(
      gex_AD_OpNB_U64(pair.ad, &before, 0, &pair.there[0]->lock, GEX_OP_FCAS, expected, value, 0));
  return before;
}

static int is_free(void *arg) {
  (void)arg;
  return __atomic_load_n(&pair.first->lock, __ATOMIC_ACQUIRE) == 0;
}

static void lock(void) {
  while (swap_lock(0, pair.rank + 1) != 0)
    (void)gexx_Event_WaitUntil(GEX_EVENT_NO_OP, is_free, NULL, LOOK_US);
  uint64_t *const counter = &pair.there[0]->counter;
  gex_RMA_PutBlockingVal(pair.tm, 0, counter, gex_RMA_GetBlockingVal(pair.tm, 0, counter, 8, 0) + 1,
                         8, 0);
  swap_lock(pair.rank + 1, 0);
}

static void sum(void) {
  const int32_t one = 1;
  int32_t all;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(pair.tm, &all, &one, GEX_DT_I32, sizeof one, 1, GEX_OP_ADD,
                                        NULL, NULL, 0));
}

void pair_start(void) {
  barrier();
  pair.start = now_us();
}

static double mean_us(void) {
  barrier();
  return (now_us() - pair.start) / pair_count();
}

void pair_measure(int kind) {
  static void (*const operations[])(void) = {barrier, neighbours, ring, lock, sum};
  pair_start();
  for (int i = pair_count(); i > 0; i--) operations[kind]();
  pair_measured();
}

void pair_barrier(void) {
  barrier();
}

void pair_measured(void) {
  pair.c[pair.samples] = mean_us();
}

void pair_stop(void) {
  pair.ours[pair.samples] = mean_us();
  if (pair.samples < SAMPLES_MAX - 1) pair.samples++;
}

static int order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The first sample warms up. */
void pair_report(const char *name) {
  const int n = pair.samples - 1;
  double ratio[SAMPLES_MAX];
  pair.samples = 0;
  if (n < 1 || pair.rank) return;
  for (int i = 0; i < n; i++) ratio[i] = pair.ours[i + 1] / pair.c[i + 1];
  qsort(ratio, (size_t)n, sizeof *ratio, order);
  qsort(pair.ours + 1, (size_t)n, sizeof *ratio, order);
  qsort(pair.c + 1, (size_t)n, sizeof *ratio, order);
  printf("wait %s %.3f %.3f %.2f %.2f %.2f\n", name, pair.ours[1 + n / 2], pair.c[1 + n / 2],
         ratio[n / 2], ratio[0], ratio[n - 1]);
  fflush(stdout);
}
