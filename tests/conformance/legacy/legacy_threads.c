/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08 with threads: every thread of every rank puts, gets, sends and waits at the same time;
 * handles cross threads; notify and wait of one barrier phase are on different threads.
 */
/* mode: PAR */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* ranks: 1 2 3 */
/* timeout: 120 */
#include "legacy.h"

enum { THREADS = 6, ROUNDS = 60, WORDS = 256, H_ADD = 150, H_BACK };

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static long long handled; /* under lock */
static volatile int answered[THREADS];

static void add_handler(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t thread,
                        gasnet_handlerarg_t seed) {
  CHECK_BYTES(buf, nbytes, (uint64_t)seed);
  gasnet_hsl_lock(&lock);
  handled++;
  gasnet_hsl_unlock(&lock);
  gasnet_AMReplyShort1(token, H_BACK, thread);
}
static void back_handler(gasnet_token_t token, gasnet_handlerarg_t thread) {
  (void)token;
  __atomic_fetch_add(&answered[thread], 1, __ATOMIC_RELEASE);
}

/* Stretch of thread t of this rank in the segment of `node`. */
static uint32_t *stretch(gasnet_node_t node, int t) {
  return (uint32_t *)g1.seg[node].addr + ((size_t)g1.rank * THREADS + (size_t)t) * WORDS;
}

static void exchange(int t, gasnet_node_t to, uint32_t round) {
  uint32_t out[WORDS], in[WORDS];
  pattern_fill(out, sizeof out, round * 100u + (uint32_t)t);
  uint32_t *const remote = stretch(to, t);
  gasnet_begin_nbi_accessregion();
  for (int i = 0; i < WORDS; i += 2) gasnet_put_nbi_bulk(to, remote + i, &out[i], 8);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  const gasnet_valget_handle_t value = gasnet_get_nb_val(to, remote + 7, 4);
  for (int i = 0; i < WORDS; i++) gasnet_get_nbi(&in[i], to, remote + i, 4);
  gasnet_wait_syncnbi_gets();
  CHECK_EQ(memcmp(in, out, sizeof in), 0);
  CHECK_EQ(gasnet_wait_syncnb_valget(value), out[7]);
}

static void *work(void *arg) {
  const int t = (int)(intptr_t)arg;
  char payload[200];
  for (int round = 0; round < ROUNDS; round++) {
    const gasnet_node_t to = (g1.rank + (unsigned)(round + t)) % g1.size;
    exchange(t, to, (uint32_t)round);
    const int seed = round * THREADS + t;
    pattern_fill(payload, sizeof payload, (uint64_t)seed);
    CHECK_EQ(gasnet_AMRequestMedium2(to, H_ADD, payload, sizeof payload - (size_t)t, t, seed),
             GASNET_OK);
    GASNET_BLOCKUNTIL(__atomic_load_n(&answered[t], __ATOMIC_ACQUIRE) > round);
  }
  return NULL;
}

static void run_threads(void *(*fn)(void *), int n) {
  pthread_t thread[THREADS];
  for (int t = 0; t < n; t++)
    REQUIRE(pthread_create(&thread[t], NULL, fn, (void *)(intptr_t)t) == 0);
  for (int t = 0; t < n; t++) REQUIRE(pthread_join(thread[t], NULL) == 0);
}

static gasnet_handle_t passed;
static void *sync_passed(void *arg) {
  (void)arg;
  gasnet_wait_syncnb(passed);
  return NULL;
}
static void *notify_only(void *arg) {
  (void)arg;
  gasnet_barrier_notify(77, 0);
  return NULL;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{H_ADD, (gex_AM_Fn_t)add_handler},
                                   {H_BACK, (gex_AM_Fn_t)back_handler}};
  g1_start(&argc, &argv, table, 2, 64 * GASNET_PAGESIZE);
  run_threads(work, THREADS);
  g1_barrier();
  gasnet_hsl_lock(&lock);
  const long long mine = handled;
  gasnet_hsl_unlock(&lock);
  if (g1.size == 1) CHECK_EQ(mine, THREADS * ROUNDS);
  CHECK_CMP(mine, >, 0);

  /* A handle made here is synchronised by another thread. */
  static uint32_t word;
  word = g1.rank + 5;
  const gasnet_node_t next = (g1.rank + 1) % g1.size;
  passed = gasnet_put_nb_bulk(next, stretch(next, 0), &word, 4);
  run_threads(sync_passed, 1);
  run_threads(notify_only, 1);
  CHECK_EQ(gasnet_barrier_wait(77, 0), GASNET_OK);
  const gasnet_node_t prev = (g1.rank + g1.size - 1) % g1.size;
  CHECK_EQ(*((uint32_t *)g1.base + (size_t)prev * THREADS * WORDS), prev + 5);
  return g1_finish();
}
