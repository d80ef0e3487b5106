/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: schedules with what they were made for, and a cache of them in each team.
 *
 * Owns: the tuning of this process, read from the settings at first use. Called by the engine and
 * by persistent collectives. Calls: select.c, the algorithm, base/config. Invariants: guarded by
 * the lock of engine.h; a plan is immutable once built and lives while anyone refers to it; V forms
 * are not cached, because their counts are the caller's.
 */
#include "base/config.h"
#include "base/log.h"
#include "coll/alg.h"
#include "coll/engine.h"
#include "coll/tuning.h"

#include <stdlib.h>

/* Tag phases that no algorithm uses. */
enum { PHASE_IN = 40, PHASE_OUT = 41 };

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
                                 .src = {TMB_BUF_SRC, 0},
                                 .dst = {TMB_BUF_DST, 0},
                                 .send = call->send,
                                 .recv = call->recv};
}

static bool v_form(const struct tmb_coll_call *call) {
  return call->send.bytes || call->recv.bytes;
}

/* Whether a plan of the same team serves a shape. */
static bool serves(const struct tmb_coll_plan *plan, const struct tmb_coll_shape *c, uint8_t sync) {
  const struct tmb_coll_shape *p = &plan->shape;
  return plan->sync == sync && p->kind == c->kind && p->bytes == c->bytes && p->root == c->root &&
         p->elem == c->elem && p->commutes == c->commutes;
}

static uint32_t slot_of(const struct tmb_coll_shape *c) {
  const uint64_t h =
      (c->bytes + c->root * 0x9e3779b9u + c->kind * 0x85ebca6bu) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32) % TMB_COLL_PLANS;
}

/* Nobody passes before everybody has come. */
static void emit_sync(struct tmb_sched *s, const struct tmb_coll_shape *c, uint32_t phase) {
  struct tmb_coll_shape p = *c;
  p.tag = phase * TMB_TAG_PHASE;
  tmb_sched_next(s);
  tmb_alg_sync(s, &p);
  tmb_sched_next(s);
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
  if (sync & TMB_COLL_SYNC_IN) emit_sync(&plan->sched, &plan->shape, PHASE_IN);
  plan->choice.alg->fn(&plan->sched, &plan->shape);
  if (sync & TMB_COLL_SYNC_OUT) emit_sync(&plan->sched, &plan->shape, PHASE_OUT);
  if (tmb_sched_seal(&plan->sched))
    tmb_fatal("out of memory for the schedule of a collective (%s, %s, %u ranks)",
              tmb_coll_kind_name(c->kind), plan->choice.alg->name, c->size);
  plan->shape.send = plan->shape.recv = (struct tmb_coll_blocks){NULL, NULL};
  plan->refs = 1;
  return plan;
}

struct tmb_coll_plan *tmb_coll_plan_get(struct tmb_team *team, const struct tmb_coll_call *call,
                                        bool cached) {
  const struct tmb_coll_tuning *t = tmb_coll_tuning();
  const struct tmb_coll_shape c = shape_of(team, call, t);
  if (!cached || v_form(call)) return build(&c, t, call->sync);
  struct tmb_coll_plan **slot = &tmb_coll_team_of(team)->plan[slot_of(&c)];
  if (!*slot || !serves(*slot, &c, call->sync)) {
    if (*slot) tmb_coll_plan_release(*slot);
    *slot = build(&c, t, call->sync);
  }
  (*slot)->refs++;
  return *slot;
}

void tmb_coll_plan_release(struct tmb_coll_plan *plan) {
  if (--plan->refs) return;
  tmb_sched_free(&plan->sched);
  free(plan);
}
