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
 * others. A team that has lost a member makes no further all-gather.
 */
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/lost.h"
#include "core/progress/peer.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "core/team.h"

#include <stdlib.h>
#include <string.h>

/* Arguments: uid(0,1), target's rank(2), parity << 8 | round(3), offset of the payload in bytes(4).
 */
enum { ARGS = 5 };

/* The blocks of a slot, made at first use; the handler and the owner may race. */
static char *blocks_of(struct tmb_team *team, struct tmb_team_gather *slot) {
  char *blocks = tmb_load_acq(&slot->blocks);
  if (blocks) return blocks;
  const size_t bytes = (size_t)team->head.size * TMB_TEAM_GATHER_BYTES;
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
  const size_t all = (size_t)team->head.size * TMB_TEAM_GATHER_BYTES, at = (uint32_t)in->args[4];
  if (at > all || in->nbytes > all - at || (in->args[3] & 0xff) >= TMB_TEAM_ROUNDS_MAX)
    tmb_kit_malformed(in, "place of blocks");
  memcpy(blocks_of(team, slot) + at, in->payload, in->nbytes);
  tmb_fetch_add_rel(&slot->got[in->args[3] & 0xff], (uint32_t)in->nbytes);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_GATHER, TMB_TAKES_MEDIUM, ARGS, 0, on_gather}, {0}};

const struct tmb_layer tmb_team_gather_layer = {.name = "team_gather", .handlers = handlers};

static void show(const struct tmb_team_gathering *g, const void *mine) {
  const struct tmb_team *team = g->team;
  struct tmb_shared_card *card = tmb_shared_card(team, team->head.rank, g->number);
  memcpy(card->block, mine, g->bytes);
  tmb_store_rel(&card->number, g->number + 1);
  if (tmb_job.wait.crowded) {
    uint64_t *const gathered = &tmb_shared_row(team, 0)->gathered.word;
    tmb_store_rlx(&tmb_job.last_here, tmb_shared_last_here(team, TMB_MEETING_GATHER, g->number));
    if (tmb_fetch_add_acq_rel(gathered, 1) + 1 != (g->number + 1) * team->head.size) return;
  }
  for (uint32_t r = 0; r < team->head.size; r++)
    if (r != team->head.rank) tmb_peer_wake(tmb_team_jobrank(team, r));
}

void tmb_team_gather_begin(struct tmb_team_gathering *g, struct tmb_team *team, const void *mine,
                           size_t bytes) {
  tmb_assert_cmp(bytes, <=, (size_t)TMB_TEAM_GATHER_BYTES);
  *g = (struct tmb_team_gathering){
      .team = team, .number = team->calls->gathers++, .bytes = (uint32_t)bytes};
  g->slot = &team->gather[g->number & 1];
  if (team->shared)
    show(g, mine);
  else
    memcpy(blocks_of(team, g->slot), mine, bytes);
  if (tmb_job.wait.crowded) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
}

/* Blocks that each member sends in a round. */
static uint32_t blocks_in(const struct tmb_team *team, uint32_t round) {
  return TMB_MIN(UINT32_C(1) << round, team->head.size - (UINT32_C(1) << round));
}

static void send_round(const struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  const uint32_t size = team->head.size, distance = UINT32_C(1) << g->round;
  const uint32_t to = (team->head.rank + size - distance) % size;
  const size_t total = (size_t)blocks_in(team, g->round) * g->bytes;
  const int32_t parity = (int32_t)(g->slot - team->gather);
  int32_t args[ARGS];
  tmb_kit_pack64(args, team->uid);
  args[2] = (int32_t)to;
  args[3] = parity << 8 | (int32_t)g->round;
  for (size_t at = 0; at < total; at += TMB_AM_MEDIUM_BYTES_MAX) {
    args[4] = (int32_t)(distance * g->bytes + at);
    struct tmb_am_out out = {.peer = tmb_team_jobrank(team, to),
                             .category = TMB_AM_MEDIUM,
                             .handler = TMB_KIT_GATHER,
                             .nargs = ARGS,
                             .staged = -1,
                             .args = args,
                             .src = tmb_load_rlx(&g->slot->blocks) + at,
                             .nbytes = TMB_MIN(total - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX)};
    (void)tmb_up_am_send(&out);
  }
}

/* In a team with shared memory: count in g->round the members, in rank order, that have shown their
 * contribution. Returns whether all have. Where processors are oversubscribed the counter decides,
 * not the cards: a member that went on before the last one has counted itself would count itself
 * too early for the next all-gather, and nobody would wake those that sleep in this one. */
static bool collect_shown(struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  if (tmb_job.wait.crowded) {
    const uint64_t all = (g->number + 1) * team->head.size;
    if (tmb_load_acq(&tmb_shared_row(team, 0)->gathered.word) < all) return false;
    g->round = team->head.size;
  }
  for (; g->round < team->head.size; g->round++)
    if (tmb_load_acq(&tmb_shared_card(team, g->round, g->number)->number) != g->number + 1)
      return false;
  return true;
}

bool tmb_team_gather_step(struct tmb_team_gathering *g) {
  const struct tmb_team *team = g->team;
  if (team->shared) return tmb_team_lost(team) || collect_shown(g);
  while (g->round < team->rounds && TMB_LIKELY(!tmb_team_lost(team))) {
    if (!g->sent) {
      g->sent = true;
      send_round(g);
    }
    if (tmb_load_acq(&g->slot->got[g->round]) < blocks_in(team, g->round) * g->bytes) return false;
    g->round++;
    g->sent = false;
  }
  return true;
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
  if (g->round < (team->shared ? team->head.size : team->rounds)) {
    (void)tmb_lost_record(tmb_team_lost(team) - 1);
    return false;
  }
  if (team->shared) {
    for (uint32_t r = 0; r < team->head.size; r++)
      memcpy((char *)all + r * g->bytes, tmb_shared_card(team, r, g->number)->block, g->bytes);
    return true;
  }
  const size_t low = (size_t)(team->head.size - team->head.rank) * g->bytes;
  const size_t high = (size_t)team->head.rank * g->bytes;
  const char *blocks = tmb_load_rlx(&g->slot->blocks);
  memcpy((char *)all + high, blocks, low);
  memcpy(all, blocks + low, high);
  memset(g->slot->got, 0, team->rounds * sizeof *g->slot->got);
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
