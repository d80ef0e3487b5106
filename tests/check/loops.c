/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of loads and stores in a segment, for tests/check/slowdown.py: with `--check` and without.
 *
 * Usage: loops [N SWEEPS ROUNDS [NAME]]. Each function loop_NAME makes SWEEPS sweeps over about N
 * words, with a barrier after each, so that the checker meets each word anew in each sweep. Prints
 * `loop NAME ELEMENTS NS`: processor time of one element, the least of the rounds. Run with one
 * rank, which is the peer of put, get, add and message, too. `threads` is the last loop: lines have
 * no runs once there were threads.
 */
#include <float.h>
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOP static __attribute__((noinline)) long

static gex_TM_t tm;
static double *x, *y;
static long *list;
static long n, sweeps, side;

static void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

LOOP loop_daxpy(void) {
  const double *const from = x;
  double *const to = y;
  const long count = n;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < count; i++) to[i] += 1e-9 * from[i];
    barrier();
  }
  return sweeps * count;
}

LOOP loop_sum(void) {
  const double *const from = x;
  const long count = n;
  double sum = 0;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < count; i++) sum += from[i];
    barrier();
  }
  y[0] = sum;
  return sweeps * count;
}

LOOP loop_stencil(void) {
  const long w = side;
  double *from = x, *to = y;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 1; i < w - 1; i++)
      for (long k = 1; k < w - 1; k++) {
        const double *const at = from + i * w + k;
        to[i * w + k] = 0.25 * (at[-1] + at[1] + at[-w] + at[w]) - 0.01 * *at;
      }
    barrier();
    double *const other = from;
    from = to;
    to = other;
  }
  return sweeps * (w - 2) * (w - 2);
}

LOOP loop_gather(void) {
  const double *const from = x;
  double *const to = y;
  const long *const at = list;
  const long count = n;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < count; i++) to[i] = from[at[i]];
    barrier();
  }
  return sweeps * count;
}

LOOP loop_chase(void) {
  const long *const next = list;
  const long count = n;
  long at = 0;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < count; i++) at = next[at];
    barrier();
  }
  y[0] = (double)at;
  return sweeps * count;
}

/* The words are few, so that most are met again before the next barrier. */
LOOP loop_count(void) {
  const long *const at = list;
  long *const words = (long *)(void *)y;
  const long count = n;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < count; i++) words[at[i] & 1023]++;
    barrier();
  }
  return sweeps * count;
}

/* The compiler vectorises it without `--check`. */
LOOP loop_product(void) {
  enum { M = 64 };
  const double(*restrict const a)[M] = (void *)x, (*restrict const b)[M] = (void *)(x + M * M);
  double(*restrict const c)[M] = (void *)y;
  const long times = n / M / M / 4 ? n / M / M / 4 : 1;
  for (long s = 0; s < times; s++) {
    for (int i = 0; i < M; i++)
      for (int k = 0; k < M; k++) {
        const double factor = 1e-9 * a[i][k];
        for (int j = 0; j < M; j++) c[i][j] += factor * b[k][j];
      }
    barrier();
  }
  return times * M * M * M;
}

/* ---- operations on words of a rank, in an order that caches do not like */

#define STRIDE 7919L
static gex_AD_t ad;

LOOP loop_put(void) {
  double value = 3;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < n; i++)
      gex_RMA_PutBlocking(tm, 0, x + i * STRIDE % n, &value, sizeof value, 0);
    barrier();
  }
  return sweeps * n;
}

LOOP loop_get(void) {
  double value = 0;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < n; i++)
      gex_RMA_GetBlocking(tm, &value, 0, x + i * STRIDE % n, sizeof value, 0);
    barrier();
  }
  return sweeps * n;
}

LOOP loop_add(void) {
  uint64_t *const words = (uint64_t *)(void *)y, old;
  for (long s = 0; s < sweeps; s++) {
    for (long i = 0; i < n; i++)
      gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, words + i * STRIDE % n, GEX_OP_FADD, 1, 0, 0));
    barrier();
  }
  return sweeps * n;
}

static long messages;
static void on_message(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  messages += value;
}
LOOP loop_message(void) {
  const long before = messages, count = n / 16;
  for (long i = 0; i < count; i++) gex_AM_RequestShort1(tm, 0, 200, 0, 1);
  GASNET_BLOCKUNTIL(messages == before + count);
  barrier();
  return count;
}

/* ---- two threads */

static pthread_barrier_t both;

static inline __attribute__((always_inline)) void half(long from) {
  const double *const a = x;
  double *const b = y;
  const long to = from + n / 2;
  for (long s = 0; s < sweeps; s++) {
    for (long i = from; i < to; i++) b[i] += 1e-9 * a[i];
    pthread_barrier_wait(&both);
  }
}

static __attribute__((noinline)) void *loop_half(void *arg) {
  half(n / 2);
  return arg;
}

LOOP loop_threads(void) {
  pthread_t other;
  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&other, NULL, loop_half, NULL) != 0) gasnet_exit(1);
  half(0);
  pthread_join(other, NULL);
  pthread_barrier_destroy(&both);
  return sweeps * (n / 2 * 2);
}

/* Called after each round: where an instruction counter writes its file. */
__attribute__((noinline)) void loops_end(void);
void loops_end(void) {
  __asm__ volatile("" ::: "memory");
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* `list` is one cycle through all words, in random order (S. Sattolo, 1986). */
static void shuffle(void) {
  uint64_t random = 1;
  for (long i = 0; i < n; i++) list[i] = i;
  for (long i = n - 1; i > 0; i--) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const long k = (long)((random >> 33) % (uint64_t)i), was = list[i];
    list[i] = list[k];
    list[k] = was;
  }
}

static void run(const char *name, long (*loop)(void), int rounds) {
  double least = DBL_MAX;
  long elements = 0;
  for (int r = 0; r < rounds; r++) {
    const double begin = now_ns();
    elements = loop();
    const double ns = (now_ns() - begin) / (double)elements;
    if (ns < least) least = ns;
    loops_end();
  }
  printf("loop %s %ld %.3f\n", name, elements, least);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    long (*loop)(void);
  } all[] = {{"daxpy", loop_daxpy},     {"sum", loop_sum},         {"stencil", loop_stencil},
             {"gather", loop_gather},   {"chase", loop_chase},     {"count", loop_count},
             {"product", loop_product}, {"put", loop_put},         {"get", loop_get},
             {"add", loop_add},         {"message", loop_message}, {"threads", loop_threads}};
  gex_AM_Entry_t entry = {
      200, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, NULL};
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &tm, "LOOPS", &argc, &argv, 0) != GASNET_OK) return 1;
  n = argc > 1 ? atol(argv[1]) : 1L << 17;
  sweeps = argc > 2 ? atol(argv[2]) : 10;
  const int rounds = argc > 3 ? atoi(argv[3]) : 3;
  if (n < 8192 || sweeps < 1) gasnet_exit(2);
  while ((side + 1) * (side + 1) <= n) side++;
  const size_t bytes = (size_t)n * sizeof *x;
  if (gex_EP_RegisterHandlers(ep, &entry, 1) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, tm, 3 * bytes) != GASNET_OK) return 1;
  x = gex_Segment_QueryAddr(segment);
  y = x + n;
  list = (long *)(void *)(y + n);
  for (long i = 0; i < n; i++) x[i] = 1, y[i] = 2;
  shuffle();
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (argc < 5 || strcmp(argv[4], all[i].name) == 0) run(all[i].name, all[i].loop, rounds);
  gex_AD_Destroy(ad);
  barrier();
  gasnet_exit(0);
}
