/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of single operations by size: the loop that every side of ops.py and overlap.py compiles.
 *
 * Owns: sizes, repetition and the output format. Included by ops_gex.c, ops_mpi.c and ops_tcp.c,
 * which define the operations in their library; two ranks. Calls: the functions of struct side.
 * Figures, after LogGP: `overhead`, the time that starting one takes; `gap`, from one to the next
 * when many are in progress; `latency`, one way until the target can use the data, for put and get
 * until the operation is done; `overlap`, the part of a transfer that a computation as long as it
 * hides; `depth`, the time an operation of 8 B when BYTES of them are started before the first is
 * waited for. A side with `overlap` measures that alone, of collectives, too, in which rank 1 takes
 * part without computing. With `cells` it measures what study/compare/cells.py asks for. A line
 * "OP_FIGURE BYTES MEDIAN LEAST MOST" is of SAMPLES samples, in microseconds, overlap as a
 * fraction. Invariants: rank 0 measures; rank 1 is in `serve` or in a barrier.
 */
#ifndef TMB_COMPARE_OPS_LOOP_H
#define TMB_COMPARE_OPS_LOOP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define OPS_BYTES_MAX   ((size_t)4 << 20)
#define OPS_SAMPLES     9
#define OPS_SAMPLES_FEW 5
#define OPS_BATCH       8
#define OPS_DEPTH_MAX   256

/* From OP_FLAG on only LATENCY, from OP_BROADCAST on only OVERLAP; OP_PUT and OP_GET: implicit. */
enum {
  OP_PUT,
  OP_GET,
  OP_MESSAGE,
  OP_SIGNAL,
  OP_FLAG,
  OP_SEMAPHORE,
  OP_PUT_BLOCKING,
  OP_PUT_NB,
  OP_GET_BLOCKING,
  OP_GET_NB,
  OP_BROADCAST, /* from rank 0 */
  OP_ALLREDUCE, /* of doubles */
  OP_EXCHANGE,  /* BYTES to each rank */
  OPS
};
enum { OVERHEAD, GAP, LATENCY, DEPTH, OVERLAP, FIGURES };

struct side {
  int rank;
  bool has[OPS];
  bool few;     /* fewer repetitions: each takes microseconds */
  bool overlap; /* measure nothing else */
  bool cells;   /* only rows of cells.py */
  void (*barrier)(void);
  void (*prepare)(int op, int n, size_t bytes); /* both ranks, before n are started; then barrier */
  void (*start)(int op, size_t bytes);          /* rank 0 */
  void (*complete)(int op);                     /* rank 0: all that were started are done */
  void (*serve)(int op, int n, size_t bytes);   /* rank 1, until n have come */
  void (*bounce)(int op, int n, size_t bytes);  /* both: n round trips; not put and get */
};

/* The calls of a struct side, by functions of these names. */
#define OPS_CALLS                                                                              \
 .barrier = barrier, .prepare = prepare, .start = start, .complete = complete, .serve = serve, \
 .bounce = bounce

static void ops_compute(double us) {
  const double until = now_us() + us;
  while (now_us() < until) {}
}

/* Start n and complete them, with a computation of `compute_us` between. Returns the microseconds
 * of all; in started: those of the starts. */
static double ops_batch(const struct side *s, int op, int n, size_t bytes, double compute_us,
                        double *started) {
  s->prepare(op, n, bytes);
  s->barrier();
  if (s->rank == 1) s->serve(op, n, bytes);
  if (s->rank == 1) return 0;
  const double begin = now_us();
  for (int i = 0; i < n; i++) s->start(op, bytes);
  *started = now_us() - begin;
  if (compute_us > 0) ops_compute(compute_us);
  s->complete(op);
  return now_us() - begin;
}

static double ops_latency(const struct side *s, int op, int n, size_t bytes) {
  const double begin = now_us();
  if (op >= OP_MESSAGE && op <= OP_SEMAPHORE) {
    s->bounce(op, n, bytes);
    return (now_us() - begin) / n / 2;
  }
  for (int i = 0; s->rank == 0 && i < n; i++) {
    s->start(op, bytes);
    s->complete(op);
  }
  return (now_us() - begin) / n;
}

