/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of every type, operation, layout and mode; prefixes; operations whose operands may not
 * change places; sort, with equal elements in order (UPC 1.3 library 7.3.3). */
/* again: TOMBOLO_TEST_SHM=0 */
#include <string.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#include "check.h"

#define N 37

static const upc_flag_t in[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC, 0};
static const upc_flag_t out[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC, 0};

/* ---- operands may not change places: (a, b) then (c, d) is (ac, ad + b), in 16 bits each */

static unsigned then(unsigned x, unsigned y) {
  const unsigned a = x >> 16, b = x & 0xffff, c = y >> 16, d = y & 0xffff;
  return (a * c & 0xffff) << 16 | ((a * d + b) & 0xffff);
}

static unsigned number(int i) {
  return (unsigned)(2 * i + 3) << 16 | (unsigned)(i * 7919 % 65536);
}

shared unsigned result;
shared [] unsigned *shared row0, *shared row1;
shared unsigned c1[N * THREADS], d1[N * THREADS];
shared [3] unsigned c3[N * THREADS], d3[N * THREADS];
shared [N] unsigned cn[N * THREADS], dn[N * THREADS];
shared [1000] unsigned cl[N * THREADS], dl[N * THREADS];

/* One layout: elements from `first` on. */
#define LAYOUT(SRC, DST, BLOCK)                                                                    \
 for (int first = 0; first < 5; first += 4)                                                        \
  for (int k = 0; k < 5; k++) {                                                                    \
   const int count = ((int[]){1, 2, THREADS, 4 * THREADS + 1, N * THREADS - first})[k];            \
   if (first + count > N * THREADS) continue;                                                      \
   if (MYTHREAD == 0)                                                                              \
    for (int i = 0; i < count; i++) (SRC)[first + i] = number(i);                                  \
   unsigned sum = number(0);                                                                       \
   upc_barrier;                                                                                    \
   upc_all_prefix_reduceUI(&(DST)[first], &(SRC)[first], UPC_NONCOMM_FUNC, count, BLOCK, then,     \
                           in[(k + first) % 4] | out[k % 4]);                                      \
   upc_all_reduceUI(&result, &(SRC)[first], UPC_NONCOMM_FUNC, count, BLOCK, then,                  \
                    UPC_IN_NOSYNC | UPC_OUT_MYSYNC);                                               \
   upc_barrier;                                                                                    \
   for (int i = 0; i < count; i++) {                                                               \
    if (i) sum = then(sum, number(i));                                                             \
    CHECK_EQ((DST)[first + i], sum);                                                               \
   }                                                                                               \
   CHECK_EQ(result, sum);                                                                          \
   upc_barrier;                                                                                    \
  }

static void not_commutative(void) {
  LAYOUT(c1, d1, 1)
  LAYOUT(c3, d3, 3)
  LAYOUT(cn, dn, N)
  LAYOUT(cl, dl, 1000)
  if (MYTHREAD == THREADS - 1) {
    row0 = upc_alloc(N * THREADS * sizeof(unsigned));
    row1 = upc_alloc(N * THREADS * sizeof(unsigned));
  }
  upc_barrier;
  shared [] unsigned *a = row0, *b = row1;
  LAYOUT(a, b, 0)
  if (MYTHREAD == 0) {
    upc_free(a);
    upc_free(b);
  }
}

/* ---- types and operations */

