/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making a team from a list of endpoints: gex_TM_Create (API 01.7).
 *
 * Owns nothing. Called by clients, collectively over the parent. Calls: team.h, the all-gather.
 * Every caller offers a team number and the first entry of its list; the callers of one team have
 * equal lists, which no other caller's list overlaps, so the first entry names the team, and the
 * number that the lowest of its callers offered is used. Scratch memory is then exchanged inside
 * the new team, in all modes, so that addresses are resolved by their owners. Invariants: all local
 * members are registered before any waits, and one thread serves them all; handles are written when
 * the teams are usable.
 */
#include "core/check.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "core/team/groups.h"
#include "core/team/team_make.h"

#include <stdlib.h>
#include <string.h>

#define CREATE_FLAGS (GEX_FLAG_SCRATCH_SEG_OFFSET | GEX_FLAG_RANK_IS_JOBRANK)

/* Contribution of a caller. */
struct offer {
  uint64_t uid;
  uint64_t hash;  /* of the whole list, to find callers whose lists differ */
  uint64_t bytes; /* of scratch, 0: none */
  uint64_t first; /* place of the first entry; NOBODY without a list */
  uint64_t flags_count;
  uint32_t row; /* for the shared memory, or TMB_SHARED_NONE */
};
#define NOBODY UINT64_MAX

struct create {
  gex_TM_t *new_tms;
  size_t num_new_tms;
  gex_TM_t parent;
  const gex_EP_Location_t *args;
  size_t numargs;
  const gex_Addr_t *addrs;
  size_t bytes;
  gex_Flags_t flags;
  uint64_t uid;
  uint32_t row;  /* of this member, or TMB_SHARED_NONE */
  uint8_t *rows; /* [numargs] of the members' shared memory, NULL: this member has none */
};

static uint32_t jobrank_of(const struct create *c, size_t i) {
  const gex_Rank_t rank = c->args[i].gex_rank;
  return c->flags & GEX_FLAG_RANK_IS_JOBRANK ? rank : tmb_jobrank(c->parent, rank);
}

/* Job rank and endpoint index of a list entry in one word, for comparing. */
static uint64_t place_of(const struct create *c, size_t i) {
  return (uint64_t)jobrank_of(c, i) << 16 | c->args[i].gex_ep_index;
}

static bool has_scratch(const struct create *c) {
  return !(c->flags & GEX_FLAG_TM_NO_SCRATCH);
}

/* ---- checks of debug clients */

