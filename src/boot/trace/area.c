/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trace areas: how large, and their head, see boot/trace.h.
 *
 * Owns: no process state. Called by whoever makes areas (ctl.c, boot.c) and by set.c. Calls: the
 * clock, settings. Invariant: a moment is the tightest of several brackets counter-clock-counter.
 */
#include "boot/trace/set.h"

#include "base/config.h"
#include "os/os.h"
#include "os/processor/ticks.h"

#include <string.h>

#define BRACKETS 16

struct tmb_trace_moment tmb_trace_moment_now(void) {
  struct tmb_trace_moment best = {0, 0};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < BRACKETS; i++) {
    const uint64_t before = tmb_os_ticks_now(), ns = tmb_os_now_ns();
    const uint64_t width = tmb_os_ticks_now() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = (struct tmb_trace_moment){before + width / 2, ns};
  }
  return best;
}

const char *tmb_trace_path(void) {
  const char *path = tmb_cfg_str(TMB_CFG_TRACE);
  return path && path[0] ? path : NULL;
}

uint64_t tmb_trace_wanted(void) {
  if (!tmb_trace_path()) return 0;
  uint64_t capacity = 64;
  while (capacity < (uint64_t)tmb_cfg_int(TMB_CFG_TRACE_EVENTS)) capacity *= 2;
  return TMB_ALIGN_UP(tmb_trace_bytes(capacity), UINT64_C(4096));
}

void tmb_trace_open(struct tmb_trace_area *area, uint64_t bytes,
                    const struct tmb_trace_area *first) {
  uint64_t capacity = 64;
  const struct tmb_trace_moment now =
      first ? (struct tmb_trace_moment){first->tick0, first->ns0} : tmb_trace_moment_now();
  while (tmb_trace_bytes(2 * capacity) <= bytes) capacity *= 2;
  area->capacity = capacity;
  area->tick0 = now.ticks;
  area->ns0 = now.ns;
  area->names_used = 1;
  area->processors = (uint32_t)tmb_os_cpus_usable();
  area->packets = tmb_cfg_bool(TMB_CFG_TRACE_PACKETS);
}

const char *tmb_trace_name(const struct tmb_trace_area *area, uint64_t name) {
  if (name == 0 || name >= TMB_TRACE_NAMES_BYTES) return "";
  return memchr(area->names + name, 0, TMB_TRACE_NAMES_BYTES - name) ? area->names + name : "";
}
