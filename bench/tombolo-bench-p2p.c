/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures put and get between ranks 0 and 1, and the machine's floors by themselves.
 *
 * Owns: the p2p and floor rows. Called by: `tombolo bench p2p`. Calls: bench/lib, the public API.
 * Options: those of bench/lib/bench.h; --mode floors measures only the floors, --mode any only
 * words and arrays whose size is in a variable, as runtimes of languages have it.
 * The 8-byte loops walk over 64 words of one page on both sides, because an address that never
 * changes would let the processor forward each store to the next load.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#include <string.h>

static volatile uint64_t sink; /* keeps the read of fetched data */

/* Values for every loop below, in registers: a store through an unknown address would make the
 * compiler read them from *b again and again. */
#define LOCALS(b)                     \
 const gex_TM_t tm = (b)->tm;         \
 const gex_Rank_t peer = (b)->peer;   \
 char *const near = floor_private(b); \
 char *const far = (b)->theirs_at

/* ---- 8 bytes */

/* A timed loop of n operations, FLOOR_WORDS of them in each turn; `at` is the offset of the next
 * word. */
#define TIME_WORDS(n, statement)                 \
 const size_t first = floor_word_offset();       \
 const uint64_t start = bench_now_ns();          \
 for (size_t i = 0; i < (n); i += FLOOR_WORDS) { \
  size_t at = first + i % 64 * 8;                \
  statement;                                     \
  at += 8;                                       \
  statement;                                     \
  at += 8;                                       \
  statement;                                     \
  at += 8;                                       \
  statement;                                     \
 }                                               \
 const double per_op = (double)(bench_now_ns() - start) / (double)(n)

static double put8(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n, gex_RMA_PutBlocking(tm, peer, far + at, near + at, 8, 0));
  return per_op;
}

static double get8(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n, gex_RMA_GetBlocking(tm, near + at, peer, far + at, 8, 0));
  sink = (uint64_t)near[0];
  return per_op;
}

static double put8_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes, (void)near;
  TIME_WORDS(n, gex_RMA_PutBlockingVal(tm, peer, far + at, i, 8, 0));
  return per_op;
}

static double get8_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  uint64_t sum = 0;
  (void)bytes, (void)near;
  TIME_WORDS(n, sum += gex_RMA_GetBlockingVal(tm, peer, far + at, 8, 0));
  sink = sum;
  return per_op;
}

static double put8_nb(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n,
             gex_Event_Wait(gex_RMA_PutNB(tm, peer, far + at, near + at, 8, GEX_EVENT_DEFER, 0)));
  return per_op;
}

static double get8_nb(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n, gex_Event_Wait(gex_RMA_GetNB(tm, near + at, peer, far + at, 8, 0)));
  return per_op;
}

static double put8_nbi(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n, gex_RMA_PutNBI(tm, peer, far + at, near + at, 8, GEX_EVENT_DEFER, 0));
  gex_NBI_Wait(GEX_EC_PUT, 0);
  return per_op;
}

static double get8_nbi(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)bytes;
  TIME_WORDS(n, gex_RMA_GetNBI(tm, near + at, peer, far + at, 8, 0));
  gex_NBI_Wait(GEX_EC_GET, 0);
  return per_op;
}

/* ---- 8 bytes, which the compiler does not know */

static double put_any(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(n, gex_RMA_PutBlocking(tm, peer, far + at, near + at, bytes, 0));
  return per_op;
}

static double get_any(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(n, gex_RMA_GetBlocking(tm, near + at, peer, far + at, bytes, 0));
  sink = (uint64_t)near[0];
  return per_op;
}

static double put_any_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)near;
  TIME_WORDS(n, gex_RMA_PutBlockingVal(tm, peer, far + at, i, bytes, 0));
  return per_op;
}

static double get_any_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  uint64_t sum = 0;
  (void)near;
  TIME_WORDS(n, sum += gex_RMA_GetBlockingVal(tm, peer, far + at, bytes, 0));
  sink = sum;
  return per_op;
}

static double put_any_nb(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(
      n, gex_Event_Wait(gex_RMA_PutNB(tm, peer, far + at, near + at, bytes, GEX_EVENT_DEFER, 0)));
  return per_op;
}

