/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Team objects and their registry, see team.h.
 *
 * Owns: the hash table of the teams of this process, messages that came before their team, and the
 * numbers of teams. Called by client.c, team_make.c, barrier.c, coll and message handlers. Calls:
 * job.h tables. A team and its tables are one allocation. Invariants: the registry is guarded by
 * its lock (with threads), which is never held while anything is sent or a handler runs; messages
 * find a team until its last reference is dropped, also after its handle is; one that finds none is
 * kept only while a call that makes teams is in progress; in debug clients the last TMB_TEAM_GRAVES
 * destroyed teams stay allocated with a dead magic number, so that a stale handle is named.
 */
#include "core/team.h"

#include "base/container/list.h"
#include "base/log.h"
#include "core/check.h"
#include "core/job.h"
#include "core/op/lost.h"
#include "core/op/status.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"
#include "core/shared.h"
#include "net/up.h"
#include "os/sync/lock.h"

#include <stdlib.h>
#include <string.h>

/* A message whose team does not exist here yet. */
struct tmb_parked {
  struct tmb_parked *next;
  uint64_t uid;
  uint32_t rank;
  struct tmb_am_in in;
  int32_t args[TMB_AM_ARGS_MAX];
  char payload[] TMB_ALIGNED(16);
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.teams.lock) static inline struct tmb_registry *reg(void) {
  return &tmb_job.teams;
}

static uint32_t hash(uint64_t uid) {
  return (uint32_t)((uid ^ uid >> 40) % TMB_TEAM_BUCKETS);
}

TMB_REQUIRES(tmb_job.teams.lock) static struct tmb_team **bucket_of(uint64_t uid) {
  return &reg()->bucket[hash(uid)];
}

static uint32_t rounds_of(uint32_t size) {
  const uint32_t rounds = tmb_team_log2(size);
  tmb_assert_cmp(rounds, <=, TMB_TEAM_ROUNDS_MAX);
  return rounds;
}

uint64_t tmb_team_uid(void) {
  return (uint64_t)(tmb_job.rank + 1) << 40 | tmb_fetch_add_rlx(&tmb_job.teams.uids, 1);
}

/* Take all parked messages of a bucket for which no team will be registered; under the lock. */
TMB_REQUIRES(tmb_job.teams.lock)
static struct tmb_parked *unpark_all(uint32_t bucket, struct tmb_parked *others) {
  struct tmb_parked *first = reg()->parked[bucket];
  if (!first) return others;
  for (const struct tmb_parked *m = first; m; m = m->next) reg()->stats.parked--;
  *reg()->parked_end[bucket] = others;
  reg()->parked[bucket] = NULL;
  reg()->parked_end[bucket] = NULL;
  return first;
}

/* The last call that makes teams has ended: parked offers are for a team that is no more. */
static void drop_parked(void) {
  struct tmb_parked *all = NULL;
  tmb_lock_acquire(&tmb_job.teams.lock);
  for (uint32_t b = 0;
       b < TMB_TEAM_BUCKETS && reg()->stats.parked && !tmb_load_acq(&tmb_job.teams.making); b++)
    all = unpark_all(b, all);
  tmb_lock_release(&tmb_job.teams.lock);
  while (all) free(TMB_LIST_POP(&all));
}

void tmb_team_making(bool begins) {
  if (begins) {
    tmb_fetch_add_acq_rel(&tmb_job.teams.making, 1);
  } else if (tmb_fetch_sub_acq_rel(&tmb_job.teams.making, 1) == 1) {
    drop_parked();
    tmb_layers_teams_made();
  }
}

bool tmb_team_in_making(void) {
  return tmb_load_acq(&tmb_job.teams.making) != 0;
}

TMB_REQUIRES(tmb_job.teams.lock) static void insert(struct tmb_team *team) {
  struct tmb_team **bucket = bucket_of(team->uid);
  team->hash_next = *bucket;
  *bucket = team;
}