#define OPERATIONS(X, T, BITS)                                                                     \
 static shared [2] T in_##X[9 * THREADS], out_##X[9 * THREADS];                                    \
 static shared T one_##X;                                                                          \
 static T apply_##X(upc_op_t op, T a, T b) {                                                       \
  switch (op) {                                                                                    \
  case UPC_ADD: return (T)(a + b);                                                                 \
  case UPC_MULT: return (T)(a * b);                                                                \
  case UPC_LOGAND: return a && b;                                                                  \
  case UPC_LOGOR: return a || b;                                                                   \
  case UPC_MIN: return a < b ? a : b;                                                              \
  case UPC_MAX: return a > b ? a : b;                                                              \
   BITS                                                                                            \
  default: return a;                                                                               \
  }                                                                                                \
 }                                                                                                 \
 static T func_##X(T a, T b) {                                                                     \
  return (T)(a + b + 1);                                                                           \
 }                                                                                                 \
 static void try_##X(int bits) {                                                                   \
  const int n = 9 * THREADS;                                                                       \
  upc_forall (int i = 0; i < n; i++; &in_##X[i]) in_##X[i] = (T)(i % 5 + (i % 7 == 3));            \
  for (int k = 0; k < 9; k++) {                                                                    \
   const upc_op_t op = 1UL << k;                                                                   \
   if (!bits && op & (UPC_AND | UPC_OR | UPC_XOR)) continue;                                       \
   upc_all_reduce##X(&one_##X, in_##X, op, n, 2, NULL, 0);                                         \
   upc_all_prefix_reduce##X(out_##X, in_##X, op, n, 2, NULL, 0);                                   \
   T sum = in_##X[0];                                                                              \
   for (int i = 1; i < n; i++) {                                                                   \
    sum = apply_##X(op, sum, in_##X[i]);                                                           \
    CHECK(out_##X[i] == sum);                                                                      \
   }                                                                                               \
   CHECK(one_##X == sum || (n == 1 && one_##X == in_##X[0]));                                      \
   upc_barrier;                                                                                    \
  }                                                                                                \
  T sum = in_##X[0];                                                                               \
  for (int i = 1; i < n; i++) sum = func_##X(sum, in_##X[i]);                                      \
  upc_all_reduce##X(&one_##X, in_##X, UPC_FUNC, n, 2, func_##X, 0);                                \
  CHECK(one_##X == sum);                                                                           \
  bupc_all_reduce_all##X(out_##X, in_##X, UPC_FUNC, n, 2, func_##X, 0);                            \
  CHECK(((T *)&out_##X[2 * MYTHREAD])[0] == sum);                                                  \
  upc_barrier;                                                                                     \
 }
#define WITH_BITS                    \
 case UPC_AND: return a & b;         \
 case UPC_OR: return a | b;          \
 case UPC_XOR: return a ^ b;
OPERATIONS(C, signed char, WITH_BITS)
OPERATIONS(UC, unsigned char, WITH_BITS)
OPERATIONS(S, short, WITH_BITS)
OPERATIONS(US, unsigned short, WITH_BITS)
OPERATIONS(I, int, WITH_BITS)
OPERATIONS(UI, unsigned, WITH_BITS)
OPERATIONS(L, long, WITH_BITS)
OPERATIONS(UL, unsigned long, WITH_BITS)
OPERATIONS(F, float, )
OPERATIONS(D, double, )
OPERATIONS(LD, long double, )

static void types(void) {
  try_C(1);
  try_UC(1);
  try_S(1);
  try_US(1);
  try_I(1);
  try_UI(1);
  try_L(1);
  try_UL(1);
  try_F(0);
  try_D(0);
  try_LD(0);
}

/* ---- sort */

struct item {
  int key, place;
  char rest[12];
};
shared struct item i1[N * THREADS];
shared [5] struct item i5[N * THREADS];
shared [100] struct item i100[N * THREADS];

static int by_key(shared void *a, shared void *b) {
  shared struct item *x = (shared struct item *)a, *y = (shared struct item *)b;
  return (x->key > y->key) - (x->key < y->key);
}

#define SORT(A, BLOCK, KEY)                                                      \
 for (int k = 0; k < 4; k++) {                                                   \
  const int n = ((int[]){N * THREADS, 1, THREADS + 1, 17})[k];                   \
  if (n > N * THREADS) continue;                                                 \
  upc_forall (int i = 0; i < n; i++; &(A)[i]) {                                  \
   (A)[i].key = KEY;                                                             \
   (A)[i].place = i;                                                             \
   for (int j = 0; j < 12; j++) (A)[i].rest[j] = (char)(i + j);                  \
  }                                                                              \
  upc_all_sort(A, sizeof(struct item), n, BLOCK, by_key, in[3 - k % 2] | out[2]); \
  for (int i = 0; i < n; i++) {                                                  \
   struct item x = (A)[i];                                                       \
   CHECK_EQ(x.rest[7], (char)(x.place + 7));                                     \
   if (!i) continue;                                                             \
   struct item w = (A)[i - 1];                                                   \
   CHECK(w.key < x.key || (w.key == x.key && w.place < x.place));                \
  }                                                                              \
  upc_barrier;                                                                   \
 }

static void sorting(void) {
  SORT(i1, 1, i * 7919 % 101)
  SORT(i5, 5, i * 7919 % 11)
  SORT(i100, 100, -i)
  SORT(i5, 5, 3)
  SORT(i1, 1, i)
}

int main(void) {
  not_commutative();
  types();
  sorting();
  return 0;
}
