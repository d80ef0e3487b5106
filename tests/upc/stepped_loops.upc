/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall by another step than 1, up and down: each thread's iterations are those of the serial
 * loop with their affinity, in its order, and the variable is in the end what it is there. */
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
#define LOOP(TYPE, FIRST, CONDITION, STEP, AFFINITY, OWN, ITEM)  \
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
  LOOP(TYPE, FIRST, CONDITION, STEP, &A[i], (int)upc_threadof(&A[i]) == MYTHREAD, A[i])

#define KINDS(NAME, LAYOUT, KIND, A)                                       \
  static void NAME(LAYOUT KIND *p, int high, int low, int step) {          \
    const long wide = step;                                                \
    OVER(int, A, low, i < high, i += step);                                \
    OVER(int, A, low, i <= high, i += 2);                                  \
    OVER(long, A, low, i < high, i += THREADS);                            \
    OVER(long, A, low + MYTHREAD * 0, i <= high, i += wide * 2);           \
    OVER(short, A, low, i < high, i += step);                              \
    OVER(unsigned char, A, low, i < high % 64, i += 3u);                   \
    OVER(signed char, A, low, i <= high % 64, i += step % 32);             \
    OVER(unsigned, A, low, i < (unsigned)high, i += step);                 \
    OVER(unsigned long, A, low, i <= (unsigned long)high, i += wide);      \
    OVER(int, A, low, high > i, i += step);                                \
    OVER(int, p, low, i < high, i += step);                                \
    OVER(int, A, high, i >= low, i -= step);                               \
    OVER(int, A, high, i > low, i -= 3);                                   \
    OVER(long, A, high, i >= low, i -= THREADS);                           \
    OVER(unsigned, A, high, (int)i > low, i -= 1u);                        \
    OVER(int, p, high, i > low, i -= step);                                \
    LOOP(int, low, i < high, i += step, i, i % THREADS == MYTHREAD, A[i]); \
    LOOP(int, high, i >= low, i -= 2, i, i % THREADS == MYTHREAD, A[i]);   \
    LOOP(int, low, i < high, i += step, &A[low + i],                       \
         (int)upc_threadof(&A[low + i]) == MYTHREAD, A[low + i]);          \
    LOOP(int, high, i > low, i -= step, &A[low + i],                       \
         (int)upc_threadof(&A[low + i]) == MYTHREAD, A[low + i]);          \
  }
KINDS(over_cyclic, shared, int, cyclic)
KINDS(over_threes, shared [3], int, threes)
KINDS(over_fours, shared [4], short, fours)
KINDS(over_chunks, shared [N], int, chunks)
KINDS(over_alone, shared [], long, alone)

/* Neighbours of every second element, in the same and in other blocks. */
static void neighbours(int high, int step) {
  for (int i = MYTHREAD; i < N * THREADS; i += THREADS) {
    threes[i] = 0;
    others[i] = i * i % 31;
  }
  upc_barrier;
  upc_forall (int j = 1; j < high; j += step; &threes[j])
    threes[j] = others[j - 1] + 2 * others[j + 1];
  upc_barrier;
  for (int j = 0; j < high; j++)
    CHECK_EQ(threes[j], j % step == 1 % step && j > 0 ? others[j - 1] + 2 * others[j + 1] : 0);
  upc_barrier;
  upc_forall (int j = high; j >= 1; j -= step; &threes[j])
    threes[j] = others[j - 1] - 2 * others[j + 1];
  upc_barrier;
  for (int j = high; j >= 1; j -= step) CHECK_EQ(threes[j], others[j - 1] - 2 * others[j + 1]);
  upc_barrier;
}

static void matrix(int high, int step) {
  upc_forall (int i = 1; i < high; i += step; &rows[i][0])
    for (int j = 0; j < 3; j++) rows[i][j] = 3 * i + j;
  upc_barrier;
  for (int i = 1; i < high; i += step)
    for (int j = 0; j < 3; j++) CHECK_EQ(rows[i][j], 3 * i + j);
  upc_barrier;
}

/* A variable that wraps before it gets to the bound, and steps that count in the other direction. */
#define ENDLESS(TYPE, FIRST, CONDITION, STEP)     \
  do {                                            \
    int n = 0;                                    \
    TYPE i;                                       \
    upc_forall (i = FIRST; CONDITION; STEP; i) {  \
      if (++n == 200) break;                      \
    }                                             \
    CHECK_EQ(n, 200);                             \
  } while (0)
static void endless(int zero) {
  ENDLESS(unsigned char, 0, i < 255, i += 2);
  ENDLESS(unsigned char, 1, i < 300, i += 7);
  ENDLESS(unsigned, 5, i > (unsigned)zero, i -= 2);
  ENDLESS(unsigned long, 5, i >= 0ul, i -= 3);
  int i, n = 0;
  upc_forall (i = -1; i < (unsigned)zero + 5; i += 2; i) n++; /* -1 is a large number */
  CHECK_EQ(n, 0);
  CHECK_EQ(i, -1);
  upc_forall (i = -1; i < (unsigned)zero + 5; i++; i) n++;
  CHECK_EQ(n, 0);
  CHECK_EQ(i, -1);
}

int main(void) {
  for (int k = 0; k < 4; k++) {
    static const int ends[][2] = {{18, 0}, {17, 2}, {3, 3}, {2, 9}};
    static const int steps[] = {2, 3, 5, 1, 7, 40};
    const int high = ends[k][0], low = ends[k][1];
    for (int e = k % 2; e < 6; e += 2) {
      over_cyclic(cyclic + 1, high, low, steps[e]);
      over_threes(threes + 2, high, low, steps[e]);
      over_fours(fours + 5, high, low, steps[e]);
      over_chunks(chunks, high, low, steps[e]);
      over_alone(alone, high, low, steps[e]);
      neighbours(high, steps[e]);
      matrix(high, steps[e]);
      OVER(int, cyclic, low, i < N * THREADS, i += steps[e]);
      OVER(int, threes, low, i < N * THREADS, i += 2);
      OVER(int, chunks, N * THREADS - 1, i > low, i -= 3);
    }
  }
  if (THREADS == 1) endless(THREADS - 1); /* else the loop may never meet a thread */
  return 0;
}
