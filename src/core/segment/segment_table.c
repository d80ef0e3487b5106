/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of bound segments, and the calls that publish and query them (API 01.5).
 *
 * Owns: tmb_job.bound and tmb_job.ep_delta. Called by clients, attach and endpoint.c. Calls: the
 * all-gather of teams. A segment may be bound to many endpoints; it can be reached by load and
 * store when it lies inside the peer's attached segment, which the conduit maps, when its owner
 * shares it and publish could map it here, or when it is in this process. Invariants: tables are
 * only added to; publish changes entries of endpoints that the client keeps idle.
 */
#include "core/segment/segment_table.h"

#include "base/config.h"
#include "core/check.h"
#include "core/failure/failure.h"
#include "core/mk/mk.h"
#include "core/mk/mk_peer.h"
#include "os/memfd_peer.h"

#include <stdlib.h>
#include <string.h>
#include <tombolo/mk_plugin.h>

/* What a member publishes in one step of the exchange; 64 bytes. */
#define PART_ENTRIES 2
#define PART_DEVICE  0xffffff00u /* values from here on: device memory */
#define PART_CLASS \
 0xffu /* the low bits of such a value: 0, or 1 + the class of memory whose handle follows */
struct part {
  uint64_t total; /* entries of this member, over all steps */
  struct {
    uint64_t base, size;
    uint32_t ep, share; /* share: 1 + descriptor of the owner, 0: none, PART_DEVICE | class */
  } entry[PART_ENTRIES];
};
typedef unsigned char handle[GEXX_MK_HANDLE_BYTES];
_Static_assert(sizeof(struct part) <= TMB_TEAM_GATHER_BYTES, "fits one all-gather");

const struct tmb_peer_segment *tmb_segtab_of(uint32_t jobrank, gex_EP_Index_t ep) {
  const struct tmb_peer_segment *table = ep < GASNET_MAXEPS ? tmb_job.segment_table[ep] : NULL;
  return table && table[jobrank].size ? &table[jobrank] : NULL;
}

static bool inside(const struct tmb_peer_segment *s, const void *addr, size_t nbytes) {
  const uintptr_t offset = (uintptr_t)addr - s->base;
  return offset < s->size && nbytes <= s->size - offset;
}

bool tmb_segtab_attached(uint32_t jobrank, const void *addr, size_t nbytes) {
  return tmb_job.attached && tmb_mapped_delta(jobrank) != GEXX_UNMAPPED &&
         inside(&tmb_job.peer_segment[jobrank], addr, nbytes);
}

bool tmb_segtab_maps(gex_TM_t tm, gex_Rank_t rank, const void *addr, size_t nbytes) {
  const struct tmb_peer_segment *s = tmb_segtab_at(tm, rank);
  return tmb_segtab_deltas(tm)[rank] != GEXX_UNMAPPED && s && inside(s, addr, nbytes);
}

/* What to add to an address in the segment of a process to get ours, or GEXX_UNMAPPED; whatever
 * TOMBOLO_SHM_MAP says. */
static intptr_t delta_of(uint32_t jobrank, const struct tmb_peer_segment *s) {
  if (s->local == TMB_LOCAL_DEVICE) return GEXX_UNMAPPED;
  if (jobrank == tmb_job.rank) return 0;
  if (s->local) return (intptr_t)((uintptr_t)s->local - s->base);
  if (tmb_segtab_attached(jobrank, (const void *)s->base, s->size))
    return tmb_mapped_delta(jobrank);
  return GEXX_UNMAPPED;
}

static void *table(size_t item_bytes) {
  void *p = calloc(tmb_job.size, item_bytes);
  if (!p) tmb_fatal("out of memory for a table of %u ranks", tmb_job.size);
  return p;
}

/* A new delta table in which everything is unmapped, for so many endpoints of each process. */
static intptr_t *unmapped_table(size_t endpoints) {
  intptr_t *t = table(endpoints * sizeof *t);
  for (size_t i = 0; i < endpoints * tmb_job.size; i++) t[i] = GEXX_UNMAPPED;
  return t;
}

void tmb_segtab_init(void) {
  tmb_job.segment_table[0] = tmb_job.peer_segment;
  tmb_job.ep_delta[0] = tmb_job.delta;
  /* While operations are counted the heads of all teams point to this table, so it has an entry
   * for every endpoint. */
  tmb_job.unmapped = unmapped_table(tmb_job.counted ? GASNET_MAXEPS : 1);
}

const intptr_t *tmb_segtab_delta(gex_EP_Index_t ep) {
  return tmb_job.ep_delta[ep] ? tmb_job.ep_delta[ep] : tmb_job.unmapped;
}

