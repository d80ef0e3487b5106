/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures active messages between ranks 0 and 1: round trips, floods, negotiated payload,
 * barriers.
 *
 * Owns: the am rows. Called by: `tombolo bench am`. Calls: bench/lib, the public API.
 * Option --mode NAME: only rows whose names begin with NAME.
 * The floor of a row, sampled in alternation, is the round trip of a cache-line hand-off, or the
 * same payload passed by hand, with as many copies.
 * Round trips: rank 0 sends, the handler on rank 1 replies, rank 0 waits with GASNET_BLOCKUNTIL
 * before it sends again; rank 1 waits in GASNET_BLOCKUNTIL until all have come. Floods: rank 0
 * sends without waiting; the handler of the last message replies, and the time until then is
 * divided by the count.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#include <string.h>

enum handler {
  H_SHORT = 200,
  H_MEDIUM,
  H_MEDIUM_BACK,
  H_MEDIUM_ECHO,
  H_MEDIUM_RETURN,
  H_LONG,
  H_FLOOD,
  H_FLOOD_PAYLOAD,
  H_FLOOD_READ,
  H_ACK,
  H_BACK,
  H_READ
};

static struct bench bench;
static volatile uint64_t arrived; /* requests to this rank so far */
static volatile uint64_t replies; /* on rank 0: replies so far */
static uint64_t flood_last;       /* on rank 1: the value of `arrived` that is acknowledged */
static uint64_t expected;         /* the value of `arrived` after the current sample */

/* ---- handlers */

static void on_short(gex_Token_t token) {
  arrived++;
  gex_AM_ReplyShort(token, H_ACK, 0);
}

static void on_medium(gex_Token_t token, void *buffer, size_t bytes) {
  (void)buffer, (void)bytes;
  arrived++;
  gex_AM_ReplyShort(token, H_ACK, 0);
}

static void on_medium_back(gex_Token_t token, void *buffer, size_t bytes) {
  (void)buffer;
  arrived++;
  gex_AM_ReplyMedium(token, H_BACK, floor_private(&bench), bytes, GEX_EVENT_NOW, 0);
}

static void on_medium_echo(gex_Token_t token, void *buffer, size_t bytes) {
  arrived++;
  gex_AM_ReplyMedium(token, H_READ, buffer, bytes, GEX_EVENT_NOW, 0);
}

static void on_medium_return(gex_Token_t token, void *buffer, size_t bytes) {
  arrived++;
  gex_AM_ReplyMedium(token, H_BACK, buffer, bytes, GEX_EVENT_NOW, 0);
}

static void on_flood(gex_Token_t token) {
  if (++arrived == flood_last) gex_AM_ReplyShort(token, H_ACK, 0);
}

static void on_flood_payload(gex_Token_t token, void *buffer, size_t bytes) {
  (void)buffer, (void)bytes;
  if (++arrived == flood_last) gex_AM_ReplyShort(token, H_ACK, 0);
}

/* The client takes the payload out. */
static void on_flood_read(gex_Token_t token, void *buffer, size_t bytes) {
  memcpy(floor_private(&bench), buffer, bytes);
  if (++arrived == flood_last) gex_AM_ReplyShort(token, H_ACK, 0);
}

static void on_ack(gex_Token_t token) {
  (void)token;
  replies++;
}

static void on_back(gex_Token_t token, void *buffer, size_t bytes) {
  (void)token, (void)buffer, (void)bytes;
  replies++;
}

/* The client takes the payload out. */
static void on_read(gex_Token_t token, void *buffer, size_t bytes) {
  (void)token;
  memcpy(floor_private(&bench), buffer, bytes);
  replies++;
}

/* ---- round trips */

/* Sends one request of a round trip. */
typedef void send_fn(struct bench *b, size_t bytes);

static void send_short(struct bench *b, size_t bytes) {
  (void)bytes;
  gex_AM_RequestShort(b->tm, b->peer, H_SHORT, 0);
}

#define SEND_MEDIUM(NAME, HANDLER)                                                          \
 static void NAME(struct bench *b, size_t bytes) {                                          \
  gex_AM_RequestMedium(b->tm, b->peer, HANDLER, floor_private(b), bytes, GEX_EVENT_NOW, 0); \
 }
SEND_MEDIUM(send_medium, H_MEDIUM)
SEND_MEDIUM(send_medium_back, H_MEDIUM_BACK)
SEND_MEDIUM(send_medium_echo, H_MEDIUM_ECHO)
SEND_MEDIUM(send_medium_return, H_MEDIUM_RETURN)
SEND_MEDIUM(send_flood_payload, H_FLOOD_PAYLOAD)
SEND_MEDIUM(send_flood_read, H_FLOOD_READ)

static void send_long(struct bench *b, size_t bytes) {
  gex_AM_RequestLong(b->tm, b->peer, H_LONG, floor_private(b), bytes, b->theirs_at, GEX_EVENT_NOW,
                     0);
}

