/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: schedules with their shapes, and a cache of them in each team.
 *
 * Owns: which algorithms have been announced. Called by the engine and by persistent collectives.
 * Calls: select.c, the algorithm, base/config. Invariants: guarded by the lock of engine.h; a plan
 * is immutable once built and lives while anyone refers to it; V forms are not cached, because
 * their counts are the caller's.
 */
#include "base/config.h"
#include "base/log.h"
#include "coll/engine/engine.h"
#include "coll/select/tuning.h"

#include <stdio.h>
#include <stdlib.h>

/* Phases of tags for synchronisation before and after an algorithm, apart from those of the
 * algorithm itself; a two-level form takes three phases. */
enum { PHASE_IN = 40, PHASE_OUT = 44 };

/* Fill label with the neighbourhoods of the members. Returns whether there are several. */
static bool neighbourhoods(const struct tmb_team *team, uint32_t *label) {
  bool several = false;
  for (uint32_t r = 0; r < team->head.size; r++) {
    label[r] = tmb_nbrhd_of(tmb_team_jobrank(team, r));
    several |= label[r] != label[0];
  }
  return several;
}

/* Members on other hosts, found out once; NULL: none. */
static const uint8_t *far_of(const struct tmb_team *team, struct tmb_coll_team *ct) {
  if (tmb_job.boot.places.hosts == 1 || ct->far_known) return ct->far;
  ct->far_known = true;
  uint8_t *far = calloc(team->head.size, 1);
  if (!far) tmb_fatal("out of memory for the hosts of a team of %u ranks", team->head.size);
  bool any = false;
  for (uint32_t r = 0; r < team->head.size; r++) {
    far[r] = !tmb_is_near(tmb_team_jobrank(team, r));
    any |= far[r];
  }
  if (any)
    ct->far = far;
  else
    free(far);
  return ct->far;
}

/* The nodes of a team, made once: two levels where there are several and one has several members.
 * NULL otherwise. */
static const struct tmb_coll_nodes *nodes_of(struct tmb_team *team) {
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  if (TMB_LIKELY(ct->nodes_known)) return ct->nodes;
  ct->nodes_known = true;
  if (team->head.size < 3 || tmb_job.nbrhd.most <= 1 || tmb_job.nbrhd.count == 1) return NULL;
  uint32_t *label = malloc(team->head.size * sizeof *label);
  if (!label) goto no_memory;
  if (neighbourhoods(team, label)) {
    ct->nodes = tmb_coll_nodes_make(label, team->head.size, tmb_job.nbrhd.count);
    if (!ct->nodes) goto no_memory;
  }
  free(label);
  if (ct->nodes && ct->nodes->largest == 1) {
    free(ct->nodes);
    ct->nodes = NULL;
  }
  return ct->nodes;
no_memory:
  tmb_fatal("out of memory for the nodes of a team of %u ranks", team->head.size);
}

/* Whether the members of a node do their part over the memory that they share; equal on all. A
 * client's function is called by the engine only. A fence goes by messages: a member that has done
 * its part may free the team and clear its memory before others have read it. */
static bool board_serves(const struct tmb_team *team, const struct tmb_coll_call *call,
                         const struct tmb_coll_tuning *t) {
  return team->group && t->shared_max && call->kind != TMB_COLL_SYNC && !call->reducer.user &&
         call->reducer.elem <= TMB_SHARED_BYTES;
}

static struct tmb_coll_shape shape_of(struct tmb_team *team, const struct tmb_coll_call *call,
                                      const struct tmb_coll_tuning *t) {
  return (struct tmb_coll_shape){.kind = call->kind,
                                 .size = team->head.size,
                                 .rank = team->head.rank,
                                 .root = call->root,
                                 .bytes = call->bytes,
                                 .elem = call->reducer.elem ? call->reducer.elem : 1,
                                 .eager = t->eager,
                                 .pull = tmb_pull_works() ? t->direct_min : UINT64_MAX,
                                 .commutes = call->commutes,
                                 .crowded = tmb_job.wait.crowded,
                                 .board = board_serves(team, call, t),
                                 .src = {TMB_BUF_SRC, 0},
                                 .dst = {TMB_BUF_DST, 0},
                                 .send = call->send,
                                 .recv = call->recv,
                                 .far = far_of(team, tmb_coll_team_of(team)),
                                 .nodes = nodes_of(team)};
}

static bool v_form(const struct tmb_coll_call *call) {
  return call->send.bytes || call->recv.bytes;
}

