/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a client with threads: rates of several threads of rank 0 towards rank 1, and round
 * trips to a rank whose threads all wait in GASNET_BLOCKUNTIL.
 *
 * Owns: the threads rows. Run by hand: tombolo run -n 2 build/bench/tombolo-bench-threads; ranks
 * must not be bound, so that their threads have all processors. Calls: bench/lib, the public API. A
 * figure is the time of one operation, of all threads together. Beside it stands the processor time
 * that the rank's threads use for one: of rank 0, for round trips of rank 1. It is the better
 * measure on a machine that does other work. Samples of all thread counts alternate. The start and
 * the end of the threads are no part of a rate; samples are long, because the first operations of
 * a sample wake threads and the receiver.
 */
/* mode: PAR */
#include "lib/bench.h"

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { H_ASK = 200, H_ANSWER, H_COUNT, H_MEDIUM, H_END };
enum { THREADS_MAX = 16, COUNTS = 5, KINDS = 8, OPS = 1000000, TRIPS = 200000 };
enum { SLOT_BYTES = 256 };

static const int thread_counts[COUNTS] = {1, 2, 4, 8, 16};
static const int waiter_counts[] = {1, 2, 3, 4};

static struct bench b;
static gex_AD_t domain;
static volatile uint64_t replies; /* of round trips, at rank 0 */
static uint64_t counted;          /* messages handled at rank 1; atomic */
static uint64_t ended;            /* samples that rank 0 has ended; atomic */

static void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void on_answer(gex_Token_t token) {
  (void)token;
  replies++;
}

static void on_count(gex_Token_t token) {
  (void)token;
  __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
}

static void on_medium(gex_Token_t token, void *payload, size_t bytes) {
  (void)payload, (void)bytes;
  on_count(token);
}

static void on_end(gex_Token_t token) {
  (void)token;
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
}

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---- rates */

static pthread_barrier_t meets;

/* One thread of rank 0. */
struct worker {
  void (*run)(const struct worker *w);
  int index;
  size_t n;
  uint64_t begin_ns, end_ns; /* when it has run */
};

/* Of rank 1's memory, this thread's part. */
static char *slot_of(const struct worker *w) {
  return b.theirs_at + w->index * SLOT_BYTES;
}

static void send_messages(const struct worker *w) {
  for (size_t i = 0; i < w->n; i++) gex_AM_RequestShort(b.tm, b.peer, H_COUNT, 0);
}

static void send_puts(const struct worker *w) {
  uint64_t value[8] = {(uint64_t)w->index};
  const size_t bytes = sizeof value - (w->n == 0); /* not known to the compiler */
  for (size_t i = 0; i < w->n; i++)
    (void)gex_RMA_PutNBI(b.tm, b.peer, slot_of(w), value, bytes, GEX_EVENT_NOW, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}

/* Words whose size the compiler does not know; the copies are what a program would write. */
static volatile size_t word_bytes = sizeof(uint64_t);

static void put_words(const struct worker *w) {
  const gex_TM_t tm = b.tm;
  const gex_Rank_t peer = b.peer;
  const uint64_t value = (uint64_t)w->index;
  const size_t bytes = word_bytes, n = w->n;
  char *const to = slot_of(w);
  for (size_t i = 0; i < n; i++)
    (void)gex_RMA_PutBlocking(tm, peer, to + i % 8 * 8, &value, bytes, 0);
}

static void get_words(const struct worker *w) {
  const gex_TM_t tm = b.tm;
  const gex_Rank_t peer = b.peer;
  uint64_t value[8];
  const size_t bytes = word_bytes, n = w->n;
  char *const from = slot_of(w);
  for (size_t i = 0; i < n; i++)
    (void)gex_RMA_GetBlocking(tm, &value[i % 8], peer, from + i % 8 * 8, bytes, 0);
}

static void copy_words(const struct worker *w) {
  const uint64_t value = (uint64_t)w->index;
  const size_t bytes = word_bytes, n = w->n;
  char *const to = b.theirs + (size_t)w->index * SLOT_BYTES;
  for (size_t i = 0; i < n; i++) {
    memcpy(to + i % 8 * 8, &value, bytes);
    bench_fence();
  }
}

static void send_atomics(const struct worker *w) {
  for (size_t i = 0; i < w->n; i++) {
    uint64_t before;
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, b.peer, slot_of(w), GEX_OP_FADD, 1, 0, 0));
  }
}

