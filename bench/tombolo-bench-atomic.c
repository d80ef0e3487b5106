/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures remote atomics beside the processor's own on one word of rank 0's segment.
 *
 * Owns: the atomic rows. Called by: `tombolo bench atomic`. Calls: bench/lib, the public API.
 * Contended rows: ranks 0 and 1 operate at once on one word. Floors: a lock-prefixed add for
 * integers, a bare compare-and-swap loop for floating point. The target of 1.11 is a rate of 0.9 of
 * the floor's.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#include <gasnet_ratomic.h>

#include <string.h>

static gex_AD_t ints, reals;
static volatile uint64_t sink;

/* The words that all operate on: of integers and of floating point. */
static uint64_t *word(struct bench *b, bool real) {
  return real ? &b->shared->result[13].value : &b->shared->sum.value;
}

/* The address of the word in the owner's space. */
static void *target(struct bench *b, bool real) {
  void *owner = NULL, *local = NULL;
  if (gex_Segment_QueryBound(b->tm, 0, &owner, &local, NULL))
    bench_fail(b, "rank 0 has no segment");
  return (char *)owner + ((char *)word(b, real) - (char *)local);
}

/* A figure: an operation on a word of the other rank; `old` is what it fetches. */
#define FIGURE(NAME, AD, REAL, TYPE, OPERATION)                \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  const gex_AD_t ad = AD;                                      \
  void *const at = target(b, REAL);                            \
  TYPE old = 0;                                                \
  (void)bytes;                                                 \
  BENCH_TIMED(n, (void)OPERATION; sink = (uint64_t)old);       \
 }
static volatile gex_OP_t chosen = GEX_OP_FADD; /* the compiler does not know it */
FIGURE(fadd, ints, false, uint64_t, gex_AD_OpNBI_U64(ad, &old, 0, at, GEX_OP_FADD, 1, 0, 0))
FIGURE(fadd_chosen, ints, false, uint64_t, gex_AD_OpNBI_U64(ad, &old, 0, at, chosen, 1, 0, 0))
FIGURE(fadd_real, reals, true, double, gex_AD_OpNBI_DBL(ad, &old, 0, at, GEX_OP_FADD, 1, 0, 0))

static double add(struct bench *b, size_t n, size_t bytes) {
  const gex_AD_t ad = ints;
  void *const at = target(b, false);
  (void)bytes;
  BENCH_TIMED(n, (void)gex_AD_OpNBI_U64(ad, NULL, 0, at, GEX_OP_ADD, 1, 0, 0));
}

static double raw_fadd(struct bench *b, size_t n, size_t bytes) {
  uint64_t *const at = word(b, false);
  (void)bytes;
  BENCH_TIMED(n, sink = __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST));
}

static double raw_real(struct bench *b, size_t n, size_t bytes) {
  uint64_t *const at = word(b, true);
  uint64_t seen, want;
  double value = 0;
  (void)bytes;
  BENCH_TIMED(
      n, seen = __atomic_load_n(at, __ATOMIC_RELAXED); do {
        memcpy(&value, &seen, sizeof value);
        value += 1;
        memcpy(&want, &value, sizeof want);
      } while (!__atomic_compare_exchange_n(at, &seen, want, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)));
}

/* A figure of both ranks at once. */
#define TOGETHER(name)                                                \
 static double name##_both(struct bench *b, size_t n, size_t bytes) { \
  bench_meet(b);                                                      \
  return name(b, n, bytes);                                           \
 }
TOGETHER(fadd)
TOGETHER(add)
TOGETHER(fadd_real)
TOGETHER(raw_fadd)
TOGETHER(raw_real)

int main(int argc, char **argv) {
  static struct bench b;
  const struct bench_row rows[] = {
      {.name = "fadd_contended",
       .figure = fadd_both,
       .floor = raw_fadd_both,
       .floor_name = "fetch_add",
       .target = 1.11},
      {.name = "fadd", .figure = fadd, .floor = raw_fadd, .floor_name = "fetch_add", .alone = true},
      {.name = "add_contended",
       .figure = add_both,
       .floor = floor_add_contended,
       .floor_name = "lock_add"},
      {.name = "fadd_runtime_op",
       .figure = fadd_chosen,
       .floor = raw_fadd,
       .floor_name = "fetch_add",
       .alone = true},
      {.name = "fadd_double",
       .figure = fadd_real,
       .floor = raw_real,
       .floor_name = "cas_loop",
       .alone = true},
      {.name = "fadd_double_contended",
       .figure = fadd_real_both,
       .floor = raw_real_both,
       .floor_name = "cas_loop"},
  };
  bench_start(&b, "atomic", &argc, &argv);
  bench_attach(&b, NULL, 0, 4096);
  gex_AD_Create(&ints, b.tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD, 0);
  gex_AD_Create(&reals, b.tm, GEX_DT_DBL, GEX_OP_FADD, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct bench_row row = rows[i];
    row.group = "atomic";
    bench_measure(&b, &row);
  }
  bench_finish(&b);
}
