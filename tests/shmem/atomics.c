/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Every atomic of every type, with and without a context; sums of all PEs at once; the names of
 * OpenSHMEM 1.0 to 1.3. */
#include "check.h"

#include <shmem.h>

static shmem_ctx_t ctx;
static int me, n, right;

#define EXTENDED(N, T)                                                             \
 static T e_##N[2];                                                                \
 static void extended_##N(void) {                                                  \
  e_##N[0] = (T)(me + 3);                                                          \
  shmem_barrier_all();                                                             \
  CHECK(shmem_##N##_atomic_fetch(&e_##N[0], right) == (T)(right + 3));             \
  T got = 0;                                                                       \
  shmem_ctx_##N##_atomic_fetch_nbi(ctx, &got, &e_##N[0], right);                   \
  shmem_ctx_quiet(ctx);                                                            \
  CHECK(got == (T)(right + 3));                                                    \
  shmem_barrier_all();                                                             \
  CHECK(shmem_ctx_##N##_atomic_swap(ctx, &e_##N[0], 50, right) == (T)(right + 3)); \
  shmem_##N##_atomic_swap_nbi(&got, &e_##N[0], 60, right);                         \
  shmem_quiet();                                                                   \
  CHECK(got == 50);                                                                \
  shmem_##N##_atomic_set(&e_##N[1], 70, right);                                    \
  shmem_barrier_all();                                                             \
  CHECK(e_##N[0] == 60 && e_##N[1] == 70);                                         \
 }
SHMEM_TYPES_AMO_EXT_(EXTENDED)

#define STANDARD(N, T)                                                             \
 static T s_##N[4];                                                                \
 static void standard_##N(void) {                                                  \
  T got = 0;                                                                       \
  s_##N[0] = 10, s_##N[1] = s_##N[2] = s_##N[3] = 0;                               \
  shmem_barrier_all();                                                             \
  CHECK(shmem_##N##_atomic_compare_swap(&s_##N[0], 9, 11, right) == 10);           \
  CHECK(shmem_ctx_##N##_atomic_compare_swap(ctx, &s_##N[0], 10, 12, right) == 10); \
  shmem_##N##_atomic_compare_swap_nbi(&got, &s_##N[0], 12, 13, right);             \
  shmem_quiet();                                                                   \
  CHECK(got == 12);                                                                \
  CHECK(shmem_##N##_atomic_fetch_inc(&s_##N[0], right) == 13);                     \
  CHECK(shmem_##N##_atomic_fetch_add(&s_##N[0], 6, right) == 14);                  \
  shmem_ctx_##N##_atomic_fetch_add_nbi(ctx, &got, &s_##N[0], 1, right);            \
  shmem_ctx_quiet(ctx);                                                            \
  CHECK(got == 20);                                                                \
  shmem_##N##_atomic_fetch_inc_nbi(&got, &s_##N[0], right);                        \
  shmem_quiet();                                                                   \
  CHECK(got == 21);                                                                \
  for (int k = 0; k < 50; k++) {                                                   \
   shmem_##N##_atomic_add(&s_##N[1], 2, 0);                                        \
   shmem_ctx_##N##_atomic_inc(ctx, &s_##N[2], n - 1);                              \
   (void)shmem_##N##_atomic_fetch_add(&s_##N[3], 1, k % n);                        \
  }                                                                                \
  shmem_ctx_quiet(ctx);                                                            \
  shmem_barrier_all();                                                             \
  CHECK(s_##N[0] == 22);                                                           \
  if (me == 0) CHECK(s_##N[1] == (T)(100 * n));                                    \
  if (me == n - 1) CHECK(s_##N[2] == (T)(50 * n));                                 \
  CHECK(s_##N[3] == (T)((50 / n + (me < 50 % n)) * n));                            \
 }
SHMEM_TYPES_AMO_(STANDARD)

#define BITWISE(N, T)                                                          \
 static T b_##N[3];                                                            \
 static void bitwise_##N(void) {                                               \
  T got = 0;                                                                   \
  b_##N[0] = 0xff, b_##N[1] = b_##N[2] = 0;                                    \
  shmem_barrier_all();                                                         \
  CHECK(shmem_##N##_atomic_fetch_and(&b_##N[0], 0x7e, right) == 0xff);         \
  CHECK(shmem_ctx_##N##_atomic_fetch_or(ctx, &b_##N[0], 0x80, right) == 0x7e); \
  CHECK(shmem_##N##_atomic_fetch_xor(&b_##N[0], 0x0f, right) == 0xfe);         \
  shmem_##N##_atomic_fetch_and_nbi(&got, &b_##N[0], 0xf0, right);              \
  shmem_quiet();                                                               \
  CHECK(got == 0xf1);                                                          \
  shmem_##N##_atomic_fetch_or_nbi(&got, &b_##N[0], 1, right);                  \
  shmem_quiet();                                                               \
  shmem_##N##_atomic_fetch_xor_nbi(&got, &b_##N[0], 3, right);                 \
  shmem_quiet();                                                               \
  CHECK(got == 0xf1);                                                          \
  shmem_##N##_atomic_and(&b_##N[0], 0x72, right);                              \
  shmem_##N##_atomic_or(&b_##N[1], (T)1 << me, 0);                             \
  shmem_ctx_##N##_atomic_xor(ctx, &b_##N[2], (T)1 << me, 0);                   \
  shmem_ctx_quiet(ctx);                                                        \
  shmem_barrier_all();                                                         \
  CHECK(b_##N[0] == 0x72);                                                     \
  if (me == 0) CHECK(b_##N[1] == (T)((1u << n) - 1) && b_##N[2] == b_##N[1]);  \
 }
SHMEM_TYPES_AMO_BIT_(BITWISE)

static void check_old(void) {
  static int i;
  static double d;
  static long long q;
  i = 5, d = 1.5, q = 1;
  shmem_barrier_all();
  CHECK_EQ(shmem_int_fadd(&i, 2, right), 5);
  CHECK_EQ(shmem_int_finc(&i, right), 7);
  CHECK_EQ(shmem_int_cswap(&i, 8, 9, right), 8);
  shmem_int_inc(&i, right);
  shmem_int_add(&i, 5, right);
  CHECK(shmem_double_swap(&d, 2.5, right) == 1.5);
  CHECK(shmem_double_fetch(&d, right) == 2.5);
  shmem_longlong_set(&q, 44, right);
  CHECK_EQ(shmem_fadd(&q, 1, right), 44); /* generic */
  shmem_barrier_all();
  CHECK_EQ(i, 15);
  CHECK_EQ(q, 45);
}

int main(void) {
  shmem_init();
  me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  right = (me + 1) % n;
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
#define CALL_EXTENDED(N, T) extended_##N();
#define CALL_STANDARD(N, T) standard_##N();
#define CALL_BITWISE(N, T)  bitwise_##N();
  SHMEM_TYPES_AMO_EXT_(CALL_EXTENDED)
  SHMEM_TYPES_AMO_(CALL_STANDARD)
  SHMEM_TYPES_AMO_BIT_(CALL_BITWISE)
  check_old();
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return check_done();
}
