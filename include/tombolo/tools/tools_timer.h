/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_timer.h: ticks, wall time, sleep (API reference 09, section 2).
 *
 * Owns gasnett_tick_t and gasnett_ticks_now, which reads the CPU's cycle counter inline when the
 * library found at load time that it runs at a constant rate, and asks the library for
 * clock_gettime(CLOCK_MONOTONIC) in ns otherwise. Included by gasnet_tools.h in every mode. Calls
 * src/api/tools_timer.c, which owns the calibrated scale. Invariant: gexx_tools_tick_native is
 * written once, by the library's constructor.
 */
#ifndef GEXX_TOOLS_TIMER_H
#define GEXX_TOOLS_TIMER_H

#include "tools_config.h"

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnett_ticks_now: GASNet-Tools: time.
 * [in] ticks: a tick, or a difference of two.
 * [in] ns_delay: nanoseconds.
 * Names: gasnett_tick_t: a reading of the tick counter;
 * GASNETT_TICK_MIN: the least tick;
 * GASNETT_TICK_MAX: the greatest tick;
 * GASNETT_USING_GETTIMEOFDAY: never defined, ticks do not come from a clock that can be set
 * Completion: the calls return at once; gasnett_nsleep after the time.
 * Threads: any thread, any context, also before the job is started.
 * Errors: gasnett_nsleep returns non-zero when a signal handler has run.
 * Cost: gasnett_ticks_now reads the counter of the processor where its rate is constant, else a
 * clock of the system. The first conversion may take some milliseconds.
 * See: gasnett_config */

typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN GEXX_NUMBER(gasnett_tick_t, 0)
#define GASNETT_TICK_MAX UINT64_MAX
/* GASNETT_USING_GETTIMEOFDAY stays undefined: ticks never come from the settable clock. */

/* Support for the inline below: 1 if the cycle counter is the tick source. */
GEXX_API extern int gexx_tools_tick_native;
GEXX_API gasnett_tick_t gexx_tools_ticks_slow(void);

/* Current tick. Monotone on one thread; only differences on one thread, converted, have a meaning.
 */
GEXX_TOOLS_INLINE gasnett_tick_t gasnett_ticks_now(void) {
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_expect(gexx_tools_tick_native, 1)) {
    uint32_t lo, hi;
    __asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi));
    return ((uint64_t)hi << 32) | lo;
  }
#elif defined(__aarch64__)
  if (__builtin_expect(gexx_tools_tick_native, 1)) {
    uint64_t now;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return gexx_tools_ticks_slow();
}

/* Convert a tick or a difference of ticks. The first call may calibrate (some ms). */
GEXX_API uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks);
GEXX_API uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks);

/* Smallest difference between two successive readings, and cost of a reading; measured once, in us,
 * > 0. */
GEXX_API double gasnett_tick_granularityus(void);
GEXX_API double gasnett_tick_overheadus(void);

/* Microseconds since 1970-01-01 by the settable wall clock. */
GEXX_API uint64_t gasnett_gettimeofday_us(void);

/*
 * Sleep at least ns_delay nanoseconds; 0 returns at once.
 * Returns 0, or non-zero with errno EINTR if a signal handler ran first.
 */
GEXX_API int gasnett_nsleep(uint64_t ns_delay);

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
