/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The segment of this process: attach.
 *
 * Owns: tmb_job.segment, peer_segment, delta. Called by clients. Calls: the on-node engine,
 * segment_limits.c, join.c for further clients. Invariants: delta entries are GEXX_UNMAPPED before
 * attach, and stay so for teams when TOMBOLO_TEST_SHM_MAP=0; a refused attach changes nothing and
 * says which limit refused it.
 */
#include "core/client/attach.h"

#include "base/error.h"
#include "core/check.h"
#include "core/client/join.h"
#include "core/op/check_context.h"
#include "core/progress/place.h"
#include "core/segment/segment_table.h"
#include "near/near.h"

#include <stdlib.h>

static void check_attach(const gex_Segment_t *segment_p, gex_TM_t tm) {
  tmb_check_context_at("gex_Segment_Attach");
  if (!segment_p) tmb_fatal_nopos("gex_Segment_Attach: argument segment_p is NULL");
  tmb_check_tm("gex_Segment_Attach", tm, false);
}

int tmb_segment_verdict(const char *call, uintptr_t size) {
  if (tmb_job.ep.segment) {
    return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                      "a created segment is bound to the primordial endpoint of this process "
                      "already; attach instead of binding, or bind further endpoints");
  }
  return tmb_segment_size_verdict(call, size);
}

/* Let the engine create this rank's segment and map those of the other ranks of the host;
 * collective. Those of the neighbourhood are used. in sizes: [job size] bytes. Returns as
 * tmb_near_attach. */
static int attach_near(const uint64_t *sizes, void **base) {
  const struct tmb_places *places = &tmb_job.boot.places;
  uint64_t bytes[TMB_BOOT_RANKS_MAX];
  intptr_t delta[TMB_BOOT_RANKS_MAX];
  for (uint32_t i = 0; i < places->near_count; i++) bytes[i] = sizes[places->near_rank[i]];
  const int rc = tmb_near_attach(&tmb_job.near, bytes, base, delta);
  for (uint32_t i = 0; i < tmb_job.nbrhd.size && !rc; i++) {
    const uint32_t r = tmb_job.nbrhd.members[i];
    tmb_job.mapped_delta[tmb_near_of(r)] = delta[tmb_near_of(r)];
  }
  return rc;
}

/* Make the segments of all ranks; collective. in sizes: [job size] bytes. */
static int attach_all(const uint64_t *sizes) {
  void *base;
  if (attach_near(sizes, &base)) return GASNET_ERR_RESOURCE;
  tmb_job.segment = (struct gexx_segment_s){.magic = TMB_MAGIC_SEGMENT,
                                            .client = &tmb_job.client,
                                            .base = base,
                                            .size = sizes[tmb_job.rank]};
  for (uint32_t r = 0; r < tmb_job.size; r++) /* the engine has exchanged their addresses */
    tmb_job.peer_segment[r].size = sizes[r];
  if (gasnet_client_attach_hook) gasnet_client_attach_hook(base, sizes[tmb_job.rank]);
  tmb_job.ep.segment = &tmb_job.segment;
  tmb_job.attached = true;
  tmb_segtab_refresh();
  tmb_team_refresh();
  return GASNET_OK;
}

/*
 * Collective. A rank may owe another one an answer before that one calls, so handlers run until all
 * have called; from then on nobody polls, because ranks that have returned send messages whose
 * handlers rely on this rank's attach.
 */
int tmb_segment_attach(const char *call, int verdict, uintptr_t size) {
  tmb_boot_warn_of_mpi(&tmb_job.boot); /* it may have been initialised since the client was */
  gex_Coll_BarrierBlocking(&tmb_job.tm, 0);
  const uint64_t mine = verdict == GASNET_OK ? size : 0;
  uint64_t sizes[TMB_BOOT_RANKS_MAX];
  tmb_boot_allgather(&tmb_job.boot, &mine, sizeof mine, sizes);
  int rc = verdict;
  for (uint32_t r = 0; r < tmb_job.size && rc == GASNET_OK; r++)
    if (!sizes[r])
      rc = tmb_refuse(call, GASNET_ERR_RESOURCE, "rank %u has refused its own arguments", r);
  if (rc == GASNET_OK) rc = attach_all(sizes);
  tmb_boot_barrier(&tmb_job.boot);
  tmb_place_begin();
  return rc;
}

int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size) {
  const char *call = "gex_Segment_Attach";
  if (TMB_UNLIKELY(tmb_job.debug)) check_attach(segment_p, tm);
  if (!tmb_job_ready()) return tmb_refuse_early(call);
  if (segment_p && tm && tmb_client_is_added(tm)) return tmb_client_attach(segment_p, tm, size);
  if (!segment_p || !tm || tmb_job.attached)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument segment_p is %p, tm is %p%s",
                      (void *)segment_p, (void *)tm,
                      tmb_job.attached ? ", and this is the second call; a client attaches one "
                                         "segment"
                                       : "");
  const int rc = tmb_segment_attach(call, tmb_segment_verdict(call, size), size);
  if (rc == GASNET_OK) *segment_p = &tmb_job.segment;
  return rc;
}