static double get_any_nb(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(n, gex_Event_Wait(gex_RMA_GetNB(tm, near + at, peer, far + at, bytes, 0)));
  return per_op;
}

static double put_any_nbi(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(n, gex_RMA_PutNBI(tm, peer, far + at, near + at, bytes, GEX_EVENT_DEFER, 0));
  gex_NBI_Wait(GEX_EC_PUT, 0);
  return per_op;
}

static double get_any_nbi(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_WORDS(n, gex_RMA_GetNBI(tm, near + at, peer, far + at, bytes, 0));
  gex_NBI_Wait(GEX_EC_GET, 0);
  return per_op;
}

static double put_any_nb_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)near;
  TIME_WORDS(n, gex_Event_Wait(gex_RMA_PutNBVal(tm, peer, far + at, i, bytes, 0)));
  return per_op;
}

static double put_any_nbi_val(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  (void)near;
  TIME_WORDS(n, gex_RMA_PutNBIVal(tm, peer, far + at, i, bytes, 0));
  gex_NBI_Wait(GEX_EC_PUT, 0);
  return per_op;
}

/* ---- any size */

#define TIME_COPIES(n, statement)            \
 const uint64_t start = bench_now_ns();      \
 for (size_t i = 0; i < (n); i++) statement; \
 const double per_op = (double)(bench_now_ns() - start) / (double)(n)

static double put_warm(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_COPIES(n, gex_RMA_PutBlocking(tm, peer, far, near, bytes, 0));
  return per_op;
}

static double get_warm(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  TIME_COPIES(n, gex_RMA_GetBlocking(tm, near, peer, far, bytes, 0));
  return per_op;
}

static double put_nbi(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  BENCH_TIMED_THEN(n, gex_RMA_PutNBI(tm, peer, far, near, bytes, GEX_EVENT_DEFER, 0),
                   gex_NBI_Wait(GEX_EC_PUT, 0));
}

static double put_cold(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  BENCH_TIMED(n, const size_t at = floor_cold_next(bytes);
              gex_RMA_PutBlocking(tm, peer, far + at, near + at, bytes, 0));
}

static double get_cold(struct bench *b, size_t n, size_t bytes) {
  LOCALS(b);
  BENCH_TIMED(n, const size_t at = floor_cold_next(bytes);
              gex_RMA_GetBlocking(tm, near + at, peer, far + at, bytes, 0));
}

/* ---- rows */

#define PRIVATE_COPY(bytes_)                                                                     \
 {                                                                                               \
  .group = "floor", .name = "memcpy_private", .figure = floor_memcpy_private, .bytes = (bytes_), \
  .bandwidth = true, .alone = true                                                               \
 }

