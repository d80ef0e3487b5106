/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall from high indices to low ones: each thread's iterations are those of the serial loop
 * with their affinity, in its order, and the variable is in the end what it is there. */
#include "check.h"
#define N 40
#define SEEN 1000
shared int cyclic[N * THREADS];
shared [3] int threes[N * THREADS], others[N * THREADS];
shared [4] short fours[N * THREADS];
shared [*] int chunks[N * THREADS];
shared [] long alone[N];
shared [6] int rows[N * THREADS][3];
static int seen[SEEN], count;
static void note(long i) {
  if (count < SEEN)
    seen[count] = (int)i;
  count++;
}

/* One loop beside the serial one. ITEM is the affinity's element, BODY what the loop does there. */
#define DOWN(TYPE, FIRST, CONDITION, STEP, AFFINITY, OWN, ITEM)  \
  do {                                                           \
    TYPE i;                                                      \
    int at = 0;                                                  \
    count = 0;                                                   \
    upc_forall (i = (TYPE)(FIRST); CONDITION; STEP; AFFINITY) {  \
      note((long)i);                                             \
      ITEM = (int)i + 7;                                         \
      if (i % 5 == 1)                                            \
        continue;                                                \
      ITEM += 100;                                               \
    }                                                            \
    const TYPE end = i;                                          \
    upc_barrier;                                                 \
    for (i = (TYPE)(FIRST); CONDITION; STEP) {                   \
      CHECK_EQ(ITEM, (int)i + 7 + (i % 5 == 1 ? 0 : 100));       \
      if (OWN) {                                                 \
        CHECK(at < count && at < SEEN);                          \
        CHECK_EQ(seen[at++], i);                                 \
      }                                                          \
    }                                                            \
    CHECK_EQ(at, count);                                         \
    CHECK_EQ(end, i);                                            \
    upc_barrier;                                                 \
  } while (0)
#define OVER(TYPE, A, FIRST, CONDITION, STEP) \
  DOWN(TYPE, FIRST, CONDITION, STEP, &A[i], (int)upc_threadof(&A[i]) == MYTHREAD, A[i])

#define KINDS(NAME, LAYOUT, KIND, A)                                     \
  static void NAME(LAYOUT KIND *p, int high, int low) {                  \
    OVER(int, A, high, i >= low, i--);                                   \
    OVER(int, A, high, i > low, --i);                                    \
    OVER(int, A, high, low <= i, i--);                                   \
    OVER(long, A, high, i >= low, i -= 1);                               \
    OVER(short, A, high, i > low, i--);                                  \
    OVER(signed char, A, high & 63, i >= low, i--);                      \
    OVER(unsigned char, A, high, i > low, i--);                          \
    OVER(unsigned, A, high, i > (unsigned)low, i--);                     \
    OVER(unsigned long, A, high, i > (unsigned long)low, i--);           \
    OVER(unsigned, A, high, i >= low + 1, i--);                          \
    OVER(int, A, high, i > (unsigned)low, i--);                          \
    OVER(int, p, high, i >= low, i--);                                   \
    DOWN(int, high, i >= low, i--, i, i % THREADS == MYTHREAD, A[i]);    \
    DOWN(int, high, i >= low, i--, &A[low + i],                          \
         (int)upc_threadof(&A[low + i]) == MYTHREAD, A[low + i]);        \
    DOWN(int, high, i >= low, i -= 2, &A[i],                             \
         (int)upc_threadof(&A[i]) == MYTHREAD, A[i]);                    \
  }
KINDS(over_cyclic, shared, int, cyclic)
KINDS(over_threes, shared [3], int, threes)
KINDS(over_fours, shared [4], short, fours)
KINDS(over_chunks, shared [N], int, chunks)
KINDS(over_alone, shared [], long, alone)

