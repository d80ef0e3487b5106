/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures routines of OpenSHMEM between two PEs, each beside a floor: a copy or a hand-off by hand
 * through memory of shmem_ptr, or the same through the C interface. A copy of one word is a load
 * and a store, behind a test of a word in memory as in other benchmarks (copy8+test), or without;
 * one whose size the compiler does not know is memcpy.
 *
 * Owns: the samples. Run by `oshrun -np 2`. Calls: shmem.h, and the public interface as a second
 * client of the process. The lines that it prints are described in bench/lib/bench.h. A sample of
 * the floor comes before each of the figure. PE 0 measures; PE 1 answers where a row says so. Where
 * the PEs share no memory, all floors are those of the C interface.
 */
#define GASNET_PARSYNC 1
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <gasnetex_ext.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS_MAX = 1001 };
static int runs = 51, figures, me;
static double figure[RUNS_MAX], beside[RUNS_MAX];
/* Words that the peer writes, each in a cache line without words of this PE, as in the segments of
 * the second client. */
static _Alignas(64) long word;
static _Alignas(64) uint64_t signal_word;
static _Alignas(64) long hand_word;
static _Alignas(64) long *hand_there;
static long hand_turn;
static _Alignas(64) long value = 3;
static uint64_t turn, c_turn;
/* Sizes that the compiler does not know: elements, bytes. */
static volatile size_t one = 1, eleven = 11, thirteen_bytes = 13;
static int peer;      /* a PE that it does not know */
static long *here[2]; /* memory of each PE */

static gex_TM_t tm;
static gex_AD_t ad;
static char *mine,
    *theirs; /* segments of the second client; that of the peer as its owner sees it */

static double now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return 1e9 * (double)ts.tv_sec + (double)ts.tv_nsec;
}

/* Programs do other things between two calls: the compiler keeps nothing in registers. */
#define BETWEEN() __asm__ __volatile__("" : : : "memory")

/* A measurement of `count` operations, in ns for each. */
#define MEASURE(NAME, DO)            \
 static double NAME(int count) {     \
  const double start = now_ns();     \
  for (int i = 0; i < count; i++) {  \
   DO;                               \
   BETWEEN();                        \
  }                                  \
  return (now_ns() - start) / count; \
 }

/* Copies walk over WORDS words on both sides: the processor would forward a store to the next load
 * of one address. */
enum { WORDS = 64, MORE = 16 }; /* MORE: words of a transfer, at most */
static _Alignas(4096) long near_words[WORDS + MORE];
static long *far_words; /* of the symmetric heap */
static _Alignas(4096) long static_words[WORDS];
static long *far_here;
static volatile int test_word; /* 0: the copies are made */
#define NEAR (&near_words[i % WORDS])
#define FAR  (&far_words[i % WORDS])
#define HERE (&far_here[i % WORDS])
#define OWN  (&static_words[i % WORDS])

MEASURE(put, shmem_long_put(FAR, NEAR, 1, 1))
MEASURE(get, shmem_long_get(NEAR, FAR, 1, 1))
MEASURE(put_p, shmem_long_p(FAR, *NEAR, 1))
MEASURE(get_g, *NEAR = shmem_long_g(FAR, 1))
MEASURE(put_any, shmem_long_put(FAR, NEAR, 1, peer))
MEASURE(get_any, shmem_long_get(NEAR, FAR, 1, peer))
/* The call of a test that fails, with the arguments of a put. */
static __attribute__((noinline, cold)) void refuse(const void *to, const void *from, int pe) {
  fprintf(stderr, "tombolo-bench-shmem: the test failed: %p %p %d\n", to, from, pe);
  abort();
}
static inline void copy(long *to, const long *from, int pe) {
  if (test_word)
    refuse(to, from, pe);
  else
    *to = *from;
}
MEASURE(copy_put, copy(HERE, NEAR, 1))
MEASURE(copy_get, copy(NEAR, HERE, 1))
MEASURE(any_copy_put, copy(&here[peer][i % WORDS], NEAR, peer))
MEASURE(any_copy_get, copy(NEAR, &here[peer][i % WORDS], peer))
MEASURE(plain_put, *HERE = *NEAR)
MEASURE(plain_get, *NEAR = *HERE)
MEASURE(put_static, shmem_long_put(OWN, NEAR, 1, 1))
MEASURE(put_sized, shmem_long_put(FAR, NEAR, one, 1))
MEASURE(get_sized, shmem_long_get(NEAR, FAR, one, 1))
MEASURE(sized_copy_put, memcpy(HERE, NEAR, one * 8))
MEASURE(sized_copy_get, memcpy(NEAR, HERE, one * 8))
MEASURE(put_words, shmem_long_put(FAR, NEAR, eleven, 1))
MEASURE(get_words, shmem_long_get(NEAR, FAR, eleven, 1))
MEASURE(words_copy_put, memcpy(HERE, NEAR, eleven * 8))
MEASURE(words_copy_get, memcpy(NEAR, HERE, eleven * 8))
MEASURE(put_bytes, shmem_putmem(FAR, NEAR, thirteen_bytes, 1))
MEASURE(get_bytes, shmem_getmem(NEAR, FAR, thirteen_bytes, 1))
MEASURE(bytes_copy_put, memcpy(HERE, NEAR, thirteen_bytes))
MEASURE(bytes_copy_get, memcpy(NEAR, HERE, thirteen_bytes))
MEASURE(put_quiet, (shmem_long_put(FAR, NEAR, 1, 1), shmem_quiet()))
MEASURE(put_nbi, shmem_long_put(FAR, NEAR, 1, 1))
MEASURE(c_put, gex_RMA_PutBlocking(tm, 1, theirs, NEAR, 8, 0))
MEASURE(c_put_nbi, gex_RMA_PutNBI(tm, 1, theirs, NEAR, 8, GEX_EVENT_NOW, 0))
MEASURE(c_get, gex_RMA_GetBlocking(tm, NEAR, 1, theirs, 8, 0))
MEASURE(c_put_sized, gex_RMA_PutBlocking(tm, 1, theirs, NEAR, one * 8, 0))
MEASURE(c_get_sized, gex_RMA_GetBlocking(tm, NEAR, 1, theirs, one * 8, 0))
MEASURE(fetch_add, value += shmem_long_atomic_fetch_add(&word, 1, 1))
MEASURE(compare_swap, value += shmem_long_atomic_compare_swap(&word, 1, 2, 1))
MEASURE(add, shmem_long_atomic_add(&word, 1, 1))

