/* SPDX-License-Identifier: BSD-3-Clause */
/* A function for each paragraph of the language (UPC 1.3, 5 and 6) as docs/UPC.md lists them. */
/* ranks: 1 2 3 4 5 8 */
/* again: TOMBOLO_TEST_SHM=0 */
#include <stdarg.h>
#include <string.h>
#include <upc_relaxed.h>
#include "check.h"

typedef int row_t[10];
typedef struct {
  int i;
  char c[5];
  double d;
} record_t;
shared[3] int blocked[6 * THREADS];
shared int cyclic[4 * THREADS];
shared[] int whole[8];
shared[*] int even[5 * THREADS];
typedef shared[*] int even_t[3 * THREADS]; /* [*] gets its value from the object */
typedef shared[*] int spread_t;
typedef shared int *shared pointer_t;
even_t of_typedef, of_rows[2];
spread_t spread[4 * THREADS];
extern shared[*] int sized_here[3][THREADS];
shared[*] int sized_here[][THREADS] = {{1}, {2}, {3}};
#ifdef __UPC_STATIC_THREADS__
shared[*] int listed[] = {1, 2, 3, 4, 5, 6, 7};
typedef shared[*] int listed_t[5];
static listed_t of_constant = {1, 2, 3};
#endif
shared[3] row_t rows[3 * THREADS];
shared[2] record_t records[2 * THREADS];
shared int scalar;
strict shared int flag[THREADS];
static shared int counter;
static long private_counter;

/* 5.1.1: exactly one of the two environments. */
static void environment(void) {
#if defined(__UPC_STATIC_THREADS__) == defined(__UPC_DYNAMIC_THREADS__)
# error "one of them"
#endif
#ifdef __UPC_STATIC_THREADS__
# if THREADS < 1
#  error "THREADS is a constant"
# endif
  static int sized[THREADS];
  enum { threads = THREADS };
  CHECK(sizeof sized == threads * sizeof(int));
#endif
}

/* 5.1.2.1: each thread has private objects of its own; main is called behind a barrier. */
static void startup(void) {
  private_counter += MYTHREAD + 1;
  CHECK(private_counter == MYTHREAD + 1 && counter == 0);
}

/* 5.1.2.3: a strict write publishes the relaxed ones in front of it. */
static void strict_order(void) {
  const int next = (MYTHREAD + 1) % THREADS;
  cyclic[next] = MYTHREAD + 7;
  flag[next] = 1;
  while (flag[MYTHREAD] == 0) {}
  CHECK_EQ(cyclic[MYTHREAD], (MYTHREAD + THREADS - 1) % THREADS + 7);
  upc_barrier;
}

/* 6.3.1 to 6.3.3: the three predefined identifiers are integers. */
static void identifiers(void) {
  CHECK(MYTHREAD >= 0 && MYTHREAD < THREADS && UPC_MAX_BLOCK_SIZE > 0);
#if UPC_MAX_BLOCK_SIZE < 1000
# error "usable in #if"
#endif
}

/* 6.4.1.1: sizeof counts the bytes of all threads. */
static void sizes(void) {
  CHECK_EQ(sizeof blocked, 6 * THREADS * sizeof(int));
  CHECK_EQ(sizeof rows[0], sizeof(row_t));
  CHECK_EQ(sizeof(shared int), sizeof(int));
  CHECK_EQ(sizeof(blocked) / upc_elemsizeof(blocked), 6 * THREADS);
  int not_evaluated = 0;
  CHECK(sizeof cyclic[not_evaluated++] == sizeof(int) && not_evaluated == 0);
}

/* 6.4.1.2: the most that one thread has; a constant. */
static void local_sizes(void) {
  static char sized[upc_localsizeof(shared[3] int[3 * THREADS])];
  CHECK_EQ(sizeof sized, 3 * sizeof(int));
  CHECK_EQ(upc_localsizeof(blocked), 6 * sizeof(int));
  CHECK_EQ(upc_localsizeof(whole), 8 * sizeof(int));
  CHECK_EQ(upc_localsizeof(rows), 30 * sizeof(int));
  CHECK_EQ(upc_localsizeof scalar, sizeof(int));
}

