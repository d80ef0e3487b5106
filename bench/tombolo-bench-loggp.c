/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the LogGP parameters of put, get, message and put with signal, and how much of a
 * transfer a computation hides.
 *
 * Owns: the loggp rows. Called by: `tombolo bench loggp`. Calls: bench/lib, the public API. After
 * A. Alexandrov, M. F. Ionescu, K. E. Schauser, C. Scheiman, "LogGP: incorporating long messages
 * into the LogP model", SPAA 1995. For each operation, 8 bytes: `overhead` (o), the time that
 * starting it takes the processor; `gap` (g), the time from one to the next when many are under
 * way; `latency` (L + 2o), one way, until the target can use what came, for put and get until done;
 * `per_kib` (G), what 1 KiB more costs. `overlap`: a transfer and a computation that lasts as long
 * as the transfer alone, over the transfer alone: 1 is all of it hidden, 2 nothing. --mode far: the
 * ranks share no memory; far-gaps: and only `gap` is measured. Invariants: rank 0 measures; rank 1
 * answers, or waits in a barrier.
 */
#include "lib/bench.h"
#include "lib/rounds.h"

#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

enum { H_ASK = 200, H_ANSWER, H_FLOOD };
enum { SIGNAL_AT = 4096, WORD_AT = SIGNAL_AT + 8, DATA_AT = 1 << 20 };
enum { BATCH = 8, MANY = 400, SMALL = 65536, LARGE = 1 << 20 }; /* MANY: in flight */

#define WINDOW_BYTES ((size_t)16 << 20)

static volatile uint64_t arrived, answers;
static uint64_t expected; /* of `arrived` on rank 1 after a sample */
static const char *group; /* of all rows */

