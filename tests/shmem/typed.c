/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Every form of put, get and put with a signal, of every type and size, with and without a context,
 * on memory of the heap and on global variables. */
#include "check.h"

#include <shmem.h>
#include <string.h>

enum { COUNT = 24, GUARD = 2 };
static shmem_ctx_t ctx;
static int me, n, right, left;
static uint64_t signals[2];

/* Value of element i of PE pe. */
#define VALUE(T, pe, i) ((T)((pe)*31 + (i) + 1))

#define CHECK_ARRAY(T, first, stride, count, from) \
 for (int i_ = 0; i_ < (count); i_++) CHECK((first)[i_ * (stride)] == VALUE(T, from, i_))

#define FILL(T, a, b)                 \
 for (int i_ = 0; i_ < COUNT; i_++) { \
  (a)[i_] = VALUE(T, me, i_);         \
  (b)[i_] = 0;                        \
 }                                    \
 shmem_barrier_all()

/* a: source of puts and target of gets; b: where they go; both symmetric. */
#define TEST(N, T)                                                                                 \
 static T a_##N[COUNT], b_##N[COUNT];                                                              \
 static void put_##N(T *a, T *b) {                                                                 \
  FILL(T, a, b);                                                                                   \
  shmem_##N##_put(b, a, 5, right);                                                                 \
  shmem_ctx_##N##_put_nbi(ctx, b + 5, a + 5, 5, right);                                            \
  shmem_##N##_p(b + 10, VALUE(T, me, 10), right);                                                  \
  shmem_ctx_##N##_p(ctx, b + 11, VALUE(T, me, 11), right);                                         \
  shmem_ctx_quiet(ctx);                                                                            \
  shmem_barrier_all();                                                                             \
  CHECK_ARRAY(T, b, 1, 12, left);                                                                  \
  CHECK(b[12] == 0);                                                                               \
  shmem_barrier_all();                                                                             \
 }                                                                                                 \
 static void get_##N(T *a, T *b) {                                                                 \
  T got[COUNT];                                                                                    \
  FILL(T, a, b);                                                                                   \
  shmem_##N##_get(got, a, 5, right);                                                               \
  shmem_ctx_##N##_get_nbi(ctx, got + 5, a + 5, 5, right);                                          \
  shmem_ctx_quiet(ctx);                                                                            \
  got[10] = shmem_##N##_g(a + 10, right);                                                          \
  got[11] = shmem_ctx_##N##_g(ctx, a + 11, right);                                                 \
  CHECK_ARRAY(T, got, 1, 12, right);                                                               \
  shmem_##N##_iget(got, a, 2, 1, 4, right);                                                        \
  CHECK_ARRAY(T, got, 2, 4, right);                                                                \
  shmem_ctx_##N##_ibget(ctx, got, a, 4, 2, 2, 3, right);                                           \
  for (int k = 0; k < 6; k++) CHECK(got[k / 2 * 4 + k % 2] == VALUE(T, right, k / 2 * 2 + k % 2)); \
  shmem_barrier_all();                                                                             \
 }                                                                                                 \
 static void strided_##N(T *a, T *b) {                                                             \
  FILL(T, a, b);                                                                                   \
  shmem_ctx_##N##_iput(ctx, b, a, 3, 1, 5, right);                                                 \
  shmem_ctx_quiet(ctx);                                                                            \
  shmem_barrier_all();                                                                             \
  CHECK_ARRAY(T, b, 3, 5, left);                                                                   \
  CHECK(b[1] == 0 && b[2] == 0);                                                                   \
  FILL(T, a, b);                                                                                   \
  shmem_##N##_ibput(b, a, 5, 2, 2, 4, right);                                                      \
  shmem_barrier_all();                                                                             \
  for (int k = 0; k < 8; k++) CHECK(b[k / 2 * 5 + k % 2] == VALUE(T, left, k / 2 * 2 + k % 2));    \
  CHECK(b[2] == 0 && b[4] == 0);                                                                   \
  shmem_barrier_all();                                                                             \
 }                                                                                                 \
 static void signal_##N(T *a, T *b) {                                                              \
  signals[0] = signals[1] = 0;                                                                     \
  FILL(T, a, b);                                                                                   \
  shmem_##N##_put_signal(b, a, 7, &signals[0], 9, SHMEM_SIGNAL_SET, right);                        \
  CHECK_EQ(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 9), 9);                              \
  CHECK_ARRAY(T, b, 1, 7, left);                                                                   \
  shmem_ctx_##N##_put_signal_nbi(ctx, b + 7, a + 7, 7, &signals[1], 3, SHMEM_SIGNAL_ADD, right);   \
  CHECK_EQ(shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, 3), 3);                              \
  CHECK_ARRAY(T, b, 1, 14, left);                                                                  \
  shmem_ctx_quiet(ctx);                                                                            \
  shmem_barrier_all();                                                                             \
 }                                                                                                 \
 static void test_##N(void) {                                                                      \
  T *a = shmem_malloc(COUNT * sizeof *a), *b = shmem_malloc(COUNT * sizeof *b);                    \
  put_##N(a, b);                                                                                   \
  put_##N(a_##N, b_##N);                                                                           \
  get_##N(a_##N, b_##N);                                                                           \
  strided_##N(a, b_##N);                                                                           \
  signal_##N(a_##N, b);                                                                            \
  shmem_free(b);                                                                                   \
  shmem_free(a);                                                                                   \
 }
