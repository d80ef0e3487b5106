/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of UPC with phases of barriers, strict accesses that go through a third thread,
 * locks, collectives and block transfers: one case each, for tests/check/findings.py, compiled with
 * `tombolo upcc --check`. Lines that race end with a comment `race: CASE`, those of correct cases
 * have none. Run with 3 threads; the argument is the case.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <upc_atomic.h>
#include <upc_collective.h>
#include <upc_nb.h>
#include <upc_relaxed.h>

shared int x[THREADS], y, z;
shared [8] int part[8 * THREADS];
shared [8] int more[8 * THREADS];
strict shared int flag[THREADS];
static upc_lock_t *lock[2];
static volatile int sink;
static int v[16];

#define CASE(name) static void name(void)

static void await(int t, int value) {
  while (flag[t] != value) continue;
}

/* Memory that one thread has freed is another one's. */
CASE(freed_and_allocated) {
  if (MYTHREAD == 2) usleep(30000);
  shared [4] int *const a = (shared [4] int *)upc_global_alloc(THREADS, 4 * sizeof(int));
  for (int i = 0; i < 4 * THREADS; i++) a[i] = MYTHREAD;
  upc_free(a);
}
CASE(read_between_phases) {
  if (MYTHREAD == 1) y = 1; /* race: read_between_phases */
  upc_notify;
  if (MYTHREAD == 2) sink = y; /* race: read_between_phases */
  upc_wait;
}
CASE(strict_chain_early) {
  if (MYTHREAD == 0) {
    y = 1; /* race: strict_chain_early */
    flag[1] = 1;
  }
  if (MYTHREAD == 1) {
    flag[2] = 1;
    await(1, 1);
  }
  if (MYTHREAD == 2) {
    await(2, 1);
    sink = y; /* race: strict_chain_early */
  }
}
CASE(other_flag) {
  if (MYTHREAD == 0) {
    y = 1; /* race: other_flag */
    flag[1] = 1;
  }
  if (MYTHREAD == 1) flag[0] = 1;
  if (MYTHREAD == 2) {
    await(0, 1);
    sink = y; /* race: other_flag */
  }
}
CASE(two_locks) {
  if (MYTHREAD == 1) {
    upc_lock(lock[0]);
    y = 1; /* race: two_locks */
    upc_unlock(lock[0]);
  }
  if (MYTHREAD == 2) {
    upc_lock(lock[1]);
    y = 2; /* race: two_locks */
    upc_unlock(lock[1]);
  }
}
CASE(blocks) {
  if (MYTHREAD == 1) upc_memput(&part[0], v, 5 * sizeof(int));     /* race: blocks */
  if (MYTHREAD == 2) upc_memput(&part[4], v + 4, 3 * sizeof(int)); /* race: blocks */
}
CASE(copied) {
  if (MYTHREAD == 1) upc_memcpy(&part[0], &more[16], 4 * sizeof(int)); /* race: copied */
  if (MYTHREAD == 2) more[17] = 4;                                     /* race: copied */
}
CASE(put_early) {
  if (MYTHREAD == 1) {
    upc_handle_t h = upc_memput_nb(&part[16], v, 16); /* race: put_early */
    flag[2] = 1;
    upc_sync(h);
  }
  if (MYTHREAD == 2) {
    await(2, 1);
    sink = part[17]; /* race: put_early */
  }
}
CASE(broadcast_without_sync) {
  if (MYTHREAD == 1) part[16] = 1; /* race: broadcast_without_sync */
  upc_all_broadcast(more, x, sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  if (MYTHREAD == 2) sink = part[16]; /* race: broadcast_without_sync */
}
CASE(wrong_affinity) {
  int i;
  upc_forall(i = 0; i < 16; i++; i / 8) {
    part[i ? i - 1 : 8] = i; /* race: wrong_affinity */
  }
}

/* ---- correct */

CASE(ok_phases) {
  for (int i = 0; i < 10; i++) {
    part[8 * ((MYTHREAD + 1) % THREADS)] = i;
    upc_notify;
    more[8 * MYTHREAD] = i;
    upc_wait;
    part[8 * MYTHREAD]++;
    sink = more[8 * MYTHREAD];
    upc_barrier i;
    sink = more[8 * ((MYTHREAD + 2) % THREADS)];
    upc_barrier;
  }
}
CASE(ok_strict_chain) {
  for (int i = 1; i <= 10; i++) {
    if (MYTHREAD == 0) {
      if (i > 1) await(0, i - 1);
      y = i;
      part[16] = y;
    } else {
      await(MYTHREAD, i);
      y++;
      part[17]++;
    }
    flag[(MYTHREAD + 1) % THREADS] = i;
  }
}
CASE(ok_locks) {
  for (int i = 0; i < 10; i++) {
    upc_lock(lock[0]);
    while (!upc_lock_attempt(lock[1])) continue;
    y++;
    upc_unlock(lock[0]);
    z += y > 0;
    upc_unlock(lock[1]);
  }
}
CASE(ok_blocks) {
  upc_memput(&part[8 * ((MYTHREAD + 1) % THREADS)], v, 8 * sizeof(int));
  upc_barrier;
  upc_handle_t h = upc_memcpy_nb(&more[8 * MYTHREAD], &part[8 * ((MYTHREAD + 2) % THREADS)], 32);
  upc_sync(h);
  upc_memget(v, &more[8 * MYTHREAD], 32);
}
CASE(ok_collectives) {
  for (int i = 0; i < 5; i++) {
    part[8 * ((MYTHREAD + 1) % THREADS)] = i;
    upc_all_broadcast(more, part, sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    part[8 * MYTHREAD]++;
    sink = more[8 * MYTHREAD];
    upc_all_exchange(more, part, sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    more[8 * ((MYTHREAD + 1) % THREADS) + 1]++;
    upc_barrier;
  }
}
CASE(ok_atomics) {
  upc_atomicdomain_t *const d =
      upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD | UPC_GET | UPC_SET, 0);
  const int one = 1;
  int now = 0;
  if (MYTHREAD) {
    part[MYTHREAD] = 1;
    upc_fence;
    upc_atomic_strict(d, NULL, UPC_ADD, &z, &one, NULL);
  } else {
    while (now < 2) upc_atomic_strict(d, &now, UPC_GET, &z, NULL, NULL);
    sink = part[1] + part[2];
  }
  upc_all_atomicdomain_free(d);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define C(name) \
 { #name, name }
    C(freed_and_allocated),
    C(read_between_phases),
    C(strict_chain_early),
    C(other_flag),
    C(two_locks),
    C(blocks),
    C(copied),
    C(put_early),
    C(broadcast_without_sync),
    C(wrong_affinity),
    C(ok_phases),
    C(ok_strict_chain),
    C(ok_locks),
    C(ok_blocks),
    C(ok_collectives),
    C(ok_atomics),
};

int main(int argc, char **argv) {
  for (int i = 0; i < 2; i++) lock[i] = upc_all_lock_alloc();
  upc_barrier;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  upc_barrier;
  for (int i = 0; i < 2; i++) upc_all_lock_free(lock[i]);
  return 0;
}
