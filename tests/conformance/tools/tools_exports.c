/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/*
 * The inline functions of the tools also work as symbols of the library, for callers without a C
 * compiler: each is looked up by name; some of every kind are called.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <gasnet_tools.h>
#include <unistd.h>

#include "check.h"

static const char *const names[] = {
    "gasnett_ticks_now",      "gasnett_local_mb",       "gasnett_local_wmb",
    "gasnett_local_rmb",      "gasnett_weak_mb",        "gasnett_weak_wmb",
    "gasnett_weak_rmb",       "gasnett_compiler_fence", "gasnett_spinloop_hint",
    "gasnett_mutex_init",     "gasnett_mutex_destroy",  "gasnett_mutex_destroy_ignoreerr",
    "gasnett_mutex_lock",     "gasnett_mutex_trylock",  "gasnett_mutex_unlock",
    "gasnett_cond_init",      "gasnett_cond_destroy",   "gasnett_cond_wait",
    "gasnett_cond_signal",    "gasnett_cond_broadcast", "gasnett_rwlock_init",
    "gasnett_rwlock_rdlock",  "gasnett_rwlock_wrlock",  "gasnett_rwlock_unlock",
    "gasnett_isalpha",        "gasnett_toupper",        "gasnett_isLittleEndian",
    "gasnett_fatalerror",     "gasnett_debug_malloc",   "gasnett_getheapstats",
    "gasnett_backtrace_user", "gasnett_stats_callback", "gasnett_performance_warning_str"};

static const char *const families[] = {"atomic",       "atomic32",       "atomic64",
                                       "strongatomic", "strongatomic32", "strongatomic64"};
static const char *const verbs[] = {"set",
                                    "read",
                                    "add",
                                    "subtract",
                                    "swap",
                                    "increment",
                                    "decrement",
                                    "decrement_and_test",
                                    "compare_and_swap"};

static void find(const char *name) {
  if (!dlsym(RTLD_DEFAULT, name)) check_fail(__FILE__, __LINE__, "%s is not exported", name);
  check_count(1);
}

int main(void) {
  if (!dlsym(RTLD_DEFAULT, "gexx_tools_tick_native")) {
    printf("skipped: the library is linked statically\n");
    return 77;
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) find(names[i]);
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    for (size_t j = 0; j < sizeof verbs / sizeof verbs[0]; j++) {
      char name[64];
      snprintf(name, sizeof name, "gasnett_%s_%s", families[i], verbs[j]);
      find(name);
    }

  uint64_t (*add)(gasnett_atomic64_t *, uint64_t, int) = NULL;
  int (*lock)(gasnett_mutex_t *) = NULL;
  gasnett_tick_t (*now)(void) = NULL;
  *(void **)&add = dlsym(RTLD_DEFAULT, "gasnett_atomic64_add");
  *(void **)&lock = dlsym(RTLD_DEFAULT, "gasnett_mutex_trylock");
  *(void **)&now = dlsym(RTLD_DEFAULT, "gasnett_ticks_now");
  REQUIRE(add && lock && now);
  gasnett_atomic64_t counter = gasnett_atomic64_init(40);
  CHECK_EQ(add(&counter, 2, GASNETT_ATOMIC_MB_PRE), 42);
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  CHECK_EQ(lock(&mutex), 0);
  CHECK_CMP(lock(&mutex), !=, 0); /* the symbol is the threaded form */
  const gasnett_tick_t before = gasnett_ticks_now(), between = now();
  CHECK(before <= between && between <= gasnett_ticks_now());
  return check_done();
}
