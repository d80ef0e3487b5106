/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather of small contributions over a team, for the library's own set-up steps.
 *
 * Owns: internal handler GATHER. Called by team creation, publish, and set-up of coll and
 * atomic domains. Calls: internal Medium messages, progress. Algorithm: Bruck, Ho, Kipnis, Upfal,
 * Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997, doi:10.1109/71.642949: member r
 * keeps block i of member r + i; in round k it sends its first min(2^k, P - 2^k) blocks to r - 2^k.
 * Invariants: a member cannot finish all-gather n before every member has begun it, so a message
 * belongs to the current or the next one, and two slots by parity suffice; within a slot each round
 * is written by one peer, to blocks that nothing else writes. In shared memory each member shows
 * its contribution and reads those of the others: one step, and two places suffice, as in messages.
 * Nobody has all before the last has come, so on oversubscribed processors the last alone wakes the
 * others. In a team with groups (groups.h) members show theirs to the leader, the rounds are those
 * of leaders, whose blocks are the contributions of a group, and each leader sends its group the
 * result. A team that has lost a member makes no further all-gather.
 */
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/lost.h"
#include "core/progress/peer.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "core/team.h"
#include "core/team/groups.h"

#include <stdlib.h>
#include <string.h>

/* Arguments: uid(0,1), target's rank(2), parity << 8 | round(3), offset of the payload in bytes(4).
 */
enum { ARGS = 5 };

/* Bytes of the blocks of all members, at most. */
static size_t slot_bytes(const struct tmb_team *team) {
  return (size_t)team->head.size * TMB_TEAM_GATHER_BYTES;
}

/* The blocks of a slot, made at first use; the handler and the owner may race. */
static char *blocks_of(struct tmb_team *team, struct tmb_team_gather *slot) {
  char *blocks = tmb_load_acq(&slot->blocks);
  if (blocks) return blocks;
  const size_t bytes = slot_bytes(team) * (tmb_groups_leads(team) ? 2 : 1);
  char *fresh = malloc(bytes);
  if (!fresh) tmb_fatal("out of memory for an exchange of %zu bytes", bytes);
  if (tmb_cas_acq_rel(&slot->blocks, &blocks, fresh)) return fresh;
  free(fresh);
  return blocks;
}

static void on_gather(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[2], in);
  if (!team) return;
  struct tmb_team_gather *slot = &team->gather[in->args[3] >> 8 & 1];
  const size_t all = slot_bytes(team), at = (uint32_t)in->args[4];
  if (at > all || in->nbytes > all - at || (in->args[3] & 0xff) >= TMB_TEAM_ROUNDS_MAX)
    tmb_kit_malformed(in, "place of blocks");
  memcpy(blocks_of(team, slot) + at, in->payload, in->nbytes);
  tmb_fetch_add_rel(&slot->got[in->args[3] & 0xff], (uint32_t)in->nbytes);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_GATHER, TMB_TAKES_MEDIUM, ARGS, 0, on_gather}, {0}};

const struct tmb_layer tmb_team_gather_layer = {.name = "team_gather", .handlers = handlers};

/* Shows this member's contribution to all members, or to the leader of its group. */
static void show(const struct tmb_team_gathering *g, const void *mine) {
  const struct tmb_team *team = g->team;
  const uint32_t count = tmb_groups_met_count(team);
  struct tmb_shared_card *card = tmb_shared_card(team, team->head.rank, g->number);
  memcpy(card->block, mine, g->bytes);
  tmb_store_rel(&card->number, g->number + 1);
  if (tmb_job.wait.crowded) {
    uint64_t *const gathered = &tmb_groups_root(team)->gathered.word;
    tmb_store_rlx(&tmb_job.last_here,
                  !team->group && tmb_shared_last_here(team, TMB_MEETING_GATHER, g->number));
    if (tmb_fetch_add_acq_rel(gathered, 1) + 1 != (g->number + 1) * count) return;
  }
  for (uint32_t i = 0; i < (team->group ? 1 : count); i++)
    if (tmb_groups_met(team, i) != team->head.rank)
      tmb_peer_wake(tmb_team_jobrank(team, tmb_groups_met(team, i)));
}