/* 6.4.1.3: the block size of the ultimate element, 0 where it is indefinite. */
static void block_sizes(void) {
  static char sized[upc_blocksizeof(blocked)];
  shared[7] char *p = NULL;
  CHECK_EQ(sizeof sized, 3);
  CHECK_EQ(upc_blocksizeof cyclic, 1);
  CHECK_EQ(upc_blocksizeof(whole), 0);
  CHECK_EQ(upc_blocksizeof(even), 5);
  CHECK_EQ(upc_blocksizeof(rows[1]), 3);
  CHECK(upc_blocksizeof(*p) == 7 && !p);
  CHECK_EQ(upc_blocksizeof(records[0].c), 0);
}

/* 6.4.1.4: the size of the ultimate element. */
static void element_sizes(void) {
  CHECK_EQ(upc_elemsizeof(rows), sizeof(int));
  CHECK_EQ(upc_elemsizeof(records), sizeof(record_t));
  CHECK_EQ(upc_elemsizeof(shared[2] double[4 * THREADS][3]), sizeof(double));
}

/* 6.4.2: thread and phase move with blocks; p - q is what leads from q to p. */
static void arithmetic(void) {
  for (int i = 0; i < 6 * THREADS; i++) {
    shared[3] int *p = blocked + i;
    CHECK_EQ(upc_threadof(p), i / 3 % THREADS);
    CHECK_EQ(upc_phaseof(p), i % 3);
    CHECK_EQ(p - blocked, i);
    CHECK(&blocked[6 * THREADS - 1] - (6 * THREADS - 1 - i) == p);
  }
  CHECK(upc_threadof(whole + 7) == 0 && upc_phaseof(whole + 7) == 0);
  shared[3] int(*row)[10] = &rows[1];
  CHECK(row[1] == rows[2] && row - rows == 1 && upc_phaseof(row) == 10 % 3);
}

/* 6.4.2: equality is of thread and address; order is that of the difference. */
static void comparison(void) {
  shared void *any = &blocked[4];
  CHECK(any == &blocked[4] && any != &blocked[5]);
  CHECK(upc_resetphase(any) == any);
  CHECK(&blocked[4] > &blocked[3] && &blocked[3] <= &blocked[3] && !(&blocked[2] >= &blocked[3]));
}

/* 6.4.2, 6.3.2.3 of C: null pointers-to-shared. */
static void null_pointers(void) {
  shared int *p = 0, *q = NULL, *r = (void *)0;
  CHECK(p == q && q == r && !p && (p ? 0 : 1) && upc_threadof(p) == 0 && upc_phaseof(p) == 0);
  CHECK(cyclic > 0 && 0 < cyclic && cyclic >= 0 && !(p > 0) && !(cyclic < NULL) && p <= 0);
  CHECK((int *)p == NULL && (shared void *)p == NULL && p != cyclic && cyclic);
}

/* 6.4.3: casts between layouts clear the phase, those to shared void * keep it. */
static void layout_casts(void) {
  shared[3] int *p = &blocked[5], *back;
  shared void *any = p;
  CHECK_EQ(upc_phaseof(any), 2);
  back = any;
  CHECK(back == p && upc_phaseof(back) == 2);
  CHECK_EQ(upc_phaseof((shared[2] int *)p), 0);
  CHECK_EQ(upc_phaseof((shared int *)any), 0);
  CHECK_EQ(upc_phaseof((shared[] int *)any), 0);
  CHECK_EQ(upc_threadof((shared[2] int *)p), upc_threadof(p));
}

static int argument(int count, ...) {
  va_list rest;
  va_start(rest, count);
  shared int *p = va_arg(rest, shared int *shared);
  va_end(rest);
  return *p;
}

