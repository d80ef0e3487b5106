/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of Tombolo in one form, for study/compare/forms.py.
 *
 * Owns: the rows. Compiled by forms.py; not part of the build. Calls: the
 * public API, hand_gex.h. The form is chosen by settings (TOMBOLO_COLL_ALG), or with the argument
 * "bare" by hand: puts with signal from rank to rank, as a program without collectives writes them:
 * rank 0 tells all others, or hears from all and tells all; in an exchange each puts to each. With
 * the arguments "barrier WAY" only barriers are measured: the library's ("library"), or by hand
 * from puts with signal: "root", "binomial" (a tree up and down), "dissemination", "nodes" (inside
 * each host to its first rank, dissemination among these, and back). With the arguments "small WAY"
 * an all-reduce of 8 B is measured, and a broadcast of 8 B with a barrier behind it: the library's,
 * or by hand by the way "nodes". A line "KIND BYTES MEDIAN LEAST MOST" is of SAMPLES samples, in
 * microseconds, of SAMPLES_SLOW where one takes long. Invariant: a bare broadcast and exchange end
 * with a barrier of the same form, so that the next one may overwrite the data.
 */
#define GASNET_SEQ     1
#define HAND_RANKS_MAX 256
#define HAND_SLOT      ((size_t)1 << 16)
#include "hand_gex.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "written.h"

enum { BARRIER, BROADCAST, ALLREDUCE, EXCHANGE, KINDS, SAMPLES = 7, SAMPLES_SLOW = 3 };
enum { SMALL_BROADCAST = KINDS, SMALL_ALLREDUCE, ROWS };

#define SLOW_US   20000.0 /* 73 of them would take 1.5 s */

#define BYTES_MAX HAND_SLOT

static int every[HAND_RANKS_MAX], node[HAND_RANKS_MAX], leader[HAND_RANKS_MAX]; /* ranks */
static int node_size, mine_at, leaders, leader_at;
static char *in, *out; /* [size][BYTES_MAX] of the library's form */

/* ---- by hand */

static void bare_barrier(void) {
  if (rank) {
    tell(0, 0, NULL, 0);
    (void)hear(0);
    return;
  }
  for (int r = 1; r < size; r++) (void)hear(r);
  for (int r = 1; r < size; r++) tell(r, 0, NULL, 0);
}

/* Dissemination among members: count of them, who is number `me`. */
static void disseminate(const int *member, int count, int me) {
  for (int k = 1; k < count; k *= 2) {
    tell(member[(me + k) % count], 0, NULL, 0);
    (void)hear(member[(me + count - k) % count]);
  }
}

static void barrier_dissemination(void) {
  disseminate(every, size, rank);
}

static void barrier_binomial(void) {
  int k = 1;
  for (; k < size && !(rank & k); k *= 2)
    if (rank + k < size) (void)hear(rank + k);
  if (rank) tell(rank - k, 0, NULL, 0);
  if (rank) (void)hear(rank - k);
  for (k /= 2; k > 0; k /= 2)
    if (rank + k < size) tell(rank + k, 0, NULL, 0);
}

static void barrier_nodes(void) {
  if (mine_at) {
    tell(node[0], 0, NULL, 0);
    (void)hear(node[0]);
    return;
  }
  for (int i = 1; i < node_size; i++) (void)hear(node[i]);
  disseminate(leader, leaders, leader_at);
  for (int i = 1; i < node_size; i++) tell(node[i], 0, NULL, 0);
}

