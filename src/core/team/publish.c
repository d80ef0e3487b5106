/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call that publishes bound segments to the members of a team (API 01.5).
 *
 * Owns nothing. Called by clients. Calls: the all-gather of teams, the tables of segments. The
 * members exchange a few entries in each step, until the one that has most has given all.
 * Invariant: publish changes entries of endpoints that the client keeps idle.
 */
#include "boot/boot.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/mk.h"
#include "core/segment/mk_peer.h"
#include "core/segment/segment_table.h"
#include "core/team.h"
#include "os/memory/memfd_peer.h"

#include <gasnetex_ext.h>

#include <stdlib.h>
#include <string.h>
#include <tombolo/mk_plugin.h>

/* A member's part of one step of the exchange. Fixed: two entries fill 64 bytes. */
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

/* The part of this process in one step: entries `first` and following of the bound endpoints among
 * `eps`. out handles: of the device segments among them. */
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

/* Memory of one call, for all members. */
struct room {
  struct part *all;
  unsigned char *handles; /* [size] handles */
};

static bool make_room(struct room *room, uint32_t size) {
  room->all = calloc(size, sizeof *room->all);
  room->handles = malloc((size_t)size * GEXX_MK_HANDLE_BYTES);
  return room->all && room->handles;
}

/* Whether all members have memory for the exchange. Returns GASNET_OK, or the result of the call.
 * Members of teams with more members than a job has ranks cannot say so: they end the job. */
static int agree(struct tmb_team *team, bool mine) {
  const uint32_t size = team->head.size;
  uint8_t ready = mine, all[TMB_BOOT_RANKS_MAX];
  if (size > TMB_BOOT_RANKS_MAX) {
    if (!mine) tmb_fatal("out of memory for %u members", size);
    return GASNET_OK;
  }
  if (!tmb_team_allgather(team, &ready, sizeof ready, all)) return GEXX_ERR_LOST;
  for (uint32_t r = 0; r < size; r++)
    if (!all[r])
      return tmb_refuse("gex_EP_PublishBoundSegment", GASNET_ERR_RESOURCE,
                        "rank %u of the team has no memory for the segments of %u members", r,
                        size);
  return GASNET_OK;
}

/* Exchange the handles of entry i, if any member has one. Returns false when a member is lost. */
static bool exchange_handles(struct tmb_team *team, const struct room *room, size_t i,
                             const unsigned char *mine) {
  enum { PIECES = GEXX_MK_HANDLE_BYTES / TMB_TEAM_GATHER_BYTES };
  const struct part *const all = room->all;
  unsigned char *const got = room->handles;
  const uint32_t size = team->head.size;
  uint32_t r = 0;
  while (r < size && !class_of(&all[r], i)) r++;
  if (r == size) return true;
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
  return ok;
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_publish(tm, eps, num_eps, flags);
  if (flags || (num_eps && !eps))
    return tmb_refuse("gex_EP_PublishBoundSegment", GASNET_ERR_BAD_ARG,
                      "argument eps is %p with num_eps %zu, flags is 0x%x; eps lists num_eps "
                      "endpoints, flags must be 0",
                      (void *)eps, num_eps, flags);
  struct tmb_team *team = tmb_team_of(tm);
  struct room room;
  const int rc = agree(team, make_room(&room, tm->size));
  struct part *const all = room.all;
  size_t most = 1;
  bool shares = false, ok = rc == GASNET_OK;
  for (size_t first = 0; ok && first < most; first += PART_ENTRIES) {
    handle handles[PART_ENTRIES] = {{0}};
    const struct part mine = part_of(eps, num_eps, first, handles);
    ok = tmb_team_allgather(team, &mine, sizeof mine, all);
    for (uint32_t r = 0; ok && r < tm->size; r++) {
      const size_t total = (size_t)all[r].total, left = total > first ? total - first : 0;
      most = TMB_MAX(most, total);
      shares |= enter_part(tmb_team_jobrank(team, r), &all[r], TMB_MIN(left, (size_t)PART_ENTRIES));
    }
    for (size_t i = 0; i < PART_ENTRIES; i++)
      ok = ok && exchange_handles(team, &room, i, handles[i]);
  }
  free(room.all);
  free(room.handles);
  if (!ok) return rc == GASNET_OK ? GEXX_ERR_LOST : rc;
  tmb_segtab_refresh();
  tmb_team_refresh();
  /* An owner that goes on may close the descriptor that a peer still has to open. */
  if (shares) gex_Coll_BarrierBlocking(tm, 0);
  return GASNET_OK;
}
