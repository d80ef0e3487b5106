/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tick counter: see ticks.h.
 *
 * Owns: the choice of the counter and its scale. Called by core, api, tools. Calls: os.h, config,
 * log. The rate of the x86 counter is measured against CLOCK_MONOTONIC between a first reading and
 * the first conversion, at least CALIBRATION_NS apart; each reading is the tightest of several
 * brackets counter-clock-counter, so that the error is some 50 ns in 10 ms. The counter of aarch64
 * reports its rate. Invariant: ns = ticks * scale / 2^SCALE_BITS in 128 bits.
 */
#include "os/processor/ticks.h"

#include "base/ascii.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "os/os.h"
#include "os/processor/fpu.h"
#include "os/sysfile.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
# include <cpuid.h>
#endif

enum { CALIBRATION_NS = 10000000, SCALE_BITS = 32, BRACKETS = 16 };

__extension__ typedef unsigned __int128 wide;

struct reading {
  uint64_t ticks, ns;
};

bool tmb_os_ticks_counter;

static struct reading start;
static double rate_hz; /* ticks per second */
static uint64_t scale; /* ns per tick, times 2^SCALE_BITS */
static const char *source = "clock_gettime";

#if defined(__x86_64__) || defined(__i386__)
# define COUNTER_NAME "rdtsc"

/* True if the counter runs at one rate in all power states, by the processor or by the kernel's
 * choice. */
static bool counter_is_constant(void) {
  unsigned a, b, c, d = 0;
  char clock[32];
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8)) return true;
  const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  return tmb_sysfile_read(path, clock, sizeof clock) > 0 && strcmp(clock, "tsc") == 0;
}

static double counter_given_hz(void) {
  return 0;
}

#elif defined(__aarch64__)
# define COUNTER_NAME "cntvct_el0"

static bool counter_is_constant(void) {
  return true;
}

static double counter_given_hz(void) {
  uint64_t hz;
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
  return (double)hz;
}

#else
# define COUNTER_NAME "none"
static bool counter_is_constant(void) {
  return false;
}
static double counter_given_hz(void) {
  return 0;
}
#endif

/* Reads counter and clock together, as nearly as possible. */
static struct reading read_both(void) {
  struct reading best = {0, 0};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < BRACKETS; i++) {
    const uint64_t before = tmb_os_ticks_read();
    const uint64_t ns = tmb_os_now_ns();
    const uint64_t width = tmb_os_ticks_read() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = (struct reading){before + width / 2, ns};
  }
  return best;
}

static void choose_source(void) {
  const bool constant = counter_is_constant();
  if (constant) start = read_both();
  tmb_store_rel(&tmb_os_ticks_counter, constant);
}

bool tmb_os_ticks_native(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (TMB_LIKELY(tmb_load_acq(&tmb_os_ticks_counter))) return true;
  pthread_once(&once, choose_source);
  return tmb_load_acq(&tmb_os_ticks_counter);
}

uint64_t tmb_os_ticks_slow(void) {
  return tmb_os_ticks_native() ? tmb_os_ticks_read() : tmb_os_now_ns();
}

/* Measures the counter's rate since the first reading, waiting until enough time has passed. */
static double measure_hz(void) {
  struct reading now = read_both();
  while (now.ns - start.ns < CALIBRATION_NS) {
    tmb_os_nsleep(CALIBRATION_NS - (now.ns - start.ns));
    now = read_both();
  }
  return (double)(now.ticks - start.ticks) * 1e9 / (double)(now.ns - start.ns);
}

/* Rate that /proc/cpuinfo gives: "@ 2.50GHz" of the model's name, else "cpu MHz"; 0 if neither. */
static double cpuinfo_hz(void) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file) return 0;
  char line[256];
  double hz = 0;
  while (fgets(line, sizeof line, file) && line[0] != '\n') {
    const char *at = strchr(line, '@'), *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && at && strstr(at, "GHz")) {
      hz = tmb_ascii_strtod(at + 1, NULL) * 1e9;
      break;
    }
    if (strncmp(line, "cpu MHz", 7) == 0 && colon) hz = tmb_ascii_strtod(colon + 1, NULL) * 1e6;
  }
  fclose(file);
  return hz;
}

