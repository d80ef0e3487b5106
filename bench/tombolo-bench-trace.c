/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of recording an event of a trace.
 *
 * Owns: the trace rows. Called by hand, with two ranks on one host, of which rank 0 measures:
 *   tombolo run -n 2 build/bench/tombolo-bench-trace
 *   tombolo run -n 2 --trace out.json build/bench/tombolo-bench-trace
 * The difference of the two is what an event costs (docs/OBSERVE.md). TOMBOLO_WAIT=spin keeps rank
 * 1 awake, so that a signal wakes nobody. Calls: bench/lib, the public API. Floor: one reading of
 * the clock, of which a mark needs one, and a get two.
 */
#include "lib/bench.h"

#include <gasnet_tools.h>
#include <gasnetex_ext.h>

static double clock_readings(struct bench *b, size_t n, size_t bytes) {
  (void)b, (void)bytes;
  BENCH_TIMED(n, (void)gasnett_ticks_now());
}

#define FIGURE(NAME, STATEMENTS)                               \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  (void)b, (void)bytes;                                        \
  BENCH_TIMED(n, STATEMENTS; bench_fence());                   \
 }

FIGURE(put, gex_RMA_PutBlocking(b->tm, b->peer, b->theirs_at, b->mine, bytes, 0))
FIGURE(get, gex_RMA_GetBlocking(b->tm, b->mine, b->peer, b->theirs_at, bytes, 0))
FIGURE(put_signal,
       gexx_RMA_PutSignalBlocking(b->tm, b->peer, b->theirs_at, b->mine, bytes, GEX_EVENT_NOW,
                                  (uint64_t *)(void *)(b->theirs_at + 2048), GEXX_SIG_SET, 1, 0))
FIGURE(mark, gexx_Trace_Mark("a moment"))
FIGURE(region, gexx_Trace_Begin("a region"); gexx_Trace_End())

#define ROW(NAME, BYTES)                                                          \
 {                                                                                \
  .group = "trace", .name = #NAME, .floor_name = "clock reading", .figure = NAME, \
  .floor = clock_readings, .bytes = BYTES, .alone = true, .count = 10000          \
 }

int main(int argc, char **argv) {
  static struct bench b;
  static const struct bench_row rows[] = {ROW(put, 8),        ROW(put, 1024), ROW(get, 8),
                                          ROW(put_signal, 8), ROW(mark, 0),   ROW(region, 0)};
  bench_start(&b, "trace", &argc, &argv);
  bench_attach(&b, NULL, 0, 4096);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) bench_measure(&b, &rows[i]);
  bench_finish(&b);
}
