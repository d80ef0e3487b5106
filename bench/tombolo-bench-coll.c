/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures collectives: broadcast, reductions, all-gather, exchange, from 8 bytes to 1 MiB; for
 * `tombolo tune` also the others.
 *
 * Owns: the coll rows. Called by: `tombolo bench coll`, `tombolo tune`. Calls: bench/lib, the
 * public API. Option --mode NAME: only rows whose names begin with NAME; --mode NAME:BYTES: that
 * one of all collectives, up to BYTES. With two ranks that share memory the floor of every row is
 * the round trip of a cache-line hand-off, sampled in alternation; else there is none. The root of
 * a broadcast or reduction changes with every operation, so that none can begin before the one
 * before has come to an end on its root. bytes is the length of the vector, or of one block.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gasnet_coll.h>
#include <tombolo/ext/ext_coll.h>

enum { BYTES_MAX = 1 << 20, OPS_MIN = 3, OPS_BYTES = 2 << 20, OPS_MAX = 2000, OPS_QUICK = 100 };

static struct bench bench;
static char *src, *dst;

/* A root may be done before the other rank has begun: neither begins before both have come. */
static void together(struct bench *b) {
  if (b->size == 2)
    bench_meet(b);
  else
    bench_barrier(b);
}

/* A figure: the mean of n calls, after BEGIN; `root` changes with every call. */
#define FIGURE(NAME, BEGIN, CALL)                                                      \
 static double NAME(struct bench *b, size_t n, size_t bytes) {                         \
  BEGIN;                                                                               \
  BENCH_TIMED(n, const gex_Rank_t root = (gex_Rank_t)(i % b->size); (void)root; CALL); \
 }
#define NOTHING         ((void)0)
#define WAIT(CALL, ...) gex_Event_Wait(CALL##NB(b->tm, __VA_ARGS__, 0))
#define SUM             dst, src, GEX_DT_DBL, 8, bytes / 8, GEX_OP_ADD, NULL, NULL

FIGURE(broadcast, together(b), WAIT(gex_Coll_Broadcast, root, dst, src, bytes))
FIGURE(reduce, together(b), WAIT(gex_Coll_ReduceToOne, root, SUM))
FIGURE(allreduce, NOTHING, WAIT(gex_Coll_ReduceToAll, SUM))
FIGURE(allgather, NOTHING, WAIT(gexx_Coll_AllGather, dst, src, bytes))
FIGURE(exchange, NOTHING, WAIT(gexx_Coll_Exchange, dst, src, bytes))
FIGURE(scatter, together(b), WAIT(gexx_Coll_Scatter, root, dst, src, bytes))
FIGURE(gather, together(b), WAIT(gexx_Coll_Gather, root, dst, src, bytes))
FIGURE(reduce_scatter, NOTHING, WAIT(gexx_Coll_ReduceScatter, SUM))

/* Low ranks are done with a scan before high ones: the last one answers. */
static void answer(struct bench *b) {
  static uint64_t word[2];
  WAIT(gex_Coll_Broadcast, b->size - 1, &word[0], &word[1], 8);
}

FIGURE(scan, NOTHING, WAIT(gexx_Coll_Scan, SUM); answer(b))
FIGURE(exscan, NOTHING, WAIT(gexx_Coll_ExScan, SUM); answer(b))

/* ---- V forms, with blocks of one length */

static size_t *lengths, *places; /* [size] */

static void set_blocks(const struct bench *b, size_t bytes) {
  for (gex_Rank_t r = 0; r < b->size; r++) {
    lengths[r] = bytes;
    places[r] = r * bytes;
  }
}

static void set_together(struct bench *b, size_t bytes) {
  set_blocks(b, bytes);
  together(b);
}

FIGURE(scatterv, set_together(b, bytes),
       WAIT(gexx_Coll_ScatterV, root, dst, bytes, src, lengths, places))
FIGURE(gatherv, set_together(b, bytes),
       WAIT(gexx_Coll_GatherV, root, dst, lengths, places, src, bytes))
FIGURE(allgatherv, set_blocks(b, bytes), WAIT(gexx_Coll_AllGatherV, dst, lengths, places, src))
FIGURE(exchangev, set_blocks(b, bytes),
       WAIT(gexx_Coll_ExchangeV, dst, lengths, places, src, lengths, places))

