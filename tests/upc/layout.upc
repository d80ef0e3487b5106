/* SPDX-License-Identifier: BSD-3-Clause */
/* Where elements of shared arrays lie, and arithmetic of pointers (UPC 1.3 6.4.2, 6.5.2). */
/* again: TOMBOLO_TEST_SHM=0 */
#include "check.h"

#define N 40

shared int plain[N * THREADS];
shared [1] int one[N * THREADS];
shared [3] int three[N * THREADS];
shared [7] double seven[N * THREADS];
shared [] int whole[N];
shared [*] int star[N * THREADS];
shared [4] char matrix[THREADS][5][8];
shared [5] struct point {
  int x, y;
  char name[3];
} points[N * THREADS];
typedef int row_t[10];
shared [3] row_t rows[3 * THREADS];
shared int scalar;

static int div_floor(long a, long b) {
  return (int)(a >= 0 ? a / b : -((-a + b - 1) / b));
}

/* Thread and phase of element i by the rules of the language. */
#define WHERE(a, i, B)                                                    \
  do {                                                                    \
    CHECK_EQ(upc_threadof(&(a)[i]), ((i) / (B)) % THREADS);               \
    CHECK_EQ(upc_phaseof(&(a)[i]), (i) % (B));                            \
    CHECK_EQ(upc_addrfield(&(a)[i]) - upc_addrfield(&(a)[0]),             \
             ((i) / (B) / THREADS * (B) + (i) % (B)) * sizeof((a)[0]) -   \
                 0 * sizeof((a)[0]));                                     \
  } while (0)

static void places(void) {
  for (int i = 0; i < N * THREADS; i++) {
    WHERE(plain, i, 1);
    WHERE(one, i, 1);
    WHERE(three, i, 3);
    WHERE(seven, i, 7);
    WHERE(points, i, 5);
    WHERE(star, i, N);
  }
  for (int i = 0; i < N; i++) {
    CHECK_EQ(upc_threadof(&whole[i]), 0);
    CHECK_EQ(upc_phaseof(&whole[i]), 0);
    CHECK_EQ(upc_addrfield(&whole[i]) - upc_addrfield(whole), i * sizeof(int));
  }
  CHECK_EQ(upc_threadof(&scalar), 0);
  for (int i = 0; i < THREADS; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 8; k++) {
        const int e = (i * 5 + j) * 8 + k;
        CHECK_EQ(upc_threadof(&matrix[i][j][k]), e / 4 % THREADS);
        CHECK_EQ(upc_phaseof(&matrix[i][j][k]), e % 4);
        matrix[i][j][k] = 0;
      }
  for (int i = 0; i < 3 * THREADS; i++)
    for (int k = 0; k < 10; k++) CHECK_EQ(upc_threadof(&rows[i][k]), (i * 10 + k) / 3 % THREADS);
}

static void sizes(void) {
  CHECK_EQ(sizeof(three), N * THREADS * sizeof(int));
  CHECK_EQ(sizeof(whole), N * sizeof(int));
  CHECK_EQ(sizeof matrix, THREADS * 40);
  CHECK_EQ(sizeof three[0], sizeof(int));
  CHECK_EQ(upc_blocksizeof(three), 3);
  CHECK_EQ(upc_blocksizeof(plain), 1);
  CHECK_EQ(upc_blocksizeof(whole), 0);
  CHECK_EQ(upc_blocksizeof(star), N);
  CHECK_EQ(upc_elemsizeof(matrix), 1);
  CHECK_EQ(upc_elemsizeof(rows), sizeof(int));
  CHECK_EQ(upc_localsizeof(three), (N + 2) / 3 * 3 * sizeof(int));
  CHECK_EQ(upc_localsizeof(whole), N * sizeof(int));
  CHECK_EQ(upc_localsizeof(shared [] double[4]), 4 * sizeof(double));
  CHECK_EQ(upc_blocksizeof(shared [12] char), 12);
  CHECK_EQ(upc_blocksizeof(points[0].name), 0);
  CHECK_EQ(sizeof(shared int *), sizeof(shared [] char *));
}

/* Arithmetic against subscripting, forwards and backwards. */
static void arithmetic(void) {
  const int n = N * THREADS;
  for (int i = 0; i < n; i += 3)
    for (int j = 0; j < n; j += 5) {
      CHECK(&three[i] + (j - i) == &three[j]);
      CHECK_EQ(&three[j] - &three[i], j - i);
      CHECK_EQ(upc_phaseof(&three[i] + (j - i)), j % 3);
      CHECK((&three[i] < &three[j]) == (i < j));
      CHECK((&three[i] >= &three[j]) == (i >= j));
      CHECK(&plain[i] + (j - i) == &plain[j]);
      CHECK_EQ(&plain[j] - &plain[i], j - i);
      CHECK_EQ(&seven[j] - &seven[i], j - i);
      CHECK(&seven[j] - (j - i) == &seven[i]);
    }
  shared [3] int *p = three;
  for (int i = 0; i < n; i++) CHECK(p++ == &three[i]);
  for (int i = n - 1; i >= 0; i--) CHECK(--p == &three[i]);
  p += n - 1;
  p -= 4;
  CHECK(p == &three[n - 5]);
  CHECK(&p[-1] == &three[n - 6]);
  shared [3] int (*r)[10] = rows;
  CHECK(&r[2][1] == &rows[2][1]);
  r++;
  CHECK(&(*r)[0] == &rows[1][0]);
  CHECK_EQ(r - rows, 1);
  CHECK_EQ(div_floor(-1, 3), -1);
  /* Back behind the beginning and forth again. */
  shared [7] double *q = seven;
  q -= 20 * THREADS;
  q += 20 * THREADS + 8;
  CHECK(q == &seven[8]);
  CHECK_EQ(upc_phaseof(q), 1);
}

static void values(void) {
  const int n = N * THREADS;
  upc_forall (int i = 0; i < n; i++; &three[i]) {
    three[i] = i;
    plain[i] = 2 * i;
    points[i].x = i;
    points[i].y = -i;
    points[i].name[2] = 'a' + i % 26;
  }
  upc_barrier;
  for (int i = 0; i < n; i++) {
    CHECK_EQ(three[i], i);
    CHECK_EQ(plain[i], 2 * i);
    CHECK_EQ(points[i].x + points[i].y, 0);
    CHECK_EQ(points[i].name[2], 'a' + i % 26);
    struct point copy = points[i];
    CHECK_EQ(copy.x, i);
  }
  upc_barrier;
}

int main(void) {
  places();
  sizes();
  arithmetic();
  values();
  return 0;
}
