/* SPDX-License-Identifier: BSD-3-Clause */
/* A relaxed read that is written again in the same block may keep its value only while nothing can
 * have changed it: stores by every path, calls, fences, strict accesses, other iterations. */
#include "check.h"
#include <string.h>
#include <upc_relaxed.h>

struct pair {
  int x, y;
};
struct holder {
  int *p;
  int at;
};
shared int a[4 * THREADS], one;
shared struct pair s[THREADS];
strict shared int pulse;
shared int *shared cell;
shared int flag[THREADS];
int which;
static shared int *walk;

static void touch(int at) { a[at] += 100; }
static int touched(int at) { return a[at] += 100; }

static void stores(int i, int j) {
  shared int *p = &a[i], *q = &a[j];
  int *here = (int *)&a[i], sum;
  struct holder h = {here, 0}, *to = &h;
  int *table[2] = {here, here};
  a[i] = 1;
  sum = a[i] + a[i];
  CHECK_EQ(sum, 2);
  a[j] = 5; /* the same element */
  sum = a[i] + *p + *q;
  CHECK_EQ(sum, 15);
  *q = 6;
  CHECK_EQ(*p + a[i], 12);
  sum = a[i];
  *here = 7;
  sum += a[i];
  CHECK_EQ(sum, 13);
  sum = a[i];
  h.p[0] = 8;
  sum += a[i];
  CHECK_EQ(sum, 15);
  sum = a[i];
  to->p[h.at] = 9;
  sum += a[i];
  CHECK_EQ(sum, 17);
  sum = a[i];
  table[1][0] = 10;
  sum += a[i];
  CHECK_EQ(sum, 19);
  sum = a[i];
  a[i]++;
  sum += a[i];
  CHECK_EQ(sum, 21);
  sum = a[i];
  a[j] *= 2;
  sum += a[i];
  CHECK_EQ(sum, 33);
}

static void places(int i) {
  int k = i, sum, *pk = &k;
  for (int e = 0; e < 4; e++) a[4 * MYTHREAD + e] = e;
  k = 4 * MYTHREAD;
  walk = &a[k];
  sum = a[k] + *walk;
  k++;
  sum += a[k];
  CHECK_EQ(sum, 1);
  sum = a[k];
  *pk += 1;
  sum += a[k];
  CHECK_EQ(sum, 3);
  sum = a[k];
  k = k + 1;
  sum = sum * 10 + a[k];
  CHECK_EQ(sum, 23);
  sum = *walk;
  walk++;
  sum = sum * 10 + *walk;
  walk += 2;
  sum = sum * 10 + *walk;
  CHECK_EQ(sum, 13);
  which = 4 * MYTHREAD + 1;
  sum = a[which];
  extern int which;
  which++;
  sum = sum * 10 + a[which];
  CHECK_EQ(sum, 12);
}

static void members(int i) {
  struct pair *here = (struct pair *)&s[i];
  s[i].x = 1;
  s[i].y = 2;
  int sum = s[i].x + 10 * s[i].y + s[i].x;
  CHECK_EQ(sum, 22);
  sum = s[i].x;
  here->x = 5;
  sum = sum * 10 + s[i].x;
  CHECK_EQ(sum, 15);
  shared struct pair *p = &s[i];
  sum = p->x + p->y;
  *p = (struct pair){7, 8};
  sum += p->x + p->y;
  CHECK_EQ(sum, 22);
  sum = p->x;
  memset(here, 0, sizeof *here);
  sum += p->x;
  CHECK_EQ(sum, 7);
  union {
    int i;
    float f;
  } u = {.i = s[i].y};
  u.f = 1;
  sum = s[i].y + u.i;
  CHECK_EQ(sum, 0x3f800000);
}

static void calls(int i) {
  a[i] = 0;
  int sum = a[i] + a[i];
  touch(i);
  sum += a[i];
  CHECK_EQ(sum, 100);
  sum = a[i];
  sum += touched(i);
  sum += a[i];
  CHECK_EQ(sum, 500);
  sum = a[i];
  if (sum > 0) a[i] = 1;
  sum = a[i];
  CHECK_EQ(sum, 1);
  if (a[i] == 1 && a[i] > 0) a[i] = 2;
  CHECK(a[i] == 2);
  sum = a[i];
  while (a[i] < 10) a[i]++;
  sum += a[i];
  CHECK_EQ(sum, 12);
  sum = a[i];
again:
  sum += a[i];
  if (sum < 50) goto again;
  CHECK_EQ(sum, 50);
  switch (sum) {
  case 50:
    a[i] = 3;
    sum = a[i] * a[i];
  case 51: sum += a[i]; break;
    sum = a[i] + a[i];
  }
  CHECK_EQ(sum, 12);
}

/* What another thread writes is seen behind strict accesses, fences, barriers, and by spinning. */
static void others(void) {
  const int left = (MYTHREAD + THREADS - 1) % THREADS, right = (MYTHREAD + 1) % THREADS;
  int sum;
  a[MYTHREAD] = 1;
  upc_barrier;
  sum = a[left] + a[left];
  upc_barrier;
  a[MYTHREAD] = 10;
  upc_barrier;
  sum += a[left];
  CHECK_EQ(sum, 12);
  sum = flag[MYTHREAD];
  flag[right] = 1;
  while (!flag[MYTHREAD]) upc_fence;
  sum = sum + flag[MYTHREAD];
  CHECK(sum == 1 || sum == 2);
  upc_barrier;
  if (MYTHREAD == 0) one = 0, pulse = 0;
  upc_barrier;
  if (MYTHREAD == THREADS - 1) {
    one = 5;
    pulse = 1;
  }
  sum = one;
  while (pulse == 0) {}
  sum = one;
  CHECK_EQ(sum, 5);
  upc_barrier;
  if (MYTHREAD == 0) cell = &a[0];
  upc_barrier;
  sum = *cell + *cell;
  upc_barrier;
  if (MYTHREAD == 0) cell = &a[THREADS];
  a[MYTHREAD + THREADS] = 3;
  upc_barrier;
  sum = *cell + *cell;
  CHECK_EQ(sum, 6);
  upc_barrier;
}

int main(void) {
  stores(MYTHREAD, MYTHREAD + 0 * which);
  upc_barrier;
  places(0);
  upc_barrier;
  members(MYTHREAD);
  upc_barrier;
  calls(MYTHREAD);
  upc_barrier;
  others();
  return 0;
}
