/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making teams out of teams, and their end: gex_TM_Split, gex_TM_Dup, gex_TM_Destroy (API 01.7).
 *
 * Owns nothing. Called by clients, collectively. Calls: team.h, the all-gather, the barrier.
 * Every member of the parent offers colour, key, a team number and its scratch memory in one
 * all-gather; each then computes its new team alone, and takes the number that the member of rank 0
 * offered. A peer may use the team before this process has made it: registry and parking deal with
 * that. Invariants: outputs are written when the team is usable; Destroy without scratch memory to
 * give back does not wait, because the team object lives until its last barrier is complete.
 */
#include "core/team/team_make.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/shared.h"
#include "core/team/barrier.h"
#include "core/team/groups.h"

#include <stdlib.h>

#define SMALL 16 /* members of a parent that need no memory of the heap; chosen */

/* Contribution of a member of the parent; 40 bytes. */
struct offer {
  int32_t color;
  int32_t key;
  uint64_t uid;     /* number of the new team, if this member is its rank 0 */
  uint64_t scratch; /* address */
  uint64_t bytes;   /* of scratch, 0: none */
  uint32_t joins;   /* a new team */
  uint32_t row;     /* for the shared memory, or TMB_SHARED_NONE */
};

/* Sort key of a member: (key, rank in the parent) in one word. */
static uint64_t order_word(int32_t key, uint32_t rank) {
  return (uint64_t)((uint32_t)key ^ 0x80000000u) << 32 | rank;
}

static int compare_words(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Members of one colour in their new order, as order words. out order: [parent size]. Returns how
 * many. */
static uint32_t members_of(const struct offer *all, uint32_t size, int32_t color, uint64_t *order) {
  uint32_t count = 0;
  bool sorted = true;
  for (uint32_t r = 0; r < size; r++) {
    if (!all[r].joins || all[r].color != color) continue;
    order[count] = order_word(all[r].key, r);
    sorted = sorted && (!count || order[count - 1] < order[count]);
    count++;
  }
  if (!sorted) qsort(order, count, sizeof *order, compare_words);
  return count;
}

/* Members of a new team must agree on scratch memory. */
static void check_agreement(const char *call, const struct offer *all, const struct offer *mine,
                            uint32_t size) {
  for (uint32_t r = 0; r < size; r++)
    if (all[r].joins && all[r].color == mine->color && all[r].bytes != mine->bytes)
      tmb_advise(TMB_ADVICE_SCRATCH,
                 "%s: argument scratch_size is %llu here, but %llu on rank %u of the parent "
                 "(0: GEX_FLAG_TM_NO_SCRATCH); it must be the same in a new team",
                 call, (unsigned long long)mine->bytes, (unsigned long long)all[r].bytes, r);
}

/* The new team of this member, registered. in all: offers by parent rank. */
static struct tmb_team *make(const struct tmb_team *parent, const struct offer *all,
                             const struct offer *mine, gex_Flags_t flags) {
  uint64_t few[SMALL];
  uint64_t *order = parent->head.size <= SMALL ? few : malloc(parent->head.size * sizeof *order);
  if (!order) tmb_fatal("out of memory for %u members", parent->head.size);
  const uint32_t count = members_of(all, parent->head.size, mine->color, order);
  gex_EP_Index_t *ep_index;
  struct tmb_team *team = tmb_team_new(count, mine->bytes != 0, &ep_index);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t r = (uint32_t)order[i];
    team->jobrank_table[i] = tmb_team_jobrank(parent, r);
    team->shared_row[i] = (uint8_t)TMB_MIN(all[r].row, (uint32_t)TMB_SHARED_ROWS_MAX);
    ep_index[i] = parent->ep_index ? parent->ep_index[r] : 0;
    if (team->peer_scratch) team->peer_scratch[i] = all[r].scratch;
    if (r == parent->head.rank) team->head.rank = i;
  }
  team->uid = all[(uint32_t)order[0]].uid;
  team->parent = parent->uid;
  team->order = parent->made;
  tmb_groups_set(team, mine->row);
  if (order != few) free(order);
  team->head.ep = parent->head.ep;
  team->head.client = parent->head.client;
  team->head.flags = flags;
  team->scratch = (void *)(uintptr_t)mine->scratch;
  team->scratch_bytes = mine->bytes;
  tmb_team_register(team);
  return team;
}

/* Exchange offers and make the team; NULL for a member that joins nothing, and when a member of the
 * parent is lost. */
static struct tmb_team *split(const char *call, struct tmb_team *parent, struct offer *mine,
                              gex_Flags_t flags) {
  struct offer few[SMALL];
  struct offer *all = parent->head.size <= SMALL ? few : malloc(parent->head.size * sizeof *all);
  if (!all) tmb_fatal("out of memory for %u members", parent->head.size);
  tmb_team_making(true);
  parent->made++;
  mine->uid = tmb_team_uid();
  mine->row = mine->joins ? tmb_shared_take() : TMB_SHARED_NONE;
  const bool ok = tmb_team_allgather(parent, mine, sizeof *mine, all);
  struct tmb_team *team = NULL;
  if (ok && mine->joins) {
    if (TMB_UNLIKELY(tmb_job.debug)) check_agreement(call, all, mine, parent->head.size);
    team = make(parent, all, mine, flags);
  }
  if (all != few) free(all);
  tmb_team_making(false);
  return team;
}

/* ---- Split */

#define SPLIT_FLAGS GEX_FLAG_SCRATCH_SEG_OFFSET
#define SPLIT_MODES (GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH)