const intptr_t *tmb_segtab_hidden(gex_TM_t tm) {
  if (tm->magic != GEXX_MAGIC_PAIR) return tmb_team_delta(tmb_team_of(tm));
  return tmb_mk_device(tm->ep->segment) ? tmb_job.unmapped
                                        : tmb_segtab_delta((gex_EP_Index_t)(tm - tm->ep->pair));
}

/* The delta table of an endpoint index for writing. Indices start with one common table of
 * unmapped entries; at the first write the index gets its own, and its TM-pairs are pointed to
 * that. */
static intptr_t *local_delta(gex_EP_Index_t ep) {
  if (!tmb_job.ep_delta[ep]) {
    tmb_job.ep_delta[ep] = unmapped_table(1);
    for (gex_EP_Index_t i = 0; i < GASNET_MAXEPS; i++)
      if (tmb_job.eps[i] && !tmb_mk_device(tmb_job.eps[i]->segment))
        tmb_job.eps[i]->pair[ep].delta = tmb_segtab_shown(tmb_job.ep_delta[ep]);
  }
  return tmb_job.ep_delta[ep];
}

void tmb_segtab_set(uint32_t jobrank, gex_EP_Index_t ep, const struct tmb_peer_segment *s) {
  if (!tmb_job.segment_table[ep])
    tmb_job.segment_table[ep] = table(sizeof *tmb_job.segment_table[ep]);
  tmb_job.segment_table[ep][jobrank] = *s;
}

void tmb_segtab_refresh(void) {
  const bool map = tmb_cfg_bool(TMB_CFG_SHM_MAP);
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++) {
    const struct tmb_peer_segment *s = tmb_job.segment_table[e];
    if (!s || !map) continue;
    intptr_t *delta = local_delta(e);
    for (uint32_t r = 0; r < tmb_job.size; r++)
      if (s[r].size && !tmb_peer_lost(r)) delta[r] = delta_of(r, &s[r]);
  }
  tmb_team_refresh();
}

void tmb_segtab_lose(uint32_t jobrank) {
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++)
    if (tmb_job.ep_delta[e]) tmb_store_rlx(&tmb_job.ep_delta[e][jobrank], GEXX_UNMAPPED);
  tmb_team_refresh();
}

/* ---- publish */

static void check_publish(gex_TM_t tm, const gex_EP_t *eps, size_t num_eps, gex_Flags_t flags) {
  const char *call = "gex_EP_PublishBoundSegment";
  tmb_check_context_at(call);
  tmb_check_tm(call, tm, false);
  tmb_check_flags(call, flags, 0);
  if (num_eps && !eps) tmb_fatal_nopos("%s: argument eps is NULL with num_eps %zu", call, num_eps);
  if (num_eps > GASNET_MAXEPS)
    tmb_fatal_nopos("%s: argument num_eps is %zu; a process has at most %d endpoints", call,
                    num_eps, GASNET_MAXEPS);
  for (size_t i = 0; i < num_eps; i++) {
    tmb_check_ep(call, eps[i]);
    for (size_t k = 0; k < i; k++)
      if (eps[k] == eps[i])
        tmb_fatal_nopos("%s: argument eps names endpoint %u twice (entries %zu and %zu)", call,
                        eps[i]->index, k, i);
  }
}

static uint32_t share_device(const struct gexx_segment_s *s, unsigned char *out) {
  return PART_DEVICE | (tmb_mk_peer_share(s, out) ? 1 + tmb_mk_device(s)->class_id : 0);
}

/* What this process publishes in one step: entries `first` and following of the bound endpoints
 * among `eps`. out handles: of the device segments among them. */
static struct part part_of(const gex_EP_t *eps, size_t num_eps, size_t first, handle *handles) {
  struct part p = {0};
  for (size_t i = 0; i < num_eps; i++) {
    const struct gexx_segment_s *s = eps[i]->segment;
    if (!s) continue;
    const size_t at = p.total++ - first;
    if (at >= PART_ENTRIES) continue;
    p.entry[at].base = (uint64_t)(uintptr_t)s->base;
    p.entry[at].size = s->size;
    p.entry[at].ep = eps[i]->index;
    p.entry[at].share = tmb_mk_device(s) ? share_device(s, handles[at]) : (uint32_t)s->share;
  }
  return p;
}