void tmb_team_gather_begin(struct tmb_team_gathering *g, struct tmb_team *team, const void *mine,
                           size_t bytes) {
  tmb_assert_cmp(bytes, <=, (size_t)TMB_TEAM_GATHER_BYTES);
  *g = (struct tmb_team_gathering){
      .team = team, .number = team->calls->gathers++, .bytes = (uint32_t)bytes};
  g->slot = &team->gather[g->number & 1];
  if (TMB_UNLIKELY(tmb_team_lost(team))) {
    /* Shows nothing: it would count for a member that is lost, with those that do not know it. */
  } else if (team->shared || team->group)
    show(g, mine);
  else
    memcpy(blocks_of(team, g->slot), mine, bytes);
  if (tmb_job.wait.crowded) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
}

/* Sends `count` blocks to a member, to which they are the blocks from `at` on. */
static void send_blocks(const struct tmb_team_gathering *g, uint32_t to, const char *blocks,
                        uint32_t count, uint32_t at) {
  const struct tmb_team *team = g->team;
  const size_t total = (size_t)count * g->bytes;
  const int32_t parity = (int32_t)(g->slot - team->gather);
  int32_t args[ARGS];
  tmb_kit_pack64(args, team->uid);
  args[2] = (int32_t)to;
  args[3] = parity << 8 | (int32_t)g->round;
  for (size_t sent = 0; sent < total; sent += TMB_AM_MEDIUM_BYTES_MAX) {
    args[4] = (int32_t)(at * g->bytes + sent);
    struct tmb_am_out out = {.peer = tmb_team_jobrank(team, to),
                             .category = TMB_AM_MEDIUM,
                             .handler = TMB_KIT_GATHER,
                             .nargs = ARGS,
                             .staged = -1,
                             .args = args,
                             .src = blocks + sent,
                             .nbytes = TMB_MIN(total - sent, (size_t)TMB_AM_MEDIUM_BYTES_MAX)};
    (void)tmb_up_am_send(&out);
  }
}

/* A round of a member, or of a leader: it sends its first blocks to a peer, where they begin at
 * `at`, and receives some. */
struct share {
  uint32_t to, send, at, receive;
};

static struct share share_of(const struct tmb_team *team, uint32_t round) {
  const uint32_t size = team->head.size, distance = UINT32_C(1) << round;
  const struct tmb_team_group *group = team->group;
  if (!group) {
    const uint32_t blocks = TMB_MIN(distance, size - distance);
    return (struct share){(team->head.rank + size - distance) % size, blocks, distance, blocks};
  }
  const uint32_t *const first = group->first;
  const uint32_t groups = TMB_MIN(distance, group->groups - distance);
  return (struct share){group->to[round], first[groups], size - first[group->groups - distance],
                        first[distance + groups] - first[distance]};
}

/* Passes the rounds that can be passed, of `rounds`. Returns whether all have been. */
static bool pass_rounds(struct tmb_team_gathering *g, uint32_t rounds) {
  for (; g->round < rounds; g->round++, g->sent = false) {
    const struct share share = share_of(g->team, g->round);
    if (!g->sent) send_blocks(g, share.to, tmb_load_rlx(&g->slot->blocks), share.send, share.at);
    g->sent = true;
    if (tmb_load_acq(&g->slot->got[g->round]) < share.receive * g->bytes) return false;
  }
  return true;
}

/* Counts in g->seen the members, in rank order, that have shown their contribution. Returns whether
 * all have. Where processors are oversubscribed the counter decides, not the cards: a member that
 * went on before the last one has counted itself would count itself too early for the next
 * all-gather, and nobody would wake those that sleep in this one. */
