/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Ticks, wall time and sleep of the tools (API reference 09, section 2). */
#include <errno.h>
#include <gasnet_tools.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

static uint64_t clock_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void test_monotone(void) {
  gasnett_tick_t last = gasnett_ticks_now();
  uint64_t backwards = 0;
  for (int i = 0; i < 1000000; i++) {
    const gasnett_tick_t now = gasnett_ticks_now();
    backwards += now < last;
    last = now;
  }
  CHECK_EQ(backwards, 0);
  CHECK_CMP(last, >, GASNETT_TICK_MIN);
  CHECK_CMP(last, <, GASNETT_TICK_MAX);
}

/*
 * An interval by ticks against CLOCK_MONOTONIC: the tick readings lie inside one pair of clock
 * readings and outside another, so no scheduling delay can spoil the comparison.
 */
static void test_scale(void) {
  const uint64_t outer_start = clock_ns(CLOCK_MONOTONIC);
  const gasnett_tick_t first = gasnett_ticks_now();
  const uint64_t inner_start = clock_ns(CLOCK_MONOTONIC);
  const struct timespec pause = {0, 100000000};
  nanosleep(&pause, NULL);
  const uint64_t inner_end = clock_ns(CLOCK_MONOTONIC);
  const gasnett_tick_t last = gasnett_ticks_now();
  const uint64_t outer_end = clock_ns(CLOCK_MONOTONIC);
  const uint64_t ns = gasnett_ticks_to_ns(last - first);
  const double lower = (double)(inner_end - inner_start) * 0.999;
  const double upper = (double)(outer_end - outer_start) * 1.001;
  if ((double)ns < lower || (double)ns > upper)
    check_fail(__FILE__, __LINE__, "ticks say %" PRIu64 " ns, the clock %.0f to %.0f", ns, lower,
               upper);
  check_count(1);
  CHECK_EQ(gasnett_ticks_to_us(last - first), ns / 1000);
  CHECK_EQ(gasnett_ticks_to_ns(0), 0);
}

static void test_properties(void) {
  const double granularity = gasnett_tick_granularityus(), overhead = gasnett_tick_overheadus();
  CHECK(granularity > 0 && granularity < 1e4);
  CHECK(overhead > 0 && overhead < 1e4);
  struct timeval before, after;
  gettimeofday(&before, NULL);
  const uint64_t now = gasnett_gettimeofday_us();
  gettimeofday(&after, NULL);
  CHECK_CMP(now, >=, (uint64_t)before.tv_sec * 1000000u + (uint64_t)before.tv_usec);
  CHECK_CMP(now, <=, (uint64_t)after.tv_sec * 1000000u + (uint64_t)after.tv_usec);
}

static void on_alarm(int sig) {
  (void)sig;
}

static void test_sleep(void) {
  const uint64_t start = clock_ns(CLOCK_MONOTONIC);
  CHECK_EQ(gasnett_nsleep(20000000), 0);
  CHECK_CMP(clock_ns(CLOCK_MONOTONIC) - start, >=, 20000000);
  CHECK_EQ(gasnett_nsleep(0), 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval soon = {{0, 20000}, {0, 20000}}; /* again, should the first come early */
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &soon, NULL);
  errno = 0;
  const int rc = gasnett_nsleep(UINT64_C(30000000000));
  CHECK_CMP(rc, !=, 0);
  CHECK_EQ(errno, EINTR);
  setitimer(ITIMER_REAL, &never, NULL);
}

int main(void) {
  test_monotone();
  test_scale();
  test_properties();
  test_sleep();
  return check_done();
}
