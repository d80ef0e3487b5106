/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies: blocking, non-blocking, lists and strides (library 7.2.5, upc_nb.h, bupc_ extensions). */
/* again: TOMBOLO_TEST_SHM=0 */
#include <string.h>
#include <upc_castable.h>
#include <upc_nb.h>
#include <upc_relaxed.h>
#include <upc_tick.h>
#include "check.h"

#define N 64

shared [N] int a[N * THREADS];
shared [N] int b[N * THREADS];

static int next_thread(void) {
  return (MYTHREAD + 1) % THREADS;
}

static void fill(void) {
  upc_barrier;
  for (int i = 0; i < N; i++) {
    a[MYTHREAD * N + i] = MYTHREAD * 1000 + i;
    b[MYTHREAD * N + i] = -1;
  }
  upc_barrier;
}

static void blocking(void) {
  const int next = next_thread();
  int mine[N];
  fill();
  upc_memget(mine, &a[next * N], sizeof mine);
  for (int i = 0; i < N; i++) CHECK_EQ(mine[i], next * 1000 + i);
  upc_memput(&b[next * N + 3], mine, 5 * sizeof(int));
  upc_barrier;
  for (int i = 0; i < 5; i++) CHECK_EQ(b[MYTHREAD * N + 3 + i], MYTHREAD * 1000 + i);
  CHECK_EQ(b[MYTHREAD * N + 8], -1);
  upc_barrier;
  upc_memcpy(&b[next * N], &a[MYTHREAD * N], N * sizeof(int));
  upc_barrier;
  CHECK_EQ(b[next * N + 7], MYTHREAD * 1000 + 7);
  upc_barrier;
  upc_memset(&b[next * N], 0, 4 * sizeof(int));
  upc_barrier;
  CHECK_EQ(b[MYTHREAD * N + 3], 0);
  CHECK(b[MYTHREAD * N + 4] != 0);
}

/* Sizes that the compiler does not know, at any address; the bytes beside them stay. */
static void sizes(void) {
  shared [] char *const there = (shared [] char *)&b[next_thread() * N];
  char from[24], got[26];
  fill();
  for (int i = 0; i < 24; i++) from[i] = 'a' + i;
  for (volatile size_t n = 0; n <= 17; n++) {
    for (int at = 1; at <= 4; at++) {
      upc_memset(there, '-', sizeof got);
      upc_memput(there + at, from + 3, n);
      memset(got, '*', sizeof got);
      upc_memget(got, there + at - 1, n + 2);
      CHECK_EQ(got[0], '-');
      CHECK_EQ(got[n + 1], '-');
      CHECK_EQ(got[n + 2], '*');
      CHECK_EQ(memcmp(got + 1, from + 3, n), 0);
      memset(got, '*', sizeof got);
      upc_memget(got + at, there + at, n);
      CHECK_EQ(got[at - 1], '*');
      CHECK_EQ(got[at + n], '*');
      CHECK_EQ(memcmp(got + at, from + 3, n), 0);
    }
  }
  upc_barrier;
}

static void handles(void) {
  const int next = next_thread();
  int mine[N], other[N];
  bupc_handle_t h[4];
  fill();
  upc_handle_t g = upc_memget_nb(mine, &a[next * N], sizeof mine);
  upc_sync(g);
  CHECK_EQ(mine[N - 1], next * 1000 + N - 1);
  h[0] = bupc_memget_async(other, &a[next * N], sizeof other);
  h[1] = upc_memput_nb(&b[next * N], mine, 10 * sizeof(int));
  h[2] = BUPC_COMPLETE_HANDLE;
  h[3] = bupc_memcpy_async(&b[next * N + 20], &a[MYTHREAD * N], 4 * sizeof(int));
  bupc_waitsync_some(h, 4);
  bupc_waitsync_all(h, 4);
  CHECK(h[0] == UPC_COMPLETE_HANDLE && h[3] == UPC_COMPLETE_HANDLE);
  CHECK(bupc_trysync_all(h, 4));
  CHECK(memcmp(mine, other, sizeof mine) == 0);
  upc_barrier;
  CHECK_EQ(b[MYTHREAD * N + 9], MYTHREAD * 1000 + 9);
  CHECK_EQ(b[next * N + 22], MYTHREAD * 1000 + 2);
  upc_barrier;
  upc_memput_nbi(&b[next * N], mine + 5, 8);
  bupc_memget_asynci(other, &a[next * N + 1], 4);
  upc_memset_nbi(&b[next * N + 40], 1, 4);
  upc_synci();
  CHECK(upc_synci_attempt());
  CHECK_EQ(other[0], next * 1000 + 1);
  upc_barrier;
  CHECK_EQ(b[MYTHREAD * N + 1], MYTHREAD * 1000 + 6);
  CHECK_EQ(b[MYTHREAD * N + 40], 0x01010101);
  bupc_begin_accessregion();
  bupc_memget_asynci(other, &a[next * N + 2], 4);
  bupc_waitsync(bupc_end_accessregion());
  CHECK_EQ(other[0], next * 1000 + 2);
  CHECK(upc_sync_attempt(UPC_COMPLETE_HANDLE));
}