static void barrier_library(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* Inside a host to its first rank, among these to the job's first one, and back. */
static void allreduce_nodes(double mine, double *sum) {
  if (mine_at) {
    tell(node[0], 0, &mine, sizeof mine);
    memcpy(sum, hear(node[0]), sizeof *sum);
    return;
  }
  *sum = mine;
  for (int i = 1; i < node_size; i++) *sum += *(const double *)(const void *)hear(node[i]);
  for (int i = 1; !leader_at && i < leaders; i++)
    *sum += *(const double *)(const void *)hear(leader[i]);
  if (leader_at) tell(leader[0], 0, sum, sizeof *sum);
  if (leader_at) memcpy(sum, hear(leader[0]), sizeof *sum);
  for (int i = 1; !leader_at && i < leaders; i++) tell(leader[i], 0, sum, sizeof *sum);
  for (int i = 1; i < node_size; i++) tell(node[i], 0, sum, sizeof *sum);
}

/* From rank 0 to the first rank of each host, and on. */
static void broadcast_nodes(double *value) {
  for (int i = 1; rank == 0 && i < leaders; i++) tell(leader[i], 0, value, sizeof *value);
  if (rank) memcpy(value, hear(mine_at ? node[0] : leader[0]), sizeof *value);
  for (int i = 1; !mine_at && i < node_size; i++) tell(node[i], 0, value, sizeof *value);
}

/* Find the ranks of this host, and the first rank of each host. */
static void find_nodes(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count, me;
  int of[HAND_RANKS_MAX], first[HAND_RANKS_MAX];
  gex_System_QueryNbrhdInfo(&info, &count, &me);
  for (gex_Rank_t i = 0; i < count; i++) node[i] = (int)info[i].gex_jobrank;
  node_size = (int)count;
  mine_at = (int)me;
  for (int r = 0; r < size; r++) first[r] = node[0];
  gex_Event_Wait(gexx_Coll_ExchangeNB(tm, of, first, sizeof *of, 0));
  for (int r = 0; r < size; r++) {
    every[r] = r;
    if (of[r] == rank && r == rank) leader_at = leaders;
    if (of[r] == r) leader[leaders++] = r;
  }
}

static void bare_broadcast(size_t bytes) {
  for (int r = 1; rank == 0 && r < size; r++) tell(r, 0, out, bytes);
  if (rank) memcpy(out, hear(0), bytes);
  bare_barrier();
}

static void bare_allreduce(size_t bytes) {
  double *const sum = (double *)(void *)out;
  if (rank) {
    tell(0, 0, in, bytes);
    memcpy(sum, hear(0), bytes);
    return;
  }
  memcpy(sum, in, bytes);
  for (int r = 1; r < size; r++) {
    const double *const part = (const double *)(const void *)hear(r);
    for (size_t i = 0; i < bytes / sizeof *part; i++) sum[i] += part[i];
  }
  for (int r = 1; r < size; r++) tell(r, 0, sum, bytes);
}

static void bare_exchange(size_t bytes) {
  for (int k = 1; k < size; k++) {
    const int to = (rank + k) % size;
    tell(to, 0, in + (size_t)to * bytes, bytes);
  }
  memcpy(out + (size_t)rank * bytes, in + (size_t)rank * bytes, bytes);
  for (int k = 1; k < size; k++) {
    const int from = (rank + size - k) % size;
    memcpy(out + (size_t)from * bytes, hear(from), bytes);
  }
  bare_barrier();
}

/* ---- one collective */

static void by_hand(int kind, size_t bytes) {
  switch (kind) {
  case BARRIER: bare_barrier(); break;
  case BROADCAST: bare_broadcast(bytes); break;
  case ALLREDUCE: bare_allreduce(bytes); break;
  default: bare_exchange(bytes);
  }
}

static void by_library(int kind, size_t bytes) {
  switch (kind) {
  case BARRIER: gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); break;
  case BROADCAST: gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, out, out, bytes, 0)); break;
  case ALLREDUCE:
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, out, in, GEX_DT_DBL, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
    break;
  default: gex_Event_Wait(gexx_Coll_ExchangeNB(tm, out, in, bytes, 0));
  }
}

/* Whether one takes so long, as rank 0 sees it, that few must do; the same on all ranks. */
static bool is_slow(int kind, size_t bytes, void (*run)(int, size_t)) {
  run(BARRIER, 0);
  const double begin = now_us();
  run(kind, bytes);
  double us = now_us() - begin;
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &us, &us, sizeof us, 0));
  return us > SLOW_US;
}