/* Map a segment that a peer of the neighbourhood shares, unless it is mapped already. */
static void map_shared(uint32_t jobrank, gex_EP_Index_t ep, struct tmb_peer_segment *s, int fd) {
  const struct tmb_peer_segment *known = tmb_segtab_of(jobrank, ep);
  if (known && known->base == s->base && known->size == s->size) {
    s->local = known->local;
  } else if (jobrank != tmb_job.rank && tmb_nbrhd_of(jobrank) == tmb_nbrhd_of(tmb_job.rank)) {
    s->local = tmb_memfd_map_peer(tmb_boot_peer_pid(&tmb_job.boot, jobrank), fd, s->size);
  }
}

/* Enter the segments that a member publishes in the tables. Returns whether it shares memory. */
static bool enter_part(uint32_t jobrank, const struct part *p, size_t count) {
  bool shares = false;
  for (size_t i = 0; i < count; i++) {
    const gex_EP_Index_t ep = (gex_EP_Index_t)p->entry[i].ep;
    struct tmb_peer_segment s = {(uintptr_t)p->entry[i].base, p->entry[i].size, NULL};
    if (p->entry[i].share >= PART_DEVICE) {
      s.local = TMB_LOCAL_DEVICE;
    } else if (p->entry[i].share) {
      map_shared(jobrank, ep, &s, (int)p->entry[i].share - 1);
      shares = true;
    }
    tmb_segtab_set(jobrank, ep, &s);
  }
  return shares;
}

/* Class of the device memory of an entry that has a handle, else 0. */
static uint32_t class_of(const struct part *p, size_t i) {
  return p->entry[i].share >= PART_DEVICE ? p->entry[i].share & PART_CLASS : 0;
}

/* Exchange the handles of entry i, if any member has one. Returns false when a member is lost. */
static bool exchange_handles(struct tmb_team *team, const struct part *all, size_t i,
                             const unsigned char *mine) {
  enum { PIECES = GEXX_MK_HANDLE_BYTES / TMB_TEAM_GATHER_BYTES };
  const uint32_t size = team->head.size;
  uint32_t r = 0;
  while (r < size && !class_of(&all[r], i)) r++;
  if (r == size) return true;
  unsigned char *got = malloc((size_t)size * GEXX_MK_HANDLE_BYTES);
  if (!got) tmb_fatal("out of memory for the device memory of %u members", size);
  bool ok = true;
  for (size_t k = 0; k < PIECES; k++)
    ok = ok && tmb_team_allgather(team, mine + k * TMB_TEAM_GATHER_BYTES, TMB_TEAM_GATHER_BYTES,
                                  got + k * size * TMB_TEAM_GATHER_BYTES);
  for (; ok && r < size; r++) {
    handle whole;
    for (size_t k = 0; k < PIECES; k++)
      memcpy(whole + k * TMB_TEAM_GATHER_BYTES, got + (k * size + r) * TMB_TEAM_GATHER_BYTES,
             TMB_TEAM_GATHER_BYTES);
    if (class_of(&all[r], i))
      tmb_mk_peer_set(tmb_team_jobrank(team, r), (gex_EP_Index_t)all[r].entry[i].ep,
                      class_of(&all[r], i) - 1, whole);
  }
  free(got);
  return ok;
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_publish(tm, eps, num_eps, flags);
  if (flags || (num_eps && !eps))
    return tmb_refuse("gex_EP_PublishBoundSegment", GASNET_ERR_BAD_ARG,
                      "argument eps is %p with num_eps %zu, flags is 0x%x; flags must be 0",
                      (void *)eps, num_eps, flags);
  struct tmb_team *team = tmb_team_of(tm);
  struct part *all = calloc(tm->size, sizeof *all);
  if (!all) tmb_fatal("out of memory for %u members", tm->size);
  size_t most = 1;
  bool shares = false, ok = true;
  for (size_t first = 0; ok && first < most; first += PART_ENTRIES) {
    handle handles[PART_ENTRIES] = {{0}};
    const struct part mine = part_of(eps, num_eps, first, handles);
    ok = tmb_team_allgather(team, &mine, sizeof mine, all);
    for (uint32_t r = 0; ok && r < tm->size; r++) {
      const size_t total = (size_t)all[r].total, left = total > first ? total - first : 0;
      most = TMB_MAX(most, total);
      shares |= enter_part(tmb_team_jobrank(team, r), &all[r], TMB_MIN(left, (size_t)PART_ENTRIES));
    }
    for (size_t i = 0; i < PART_ENTRIES; i++) ok = ok && exchange_handles(team, all, i, handles[i]);
  }
  free(all);
  if (!ok) return GEXX_ERR_LOST;
  tmb_segtab_refresh();
  /* An owner that goes on may close the descriptor that a peer still has to open. */
  if (shares) gex_Coll_BarrierBlocking(tm, 0);
  return GASNET_OK;
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
  return GEX_EVENT_INVALID;
}
