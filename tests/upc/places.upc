/* SPDX-License-Identifier: BSD-3-Clause */
/* The places that accesses name without making a pointer: elements before and behind pointers and
 * arrays of every layout, members, elements of members; and pointers that go on by one. */
#include "check.h"
struct pair {
  short first;
  long second[3];
};

/* Every element through an array, a pointer in its middle and a pointer that goes over it. */
#define WALK(NAME, LAYOUT, TYPE)                                                    \
  static LAYOUT TYPE NAME##_array[60 * THREADS];                                    \
  static void NAME(void) {                                                          \
    const int n = 60 * THREADS;                                                     \
    for (int i = 0; i < n; i++)                                                     \
      if (i % THREADS == MYTHREAD)                                                  \
        NAME##_array[i] = (TYPE)(i + 1);                                            \
    upc_barrier;                                                                    \
    for (int middle = 0; middle < n; middle += 13) {                                \
      LAYOUT TYPE *p = &NAME##_array[middle];                                       \
      for (int i = 0; i < n; i++)                                                   \
        CHECK(p[i - middle] == (TYPE)(i + 1));                                      \
    }                                                                               \
    LAYOUT TYPE *next = NAME##_array, *prefix = NAME##_array;                       \
    for (int i = 0; i < n; i++, ++prefix) {                                         \
      volatile long k = i;                                                          \
      CHECK(NAME##_array[i] == (TYPE)(i + 1));                                      \
      CHECK(next == NAME##_array + k && prefix == next);                            \
      CHECK_EQ(upc_threadof(next), upc_threadof(NAME##_array + k));                 \
      CHECK_EQ(upc_phaseof(next), upc_phaseof(NAME##_array + k));                   \
      CHECK_EQ(upc_addrfield(next), upc_addrfield(NAME##_array + k));               \
      CHECK_EQ(next + 1 - NAME##_array, k + 1);                                     \
      CHECK(*next++ == (TYPE)(i + 1));                                              \
    }                                                                               \
    upc_barrier;                                                                    \
    for (int i = MYTHREAD; i < n; i += THREADS) {                                   \
      NAME##_array[i] += (TYPE)1;                                                   \
      (&NAME##_array[n - 1])[i - (n - 1)]++;                                        \
      *(NAME##_array + i) = NAME##_array[i] + (TYPE)1;                              \
    }                                                                               \
    upc_barrier;                                                                    \
    for (int i = 0; i < n; i++)                                                     \
      CHECK(NAME##_array[i] == (TYPE)(i + 4));                                      \
  }
WALK(cyclic_bytes, shared, unsigned char)
WALK(cyclic_doubles, shared, double)
WALK(threes, shared[3], short)
WALK(fours, shared[4], float)
WALK(fives, shared[5], double)
WALK(sixties, shared[60], long)
WALK(ints, shared[60], int)
WALK(twelves, shared[12], unsigned char)

static shared struct pair cyclic[4 * THREADS];
static shared[3] struct pair blocks[6 * THREADS];
static shared[2] struct pair rows[2 * THREADS][4];
static shared struct pair single;
static shared[] struct pair alone[5];
static shared[2] struct pair *shared[3] directory[6 * THREADS];

static void members(void) {
  if (MYTHREAD == 0) {
    for (int i = 0; i < 5; i++)
      alone[i].second[i % 3] = i + 50;
    single.first = 7;
    single.second[2] = 8;
  }
  upc_forall (int i = 0; i < 4 * THREADS; i++; i)
    for (int j = 0; j < 3; j++)
      cyclic[i].second[j] = 10 * i + j, cyclic[i].first = (short)-i;
  upc_forall (int i = 0; i < 6 * THREADS; i++; i) {
    for (int j = 0; j < 3; j++)
      blocks[i].second[j] = 10 * i + j, (&blocks[i])->first = (short)-i;
    directory[i] = &rows[i % (2 * THREADS)][i % 4];
  }
  upc_forall (int i = 0; i < 2 * THREADS; i++; i)
    for (int j = 0; j < 4; j++)
      rows[i][j].second[1] = 100 * i + j;
  upc_barrier;
  for (int i = 0; i < 6 * THREADS; i++) {
    const int j = i % 3;
    CHECK_EQ(cyclic[i % (4 * THREADS)].second[j], 10 * (i % (4 * THREADS)) + j);
    CHECK_EQ(cyclic[i % (4 * THREADS)].first, -(i % (4 * THREADS)));
    CHECK_EQ(blocks[i].second[j], 10 * i + j);
    CHECK_EQ(*(blocks[i].second + j), 10 * i + j);
    CHECK_EQ((blocks + i)->first, -i);
    CHECK_EQ(directory[i]->second[1], 100 * (i % (2 * THREADS)) + i % 4);
    CHECK_EQ(rows[i % (2 * THREADS)][i % 4].second[1], 100 * (i % (2 * THREADS)) + i % 4);
  }
  for (int i = 0; i < 5; i++)
    CHECK_EQ(alone[i].second[i % 3], i + 50);
  CHECK_EQ(single.first + single.second[2], 15);
  shared struct pair *p = &cyclic[4 * THREADS - 1];
  for (int i = 0; i < 4 * THREADS; i++)
    CHECK_EQ(p[-i].second[i % 3], 10 * (4 * THREADS - 1 - i) + i % 3);
}

int main(void) {
  cyclic_bytes();
  cyclic_doubles();
  threes();
  fours();
  fives();
  sixties();
  ints();
  twelves();
  members();
  return 0;
}