/* 6.4.3: qualifiers of the type that a cast names do not change the value. */
static void qualified_casts(void) {
  static shared int table[THREADS];
  table[MYTHREAD] = 31 * MYTHREAD + 5;
  upc_barrier;
  shared int *p = (shared int *shared)&table[0], *q = (pointer_t)table;
  CHECK(p == table && q == table);
  p = (shared int *strict shared const)&table[THREADS - 1];
  CHECK(p == &table[THREADS - 1] && *p == 31 * (THREADS - 1) + 5);
  CHECK_EQ(*(shared int *shared)&table[0], 5);
  CHECK_EQ(((pointer_t)table)[THREADS - 1], *p);
  CHECK((int *shared)&table[MYTHREAD] == (int *)&table[MYTHREAD]);
  CHECK_EQ(argument(1, p), *p);
  upc_barrier;
}

/* 6.4.3: a pointer to this thread's part is a C pointer to the same memory. */
static void local_casts(void) {
  int *local = (int *)&blocked[3 * MYTHREAD];
  for (int i = 0; i < 6; i++) local[i] = 100 * MYTHREAD + i;
  for (int i = 0; i < 3; i++) CHECK_EQ(blocked[3 * (MYTHREAD + THREADS) + i], local[3 + i]);
  CHECK((int *)&blocked[3 * MYTHREAD + 1] == local + 1);
  upc_barrier;
}

/* 6.4.4: & of a shared object; members have indefinite layout. */
static void addresses(void) {
  shared[] char *member = &records[2 * MYTHREAD].c[3];
  *member = 'm';
  CHECK(records[2 * MYTHREAD].c[3] == 'm' && member[-3] == 0);
  CHECK(upc_threadof(member) == MYTHREAD && upc_phaseof(&blocked) == 0 && *&scalar == scalar);
}

/* 6.5.1: objects of each kind of pointer, and where they may stand. */
static void pointer_kinds(void) {
  static shared int *shared kept[THREADS];
  static int *shared locals[THREADS];
  shared int *p = &cyclic[MYTHREAD];
  int mine = MYTHREAD;
  kept[MYTHREAD] = p;
  locals[MYTHREAD] = &mine;
  upc_barrier;
  CHECK(upc_threadof(kept[THREADS - 1]) == THREADS - 1 && *locals[MYTHREAD] == MYTHREAD);
  upc_barrier;
}

static int block_of_parameter(even_t a) {
  return upc_blocksizeof(*a);
}

/* 6.5.1.1: [*] in a typedef, and of an array whose initialiser gives the size. */
static void star_layouts(void) {
  even_t *p = &of_typedef;
  CHECK(upc_blocksizeof(of_typedef) == 3 && upc_blocksizeof(even_t) == 3);
  CHECK(upc_blocksizeof(of_rows) == 6 && upc_blocksizeof(*p) == 3 && p == &of_typedef);
  CHECK(upc_blocksizeof(spread) == 4 && block_of_parameter(of_typedef) == 3);
  for (int i = 0; i < 3 * THREADS; i++) CHECK_EQ(upc_threadof(&of_typedef[i]), i / 3);
  CHECK(upc_blocksizeof(sized_here) == 3 && sizeof sized_here == 3 * THREADS * sizeof(int));
  for (int i = 0; i < 3 * THREADS; i++)
    CHECK_EQ(sized_here[i / THREADS][i % THREADS], i % THREADS ? 0 : i / THREADS + 1);
#ifdef __UPC_STATIC_THREADS__
  CHECK_EQ(upc_blocksizeof(listed), (7 + THREADS - 1) / THREADS);
  CHECK_EQ(upc_blocksizeof(of_constant), (5 + THREADS - 1) / THREADS);
  for (int i = 0; i < 7; i++) CHECK_EQ(listed[i], i + 1);
  CHECK(of_constant[2] == 3 && of_constant[3] == 0);
#endif
}

/* 6.5.1.1: [], [0], [*], [k] and none; the qualifier goes to the ultimate element. */
static void layouts(void) {
  static shared[0] int zero[3];
  CHECK_EQ(upc_blocksizeof(zero), 0);
  CHECK_EQ(upc_blocksizeof(shared int), 1);
  for (int i = 0; i < 5 * THREADS; i++) CHECK_EQ(upc_threadof(&even[i]), i / 5);
  for (int i = 0; i < 30 * THREADS; i++)
    CHECK_EQ(upc_threadof(&rows[i / 10][i % 10]), i / 3 % THREADS);
}

