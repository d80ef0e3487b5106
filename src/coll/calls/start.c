/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives start here, and advance from here: over a team's shared memory where that serves, by
 * a schedule elsewhere.
 *
 * Owns: the layer of collectives (progress, teams that end, peers that are lost). Called by the
 * entry points in this folder and by core. Calls: shared/, engine/ and engine/device.c. Invariants:
 * all members choose alike between shared/ and engine/; both work under the lock of collectives,
 * which is taken here.
 */
#include "coll/calls/start.h"

#include "base/config.h"
#include "coll/select/tuning.h"
#include "coll/shared/shared.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/progress/progress.h"

/* A sleeping thread must do the rest, if this one does not call again. */
static void wake_threads(void) {
  if (tmb_job.threads) tmb_progress_made();
}

/* The jobrank of the root of a call, for the trace. */
static uint32_t root_of(const struct tmb_team *team, const struct tmb_coll_call *call) {
  switch (call->kind) {
  case TMB_COLL_BROADCAST:
  case TMB_COLL_REDUCE:
  case TMB_COLL_SCATTER:
  case TMB_COLL_GATHER:
  case TMB_COLL_SCATTERV:
  case TMB_COLL_GATHERV:
    return call->root < team->head.size ? tmb_team_jobrank(team, call->root) : TMB_STATUS_NOBODY;
  default: return TMB_STATUS_NOBODY;
  }
}

static void record(uint64_t begun, struct tmb_team *team, const struct tmb_coll_call *call,
                   const char *algorithm, gex_Event_t event) {
  struct tmb_record record;
  tmb_record_call(&record, begun,
                  &(struct tmb_record_call){.team = team,
                                            .what = TMB_WHAT_COLLECTIVE + call->kind,
                                            .root = root_of(team, call),
                                            .number = ++team->recorded,
                                            .bytes = call->bytes,
                                            .algorithm = algorithm,
                                            .op = event ? tmb_op_of_event(event) : NULL});
  tmb_record_close(&record);
}

/* Event of a collective, complete where op is NULL. */
static gex_Event_t event_of(struct tmb_op *op) {
  if (!op && TMB_UNLIKELY(tmb_job.live_events)) op = tmb_op_new(TMB_OP_SINGLE, 0);
  return op ? tmb_op_event(op) : GEX_EVENT_INVALID;
}

/* Start a collective on host memory. Returns as tmb_coll_start. */
static gex_Event_t run(const struct tmb_coll_call *call, struct tmb_coll_plan *plan) {
  struct tmb_team *team = tmb_team_of(call->tm);
  const struct tmb_call_signature signature = tmb_coll_signature(call);
  const uint64_t begun = tmb_record_clock();
  if (TMB_UNLIKELY(tmb_job.debug) && !team->shared) tmb_coll_send_call(team, signature);
  tmb_coll_lock();
  if (TMB_UNLIKELY(tmb_team_lost(team))) {
    tmb_coll_unlock();
    return tmb_op_event(tmb_op_lost(TMB_CAT_PUT, tmb_team_lost(team) - 1));
  }
  if (TMB_UNLIKELY(tmb_job.debug) && team->shared) tmb_coll_publish(team, signature);
  if (tmb_coll_shared_takes(team, call, signature)) {
    const gex_Event_t event = tmb_coll_shared_start(team, call, signature);
    if (TMB_UNLIKELY(begun)) record(begun, team, call, "shared", event);
    tmb_coll_unlock();
    if (TMB_UNLIKELY(call->reducer.user != NULL)) wake_threads();
    return event;
  }
  const char *algorithm;
  struct tmb_op *event = tmb_engine_start(call, signature, plan, &algorithm);
  if (TMB_UNLIKELY(begun))
    record(begun, team, call, algorithm, event ? tmb_op_event(event) : GEX_EVENT_INVALID);
  const bool queued = tmb_engine_waits() || tmb_apply_any();
  tmb_coll_unlock_drop();
  if (TMB_UNLIKELY(queued)) wake_threads();
  return event_of(event);
}

gex_Event_t tmb_coll_start(const struct tmb_coll_call *call, struct tmb_coll_plan *plan) {
  if (TMB_LIKELY(!tmb_load_rlx(&tmb_job.device_segments))) return run(call, plan);
  struct tmb_coll_call host = *call;
  struct tmb_coll_staged *staged = tmb_coll_device_stage(&host);
  const gex_Event_t event = run(&host, plan);
  if (staged) tmb_coll_device_keep(staged, event);
  return event;
}

