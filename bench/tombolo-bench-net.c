/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures two ranks on different hosts: round trips, floods, large puts, signals, reductions,
 * overlap.
 *
 * Owns: the net rows. Called by: `tombolo bench net`, tests/net. Calls: bench/lib, the public API.
 * The floors are bare sockets between the same processes through the same interfaces. --mode:
 * nothing: all but the last two; `loss`: large puts on a link that loses datagrams, where the other
 * floors would hang; `overlap`; `crowd`: the round trip only, for jobs of more ranks; `loggp`: what
 * `tombolo tune` needs, without floors.
 * put_signal_rtt has the round trip of messages as its floor; overlap has the put alone:
 * the put and as long a computation at once, so that 1 is all of it hidden, 2 nothing.
 */
#include "lib/asks.h"
#include "lib/bench.h"
#include "lib/rounds.h"
#include "lib/sockets.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

enum { H_FLOOD = H_ECHO_END };
enum { SIGNAL_AT = 4096, WORD_AT = SIGNAL_AT + 8, DATA_AT = 1 << 20 };

#define WINDOW_BYTES ((size_t)32 << 20)
#define STREAM_BYTES ((size_t)16 << 20) /* of one sample of a stream */
#define OVERLAP_POLL 50                 /* us of computation between two polls */

/* ---- a handler */

static void on_flood(gex_Token_t token) {
  if (++asked == asks_expected) gex_AM_ReplyShort(token, H_ANSWER, 0);
}

/* ---- messages */

static double am_flood(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  asks_expected += n;
  bench_meet(b); /* rank 1 knows which one is the last before the first comes */
  if (b->rank == 1) {
    GASNET_BLOCKUNTIL(asked == asks_expected);
    return 0;
  }
  const uint64_t next = answered + 1, start = bench_now_ns();
  for (size_t i = 0; i < n; i++) gex_AM_RequestShort(b->tm, b->peer, H_FLOOD, 0);
  GASNET_BLOCKUNTIL(answered == next);
  return (double)(bench_now_ns() - start) / (double)n;
}

/* Time that a request takes its sender, of a few that the network takes at once. */
static double am_issue(struct bench *b, size_t n, size_t bytes) {
  enum { BURST = 8 };
  uint64_t sum = 0;
  (void)bytes;
  for (size_t i = 0; i < n / BURST + 1; i++) {
    asks_expected += BURST;
    bench_meet(b);
    if (b->rank == 1) {
      GASNET_BLOCKUNTIL(asked == asks_expected);
      continue;
    }
    const uint64_t next = answered + 1, start = bench_now_ns();
    for (size_t k = 0; k < BURST; k++) gex_AM_RequestShort(b->tm, b->peer, H_FLOOD, 0);
    sum += bench_now_ns() - start;
    GASNET_BLOCKUNTIL(answered == next);
  }
  return (double)sum / (double)(n / BURST + 1) / BURST;
}

/* ---- puts */

static char *target(struct bench *b, size_t i, size_t bytes) {
  const size_t places = (WINDOW_BYTES - DATA_AT) / bytes;
  return b->theirs_at + DATA_AT + i % places * bytes;
}

static double put_flood(struct bench *b, size_t n, size_t bytes) {
  if (b->rank == 1) return 0;
  BENCH_TIMED_THEN(n,
                   gex_RMA_PutNBI(b->tm, b->peer, target(b, i, bytes), b->mine + DATA_AT, bytes,
                                  GEX_EVENT_DEFER, 0),
                   gex_NBI_Wait(GEX_EC_PUT, 0));
}

static double get_flood(struct bench *b, size_t n, size_t bytes) {
  if (b->rank == 1) return 0;
  BENCH_TIMED_THEN(n,
                   gex_RMA_GetNBI(b->tm, b->mine + DATA_AT, b->peer, target(b, i, bytes), bytes, 0),
                   gex_NBI_Wait(GEX_EC_GET, 0));
}

static double put_blocking(struct bench *b, size_t n, size_t bytes) {
  if (b->rank == 1) return 0;
  BENCH_TIMED(
      n, gex_RMA_PutBlocking(b->tm, b->peer, target(b, i, bytes), b->mine + DATA_AT, bytes, 0));
}

/* There and back: each rank puts a word with a signal when it has seen the other's. */
static double put_signal_rtt(struct bench *b, size_t n, size_t bytes) {
  return signal_rtt(b, n, bytes, (struct signal_places){WORD_AT, DATA_AT, SIGNAL_AT});
}

static double allreduce(struct bench *b, size_t n, size_t bytes) {
  char *const dst = b->mine + DATA_AT, *const src = dst + ((size_t)1 << 20);
  BENCH_TIMED(n, gex_Event_Wait(gex_Coll_ReduceToAllNB(b->tm, dst, src, GEX_DT_DBL, 8, bytes / 8,
                                                       GEX_OP_ADD, NULL, NULL, 0)));
}

/* ---- overlap */

/* The put, and beside it as much computation as it takes alone; polls now and then, or never. */
static double overlap(struct bench *b, size_t n, size_t bytes, bool polls) {
  if (b->rank == 1) return 0;
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    const double alone = put_blocking(b, 1, bytes);
    const double slice = polls ? OVERLAP_POLL * 1000 : alone;
    const uint64_t start = bench_now_ns();
    const gex_Event_t put = gex_RMA_PutNB(b->tm, b->peer, target(b, i, bytes), b->mine + DATA_AT,
                                          bytes, GEX_EVENT_DEFER, 0);
    for (double done = 0; done < alone; done += slice) {
      bench_compute(slice < alone - done ? slice : alone - done);
      if (polls) gasnet_AMPoll();
    }
    gex_Event_Wait(put);
    total += (double)(bench_now_ns() - start);
  }
  return total / (double)n;
}