SHMEM_TYPES_RMA_(TEST)

/* Elements of 1 to 16 bytes. */
static unsigned char from[16 * COUNT], to[16 * COUNT], got[16 * COUNT];
#define TEST_SIZE(BITS, BYTES)                                                        \
 static void size_##BITS(void) {                                                      \
  memset(to, 0, sizeof to);                                                           \
  for (int i = 0; i < 16 * COUNT; i++) from[i] = (unsigned char)(me + i);             \
  signals[0] = 0;                                                                     \
  shmem_barrier_all();                                                                \
  shmem_put##BITS(to, from, 3, right);                                                \
  shmem_ctx_put##BITS##_nbi(ctx, to + 3 * (BYTES), from + 3 * (BYTES), 2, right);     \
  shmem_ctx_quiet(ctx);                                                               \
  shmem_put##BITS##_signal(to + 5 * (BYTES), from + 5 * (BYTES), 1, &signals[0], 1,   \
                           SHMEM_SIGNAL_ADD, right);                                  \
  shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 1);                              \
  shmem_barrier_all();                                                                \
  for (int i = 0; i < 6 * (BYTES); i++) CHECK_EQ(to[i], (unsigned char)(left + i));   \
  CHECK_EQ(to[6 * (BYTES)], 0);                                                       \
  shmem_get##BITS(got, from, 4, right);                                               \
  shmem_get##BITS##_nbi(got + 4 * (BYTES), from + 4 * (BYTES), 1, right);             \
  shmem_quiet();                                                                      \
  for (int i = 0; i < 5 * (BYTES); i++) CHECK_EQ(got[i], (unsigned char)(right + i)); \
  shmem_iget##BITS(got, from, 2, 3, 4, right);                                        \
  CHECK_EQ(got[6 * (BYTES)], (unsigned char)(right + 9 * (BYTES)));                   \
  shmem_barrier_all();                                                                \
  shmem_iput##BITS(to, from, 1, 4, 3, right);                                         \
  shmem_barrier_all();                                                                \
  CHECK_EQ(to[2 * (BYTES)], (unsigned char)(left + 8 * (BYTES)));                     \
  shmem_barrier_all();                                                                \
 }
SHMEM_SIZES_(TEST_SIZE)

static void check_signals(void) {
  signals[0] = 5;
  shmem_barrier_all();
  shmem_signal_add(&signals[0], 2, right);
  CHECK_EQ(shmem_signal_wait_until(&signals[0], SHMEM_CMP_NE, 5), 7);
  shmem_barrier_all();
  shmem_ctx_signal_set(ctx, &signals[0], 70, right);
  shmem_signal_wait_until(&signals[0], SHMEM_CMP_GT, 7);
  CHECK_EQ(shmem_signal_fetch(&signals[0]), 70);
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  right = (me + 1) % n, left = (me + n - 1) % n;
  CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
#define CALL(N, T) test_##N();
  SHMEM_TYPES_RMA_(CALL)
#define CALL_SIZE(BITS, BYTES) size_##BITS();
  SHMEM_SIZES_(CALL_SIZE)
  check_signals();
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return check_done();
}
