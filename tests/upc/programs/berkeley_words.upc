/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that programs for Berkeley UPC use: forall, vectors by upc_ names, types, instrumentation. */
/* ranks: 1 4 */
#define BUPC_USE_UPC_NAMESPACE 1
#include <pupc.h>
#include <upc.h>
#include "check.h"
#pragma pupc on
shared int a[4 * THREADS];
shared [2] int *blocked;
int forall_count;
static void loops(void) {
  int i;
  forall (i = 0; i < 4 * THREADS; i++; &a[i]) {
    a[i] = i;
    forall_count++;
  }
  forall (int k = 0; k < THREADS; k++; continue)
    CK(k < THREADS);
  upc_barrier;
  CK(forall_count == 4 && a[4 * THREADS - 1] == 4 * THREADS - 1);
}
/* A function of that name stays one. */
static int called(int (*forall)(int)) {
  return forall(3);
}
static int add_one(int x) {
  return x + 1;
}
static void vectors(void) {
  static shared [] int target[2];
  int source[2] = {5, 6};
  upc_smemvec_t to[] = {{target, sizeof target}};
  upc_pmemvec_t from[] = {{source, sizeof source}};
  if (MYTHREAD == 0) upc_memput_vlist(1, to, 1, from);
  upc_barrier;
  CK(target[0] == 5 && target[1] == 6);
}
static void types(void) {
  CK(bupc_assert_type(&a[0], shared int *) && bupc_assert_type(MYTHREAD, int));
  CK(!bupc_assert_type(blocked, shared int *) && bupc_assert_type(blocked, shared [2] int *));
  CK(!bupc_assert_type(int *, shared int *) && !bupc_assert_type(long, int));
  static char sized[bupc_assert_type(shared [3] int *, shared [3] int *) + 1];
  CK(sizeof sized == 2);
}
static void instrumentation(void) {
  const unsigned first = pupc_create_event("first", "%d"), second = pupc_create_event("second", "");
  CK(first != second);
  pupc_event_start(first, 1);
  pupc_event_atomic(second);
  pupc_event_end(first);
  pupc_control(0);
  CK(pupc_control(1) == 0 && pupc_control(1) == 1);
}
static void clock_by_older_names(void) {
  const bupc_tick_t begin = bupc_ticks_now();
  bupc_poll();
  const bupc_tick_t ticks = bupc_ticks_now() - begin;
  CK(bupc_ticks_to_ns(ticks) / 1000 == bupc_ticks_to_us(ticks));
}
static void tracing(void) {
  bupc_trace_setmask("G");
  bupc_trace_printf(("thread %d begins", MYTHREAD));
  CK(bupc_trace_getmask()[0] == 0);
}
int main(void) {
  loops();
  CK(called(add_one) == 4);
  vectors();
  types();
  instrumentation();
  clock_by_older_names();
  tracing();
  return 0;
}
