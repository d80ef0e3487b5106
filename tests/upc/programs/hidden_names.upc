/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* Names of types that a function gives other meanings; names of ours; imaginary constants; %p. */
#include "check.h"
#include <complex.h>
#include <string.h>
typedef struct cell {
  int v, w;
  struct {
    int d;
  } in;
} cell;
typedef int index_t;
typedef double real;
struct pair {
  long a;
  int b;
};
enum color { red, blue };
shared cell cells[THREADS * 4];
shared real rr[THREADS * 4];
shared [2] index_t ix[2 * THREADS];
shared struct pair pairs[THREADS * 2];
shared enum color colors[THREADS];
shared [] char text[10] = "text";
shared [] char *within[] = {text, &text[1], 0};
shared int first = 5;
static shared int *const volatile to_first = &first;
shared double complex z[THREADS];
#define twice(x)       \
 ({                    \
  typeof(x) x_ = (x);  \
  x_ + x_;             \
 })

static int variable(shared cell *cell, int i) {
  cell[0].w = 3;
  cell->in.d = 4;
  cell += 1;
  cell--;
  return cell->v + cell[0].w + cell->in.d + i;
}
static int of_its_own_name(void) {
  shared cell *cell = upc_alloc(sizeof(*cell));
  cell->v = 2;
  int r = cell->v;
  upc_free(cell);
  return r;
}
static int numbers(int real, int index_t) {
  rr[MYTHREAD] = 2.5;
  rr[MYTHREAD] += real;
  ix[MYTHREAD * 2 + 1] = index_t;
  ix[2 * MYTHREAD + 1]++;
  return rr[MYTHREAD] * 2 + ix[2 * MYTHREAD + 1];
}
static int structure(void) {
  struct pair {
    char c;
  } x = {1};
  pairs[MYTHREAD + THREADS].b = 7;
  return pairs[MYTHREAD + THREADS].b + x.c;
}
static int enumeration(void) {
  enum color { x, y, z } l = z;
  colors[MYTHREAD] = blue;
  return colors[MYTHREAD] + l;
}
static int another_type(void) {
  typedef char cell;
  int n = 0;
  for (int i = 0; i < THREADS * 4; i++) n += cells[i].v == 0;
  shared [] cell *q = upc_alloc(4);
  q[1] = 'a';
  n += q[1] == 'a';
  upc_free(q);
  return n;
}
static int in_forall(void) {
  int n = 0;
  index_t real = 3;
  upc_forall (int i = 0; i < 4 * THREADS; i++; &rr[i]) {
    rr[i] = real;
    n++;
  }
  return n;
}
int main(void) {
  char b[100];
  CHECK_EQ(variable(cells + MYTHREAD, 1), 8);
  CHECK_EQ(of_its_own_name(), 2);
  CHECK_EQ(numbers(1, 5), 13);
  CHECK_EQ(structure(), 8);
  CHECK_EQ(enumeration(), 3);
  CHECK_EQ(another_type(), 4 * THREADS + 1);
  CHECK_EQ(in_forall(), 4);
  CHECK(*within[1] == 'e' && !within[2]);
  CHECK_EQ(*to_first, 5);
  z[MYTHREAD] = twice(3i);
  CHECK_EQ(cimag(z[MYTHREAD]), 6);
  z[MYTHREAD] += twice(1.5fi);
  CHECK_EQ(cimag(z[MYTHREAD]), 9);
  snprintf(b, sizeof b, "%p %d %p %s", &rr[1], 42, (shared void *)ix, "end");
  CHECK(strstr(b, " 42 ") && strstr(b, " end"));
  upc_barrier;
  if (!MYTHREAD) printf("ok\n");
  return 0;
}
