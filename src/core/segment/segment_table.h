/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bound segments of the endpoints of all processes, as far as this process knows them.
 *
 * Owns: declarations of segment_table.c. Called by attach, endpoint.c, rma.c, am.c and checks.
 * Calls nothing. Invariants: an entry of size 0 is not known; tables of endpoint indices that
 * nobody has bound do not exist; delta tables say GEXX_UNMAPPED for whatever is not inside a
 * segment that this process has mapped, and everywhere with TOMBOLO_TEST_SHM_MAP=0.
 */
#ifndef TMB_CORE_SEGMENT_TABLE_H
#define TMB_CORE_SEGMENT_TABLE_H

#include "core/job.h"

/* Known bound segment of endpoint `ep` of a process; NULL when there is none or it is not known. */
const struct tmb_peer_segment *tmb_segtab_of(uint32_t jobrank, gex_EP_Index_t ep);

/* Known bound segment of the endpoint that (tm, rank) names; NULL as above. */
static inline const struct tmb_peer_segment *tmb_segtab_at(gex_TM_t tm, gex_Rank_t rank) {
  return tmb_segtab_of(tmb_jobrank(tm, rank), tmb_ep_index(tm, rank));
}

/* Address of an offset into the bound segment of (tm, rank), or of a local endpoint. */
static inline void *tmb_segtab_offset(gex_TM_t tm, gex_Rank_t rank, const void *offset) {
  const struct tmb_peer_segment *s = tmb_segtab_at(tm, rank);
  return (void *)((s ? s->base : 0) + (uintptr_t)offset);
}
static inline void *tmb_segtab_self_offset(gex_EP_t ep, const void *offset) {
  return (void *)((ep->segment ? (uintptr_t)ep->segment->base : 0) + (uintptr_t)offset);
}

/* The delta table of a team, also while operations are counted and head.delta hides it: see
 * tmb_segtab_deltas. */
static inline const intptr_t *tmb_team_delta(const struct tmb_team *team) {
  return team->local_delta ? team->local_delta : tmb_job.delta;
}

/* The delta table of a team, [team size]: offset from an address of a member to ours, or
 * GEXX_UNMAPPED. It is tm->delta; while operations are counted tm->delta reports no rank as mapped,
 * so that inline calls reach the library, and this function has another table. */
const intptr_t *tmb_segtab_hidden(gex_TM_t tm);
static inline const intptr_t *tmb_segtab_deltas(gex_TM_t tm) {
  return TMB_LIKELY(!tmb_job.counted) ? tm->delta : tmb_segtab_hidden(tm);
}

/* The value of tm->delta for a delta table: the table, or while operations are counted one that
 * reports no rank as mapped. */
static inline const intptr_t *tmb_segtab_shown(const intptr_t *table) {
  return TMB_LIKELY(!tmb_job.counted) ? table : tmb_job.unmapped;
}

/* Whether [addr, addr + nbytes) of (tm, rank)'s process can be reached by load and store. */
bool tmb_segtab_maps(gex_TM_t tm, gex_Rank_t rank, const void *addr, size_t nbytes);

/* Entry of (tm, rank) in its delta table. Read it once for each access: another thread may set
 * it to GEXX_UNMAPPED when the peer is lost. */
static inline intptr_t tmb_segtab_delta_of(gex_TM_t tm, gex_Rank_t rank) {
  return tmb_load_rlx(&tmb_segtab_deltas(tm)[rank]);
}

/* A process is lost: set its entries of all delta tables to GEXX_UNMAPPED. */
void tmb_segtab_lose(uint32_t jobrank);

/* Whether [addr, addr + nbytes) lies in the segment that a process attached and the conduit has
 * mapped here. */
bool tmb_segtab_attached(uint32_t jobrank, const void *addr, size_t nbytes);

/* Endpoint of a process whose bound host segment, as far as it is known here, holds
 * [addr, addr + nbytes); -1: none. */
int tmb_segtab_endpoint(uint32_t jobrank, const void *addr, size_t nbytes);

/* Delta table of an endpoint index: [job size]. */
const intptr_t *tmb_segtab_delta(gex_EP_Index_t ep);

/* Record the bound segment of an endpoint of a process; teams and TM-pairs see it after
 * tmb_segtab_refresh. */
void tmb_segtab_set(uint32_t jobrank, gex_EP_Index_t ep, const struct tmb_peer_segment *s);
void tmb_segtab_refresh(void);

/* Make the tables of the primordial endpoints; after the job's tables exist. */
int tmb_segtab_init(void);

#endif
