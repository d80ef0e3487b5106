/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tick counter: the cheapest clock of the machine, and its conversion to nanoseconds.
 *
 * Owns: which counter is used and its rate. Called by core (spin limits), api (gasnett_ticks_*),
 * tools. Calls: os.h, config (GASNET_TSC_*). Invariants: the source is chosen once per process and
 * never changes; if the processor's counter does not run at a constant rate, a tick is a nanosecond
 * of CLOCK_MONOTONIC.
 */
#ifndef TMB_OS_TICKS_H
#define TMB_OS_TICKS_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>

/*
 * True if the processor's counter is the source of ticks, so that an inline may read it directly.
 * The first call also notes a starting point for the calibration: call it early. Threads: any.
 */
bool tmb_os_ticks_native(void);

/* The counter is known to be the source; atomic, read by tmb_os_ticks_now only. */
extern bool tmb_os_ticks_counter;

/* A tick where the counter is not known to be the source. */
uint64_t tmb_os_ticks_slow(void);

/* The processor's counter; of another processor the clock. */
static inline uint64_t tmb_os_ticks_read(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t now;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return tmb_os_ticks_slow();
#endif
}

/* Current tick, of the chosen source. Threads: any. Cost: about 10 ns. */
static inline uint64_t tmb_os_ticks_now(void) {
  return TMB_LIKELY(tmb_load_acq(&tmb_os_ticks_counter)) ? tmb_os_ticks_read()
                                                         : tmb_os_ticks_slow();
}

/*
 * Nanoseconds of a number of ticks. Threads: any.
 * Cost: a multiplication; the first call calibrates, which takes up to 10 ms since
 * tmb_os_ticks_native.
 */
uint64_t tmb_os_ticks_to_ns(uint64_t ticks);

/* Ticks per second, calibrated. */
double tmb_os_ticks_hz(void);

/* Name of the source and of its calibration: "rdtsc, measured", "clock_gettime", ... */
const char *tmb_os_ticks_source(void);

/* Least difference of two successive readings and the cost of one reading, both in ns, > 0;
 * measured. */
void tmb_os_ticks_measure(double *granularity_ns, double *overhead_ns);

#endif
