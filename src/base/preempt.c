/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Injected preemption, see preempt.h.
 *
 * Owns: the random numbers of each thread. Called at every lock, unlock and publication of trees
 * configured with TMB_PREEMPT; empty in others. Calls: the scheduler, nanosleep. Without the
 * environment variable TMB_PREEMPT_SEED no thread is stopped. The numbers follow from it
 * (scripts/run_tests.py prints it), the process and the thread: a seed makes a failure likely
 * again, not certain, because the kernel has its part. Source: xorshift64* (S. Vigna, An
 * experimental exploration of Marsaglia's xorshift generators, scrambled, 2016,
 * doi:10.1145/2845077).
 */
#include "base/preempt.h"

#if defined(TMB_PREEMPT)

# include "base/config.h"

# include <errno.h>
# include <sched.h>
# include <stdbool.h>
# include <stdint.h>
# include <stdlib.h>
# include <time.h>
# include <unistd.h>

# define YIELD_ONE_IN  32u    /* points */
# define MOMENT_ONE_IN 512u   /* a sleep of up to 200 us */
# define LONG_ONE_IN   16384u /* a sleep of up to 4 ms */

static _Thread_local uint64_t state __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_off __attribute__((tls_model("initial-exec"))); /* there is no seed */

static uint64_t first_state(const char *text) {
  const uint64_t seed = strtoull(text, NULL, 0);
  const uint64_t mine = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&state >> 6;
  return (seed ^ mine) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static uint64_t next(void) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

static void rest(uint64_t ns) {
  const struct timespec span = {0, (long)ns};
  nanosleep(&span, NULL);
}

/* Whether this thread is to be stopped at all. */
static bool begin(void) {
  const char *text = tmb_env_get("TMB_PREEMPT_SEED");
  is_off = !text;
  if (text) state = first_state(text);
  return text;
}

void tmb_preempt(const char *name) {
  (void)name;
  if (is_off || (!state && !begin())) return;
  const uint64_t r = next() >> 20;
  if (r % YIELD_ONE_IN) return;
  const int before = errno;
  if (r % LONG_ONE_IN == 0)
    rest((r >> 20) % 4000000);
  else if (r % MOMENT_ONE_IN == 0)
    rest((r >> 20) % 200000);
  else
    sched_yield();
  errno = before;
}

#endif
