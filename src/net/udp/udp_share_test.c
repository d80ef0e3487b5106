/* SPDX-License-Identifier: BSD-3-Clause */
/* A progress thread that always finds work takes no more of a processor than its share, goes on
 * working, and ends at once when it is stopped. */
#include "base/unit_test.h"
#include "net/plugin/progress_thread.h"

#include "base/atomic.h"

#include <time.h>

enum { TEND_NS = 1000000, RUN_NS = 300000000, SHARE = 5 };

static uint64_t used_ns; /* processor time of the thread */
static uint64_t tick;    /* never grows: the client computes */

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Uses the processor for a millisecond and asks to be called again at once. */
static bool tend(struct tmb_net *net, uint64_t seen, struct pollfd *fds, uint32_t *count,
                 uint64_t *ns) {
  (void)net, (void)seen, (void)fds;
  const uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from < TEND_NS) continue;
  tmb_fetch_add_rlx(&used_ns, TEND_NS);
  *count = 0;
  *ns = 0;
  return true;
}

TEST(share) {
  const uint64_t from = clock_ns(CLOCK_MONOTONIC);
  struct tmb_progress_thread *t = tmb_progress_thread_start(
      &(struct tmb_progress_work){.tick = &tick, .tend = tend, .share = SHARE});
  assert_non_null(t);
  while (clock_ns(CLOCK_MONOTONIC) - from < RUN_NS || tmb_load_rlx(&used_ns) < 2u * TEND_NS)
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  tmb_progress_thread_stop(t);
  const uint64_t passed = clock_ns(CLOCK_MONOTONIC) - from;
  /* The first look of each 0.1 s, and the one that exceeds the share, are not in it. */
  assert_cmp(tmb_load_rlx(&used_ns), <=,
             passed * SHARE / 100 + (2 + 2 * (passed / 100000000)) * TEND_NS);
}

int main(void) {
  return unit_run(NULL, NULL);
}