void tmb_team_init_primordial(struct tmb_team *team) {
  *team = (struct tmb_team){.head = {.rank = tmb_job.rank,
                                     .size = tmb_job.size,
                                     .delta = tmb_segtab_shown(tmb_job.delta),
                                     .ep = &tmb_job.ep,
                                     .client = &tmb_job.client,
                                     .magic = GEXX_MAGIC_TM},
                            .rounds = rounds_of(tmb_job.size),
                            .refs = 1};
  tmb_status_team_enter(team);
  tmb_lock_acquire(&tmb_job.teams.lock);
  insert(team);
  tmb_lock_release(&tmb_job.teams.lock);
}

/* Reserve `bytes` bytes behind those counted so far, aligned. Returns their offset. */
static size_t place(size_t *total, size_t bytes) {
  const size_t at = *total;
  *total = TMB_ALIGN_UP(at + bytes, sizeof(uint64_t));
  return at;
}

/* Bytes of the allocation of a team. */
static size_t team_bytes(uint32_t size, bool scratch, size_t at[5]) {
  size_t total = sizeof(struct tmb_team);
  at[0] = place(&total, size * sizeof(intptr_t));
  at[1] = place(&total, size * sizeof(uint32_t));
  at[2] = place(&total, size * sizeof(gex_EP_Index_t));
  at[3] = place(&total, scratch ? size * sizeof(uint64_t) : 0);
  at[4] = place(&total, size);
  return total;
}

struct tmb_team *tmb_team_new(uint32_t size, bool with_scratch, gex_EP_Index_t **ep_index) {
  size_t at[5];
  const size_t bytes = team_bytes(size, with_scratch, at);
  struct tmb_team *team = malloc(bytes);
  if (!team) tmb_fatal("out of memory for a team of %u members (%zu bytes)", size, bytes);
  char *const base = (char *)team;
  memset(team, 0, sizeof *team);
  team->head.size = size;
  team->head.client = &tmb_job.client;
  team->refs = 1;
  team->rounds = rounds_of(size);
  team->local_delta = (intptr_t *)(void *)(base + at[0]);
  team->jobrank_table = (uint32_t *)(void *)(base + at[1]);
  *ep_index = (gex_EP_Index_t *)(void *)(base + at[2]);
  team->ep_index = *ep_index;
  team->shared_row = (uint8_t *)(base + at[4]);
  if (with_scratch) team->peer_scratch = (uint64_t *)(void *)(base + at[3]);
  return team;
}

/* Fill local_delta from the known segments; other threads may read it meanwhile. */
static void fill_delta(struct tmb_team *team) {
  const bool device = tmb_mk_device(team->head.ep->segment) != NULL;
  for (uint32_t r = 0; r < team->head.size; r++) {
    const intptr_t *const known = tmb_segtab_delta(team->ep_index ? team->ep_index[r] : 0);
    const intptr_t delta = tmb_load_rlx(&known[tmb_team_jobrank(team, r)]);
    tmb_store_rlx(&team->local_delta[r], device ? GEXX_UNMAPPED : delta);
  }
}

/* Drop tables of the team that equal the job's, and use those. */
static void simplify(struct tmb_team *team) {
  bool identity = team->head.size == tmb_job.size, primordial = true;
  for (uint32_t r = 0; r < team->head.size; r++) {
    identity = identity && team->jobrank_table[r] == r;
    primordial = primordial && team->ep_index[r] == 0;
  }
  if (primordial) team->ep_index = NULL;
  team->head.reserved = !primordial || team->head.ep->index;
  if (identity) team->jobrank_table = NULL;
  if (identity && primordial) team->local_delta = NULL;
}

/* Take the parked messages of a team out of their bucket; under the lock. */
TMB_REQUIRES(tmb_job.teams.lock) static struct tmb_parked *unpark(const struct tmb_team *team) {
  const uint32_t bucket = hash(team->uid);
  struct tmb_parked *mine = NULL, **end = &mine, **p = &reg()->parked[bucket];
  while (*p) {
    struct tmb_parked *const m = *p;
    if (m->uid != team->uid || m->rank != team->head.rank) {
      p = &m->next;
      continue;
    }
    (void)TMB_LIST_POP(p);
    TMB_LIST_EXTEND(&end, m);
    reg()->stats.parked--;
  }
  reg()->parked_end[bucket] = reg()->parked[bucket] ? p : NULL;
  return mine;
}