static void send_signals(const struct worker *w) {
  const uint64_t value = 1;
  uint64_t *const signal = (uint64_t *)(void *)(slot_of(w) + SLOT_BYTES / 2);
  for (size_t i = 0; i < w->n; i++)
    gexx_RMA_PutSignalBlocking(b.tm, b.peer, slot_of(w), &value, sizeof value, GEX_EVENT_NOW,
                               signal, GEXX_SIG_ADD, 1, 0);
}

static void send_medium(const struct worker *w) {
  char payload[64] = {0};
  for (size_t i = 0; i < w->n; i++)
    gex_AM_RequestMedium(b.tm, b.peer, H_MEDIUM, payload, sizeof payload, GEX_EVENT_NOW, 0);
}

static void *thread_main(void *arg) {
  struct worker *w = arg;
  pthread_barrier_wait(&meets);
  w->begin_ns = bench_now_ns();
  w->run(w);
  w->end_ns = bench_now_ns();
  pthread_barrier_wait(&meets); /* a thread that ends takes time from the others */
  return NULL;
}

/* Run on `threads` threads, of which the caller is one, once all are there. The time is from the
 * first one's begin to the last one's end. */
static void together(void (*run)(const struct worker *w), int threads, size_t n, double *ns,
                     double *cpu) {
  pthread_t thread[THREADS_MAX];
  struct worker w[THREADS_MAX];
  pthread_barrier_init(&meets, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++)
    w[i] = (struct worker){.run = run, .index = i, .n = n / (size_t)threads};
  for (int i = 1; i < threads; i++)
    if (pthread_create(&thread[i], NULL, thread_main, &w[i]) != 0) bench_fail(&b, "no thread");
  const double before = cpu_ns();
  thread_main(&w[0]);
  uint64_t begin = w[0].begin_ns, end = w[0].end_ns;
  for (int i = 1; i < threads; i++) {
    pthread_join(thread[i], NULL);
    if (w[i].begin_ns < begin) begin = w[i].begin_ns;
    if (w[i].end_ns > end) end = w[i].end_ns;
  }
  *ns = (double)(end - begin) / (double)n;
  *cpu = (cpu_ns() - before) / (double)n;
  pthread_barrier_destroy(&meets);
}

static double wall[KINDS + 1][COUNTS][BENCH_RUNS_MAX], used[KINDS + 1][COUNTS][BENCH_RUNS_MAX];

/* Rank 0 does `run`; rank 1 makes progress until it hears that it has ended. */
static void rate_sample(void (*run)(const struct worker *w), int threads, size_t n, double *ns,
                        double *cpu) {
  static uint64_t samples;
  samples++;
  bench_barrier(&b);
  if (b.rank == 1) {
    GASNET_BLOCKUNTIL(__atomic_load_n(&ended, __ATOMIC_ACQUIRE) == samples);
    return;
  }
  together(run, threads, n, ns, cpu);
  gex_AM_RequestShort(b.tm, b.peer, H_END, 0);
}

static void report(const char *name, int threads, const double *ns, const double *cpu) {
  char text[48];
  snprintf(text, sizeof text, "%s_%d", name, threads);
  const struct bench_row row = {.group = "threads", .name = text, .floor_name = "cpu-time"};
  bench_report(&b, &row, "ns", ns, cpu, b.opts.runs);
}