/* 6.5.1.1: strict and relaxed by type beat the pragma. */
static void qualifiers(void) {
#pragma upc strict
  static relaxed shared int relaxed_one;
  int shared strict volatile static strict_one;
  const shared int *to_const = &scalar;
  relaxed_one = strict_one = 0;
  CHECK(*to_const == 0 && relaxed_one == strict_one);
}

/* 6.5.2.1: THREADS once in a dimension, alone or times constants. */
static void dimensions(void) {
  static shared int a[(THREADS)], b[2 * THREADS], c[THREADS * (3 * 2)], d[2][THREADS][3];
  CHECK_EQ(sizeof a + sizeof b + sizeof c + sizeof d, (1 + 2 + 6 + 6) * THREADS * sizeof(int));
  CHECK_EQ(upc_threadof(&d[1][0][0]), 3 * THREADS % THREADS);
}

/* 6.6.1: split barriers; values match, and none matches all. */
static void barriers(void) {
  upc_notify 5;
  private_counter++;
  upc_wait 5;
  upc_barrier(__LINE__);
  if (MYTHREAD == 0)
    upc_barrier 9;
  else
    upc_barrier;
  upc_fence;
}

/* 6.6.2: affinity by pointer, integer, continue and none. */
static void forall_affinity(void) {
  int mine = 0, i;
  upc_forall (i = 0; i < 6 * THREADS; i++; &blocked[i]) {
    CHECK(upc_threadof(&blocked[i]) == MYTHREAD);
    mine++;
  }
  CHECK(mine == 6 && i == 6 * THREADS);
  upc_forall (i = 0; i < 4 * THREADS; i++; i) mine++;
  CHECK_EQ(mine, 10);
  upc_forall (i = 0; i < 5; i++; continue) mine++;
  upc_forall (i = 0; i < 5; i++;) mine++;
  CHECK_EQ(mine, 20);
  upc_forall (i = -THREADS; i < 0; i++; i) mine++;
  CHECK_EQ(mine, 21);
}

static int inner(void) {
  int n = 0;
  upc_forall (int j = 0; j < 10; j++; j) n++;
  return n;
}

/* 6.6.2: only the outermost loop with affinity controls, also through calls. */
static void forall_nesting(void) {
  int n = 0;
  upc_forall (int i = 0; i < THREADS; i++; i) n += inner();
  CHECK_EQ(n, 10);
  n = 0;
  upc_forall (int i = 0; i < 2; i++; continue)
    upc_forall (int j = 0; j < THREADS; j++; j) n++;
  CHECK_EQ(n, 2);
}

/* 6.7.1: a pragma holds to the end of its block. */
static void pragmas(void) {
  {
#pragma upc strict
    scalar = 0;
  }
#pragma upc c_code
  int shared = 3, strict = 4, MYTHREADS = shared + strict;
#pragma upc upc_code
  CHECK(MYTHREADS == 7 && MYTHREAD < THREADS);
}

/* 6.7.2: the predefined macros. */
static void macros(void) {
#if !__UPC__ || __UPC_VERSION__ < 201311L || !__UPC_COLLECTIVE__ || !__UPC_TICK__ || \
    !__UPC_ATOMIC__ || !__UPC_CASTABLE__ || !__UPC_NB__ || __UPC_IO__ < 1
# error "macros"
#endif
}

int main(void) {
  static void (*const all[])(void) = {
      environment,   startup,        strict_order, identifiers,   sizes,       local_sizes,
      block_sizes,   element_sizes,  arithmetic,   comparison,    null_pointers, layout_casts,
      qualified_casts, local_casts,   addresses,      pointer_kinds, layouts,      star_layouts, qualifiers,  dimensions,
      barriers,      forall_affinity, forall_nesting, pragmas,    macros};
  upc_barrier;
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    all[i]();
    upc_barrier;
  }
  return 0;
}