void tmb_team_register(struct tmb_team *team) {
  size_t at[5];
  simplify(team);
  team->head.jobrank = team->jobrank_table;
  if (team->local_delta) fill_delta(team);
  team->head.delta = tmb_segtab_shown(tmb_team_delta(team));
  team->head.magic = GEXX_MAGIC_TM;
  for (uint32_t r = 0; r < team->head.size && tmb_job.lost && !tmb_team_lost(team); r++)
    if (tmb_peer_lost(tmb_team_jobrank(team, r))) team->lost = tmb_team_jobrank(team, r) + 1;
  tmb_status_team_enter(team);
  tmb_lock_acquire(&tmb_job.teams.lock);
  insert(team);
  reg()->stats.made++;
  reg()->stats.bytes += team_bytes(team->head.size, team->peer_scratch != NULL, at);
  struct tmb_parked *early = reg()->stats.parked ? unpark(team) : NULL;
  tmb_lock_release(&tmb_job.teams.lock);
  while (early) {
    struct tmb_parked *const m = TMB_LIST_POP(&early);
    tmb_up_am(&m->in);
    free(m);
  }
}

/* Copy a message that came too early; under the lock. */
TMB_REQUIRES(tmb_job.teams.lock)
static void park(uint64_t uid, uint32_t rank, const struct tmb_am_in *in) {
  struct tmb_parked *m = malloc(sizeof *m + in->nbytes);
  if (!m) tmb_fatal("out of memory for a message of %zu bytes that precedes its team", in->nbytes);
  m->next = NULL;
  m->uid = uid;
  m->rank = rank;
  m->in = *in;
  m->in.args = m->args;
  m->in.payload = m->payload;
  memcpy(m->args, in->args, in->nargs * sizeof *m->args);
  if (in->nbytes) memcpy(m->payload, in->payload, in->nbytes);
  const uint32_t bucket = hash(uid);
  *(reg()->parked_end[bucket] ? reg()->parked_end[bucket] : &reg()->parked[bucket]) = m;
  reg()->parked_end[bucket] = &m->next;
  reg()->stats.parked++;
}

struct tmb_team *tmb_team_find(uint64_t uid, uint32_t rank, const struct tmb_am_in *in) {
  if (uid == 0) return &tmb_job.team;
  tmb_lock_acquire(&tmb_job.teams.lock);
  struct tmb_team *team = *bucket_of(uid);
  while (team && (team->uid != uid || team->head.rank != rank)) team = team->hash_next;
  if (TMB_UNLIKELY(!team) && in && tmb_team_in_making()) park(uid, rank, in);
  if (team && team->closed && !in) team = NULL;
  tmb_lock_release(&tmb_job.teams.lock);
  return team;
}

uint32_t tmb_team_local_members(uint64_t uid) {
  uint32_t count = 0;
  tmb_lock_acquire(&tmb_job.teams.lock);
  for (const struct tmb_team *t = *bucket_of(uid); t; t = t->hash_next)
    count += t->uid == uid && !t->closed;
  tmb_lock_release(&tmb_job.teams.lock);
  return count;
}

void tmb_team_hold(struct tmb_team *team) {
  tmb_fetch_add_rlx(&team->refs, 1);
}

/* Take a reference to a team that was found under the lock. Returns false when its last
 * reference has been dropped already. */
static bool hold_found(struct tmb_team *team) {
  uint32_t refs = tmb_load_rlx(&team->refs);
  while (refs && !tmb_cas_acq_rel(&team->refs, &refs, refs + 1)) {}
  return refs != 0;
}

static void unregister(struct tmb_team *team) {
  tmb_lock_acquire(&tmb_job.teams.lock);
  struct tmb_team **p = bucket_of(team->uid);
  while (*p != team) p = &(*p)->hash_next;
  *p = team->hash_next;
  tmb_lock_release(&tmb_job.teams.lock);
}