static int compare_words(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void check_ranks(const char *call, const struct create *c) {
  const bool job = (c->flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  for (size_t i = 0; i < c->numargs; i++) {
    const gex_EP_Location_t at = c->args[i];
    if (at.gex_rank >= (job ? tmb_job.size : c->parent->size))
      tmb_fatal_nopos("%s: args[%zu].gex_rank is %u, but the %s has %u ranks", call, i, at.gex_rank,
                      job ? "job" : "parent team", job ? tmb_job.size : c->parent->size);
    if (at.gex_ep_index >= GASNET_MAXEPS)
      tmb_fatal_nopos("%s: args[%zu].gex_ep_index is %u; at most %d endpoints exist", call, i,
                      at.gex_ep_index, GASNET_MAXEPS);
    if (job && tmb_rank_of_jobrank(c->parent, at.gex_rank) == GEX_RANK_INVALID)
      tmb_fatal_nopos("%s: args[%zu].gex_rank is jobrank %u, of which parent_tm has no member",
                      call, i, at.gex_rank);
    if (jobrank_of(c, i) == tmb_job.rank && !tmb_job.eps[at.gex_ep_index])
      tmb_fatal_nopos("%s: args[%zu] names endpoint %u of this process, which does not exist", call,
                      i, at.gex_ep_index);
  }
}

static void check_distinct(const char *call, const struct create *c) {
  uint64_t *places = malloc(c->numargs * sizeof *places);
  if (!places) tmb_fatal("out of memory for %zu members", c->numargs);
  for (size_t i = 0; i < c->numargs; i++) places[i] = place_of(c, i);
  qsort(places, c->numargs, sizeof *places, compare_words);
  for (size_t i = 1; i < c->numargs; i++)
    if (places[i] == places[i - 1])
      tmb_fatal_nopos("%s: argument args names endpoint %u of jobrank %u twice", call,
                      (unsigned)(places[i] & 0xffff), (unsigned)(places[i] >> 16));
  free(places);
}

/* Scratch memory of the local member that is entry i of the list and the k-th one here. */
static gex_Addr_t addr_of(const struct create *c, size_t i, size_t k) {
  return c->addrs[c->flags & GEX_FLAG_TM_SYMMETRIC_SCRATCH ? 0
                  : c->flags & GEX_FLAG_TM_LOCAL_SCRATCH   ? k
                                                           : i];
}

static void check_local_members(const char *call, const struct create *c) {
  size_t local = 0;
  for (size_t i = 0; i < c->numargs; i++) {
    if (jobrank_of(c, i) != tmb_job.rank) continue;
    if (has_scratch(c))
      tmb_team_check_scratch(call, tmb_job.eps[c->args[i].gex_ep_index], addr_of(c, i, local),
                             c->bytes, c->flags);
    local++;
  }
  if (!local)
    tmb_fatal_nopos("%s: argument args (%zu entries) names no endpoint of this process (jobrank "
                    "%u); pass numargs 0 to make no team",
                    call, c->numargs, tmb_job.rank);
  if (local != c->num_new_tms)
    tmb_fatal_nopos("%s: argument num_new_tms is %zu, but args names %zu endpoints of this process",
                    call, c->num_new_tms, local);
}

static void check_create(const struct create *c) {
  const char *call = "gex_TM_Create";
  tmb_team_check_call(&(struct tmb_team_call){call, c->parent, c->flags, CREATE_FLAGS,
                                              TMB_TEAM_MODE_FLAGS, c->numargs != 0});
  if (!c->numargs || (c->flags & TMB_TEAM_QUERY_FLAGS)) return;
  if (!c->args) tmb_fatal_nopos("%s: argument args is NULL with numargs %zu", call, c->numargs);
  check_ranks(call, c);
  check_distinct(call, c);
  if (!c->new_tms) tmb_fatal_nopos("%s: argument new_tms is NULL", call);
  if (has_scratch(c) && !c->addrs) tmb_fatal_nopos("%s: argument scratch_addrs is NULL", call);
  check_local_members(call, c);
}

/* Callers of one team must agree. */
static void check_agreement(const struct offer *mine, const struct offer *other, uint32_t rank) {
  const char *argument = mine->hash != other->hash                 ? "args"
                         : mine->flags_count != other->flags_count ? "numargs or flags"
                         : mine->bytes != other->bytes             ? "scratch_size"
                                                                   : NULL;
  if (argument)
    tmb_fatal_nopos("gex_TM_Create: argument %s differs from what rank %u of the parent passes for "
                    "the same team; it must be the same on all members",
                    argument, rank);
}

/* ---- making */

static struct offer offer_of(const struct create *c) {
  struct offer o = {.uid = tmb_team_uid(), .first = NOBODY, .row = TMB_SHARED_NONE};
  if (!c->numargs) return o;
  /* A process with several members would need several rows, and know their ranks in the parent. */
  if (c->numargs > 1 && c->num_new_tms == 1 && !tmb_team_of(c->parent)->ep_index)
    o.row = tmb_shared_take();
  o.first = place_of(c, 0);
  o.bytes = has_scratch(c) ? c->bytes : 0;
  o.flags_count = (uint64_t)c->numargs << 32 | c->flags;
  for (size_t i = 0; i < c->numargs; i++)
    o.hash = (o.hash ^ place_of(c, i)) * UINT64_C(0x9e3779b97f4a7c15) + (o.hash >> 31);
  return o;
}

/* Notes the rows that the members offer for the new team's shared memory. */
static void note_rows(struct create *c, const struct offer *all, const struct offer *mine) {
  c->row = mine->row;
  if (mine->row == TMB_SHARED_NONE) return;
  c->rows = malloc(c->numargs);
  if (!c->rows) tmb_fatal("out of memory for %zu members", c->numargs);
  for (size_t i = 0; i < c->numargs; i++) {
    const gex_Rank_t rank = tmb_rank_of_jobrank(c->parent, jobrank_of(c, i));
    const uint32_t row =
        rank < c->parent->size && all[rank].first == mine->first ? all[rank].row : TMB_SHARED_NONE;
    c->rows[i] = (uint8_t)TMB_MIN(row, (uint32_t)TMB_SHARED_ROWS_MAX);
  }
}

/* Exchange offers; sets c->uid, the number of this caller's team. Returns false when a member of
 * the parent is lost; a row that was offered is not used again then. */
static bool agree_on_uid(struct create *c) {
  const struct offer mine = offer_of(c);
  tmb_team_of(c->parent)->made++;
  const uint32_t size = c->parent->size;
  struct offer *all = malloc(size * sizeof *all);
  if (!all) tmb_fatal("out of memory for %u members", size);
  const bool ok = tmb_team_allgather(tmb_team_of(c->parent), &mine, sizeof mine, all);
  bool found = false;
  c->uid = mine.uid;
  for (uint32_t r = 0; ok && r < size && mine.first != NOBODY; r++) {
    if (all[r].first != mine.first) continue;
    if (TMB_UNLIKELY(tmb_job.debug)) check_agreement(&mine, &all[r], r);
    if (!found) c->uid = all[r].uid;
    found = true;
  }
  if (ok) note_rows(c, all, &mine);
  free(all);
  return ok;
}

/* The local member that is entry `index` of the list, registered. */
static struct tmb_team *make_member(const struct create *c, size_t index, size_t local) {
  gex_EP_Index_t *ep_index;
  struct tmb_team *team = tmb_team_new((uint32_t)c->numargs, has_scratch(c), &ep_index);
  for (size_t i = 0; i < c->numargs; i++) {
    team->jobrank_table[i] = jobrank_of(c, i);
    team->shared_row[i] = c->rows ? c->rows[i] : TMB_SHARED_ROWS_MAX;
    ep_index[i] = c->args[i].gex_ep_index;
  }
  team->uid = c->uid;
  team->parent = tmb_team_of(c->parent)->uid;
  team->order = tmb_team_of(c->parent)->made;
  team->head.rank = (uint32_t)index;
  tmb_groups_set(team, c->row);
  team->head.ep = tmb_job.eps[ep_index[index]];
  team->head.client = team->head.ep->client;
  team->head.flags = c->flags;
  if (has_scratch(c)) {
    const uint64_t addr = tmb_team_scratch_addr(team->head.ep, addr_of(c, index, local), c->flags);
    team->scratch = (void *)(uintptr_t)addr;
    team->scratch_bytes = c->bytes;
  }
  tmb_team_register(team);
  return team;
}

struct gatherings {
  struct tmb_team_gathering *g; /* [count] */
  size_t count;
};

static bool all_complete(void *arg) {
  const struct gatherings *all = arg;
  bool done = true;
  for (size_t k = 0; k < all->count; k++) done = tmb_team_gather_step(&all->g[k]) && done;
  return done;
}

static void describe_first(const void *object, struct tmb_status_wait *out) {
  const struct gatherings *all = object;
  if (all->count) tmb_team_gather_describe(&all->g[0], out);
}

/* Send the members of the new team each other's scratch memory; for all local ones at once. Returns
 * false when one is lost. */
static bool exchange_scratch(struct tmb_team *const *teams, size_t count) {
  struct tmb_team_gathering *g = calloc(count, sizeof *g);
  if (!g) tmb_fatal("out of memory for %zu local members", count);
  for (size_t k = 0; k < count; k++) {
    const uint64_t mine = (uint64_t)(uintptr_t)teams[k]->scratch;
    tmb_team_gather_begin(&g[k], teams[k], &mine, sizeof mine);
  }
  struct gatherings all = {g, count};
  (void)tmb_wait_until(all_complete, &all, UINT64_MAX, describe_first);
  bool ok = true;
  for (size_t k = 0; k < count; k++) ok = tmb_team_gather_end(&g[k], teams[k]->peer_scratch) && ok;
  free(g);
  return ok;
}

/* Make the local members of an agreed team. Returns 0 when a member is lost before it is usable. */
static size_t make_members(const struct create *c) {
  struct tmb_team **teams = calloc(c->num_new_tms + 1, sizeof *teams);
  if (!teams) tmb_fatal("out of memory for %zu local members", c->num_new_tms);
  size_t local = 0;
  for (size_t i = 0; i < c->numargs && local < c->num_new_tms; i++) {
    if (jobrank_of(c, i) != tmb_job.rank) continue;
    teams[local] = make_member(c, i, local);
    local++;
  }
  const bool usable = !has_scratch(c) || exchange_scratch(teams, local);
  for (size_t k = 0; k < local; k++) {
    if (usable)
      c->new_tms[k] = &teams[k]->head;
    else
      tmb_team_close(teams[k]);
  }
  free(teams);
  return local && usable ? 1 : 0;
}

size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                     gex_EP_Location_t *args, size_t numargs, gex_Addr_t *scratch_addrs,
                     size_t scratch_size, gex_Flags_t flags) {
  struct create c = {new_tms, num_new_tms,     parent_tm,    args,
                     numargs, scratch_addrs,   scratch_size, flags,
                     0,       TMB_SHARED_NONE, NULL};
  if (TMB_UNLIKELY(tmb_job.debug)) check_create(&c);
  if (flags & TMB_TEAM_QUERY_FLAGS)
    return numargs ? tmb_team_scratch_query("gex_TM_Create", parent_tm, flags) : 0;
  for (size_t k = 0; k < num_new_tms && numargs; k++) new_tms[k] = GEX_TM_INVALID;
  tmb_team_making(true);
  const bool agreed = agree_on_uid(&c);
  const size_t made = agreed && numargs ? make_members(&c) : 0;
  tmb_team_making(false);
  free(c.rows);
  return made;
}
