/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: PAR */
/* The debugging heap (API reference 09, section 15): statistics, dumps, each kind of corruption. */
#define GASNET_DEBUGMALLOC        1
#define GASNETT_MALLOC_USE_SRCPOS 1
#include <gasnet_tools.h>
#include <signal.h>

#include "tools_child.h"

static gasnett_heapstats_t stats(void) {
  gasnett_heapstats_t now;
  CHECK_EQ(gasnett_getheapstats(&now), 0);
  return now;
}

static void test_accounting(void) {
  const gasnett_heapstats_t before = stats();
  char *a = gasnett_debug_malloc(100);
  int *b = gasnett_debug_calloc(10, sizeof *b);
  CHECK_EQ((uintptr_t)a % 16, 0);
  for (int i = 0; i < 10; i++) CHECK_EQ(b[i], 0);
  pattern_fill(a, 100, 1);
  gasnett_heapstats_t now = stats();
  CHECK_EQ(now.live_objects - before.live_objects, 2);
  CHECK_EQ(now.live_bytes - before.live_bytes, 100 + 10 * sizeof *b);
  CHECK_CMP(now.overhead_bytes, >, before.overhead_bytes);
  CHECK(now.live_bytes_max >= now.live_bytes && now.live_objects_max >= now.live_objects);
  a = gasnett_debug_realloc(a, 3000);
  CHECK_BYTES(a, 100, 1);
  a = gasnett_debug_realloc(a, 50);
  CHECK_BYTES(a, 50, 1);
  char *c = gasnett_debug_strdup("hello"), *d = gasnett_debug_strndup("hello", 3);
  char *e = gasnett_debug_strndup("hi", 30), *f = gasnett_debug_realloc(NULL, 0);
  CHECK_STR(c, "hello");
  CHECK_STR(d, "hel");
  CHECK_STR(e, "hi");
  gasnett_debug_memcheck(a);
  for (int i = 0; i < 20; i++) gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
  gasnett_debug_free(NULL);
  gasnett_debug_free(a);
  gasnett_debug_free(c);
  gasnett_debug_memcheck_one();
  gasnett_debug_free(b);
  gasnett_debug_free(d);
  gasnett_debug_free(f);
  gasnett_debug_free(e);
  now = stats();
  CHECK_EQ(now.live_objects, before.live_objects);
  CHECK_EQ(now.live_bytes, before.live_bytes);
  CHECK_EQ(now.overhead_bytes, before.overhead_bytes);
  CHECK_EQ(now.allocated_objects - now.freed_objects, now.live_objects);
  CHECK_EQ(now.allocated_bytes - now.freed_bytes, now.live_bytes);
  CHECK_CMP(now.live_bytes_max, >=, 3000);
}

static void *churn(void *arg) {
  uint64_t state = (uint64_t)(uintptr_t)arg;
  void *p[16] = {NULL};
  for (int i = 0; i < 3000; i++) {
    void **const slot = &p[rng_below(&state, 16)];
    if (*slot) gasnett_debug_free(*slot);
    *slot = gasnett_debug_malloc(rng_below(&state, 200));
    if (i % 64 == 0) gasnett_debug_memcheck_one();
  }
  for (int i = 0; i < 16; i++) gasnett_debug_free(p[i]);
  return NULL;
}

static void test_threads(void) {
  const gasnett_heapstats_t before = stats();
  pthread_t thread[4];
  for (uintptr_t i = 0; i < 4; i++)
    REQUIRE(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)) == 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  const gasnett_heapstats_t now = stats();
  CHECK_EQ(now.live_objects, before.live_objects);
  CHECK_EQ(now.live_bytes, before.live_bytes);
  CHECK_EQ(now.allocated_objects - before.allocated_objects, 12000);
}

static volatile int past_end = 24;

static char *overrun(void) {
  char *p = gasnett_debug_malloc(24);
  p[past_end] = 'x';
  return p;
}
static void free_overrun(void) {
  gasnett_debug_free(overrun());
}
static void check_overrun(void) {
  gasnett_debug_memcheck(overrun());
}
static void check_all_overrun(void) {
  (void)overrun();
  gasnett_debug_memcheck_all();
}
static void underrun(void) {
  char *p = gasnett_debug_malloc(24);
  p[-(past_end - 23)] = 'x';
  gasnett_debug_free(p);
}
static void foreign(void) {
  static char area[256];
  gasnett_debug_free(area + 128);
}
static void huge(void) {
  void *p = gasnett_debug_calloc(SIZE_MAX / 2, 4);
  gasnett_debug_free(p);
}

static void test_corruption(void) {
  CHECK_FATAL(free_overrun, "gasnett_debug_free", "tools_heap.c:", "after object", "24 bytes");
  CHECK_FATAL(check_overrun, "gasnett_debug_memcheck", "after object");
  CHECK_FATAL(check_all_overrun, "gasnett_debug_memcheck_all", "after object");
  CHECK_FATAL(underrun, "gasnett_debug_free", "before it were overwritten");
  CHECK_FATAL(foreign, "gasnett_debug_free", "not an object");
  CHECK_FATAL(huge, "gasnett_debug_calloc", "out of memory");
}

static void dump(void) {
  void *p = gasnett_debug_malloc(77);
  gasnett_heapinfo_dump("stderr", 1);
  gasnett_debug_free(p);
}

static void double_free(void) {
  gasnett_setenv("GASNET_MALLOC_LEAKALL", "1");
  void *p = gasnett_debug_malloc(8);
  void *const again = p;
  gasnett_debug_free(p);
  gasnett_debug_free(again);
}

static void fill(void) {
  gasnett_setenv("GASNET_MALLOC_INIT", "1");
  gasnett_setenv("GASNET_MALLOC_INITVAL", "0xAB");
  const unsigned char *p = gasnett_debug_malloc(64);
  _exit(fill_diff(p, 64, 0xab) == 64 ? 11 : 3);
}

int main(void) {
  /* Options are read at the first allocation, so children that set them come first. */
  CHECK_EQ(child_run(fill).code, 11);
  CHECK_FATAL(double_free, "freed already", "tools_heap.c:");
  test_accounting();
  test_threads();
  test_corruption();
  const struct child_end end = child_run(dump);
  CHECK(strstr(end.text, "77 bytes, from ") && strstr(end.text, "tools_heap.c:"));
  CHECK(strstr(gasnett_performance_warning_str(), "malloc") != NULL);
  return check_done();
}