static bool collect_shown(struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  const uint32_t count = tmb_groups_met_count(team);
  if (g->seen < count && tmb_job.wait.crowded) {
    const uint64_t all = (g->number + 1) * count;
    if (tmb_load_acq(&tmb_groups_root(team)->gathered.word) < all) return false;
    g->seen = count;
  }
  for (; g->seen < count; g->seen++) {
    const uint32_t member = tmb_groups_met(team, g->seen);
    if (tmb_load_acq(&tmb_shared_card(team, member, g->number)->number) != g->number + 1)
      return false;
  }
  return true;
}

/* Copies what all members, or those of the group, have shown, in the order of their ranks. */
static void copy_shown(const struct tmb_team_gathering *g, char *to) {
  const struct tmb_team *team = g->team;
  for (uint32_t i = 0; i < tmb_groups_met_count(team); i++) {
    const uint32_t member = tmb_groups_met(team, i);
    memcpy(to + (size_t)i * g->bytes, tmb_shared_card(team, member, g->number)->block, g->bytes);
  }
}

/* Steps of a leader: the contributions of its group, rounds among leaders, the result to its
 * group. */
static bool lead(struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  const struct tmb_team_group *group = team->group;
  const bool collected = g->seen == group->count;
  if (!collect_shown(g)) return false;
  char *const blocks = blocks_of(g->team, g->slot), *const sorted = blocks + slot_bytes(team);
  if (!collected) copy_shown(g, blocks);
  if (!pass_rounds(g, group->rounds)) return false;
  for (uint32_t i = 0; i < team->head.size; i++)
    memcpy(sorted + (size_t)group->order[i] * g->bytes, blocks + (size_t)i * g->bytes, g->bytes);
  g->round = 0; /* of a member there is no other */
  for (uint32_t i = 1; i < group->count; i++)
    send_blocks(g, group->member[i], sorted, team->head.size, 0);
  return true;
}

static bool complete_now(struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  if (team->shared) return collect_shown(g);
  if (!team->group) return pass_rounds(g, team->rounds);
  if (tmb_groups_leads(team)) return lead(g);
  return tmb_load_acq(&g->slot->got[0]) == team->head.size * g->bytes;
}

bool tmb_team_gather_step(struct tmb_team_gathering *g) {
  if (TMB_UNLIKELY(tmb_team_lost(g->team))) return true;
  if (!g->done) g->done = complete_now(g);
  return g->done;
}

void tmb_team_gather_describe(const void *gathering, struct tmb_status_wait *out) {
  const struct tmb_team_gathering *g = gathering;
  out->kind = TMB_WAIT_TEAM;
  out->team = g->team->shown;
  out->number = g->number + 1;
}

bool tmb_team_gather_end(struct tmb_team_gathering *g, void *all) {
  const struct tmb_team *team = g->team;
  if (tmb_job.wait.crowded) {
    tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
    tmb_store_rlx(&tmb_job.last_here, false);
  }
  if (!g->done) {
    (void)tmb_lost_record(tmb_team_lost(team) - 1);
    return false;
  }
  if (team->shared) {
    copy_shown(g, all);
    return true;
  }
  const size_t bytes = (size_t)team->head.size * g->bytes;
  const size_t high = team->group ? 0 : (size_t)team->head.rank * g->bytes;
  const char *blocks = tmb_load_rlx(&g->slot->blocks);
  if (tmb_groups_leads(team)) blocks += slot_bytes(team);
  memcpy((char *)all + high, blocks, bytes - high);
  memcpy(all, blocks + bytes - high, high);
  memset(g->slot->got, 0, sizeof g->slot->got);
  return true;
}

static bool complete(void *arg) {
  return tmb_team_gather_step(arg);
}

bool tmb_team_allgather(struct tmb_team *team, const void *mine, size_t bytes, void *all) {
  struct tmb_team_gathering g;
  tmb_team_gather_begin(&g, team, mine, bytes);
  (void)tmb_wait_until(complete, &g, UINT64_MAX, tmb_team_gather_describe);
  return tmb_team_gather_end(&g, all);
}
