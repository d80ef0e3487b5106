/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Every wait and test of every type: one word and arrays, with and without a mask; a put of any
 * size ends a wait for its last word. */
#include "check.h"

#include <sched.h>
#include <shmem.h>
#include <string.h>

enum { WORDS = 5 };
static int me, n, right;
static const int mask[WORDS] = {0, 1, 0, 1, 0}; /* words 1 and 3 are left out */

#define TEST(N, T)                                                                                \
 static T w_##N[WORDS];                                                                           \
 static void zero_##N(void) {                                                                     \
  shmem_barrier_all();                                                                            \
  for (int i = 0; i < WORDS; i++) w_##N[i] = 0;                                                   \
  shmem_barrier_all();                                                                            \
 }                                                                                                \
 static void one_##N(void) {                                                                      \
  zero_##N();                                                                                     \
  CHECK_EQ(shmem_##N##_test(w_##N, SHMEM_CMP_NE, 0), 0);                                          \
  CHECK_EQ(shmem_##N##_test(w_##N, SHMEM_CMP_LE, 0), 1);                                          \
  CHECK_EQ(shmem_##N##_test(w_##N, SHMEM_CMP_LT, 1), 1);                                          \
  CHECK_EQ(shmem_##N##_test(w_##N, SHMEM_CMP_GT, 0), 0);                                          \
  shmem_barrier_all();                                                                            \
  shmem_##N##_p(w_##N, 7, right);                                                                 \
  shmem_##N##_wait_until(w_##N, SHMEM_CMP_EQ, 7);                                                 \
  shmem_##N##_wait_until(w_##N, SHMEM_CMP_GE, 7);                                                 \
  CHECK(w_##N[0] == 7);                                                                           \
 }                                                                                                \
 static void arrays_##N(void) {                                                                   \
  size_t which[WORDS];                                                                            \
  zero_##N();                                                                                     \
  CHECK(shmem_##N##_test_any(w_##N, WORDS, mask, SHMEM_CMP_EQ, 1) == SIZE_MAX);                   \
  CHECK_EQ(shmem_##N##_test_some(w_##N, WORDS, which, NULL, SHMEM_CMP_EQ, 1), 0);                 \
  CHECK_EQ(shmem_##N##_test_all(w_##N, WORDS, NULL, SHMEM_CMP_EQ, 0), 1);                         \
  CHECK_EQ(shmem_##N##_test_all(w_##N, 0, NULL, SHMEM_CMP_EQ, 0), 1);                             \
  CHECK(shmem_##N##_wait_until_any(w_##N, 0, NULL, SHMEM_CMP_EQ, 0) == SIZE_MAX);                 \
  shmem_barrier_all();                                                                            \
  shmem_##N##_p(&w_##N[2], 1, right);                                                             \
  CHECK_EQ(shmem_##N##_wait_until_any(w_##N, WORDS, mask, SHMEM_CMP_EQ, 1), 2);                   \
  CHECK_EQ(shmem_##N##_wait_until_some(w_##N, WORDS, which, NULL, SHMEM_CMP_EQ, 1), 1);           \
  CHECK_EQ(which[0], 2);                                                                          \
  CHECK_EQ(shmem_##N##_test_all(w_##N, WORDS, mask, SHMEM_CMP_EQ, 1), 0);                         \
  shmem_barrier_all();                                                                            \
  shmem_##N##_p(&w_##N[0], 1, right);                                                             \
  shmem_##N##_p(&w_##N[4], 1, right);                                                             \
  shmem_##N##_wait_until_all(w_##N, WORDS, mask, SHMEM_CMP_NE, 0);                                \
  CHECK_EQ(shmem_##N##_test_some(w_##N, WORDS, which, mask, SHMEM_CMP_EQ, 1), 3);                 \
  CHECK_EQ(which[0] + which[1] + which[2], 6);                                                    \
  int seen = 0;                                                                                   \
  for (int k = 0; k < WORDS; k++)                                                                 \
   seen |= 1 << shmem_##N##_test_any(w_##N, WORDS, NULL, SHMEM_CMP_EQ, 1);                        \
  CHECK_EQ(seen, 0x15); /* none starves */                                                        \
 }                                                                                                \
 static void vectors_##N(void) {                                                                  \
  T want[WORDS] = {1, 2, 3, 4, 5};                                                                \
  size_t which[WORDS];                                                                            \
  zero_##N();                                                                                     \
  CHECK_EQ(shmem_##N##_test_some_vector(w_##N, WORDS, which, NULL, SHMEM_CMP_EQ, want), 0);       \
  CHECK(shmem_##N##_test_any_vector(w_##N, WORDS, NULL, SHMEM_CMP_EQ, want) == SIZE_MAX);         \
  shmem_barrier_all();                                                                            \
  shmem_##N##_put(w_##N, want, WORDS, right);                                                     \
  shmem_##N##_wait_until_all_vector(w_##N, WORDS, NULL, SHMEM_CMP_EQ, want);                      \
  CHECK(shmem_##N##_wait_until_any_vector(w_##N, WORDS, mask, SHMEM_CMP_EQ, want) % 2 == 0);      \
  CHECK_EQ(shmem_##N##_wait_until_some_vector(w_##N, WORDS, which, mask, SHMEM_CMP_EQ, want), 3); \
  CHECK_EQ(shmem_##N##_test_all_vector(w_##N, WORDS, mask, SHMEM_CMP_GE, want), 1);               \
  CHECK_EQ(shmem_##N##_test_all_vector(w_##N, WORDS, mask, SHMEM_CMP_GT, want), 0);               \
 }
SHMEM_TYPES_WAIT_(TEST)

/* The last word of each put is awaited. */
static void check_sizes(void) {
  enum { MOST = 1 << 20 };
  char *from = shmem_malloc(MOST + 8), *to = shmem_calloc(1, MOST + 8);
  for (size_t size = 8; size <= MOST; size *= 8) {
    long *last = (long *)(void *)(to + size - 8);
    memset(from, 0x11, size);
    *last = 0;
    shmem_barrier_all();
    shmem_putmem(to, from, size, right);
    shmem_wait_until(last, SHMEM_CMP_EQ, 0x1111111111111111);
    CHECK_EQ(*last, 0x1111111111111111);
    shmem_barrier_all();
    memset(to, 0, size);
  }
  shmem_free(to);
  shmem_free(from);
}

static void check_old(void) {
  static long l;
  static short s;
  l = 0, s = 0;
  shmem_barrier_all();
  shmem_long_p(&l, 3, right);
  shmem_short_p(&s, 4, right);
  shmem_wait(&l, 0);
  shmem_short_wait(&s, 0);
  CHECK_EQ(l + s, 7);
}

/* Inline puts must call the library while a PE sleeps in a wait, and only then. */
static void check_gate(void) {
#ifdef SHMEM_INLINE_H
  static long go;
  const volatile struct shmem_gate_ *const gate = SHMEM_GATE_(shmem_inline_table_.puts[right]);
  shmem_barrier_all();
  if (gate->get && n > 1) {
    CHECK(gate->put == gate->get && gate->put_statics == gate->get_statics);
    CHECK_EQ(gate->waiters, 0);
  }
  shmem_barrier_all();
  if (me == 0 && gate->get && n > 1) {
    while (gate->put || gate->put_statics) sched_yield();
    CHECK(gate->waiters != 0 && gate->get != 0);
  }
  if (me == 0) shmem_long_p(&go, 1, right);
  if (me == 1 % n) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  if (gate->get) CHECK(gate->put == gate->get && gate->put_statics == gate->get_statics);
#endif
}

int main(void) {
  shmem_init();
  me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  right = (me + 1) % n;
#define CALL(N, T) one_##N(), arrays_##N(), vectors_##N();
  SHMEM_TYPES_WAIT_(CALL)
  check_sizes();
  check_old();
  check_gate();
  shmem_finalize();
  return check_done();
}