/* The progress hook: collectives that can go on, and one call of a client's function. Returns
 * TMB_FOUND_ bits: BUSY also when messages wait for room, for nobody rings when a ring drains. */
static int progress(int serve) {
  if (!tmb_coll_try_lock()) return TMB_FOUND_BUSY;
  int done = tmb_engine_advance(false);
  const int shared = tmb_coll_shared_advance();
  done += shared;
  if (shared && tmb_engine_waits()) done += tmb_engine_advance(false); /* a step is complete */
  if (TMB_UNLIKELY(tmb_job.debug)) done += tmb_coll_compare();
  int found = !done && tmb_engine_waits() ? TMB_FOUND_BUSY : TMB_FOUND_NOTHING;
  if (done) found = TMB_FOUND_WORK;
  if (serve == TMB_SERVE_ALL) found |= tmb_apply_run();
  tmb_coll_unlock_drop();
  return found;
}

/* Progress in a thread of the conduit: messages to ranks of other hosts. A client's function, and
 * ranks of this host, wait for the client. */
static int thread_progress(void) {
  if (!tmb_coll_try_lock()) return TMB_FOUND_BUSY;
  int found = tmb_engine_advance(true) ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
  if (tmb_engine_waits_far()) found |= TMB_FOUND_BUSY;
  tmb_coll_unlock_drop();
  return found;
}

/* ---- teams that have lost a member */

/* Complete all collectives of a team in flight, marked as having met a loss. */
static void abandon(struct tmb_team *team) {
  tmb_coll_lock();
  if (team->coll) {
    struct tmb_team *const near = ((struct tmb_coll_team *)team->coll)->near;
    if (near) tmb_coll_shared_abandon(near);
    tmb_coll_shared_abandon(team);
    tmb_engine_abandon(team);
  }
  tmb_coll_unlock_drop();
}

static void on_lost(uint32_t jobrank) {
  (void)jobrank;
  tmb_team_each_lost(abandon);
}

int gexx_TM_Abandon(gex_TM_t tm, gex_Rank_t rank) {
  const char *call = "gexx_TM_Abandon";
  TMB_CHECK_CONTEXT(call);
  tmb_check_tm(call, tm, false);
  struct tmb_team *team = tmb_team_of(tm);
  if (rank >= team->head.size)
    tmb_fatal_nopos("%s: argument rank is %u, but the team has %u members (0 to %u)", call, rank,
                    team->head.size, team->head.size - 1);
  if (!tmb_team_lost(team)) tmb_store_rel(&team->lost, tmb_team_jobrank(team, rank) + 1);
  abandon(team);
  return GASNET_OK;
}

/* ---- teams that end */

/* Clear this member's part of its row: the row's next team finds it clear. */
static void clear_row(const struct tmb_team *team, const struct tmb_coll_team *ct) {
  struct tmb_shared_row *row = tmb_shared_row(team, team->head.rank);
  for (uint64_t i = 0; i < TMB_MIN(ct->shared.next, (uint64_t)TMB_SHARED_HEADS); i++)
    row->head[i].number = row->head[i].met = 0;
  for (uint64_t i = 0; i < TMB_MIN(ct->published, (uint64_t)TMB_SHARED_CALLS); i++)
    row->calls[i].number = 0;
}

/* Free the state of a team for its collectives. */
static void team_freed(struct tmb_team *team) {
  struct tmb_coll_team *ct = team->coll;
  if (!ct) return;
  tmb_coll_lock();
  if (team->shared && !tmb_team_lost(team)) clear_row(team, ct);
  if (ct->near && !tmb_team_lost(team)) clear_row(ct->near, ct->near->coll);
  tmb_coll_forget(team);
  tmb_coll_shared_free(ct);
  tmb_engine_team_free(team);
  tmb_coll_unlock();
}

/* A wrong choice of algorithms is refused here, also in a program that never comes to use it. */
static int begin(void) {
  tmb_colls.boards = &tmb_coll_boards;
  if (!tmb_cfg_is_set(TMB_CFG_COLL_ALG) && !tmb_cfg_is_set(TMB_CFG_COLL_TABLE)) return 0;
  tmb_coll_lock();
  (void)tmb_coll_tuning();
  tmb_coll_unlock();
  return 0;
}

const struct tmb_layer tmb_coll_layer = {.name = "coll",
                                         .handlers = tmb_engine_handlers,
                                         .init = begin,
                                         .work = TMB_WORK_COLLS,
                                         .progress = progress,
                                         .thread_progress = thread_progress,
                                         .team_freed = team_freed,
                                         .peer_lost = on_lost};