static void pieces(void) {
  const int next = next_thread();
  int mine[N];
  fill();
  for (int i = 0; i < N; i++) mine[i] = MYTHREAD * 100 + i;
  bupc_smemvec_t to[2] = {{&b[next * N], 3 * sizeof(int)}, {&b[next * N + 10], 5 * sizeof(int)}};
  bupc_pmemvec_t from[3] = {{mine, sizeof(int)}, {NULL, 0}, {mine + 20, 7 * sizeof(int)}};
  bupc_memput_vlist(2, to, 3, from);
  upc_barrier;
  const int before = (MYTHREAD + THREADS - 1) % THREADS;
  const int where[8] = {0, 1, 2, 10, 11, 12, 13, 14}, what[8] = {0, 20, 21, 22, 23, 24, 25, 26};
  for (int i = 0; i < 8; i++) CHECK_EQ(b[MYTHREAD * N + where[i]], before * 100 + what[i]);
  upc_barrier;
  shared void *remote[3] = {&a[next * N + 8], &a[next * N], &a[next * N + 30]};
  void *local[1] = {mine};
  bupc_waitsync(bupc_memget_ilist_async(1, local, 6 * sizeof(int), 3, remote, 2 * sizeof(int)));
  CHECK_EQ(mine[0], next * 1000 + 8);
  CHECK_EQ(mine[3], next * 1000 + 1);
  CHECK_EQ(mine[5], next * 1000 + 31);
  bupc_memget_fstrided(mine, 8 * sizeof(int), 8 * sizeof(int), 1, &a[next * N], 2 * sizeof(int),
                       5 * sizeof(int), 4);
  for (int i = 0; i < 8; i++) CHECK_EQ(mine[i], next * 1000 + i / 2 * 5 + i % 2);
  const size_t strides_there[2] = {4 * sizeof(int), 16 * sizeof(int)};
  const size_t strides_here[2] = {2 * sizeof(int), 6 * sizeof(int)};
  const size_t count[3] = {2 * sizeof(int), 3, 4};
  bupc_memget_strided(mine, strides_here, &a[next * N], strides_there, count, 2);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++) CHECK_EQ(mine[i * 6 + j * 2 + 1], next * 1000 + i * 16 + j * 4 + 1);
  upc_barrier;
}

static void questions(void) {
  char text[BUPC_DUMP_MIN_LENGTH];
  CHECK(upc_cast(&a[MYTHREAD * N]) == (void *)&a[MYTHREAD * N]);
  CHECK(upc_cast(NULL) == NULL);
  CHECK(upc_thread_info(MYTHREAD).guaranteedCastable == UPC_CASTABLE_ALL);
  CHECK(bupc_castable(&a[MYTHREAD * N]));
  CHECK(bupc_inverse_cast((void *)&a[MYTHREAD * N + 3]) == &a[MYTHREAD * N + 3]);
  CHECK(bupc_ptradd(&a[5], N, sizeof(int), N) == &a[5 + N]);
  CHECK(bupc_ptradd(&a[5 + N], N, sizeof(int), -N) == &a[5]);
  CHECK_EQ(bupc_thread_distance(MYTHREAD, MYTHREAD), BUPC_THREADS_SAME);
  CHECK(bupc_dump_shared(&a[3], text, sizeof text) == 0 && strstr(text, "phase=3"));
  CHECK(bupc_dump_shared(NULL, text, sizeof text) == 0 && strcmp(text, "<NULL>") == 0);
  CHECK(bupc_dump_shared(NULL, text, 10) == -1);
  const upc_tick_t t = upc_ticks_now();
  while (upc_ticks_to_ns(upc_ticks_now() - t) < 1000) {
  }
  CHECK(upc_ticks_to_ns(upc_ticks_now()) >= upc_ticks_to_ns(t));
  CHECK_EQ(upc_affinitysize(103, 10, THREADS), 0 * THREADS + upc_affinitysize(103, 10, THREADS));
  size_t sum = 0;
  for (int i = 0; i < THREADS; i++) sum += upc_affinitysize(1003, 10, i);
  CHECK_EQ(sum, 1003);
}

int main(void) {
  blocking();
  sizes();
  handles();
  pieces();
  questions();
  return 0;
}
