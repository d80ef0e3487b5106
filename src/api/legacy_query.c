/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of the GASNet-1 layer: segments, placement, environment, names of return codes (API
 * 08.3).
 *
 * Owns: the texts of the public return codes. Called by clients of either layer. Calls: settings.
 * Invariants: the two table calls fill min(numentries, ranks) entries and leave the others alone;
 * all ranks of a job are on one host and share memory.
 */
#include "base/config.h"
#include "core/check.h"
#include "core/job.h"
#include "core/op/check_context.h"

#include <gasnetex_ext.h>

/* Number of entries to fill; -1, after printing why, for invalid arguments. */
static int entries(const char *call, const void *table, int numentries) {
  if (numentries < 0 || (numentries && !table)) {
    (void)tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument table is %p with numentries %d", table,
                     numentries);
    return -1;
  }
  return TMB_MIN(numentries, (int)tmb_job.size);
}

int gasnet_getSegmentInfo(gasnet_seginfo_t *table, int numentries) {
  const char *call = "gasnet_getSegmentInfo";
  TMB_CHECK_MILD(call);
  if (!tmb_job_ready() || !tmb_job.attached)
    return tmb_refuse(call, GASNET_ERR_NOT_INIT, "no segment is attached yet");
  const int count = entries(call, table, numentries);
  if (count < 0) return GASNET_ERR_BAD_ARG;
  for (int r = 0; r < count; r++) {
    table[r].addr = (void *)tmb_job.peer_segment[r].base;
    table[r].size = tmb_job.peer_segment[r].size;
  }
  return GASNET_OK;
}

int gasnet_getNodeInfo(gasnet_nodeinfo_t *table, int numentries) {
  const char *call = "gasnet_getNodeInfo";
  TMB_CHECK_MILD(call);
  if (!tmb_job_ready()) return tmb_refuse_early(call);
  const int count = entries(call, table, numentries);
  if (count < 0) return GASNET_ERR_BAD_ARG;
  for (int r = 0; r < count; r++) {
    const intptr_t delta = tmb_job.attached ? tmb_mapped_delta(r) : 0;
    table[r].host = tmb_job.boot.places.host_of[r];
    table[r].supernode = tmb_nbrhd_of((uint32_t)r);
    table[r].offset = delta == GEXX_UNMAPPED ? 0 : (uintptr_t)delta;
  }
  return GASNET_OK;
}

char *gasnet_getenv(const char *name) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at("gasnet_getenv");
  TMB_CHECK(name, "gasnet_getenv: argument name is NULL");
  return (char *)(uintptr_t)tmb_env_get(name);
}