static void row(int kind, size_t bytes, void (*run)(int, size_t)) {
  static const char *const name[ROWS] = {"barrier",  "broadcast",       "allreduce",
                                         "exchange", "small_broadcast", "small_allreduce"};
  double us[SAMPLES];
  for (int i = 0; i < 2; i++) run(kind, bytes);
  const bool slow = is_slow(kind, bytes, run);
  const int samples = slow ? SAMPLES_SLOW : SAMPLES;
  const int n = slow ? 3 : size <= 2 ? 200 : size <= 16 ? 40 : 10;
  for (int s = 0; s < samples; s++) {
    run(BARRIER, 0);
    const double begin = now_us();
    for (int i = 0; i < n; i++) run(kind, bytes);
    us[s] = (now_us() - begin) / n;
  }
  qsort(us, (size_t)samples, sizeof *us, by_value);
  if (rank) return;
  printf("%s %zu %.4f %.4f %.4f\n", name[kind], bytes, us[samples / 2], us[0], us[samples - 1]);
  fflush(stdout);
}

static void (*barrier_way)(void); /* of the argument "barrier WAY" */

static void only_barrier(int kind, size_t bytes) {
  (void)kind, (void)bytes;
  barrier_way();
}

/* Returns 0, or 1 after a message. */
static int barriers(const char *way) {
  static const struct {
    const char *name;
    void (*run)(void);
  } ways[] = {{"library", barrier_library},
              {"root", bare_barrier},
              {"binomial", barrier_binomial},
              {"dissemination", barrier_dissemination},
              {"nodes", barrier_nodes}};
  find_nodes();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (strcmp(way, ways[i].name) == 0) barrier_way = ways[i].run;
  if (!barrier_way) fprintf(stderr, "forms: no barrier '%s'\n", way);
  if (!barrier_way) return 1;
  row(BARRIER, 0, only_barrier);
  return 0;
}

static bool small_by_hand; /* of the argument "small WAY" */

static void only_small(int kind, size_t bytes) {
  double *const x = (double *)(void *)in, *const y = (double *)(void *)out;
  x[0] = rank + 1;
  if (kind == BARRIER) {
    by_library(BARRIER, 0);
  } else if (!small_by_hand) {
    by_library(kind == SMALL_ALLREDUCE ? ALLREDUCE : BROADCAST, bytes);
    if (kind == SMALL_BROADCAST) by_library(BARRIER, 0);
  } else if (kind == SMALL_ALLREDUCE) {
    allreduce_nodes(x[0], y);
  } else {
    broadcast_nodes(y);
    barrier_nodes();
  }
}

/* Returns 0, or 1 after a message. */
static int small(const char *way) {
  double *const sum = (double *)(void *)out;
  find_nodes();
  small_by_hand = strcmp(way, "nodes") == 0;
  row(SMALL_ALLREDUCE, sizeof *sum, only_small);
  bool right = sum[0] == 0.5 * size * (size + 1);
  sum[0] = rank ? 0 : 42;
  by_library(BARRIER, 0); /* before a slot is written again */
  row(SMALL_BROADCAST, sizeof *sum, only_small);
  right = right && sum[0] == 42;
  if (!right) fprintf(stderr, "forms: rank %d: a wrong sum or broadcast\n", rank);
  return !right;
}

/* Each form must give the right sum before it is timed. */
static bool correct(bool bare) {
  double *const x = (double *)(void *)in, *const sum = (double *)(void *)out;
  x[0] = rank + 1;
  (bare ? by_hand : by_library)(ALLREDUCE, sizeof *x);
  return sum[0] == 0.5 * size * (size + 1);
}

int main(int argc, char **argv) {
  hand_start("FORMS", &argc, &argv);
  const bool bare = argc > 1 && strcmp(argv[1], "bare") == 0;
  in = written((size_t)size * BYTES_MAX);
  out = written((size_t)size * BYTES_MAX);
  if (!in || !out) gasnet_exit(1);
  by_library(BARRIER, 0);
  if (!correct(bare)) {
    fprintf(stderr, "forms: rank %d: a wrong sum\n", rank);
    gasnet_exit(1);
  }
  if (argc > 2) gasnet_exit(strcmp(argv[1], "barrier") == 0 ? barriers(argv[2]) : small(argv[2]));
  row(BARRIER, 0, bare ? by_hand : by_library);
  for (int kind = BROADCAST; kind < KINDS; kind++)
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= bytes == 8 ? 128 : 8)
      row(kind, bytes, bare ? by_hand : by_library);
  by_library(BARRIER, 0);
  gasnet_exit(0);
}
