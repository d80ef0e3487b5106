/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floors: hand-off, copies, atomics, context switches and futexes, without the library.
 *
 * Owns: the private copy buffer. Called by: bench_measure through the rows of the measuring
 * programs. Calls: libc, the futex system call. Invariants: see floors.h. The hand-off rotates over
 * many pairs of cache lines, one pair a sample, because the cost of a line depends on where in the
 * chip its home is.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity, sched_getcpu */
#include "lib/floors.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t load_acq(const struct bench_word *word) {
  return __atomic_load_n(&word->value, __ATOMIC_ACQUIRE);
}

static void store_rel(struct bench_word *word, uint64_t value) {
  __atomic_store_n(&word->value, value, __ATOMIC_RELEASE);
}

/* n round trips starting at sequence number `from`. */
static void hand_off(struct bench *b, size_t n, uint64_t from, size_t line) {
  struct bench_word *ping = &b->shared->ping[line], *pong = ping + BENCH_LINES;
  for (uint64_t i = from + 1; i <= from + n; i++) {
    if (b->rank == 0) {
      store_rel(ping, i);
      while (load_acq(pong) != i) {}
    } else {
      while (load_acq(ping) != i) {}
      store_rel(pong, i);
    }
  }
}

double floor_handoff(struct bench *b, size_t n, size_t bytes) {
  static size_t line;
  (void)bytes;
  line = (line + 1) % BENCH_LINES;
  hand_off(b, BENCH_WARM_OPS, b->seq, line);
  const uint64_t start = bench_now_ns();
  hand_off(b, n, b->seq + BENCH_WARM_OPS, line);
  const uint64_t end = bench_now_ns();
  b->seq += n + BENCH_WARM_OPS;
  return (double)(end - start) / (double)n;
}

double floor_switch(struct bench *b, size_t n, size_t bytes) {
  cpu_set_t before, one;
  struct bench_word *ping = &b->shared->ping[0], *pong = ping + BENCH_LINES;
  (void)bytes;
  if (sched_getaffinity(0, sizeof before, &before) != 0) bench_fail(b, "sched_getaffinity failed");
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (b->rank == 0) b->shared->result[15].value = (uint64_t)sched_getcpu();
  bench_meet(b);
  CPU_ZERO(&one);
  CPU_SET((int)b->shared->result[15].value, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) bench_fail(b, "sched_setaffinity failed");
  bench_meet(b);
  const uint64_t start = bench_now_ns();
  for (uint64_t i = b->seq + 1; i <= b->seq + n; i++) {
    if (b->rank == 0) store_rel(ping, i);
    while (load_acq(b->rank ? ping : pong) != i) sched_yield();
    if (b->rank == 1) store_rel(pong, i);
  }
  const uint64_t end = bench_now_ns();
  b->seq += n;
  bench_meet(b);
  sched_setaffinity(0, sizeof before, &before);
  return (double)(end - start) / (double)n;
}

double floor_add_alone(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  BENCH_TIMED(n, __atomic_fetch_add(&b->shared->sum.value, 1, __ATOMIC_SEQ_CST));
}

double floor_add_contended(struct bench *b, size_t n, size_t bytes) {
  bench_meet(b);
  return floor_add_alone(b, n, bytes);
}

/* ---- copies */

char *floor_private(struct bench *b) {
  static char *buffer;
  if (!buffer) {
    if (posix_memalign((void **)&buffer, 4096, 2 * FLOOR_COLD_BYTES) != 0)
      bench_fail(b, "no memory for a copy buffer of %zu bytes", 2 * FLOOR_COLD_BYTES);
    memset(buffer, 1, 2 * FLOOR_COLD_BYTES);
  }
  return buffer;
}

/* One copy behind one test of a word in memory; the test never fails, and would then do a library's
 * work: call something with these arguments. */
static inline __attribute__((always_inline)) void copy_word(struct bench *b,
                                                            const volatile int *reachable, char *to,
                                                            const char *from, size_t bytes) {
  if (__builtin_expect(!*reachable, 0))
    bench_fail(b, "test failed: %p %p", (void *)to, (void *)from);
  bench_fence();
  memcpy(to, from, bytes);
  bench_fence();
}

