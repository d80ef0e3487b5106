/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for signals.
 *
 * Owns nothing. Called by owners of signals, some.c and semaphores. Calls: core's progress and
 * waits. A wait reads the word PROBES times, then runs progress once, and so on: reading the word
 * costs one cached load, progress costs several, and usually it is the word that changes.
 * Invariants: a wait that succeeds has acquire order; a signal is consumed by one compare-and-swap,
 * so several threads may wait for one signal.
 */
#include "core/progress/wait.h"
#include "base/atomic.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/progress/progress.h"
#include "core/segment/segment.h"
#include "notify/notify.h"

#define PROBES 8 /* readings of the word for each run of progress */

/* A condition on one word. */
struct probe {
  const uint64_t *sig;
  uint64_t value, found;
  int cmp;
  bool taken; /* consumed: tmb_signal_wait may call again after success */
};

static inline bool holds(uint64_t found, int cmp, uint64_t value) {
  switch (cmp) {
  case GEXX_SIG_EQ: return found == value;
  case GEXX_SIG_NE: return found != value;
  case GEXX_SIG_GT: return found > value;
  case GEXX_SIG_GE: return found >= value;
  case GEXX_SIG_LT: return found < value;
  default: return found <= value;
  }
}

static inline bool probe_once(struct probe *l) {
  l->found = tmb_load_acq(l->sig);
  return holds(l->found, l->cmp, l->value);
}

static bool probe_ready(void *arg) {
  struct probe *l = arg;
  for (int i = 1; i < PROBES; i++) {
    if (probe_once(l)) return true;
    tmb_cpu_pause();
  }
  return probe_once(l);
}

/* Describes the wait, for `tombolo why`. */
static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct probe *l = arg;
  out->kind = TMB_WAIT_SIGNAL;
  out->addr = (uintptr_t)l->sig;
  out->cmp = (uint8_t)l->cmp;
  out->value = l->value;
  out->found = tmb_load_rlx(l->sig);
}

void tmb_signal_check(const char *call, const char *argument, const uint64_t *sig) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_check_context_at(call);
  if (!sig || (uintptr_t)sig % sizeof *sig)
    tmb_fatal_nopos("%s: argument %s is %p; give the address of an aligned 64-bit word", call,
                    argument, (const void *)sig);
  if (tmb_load_rlx(&tmb_job.device_segments) && tmb_segment_device_at(sig, sizeof *sig))
    tmb_fatal_nopos("%s: argument %s is %p, which is device memory; a signal is a word in a host "
                    "segment",
                    call, argument, (const void *)sig);
}

static void check_cmp(const char *call, int cmp) {
  TMB_CHECK(cmp >= GEXX_SIG_EQ && cmp <= GEXX_SIG_LE,
            "%s: argument cmp is %d; give one of GEXX_SIG_EQ, NE, GT, GE, LT, LE", call, cmp);
}

void tmb_signal_wait(bool (*ready)(void *arg), void *arg,
                     void (*describe)(const void *arg, struct tmb_status_wait *out)) {
  (void)tmb_wait_until(ready, arg, UINT64_MAX, describe);
}

uint64_t gexx_Signal_Fetch(const uint64_t *sig) {
  tmb_signal_check("gexx_Signal_Fetch", "sig", sig);
  tmb_poll();
  return tmb_load_acq(sig);
}

int gexx_Signal_Test(const uint64_t *sig, int cmp, uint64_t value) {
  struct probe l = {.sig = sig, .value = value, .cmp = cmp};
  tmb_signal_check("gexx_Signal_Test", "sig", sig);
  check_cmp("gexx_Signal_Test", cmp);
  if (probe_once(&l)) return GASNET_OK;
  tmb_poll();
  return probe_once(&l) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

uint64_t gexx_Signal_Wait(const uint64_t *sig, int cmp, uint64_t value) {
  struct probe l = {.sig = sig, .value = value, .cmp = cmp};
  tmb_signal_check("gexx_Signal_Wait", "sig", sig);
  check_cmp("gexx_Signal_Wait", cmp);
  tmb_signal_wait(probe_ready, &l, describe);
  return l.found;
}

/* ---- consuming */

static bool consume_once(struct probe *l, uint64_t *sig) {
  uint64_t found = tmb_load_rlx(sig);
  while (found >= l->value) {
    if (tmb_cas_acq(sig, &found, found - l->value)) {
      l->found = found - l->value;
      return true;
    }
  }
  return false;
}

static bool consume_ready(void *arg) {
  struct probe *l = arg;
  for (int i = 0; i < PROBES && !l->taken; i++) {
    l->taken = consume_once(l, (uint64_t *)(uintptr_t)l->sig);
    if (!l->taken) tmb_cpu_pause();
  }
  return l->taken;
}

int gexx_Signal_TryConsume(uint64_t *sig, uint64_t n) {
  struct probe l = {.sig = sig, .value = n};
  tmb_signal_check("gexx_Signal_TryConsume", "sig", sig);
  if (consume_once(&l, sig)) return GASNET_OK;
  tmb_poll();
  return consume_once(&l, sig) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

uint64_t gexx_Signal_WaitConsume(uint64_t *sig, uint64_t n) {
  struct probe l = {.sig = sig, .value = n, .cmp = GEXX_SIG_GE};
  tmb_signal_check("gexx_Signal_WaitConsume", "sig", sig);
  tmb_signal_wait(consume_ready, &l, describe);
  return l.found;
}

uint64_t gexx_Signal_Reset(uint64_t *sig) {
  TMB_CHECK(sig && (uintptr_t)sig % sizeof *sig == 0,
            "gexx_Signal_Reset: argument sig is %p; give the address of an aligned 64-bit word",
            (void *)sig);
  return tmb_xchg_acq(sig, 0);
}
