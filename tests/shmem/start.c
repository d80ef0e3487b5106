/* SPDX-License-Identifier: BSD-3-Clause */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Set-up, queries, the symmetric heap, put and get in bytes, and an end without shmem_finalize. */
#include "check.h"

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void check_queries(int me, int n) {
  int major, minor, state;
  char name[SHMEM_MAX_NAME_LEN];
  shmem_info_get_version(&major, &minor);
  CHECK_EQ(major * 100 + minor, 106);
  shmem_info_get_name(name);
  CHECK_STR(name, SHMEM_VENDOR_STRING);
  shmem_query_initialized(&state);
  CHECK(state);
  shmem_query_finalized(&state);
  CHECK_EQ(state, 0);
  CHECK(me >= 0 && me < n);
  CHECK_EQ(shmem_pe_accessible(n - 1), 1);
  CHECK_EQ(shmem_pe_accessible(n), 0);
  CHECK_EQ(shmem_pe_accessible(-1), 0);
}

/* The start of many PEs takes as long as each of them: no library is loaded for a crash that may
 * come. Sanitizers load it themselves. */
static void check_libraries(void) {
#if !defined(__SANITIZE_ADDRESS__)
  char line[512];
  FILE *const maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (maps && fgets(line, sizeof line, maps)) CHECK(!strstr(line, "/libgcc_s"));
  if (maps) fclose(maps);
#endif
}

static void check_heap(int me, int n) {
  CHECK_PTR(shmem_malloc(0), NULL);
  char *a = shmem_malloc(100), *b = shmem_align(4096, 1000);
  CHECK(a && b);
  long *c = shmem_calloc(50, sizeof *c);
  for (int i = 0; i < 50; i++) CHECK_EQ(c[i], 0);
  memset(a, me + 1, 100);
  memset(b, me + 1, 1000);
  shmem_barrier_all();
  char got[100];
  shmem_getmem(got, a, 100, (me + 1) % n);
  CHECK_EQ(got[99], (me + 1) % n + 1);
  shmem_barrier_all();
  a = shmem_realloc(a, 100000);
  CHECK_EQ(a[99], me + 1);
  a = shmem_realloc(a, 10);
  CHECK_EQ(a[9], me + 1);
  shmem_free(b);
  shmem_free(NULL);
  CHECK_PTR(shmem_malloc(SIZE_MAX / 2), NULL);
  for (int i = 0; i < 1000; i++) shmem_free(shmem_malloc(1 + (size_t)i * 7919 % 30000));
  shmem_free(a);
  CHECK_PTR(shmem_realloc(c, 0), NULL);
}

/* Blocks at multiples of large powers of two are symmetric, and what follows them. */
static void check_align(int me, int n) {
  const size_t huge = (size_t)2 << 20;
  for (size_t alignment = sizeof(void *); alignment <= huge; alignment *= 2) {
    int *const a = shmem_align(alignment, sizeof *a), *const b = shmem_malloc(sizeof *b);
    CHECK(a && b && (uintptr_t)a % alignment == 0);
    shmem_int_p(a, me, (me + 1) % n);
    shmem_int_p(b, -me, (me + 1) % n);
    shmem_barrier_all();
    CHECK_EQ(*a, (me + n - 1) % n);
    CHECK_EQ(*b, -((me + n - 1) % n));
  }
}

/* No elements: any address will do. */
static void check_nothing(int me) {
  static uint64_t signal;
  int local = 0;
  shmem_int_put(NULL, NULL, 0, me);
  shmem_int_put(&local, &local, 0, me);
  shmem_getmem_nbi(NULL, NULL, 0, me);
  shmem_putmem_nbi(NULL, NULL, 0, me);
  shmem_int_iput(NULL, NULL, 1, 1, 0, me);
  shmem_putmem_signal(NULL, NULL, 0, &signal, 3, SHMEM_SIGNAL_SET, me);
  CHECK_EQ(shmem_signal_wait_until(&signal, SHMEM_CMP_GT, 0), 3);
  CHECK_EQ(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
  CHECK_EQ(shmem_broadcastmem(SHMEM_TEAM_WORLD, NULL, NULL, 0, 0), 0);
}

static void check_rma(int me, int n) {
  enum { COUNT = 70000 };
  unsigned char *a = shmem_malloc(COUNT), *b = shmem_malloc(COUNT);
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  for (size_t size = 0; size <= COUNT; size = size * 3 + 1) {
    memset(a, me + 3, COUNT);
    memset(b, 0, COUNT);
    shmem_barrier_all();
    shmem_putmem(b, a, size, right);
    shmem_barrier_all();
    if (size) CHECK_EQ(b[0], left + 3);
    if (size) CHECK_EQ(b[size - 1], left + 3);
    if (size < COUNT) CHECK_EQ(b[size], 0);
    shmem_barrier_all();
    shmem_putmem_nbi(b, a, size, left);
    shmem_barrier_all();
    if (size) CHECK_EQ(b[size - 1], right + 3);
    shmem_getmem_nbi(a, b, size, right);
    shmem_quiet();
    if (size) CHECK_EQ(a[size - 1], (right + 1) % n + 3);
    shmem_barrier_all();
  }
  shmem_free(b);
  shmem_free(a);
}

int main(void) {
  int state;
  shmem_query_initialized(&state);
  CHECK_EQ(state, 0);
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  check_queries(me, n);
  check_libraries();
  check_heap(me, n);
  check_align(me, n);
  check_nothing(me);
  check_rma(me, n);
  return check_done(); /* the library ends as with shmem_finalize */
}
