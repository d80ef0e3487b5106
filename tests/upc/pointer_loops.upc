/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_forall over elements by a pointer-to-shared: each element once, on its own thread, whatever
 * the layout, where the pointer begins and how far it goes. */
#include "check.h"
#define PER 42
typedef struct {
  int n;
  double d;
  unsigned low : 4;
  int list[2];
} record;
shared int cyclic[PER * THREADS], seen[PER * THREADS];
shared [7] int blocks[PER * THREADS];
shared [PER] int one_block[PER * THREADS];
shared [7 * 2] record records[PER * THREADS];
static int at_end;

static void clear(void) {
  int i;
  for (i = MYTHREAD; i < PER * THREADS; i += THREADS)
    seen[i] = 0;
  upc_barrier;
}
static void check(int first, int last, int step) {
  int i;
  upc_barrier;
  for (i = 0; i < PER * THREADS; i++)
    CHECK_EQ(seen[i], i >= first && i < last && (i - first) % step == 0);
  upc_barrier;
}

/* Each of the loops over a layout; LO and HI are indices. */
#define LOOPS(NAME, LAYOUT, BASE)                                            \
  static void NAME(int lo, int hi) {                                         \
    LAYOUT int *p, *const end = &(BASE)[hi];                                 \
    LAYOUT int *q;                                                           \
    const int none = hi < lo ? lo : hi;                                      \
    clear();                                                                 \
    upc_forall (p = &(BASE)[lo]; p < end; p++; p) {                          \
      CHECK_EQ(upc_threadof(p), MYTHREAD);                                   \
      const int i = (int)(p - (BASE));                                       \
      CHECK(p == &(BASE)[i] && upc_phaseof(p) == upc_phaseof(&(BASE)[i]));   \
      *p = 5 * i;                                                            \
      *p += p[0];                                                            \
      seen[i]++;                                                             \
      if (i % 3 == 0)                                                        \
        continue;                                                            \
      (*p)++;                                                                \
    }                                                                        \
    CHECK(p == &(BASE)[none]);                                               \
    CHECK_EQ(upc_phaseof(p), upc_phaseof(&(BASE)[none]));                    \
    check(lo, hi, 1);                                                        \
    upc_forall (LAYOUT int *r = (BASE) + lo; r <= (BASE) + (hi - 1); ++r; &*r) \
      CHECK_EQ(*r, 10 * (int)(r - (BASE)) + ((r - (BASE)) % 3 != 0));        \
    clear();                                                                 \
    upc_forall (p = &(BASE)[lo]; p < &(BASE)[hi]; p += 3; &p[0]) {           \
      q = p;                                                                 \
      *q = -*p;                                                              \
      CHECK_EQ(upc_threadof(q), MYTHREAD);                                   \
      seen[p - (BASE)]++;                                                    \
    }                                                                        \
    CHECK_EQ(p - (BASE), hi > lo ? lo + (hi - lo + 2) / 3 * 3 : lo);         \
    check(lo, hi, 3);                                                        \
    if (hi < lo)                                                             \
      return;                                                                \
    clear();                                                                 \
    upc_forall (p = &(BASE)[lo]; p != end; p += 1; p)                        \
      seen[p - (BASE)]++;                                                    \
    check(lo, hi, 1);                                                        \
    clear();                                                                 \
    upc_forall (p = &(BASE)[lo]; p < end; p += THREADS; p) {                 \
      if (upc_threadof(p) != MYTHREAD)                                       \
        CHECK(0);                                                            \
      seen[p - (BASE)]++;                                                    \
    }                                                                        \
    check(lo, hi, THREADS);                                                  \
  }
LOOPS(over_cyclic, shared, cyclic)
LOOPS(over_blocks, shared [7], blocks)
LOOPS(over_one_block, shared [PER], one_block)
static shared [] int *there;
LOOPS(over_indefinite, shared [], there)

