/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: PAR */
/*
 * Atomics and fences among threads (API reference 09, sections 3 and 4): lost updates, release and
 * acquire, Dekker's exclusion by full fences. Each family's values are checked in tools_family.h.
 */
#include <pthread.h>

#include "tools_family.h"

#if !GASNETT_HAVE_ATOMIC_ADD_SUB || !GASNETT_HAVE_ATOMIC_CAS
# error "generic add and compare-and-swap exist on our targets"
#endif
#if !GASNETT_HAVE_STRONGATOMIC_ADD_SUB || !GASNETT_HAVE_STRONGATOMIC_CAS
# error "strong add and compare-and-swap exist on our targets"
#endif
#if defined(GASNETT_STRONGATOMIC_NOT_SIGNALSAFE) || defined(GASNETT_USING_GENERIC_ATOMICOPS)
# error "atomics are instructions on our targets"
#endif

enum { THREADS = 4, ROUNDS = 500000, EXCHANGES = 5000 };

static gasnett_atomic_t by_increment = gasnett_atomic_init(0);
static gasnett_atomic32_t by_cas = gasnett_atomic32_init(0);
static gasnett_atomic64_t by_add = gasnett_atomic64_init(0);
static gasnett_strongatomic64_t by_subtract = gasnett_strongatomic64_init(0);
static gasnett_atomic32_t token = gasnett_atomic32_init(1); /* 1: nobody has it */
static gasnett_atomic32_t last = gasnett_atomic32_init(THREADS);
static gasnett_atomic32_t zeros = gasnett_atomic32_init(0);
static long by_swap_lock;
static pthread_barrier_t gate;

static void *count(void *arg) {
  (void)arg;
  pthread_barrier_wait(&gate); /* so that the threads overlap */
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t old;
    gasnett_atomic_increment(&by_increment, 0);
    (void)gasnett_atomic64_add(&by_add, UINT64_C(0x100000003), 0);
    (void)gasnett_strongatomic64_subtract(&by_subtract, 1, GASNETT_ATOMIC_NONE);
    do {
      old = gasnett_atomic32_read(&by_cas, 0);
    } while (!gasnett_atomic32_compare_and_swap(&by_cas, old, old + 1, 0));
  }
  for (int i = 0; i < ROUNDS / 25; i++) {
    while (!gasnett_atomic32_swap(&token, 0, GASNETT_ATOMIC_ACQ)) gasnett_sched_yield();
    by_swap_lock++;
    gasnett_atomic32_set(&token, 1, GASNETT_ATOMIC_REL);
  }
  if (gasnett_atomic32_decrement_and_test(&last, GASNETT_ATOMIC_MB_PRE))
    gasnett_atomic32_increment(&zeros, 0);
  return NULL;
}

