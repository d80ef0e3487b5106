/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of ranks that have ended, see far_stats.h.
 *
 * Owns: nothing. Called as far_stats.h says. Calls: tree, the clock, boot/trace. Ticks become
 * nanoseconds by two moments: the rank's start, which is on its page, and now.
 */
#include "agent/far_stats.h"

#include "boot/trace/set.h"
#include "os/os.h"

#include <string.h>

struct far_stats far_stats_of(const struct tmb_ctl *ctl, uint32_t rank) {
  struct far_stats s = {0};
  if (tmb_ctl_record_of(ctl)[rank] == TMB_CTL_ELSEWHERE) return s;
  const struct tmb_status *page = tmb_ctl_status(ctl, rank);
  const struct tmb_trace_moment now = tmb_trace_moment_now();
  s.stats = page->stats;
  if (page->layout != TMB_STATUS_LAYOUT || !s.stats.on) return s;
  const double ticks = (double)(now.ticks - s.stats.tick0);
  const double scale = ticks > 0 ? (double)(now.ns - s.stats.ns0) / ticks : 0;
  const uint64_t end = s.stats.end_ns ? s.stats.end_ns : now.ns;
  s.known = 1;
  s.run_ns = end - TMB_MIN(s.stats.ns0, end);
  s.wait_ns = (uint64_t)((double)s.stats.wait_ticks * scale);
  s.op_ns = (uint64_t)((double)s.stats.op_ticks * scale);
  memcpy(s.net, page->net, sizeof s.net);
  return s;
}

void far_stats_send(struct tree *t) {
  for (uint32_t r = 0; t->launch && r < t->job.size; r++) {
    const struct far_stats s = far_stats_of(t->launch->ctl, r);
    if (!s.known) continue;
    link_send(&t->up, (struct frame){.type = FRAME_STATS,
                                     .a = r,
                                     .bytes = (uint32_t)sizeof s,
                                     .data = (const char *)&s});
  }
}

void far_stats_keep(struct far_stats *all, uint32_t size, const struct frame *f) {
  if (all && f->a < size && f->bytes == sizeof *all) memcpy(&all[f->a], f->data, sizeof *all);
}