static void over_records(int lo, int hi) {
  shared [14] record *p;
  clear();
  upc_forall (p = records + lo; p < records + hi; p++; p) {
    const int i = (int)(p - records);
    p->n = i;
    (*p).d = 0.5 * p->n;
    p->low = i;
    p->low++;
    p->list[1] = i + 1;
    record copy = *p;
    CHECK(copy.n == i && copy.list[1] == p->list[1] && copy.low == ((i + 1) & 15));
    seen[i]++;
  }
  check(lo, hi, 1);
  for (int i = lo; i < hi; i++) {
    CHECK(records[i].n == i && records[i].d == 0.5 * i && records[i].list[1] == i + 1);
    CHECK_EQ(records[i].low, (i + 1) & 15);
  }
  upc_barrier;
}

/* Loops that are not what they look like run as they stand. */
static void other_forms(void) {
  shared [7] int *p, *end;
  shared int *c;
  int n = 0;
  clear();
  upc_forall (p = blocks; p < &blocks[PER]; p++; p) { /* the body moves the pointer */
    n++;
    if ((p - blocks) % 7 < 3)
      p++;
  }
  int m = 0;
  for (p = blocks; p < &blocks[PER]; p++) {
    if (upc_threadof(p) != MYTHREAD)
      continue;
    m++;
    if ((p - blocks) % 7 < 3)
      p++;
  }
  CHECK_EQ(n, m);
  clear();
  end = &blocks[PER]; /* the body moves the end */
  upc_forall (p = blocks; p < end; p++; p) {
    seen[p - blocks]++;
    if (THREADS == 1 && end > &blocks[10])
      end--;
  }
  if (THREADS == 1)
    CHECK_EQ(p - blocks, PER / 2);
  upc_barrier;
  clear();
  n = 0; /* a limit of another phase, in the middle of elements of this one */
  end = (shared [7] int *)(shared int *)&blocks[PER / 2];
  upc_forall (p = &blocks[1]; p < end; p++; p)
    n++;
  m = 0;
  for (p = &blocks[1]; p < end; p++)
    m += upc_threadof(p) == MYTHREAD;
  CHECK_EQ(n, m);
  n = m = 0; /* of another array's layout */
  upc_forall (c = cyclic; c < cyclic + PER; c++; &blocks[c - cyclic]) {
    CHECK_EQ(upc_threadof(&blocks[c - cyclic]), MYTHREAD);
    n++;
  }
  for (int i = 0; i < PER; i++)
    m += upc_threadof(&blocks[i]) == MYTHREAD;
  CHECK_EQ(n, m);
  n = 0; /* a limit that comes towards the pointer */
  upc_forall (c = cyclic; c < cyclic + (PER - (c - cyclic)); c++; c)
    n++;
  upc_forall (int i = 0; i < PER - i; i++; i)
    n--;
  CHECK_EQ(n, 0);
  int outer = 0; /* inside another one every iteration runs */
  upc_forall (int i = 0; i < THREADS; i++; i) {
    upc_forall (c = cyclic; c < cyclic + PER; c++; c)
      outer++;
  }
  CHECK_EQ(outer, PER);
  at_end++;
}

int main(void) {
  static const int ranges[][2] = {{0, PER}, {3, PER - 1}, {5, 5}, {9, 4}, {0, 1}, {8, 30}};
  shared [] int *shared [] *table = upc_all_alloc(1, sizeof *table);
  if (MYTHREAD == THREADS - 1)
    *table = (shared [] int *)upc_alloc(PER * sizeof(int));
  upc_barrier;
  there = *table;
  for (int k = 0; k < (int)(sizeof ranges / sizeof ranges[0]); k++) {
    const int lo = ranges[k][0], hi = ranges[k][1];
    over_cyclic(lo, hi);
    over_blocks(lo, hi);
    over_one_block(lo, hi);
    over_indefinite(lo, hi);
    over_records(lo, hi);
    if (hi < lo)
      continue;
    over_cyclic(lo, lo + (hi - lo) * THREADS);
    over_blocks(lo, lo + (hi - lo) * THREADS);
    over_one_block(lo, lo + (hi - lo) * THREADS);
    over_records(lo, lo + (hi - lo) * THREADS);
  }
  other_forms();
  CHECK_EQ(at_end, 1);
  return 0;
}
