/* SPDX-License-Identifier: BSD-3-Clause */
/* Private arrays whose sizes are any expression of THREADS; affinities at the ends of the types. */
/* ranks: 1 3 4 5 */
#include "check.h"
#include <upc_relaxed.h>

shared int cyclic[4 * THREADS];

static int row_sum(int rows, int table[rows][THREADS + 1]) {
  int sum = 0;
  for (int i = 0; i < rows; i++) sum += table[i][THREADS];
  return sum;
}

static void sizes(void) {
  double more[THREADS + 1], square[THREADS][THREADS], product[THREADS * THREADS];
  shared int *pointers[2 * THREADS - 1];
  int table[2][THREADS + 1], half[(THREADS + 1) / 2];
  CHECK(sizeof more == (THREADS + 1) * sizeof(double));
  CHECK(sizeof square == sizeof product && sizeof square[0] == THREADS * sizeof(double));
  CHECK(sizeof pointers / sizeof *pointers == 2 * THREADS - 1 && sizeof half >= 2 * THREADS);
  more[THREADS] = 2.5;
  square[THREADS - 1][0] = more[THREADS];
  product[THREADS * THREADS - 1] = square[THREADS - 1][0];
  pointers[2 * THREADS - 2] = &cyclic[THREADS];
  table[0][THREADS] = 3, table[1][THREADS] = 4;
  CHECK(row_sum(2, table) == 7 && product[THREADS * THREADS - 1] == 2.5);
  CHECK(pointers[2 * THREADS - 2] - cyclic == THREADS);
}

/* Unsigned affinities count from 0, whatever their highest bit is. */
static void affinities(void) {
  const unsigned long first = 0xfffffffff0000000ul;
  int mine = 0, seen = 0, odd = 0;
  unsigned long i;
  upc_forall (i = first; i < first + 64; i++; i) seen++;
  for (i = first; i < first + 64; i++) mine += i % THREADS == MYTHREAD;
  CHECK(seen == mine);
  upc_forall (i = first; i < first + 64; i += 2; i * 3) odd++;
  for (mine = 0, i = first; i < first + 64; i += 2) mine += i * 3 % THREADS == MYTHREAD;
  CHECK(odd == mine);
  seen = mine = 0;
  upc_forall (long l = -40; l < 40; l++; l) seen++;
  for (long l = -40; l < 40; l++) mine += (l + 40 * THREADS) % THREADS == MYTHREAD;
  CHECK(seen == mine);
  seen = mine = 0;
  unsigned short s;
  upc_forall (s = 65530; s >= 65530; s++; s) seen++;
  for (s = 65530; s >= 65530; s++) mine += s % THREADS == MYTHREAD;
  CHECK(seen == mine);
  seen = 0;
  upc_forall (size_t z = 0; z < 4u * THREADS; z++; &cyclic[z]) seen++;
  CHECK(seen == 4);
}

int main(void) {
  sizes();
  affinities();
  return 0;
}
