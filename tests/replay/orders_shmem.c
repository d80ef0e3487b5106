/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSHMEM programs whose output depends on the order in which PEs meet, one case each, for
 * tests/replay/orders.py. Run with 4 PEs; the argument is the case. Delays are random.
 */
#include <shmem.h>

#include "../lib/cases.h"
#include "delay.h"

enum { ROUNDS = 6, ENTRIES = 64 };
static long guard[4], count, order[ENTRIES], ticket, flag;
static uint64_t sign;
static int me, n;
static char seen[400];

static void note(long number) {
  const size_t at = strlen(seen);
  if (at + 24 < sizeof seen) snprintf(seen + at, sizeof seen - at, " %ld", number);
}

/* Within a lock: this PE is the next of the list of PE 0. */
static void append(void) {
  const long at = shmem_long_g(&count, 0);
  shmem_long_p(&order[at % ENTRIES], me, 0);
  shmem_long_p(&count, at + 1, 0);
}

/* The order of one lock: some find it free, some wait, and one is released with or without a
 * successor. */
CASE(locks) {
  for (int i = 0; i < ROUNDS; i++) {
    delay(200);
    shmem_set_lock(&guard[0]);
    append();
    shmem_clear_lock(&guard[0]);
  }
}

/* Of several locks, whose words are on several PEs; holders stay for a while. */
CASE(several_locks) {
  for (int i = 0; i < ROUNDS; i++) {
    const int which = (me + i) % 4;
    delay(50);
    shmem_set_lock(&guard[which]);
    note(shmem_long_atomic_fetch_add(&ticket, 1, which % n));
    delay(100);
    shmem_clear_lock(&guard[which]);
  }
}

/* How often a lock is not free. */
CASE(try_lock) {
  long looks = 0;
  for (int i = 0; i < ROUNDS; i++) {
    while (shmem_test_lock(&guard[1])) looks++;
    append();
    delay(50);
    shmem_clear_lock(&guard[1]);
    note(looks);
  }
}

/* Both ways to get a lock. */
CASE(mixed_locks) {
  for (int i = 0; i < ROUNDS; i++) {
    const int missed = me % 2 ? shmem_test_lock(&guard[2]) : (shmem_set_lock(&guard[2]), 0);
    note(missed);
    if (!missed) append();
    delay(60);
    if (!missed) shmem_clear_lock(&guard[2]);
  }
}

/* Numbers that PEs draw. */
CASE(tickets) {
  for (int i = 0; i < ROUNDS; i++) {
    delay(200);
    note(shmem_long_atomic_fetch_add(&ticket, 1, 0));
  }
}

/* Looks at a word of another PE until a value has come. */
CASE(flags) {
  long looks = 0;
  delay(200);
  if (me == 2) shmem_long_p(&flag, 7, 1);
  while (me == 3 && shmem_long_g(&flag, 1) != 7) looks++;
  note(looks);
}

/* Values of a signal. */
CASE(signals) {
  if (me) {
    delay(60);
    shmem_signal_add(&sign, (uint64_t)me, 0);
  }
  uint64_t now = 0, before = 0;
  for (; me == 0 && now != 6; before = now)
    if ((now = shmem_signal_fetch(&sign)) != before) note((long)now);
}

int main(int argc, char **argv) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  case_run(argc, argv);
  shmem_barrier_all();
  for (long i = 0; me == 0 && i < count; i++) note(order[i]);
  printf("PE %d%s\n", me, seen);
  shmem_finalize();
  return 0;
}
