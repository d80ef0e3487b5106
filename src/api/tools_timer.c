/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks, wall time and sleep of the tools API (API reference 09, section 2).
 *
 * Owns: gexx_tools_tick_native, which the inline gasnett_ticks_now of clients reads, and the
 * measured properties of the counter. Called by clients. Calls os/processor/ticks.h, which owns the
 * choice of the counter and its calibration. Invariant: the flag is set by an early constructor,
 * before constructors of clients that use ticks.
 */
#define GASNETT_THREAD_SAFE 1

#include "base/compiler.h"
#include "gasnet_tools.h"
#include "os/os.h"
#include "os/processor/ticks.h"

#include <pthread.h>

int gexx_tools_tick_native;

TMB_AT_LOAD static void choose_tick_source(void) {
  gexx_tools_tick_native = tmb_os_ticks_native();
}

gasnett_tick_t gexx_tools_ticks_slow(void) {
  return tmb_os_ticks_now();
}

uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks) {
  return tmb_os_ticks_to_ns(ticks);
}

uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks) {
  return tmb_os_ticks_to_ns(ticks) / 1000;
}

static struct {
  pthread_once_t once;
  double granularity_ns, overhead_ns;
} measured = {.once = PTHREAD_ONCE_INIT, .granularity_ns = 0, .overhead_ns = 0};

static void measure(void) {
  tmb_os_ticks_measure(&measured.granularity_ns, &measured.overhead_ns);
}

double gasnett_tick_granularityus(void) {
  pthread_once(&measured.once, measure);
  return measured.granularity_ns / 1000;
}

double gasnett_tick_overheadus(void) {
  pthread_once(&measured.once, measure);
  return measured.overhead_ns / 1000;
}

uint64_t gasnett_gettimeofday_us(void) {
  return tmb_os_walltime_us();
}

int gasnett_nsleep(uint64_t ns_delay) {
  return tmb_os_nsleep(ns_delay);
}
