/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog of a supervisor, see watchdog.h.
 *
 * Owns: no state. Called as watchdog.h says. Calls: snapshot, explain. Each reading is compared
 * with the last one that differed from its predecessor.
 */
#include "boot/supervise/watchdog.h"

#include "base/log.h"
#include "boot/explain/explain.h"
#include "boot/explain/source.h"
#include "boot/explain/stacks.h"
#include "os/os.h"

#define NS_PER_MS UINT64_C(1000000)
#define LOOKS     8u                /* readings in the time limit */
#define LOOK_MIN  (20 * NS_PER_MS)  /* between two readings */
#define LOOK_MAX  (500 * NS_PER_MS) /* longest time between two readings */
#define STACKS_MS 10000             /* for the stacks of all ranks: the job ends behind them */

void tmb_watchdog_open(struct tmb_watchdog *w, double seconds) {
  *w = (struct tmb_watchdog){.limit_ns = (uint64_t)(seconds * 1e9)};
}

void tmb_watchdog_close(struct tmb_watchdog *w) {
  if (w->seen) tmb_snapshot_free(&w->last);
  w->seen = false;
}

int tmb_watchdog_sleep_ms(const struct tmb_watchdog *w, int most) {
  if (!w->limit_ns) return most;
  const uint64_t now = tmb_os_now_ns();
  const uint64_t ms = now >= w->look_ns ? 0 : (w->look_ns - now) / NS_PER_MS + 1;
  return ms > (uint64_t)most ? most : (int)ms;
}

static void report(const struct tmb_watchdog *w, struct tmb_snapshot *now) {
  struct tmb_explain e;
  tmb_print("watchdog: nothing has happened in the job for %.1f s%s",
            (double)(now->at_ns - w->last.at_ns) / 1e9, "; this is what the ranks wait for:");
  tmb_source_find(now);
  if (tmb_explain(&e, &w->last, now, true) != 0) return;
  tmb_explain_ranks(&e, stderr, false);
  tmb_explain_causes(&e, stderr);
  (void)tmb_stacks_print(&e, stderr, false, STACKS_MS);
  tmb_explain_free(&e);
}

/* Reads the status pages of all ranks, on all machines. Returns false if there is nothing to see
 * yet. */
static bool look(const struct tmb_watchdog *w, const struct tmb_ctl *ctl, struct tmb_snapshot *s) {
  if (w->look) return w->look(w->arg, s);
  return tmb_snapshot_take(s, ctl, false) == 0;
}

bool tmb_watchdog_bites(struct tmb_watchdog *w, const struct tmb_ctl *ctl) {
  const uint64_t now_ns = tmb_os_now_ns();
  if (!w->limit_ns || now_ns < w->look_ns) return false;
  struct tmb_snapshot now;
  w->look_ns = now_ns + LOOK_MIN;
  if (!look(w, ctl, &now)) return false;
  w->look_ns = now_ns + TMB_MAX(TMB_MIN(w->limit_ns / LOOKS, LOOK_MAX), LOOK_MIN);
  if (!w->seen || tmb_explain_moved(&w->last, &now)) {
    tmb_watchdog_close(w);
    w->last = now;
    w->seen = true;
    return false;
  }
  const bool bites = now.at_ns - w->last.at_ns >= w->limit_ns;
  if (bites) report(w, &now);
  tmb_snapshot_free(&now);
  return bites;
}