size_t floor_word_offset(void) {
  static unsigned turn;
  return turn++ * 5 % 56 * 64;
}

/* The loops of the put and get figures with copy_word in place of the library. */
static inline __attribute__((always_inline)) double word_loop(struct bench *b, size_t n, char *to,
                                                              const char *from, size_t bytes) {
  const volatile int reachable = 1;
  const size_t first = floor_word_offset();
  const uint64_t start = bench_now_ns();
  for (size_t i = 0; i < n; i += FLOOR_WORDS) {
    const size_t at = first + i % 64 * 8;
    copy_word(b, &reachable, to + at, from + at, bytes);
    copy_word(b, &reachable, to + at + 8, from + at + 8, bytes);
    copy_word(b, &reachable, to + at + 16, from + at + 16, bytes);
    copy_word(b, &reachable, to + at + 24, from + at + 24, bytes);
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

double floor_copy8_put(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  return word_loop(b, n, b->theirs, floor_private(b), 8);
}

double floor_copy8_get(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  return word_loop(b, n, floor_private(b), b->theirs, 8);
}

double floor_copy_any_put(struct bench *b, size_t n, size_t bytes) {
  return word_loop(b, n, b->theirs, floor_private(b), bytes);
}

double floor_copy_any_get(struct bench *b, size_t n, size_t bytes) {
  return word_loop(b, n, floor_private(b), b->theirs, bytes);
}

static double copy_loop(char *to, const char *from, size_t n, size_t bytes) {
  BENCH_TIMED(n, bench_fence(); memcpy(to, from, bytes); bench_fence());
}

double floor_memcpy_put(struct bench *b, size_t n, size_t bytes) {
  return copy_loop(b->theirs, floor_private(b), n, bytes);
}

double floor_memcpy_get(struct bench *b, size_t n, size_t bytes) {
  return copy_loop(floor_private(b), b->theirs, n, bytes);
}

double floor_memcpy_private(struct bench *b, size_t n, size_t bytes) {
  return copy_loop(floor_private(b) + FLOOR_COLD_BYTES, floor_private(b), n, bytes);
}

size_t floor_cold_next(size_t bytes) {
  static size_t turn;
  return turn++ * 5 % (FLOOR_COLD_BYTES / bytes) *
         bytes; /* 5 and a power of two: visits every place */
}

static double cold_loop(char *to, const char *from, size_t n, size_t bytes) {
  BENCH_TIMED(n, const size_t at = floor_cold_next(bytes); memcpy(to + at, from + at, bytes);
              bench_fence());
}

double floor_memcpy_put_cold(struct bench *b, size_t n, size_t bytes) {
  return cold_loop(b->theirs, floor_private(b), n, bytes);
}

double floor_memcpy_get_cold(struct bench *b, size_t n, size_t bytes) {
  return cold_loop(floor_private(b), b->theirs, n, bytes);
}

/* Step after rank 0 has passed its payload. */
enum {
  PASS_BACK = 1, /* rank 1 passes as much back */
  PASS_SAME = 2, /* namely the received bytes */
  PASS_OUT = 4   /* rank 0 takes the answer out */
};

/* n round trips of payload by hand. in what: PASS_*. */
static double pass_payload(struct bench *b, size_t n, size_t bytes, unsigned what) {
  struct bench_word *ping = &b->shared->ping[0], *pong = ping + BENCH_LINES;
  const uint64_t start = bench_now_ns();
  for (uint64_t i = b->seq + 1; i <= b->seq + n; i++) {
    if (b->rank == 0) {
      memcpy(b->mine, floor_private(b), bytes);
      store_rel(ping, i);
      while (load_acq(pong) != i) {}
      if (what & PASS_OUT) memcpy(floor_private(b), b->theirs, bytes);
    } else {
      while (load_acq(ping) != i) {}
      if (what & PASS_BACK) memcpy(b->mine, what & PASS_SAME ? b->theirs : floor_private(b), bytes);
      store_rel(pong, i);
    }
    bench_fence();
  }
  const uint64_t end = bench_now_ns();
  b->seq += n;
  return (double)(end - start) / (double)n;
}

double floor_payload_once(struct bench *b, size_t n, size_t bytes) {
  return pass_payload(b, n, bytes, 0);
}

double floor_payload(struct bench *b, size_t n, size_t bytes) {
  return pass_payload(b, n, bytes, PASS_BACK);
}

double floor_payload_return(struct bench *b, size_t n, size_t bytes) {
  return pass_payload(b, n, bytes, PASS_BACK | PASS_SAME);
}

double floor_payload_echo(struct bench *b, size_t n, size_t bytes) {
  return pass_payload(b, n, bytes, PASS_BACK | PASS_SAME | PASS_OUT);
}

/* Buffers that payloads of so many bytes go round, as in the library. */
static uint64_t flood_buffers(size_t bytes) {
  const size_t fit = ((size_t)512 << 10) / bytes;
  return fit < BENCH_LINES ? fit : BENCH_LINES;
}

double floor_payload_flood(struct bench *b, size_t n, size_t bytes) {
  const uint64_t first = b->seq + 1, end = b->seq + n, buffers = flood_buffers(bytes);
  const uint64_t start = bench_now_ns();
  for (uint64_t i = first; i <= end; i++) {
    struct bench_word *ping = &b->shared->ping[i % buffers], *pong = ping + BENCH_LINES;
    const size_t at = i % buffers * bytes;
    if (b->rank == 0) {
      while (i >= first + buffers && load_acq(pong) != i - buffers) {}
      memcpy(b->mine + at, floor_private(b), bytes);
      store_rel(ping, i);
      while (i == end && load_acq(pong) != i) {}
    } else {
      while (load_acq(ping) != i) {}
      memcpy(floor_private(b), b->theirs + at, bytes);
      store_rel(pong, i);
    }
    bench_fence();
  }
  b->seq = end;
  return (double)(bench_now_ns() - start) / (double)n;
}

/* Two buffers suffice: a rank that has got message i - 1 knows that the peer has read i - 2. */
double floor_payload_both(struct bench *b, size_t n, size_t bytes) {
  struct bench_word *ping = b->shared->ping, *pong = ping + BENCH_LINES;
  struct bench_word *mine = b->rank == 0 ? ping : pong, *theirs = b->rank == 0 ? pong : ping;
  const uint64_t start = bench_now_ns();
  for (uint64_t i = b->seq + 1; i <= b->seq + n; i++) {
    const size_t at = i % 2 * bytes;
    memcpy(b->mine + at, floor_private(b), bytes);
    store_rel(&mine[i % 2], i);
    while (load_acq(&theirs[i % 2]) != i) {}
    memcpy(floor_private(b), b->theirs + at, bytes);
    bench_fence();
  }
  const uint64_t end = bench_now_ns();
  b->seq += n;
  return (double)(end - start) / (double)n;
}

/* ---- futexes */

static uint32_t *futex_word(struct bench *b, unsigned rank) {
  return (uint32_t *)(void *)&b->shared->futex[rank]
      .value; /* the low or the high half, one of them always */
}

static void futex_post(struct bench *b, unsigned rank, uint32_t value) {
  __atomic_store_n(futex_word(b, rank), value, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, futex_word(b, rank), FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_await(struct bench *b, unsigned rank, uint32_t value) {
  for (;;) {
    const uint32_t seen = __atomic_load_n(futex_word(b, rank), __ATOMIC_ACQUIRE);
    if (seen == value) return;
    syscall(SYS_futex, futex_word(b, rank), FUTEX_WAIT, seen, NULL, NULL, 0);
  }
}

void floor_rest(void) {
  const struct timespec rest = {0, FLOOR_REST_NS};
  nanosleep(&rest, NULL);
}

double floor_futex(struct bench *b, size_t n, size_t bytes) {
  static uint32_t turn;
  (void)n, (void)bytes;
  turn++;
  if (b->rank == 1) {
    futex_await(b, 1, turn);
    futex_post(b, 0, turn);
    return 0;
  }
  floor_rest();
  const uint64_t start = bench_now_ns();
  futex_post(b, 1, turn);
  futex_await(b, 0, turn);
  return (double)(bench_now_ns() - start);
}