static double c_atomic(int count, gex_OP_t op) {
  const double start = now_ns();
  for (int i = 0; i < count; i++) {
    int64_t before = 0;
    gex_Event_Wait(gex_AD_OpNB_I64(ad, &before, 1, theirs, op, 1, 2, 0));
    value += before;
    BETWEEN();
  }
  return (now_ns() - start) / count;
}
static double c_fetch_add(int count) {
  return c_atomic(count, GEX_OP_FADD);
}
static double c_compare_swap(int count) {
  return c_atomic(count, GEX_OP_FCAS);
}
MEASURE(c_add, gex_Event_Wait(gex_AD_OpNB_I64(ad, NULL, 1, theirs, GEX_OP_ADD, 1, 0, 0)))

/* A round trip between two lines of cache. */
static double hand_off(int count) {
  const double start = now_ns();
  for (int i = 0; i < count; i++) {
    hand_turn++;
    if (!me) __atomic_store_n(hand_there, hand_turn, __ATOMIC_RELEASE);
    while (__atomic_load_n(&hand_word, __ATOMIC_ACQUIRE) != hand_turn) {}
    if (me) __atomic_store_n(hand_there, hand_turn, __ATOMIC_RELEASE);
  }
  return (now_ns() - start) / count;
}

/* One way of a round trip. */
static double put_signal(int count) {
  const double start = now_ns();
  for (int i = 0; i < count; i++) {
    turn++;
    if (me) shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, turn);
    shmem_long_put_signal(&word, &value, 1, &signal_word, turn, SHMEM_SIGNAL_SET, 1 - me);
    if (!me) shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, turn);
  }
  return (now_ns() - start) / count / 2;
}

static double c_put_signal(int count) {
  const double start = now_ns();
  uint64_t *const own = (uint64_t *)(void *)(mine + 64), *const far =
                                                             (uint64_t *)(void *)(theirs + 64);
  for (int i = 0; i < count; i++) {
    c_turn++;
    if (me) (void)gexx_Signal_Wait(own, GEXX_SIG_GE, c_turn);
    gexx_RMA_PutSignalBlocking(tm, (gex_Rank_t)(1 - me), theirs, &value, sizeof value,
                               GEX_EVENT_NOW, far, GEXX_SIG_SET, c_turn, 0);
    if (!me) (void)gexx_Signal_Wait(own, GEXX_SIG_GE, c_turn);
  }
  return (now_ns() - start) / count / 2;
}

MEASURE(barrier, shmem_barrier_all())
MEASURE(c_barrier, gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)))