static const struct {
  const char *name;
  bench_fn *fn;
  bool plain; /* also measured without --mode NAME:BYTES */
} kinds[] = {{"broadcast", broadcast, true},
             {"reduce", reduce, true},
             {"allreduce", allreduce, true},
             {"allgather", allgather, true},
             {"exchange", exchange, true},
             {"scatter", scatter, false},
             {"gather", gather, false},
             {"reduce-scatter", reduce_scatter, false},
             {"scan", scan, false},
             {"exscan", exscan, false},
             {"scatterv", scatterv, false},
             {"gatherv", gatherv, false},
             {"allgatherv", allgatherv, false},
             {"exchangev", exchangev, false}};

static const struct {
  size_t bytes;
  bool quick;
} sizes[] = {{8, true},      {64, false},   {512, false},    {4096, true},
             {16384, false}, {65536, true}, {262144, false}, {1048576, true}};

/* More than two ranks: everybody takes part, as often as the length of the data allows. */
static void measure_all(struct bench *b, const struct bench_row *row) {
  const int runs = b->opts.runs;
  const size_t per_op = row->bytes * b->size;
  size_t n = per_op ? OPS_BYTES / per_op : OPS_MAX;
  n = n < OPS_MIN ? OPS_MIN : n > OPS_MAX ? OPS_MAX : n;
  if (b->opts.quick && n > OPS_QUICK) n = OPS_QUICK;
  double *sample = malloc((size_t)runs * sizeof *sample);
  if (!sample) bench_fail(b, "out of memory for %d samples", runs);
  (void)row->figure(b, OPS_MIN, row->bytes);
  for (int i = 0; i < runs; i++) {
    bench_barrier(b);
    sample[i] = row->figure(b, n, row->bytes);
  }
  bench_report(b, row, "ns", sample, NULL, runs);
  free(sample);
}

/* Whether --mode asks for a row. */
static bool wanted(const struct bench *b, size_t kind, size_t bytes) {
  const char *name = kinds[kind].name, *mode = b->opts.mode, *colon = strchr(mode, ':');
  if (!colon) return kinds[kind].plain && strncmp(name, mode, strlen(mode)) == 0;
  return strlen(name) == (size_t)(colon - mode) &&
         strncmp(name, mode, (size_t)(colon - mode)) == 0 && bytes <= strtoull(colon + 1, NULL, 10);
}

static void make_buffers(struct bench *b) {
  const size_t room = (size_t)BYTES_MAX * b->size;
  src = aligned_alloc(4096, room);
  dst = aligned_alloc(4096, room);
  lengths = calloc(b->size, sizeof *lengths);
  places = calloc(b->size, sizeof *places);
  if (!src || !dst || !lengths || !places)
    bench_fail(b, "out of memory for buffers of %zu bytes", room);
  memset(src, 0, room);
  memset(dst, 0, room);
}

/* Whether the rows have a floor; where two ranks share no memory a note says why not. */
static bool has_floor(const struct bench *b) {
  if (b->far && b->rank == 0 && !strchr(b->opts.mode, ':'))
    fprintf(stderr, "tombolo-bench: the floor 'handoff' is left out: the segment of rank 1 is not "
                    "mapped here\n");
  return b->size == 2 && !b->far;
}

int main(int argc, char **argv) {
  struct bench *b = &bench;
  bench_start(b, "coll", &argc, &argv);
  b->apart = true;
  bench_attach(b, NULL, 0, (size_t)1 << 20);
  make_buffers(b);
  const bool floor = has_floor(b);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      if (b->opts.quick && !sizes[i].quick) continue;
      if (!wanted(b, k, sizes[i].bytes)) continue;
      const struct bench_row row = {.group = "coll",
                                    .name = kinds[k].name,
                                    .floor_name = floor ? "handoff" : "",
                                    .figure = kinds[k].fn,
                                    .floor = floor ? floor_handoff : NULL,
                                    .bytes = sizes[i].bytes};
      if (b->size == 2)
        bench_measure(b, &row);
      else
        measure_all(b, &row);
    }
  bench_finish(b);
}