static double overlap_polling(struct bench *b, size_t n, size_t bytes) {
  return overlap(b, n, bytes, true);
}
static double overlap_silent(struct bench *b, size_t n, size_t bytes) {
  return overlap(b, n, bytes, false);
}

/* ---- rows */

#define BESIDE(floor, name, figure, size, goal)                                  \
 {                                                                               \
  "net", name, #floor, figure, floor_##floor, .bytes = (size), .target = (goal), \
                                              .bandwidth = true, .runs = 15,     \
                                              .count = STREAM_BYTES / (size)     \
 }
#define STREAM(name, figure, size, goal) BESIDE(tcp_stream, name, figure, size, goal)

static const struct bench_row plain_rows[] = {
    {"net", "short_rtt", "udp_rtt", asks_rtt, floor_udp_rtt, .target = 1.25},
    {"net", "short_flood", "udp_send", am_flood, floor_udp_send, .target = 0.6, .count = 2000},
    {"net", "put_signal_rtt", "short_rtt", put_signal_rtt, asks_rtt, .bytes = 8, .target = 1.1},
    {"net", "put_blocking", "udp_rtt", put_blocking, floor_udp_rtt, .bytes = 8},
    {"net", "allreduce", "udp_rtt", allreduce, floor_udp_rtt, .bytes = 8, .target = 1.1},
    {"net", "allreduce", "udp_rtt", allreduce, floor_udp_rtt, .bytes = 16384, .target = 4},
    STREAM("put_flood", put_flood, 2048, 0),
    STREAM("put_flood", put_flood, 16384, 0),
    STREAM("put_flood", put_flood, 65536, 0.9),
    STREAM("put_flood", put_flood, 1 << 18, 0.9),
    STREAM("put_flood", put_flood, 1 << 20, 0.9),
    STREAM("put_flood", put_flood, 4 << 20, 0.9),
    STREAM("get_flood", get_flood, 1 << 20, 0),
};

static const struct bench_row loss_rows[] = {
    STREAM("put_flood", put_flood, 65536, 0.5),
    STREAM("put_flood", put_flood, 1 << 20, 0.5),
};

static const struct bench_row stream_rows[] = {
    STREAM("put_flood", put_flood, 1 << 20, 0.9),
    STREAM("put_flood", put_flood, 4 << 20, 0.9),
    BESIDE(udp_stream, "put_stream", put_flood, 1 << 20, 0.9),
    BESIDE(udp_stream, "put_stream", put_flood, 4 << 20, 0.9),
};

static const struct bench_row overlap_rows[] = {
    {"net", "overlap", "put", overlap_polling, put_blocking, .bytes = 1 << 20, .target = 1.15,
     .runs = 15, .count = 2},
    {"net", "overlap_silent", "put", overlap_silent, put_blocking, .bytes = 1 << 20, .runs = 15,
     .count = 2},
};

static const struct bench_row crowd_rows[] = {
    {.group = "net", .name = "short_rtt", .figure = asks_rtt},
};

static const struct bench_row loggp_rows[] = {
    {.group = "net", .name = "short_rtt", .figure = asks_rtt},
    {.group = "net", .name = "short_flood", .figure = am_flood, .count = 2000},
    {.group = "net", .name = "short_issue", .figure = am_issue, .count = 64},
    {.group = "net", .name = "put_flood", .figure = put_flood, .bytes = 1 << 20, .count = 8},
};

static void measure(struct bench *b, const struct bench_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct bench_row row = rows[i];
    if (b->opts.quick && row.runs) row.runs = 5;
    bench_measure(b, &row);
  }
}

#define MEASURE(b, rows) measure(b, rows, sizeof(rows) / sizeof *(rows))

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t table[] = {
      ECHO_ENTRIES,
      {H_FLOOD, on_flood, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "flood"},
  };
  bench_start(&b, "net", &argc, &argv);
  b.far = true;
  bench_attach(&b, table, sizeof table / sizeof *table, WINDOW_BYTES);
  memset(b.mine, 0, WINDOW_BYTES);
  if (strcmp(b.opts.mode, "crowd") == 0) {
    MEASURE(&b, crowd_rows);
    bench_finish(&b);
  }
  if (strcmp(b.opts.mode, "loggp") == 0) {
    MEASURE(&b, loggp_rows);
    bench_finish(&b);
  }
  sockets_open(&b, b.mine + DATA_AT, WINDOW_BYTES - DATA_AT);
  bench_calibrate();
  if (strcmp(b.opts.mode, "loss") == 0)
    MEASURE(&b, loss_rows);
  else if (strcmp(b.opts.mode, "stream") == 0)
    MEASURE(&b, stream_rows);
  else if (strcmp(b.opts.mode, "overlap") == 0)
    MEASURE(&b, overlap_rows);
  else if (b.opts.mode[0])
    bench_fail(&b, "--mode %s: give loss, stream, overlap, crowd or loggp", b.opts.mode);
  else
    MEASURE(&b, plain_rows);
  bench_finish(&b);
}
