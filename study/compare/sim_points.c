/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of single messages, packets and sleeps of many ranks, for sim_apps.py.
 *
 * Owns: nothing. Compiled by sim_apps.py; not part of the build. Calls: the public API. Arguments:
 * a kind, the ranks of a host, how many. Prints the seconds of one on the slowest rank, and what
 * all ranks used for it. Kinds, of puts of 8 bytes with a signal, differ in packets and sleeps for
 * a message: `bundle`: 16 to the counterpart on the next host, then wait for 16. `storm`: one to
 * the counterpart on each other host, then wait for as many. `single`: one to the next host, then
 * wait for one. `relay`: from rank to rank, through all. `looking`: ranks wait for a condition of
 * their own, a time, by GASNET_BLOCKUNTIL; nobody sends anything.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#define GASNET_SEQ  1
#include <gasnetex.h>
#include <gasnetex_ext.h>

#include <gasnet_coll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spent.h"

enum { WORDS = 64, LINE = 8, BUNDLE = 16, LOOK_US = 20000 };

static gex_TM_t tm;
static gex_Rank_t rank, size;
static uint64_t *base[4096]; /* by rank: its words */
static uint64_t *mine;
static int per_host;

static double now_s(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t *words_of(gex_Rank_t peer) {
  if (!base[peer]) {
    void *owner = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &owner, NULL, NULL, 0));
    base[peer] = owner;
  }
  return base[peer];
}

/* The n-th notice in word `word` of a peer: data in the line before it. */
static void tell(gex_Rank_t peer, int word, uint64_t n) {
  uint64_t *const to = words_of(peer) + (size_t)word * 2 * LINE;
  gexx_RMA_PutSignalBlocking(tm, peer, to, &n, sizeof n, GEX_EVENT_NOW, to + LINE, GEXX_SIG_SET, n,
                             0);
}

static void await(int word, uint64_t n) {
  (void)gexx_Signal_Wait(mine + (size_t)word * 2 * LINE + LINE, GEXX_SIG_GE, n);
}

static void bundle(uint64_t n) {
  for (int i = 0; i < BUNDLE; i++) tell((rank + (gex_Rank_t)per_host) % size, i, n);
  for (int i = 0; i < BUNDLE; i++) await(i, n);
}

static void storm(uint64_t n) {
  const gex_Rank_t hosts = size / (gex_Rank_t)per_host;
  for (gex_Rank_t k = 1; k < hosts; k++) tell((rank + k * (gex_Rank_t)per_host) % size, (int)k, n);
  for (gex_Rank_t k = 1; k < hosts; k++) await((int)k, n);
}

static void single(uint64_t n) {
  tell((rank + (gex_Rank_t)per_host) % size, 0, n);
  await(0, n);
}

static void relay(uint64_t n) {
  if (rank) await(0, n);
  tell((rank + 1) % size, 0, n);
  if (!rank) await(0, n);
}

static void looking(uint64_t n) {
  const double end = now_s() + LOOK_US * 1e-6;
  (void)n;
  GASNET_BLOCKUNTIL(now_s() >= end);
}

static void reduce(double *all, const double *one, size_t count, gex_OP_t op) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, all, one, GEX_DT_DBL, 8, count, op, NULL, NULL, 0));
}

static void measure(const char *name, void (*one)(uint64_t), int times) {
  one(1);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  const double from = now_s();
  const struct spent before = spent_so_far();
  for (int i = 0; i < times; i++) one((uint64_t)i + 2);
  const struct spent after = spent_so_far();
  const double took = now_s() - from;
  const double used[] = {after.seconds - before.seconds, after.sleeps - before.sleeps};
  double all[2] = {0}, longest = 0;
  reduce(all, used, 2, GEX_OP_ADD);
  reduce(&longest, &took, 1, GEX_OP_MAX);
  if (!rank)
    printf("ROW %s 8 %.9f %.9f %.2f\n", name, longest / times, all[0] / times, all[1] / times);
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*one)(uint64_t);
  } kinds[] = {{"bundle", bundle}, {"storm", storm},     {"single", single},
               {"relay", relay},   {"looking", looking}, {NULL, NULL}};
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  void *start;
  if (gex_Client_Init(&client, &ep, &tm, "POINTS", &argc, &argv, 0)) return 1;
  rank = gex_TM_QueryRank(tm);
  size = gex_TM_QuerySize(tm);
  per_host = argc > 2 ? atoi(argv[2]) : 0;
  const int times = argc > 3 ? atoi(argv[3]) : 0;
  const int hosts = per_host > 0 ? (int)size / per_host : 0;
  if (gex_Segment_Attach(&segment, tm, (size_t)WORDS * 2 * LINE * sizeof(uint64_t))) return 1;
  start = gex_Segment_QueryAddr(segment);
  mine = start;
  memset(mine, 0, (size_t)WORDS * 2 * LINE * sizeof(uint64_t));
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  for (int i = 0; kinds[i].name; i++) {
    if (argc < 4 || strcmp(argv[1], kinds[i].name)) continue;
    if (times < 1 || hosts < 1 || hosts >= WORDS || size > sizeof base / sizeof *base) break;
    measure(argv[1], kinds[i].one, times);
    gasnet_exit(0);
  }
  fprintf(stderr, "usage: sim_points bundle|storm|single|relay|looking RANKS_OF_A_HOST TIMES\n");
  gasnet_exit(2);
}
