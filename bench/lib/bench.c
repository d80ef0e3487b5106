/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up, sampling and reports of the measuring programs; see bench.h for the protocol.
 *
 * Owns: the lock-step of ranks 0 and 1. Called by: bench/tombolo-bench-*.c. Calls: the public API.
 * Invariants: rank 1 learns from rank 0, through the shared head, which function to run next and
 * how often, so that only rank 0 decides when a figure has been measured well enough.
 */
#include "lib/bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gasnet_coll.h>

/* Polls before the processor is offered to others: a busy machine takes it for milliseconds then.
 */
#define MEET_SPINS 300000u

/* Handler of the messages by which far ranks meet. */
#define H_MEET     255

/* Report of the peer at its meeting k, at [k % 2]: it is at most one ahead. */
static struct { volatile uint64_t meets, command, count; } said[2];

/* Command of rank 0 for the next meeting. */
static uint64_t say_command, say_count;

/* Of a calibration; times are in lengths of a sample. */
enum { WARM_SAMPLES = 8, LEAST_OF = 3, LONG_SAMPLES = 100 };
enum command { COMMAND_END, COMMAND_FIGURE, COMMAND_FLOOR };

uint64_t bench_now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static double loops_per_ns;

/* One copy of the loop, so that the measured code is the code that runs. */
static __attribute__((noinline)) void spin_loops(uint64_t loops) {
  for (uint64_t i = 0; i < loops; i++) __asm__ volatile("" ::: "memory");
}

void bench_calibrate(void) {
  const uint64_t loops = 200000; /* shorter than a time slice: other processes run here too */
  uint64_t best = UINT64_MAX;
  for (int k = 0; k < 100; k++) {
    const uint64_t start = bench_now_ns();
    spin_loops(loops);
    const uint64_t took = bench_now_ns() - start;
    if (took < best) best = took;
  }
  loops_per_ns = (double)loops / (double)best;
}

void bench_compute(double ns) {
  spin_loops((uint64_t)(ns * loops_per_ns));
}

void bench_fail(struct bench *b, const char *format, ...) {
  va_list args;
  fprintf(stderr, "tombolo-bench: rank %u: ", (unsigned)b->rank);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  gasnet_exit(1);
}

static double number_or_fail(struct bench *b, const char *option, const char *text, double least,
                             double most) {
  char *end = NULL;
  const double value = text ? strtod(text, &end) : 0;
  if (!text || end == text || *end || value < least || value > most)
    bench_fail(b, "%s '%s': give a number from %g to %g", option, text ? text : "", least, most);
  return value;
}

static void help(const struct bench *b, const char *program) {
  if (b->rank == 0)
    printf(
        "Usage: tombolo run -n RANKS tombolo-bench-%s [OPTION...]\n"
        "Measures figures beside their floors, for 'tombolo bench', which makes a table of them.\n"
        "\n"
        "  --quick         measure a short subset\n"
        "  --runs N        samples of each figure, 3 to %d (default 101)\n"
        "  --sample-us US  length of one sample in microseconds (default 100)\n"
        "  --mode MODE     a choice of the program, see docs/BENCHMARKS.md (default: none)\n"
        "  --help          print this text\n",
        program, BENCH_RUNS_MAX);
  gasnet_exit(0);
}

static void parse_options(struct bench *b, const char *program, int argc, char **argv) {
  b->opts.runs = 101;
  b->opts.sample_ns = 100e3;
  b->opts.mode = "";
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--help") == 0) help(b, program);
    if (strcmp(argv[i], "--quick") == 0) {
      b->opts.quick = true;
      continue;
    }
    if (strcmp(argv[i], "--runs") == 0)
      b->opts.runs = (int)number_or_fail(b, argv[i], value, 3, BENCH_RUNS_MAX);
    else if (strcmp(argv[i], "--sample-us") == 0)
      b->opts.sample_ns = 1000 * number_or_fail(b, argv[i], value, 1, 1e6);
    else if (strcmp(argv[i], "--mode") == 0 && value)
      b->opts.mode = value;
    else
      bench_fail(b, "unknown option '%s': see tombolo-bench-%s --help", argv[i], program);
    i++;
  }
}

void bench_start(struct bench *b, const char *program, int *argc, char ***argv) {
  memset(b, 0, sizeof *b);
  const int rc = gex_Client_Init(&b->client, &b->ep, &b->tm, "BENCH", argc, argv, 0);
  if (rc != GASNET_OK) {
    fprintf(stderr, "tombolo-bench: gex_Client_Init: %s\n", gasnet_ErrorDesc(rc));
    exit(1);
  }
  b->rank = gex_TM_QueryRank(b->tm);
  b->size = gex_TM_QuerySize(b->tm);
  b->peer = b->rank ^ 1;
  parse_options(b, program, *argc, *argv);
  if (b->rank == 0)
    printf("tombolo-bench 1 %s ranks=%u runs=%d sample_us=%g quick=%d\n", program,
           (unsigned)b->size, b->opts.runs, b->opts.sample_ns / 1000, b->opts.quick);
}