/* Whether a plan of this team serves a shape. */
static bool serves(const struct tmb_coll_plan *plan, const struct tmb_coll_shape *c, uint8_t sync) {
  const struct tmb_coll_shape *p = &plan->shape;
  return plan->sync == sync && p->kind == c->kind && p->bytes == c->bytes && p->root == c->root &&
         p->elem == c->elem && p->commutes == c->commutes && p->board == c->board &&
         p->pull == c->pull;
}

static uint32_t slot_of(const struct tmb_coll_shape *c) {
  const uint64_t h =
      (c->bytes + c->root * 0x9e3779b9u + c->kind * 0x85ebca6bu) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32) % TMB_COLL_PLANS;
}

/* Append a synchronisation to the schedule: no member goes on before all have come to it. */
static void emit_sync(struct tmb_sched *s, const struct tmb_coll_shape *c,
                      const struct tmb_coll_tuning *t, uint32_t phase) {
  struct tmb_coll_shape p = *c;
  p.kind = TMB_COLL_SYNC;
  p.bytes = 1;
  p.tag = phase * TMB_TAG_PHASE;
  tmb_sched_next(s);
  tmb_coll_select(&p, t).alg->fn(s, &p);
  tmb_sched_next(s);
}

void tmb_coll_announce(const struct tmb_coll_shape *c, const struct tmb_coll_choice *choice) {
  static const char *const reason[] = {"TOMBOLO_COLL_ALG", "TOMBOLO_COLL_TABLE", "thresholds"};
  uint32_t count;
  const uint32_t alg = (uint32_t)(choice->alg - tmb_coll_algs(&count));
  uint8_t *said = &tmb_colls.announced[alg];
  const uint8_t bit = (uint8_t)(1u << choice->reason);
  if (c->rank != 0 || (*said & bit)) return;
  *said |= bit;
  char line[32] = "", nodes[32] = "";
  if (choice->reason == TMB_CHOICE_RULE) snprintf(line, sizeof line, ", line %u", choice->line);
  if (c->nodes) snprintf(nodes, sizeof nodes, " in %u nodes", c->nodes->count);
  tmb_info("collectives: %s uses %s by %s%s; first for %llu bytes on %u ranks%s",
           tmb_coll_kind_name(c->kind), choice->alg->name, reason[choice->reason], line,
           (unsigned long long)c->bytes, c->size, nodes);
}

static struct tmb_coll_plan *build(const struct tmb_coll_shape *c, const struct tmb_coll_tuning *t,
                                   uint8_t sync) {
  struct tmb_coll_plan *plan = calloc(1, sizeof *plan);
  if (!plan) tmb_fatal("out of memory for the schedule of a collective");
  plan->shape = *c;
  plan->choice = tmb_coll_select(c, t);
  plan->shape.radix = plan->choice.radix;
  plan->shape.segment = plan->choice.segment;
  plan->sync = sync;
  if (sync & TMB_COLL_SYNC_IN) emit_sync(&plan->sched, &plan->shape, t, PHASE_IN);
  plan->choice.alg->fn(&plan->sched, &plan->shape);
  if (sync & TMB_COLL_SYNC_OUT) emit_sync(&plan->sched, &plan->shape, t, PHASE_OUT);
  if (tmb_sched_seal(&plan->sched))
    tmb_fatal("out of memory for the schedule of a collective (%s, %s, %u ranks)",
              tmb_coll_kind_name(c->kind), plan->choice.alg->name, c->size);
  plan->shape.send = plan->shape.recv = (struct tmb_coll_blocks){NULL, NULL};
  plan->shape.nodes = NULL;
  plan->shape.far = NULL;
  plan->refs = 1;
  return plan;
}

struct tmb_coll_plan *tmb_coll_plan_get(struct tmb_team *team, const struct tmb_coll_call *call,
                                        bool cached) {
  const struct tmb_coll_tuning *t = tmb_coll_tuning();
  struct tmb_coll_shape c = shape_of(team, call, t);
  tmb_coll_select_lengths(&c, t);
  if (!cached || v_form(call)) {
    struct tmb_coll_plan *plan = build(&c, t, call->sync);
    if (cached) tmb_coll_announce(&c, &plan->choice);
    return plan;
  }
  struct tmb_coll_plan **slot = &tmb_coll_team_of(team)->plan[slot_of(&c)];
  if (!*slot || !serves(*slot, &c, call->sync)) {
    if (*slot) tmb_coll_plan_release(*slot);
    *slot = build(&c, t, call->sync);
    tmb_coll_announce(&c, &(*slot)->choice);
  }
  (*slot)->refs++;
  return *slot;
}

void tmb_coll_plan_release(struct tmb_coll_plan *plan) {
  if (--plan->refs) return;
  tmb_sched_free(&plan->sched);
  free(plan);
}