static void measure_floors(struct bench *b) {
  const struct bench_row rows[] = {
      {.group = "floor", .name = "handoff_rtt", .figure = floor_handoff},
      {.group = "floor", .name = "add_alone", .figure = floor_add_alone, .alone = true},
      {.group = "floor", .name = "add_contended", .figure = floor_add_contended},
      PRIVATE_COPY(4096),
      PRIVATE_COPY(65536),
      PRIVATE_COPY(FLOOR_WARM_BYTES),
      {.group = "floor", .name = "switch_pair", .figure = floor_switch, .count = 300},
      {.group = "floor", .name = "futex_rtt", .figure = floor_futex, .count = 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) bench_measure(b, &rows[i]);
}

static void measure_words(struct bench *b) {
  static const struct {
    const char *name;
    bench_fn *fn;
    bool put;
    double target;
  } words[] = {
      {"put_blocking", put8, true, 1.5}, {"get_blocking", get8, false, 1.5},
      {"put_val", put8_val, true, 0},    {"get_val", get8_val, false, 0},
      {"put_nb", put8_nb, true, 0},      {"get_nb", get8_nb, false, 0},
      {"put_nbi", put8_nbi, true, 0},    {"get_nbi", get8_nbi, false, 0},
  };
  const size_t count = b->opts.quick ? 2 : sizeof words / sizeof *words;
  for (size_t i = 0; i < count; i++) {
    const struct bench_row row = {.group = "p2p",
                                  .name = words[i].name,
                                  .floor_name = "copy8+test",
                                  .figure = words[i].fn,
                                  .floor = words[i].put ? floor_copy8_put : floor_copy8_get,
                                  .bytes = 8,
                                  .target = words[i].target,
                                  .alone = true};
    bench_measure(b, &row);
  }
}

/* Functions of several sizes, called through pointers: the size stays unknown. */
static void measure_any(struct bench *b) {
  static const struct {
    const char *name;
    bench_fn *fn;
    bool put;
    size_t bytes; /* 0: a word */
  } rows[] = {
      {"put_any", put_any, true, 0},
      {"get_any", get_any, false, 0},
      {"put_any_val", put_any_val, true, 0},
      {"get_any_val", get_any_val, false, 0},
      {"put_any_nb", put_any_nb, true, 0},
      {"get_any_nb", get_any_nb, false, 0},
      {"put_any_nbi", put_any_nbi, true, 0},
      {"get_any_nbi", get_any_nbi, false, 0},
      {"put_any_nb_val", put_any_nb_val, true, 0},
      {"put_any_nbi_val", put_any_nbi_val, true, 0},
      {"put_any", put_any, true, 8192},
      {"get_any", get_any, false, 256},
      {"put_any_nb", put_any_nb, true, 1024},
      {"get_any_nb", get_any_nb, false, 4096},
      {"put_any_nbi", put_any_nbi, true, 2048},
      {"get_any_nbi", get_any_nbi, false, 512},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct bench_row row = {.group = "p2p",
                                  .name = rows[i].name,
                                  .floor_name = "memcpy+test",
                                  .figure = rows[i].fn,
                                  .floor = rows[i].put ? floor_copy_any_put : floor_copy_any_get,
                                  .bytes = rows[i].bytes ? rows[i].bytes : 8,
                                  .target = 1.0,
                                  .alone = true};
    bench_measure(b, &row);
  }
}

/* One put row and one get row per size. */
struct sweep {
  const char *put, *get, *floor_name;
  bench_fn *put_fn, *get_fn, *put_floor, *get_floor;
  size_t least, most, step; /* sizes: least, least * step, ... most */
};

static void measure_sweep(struct bench *b, const struct sweep *s) {
  for (size_t bytes = s->least; bytes <= s->most; bytes *= s->step) {
    struct bench_row row = {.group = "p2p",
                            .name = s->put,
                            .floor_name = s->floor_name,
                            .figure = s->put_fn,
                            .floor = s->put_floor,
                            .bytes = bytes,
                            .target = bytes >= 65536 ? 0.95 : 0,
                            .bandwidth = true,
                            .alone = true};
    bench_measure(b, &row);
    if (!s->get) continue;
    row.name = s->get;
    row.figure = s->get_fn;
    row.floor = s->get_floor;
    bench_measure(b, &row);
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  bench_start(&b, "p2p", &argc, &argv);
  bench_attach(&b, NULL, 0, FLOOR_COLD_BYTES);
  if (b.rank == 0) memset(b.theirs, 2, FLOOR_COLD_BYTES); /* no page faults in the timed loops */
  bench_barrier(&b);
  if (strcmp(b.opts.mode, "any") == 0) {
    measure_any(&b);
    bench_finish(&b);
  }
  measure_floors(&b);
  if (strcmp(b.opts.mode, "floors") != 0) {
    const struct sweep warm = {"put",
                               "get",
                               "memcpy",
                               put_warm,
                               get_warm,
                               floor_memcpy_put,
                               floor_memcpy_get,
                               8,
                               FLOOR_WARM_BYTES,
                               b.opts.quick ? 8 : 2};
    const struct sweep flood = {"put_flood",      NULL, "memcpy", put_nbi,          NULL,
                                floor_memcpy_put, NULL, 2048,     FLOOR_WARM_BYTES, 32};
    const struct sweep cold = {"put_cold",
                               "get_cold",
                               "memcpy_cold",
                               put_cold,
                               get_cold,
                               floor_memcpy_put_cold,
                               floor_memcpy_get_cold,
                               4096,
                               FLOOR_WARM_BYTES,
                               4};
    measure_words(&b);
    if (!b.opts.quick) measure_any(&b);
    measure_sweep(&b, &warm);
    if (!b.opts.quick) measure_sweep(&b, &flood);
    if (!b.opts.quick) measure_sweep(&b, &cold);
  }
  bench_finish(&b);
}
