/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded bugs of threads that synchronise by atomic operations of C11: a part of the program of
 * bugs.c that is compiled with `--check`.
 */
#include "bugs.h"

#include <pthread.h>
#include <stdatomic.h>

static void both(void *(*run)(void *)) {
  pthread_t thread[2];
  static char name[] = "12";
  for (int i = 0; me == 0 && i < 2; i++)
    if (pthread_create(&thread[i], NULL, run, &name[i]) != 0) abort();
  for (int i = 0; me == 0 && i < 2; i++) (void)pthread_join(thread[i], NULL);
}

/* A lock that spins: the second thread must be the last one. */
static atomic_flag held = ATOMIC_FLAG_INIT;
static void *spins(void *name) {
  for (int i = 0; i < 4; i++) {
    delay(60);
    while (atomic_flag_test_and_set(&held)) (void)sched_yield();
    order[count++] = *(const char *)name;
    atomic_flag_clear(&held);
  }
  return NULL;
}
CASE(atomic_spin) {
  both(spins);
  verdict(me == 0 && order[7] == '1' && order[5] == '2', order);
}

/* Threads draw numbers, by addition and by compare and exchange. */
static atomic_int drawn;
static _Atomic(short) swapped;
static void *draws(void *name) {
  for (int i = 0; i < 3; i++) {
    delay(60);
    order[atomic_fetch_add(&drawn, 1)] = *(const char *)name;
    delay(60);
    short was = atomic_load(&swapped);
    while (!atomic_compare_exchange_weak(&swapped, &was, (short)(was + 1))) continue;
    order[8 + was] = *(const char *)name;
  }
  return NULL;
}
CASE(atomic_numbers) {
  memset(order, '-', 14);
  both(draws);
  verdict(me == 0 && order[0] == '2' && order[13] == '1', order);
}

/* How often a flag is read before it is set. */
static atomic_bool set;
static atomic_long looks;
static void *looks_on(void *name) {
  if (*(const char *)name == '1') {
    delay(400);
    atomic_store_explicit(&set, true, memory_order_release);
  } else {
    while (!atomic_load_explicit(&set, memory_order_acquire)) atomic_fetch_add(&looks, 1);
  }
  return NULL;
}
CASE(atomic_looks) {
  both(looks_on);
  snprintf(order, sizeof order, "%ld looks", atomic_load(&looks));
  verdict(me == 0 && atomic_load(&looks) % 7 == 3, order);
}

/* Messages are counted by a handler and by a thread, which polls until all are there. */
static atomic_int taken;
static void *takes(void *name) {
  while (count < 16) {
    (void)gasnet_AMPoll();
    if (atomic_load(&taken) < count) order[200 + atomic_fetch_add(&taken, 1) % 40] = *(char *)name;
  }
  return NULL;
}
CASE(atomic_handlers) {
  for (int i = 0; i < 8 && me; i++) {
    delay(50);
    gex_AM_RequestShort(tm, 0, H_NAME, 0);
  }
  both(takes);
  verdict(me == 0 && order[0] == '2' && order[15] == '1', order);
}