static void dispose(struct tmb_team *team) {
  size_t at[5];
  unregister(team);
  tmb_layers_team_freed(team); /* clears coll's part of the row */
  /* After a loss the row is not used again: members that do not know of the loss yet may still
   * write to it. */
  tmb_status_team_leave(team);
  if ((team->shared || team->group) && !tmb_team_lost(team))
    tmb_shared_give(team->shared_row[team->head.rank]);
  free(team->group);
  for (int i = 0; i < 2; i++) free(team->gather[i].blocks);
  tmb_lock_acquire(&tmb_job.teams.lock);
  reg()->stats.freed++;
  reg()->stats.bytes -= team_bytes(team->head.size, team->peer_scratch != NULL, at);
  if (tmb_job.debug) {
    struct tmb_team **grave = &reg()->grave[reg()->grave_next++ % TMB_TEAM_GRAVES];
    struct tmb_team *const old = *grave;
    *grave = team;
    team = old;
  }
  tmb_lock_release(&tmb_job.teams.lock);
  free(team);
}

void tmb_team_release(struct tmb_team *team) {
  if (tmb_fetch_sub_acq_rel(&team->refs, 1) == 1) dispose(team);
}

void tmb_team_close(struct tmb_team *team) {
  tmb_lock_acquire(&tmb_job.teams.lock);
  team->closed = true;
  tmb_lock_release(&tmb_job.teams.lock);
  team->head.magic = 0;
  tmb_layers_team_closed(team);
  tmb_team_release(team);
}

void tmb_team_refresh(void) {
  tmb_lock_acquire(&tmb_job.teams.lock);
  for (uint32_t b = 0; b < TMB_TEAM_BUCKETS; b++)
    for (struct tmb_team *t = reg()->bucket[b]; t; t = t->hash_next)
      if (t->local_delta && !t->closed) fill_delta(t);
  tmb_lock_release(&tmb_job.teams.lock);
}

static bool has_member(const struct tmb_team *team, uint32_t jobrank) {
  for (uint32_t r = 0; r < team->head.size; r++)
    if (tmb_team_jobrank(team, r) == jobrank) return true;
  return false;
}

static void on_lost(uint32_t jobrank) {
  tmb_team_refresh();
  tmb_lock_acquire(&tmb_job.teams.lock);
  for (uint32_t b = 0; b < TMB_TEAM_BUCKETS; b++)
    for (struct tmb_team *t = reg()->bucket[b]; t; t = t->hash_next)
      if (!tmb_team_lost(t) && has_member(t, jobrank)) tmb_store_rel(&t->lost, jobrank + 1);
  tmb_lock_release(&tmb_job.teams.lock);
}

const struct tmb_layer tmb_team_layer = {.name = "team", .peer_lost = on_lost};

void tmb_team_each_lost(void (*fn)(struct tmb_team *team)) {
  tmb_lock_acquire(&tmb_job.teams.lock);
  size_t count = 0, at = 0;
  for (uint32_t b = 0; b < TMB_TEAM_BUCKETS; b++)
    for (struct tmb_team *t = reg()->bucket[b]; t; t = t->hash_next) count += tmb_team_lost(t) != 0;
  struct tmb_team **found = calloc(count + 1, sizeof *found);
  if (!found) tmb_fatal("out of memory for %zu teams", count);
  for (uint32_t b = 0; b < TMB_TEAM_BUCKETS; b++)
    for (struct tmb_team *t = reg()->bucket[b]; t; t = t->hash_next)
      if (tmb_team_lost(t) && hold_found(t)) found[at++] = t;
  tmb_lock_release(&tmb_job.teams.lock);
  for (size_t i = 0; i < at; i++) {
    fn(found[i]);
    tmb_team_release(found[i]);
  }
  free(found);
}

struct tmb_team_stats tmb_team_stats(void) {
  tmb_lock_acquire(&tmb_job.teams.lock);
  const struct tmb_team_stats stats = reg()->stats;
  tmb_lock_release(&tmb_job.teams.lock);
  return stats;
}