static void test_counters(void) {
  pthread_t thread[THREADS];
  const uint64_t total = (uint64_t)THREADS * ROUNDS;
  pthread_barrier_init(&gate, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) REQUIRE(pthread_create(&thread[i], NULL, count, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK_EQ(gasnett_atomic_read(&by_increment, 0), total);
  CHECK_EQ(gasnett_atomic32_read(&by_cas, 0), total);
  CHECK_EQ(gasnett_atomic64_read(&by_add, 0), total * UINT64_C(0x100000003));
  CHECK_EQ(gasnett_strongatomic64_read(&by_subtract, 0), 0 - total);
  CHECK_EQ(by_swap_lock, total / 25);
  CHECK_EQ(gasnett_atomic32_read(&zeros, 0), 1);
}

/* A ping-pong of plain data, ordered by the flags of the operation that publishes it. */
static struct {
  gasnett_atomic32_t turn;
  int method;
  uint64_t data[4];
} mail = {gasnett_atomic32_init(0), 0, {0, 0, 0, 0}};

/* Publishes `turn` after the data, in one of four methods. */
static void publish(uint32_t turn) {
  switch (turn % 4) {
  case 0: gasnett_atomic32_set(&mail.turn, turn, GASNETT_ATOMIC_REL); break;
  case 1: (void)gasnett_atomic32_swap(&mail.turn, turn, GASNETT_ATOMIC_REL); break;
  case 2: (void)gasnett_atomic32_add(&mail.turn, 1, GASNETT_ATOMIC_MB_PRE); break;
  default:
    CHECK(gasnett_atomic32_compare_and_swap(&mail.turn, turn - 1, turn, GASNETT_ATOMIC_WMB_PRE));
  }
}

static void await(uint32_t turn) {
  while (gasnett_atomic32_read(&mail.turn, GASNETT_ATOMIC_ACQ) != turn) gasnett_sched_yield();
}

static void *ping(void *arg) {
  uint64_t torn = 0;
  (void)arg;
  for (uint32_t i = 0; i < EXCHANGES; i++) {
    await(2 * i + 1);
    for (int j = 0; j < 4; j++) torn += mail.data[j] != mix64(2 * i + 1) + (uint64_t)j;
    for (int j = 0; j < 4; j++) mail.data[j] = mix64(2 * i + 2) + (uint64_t)j;
    publish(2 * i + 2);
  }
  CHECK_EQ(torn, 0);
  return NULL;
}

static void test_messages(void) {
  pthread_t thread;
  uint64_t torn = 0;
  REQUIRE(pthread_create(&thread, NULL, ping, NULL) == 0);
  for (uint32_t i = 0; i < EXCHANGES; i++) {
    for (int j = 0; j < 4; j++) mail.data[j] = mix64(2 * i + 1) + (uint64_t)j;
    publish(2 * i + 1);
    await(2 * i + 2);
    for (int j = 0; j < 4; j++) torn += mail.data[j] != mix64(2 * i + 2) + (uint64_t)j;
  }
  pthread_join(thread, NULL);
  CHECK_EQ(torn, 0);
}

/*
 * Store buffering: x = 1; fence; read y || y = 1; fence; read x. Without full fences both may read
 * 0. Four methods of asking for the fence.
 */
enum { SB_ROUNDS = 20000 };
static gasnett_atomic32_t sb[SB_ROUNDS][2];
static uint8_t saw[SB_ROUNDS][2];
static gasnett_atomic32_t sb_round[2] = {gasnett_atomic32_init(0), gasnett_atomic32_init(0)};

static void store_then_read(int round, int me) {
  gasnett_atomic32_t *const mine = &sb[round][me], *const other = &sb[round][!me];
  switch (round % 4) {
  case 0:
    gasnett_atomic32_set(mine, 1, 0);
    gasnett_local_mb();
    break;
  case 1: gasnett_atomic32_set(mine, 1, GASNETT_ATOMIC_MB_POST); break;
  case 2:
    gasnett_atomic32_set(mine, 1, 0);
    gasnett_local_wmb();
    break;
  default: (void)gasnett_atomic32_swap(mine, 1, GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST);
  }
  saw[round][me] = (uint8_t)gasnett_atomic32_read(other, 0);
}

static void *store_buffering(void *arg) {
  const int me = *(const int *)arg;
  for (int round = 0; round < SB_ROUNDS; round++) {
    gasnett_atomic32_set(&sb_round[me], (uint32_t)round, GASNETT_ATOMIC_REL);
    for (int spins = 0; gasnett_atomic32_read(&sb_round[!me], GASNETT_ATOMIC_ACQ) < (uint32_t)round;
         spins++)
      if (spins % 64 == 63)
        gasnett_sched_yield();
      else
        gasnett_spinloop_hint();
    store_then_read(round, me);
  }
  return NULL;
}

static void test_full_fences(void) {
  static const int side[2] = {0, 1};
  pthread_t thread[2];
  int both_zero = 0;
  for (int i = 0; i < 2; i++)
    REQUIRE(pthread_create(&thread[i], NULL, store_buffering, (void *)(uintptr_t)&side[i]) == 0);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < SB_ROUNDS; i++) both_zero += !saw[i][0] && !saw[i][1];
  CHECK_EQ(both_zero, 0);
}

int main(void) {
  family_all();
  test_counters();
  test_messages();
  test_full_fences();
  gasnett_weak_mb();
  gasnett_weak_wmb();
  gasnett_weak_rmb();
  gasnett_local_rmb();
  gasnett_compiler_fence();
  return check_done();
}