/* Where the segment of `rank` lies here; fails if it is not mapped. */
static char *mapped_segment(struct bench *b, gex_Rank_t rank, char **owner_address) {
  void *owner = NULL, *local = NULL;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b->tm, rank, &owner, &local, &size, 0));
  if (!local || !size)
    bench_fail(b,
               "the segment of rank %u is not mapped here: run on one host, without settings "
               "that switch shared memory off",
               (unsigned)rank);
  if (owner_address) *owner_address = owner;
  return local;
}

/* Whether each of two ranks has the other's segment mapped; both get one answer. */
static bool is_mapped(struct bench *b) {
  void *local = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b->tm, b->peer, NULL, &local, NULL, 0));
  int32_t mine = local != NULL, both = 0;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(b->tm, &both, &mine, GEX_DT_I32, sizeof mine, 1, GEX_OP_MIN,
                                        NULL, NULL, 0));
  return both != 0;
}

static void on_meet(gex_Token_t token, gex_AM_Arg_t meets, gex_AM_Arg_t command, gex_AM_Arg_t low,
                    gex_AM_Arg_t high) {
  const uint32_t number = (uint32_t)meets;
  (void)token;
  said[number % 2].command = (uint32_t)command;
  said[number % 2].count = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  said[number % 2].meets = number;
}

/* The address of the peer's segment, and without shared memory nothing else. */
static void find_far(struct bench *b) {
  void *owner = NULL;
  uintptr_t size = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b->tm, b->peer, &owner, NULL, &size, 0));
  b->theirs_at = (char *)owner + BENCH_CONTROL_BYTES;
}

void bench_attach(struct bench *b, gex_AM_Entry_t *handlers, size_t count, size_t data_bytes) {
  gex_Segment_t segment;
  const size_t bytes = BENCH_CONTROL_BYTES + data_bytes;
  if (b->size < 2) bench_fail(b, "at least 2 ranks are needed: tombolo run -n 2");
  if (count && gex_EP_RegisterHandlers(b->ep, handlers, count) != GASNET_OK)
    bench_fail(b, "gex_EP_RegisterHandlers failed");
  gex_AM_Entry_t meet = {
      H_MEET, (gex_AM_Fn_t)on_meet, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4, NULL, "meet"};
  if ((b->far || b->apart) && gex_EP_RegisterHandlers(b->ep, &meet, 1) != GASNET_OK)
    bench_fail(b, "gex_EP_RegisterHandlers failed");
  const int rc = gex_Segment_Attach(&segment, b->tm, bytes);
  if (rc != GASNET_OK)
    bench_fail(b, "gex_Segment_Attach of %zu bytes: %s (limit %zu)", bytes, gasnet_ErrorDesc(rc),
               (size_t)gasnet_getMaxLocalSegmentSize());
  _Static_assert(sizeof(struct bench_shared) <= BENCH_CONTROL_BYTES, "control bytes too few");
  b->mine = (char *)gex_Segment_QueryAddr(segment) + BENCH_CONTROL_BYTES;
  b->bytes = data_bytes;
  if (b->apart && b->size > 2) return;
  if (b->apart) b->far = !is_mapped(b);
  if (b->far) {
    if (b->rank < 2) find_far(b);
    bench_barrier(b);
    return;
  }
  b->shared = (struct bench_shared *)(void *)mapped_segment(b, 0, NULL);
  if (b->rank < 2) {
    b->theirs = mapped_segment(b, b->peer, &b->theirs_at) + BENCH_CONTROL_BYTES;
    b->theirs_at += BENCH_CONTROL_BYTES;
  }
  bench_barrier(b);
}

void bench_finish(struct bench *b) {
  if (b->rank == 0) {
    printf("end %d\n", b->figures);
    fflush(stdout);
  }
  bench_barrier(b);
  gasnet_exit(0);
}

void bench_barrier(struct bench *b) {
  gex_Coll_BarrierBlocking(b->tm, 0);
}

static void meet_far(struct bench *b, uint64_t now) {
  gex_AM_RequestShort(b->tm, b->peer, H_MEET, 0, (gex_AM_Arg_t)(uint32_t)now,
                      (gex_AM_Arg_t)say_command, (gex_AM_Arg_t)(uint32_t)say_count,
                      (gex_AM_Arg_t)(say_count >> 32));
  GASNET_BLOCKUNTIL(said[now % 2].meets == (uint32_t)now);
}

void bench_meet(struct bench *b) {
  const uint64_t now = ++b->meets;
  if (b->far) {
    meet_far(b, now);
    return;
  }
  __atomic_store_n(&b->shared->meet[b->rank].value, now, __ATOMIC_RELEASE);
  for (unsigned spins = 0; __atomic_load_n(&b->shared->meet[b->peer].value, __ATOMIC_ACQUIRE) < now;
       spins++)
    if (spins > MEET_SPINS) sched_yield();
}