static void check_split(const gex_TM_t *new_tm_p, gex_TM_t parent, int color, gex_Addr_t addr,
                        size_t bytes, gex_Flags_t flags) {
  const char *call = "gex_TM_Split";
  tmb_team_check_call(
      &(struct tmb_team_call){call, parent, flags, SPLIT_FLAGS, SPLIT_MODES, false});
  if (!new_tm_p) return;
  if (color < 0)
    tmb_advise(TMB_ADVICE_COLOR,
               "%s: argument color is %d; it must not be negative (to join no team, pass NULL "
               "as new_tm_p)",
               call, color);
  if (!(flags & (GEX_FLAG_TM_NO_SCRATCH | TMB_TEAM_QUERY_FLAGS)))
    tmb_team_check_scratch(call, parent->ep, addr, bytes, flags);
}

size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug))
    check_split(new_tm_p, parent_tm, color, scratch_addr, scratch_size, flags);
  if (flags & TMB_TEAM_QUERY_FLAGS)
    return new_tm_p ? tmb_team_scratch_query("gex_TM_Split", parent_tm, flags) : 0;
  struct offer mine = {.color = color, .key = key, .joins = new_tm_p != NULL};
  if (new_tm_p && !(flags & GEX_FLAG_TM_NO_SCRATCH)) {
    mine.scratch = tmb_team_scratch_addr(parent_tm->ep, scratch_addr, flags);
    mine.bytes = scratch_size;
  }
  struct tmb_team *team = split("gex_TM_Split", tmb_team_of(parent_tm), &mine, flags);
  if (new_tm_p) *new_tm_p = team ? &team->head : GEX_TM_INVALID;
  return team ? 1 : 0;
}

/* ---- Dup */

#define DUP_MODES \
 (GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_NO_SCRATCH)

static void check_dup(const gex_TM_t *new_tm_p, gex_TM_t orig, gex_Addr_t addr, size_t bytes,
                      gex_Flags_t flags) {
  const char *call = "gex_TM_Dup";
  tmb_team_check_call(&(struct tmb_team_call){call, orig, flags, SPLIT_FLAGS, DUP_MODES, true});
  if (flags & TMB_TEAM_QUERY_FLAGS) return;
  if (!new_tm_p) tmb_fatal_nopos("%s: argument new_tm_p is NULL", call);
  if (flags & GEX_FLAG_TM_NO_SCRATCH) return;
  tmb_team_check_scratch(call, orig->ep, addr, bytes, flags);
  if (bytes < TMB_TEAM_SCRATCH_MIN)
    tmb_fatal_nopos("%s: argument scratch_len is %zu; at least %d are needed (see "
                    "GEX_FLAG_TM_SCRATCH_SIZE_MIN)",
                    call, bytes, TMB_TEAM_SCRATCH_MIN);
}

size_t gex_TM_Dup(gex_TM_t *new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr, size_t scratch_len,
                  gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_dup(new_tm_p, orig_tm, scratch_addr, scratch_len, flags);
  if (flags & TMB_TEAM_QUERY_FLAGS) return tmb_team_scratch_query("gex_TM_Dup", orig_tm, flags);
  struct offer mine = {.joins = 1};
  if (!(flags & GEX_FLAG_TM_NO_SCRATCH)) {
    mine.scratch = tmb_team_scratch_addr(orig_tm->ep, scratch_addr, flags);
    mine.bytes = scratch_len;
  }
  struct tmb_team *team = split("gex_TM_Dup", tmb_team_of(orig_tm), &mine, flags);
  *new_tm_p = team ? &team->head : GEX_TM_INVALID;
  return team ? 1 : 0;
}

/* ---- Destroy */

static void check_destroy(gex_TM_t tm, gex_Flags_t flags) {
  const char *call = "gex_TM_Destroy";
  tmb_check_context_at(call);
  tmb_check_tm(call, tm, false);
  tmb_check_flags(call, flags, GEX_FLAG_GLOBALLY_QUIESCED | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if (tm == &tmb_job.tm)
    tmb_fatal_nopos("%s: argument tm is the primordial team, which lives as long as the job", call);
  const struct tmb_team_barrier *b = &tmb_team_of(tm)->barrier;
  if (tmb_team_of(tm)->calls->barriers != b->done)
    tmb_fatal_nopos("%s: %llu barriers on this team (%p) are not complete; wait for their events "
                    "before the team is destroyed",
                    call, (unsigned long long)(tmb_team_of(tm)->calls->barriers - b->done),
                    (void *)tm);
}

/* Where the scratch memory was, for the client. Returns whether there was any. */
static int return_scratch(const struct tmb_team *team, gex_Memvec_t *scratch_p, gex_Flags_t flags) {
  if (!team->scratch_bytes || !scratch_p) return 0;
  const gex_Segment_t segment = team->head.ep->segment;
  const bool offset = (flags & GEX_FLAG_SCRATCH_SEG_OFFSET) && segment;
  scratch_p->gex_addr =
      (void *)((uintptr_t)team->scratch - (offset ? (uintptr_t)segment->base : 0));
  scratch_p->gex_len = team->scratch_bytes;
  return 1;
}

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_destroy(tm, flags);
  struct tmb_team *team = tmb_team_of(tm);
  const int returned = return_scratch(team, scratch_p, flags);
  if ((flags & GEX_FLAG_GLOBALLY_QUIESCED) || team->head.size == 1) {
    tmb_team_close(team);
  } else if (!team->scratch_bytes || tmb_team_local_members(team->uid) > 1) {
    /* One thread may destroy several members in turn, so all but the last must not wait. */
    team->head.magic = 0;
    tmb_barrier_close(team);
  } else {
    gex_Coll_BarrierBlocking(tm, 0);
    tmb_team_close(team);
  }
  return returned;
}
