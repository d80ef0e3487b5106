/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common parts of the measuring programs of `tombolo bench`: start-up, sampling, reports.
 *
 * Owns: struct bench, the sampling loop and the line protocol that tools/bench/bench.c reads.
 * Called by: bench/tombolo-bench-*.c. Calls: the public API, floors.h.
 * A figure is measured together with its floor: one sample of the floor, one of the figure, and so
 * on, on the same cores, so that noise of the machine meets both. A sample is the mean of enough
 * operations to last opts.sample_ns. Every sample is reported; the tool makes medians and ratios of
 * them. Protocol, on rank 0's standard output, one record a line, words separated by blanks:
 *
 * - tombolo-bench 1 PROGRAM key=value...: the first line
 * - figure GROUP NAME key=value...: keys bytes, unit (ns, us, bytes, count), floor, target, better
 * - x V V V...: samples of the figure, after its figure line
 * - f V V V...: samples of the floor; may be absent
 * - end COUNT: the last line, number of figures
 *
 * Invariants: ranks 0 and 1 measure, further ranks only take part in barriers.
 */
#ifndef TMB_BENCH_H
#define TMB_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gasnetex.h>

#define BENCH_CONTROL_BYTES ((size_t)1 << 20) /* head of each segment: struct bench_shared */
#define BENCH_LINE          64
#define BENCH_LINES         64    /* pairs of cache lines that hand-offs rotate over */
#define BENCH_RUNS_MAX      10000 /* most samples of one figure */
#define BENCH_WARM_OPS      24 /* untimed operations before the timed ones of a two-sided sample */

/* One word alone in its cache line. */
struct bench_word {
  _Alignas(BENCH_LINE) uint64_t value;
  char pad[BENCH_LINE - sizeof(uint64_t)];
};

/* Head of rank 0's segment, seen by rank 1 through its mapping. */
struct bench_shared {
  struct bench_word meet[2];               /* rank i counts its arrivals in word i */
  struct bench_word command, count;        /* command of rank 0, and number of operations */
  struct bench_word ping[BENCH_LINES * 2]; /* [0, LINES) written by rank 0, the rest by rank 1 */
  struct bench_word sum;                   /* target of atomic adds */
  struct bench_word futex[2];              /* low half: futex word of rank i */
  struct bench_word result[16];            /* results that rank 1 hands to rank 0 */
};

struct bench_opts {
  int runs;         /* samples of each figure */
  double sample_ns; /* length of one sample */
  bool quick;       /* a short subset */
  const char *mode; /* the program's own choice, "" if none */
};

struct bench {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Rank_t rank, size, peer; /* peer: the other of ranks 0 and 1 */
  char *mine;                  /* own segment after its control bytes */
  char *theirs;                /* the peer's, as mapped here; NULL if not mapped */
  char *theirs_at;             /* that address in the peer's address space */
  size_t bytes;                /* of both */
  struct bench_shared *shared; /* in rank 0's segment, as mapped here */
  uint64_t meets;              /* calls of bench_meet so far */
  uint64_t seq;                /* hand-offs so far */
  int figures;                 /* reported so far */
  bool apart; /* set before attach: ranks need not share memory. `shared` and `theirs` are NULL
                 with more than two; two that share none are far */
  bool far;   /* set before or by attach: ranks 0 and 1 share no memory and synchronise by
                 messages; `shared` and `theirs` are NULL */
  struct bench_opts opts;
};

/* One sample: perform `n` operations of `bytes` bytes; return ns per operation on rank 0. */
typedef double bench_fn(struct bench *b, size_t n, size_t bytes);

/* One line of the table. */
struct bench_row {
  const char *group, *name;
  const char *floor_name;
  bench_fn *figure, *floor; /* floor may be NULL */
  size_t bytes;
  double target;  /* 0: none */
  bool bandwidth; /* shown as bytes per second, target is the least share of the floor's */
  bool alone;     /* rank 0 measures by itself, rank 1 is in a barrier */
  int runs;       /* 0: opts.runs */
  size_t count;   /* operations of a sample; 0: as many as fill opts.sample_ns */
};

/* Start: parse options, initialise, register handlers, attach a segment of `data_bytes` after the
 * control bytes, print the first line. Ends the job with a message if ranks are too few or not
 * mapped. */
void bench_start(struct bench *b, const char *program, int *argc, char ***argv);
void bench_attach(struct bench *b, gex_AM_Entry_t *handlers, size_t count, size_t data_bytes);

/* Print the last line and end the job. */
_Noreturn void bench_finish(struct bench *b);

/* Measure one row; ranks 0 and 1 call alike. Starts and ends with a barrier of the job. */
void bench_measure(struct bench *b, const struct bench_row *row);

/* Report samples that a program gathered in its own way (rank 0; no effect elsewhere). */
void bench_report(struct bench *b, const struct bench_row *row, const char *unit,
                  const double *figure, const double *floor, int runs);

/* Ranks 0 and 1 wait for each other in shared memory, without the library; where they are far, by
 * messages. */
void bench_meet(struct bench *b);

/* Barrier of the job. */
void bench_barrier(struct bench *b);

/* Monotonic clock. */
uint64_t bench_now_ns(void);

/* Keep the processor busy for some time, without a clock; after bench_calibrate. */
void bench_calibrate(void);
void bench_compute(double ns);

/* Say why and end the job with code 1. */
_Noreturn void bench_fail(struct bench *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Keep the compiler from moving or dropping memory accesses. */
static inline void bench_fence(void) {
  __asm__ volatile("" ::: "memory");
}

/* Ends a figure: does `statement` n times, with the number of the time in i, and `behind` once.
 * Returns ns of one time. */
#define BENCH_TIMED_THEN(n, statement, behind)                    \
 do {                                                             \
  const uint64_t bench_start_ns = bench_now_ns();                 \
  for (size_t i = 0; i < (n); i++) {                              \
   statement;                                                     \
  }                                                               \
  behind;                                                         \
  return (double)(bench_now_ns() - bench_start_ns) / (double)(n); \
 } while (0)

#define BENCH_TIMED(n, statement) BENCH_TIMED_THEN(n, statement, )

/* Ends a figure that is repeated: BENCH_WARM_OPS times before the first timed one warm up. */
#define BENCH_TIMED_WARM(n, statement)                            \
 do {                                                             \
  uint64_t bench_start_ns = 0;                                    \
  for (size_t i = 0; i < (n) + BENCH_WARM_OPS; i++) {             \
   if (i == BENCH_WARM_OPS) bench_start_ns = bench_now_ns();      \
   statement;                                                     \
  }                                                               \
  return (double)(bench_now_ns() - bench_start_ns) / (double)(n); \
 } while (0)

#endif