/* The client writes its payload straight into the library's buffer. */
static void send_negotiated(struct bench *b, size_t bytes) {
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(b->tm, b->peer, NULL, bytes, bytes, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(sd), 3, bytes);
  gex_AM_CommitRequestMedium(sd, H_MEDIUM, bytes);
}

/* The client's alternative: writes a buffer of its own, and sends that. */
static void send_written(struct bench *b, size_t bytes) {
  memset(floor_private(b), 3, bytes);
  send_medium(b, bytes);
}

/* Wait until n more requests have come. */
static void serve(size_t n) {
  expected += n;
  GASNET_BLOCKUNTIL(arrived == expected);
}

/* n round trips; inlined into each caller so that `send` is a direct call, as in a client. */
static inline __attribute__((always_inline)) double round_trips(struct bench *b, size_t n,
                                                                size_t bytes, send_fn *send) {
  if (b->rank == 1) {
    serve(n + BENCH_WARM_OPS);
    return 0;
  }
  BENCH_TIMED_WARM(n, const uint64_t next = replies + 1; send(b, bytes);
                   GASNET_BLOCKUNTIL(replies == next));
}

#define ROUND_TRIPS(NAME, SEND)                                \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  return round_trips(b, n, bytes, SEND);                       \
 }
ROUND_TRIPS(short_rtt, send_short)
ROUND_TRIPS(medium_rtt, send_medium)
ROUND_TRIPS(medium_rtt_back, send_medium_back)
ROUND_TRIPS(medium_rtt_echo, send_medium_echo)
ROUND_TRIPS(medium_rtt_return, send_medium_return)
ROUND_TRIPS(long_rtt, send_long)
ROUND_TRIPS(negotiated_rtt, send_negotiated)
ROUND_TRIPS(written_rtt, send_written)

/* Both ranks poll by hand instead of waiting. */
static double short_rtt_poll(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  if (b->rank == 1) {
    expected += n;
    while (arrived != expected) gasnet_AMPoll();
    return 0;
  }
  BENCH_TIMED(n, const uint64_t next = replies + 1; gex_AM_RequestShort(b->tm, b->peer, H_SHORT, 0);
              while (replies != next) gasnet_AMPoll());
}

/* ---- floods */

/* n one-way messages and an acknowledgement. */
static inline __attribute__((always_inline)) double flood(struct bench *b, size_t n, size_t bytes,
                                                          send_fn *send) {
  if (b->rank == 1) flood_last = expected + n;
  bench_meet(b);
  if (b->rank == 1) {
    serve(n);
    return 0;
  }
  const uint64_t next = replies + 1;
  BENCH_TIMED_THEN(n, send(b, bytes), GASNET_BLOCKUNTIL(replies == next));
}

static void send_flood(struct bench *b, size_t bytes) {
  (void)bytes;
  gex_AM_RequestShort(b->tm, b->peer, H_FLOOD, 0);
}

#define FLOOD(NAME, SEND)                                      \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  return flood(b, n, bytes, SEND);                             \
 }
FLOOD(short_flood, send_flood)
FLOOD(medium_flood, send_flood_payload)
FLOOD(medium_flood_read, send_flood_read)

/* Both ranks send n messages and take as many out. */
static double medium_both_read(struct bench *b, size_t n, size_t bytes) {
  bench_meet(b);
  const uint64_t start = bench_now_ns();
  for (size_t i = 0; i < n; i++) send_flood_read(b, bytes);
  serve(n);
  return (double)(bench_now_ns() - start) / (double)n;
}

static double barrier(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  BENCH_TIMED(n, gex_Coll_BarrierBlocking(b->tm, 0));
}

/* ---- rows */

