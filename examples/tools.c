/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools.c: GASNet-Tools, the calls that need no job: facts of the system, time, atomics, locks.
 *
 * Compile: tombolo cc tools.c -o tools
 * Run:     ./tools
 */
/* mode: PAR */
/* ranks: 1 */
#include <gasnet_tools.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void facts(void) {
  printf("%s: %d processors, %llu MiB, pages of %lu bytes\n", gasnett_gethostname(),
         gasnett_cpu_count(), (unsigned long long)(gasnett_getPhysMemSz(0) >> 20),
         (unsigned long)GASNETT_PAGESIZE);
  printf("this program: %s\n", gasnett_exe_name());
}

/* Properties of the machine, as the compiler knows them; the names are macros, for #if. */
static void platform(void) {
#if PLATFORM_ARCH_LITTLE_ENDIAN
  const char *order = "least";
#else
  const char *order = "most";
#endif
  printf("the %s significant byte comes first\n", order);
}

static void time_of_a_call(void) {
  const gasnett_tick_t begin = gasnett_ticks_now();
  gasnett_nsleep(1000000);
  const gasnett_tick_t end = gasnett_ticks_now();
  printf("1 ms of sleep took %llu us, the clock is exact to %.3f us\n",
         (unsigned long long)gasnett_ticks_to_us(end - begin), gasnett_tick_granularityus());
}

static void environment(void) {
  const int verbose = gasnett_getenv_yesno_withdefault("MY_VERBOSE", 0);
  const int64_t buffer = gasnett_getenv_int_withdefault("MY_BUFFER", 65536, 1); /* 64K is read */
  printf("MY_BUFFER is %lld bytes%s\n", (long long)buffer, verbose ? ", verbose" : "");
}

static gasnett_atomic_t tickets = gasnett_atomic_init(0);

static void *draw(void *arg) {
  (void)arg;
  gasnett_atomic_increment(&tickets, 0);
  return NULL;
}

/* Data first, then the flag; the reader sees the flag first, then the data. */
static int data;
static gasnett_atomic_t ready = gasnett_atomic_init(0);

static void *produce(void *arg) {
  data = 42;
  gasnett_local_wmb();
  gasnett_atomic_set(&ready, 1, 0);
  return arg;
}

static int consume(void) {
  while (gasnett_atomic_read(&ready, 0) == 0) gasnett_spinloop_hint();
  gasnett_local_rmb();
  return data;
}

static gasnett_mutex_t lock = GASNETT_MUTEX_INITIALIZER;
static long sum;

static void *add(void *value) {
  gasnett_mutex_lock(&lock);
  sum += *(const long *)value;
  gasnett_mutex_unlock(&lock);
  return NULL;
}

/* A value for each thread. */
GASNETT_THREADKEY_DEFINE(name_of_thread);

static void *name_thread(void *name) {
  gasnett_threadkey_set(name_of_thread, name);
  printf("thread %s\n", (const char *)gasnett_threadkey_get(name_of_thread));
  return NULL;
}

/* Memory whose ends are checked in programs compiled with -DGASNET_DEBUG=1. */
static void memory(void) {
  char *text = gasnett_debug_malloc(16);
  snprintf(text, 16, "a block");
  gasnett_debug_memcheck(text);
  gasnett_debug_free(text);
}

static void numbers(void) {
  const unsigned char row[8] = {1, 0, 2, 0, 0, 3, 0, 0};
  printf("checksum %llx, %zu bytes are 0\n", (unsigned long long)gasnett_checksum(row, 8),
         gasnett_count0s(row, 8));
}

GASNETT_INLINE(is_name)
int is_name(const char *text) {
  for (; GASNETT_PREDICT_TRUE(*text); text++)
    if (!gasnett_isalnum(*text) && *text != '_') return 0;
  return 1;
}

static void in_thread(void *(*body)(void *), void *arg) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, arg)) gasnett_fatalerror("no thread can be created");
  pthread_join(thread, NULL);
}

int main(void) {
  long one = 1;
  facts();
  platform();
  time_of_a_call();
  environment();
  memory();
  numbers();
  in_thread(draw, NULL);
  in_thread(add, &one);
  in_thread(produce, NULL);
  in_thread(name_thread, "A");
  const int good =
      gasnett_atomic_read(&tickets, 0) == 1 && sum == 1 && consume() == 42 && is_name("a_1");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