static void on_ask(gex_Token_t token, void *data, size_t bytes) {
  (void)data, (void)bytes;
  arrived++;
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void on_answer(gex_Token_t token) {
  (void)token;
  answers++;
}

static void on_flood(gex_Token_t token, void *data, size_t bytes) {
  (void)data, (void)bytes;
  if (++arrived == expected) gex_AM_ReplyShort(token, H_ANSWER, 0);
}

/* ---- start one operation of `bytes` bytes; gex_NBI_Wait ends it */

typedef void start_fn(struct bench *b, size_t bytes);

static void start_put(struct bench *b, size_t bytes) {
  gex_RMA_PutNBI(b->tm, b->peer, b->theirs_at + DATA_AT, b->mine + DATA_AT, bytes, GEX_EVENT_DEFER,
                 0);
}

static void start_get(struct bench *b, size_t bytes) {
  gex_RMA_GetNBI(b->tm, b->mine + DATA_AT, b->peer, b->theirs_at + DATA_AT, bytes, 0);
}

static void start_message(struct bench *b, size_t bytes) {
  gex_AM_RequestMedium(b->tm, b->peer, H_FLOOD, b->mine + DATA_AT, bytes, GEX_EVENT_NOW, 0);
}

static void start_signal(struct bench *b, size_t bytes) {
  gexx_RMA_PutSignalNBI(b->tm, b->peer, b->theirs_at + DATA_AT, b->mine + DATA_AT, bytes,
                        GEX_EVENT_DEFER, (uint64_t *)(void *)(b->theirs_at + WORD_AT), GEXX_SIG_ADD,
                        1, 0);
}

/* ---- the parameters */

/* Mean time of starting one: a few at a time, so that nothing fills up. */
static double overhead(struct bench *b, size_t n, size_t bytes, start_fn *start) {
  uint64_t total = 0;
  for (size_t i = 0; i < n; i += BATCH) {
    const uint64_t from = bench_now_ns();
    for (int k = 0; k < BATCH; k++) start(b, bytes);
    total += bench_now_ns() - from;
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  return (double)total / (double)((n + BATCH - 1) / BATCH * BATCH);
}

static double gap(struct bench *b, size_t n, size_t bytes, start_fn *start) {
  const uint64_t from = bench_now_ns();
  for (size_t i = 0; i < n; i++) start(b, bytes);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return (double)(bench_now_ns() - from) / (double)n;
}

static double alone(struct bench *b, size_t n, size_t bytes, start_fn *start) {
  const uint64_t from = bench_now_ns();
  for (size_t i = 0; i < n; i++) {
    start(b, bytes);
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  return (double)(bench_now_ns() - from) / (double)n;
}

static double per_kib(struct bench *b, size_t n, start_fn *start) {
  const double small = alone(b, n, SMALL, start), large = alone(b, n, LARGE, start);
  return (large - small) / ((double)(LARGE - SMALL) / 1024);
}

/* A flood of messages ends when the last one has been answered. */
static double message_flood(struct bench *b, size_t n, size_t bytes,
                            double (*figure)(struct bench *, size_t, size_t, start_fn *)) {
  const size_t whole = (n + BATCH - 1) / BATCH * BATCH; /* number of messages for `overhead` */
  const size_t count = figure == overhead ? whole : n;
  expected += count;
  bench_meet(b); /* rank 1 knows which one is the last */
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(arrived == expected);
    return 0;
  }
  const uint64_t next = answers + 1, from = bench_now_ns();
  const double started = figure(b, count, bytes, start_message);
  GASNET_BLOCKUNTIL(answers == next);
  return figure == overhead ? started : (double)(bench_now_ns() - from) / (double)count;
}

static double message_latency(struct bench *b, size_t n, size_t bytes) {
  uint64_t from = 0;
  expected += n + BENCH_WARM_OPS;
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(arrived == expected);
    return 0;
  }
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    const uint64_t next = answers + 1;
    if (i == BENCH_WARM_OPS) from = bench_now_ns();
    gex_AM_RequestMedium(b->tm, b->peer, H_ASK, b->mine + DATA_AT, bytes, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(answers == next);
  }
  return (double)(bench_now_ns() - from) / (double)n / 2;
}

/* There and back by put with signal, halved. */
static double signal_latency(struct bench *b, size_t n, size_t bytes) {
  return signal_rtt(b, n, bytes, (struct signal_places){DATA_AT, DATA_AT, SIGNAL_AT}) / 2;
}

/* ---- overlap */

static double overlap(struct bench *b, size_t n, size_t bytes, start_fn *start) {
  uint64_t total = 0;
  for (size_t i = 0; i < n; i++) {
    const double transfer = alone(b, 1, bytes, start);
    const uint64_t from = bench_now_ns();
    start(b, bytes);
    bench_compute(transfer);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    total += bench_now_ns() - from;
  }
  return (double)total / (double)n;
}

/* ---- rows */

#define FIGURES(op)                                                     \
 static double overhead_##op(struct bench *b, size_t n, size_t bytes) { \
  return overhead(b, n, bytes, start_##op);                             \
 }                                                                      \
 static double gap_##op(struct bench *b, size_t n, size_t bytes) {      \
  return gap(b, n, bytes, start_##op);                                  \
 }                                                                      \
 static double alone_##op(struct bench *b, size_t n, size_t bytes) {    \
  return alone(b, n, bytes, start_##op);                                \
 }                                                                      \
 static double per_kib_##op(struct bench *b, size_t n, size_t bytes) {  \
  (void)bytes;                                                          \
  return per_kib(b, n, start_##op);                                     \
 }                                                                      \
 static double overlap_##op(struct bench *b, size_t n, size_t bytes) {  \
  return overlap(b, n, bytes, start_##op);                              \
 }
FIGURES(put)
FIGURES(get)
FIGURES(signal)

static double overhead_message(struct bench *b, size_t n, size_t bytes) {
  return message_flood(b, n, bytes, overhead);
}
static double gap_message(struct bench *b, size_t n, size_t bytes) {
  return message_flood(b, n, bytes, gap);
}

/* in gaps: nothing else. */
static void measure_parameters(struct bench *b, bool gaps) {
  const struct bench_row rows[] = {
      {.name = "put_overhead", .figure = overhead_put, .alone = true},
      {.name = "put_gap", .figure = gap_put, .alone = true, .count = MANY},
      {.name = "put_latency", .figure = alone_put, .alone = true},
      {.name = "get_overhead", .figure = overhead_get, .alone = true},
      {.name = "get_gap", .figure = gap_get, .alone = true, .count = MANY},
      {.name = "get_latency", .figure = alone_get, .alone = true},
      {.name = "message_overhead", .figure = overhead_message, .count = MANY},
      {.name = "message_gap", .figure = gap_message, .count = MANY},
      {.name = "message_latency", .figure = message_latency},
      {.name = "signal_overhead", .figure = overhead_signal, .alone = true},
      {.name = "signal_gap", .figure = gap_signal, .alone = true, .count = MANY},
      {.name = "signal_latency", .figure = signal_latency},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bench_row row = rows[i];
    if (gaps && !strstr(row.name, "_gap")) continue;
    row.group = group;
    row.bytes = 8;
    bench_measure(b, &row);
  }
  if (gaps) return;
  const struct bench_row bytes[] = {{.name = "put_per_kib", .figure = per_kib_put},
                                    {.name = "get_per_kib", .figure = per_kib_get},
                                    {.name = "signal_per_kib", .figure = per_kib_signal}};
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    struct bench_row row = bytes[i];
    row.group = group;
    row.alone = true;
    row.runs = 11;
    row.count = 4;
    bench_measure(b, &row);
  }
}

static void measure_overlap(struct bench *b) {
  const struct {
    const char *name, *floor;
    bench_fn *figure, *alone;
  } kinds[] = {{"put_overlap", "put", overlap_put, alone_put},
               {"get_overlap", "get", overlap_get, alone_get},
               {"signal_overlap", "put_signal", overlap_signal, alone_signal}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t bytes = 4096; bytes <= 4 << 20; bytes *= b->opts.quick ? 1024 : 8) {
      const struct bench_row row = {.group = group,
                                    .name = kinds[i].name,
                                    .floor_name = kinds[i].floor,
                                    .figure = kinds[i].figure,
                                    .floor = kinds[i].alone,
                                    .bytes = bytes,
                                    .alone = true,
                                    .runs = b->opts.quick ? 5 : 15,
                                    .count = 2};
      bench_measure(b, &row);
    }
}

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t table[] = {
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {H_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
      {H_FLOOD, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "flood"},
  };
  bench_start(&b, "loggp", &argc, &argv);
  const bool gaps = strcmp(b.opts.mode, "far-gaps") == 0;
  b.far = gaps || strcmp(b.opts.mode, "far") == 0;
  group = b.far ? "loggp_far" : "loggp";
  if (b.opts.mode[0] && !b.far)
    bench_fail(&b, "--mode %s: give far, far-gaps, or nothing", b.opts.mode);
  bench_attach(&b, table, sizeof table / sizeof *table, WINDOW_BYTES);
  memset(b.mine, 0, WINDOW_BYTES);
  bench_calibrate();
  bench_barrier(&b);
  measure_parameters(&b, gaps);
  if (!gaps) measure_overlap(&b);
  bench_finish(&b);
}