static const struct {
  const char *name;
  bench_fn *fn;
  size_t bytes;
  double target;
  bool quick; /* part of the short table */
} rows[] = {
    {"short_rtt", short_rtt, 0, 1.35, true},
    {"short_rtt_poll", short_rtt_poll, 0, 0, false},
    {"short_flood", short_flood, 0, 0.16, true},
    {"medium_rtt", medium_rtt, 8, 0, false},
    {"medium_rtt", medium_rtt, 64, 0, false},
    {"medium_rtt", medium_rtt, 256, 0, false},
    {"medium_rtt", medium_rtt, 1024, 1.7, true},
    {"medium_rtt", medium_rtt, 4096, 0, false},
    {"medium_rtt", medium_rtt, 16384, 0, false},
    {"medium_rtt", medium_rtt, 65536, 0, false},
    {"medium_once", medium_rtt, 65536, 1.25, true},
    {"medium_rtt_back", medium_rtt_back, 8, 0, false},
    {"medium_rtt_back", medium_rtt_back, 64, 0, false},
    {"medium_rtt_back", medium_rtt_back, 1024, 1.7, false},
    {"medium_rtt_back", medium_rtt_back, 4096, 0, false},
    {"medium_rtt_back", medium_rtt_back, 16384, 0, false},
    {"medium_rtt_back", medium_rtt_back, 65536, 0, false},
    {"medium_back", medium_rtt_back, 32768, 1.25, false},
    {"medium_back", medium_rtt_back, 65536, 1.25, false},
    {"medium_echo", medium_rtt_echo, 2048, 1.25, false},
    {"medium_echo", medium_rtt_echo, 4096, 1.25, false},
    {"medium_echo", medium_rtt_echo, 16384, 1.25, false},
    {"medium_echo", medium_rtt_echo, 32768, 1.25, false},
    {"medium_echo", medium_rtt_echo, 65536, 1.25, false},
    {"medium_return", medium_rtt_return, 16384, 1.25, false},
    {"medium_return", medium_rtt_return, 32768, 1.25, false},
    {"medium_return", medium_rtt_return, 65536, 1.25, false},
    {"medium_flood", medium_flood, 8, 0, false},
    {"medium_flood", medium_flood, 64, 0.22, true},
    {"medium_flood", medium_flood, 1024, 0, true},
    {"medium_flood", medium_flood, 8192, 0, false},
    {"medium_flood", medium_flood, 65536, 0, true},
    {"medium_flood_read", medium_flood_read, 8192, 1.25, false},
    {"medium_flood_read", medium_flood_read, 32768, 1.25, false},
    {"medium_both_read", medium_both_read, 8192, 1.25, false},
    {"medium_both_read", medium_both_read, 16384, 1.25, false},
    {"medium_both_read", medium_both_read, 32768, 1.25, false},
    {"long_rtt", long_rtt, 8, 0, false},
    {"long_rtt", long_rtt, 1024, 0, false},
    {"long_rtt", long_rtt, 65536, 0, false},
    {"long_rtt", long_rtt, 1048576, 0, false},
    {"written_rtt", written_rtt, 1024, 0, false},
    {"negotiated_rtt", negotiated_rtt, 1024, 0, false},
    {"written_rtt", written_rtt, 65536, 0, false},
    {"negotiated_rtt", negotiated_rtt, 65536, 0, false},
    {"barrier", barrier, 0, 0, true},
};

/* The floor of a row; NULL: the hand-off. */
static bench_fn *copies_of(const char *row) {
  if (strcmp(row, "medium_once") == 0) return floor_payload_once;
  if (strcmp(row, "medium_back") == 0) return floor_payload;
  if (strcmp(row, "medium_flood_read") == 0) return floor_payload_flood;
  if (strcmp(row, "medium_both_read") == 0) return floor_payload_both;
  if (strcmp(row, "medium_return") == 0) return floor_payload_return;
  return strcmp(row, "medium_echo") == 0 ? floor_payload_echo : NULL;
}

/* The size of a row, lowered to what one message of the library can carry. */
static size_t fit(struct bench *b, bench_fn *fn, size_t bytes) {
  const size_t request = gex_AM_MaxRequestMedium(b->tm, b->peer, GEX_EVENT_NOW, 0, 0);
  const size_t reply = gex_AM_MaxReplyMedium(b->tm, b->peer, GEX_EVENT_NOW, 0, 0);
  const size_t least =
      gex_AM_MaxRequestMedium(b->tm, b->peer, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  size_t most = request;
  if (fn == long_rtt) return bytes;
  const bool back = fn == medium_rtt_back || fn == medium_rtt_echo || fn == medium_rtt_return;
  if (back && reply < most) most = reply;
  if (fn == negotiated_rtt && least < most) most = least;
  return bytes < most ? bytes : most;
}

int main(int argc, char **argv) {
  struct bench *b = &bench;
  gex_AM_Entry_t handlers[] = {
      {H_SHORT, on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "short"},
      {H_MEDIUM, on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "medium"},
      {H_MEDIUM_BACK, on_medium_back, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
       "medium_back"},
      {H_LONG, on_medium, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "long"},
      {H_FLOOD, on_flood, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "flood"},
      {H_FLOOD_PAYLOAD, on_flood_payload, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
       "flood_payload"},
      {H_FLOOD_READ, on_flood_read, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
       "flood_read"},
      {H_ACK, on_ack, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "ack"},
      {H_MEDIUM_ECHO, on_medium_echo, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "echo"},
      {H_MEDIUM_RETURN, on_medium_return, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
       "return"},
      {H_READ, on_read, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "read"},
      {H_BACK, on_back, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "back"},
  };
  bench_start(b, "am", &argc, &argv);
  bench_attach(b, handlers, sizeof handlers / sizeof *handlers, (size_t)1 << 20);
  memset(b->mine, 2, b->bytes);
  floor_private(b);
  bench_barrier(b);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (b->opts.quick && !rows[i].quick) continue;
    if (strncmp(rows[i].name, b->opts.mode, strlen(b->opts.mode)) != 0) continue;
    bench_fn *const copies = copies_of(rows[i].name);
    const struct bench_row row = {.group = "am",
                                  .name = rows[i].name,
                                  .floor_name = copies ? "copies" : "handoff",
                                  .figure = rows[i].fn,
                                  .floor = copies ? copies : floor_handoff,
                                  .bytes = b->rank < 2 ? fit(b, rows[i].fn, rows[i].bytes) : 0,
                                  .target = rows[i].target};
    bench_measure(b, &row);
  }
  bench_finish(b);
}
