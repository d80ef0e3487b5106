/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of bound segments, and the calls that query them (API 01.5).
 *
 * Owns: tmb_job.bound and tmb_job.ep_delta. Called by clients, attach, publish and endpoint.c.
 * Calls: nothing above. A segment may be bound to many endpoints; it can be reached by load and
 * store when it lies inside the peer's attached segment, which the conduit maps, when its owner
 * shares it and publish could map it here, or when it is in this process. Invariants: tables are
 * only added to; publish changes entries of endpoints that the client keeps idle.
 */
#include "core/segment/segment_table.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/segment/mk.h"
#include "core/segment/mk_peer.h"
#include "os/memory/memfd_peer.h"

#include <stdlib.h>
#include <string.h>
#include <tombolo/mk_plugin.h>

const struct tmb_peer_segment *tmb_segtab_of(uint32_t jobrank, gex_EP_Index_t ep) {
  const struct tmb_peer_segment *table = ep < GASNET_MAXEPS ? tmb_job.segment_table[ep] : NULL;
  return table && table[jobrank].size ? &table[jobrank] : NULL;
}

static bool inside(const struct tmb_peer_segment *s, const void *addr, size_t nbytes) {
  const uintptr_t offset = (uintptr_t)addr - s->base;
  return offset < s->size && nbytes <= s->size - offset;
}

int tmb_segtab_endpoint(uint32_t jobrank, const void *addr, size_t nbytes) {
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++) {
    const struct tmb_peer_segment *s = tmb_segtab_of(jobrank, e);
    if (s && s->local != TMB_LOCAL_DEVICE && inside(s, addr, nbytes)) return e;
  }
  return -1;
}

bool tmb_segtab_attached(uint32_t jobrank, const void *addr, size_t nbytes) {
  return tmb_job.attached && tmb_mapped_delta(jobrank) != GEXX_UNMAPPED &&
         inside(&tmb_job.peer_segment[jobrank], addr, nbytes);
}

bool tmb_segtab_maps(gex_TM_t tm, gex_Rank_t rank, const void *addr, size_t nbytes) {
  const struct tmb_peer_segment *s = tmb_segtab_at(tm, rank);
  return tmb_segtab_delta_of(tm, rank) != GEXX_UNMAPPED && s && inside(s, addr, nbytes);
}

/* Offset from an address in the segment of a process to ours, or GEXX_UNMAPPED;
 * TOMBOLO_TEST_SHM_MAP has no influence. */
static intptr_t delta_of(uint32_t jobrank, const struct tmb_peer_segment *s) {
  if (s->local == TMB_LOCAL_DEVICE) return GEXX_UNMAPPED;
  if (jobrank == tmb_job.rank) return 0;
  if (s->local) return (intptr_t)((uintptr_t)s->local - s->base);
  if (tmb_segtab_attached(jobrank, (const void *)s->base, s->size))
    return tmb_mapped_delta(jobrank);
  return GEXX_UNMAPPED;
}

#define RANKS_CHECKED 65536u /* chosen: 512 KiB; lower wrong ranks are found by --check misuse */

/* A new delta table of `count` entries in which everything is unmapped, or NULL. */
static intptr_t *unmapped_table(size_t count) {
  intptr_t *t = calloc(count, sizeof *t);
  for (size_t i = 0; t && i < count; i++) t[i] = GEXX_UNMAPPED;
  return t;
}

/* A table that a published endpoint needs: its publication has succeeded elsewhere. */
static void *needed(void *table) {
  if (!table) tmb_fatal("out of memory for a table of %u ranks", tmb_job.size);
  return table;
}

int tmb_segtab_init(void) {
  tmb_job.segment_table[0] = tmb_job.peer_segment;
  tmb_job.ep_delta[0] = tmb_job.delta;
  /* While operations are counted the heads of all teams point to this table, so it has an entry
   * for every endpoint; and under checks for ranks that there are not, whose calls are to be seen.
   */
  size_t count = (size_t)tmb_job.size * (tmb_job.counted ? GASNET_MAXEPS : 1);
  if (tmb_job.debug && tmb_job.counted && count < RANKS_CHECKED) count = RANKS_CHECKED;
  tmb_job.unmapped = unmapped_table(count);
  if (tmb_job.unmapped) return 0;
  tmb_print("out of memory for a table of %u ranks", tmb_job.size);
  return TMB_E_NOMEM;
}

const intptr_t *tmb_segtab_delta(gex_EP_Index_t ep) {
  return tmb_job.ep_delta[ep] ? tmb_job.ep_delta[ep] : tmb_job.unmapped;
}

const intptr_t *tmb_segtab_hidden(gex_TM_t tm) {
  if (tm->magic != GEXX_MAGIC_PAIR) return tmb_team_delta(tmb_team_of(tm));
  return tmb_mk_device(tm->ep->segment) ? tmb_job.unmapped
                                        : tmb_segtab_delta((gex_EP_Index_t)(tm - tm->ep->pair));
}