/* What the loop reads beside its element is what the iterations before it left. */
static void neighbours(shared [3] int *to, shared [3] int *from, int high, int base) {
  for (int i = MYTHREAD; i < N * THREADS; i += THREADS) {
    threes[i] = 0;
    others[i] = i * i % 31;
  }
  upc_barrier;
  upc_forall (int j = high; j > 1; j--; &to[base * 3 + j])
    to[base * 3 + j] = from[base * 3 + j - 1] + 2 * from[base * 3 + j + 1] - from[1 + base * 3 + j];
  upc_barrier;
  for (int j = 0; j < N - 9; j++)
    CHECK_EQ(to[base * 3 + j],
             j > 1 && j <= high ? from[base * 3 + j - 1] + from[base * 3 + j + 1] : 0);
  upc_barrier;
  upc_forall (int j = 2; j < high; j++; &to[base * 3 + j])
    to[base * 3 + j] = from[base * 3 + j - 1] - from[base * 3 + j + 2];
  upc_barrier;
  for (int j = 2; j < high; j++)
    CHECK_EQ(to[base * 3 + j], from[base * 3 + j - 1] - from[base * 3 + j + 2]);
  upc_barrier;
  upc_forall (long j = high; j >= 2; j--; &to[j]) to[j] = from[j + 1] - from[j - 2];
  upc_barrier;
  for (int j = 2; j <= high; j++)
    CHECK_EQ(to[j], from[j + 1] - from[j - 2]);
  upc_barrier;
}

static void matrix(int high, int low) {
  upc_forall (int i = high; i >= low; i--; &rows[i][0]) {
    note(i);
    for (int j = 0; j < 3; j++)
      rows[i][j] = 3 * i + j;
  }
  upc_barrier;
  for (int i = high; i >= low; i--)
    for (int j = 0; j < 3; j++)
      CHECK_EQ(rows[i][j], 3 * i + j);
  upc_barrier;
}

/* i >= 0 never fails for an unsigned i, which gets to its largest value; nor does any i that wraps. */
#define ENDLESS(TYPE, BOUND)              \
  do {                                    \
    int n = 0;                            \
    TYPE i;                               \
    upc_forall (i = 5; i >= BOUND; i--; i) { \
      if (++n == 200)                       \
        break;                            \
    }                                     \
    CHECK_EQ(n, 200);                       \
  } while (0)
static void endless(unsigned zero) {
  ENDLESS(unsigned, zero);
  ENDLESS(unsigned long, 0L);
  ENDLESS(unsigned char, 0);
  ENDLESS(unsigned short, -1);
  ENDLESS(signed char, -128);
}

/* The bound or the variable changes in the body. */
static void moving(void) {
  int low = 2, n = 0, i;
  upc_forall (i = 20; i >= low; i--; &alone[i]) {
    n++;
    low = 10;
  }
  CHECK_EQ(n, MYTHREAD == 0 ? 11 : 0);
  CHECK_EQ(i, MYTHREAD == 0 ? 9 : 1);
  n = 0;
  upc_forall (i = 20; i > 0; i--; &alone[i]) {
    n++;
    i--;
  }
  CHECK_EQ(n, MYTHREAD == 0 ? 10 : 0);
  CHECK_EQ(i, 0);
}

int main(void) {
  for (int k = 0; k < 4; k++) {
    static const int ends[][2] = {{18, 0}, {17, 2}, {3, 3}, {2, 9}};
    const int high = ends[k][0], low = ends[k][1];
    over_cyclic(cyclic + 1, high, low);
    over_threes(threes + 2, high, low);
    over_fours(fours + 5, high, low);
    over_chunks(chunks, high, low);
    over_alone(alone, high, low);
    neighbours(threes, others, high, low & 1);
    neighbours(threes + 3, others + 3, high, 1);
    neighbours(threes + 2, others + 1, high, 0);
    matrix(high, low);
  }
  for (int low = -1; low < 5; low++) {
    OVER(int, threes, N * THREADS - 1, i > low, i--);
    OVER(int, chunks, N * THREADS - 1, i > low, i--);
    OVER(unsigned, fours, N * THREADS - 1, i > (unsigned)(low + 1), i--);
  }
  endless(0);
  moving();
  return 0;
}