static void measure_rates(void) {
  static const struct {
    const char *name;
    void (*run)(const struct worker *w);
  } kinds[KINDS] = {{"message", send_messages}, {"medium_64", send_medium}, {"put_64", send_puts},
                    {"atomic", send_atomics},   {"signal", send_signals},   {"put_word", put_words},
                    {"get_word", get_words},    {"copy_word", copy_words}};
  const size_t less = b.opts.quick ? 10 : 1;
  for (int r = 0; r < b.opts.runs; r++)
    for (int k = 0; k < KINDS; k++)
      for (int c = 0; c < COUNTS; c++)
        rate_sample(kinds[k].run, thread_counts[c], OPS / less, &wall[k][c][r], &used[k][c][r]);
  for (int k = 0; k < KINDS; k++)
    for (int c = 0; c < COUNTS; c++)
      report(kinds[k].name, thread_counts[c], wall[k][c], used[k][c]);
}

/* ---- round trips */

static void *wait_for_end(void *arg) {
  const uint64_t sample = *(const uint64_t *)arg;
  GASNET_BLOCKUNTIL(__atomic_load_n(&ended, __ATOMIC_ACQUIRE) >= sample);
  return NULL;
}

/* Rank 0 asks; all of rank 1's threads wait for the end of the sample, and one of them answers. */
static void trip_sample(int waiters, uint64_t sample, size_t trips, double *ns, double *cpu) {
  pthread_t thread[THREADS_MAX];
  bench_barrier(&b);
  if (b.rank == 1) {
    const double before = cpu_ns();
    for (int i = 1; i < waiters; i++)
      if (pthread_create(&thread[i], NULL, wait_for_end, &sample) != 0) bench_fail(&b, "no thread");
    wait_for_end(&sample);
    for (int i = 1; i < waiters; i++) pthread_join(thread[i], NULL);
    b.shared->result[2].value = (uint64_t)(cpu_ns() - before);
  } else {
    const uint64_t start = bench_now_ns();
    for (size_t i = 0; i < trips; i++) {
      const uint64_t next = replies + 1;
      gex_AM_RequestShort(b.tm, b.peer, H_ASK, 0);
      GASNET_BLOCKUNTIL(replies == next);
    }
    *ns = (double)(bench_now_ns() - start) / (double)trips;
    gex_AM_RequestShort(b.tm, b.peer, H_END, 0);
  }
  bench_barrier(&b);
  if (b.rank == 0) *cpu = (double)b.shared->result[2].value / (double)trips;
}

static void measure_trips(void) {
  static uint64_t sample;
  const size_t trips = b.opts.quick ? TRIPS / 40 : TRIPS;
  const int many = (int)(sizeof waiter_counts / sizeof *waiter_counts);
  sample = __atomic_load_n(&ended, __ATOMIC_ACQUIRE); /* rank 0 hears of none, and needs none */
  bench_barrier(&b);
  for (int r = 0; r < b.opts.runs; r++)
    for (int c = 0; c < many; c++)
      trip_sample(waiter_counts[c], ++sample, trips, &wall[KINDS][c][r], &used[KINDS][c][r]);
  for (int c = 0; c < many; c++)
    report("pingpong_1", waiter_counts[c], wall[KINDS][c], used[KINDS][c]);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t handlers[] = {
      {H_ASK, on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {H_ANSWER, on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
      {H_COUNT, on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "count"},
      {H_MEDIUM, on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "medium"},
      {H_END, on_end, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "end"},
  };
  bench_start(&b, "threads", &argc, &argv);
  bench_attach(&b, handlers, sizeof handlers / sizeof *handlers, 1 << 16);
  if (b.size != 2) bench_fail(&b, "needs 2 ranks");
  gex_AD_Create(&domain, b.tm, GEX_DT_U64, GEX_OP_FADD, 0);
  if (strcmp(b.opts.mode, "trips") != 0) measure_rates();
  if (strcmp(b.opts.mode, "rates") != 0) measure_trips();
  gex_AD_Destroy(domain);
  bench_finish(&b);
}