const intptr_t *gexx_check_near(gex_TM_t tm) {
  return tmb_job.debug || tmb_job.recorded || tmb_job.gate || tm->reserved ? NULL
                                                                           : tmb_segtab_deltas(tm);
}

/* The delta table of an endpoint index for writing. Indices start with one common table of
 * unmapped entries; at the first write the index gets its own, and its TM-pairs are pointed to
 * that. */
static intptr_t *local_delta(gex_EP_Index_t ep) {
  if (!tmb_job.ep_delta[ep]) {
    tmb_job.ep_delta[ep] = needed(unmapped_table(tmb_job.size));
    for (gex_EP_Index_t i = 0; i < GASNET_MAXEPS; i++)
      if (tmb_job.eps[i] && !tmb_mk_device(tmb_job.eps[i]->segment))
        tmb_job.eps[i]->pair[ep].delta = tmb_segtab_shown(tmb_job.ep_delta[ep]);
  }
  return tmb_job.ep_delta[ep];
}

void tmb_segtab_set(uint32_t jobrank, gex_EP_Index_t ep, const struct tmb_peer_segment *s) {
  if (!tmb_job.segment_table[ep])
    tmb_job.segment_table[ep] = needed(calloc(tmb_job.size, sizeof *tmb_job.segment_table[ep]));
  tmb_job.segment_table[ep][jobrank] = *s;
}

void tmb_segtab_refresh(void) {
  const bool map = tmb_cfg_bool(TMB_CFG_SHM_MAP);
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++) {
    const struct tmb_peer_segment *s = tmb_job.segment_table[e];
    if (!s || !map) continue;
    intptr_t *delta = local_delta(e);
    for (uint32_t r = 0; r < tmb_job.size; r++)
      if (s[r].size && !tmb_peer_lost(r)) tmb_store_rlx(&delta[r], delta_of(r, &s[r]));
  }
}

void tmb_segtab_lose(uint32_t jobrank) {
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++)
    if (tmb_job.ep_delta[e]) tmb_store_rlx(&tmb_job.ep_delta[e][jobrank], GEXX_UNMAPPED);
}

/* ---- query */

/* The bound segment of (tm, rank), also of an own endpoint that was not published. Returns false
 * when there is none that this process knows. */
static bool find_segment(gex_TM_t tm, gex_Rank_t rank, struct tmb_peer_segment *out) {
  const uint32_t jobrank = tmb_jobrank(tm, rank);
  const gex_EP_Index_t index = tmb_ep_index(tm, rank);
  if (jobrank == tmb_job.rank) {
    const struct gexx_ep_s *ep = tmb_job.eps[index];
    if (!ep || !ep->segment) return false;
    *out = tmb_mk_segtab_entry(ep->segment);
    return true;
  }
  const struct tmb_peer_segment *s = tmb_segtab_of(jobrank, index);
  if (s) *out = *s;
  return s != NULL;
}

static void report(uint32_t jobrank, const struct tmb_peer_segment *s, void **owneraddr_p,
                   void **localaddr_p, uintptr_t *size_p) {
  const intptr_t delta = delta_of(jobrank, s);
  if (owneraddr_p) *owneraddr_p = (void *)s->base;
  if (localaddr_p)
    *localaddr_p = delta == GEXX_UNMAPPED ? NULL : (void *)(s->base + (uintptr_t)delta);
  if (size_p) *size_p = s->size;
}

int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                           uintptr_t *size_p) {
  TMB_CHECK_CONTEXT("gex_Segment_QueryBound");
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_tm_rank("gex_Segment_QueryBound", tm, rank);
  struct tmb_peer_segment s;
  if (!find_segment(tm, rank, &s)) return 1;
  report(tmb_jobrank(tm, rank), &s, owneraddr_p, localaddr_p, size_p);
  return 0;
}

gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p,
                                       void **localaddr_p, uintptr_t *size_p, gex_Flags_t flags) {
  const char *call = "gex_EP_QueryBoundSegmentNB";
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_tm_rank(call, tm, rank);
    tmb_check_flags(call, flags, GEX_FLAG_IMMEDIATE);
    if (!(flags & GEX_FLAG_IMMEDIATE)) tmb_check_context_at(call);
  }
  struct tmb_peer_segment s;
  if (find_segment(tm, rank, &s))
    report(tmb_jobrank(tm, rank), &s, owneraddr_p, localaddr_p, size_p);
  else if (size_p)
    *size_p = 0;
  const bool live = tmb_job.live_events && !(flags & GEX_FLAG_IMMEDIATE);
  return live ? tmb_op_event(tmb_op_new(TMB_OP_SINGLE, 0)) : GEX_EVENT_INVALID;
}