/* Rank 0: meet, and give the next command. */
static void command(struct bench *b, enum command order, size_t n) {
  say_command = order;
  say_count = n;
  if (!b->far) {
    b->shared->command.value = order;
    b->shared->count.value = n;
  }
  bench_meet(b);
}

/* Rank 1: meet, and read the order. Returns the command; out n: of how many operations. */
static enum command obey(struct bench *b, size_t *n) {
  bench_meet(b);
  *n = b->far ? said[b->meets % 2].count : b->shared->count.value;
  return (enum command)(b->far ? said[b->meets % 2].command : b->shared->command.value);
}

/* Run one sample on this rank, and on rank 1 if it takes part. */
static double sample(struct bench *b, const struct bench_row *row, enum command order, size_t n) {
  bench_fn *fn = order == COMMAND_FLOOR ? row->floor : row->figure;
  if (!row->alone) command(b, order, n);
  return fn(b, n, row->bytes);
}

/* Rank 1's side of all samples of a row. */
static void follow(struct bench *b, const struct bench_row *row) {
  for (;;) {
    size_t n = 0;
    const enum command order = obey(b, &n);
    if (order == COMMAND_END) return;
    (void)(order == COMMAND_FLOOR ? row->floor : row->figure)(b, n, row->bytes);
  }
}

/* Runs a row for as long as WARM_SAMPLES samples: memory that is touched for the first time would
 * else look like the row's own cost. */
static void warm(struct bench *b, const struct bench_row *row, enum command order) {
  double spent = 0;
  for (size_t n = 1; spent < WARM_SAMPLES * b->opts.sample_ns && n < (size_t)1 << 30; n *= 2)
    spent += sample(b, row, order, n) * (double)n;
}

/* Time of n operations, the least of a few samples: one in which the system took the processor away
 * would leave too few operations in each sample. Long ones are not repeated. */
static double total_of(struct bench *b, const struct bench_row *row, enum command order, size_t n) {
  double least = sample(b, row, order, n) * (double)n;
  for (int i = 1; i < LEAST_OF && least < LONG_SAMPLES * b->opts.sample_ns; i++) {
    const double total = sample(b, row, order, n) * (double)n;
    if (total < least) least = total;
  }
  return least;
}

/* Operations that take about opts.sample_ns. */
static size_t calibrate(struct bench *b, const struct bench_row *row, enum command order) {
  size_t n = 1;
  if (row->count) return row->count;
  warm(b, row, order);
  for (;;) {
    const double total = total_of(b, row, order, n);
    if (total >= b->opts.sample_ns / 3 || n >= (size_t)1 << 30) {
      const double scaled = (double)n * b->opts.sample_ns / (total > 1 ? total : 1);
      return scaled < 1 ? 1 : (size_t)scaled;
    }
    n *= total < b->opts.sample_ns / 30 ? 8 : 2;
  }
}

static void print_samples(char tag, const double *values, int runs) {
  putchar(tag);
  for (int i = 0; i < runs; i++) printf(" %.6g", values[i]);
  putchar('\n');
}

void bench_report(struct bench *b, const struct bench_row *row, const char *unit,
                  const double *figure, const double *floor, int runs) {
  if (b->rank != 0) return;
  printf("figure %s %s bytes=%zu unit=%s", row->group, row->name, row->bytes, unit);
  if (floor) printf(" floor=%s", row->floor_name);
  if (row->target > 0) printf(" target=%g", row->target);
  printf(" better=%s\n", row->bandwidth ? "more" : "less");
  print_samples('x', figure, runs);
  if (floor) print_samples('f', floor, runs);
  fflush(stdout);
  b->figures++;
}

void bench_measure(struct bench *b, const struct bench_row *row) {
  const int runs = row->runs ? row->runs : b->opts.runs;
  bench_barrier(b);
  if (b->rank == 1 && !row->alone) follow(b, row);
  if (b->rank == 0) {
    double *figure = calloc(2 * (size_t)runs, sizeof *figure);
    double *floor = figure + runs;
    if (!figure) bench_fail(b, "no memory for %d samples", runs);
    const size_t floor_ops = row->floor ? calibrate(b, row, COMMAND_FLOOR) : 0;
    const size_t ops = calibrate(b, row, COMMAND_FIGURE);
    for (int i = 0; i < runs; i++) {
      if (row->floor) floor[i] = sample(b, row, COMMAND_FLOOR, floor_ops);
      figure[i] = sample(b, row, COMMAND_FIGURE, ops);
    }
    if (!row->alone) command(b, COMMAND_END, 0);
    bench_report(b, row, "ns", figure, row->floor ? floor : NULL, runs);
    free(figure);
  }
  bench_barrier(b);
}
