/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring loop that both sides of the network comparison compile: two ranks, two hosts.
 *
 * Owns: sizes, repetition and the output format. Included by net_mpi.c, net_gex.c and net_ofi.c,
 * which define the operations in their library. Calls: the functions of struct side. Rank 0 times
 * between two barriers; a line "NAME BYTES MICROSECONDS" is the median of SAMPLES samples of one
 * operation.
 */
#ifndef TMB_COMPARE_NET_LOOP_H
#define TMB_COMPARE_NET_LOOP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define LOOP_BYTES_MAX ((size_t)4 << 20)
#define LOOP_SAMPLES   11

struct side {
  /* Each performs n operations; both ranks call alike. NULL: not asked for. */
  void (*round_trip)(int n);           /* the shortest message there and back */
  void (*flood)(int n);                /* short messages one way, until all have come */
  void (*stream)(int n, size_t bytes); /* as many bytes one way, until all have come */
  void (*allreduce)(int n, size_t bytes);
  void (*barrier)(void);
  int rank;
  void (*messages)(int n, size_t bytes); /* as stream, by messages with payload */
};

enum { ROUND_TRIP, FLOOD, STREAM, ALLREDUCE, MESSAGES };

static void loop_run(const struct side *s, int kind, int n, size_t bytes) {
  if (kind == ROUND_TRIP) s->round_trip(n);
  if (kind == FLOOD) s->flood(n);
  if (kind == STREAM) s->stream(n, bytes);
  if (kind == ALLREDUCE) s->allreduce(n, bytes);
  if (kind == MESSAGES) s->messages(n, bytes);
}

static void loop_row(const struct side *s, const char *name, int kind, size_t bytes, int n) {
  double us[LOOP_SAMPLES];
  loop_run(s, kind, n < 20 ? n : 20, bytes); /* warm */
  for (int i = 0; i < LOOP_SAMPLES; i++) {
    s->barrier();
    const double start = now_us();
    loop_run(s, kind, n, bytes);
    us[i] = (now_us() - start) / n;
  }
  qsort(us, LOOP_SAMPLES, sizeof *us, by_value);
  if (s->rank == 0) printf("%s %zu %.4f\n", name, bytes, us[LOOP_SAMPLES / 2]);
  if (s->rank == 0) fflush(stdout); /* a run may be cut off */
}

/* The two figures of ofi.py. */
__attribute__((unused)) static void loop_puts(const struct side *s) {
  loop_row(s, "round_trip", ROUND_TRIP, 0, 1000);
  loop_row(s, "put", STREAM, (size_t)1 << 20, 32);
}

/* The two streams of rails.py, by size. */
__attribute__((unused)) static void loop_links(const struct side *s) {
  for (size_t bytes = (size_t)16 << 10; bytes <= LOOP_BYTES_MAX; bytes *= 4) {
    loop_row(s, "put", STREAM, bytes, (int)(2 * LOOP_BYTES_MAX / bytes));
    loop_row(s, "message", MESSAGES, bytes, (int)(2 * LOOP_BYTES_MAX / bytes));
  }
}

/* The figure of cells.py. */
__attribute__((unused)) static void loop_trips(const struct side *s) {
  loop_row(s, "round_trip", ROUND_TRIP, 0, 1000);
}

/* Those of cells.py for the conduit ofi. */
__attribute__((unused)) static void loop_shorts(const struct side *s) {
  loop_row(s, "round_trip", ROUND_TRIP, 0, 1000);
  loop_row(s, "flood", FLOOD, 0, 2000);
  loop_row(s, "put", STREAM, 8, 2000);
}

__attribute__((unused)) static void loop_main(const struct side *s) {
  loop_row(s, "round_trip", ROUND_TRIP, 0, 1000);
  loop_row(s, "flood", FLOOD, 0, 5000);
  loop_row(s, "allreduce", ALLREDUCE, 8, 500);
  loop_row(s, "allreduce", ALLREDUCE, 16384, 100);
  for (size_t bytes = 2048; bytes <= LOOP_BYTES_MAX; bytes *= bytes < 65536 ? 32 : 8)
    loop_row(s, "stream", STREAM, bytes, (int)(LOOP_BYTES_MAX * 2 / bytes));
}

#endif