static double ops_overlap(const struct side *s, int op, size_t bytes) {
  double started = 0;
  const double alone = ops_batch(s, op, 1, bytes, 0, &started);
  const double both = ops_batch(s, op, 1, bytes, alone, &started);
  const double hidden = s->rank == 0 ? 2 - both / alone : 0;
  return hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
}

static double ops_sample(const struct side *s, int op, int figure, int n, size_t bytes) {
  double started = 0, all;
  s->barrier();
  switch (figure) {
  case OVERHEAD: ops_batch(s, op, OPS_BATCH, bytes, 0, &started); return started / OPS_BATCH;
  case GAP: all = ops_batch(s, op, n, bytes, 0, &started); return all / n;
  case LATENCY: return ops_latency(s, op, n, bytes);
  case DEPTH: all = ops_batch(s, op, (int)bytes, 8, 0, &started); return all / (double)bytes;
  default: return ops_overlap(s, op, bytes);
  }
}

/* Whether a word is among the arguments. */
static bool ops_asked(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], word) == 0) return true;
  return false;
}

static void ops_row(const struct side *s, int op, int figure, size_t bytes) {
  static const char *const op_name[OPS] = {
      "put",    "get",          "message", "signal",    "flag",      "semaphore", "put_blocking",
      "put_nb", "get_blocking", "get_nb",  "broadcast", "allreduce", "exchange"};
  static const char *const figure_name[FIGURES] = {"overhead", "gap", "latency", "depth",
                                                   "overlap"};
  const int full = bytes <= 4096 ? 500 : bytes <= 65536 ? 100 : bytes <= 1 << 20 ? 16 : 8;
  const int n = s->few ? (full + 9) / 10 : full;
  const int samples = s->few && figure == OVERLAP ? OPS_SAMPLES_FEW : OPS_SAMPLES;
  double sample[OPS_SAMPLES];
  (void)ops_sample(s, op, figure, n, bytes); /* warm */
  for (int i = 0; i < samples; i++) sample[i] = ops_sample(s, op, figure, n, bytes);
  qsort(sample, (size_t)samples, sizeof *sample, by_value);
  if (s->rank) return;
  printf("%s_%s %zu %.5f %.5f %.5f\n", op_name[op], figure_name[figure], bytes, sample[samples / 2],
         sample[0], sample[samples - 1]);
  fflush(stdout); /* a run may be cut off */
}

static void ops_figure(const struct side *s, int op, int figure) {
  const bool deep = figure == DEPTH;
  const size_t last = deep ? OPS_DEPTH_MAX : OPS_BYTES_MAX;
  const size_t first = op >= OP_BROADCAST ? sizeof(double) : 1;
  for (size_t x = first; x <= last; x *= deep ? 4 : x < 262144 ? 8 : 4) ops_row(s, op, figure, x);
}

static bool ops_wanted(const struct side *s, int op, int figure) {
  if (!s->has[op] || s->overlap != (figure == OVERLAP)) return false;
  return op >= OP_BROADCAST ? figure == OVERLAP : op < OP_FLAG || figure == LATENCY;
}

/* Starts of puts from 8 to 128 KiB, messages of 16 to 64 KiB. */
static void ops_cells(const struct side *s) {
  for (size_t x = 8192; s->has[OP_PUT] && x <= 131072; x *= 2) ops_row(s, OP_PUT, OVERHEAD, x);
  for (size_t x = 16384; x <= 65536; x *= 2) ops_row(s, OP_MESSAGE, LATENCY, x);
}

static void ops_main(const struct side *s) {
  if (s->cells) {
    ops_cells(s);
    s->barrier();
    return;
  }
  for (int figure = 0; figure < FIGURES;
       figure++) /* what is cut off is cut off of all operations */
    for (int op = 0; op < OPS; op++)
      if (ops_wanted(s, op, figure)) ops_figure(s, op, figure);
  s->barrier();
}

#endif
