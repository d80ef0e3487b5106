/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of UPC, one case each, for tests/check/findings.py: compiled with `tombolo upcc
 * --check`. Lines that race end with a comment `race: CASE`, those of correct cases have none. Run
 * with 3 threads; the argument is the case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_castable.h>
#include <upc_nb.h>
#include <upc_relaxed.h>

shared int x[THREADS], y;
shared [8] int part[8 * THREADS];
strict shared int flag;
shared int relaxed_flag;
static upc_lock_t *lock;
static volatile int sink;

#define CASE(name) static void name(void)

CASE(relaxed_put_load) {
  if (MYTHREAD == 1) x[0] = 5;    /* race: relaxed_put_load */
  if (MYTHREAD == 0) sink = x[0]; /* race: relaxed_put_load */
}
CASE(relaxed_put_put) {
  if (MYTHREAD) y = MYTHREAD; /* race: relaxed_put_put relaxed_put_put */
}
CASE(flag_without_fence) {
  if (MYTHREAD == 1) {
    y = 5;            /* race: flag_without_fence */
    relaxed_flag = 1; /* no order */
  }
  if (MYTHREAD == 2) sink = y; /* race: flag_without_fence */
}
CASE(private_pointer) {
  int *const mine = (int *)&part[8 * MYTHREAD];
  if (MYTHREAD == 2) mine[3] = 4;      /* race: private_pointer */
  if (MYTHREAD == 0) sink = part[19]; /* race: private_pointer */
}
CASE(cast_pointer) {
  int *const there = (int *)upc_cast(&x[0]);
  if (MYTHREAD == 1) *there = 5;  /* race: cast_pointer */
  if (MYTHREAD == 0) sink = x[0]; /* race: cast_pointer */
}
CASE(memput_load) {
  int v[8] = {0};
  if (MYTHREAD == 1) upc_memput(&part[0], v, sizeof v); /* race: memput_load */
  if (MYTHREAD == 0) sink = part[5];                    /* race: memput_load */
}
CASE(outside_lock) {
  if (MYTHREAD == 1) {
    upc_lock(lock);
    y = 1; /* race: outside_lock */
    upc_unlock(lock);
  }
  if (MYTHREAD == 2) y = 2; /* race: outside_lock */
}
CASE(notify_too_early) {
  upc_notify;
  if (MYTHREAD == 1) y = 1; /* race: notify_too_early */
  upc_wait;
  if (MYTHREAD == 2) sink = y; /* race: notify_too_early */
}
CASE(strict_then_relaxed) {
  if (MYTHREAD == 1) {
    flag = 1;
    y = 7; /* race: strict_then_relaxed */
  }
  if (MYTHREAD == 2) {
    while (!flag) continue;
    sink = y; /* race: strict_then_relaxed */
  }
}

/* ---- correct: nothing may be found */

CASE(ok_barrier) {
  for (int i = 0; i < 5; i++) {
    x[MYTHREAD] = i;
    part[(8 * MYTHREAD + 8) % (8 * THREADS)] = i;
    upc_barrier;
    sink = x[(MYTHREAD + 1) % THREADS] + part[8 * MYTHREAD];
    upc_barrier;
  }
}
CASE(ok_strict) {
  if (MYTHREAD == 1) {
    y = 7;
    flag = 1;
  }
  if (MYTHREAD == 1) return;
  while (!flag) continue;
  sink = y;
}
CASE(ok_lock) {
  for (int i = 0; i < 10; i++) {
    upc_lock(lock);
    y = y + 1;
    upc_unlock(lock);
  }
}
CASE(ok_own_lock) {
  if (MYTHREAD == 0) y = 1;
  upc_lock(lock);
  part[0]++;
  upc_unlock(lock);
}

CASE(leak_handle) {
  static int v[8];
  const int next = (MYTHREAD + 1) % THREADS;
  (void)upc_memput_nb(&part[8 * next], v, sizeof v); /* leak: leak_handle */
}
CASE(leak_lock) {
  if (MYTHREAD == 2) upc_lock(lock); /* leak: leak_lock */
}
CASE(leak_tried_lock) {
  if (MYTHREAD == 1) (void)upc_lock_attempt(lock); /* leak: leak_tried_lock */
}
CASE(leak_implicit) {
  static int v[8];
  const int next = (MYTHREAD + 1) % THREADS;
  upc_memput_nbi(&part[8 * next], v, sizeof v); /* leak: leak_implicit */
}
CASE(leak_barrier) {
  if (MYTHREAD == 0) upc_lock_free(lock);
  upc_notify; /* leak: leak_barrier */
  exit(0);
}
static shared int *shared blocks[THREADS];
CASE(memory) {
  shared int *const all = upc_all_alloc(THREADS, 4);
  blocks[MYTHREAD] = (shared int *)upc_alloc(8); /* memory: memory */
  upc_barrier;
  if (MYTHREAD == 2) upc_free(all);
}
static bupc_sem_t *shared sems[THREADS];
CASE(memory_semaphore) {
  bupc_sem_free(bupc_sem_alloc(0));
  sems[MYTHREAD] = bupc_sem_alloc(0); /* memory: memory_semaphore */
}
CASE(ok_memory) {
  upc_lock_t *const mine = upc_global_lock_alloc();
  sems[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER);
  blocks[MYTHREAD] = (shared int *)upc_alloc(8);
  upc_barrier;
  upc_free(blocks[(MYTHREAD + 1) % THREADS]); /* of another thread */
  bupc_sem_free(sems[(MYTHREAD + 1) % THREADS]);
  upc_lock_free(mine);
  upc_all_free(upc_all_alloc(THREADS, 4));
  if (MYTHREAD == 1) upc_free(upc_global_alloc(8, 4));
}
CASE(ok_leak) {
  static int v[8];
  const int next = (MYTHREAD + 1) % THREADS;
  upc_handle_t h = upc_memput_nb(&part[8 * next], v, sizeof v);
  upc_sync(h);
  upc_memget_nbi(v, &part[8 * next], sizeof v);
  upc_synci();
  upc_lock(lock);
  upc_unlock(lock);
  upc_notify;
  upc_wait;
  if (upc_lock_attempt(lock)) upc_unlock(lock);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define C(name) \
 { #name, name }
    C(relaxed_put_load),
    C(relaxed_put_put),
    C(flag_without_fence),
    C(private_pointer),
    C(cast_pointer),
    C(memput_load),
    C(outside_lock),
    C(notify_too_early),
    C(strict_then_relaxed),
    C(ok_barrier),
    C(ok_strict),
    C(ok_lock),
    C(ok_own_lock),
    C(leak_handle),
    C(leak_lock),
    C(leak_tried_lock),
    C(leak_implicit),
    C(leak_barrier),
    C(memory),
    C(memory_semaphore),
    C(ok_memory),
    C(ok_leak),
};

int main(int argc, char **argv) {
  lock = upc_all_lock_alloc();
  upc_barrier;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  upc_barrier;
  if (MYTHREAD == 0) upc_lock_free(lock);
  return 0;
}