/* Compares a given rate with the measured one and complains as the settings say. */
static void check_given_rate(double given_hz) {
  const double soft = tmb_cfg_dbl(TMB_CFG_TSC_RATE_TOLERANCE);
  const double hard = tmb_cfg_dbl(TMB_CFG_TSC_RATE_HARD_TOLERANCE);
  const double measured_hz = measure_hz();
  const double off = fabs(given_hz - measured_hz) / measured_hz;
  if (hard > 0 && off > hard)
    tmb_fatal(
        "tick rate %.0f Hz (GASNET_TSC_RATE=%s) is off by %.3g%% from the measured %.0f Hz, more "
        "than GASNET_TSC_RATE_HARD_TOLERANCE allows; use GASNET_TSC_RATE=walltime",
        given_hz, tmb_cfg_str(TMB_CFG_TSC_RATE), off * 100, measured_hz);
  if (soft > 0 && off > soft && !tmb_cfg_bool(TMB_CFG_QUIET))
    tmb_warn(
        "tick rate %.0f Hz (GASNET_TSC_RATE=%s) is off by %.3g%% from the measured %.0f Hz; use "
        "GASNET_TSC_RATE=walltime",
        given_hz, tmb_cfg_str(TMB_CFG_TSC_RATE), off * 100, measured_hz);
}

/* Finds the counter's rate as GASNET_TSC_RATE says. */
static double find_rate(void) {
  const char *how = tmb_cfg_str(TMB_CFG_TSC_RATE);
  double given_hz;
  if (tmb_ascii_same(how, "walltime")) {
    given_hz = counter_given_hz();
    source =
        given_hz > 0 ? COUNTER_NAME ", rate given by the processor" : COUNTER_NAME ", measured";
    return given_hz > 0 ? given_hz : measure_hz();
  }
  if (tmb_ascii_same(how, "cpuinfo")) {
    given_hz = cpuinfo_hz();
    if (!(given_hz > 0)) {
      tmb_warn("/proc/cpuinfo has no processor rate (GASNET_TSC_RATE=cpuinfo); measuring instead");
      source = COUNTER_NAME ", measured";
      return measure_hz();
    }
    source = COUNTER_NAME ", rate of /proc/cpuinfo";
  } else {
    if (tmb_fmt_parse_dbl(how, &given_hz) != TMB_OK || !(given_hz >= 1e6 && given_hz <= 1e11))
      tmb_cfg_bad_value(TMB_CFG_TSC_RATE, "walltime, cpuinfo, or Hz from 1e6 to 1e11");
    source = COUNTER_NAME ", rate of the setting";
  }
  check_given_rate(given_hz);
  return given_hz;
}

static void calibrate(void) {
  struct tmb_fpu clients;
  tmb_fpu_hold(&clients);
  rate_hz = tmb_os_ticks_native() ? find_rate() : 1e9;
  scale = (uint64_t)(1e9 / rate_hz * (double)(1ull << SCALE_BITS) + 0.5);
  if (tmb_cfg_bool(TMB_CFG_TSC_VERBOSE)) tmb_print("ticks: %s, %.0f per second", source, rate_hz);
  tmb_fpu_restore(&clients);
}

static void calibrate_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, calibrate);
}

uint64_t tmb_os_ticks_to_ns(uint64_t ticks) {
  calibrate_once();
  return (uint64_t)((wide)ticks * scale >> SCALE_BITS);
}

double tmb_os_ticks_hz(void) {
  calibrate_once();
  return rate_hz;
}

const char *tmb_os_ticks_source(void) {
  calibrate_once();
  return source;
}

void tmb_os_ticks_measure(double *granularity_ns, double *overhead_ns) {
  enum { ROUNDS = 1000 };
  calibrate_once();
  const double ns_per_tick = 1e9 / rate_hz;
  uint64_t least = UINT64_MAX;
  const uint64_t begin = tmb_os_ticks_now();
  uint64_t last = begin;
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t now = tmb_os_ticks_now();
    if (now != last && now - last < least) least = now - last;
    last = now;
  }
  if (least == UINT64_MAX) least = 1;
  *granularity_ns = (double)least * ns_per_tick;
  *overhead_ns = (double)TMB_MAX(last - begin, (uint64_t)1) * ns_per_tick / ROUNDS;
}
