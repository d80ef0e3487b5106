/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gups.upc: random updates of a table that is spread over all threads; the same updates a second time
 * restore it.
 *
 * Shows: a cyclic table larger than a thread's part, remote read-modify-write, atomic updates.
 * Compile: tombolo upcc -O2 gups.upc -o gups
 * Run:     tombolo run -n 4 ./gups
 */
/* ranks: 1 2 4 */
#include <stdint.h>
#include <stdio.h>
#include <upc_relaxed.h>
#include <upc_tick.h>

#define SIZE (1 << 14) /* of each thread's part */
#define UPDATES 20000

shared uint64_t table[SIZE * THREADS];
shared int wrong[THREADS];

static uint64_t next(uint64_t x) {
  return (x << 1) ^ ((int64_t)x < 0 ? 7 : 0);
}

static void update(uint64_t seed) {
  uint64_t x = seed;
  for (int i = 0; i < UPDATES; i++) {
    x = next(x);
    bupc_atomicU64_fetchxor_relaxed(&table[x % (SIZE * THREADS)], x);
  }
}

int main(void) {
  const uint64_t seed = 0x9e3779b97f4a7c15u * (MYTHREAD + 1);
  upc_forall (int i = 0; i < SIZE * THREADS; i++; &table[i]) table[i] = i;
  upc_barrier;
  const upc_tick_t start = upc_ticks_now();
  update(seed);
  upc_barrier;
  const double ns = upc_ticks_to_ns(upc_ticks_now() - start);
  update(seed);
  upc_barrier;
  upc_forall (int i = 0; i < SIZE * THREADS; i++; &table[i]) wrong[MYTHREAD] += table[i] != i;
  upc_barrier;
  int all = 0;
  for (int t = 0; t < THREADS; t++) all += wrong[t];
  if (MYTHREAD == 0)
    printf("%s: %.1f ns for an update, %d wrong\n", all ? "FAILED" : "ok", ns / UPDATES, all);
  return all != 0;
}