struct row {
  const char *name, *floor;
  double (*measure)(int), (*beside)(int);
  double target;   /* times the floor */
  int count, both; /* operations of a sample; PE 1 takes part */
  int bytes;
};
static const struct row near_rows[] = {
    {"put", "copy8+test", put, copy_put, 1.5, 20000, 0, 8},
    {"get", "copy8+test", get, copy_get, 1.5, 20000, 0, 8},
    {"put_plain", "copy8", put, plain_put, 0, 20000, 0, 8},
    {"get_plain", "copy8", get, plain_get, 0, 20000, 0, 8},
    {"p", "copy8+test", put_p, copy_put, 1.5, 20000, 0, 8},
    {"g", "copy8+test", get_g, copy_get, 1.5, 20000, 0, 8},
    {"put_any_pe", "copy8+test", put_any, any_copy_put, 1.5, 20000, 0, 8},
    {"get_any_pe", "copy8+test", get_any, any_copy_get, 1.5, 20000, 0, 8},
    {"put_static", "copy8+test", put_static, copy_put, 1.5, 20000, 0, 8},
    {"put_sized", "memcpy", put_sized, sized_copy_put, 1.5, 20000, 0, 8},
    {"get_sized", "memcpy", get_sized, sized_copy_get, 1.5, 20000, 0, 8},
    {"put_11_words", "memcpy", put_words, words_copy_put, 1.5, 20000, 0, 88},
    {"get_11_words", "memcpy", get_words, words_copy_get, 1.5, 20000, 0, 88},
    {"putmem_13", "memcpy", put_bytes, bytes_copy_put, 1.5, 20000, 0, 13},
    {"getmem_13", "memcpy", get_bytes, bytes_copy_get, 1.5, 20000, 0, 13},
    {"put_sized_as_C", "C_put", put_sized, c_put_sized, 1.1, 20000, 0, 8},
    {"get_sized_as_C", "C_get", get_sized, c_get_sized, 1.1, 20000, 0, 8},
    {"fetch_add", "C_fetch_add", fetch_add, c_fetch_add, 1.1, 10000, 0, 8},
    {"compare_swap", "C_compare_swap", compare_swap, c_compare_swap, 1.1, 10000, 0, 8},
    {"add", "C_add", add, c_add, 1.1, 10000, 0, 8},
    {"put_signal", "handoff", put_signal, hand_off, 0.55, 500, 1, 8},
    {"put_signal_as_C", "C_put_signal", put_signal, c_put_signal, 1.1, 500, 1, 8},
    {"barrier", "C_barrier", barrier, c_barrier, 1.1, 500, 1, 8},
};
static const struct row far_rows[] = {
    {"put", "C_put", put_quiet, c_put, 1.05, 200, 0, 8},
    {"put_rate", "C_put_nbi", put_nbi, c_put_nbi, 1.05, 2000, 0, 8},
    {"get", "C_get", get, c_get, 1.05, 200, 0, 8},
    {"fetch_add", "C_fetch_add", fetch_add, c_fetch_add, 1.05, 200, 0, 8},
    {"compare_swap", "C_compare_swap", compare_swap, c_compare_swap, 1.05, 200, 0, 8},
    {"put_signal", "C_put_signal", put_signal, c_put_signal, 1.05, 200, 1, 8},
    {"barrier", "C_barrier", barrier, c_barrier, 1.05, 200, 1, 8},
};

static void sample(const struct row *r, int k) {
  shmem_barrier_all();
  if (r->both || me == 0) beside[k] = r->beside(r->count);
  if (!far_here) shmem_quiet(), gex_NBI_Wait(GEX_EC_ALL, 0);
  shmem_barrier_all();
  if (r->both || me == 0) figure[k] = r->measure(r->count);
}

static void report(const struct row *r) {
  figures++;
  printf("figure shmem %s bytes=%d unit=ns floor=%s target=%.2f better=less\nx", r->name, r->bytes,
         r->floor, r->target);
  for (int k = 0; k < runs; k++) printf(" %.6e", figure[k]);
  printf("\nf");
  for (int k = 0; k < runs; k++) printf(" %.6e", beside[k]);
  printf("\n");
}

static void join(void) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  void *there = NULL;
  gexx_Client_Join(&client, &ep, &tm, "BENCH", NULL, NULL, 0);
  gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE);
  mine = gex_Segment_QueryAddr(segment);
  gex_Segment_QueryBound(tm, (gex_Rank_t)(1 - me), &there, NULL, NULL);
  theirs = there;
  gex_AD_Create(&ad, tm, GEX_DT_I64, GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_ADD, 0);
}

int main(int argc, char **argv) {
  shmem_init();
  me = shmem_my_pe();
  if (shmem_n_pes() != 2) {
    if (me == 0) fprintf(stderr, "tombolo-bench-shmem: two PEs are needed\n");
    return 1;
  }
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], "--runs")) runs = atoi(argv[i + 1]);
  if (runs < 3) runs = 3;
  if (runs > RUNS_MAX) runs = RUNS_MAX;
  join();
  peer = 1 - me;
  far_words = shmem_calloc(WORDS + MORE, sizeof *far_words);
  far_here = shmem_ptr(far_words, 1 - me);
  here[peer] = far_here;
  hand_there = shmem_ptr(&hand_word, 1 - me);
  const struct row *const rows = far_here ? near_rows : far_rows;
  const size_t count = far_here ? sizeof near_rows : sizeof far_rows;
  if (me == 0) printf("tombolo-bench 1 shmem ranks=2 runs=%d sample_us=100 quick=0\n", runs);
  for (size_t i = 0; i < count / sizeof *rows; i++) {
    sample(&rows[i], 0); /* warms up */
    for (int k = 0; k < runs; k++) sample(&rows[i], k);
    if (me == 0) report(&rows[i]);
  }
  if (me == 0) printf("end %d\n", figures);
  shmem_finalize();
  return 0;
}
