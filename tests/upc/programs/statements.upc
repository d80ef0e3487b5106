/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, notify, wait, fence and pragmas where statements may stand. */
/* ranks: 1 4 */
#include "check.h"
#include <upc_strict.h>
strict shared int flag;
relaxed shared int data;
shared int arr[THREADS];
#define SYNC upc_barrier
#define B(n) upc_barrier(n)
shared int turn;
void split(int v) {
  upc_notify v;
  {
    int k = 0;
    for (; k < 10; k++)
      ;
  }
  upc_wait v;
}
int main(int argc, char *argv[]) {
#pragma upc relaxed
  int i;
  upc_barrier 1;
  upc_barrier(2);
  upc_barrier __LINE__;
  upc_barrier - 5;
  upc_barrier(1 + 2) * 3;
  SYNC;
  B(7);
  upc_notify;
  upc_wait;
  upc_notify 3;
  upc_wait 3;
  upc_notify(4);
  upc_wait(4);
  upc_notify 5;
  upc_wait;
  upc_fence;
  split(9);
  {
#pragma upc strict
    if (MYTHREAD == 0) {
      data = 42;
      flag = 1;
    } else {
      while (!flag)
        ;
      CK(data == 42);
    }
  }
  upc_barrier;
  for (i = 0; i < THREADS; i++) {
    if (i == MYTHREAD) {
      arr[i] = i;
      upc_fence;
    }
    upc_barrier i;
  }
  if (MYTHREAD == 0)
    upc_fence;
  else
    upc_fence;
  if (THREADS > 1)
    upc_barrier;
  else {
    upc_barrier;
  }
  do upc_barrier;
  while (0);
  switch (argc) {
  default: upc_barrier; break;
  case 99: upc_fence;
  }
  {
    int x;
    x = 3;
    upc_barrier x;
  }
lab:
  upc_barrier;
  if (0) goto lab;
  while (turn != MYTHREAD) upc_fence;
  turn = MYTHREAD + 1;
  upc_barrier;
  CK(turn == THREADS);
  return 0;
}
