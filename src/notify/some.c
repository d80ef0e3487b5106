/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding one of many signals: gexx_Signal_TestSome and WaitSome.
 *
 * Owns nothing. Called by owners of signals. Calls: index.c, progress and waits. A short range is
 * read whole each time; a long one has an index, in which the signal operations enter their
 * changes. Signals that were changed by plain stores are not in the index: after each search of the
 * index that found nothing, SWEEP signals are read themselves, and a wait sleeps only after all
 * have been read once. Invariants: a signal that is found is read with acquire order; the search
 * begins at *index and ends just before it again, so the caller decides which signal is next.
 */
#include "base/atomic.h"
#include "core/check.h"
#include "core/progress/progress.h"
#include "notify/index.h"
#include "notify/notify.h"

/* Signals in a range that needs no index: 8 cache lines of 64-bit signals side by side. Measured by
 * `tombolo bench notify`. */
#define SCAN_MAX 64
/* Signals that a search with an index reads besides, so that stores without a signal operation are
 * found. */
#define SWEEP    64

struct search {
  struct tmb_range range;
  struct tmb_signal_index *signals; /* NULL: no index, read all signals */
  size_t at; /* where the search begins, then the index of the signal found */
  uint64_t found;
};

static void check_range(const char *call, const struct tmb_range *r, const size_t *index) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_signal_check(call, "sigs", (const uint64_t *)(const void *)r->sigs);
  if (!r->count) tmb_fatal_nopos("%s: argument count is 0; nothing can be found", call);
  if (r->count > 1 && (r->stride < sizeof(uint64_t) || r->stride % sizeof(uint64_t)))
    tmb_fatal_nopos("%s: argument stride is %zu; give a multiple of 8 bytes", call, r->stride);
  if (!index) tmb_fatal_nopos("%s: argument index is NULL", call);
  if (*index >= r->count)
    tmb_fatal_nopos("%s: argument *index is %zu, where the search begins; it must be below %zu",
                    call, *index, r->count);
}

static struct search begin(const char *call, const uint64_t *sigs, size_t count, size_t stride,
                           const size_t *index) {
  struct search s = {.range = {(const char *)sigs, count, stride}};
  check_range(call, &s.range, index);
  s.at = *index;
  if (count > SCAN_MAX && stride >= sizeof(uint64_t)) s.signals = tmb_index_of(&s.range);
  return s;
}

static void end(const struct search *s, size_t *index) {
  if (s->signals) tmb_index_release(s->signals);
  *index = s->at;
}

static bool search_once(void *arg) {
  struct search *s = arg;
  if (s->signals) return tmb_index_find(s->signals, &s->at, &s->found);
  size_t i = tmb_range_scan(&s->range, s->at, s->range.count, &s->found);
  if (i == s->range.count) {
    i = tmb_range_scan(&s->range, 0, s->at, &s->found);
    if (i == s->at) return false;
  }
  s->at = i;
  return true;
}

/* Search; when the index has nothing, read the next SWEEP signals and search again. */
static bool search_further(struct search *s) {
  if (search_once(s)) return true;
  if (!s->signals) return false;
  tmb_index_sweep(s->signals, SWEEP);
  return search_once(s);
}

int gexx_Signal_TestSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  struct search s = begin("gexx_Signal_TestSome", sigs, count, stride, index);
  bool found = search_once(&s);
  if (!found) {
    tmb_poll();
    found = search_further(&s);
  }
  end(&s, index);
  return found ? GASNET_OK : GASNET_ERR_NOT_READY;
}

static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct search *s = arg;
  out->kind = TMB_WAIT_SIGNALS;
  out->addr = (uintptr_t)s->range.sigs;
  out->count = (uint32_t)s->range.count;
  out->value = s->range.stride;
}

uint64_t gexx_Signal_WaitSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  struct search s = begin("gexx_Signal_WaitSome", sigs, count, stride, index);
  bool found = search_once(&s);
  for (size_t seen = 0; !found && s.signals && seen < count; seen += SWEEP) {
    found = search_further(&s);
    if (!found) tmb_poll();
  }
  if (!found) tmb_signal_wait(search_once, &s, describe);
  end(&s, index);
  return s.found;
}
