/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives of GASNet-1 (API 06.5).
 *
 * Owns the state of team barriers, in struct tmb_coll_team. Called by clients. Calls: call.h,
 * engine.h, the job's named barrier. Synchronisation flags become dissemination rounds before and
 * after the schedule. A team barrier is an all-reduce of {state, id}, whose operator is the rule of
 * API 08.7; on the primordial team it is gasnet_barrier_*. Invariants: at most one team barrier of
 * a team is open; NOSYNC is treated as MYSYNC.
 */
#include "base/log.h"
#include "coll/calls/call.h"
#include "coll/calls/start.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/progress/progress.h"

#define IN_FLAGS  (GASNET_COLL_IN_NOSYNC | GASNET_COLL_IN_MYSYNC | GASNET_COLL_IN_ALLSYNC)
#define OUT_FLAGS (GASNET_COLL_OUT_NOSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_OUT_ALLSYNC)
#define ALL_FLAGS 0x7fbf

gasnet_team_handle_t gexx_coll_team_all(void) {
  return &tmb_job.tm;
}

static gex_Event_t start(struct tmb_coll_call *call, int flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    if (__builtin_popcount((unsigned)flags & IN_FLAGS) != 1 ||
        __builtin_popcount((unsigned)flags & OUT_FLAGS) != 1)
      tmb_advise(TMB_ADVICE_FLAGS,
                 "%s: argument flags is 0x%x; exactly one of GASNET_COLL_IN_{NO,MY,ALL}SYNC and "
                 "exactly one of GASNET_COLL_OUT_{NO,MY,ALL}SYNC is needed",
                 call->name, (unsigned)flags);
    if (flags & ~ALL_FLAGS)
      tmb_advise(TMB_ADVICE_FLAGS, "%s: argument flags is 0x%x; known flags are 0x%x", call->name,
                 (unsigned)flags, ALL_FLAGS);
    tmb_coll_check(call, 0);
  }
  /* Without a word on one side it is the strictest that counts. */
  const bool in = (flags & GASNET_COLL_IN_ALLSYNC) || !(flags & IN_FLAGS);
  const bool out = (flags & GASNET_COLL_OUT_ALLSYNC) || !(flags & OUT_FLAGS);
  call->sync = (uint8_t)((in ? TMB_COLL_SYNC_IN : 0) | (out ? TMB_COLL_SYNC_OUT : 0));
  return tmb_coll_start(call, NULL);
}

/* Fields of a call, from the arguments that all have. */
#define CALL(NAME, KIND) \
 .name = "gasnet_coll_" #NAME, .tm = team, .kind = KIND, .dst = dst, .src = src, .bytes = nbytes

/* Each macro makes two calls: the one that returns a handle, and the one that waits. */

#define FROM_ROOT(NAME, KIND)                                                                      \
 gasnet_coll_handle_t gasnet_coll_##NAME##_nb(gasnet_team_handle_t team, void *dst,                \
                                              gasnet_image_t srcimage, void *src, size_t nbytes,   \
                                              int flags) {                                         \
  return start(&(struct tmb_coll_call){CALL(NAME, KIND), .root = srcimage}, flags);                \
 }                                                                                                 \
 void gasnet_coll_##NAME(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, \
                         size_t nbytes, int flags) {                                               \
  gex_Event_Wait(gasnet_coll_##NAME##_nb(team, dst, srcimage, src, nbytes, flags));                \
 }
FROM_ROOT(broadcast, TMB_COLL_BROADCAST)
FROM_ROOT(scatter, TMB_COLL_SCATTER)

#define TO_ROOT(NAME, KIND)                                                                        \
 gasnet_coll_handle_t gasnet_coll_##NAME##_nb(gasnet_team_handle_t team, gasnet_image_t dstimage,  \
                                              void *dst, void *src, size_t nbytes, int flags) {    \
  return start(&(struct tmb_coll_call){CALL(NAME, KIND), .root = dstimage}, flags);                \
 }                                                                                                 \
 void gasnet_coll_##NAME(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, \
                         size_t nbytes, int flags) {                                               \
  gex_Event_Wait(gasnet_coll_##NAME##_nb(team, dstimage, dst, src, nbytes, flags));                \
 }
TO_ROOT(gather, TMB_COLL_GATHER)

#define ROOTLESS(NAME, KIND)                                                                   \
 gasnet_coll_handle_t gasnet_coll_##NAME##_nb(gasnet_team_handle_t team, void *dst, void *src, \
                                              size_t nbytes, int flags) {                      \
  return start(&(struct tmb_coll_call){CALL(NAME, KIND)}, flags);                              \
 }                                                                                             \
 void gasnet_coll_##NAME(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,       \
                         int flags) {                                                          \
  gex_Event_Wait(gasnet_coll_##NAME##_nb(team, dst, src, nbytes, flags));                      \
 }
ROOTLESS(gather_all, TMB_COLL_ALLGATHER)
ROOTLESS(exchange, TMB_COLL_EXCHANGE)

static void poll_once(const char *call) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_ready_at(call);
  (void)tmb_progress(TMB_SERVE_ALL);
}

int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  poll_once("gasnet_coll_try_sync");
  return gex_Event_Test(handle);
}

int gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles) {
  poll_once("gasnet_coll_try_sync_some");
  return gex_Event_TestSome(phandle, numhandles, 0);
}

int gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles) {
  poll_once("gasnet_coll_try_sync_all");
  return gex_Event_TestAll(phandle, numhandles, 0);
}

void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) {
  gex_Event_Wait(handle);
}

void gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles) {
  gex_Event_WaitSome(phandle, numhandles, 0);
}

void gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles) {
  gex_Event_WaitAll(phandle, numhandles, 0);
}

/* ---- team barriers. Vote: state in bits 32 and up, id below. */

enum { ANONYMOUS, NAMED, MISMATCH };

static uint64_t vote(uint64_t state, int id) {
  return state << 32 | (state == NAMED ? (uint32_t)id : 0);
}

static void combine(const void *px, void *py, size_t count, const void *cdata) {
  const uint64_t *x = px;
  uint64_t *y = py;
  (void)cdata;
  for (size_t i = 0; i < count; i++) {
    if (x[i] == y[i] || x[i] >> 32 == ANONYMOUS || y[i] >> 32 == MISMATCH) continue;
    y[i] = y[i] >> 32 == ANONYMOUS ? x[i] : vote(MISMATCH, 0);
  }
}

static struct tmb_coll_team *barrier_of(const char *call, gasnet_team_handle_t team) {
  TMB_CHECK_CONTEXT(call);
  if (tmb_job.debug) tmb_check_tm(call, team, false);
  tmb_coll_lock();
  struct tmb_coll_team *ct = tmb_coll_team_of(tmb_team_of(team));
  tmb_coll_unlock();
  return ct;
}

void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags) {
  const char *name = "gasnet_coll_barrier_notify";
  if (team == &tmb_job.tm) {
    gasnet_barrier_notify(id, flags);
    return;
  }
  struct tmb_named_barrier *b = &barrier_of(name, team)->barrier;
  if (b->notified)
    tmb_fatal_nopos("%s: called with id %d after a notify without a successful wait or try", name,
                    id);
  b->vote = vote(flags & GASNET_BARRIERFLAG_MISMATCH    ? MISMATCH
                 : flags & GASNET_BARRIERFLAG_ANONYMOUS ? ANONYMOUS
                                                        : NAMED,
                 id);
  b->notified = true;
  b->event = gex_Coll_ReduceToAllNB(team, &b->vote, &b->vote, GEX_DT_U64, 8, 1, GEX_OP_USER,
                                    combine, NULL, 0);
}

/* Outcome of a complete phase. */
static int outcome(struct tmb_named_barrier *b, int id, int flags) {
  const bool clash = b->vote >> 32 == NAMED && !(flags & GASNET_BARRIERFLAG_ANONYMOUS) &&
                     (uint32_t)b->vote != (uint32_t)id;
  b->notified = false;
  b->used = true;
  return b->vote >> 32 == MISMATCH || clash ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

static struct tmb_named_barrier *open_barrier(const char *call, gasnet_team_handle_t team, int id) {
  struct tmb_named_barrier *b = &barrier_of(call, team)->barrier;
  if (!b->notified)
    tmb_fatal_nopos("%s: called with id %d without a gasnet_coll_barrier_notify before it", call,
                    id);
  return b;
}

int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags) {
  if (team == &tmb_job.tm) return gasnet_barrier_wait(id, flags);
  struct tmb_named_barrier *b = open_barrier("gasnet_coll_barrier_wait", team, id);
  gex_Event_Wait(b->event);
  return outcome(b, id, flags);
}

int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags) {
  if (team == &tmb_job.tm) return gasnet_barrier_try(id, flags);
  struct tmb_named_barrier *b = open_barrier("gasnet_coll_barrier_try", team, id);
  if (gasnet_coll_try_sync(b->event) != GASNET_OK) return GASNET_ERR_NOT_READY;
  return outcome(b, id, flags);
}

int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags) {
  gasnet_coll_barrier_notify(team, id, flags);
  return gasnet_coll_barrier_wait(team, id, flags);
}

int gasnet_coll_barrier_result(gasnet_team_handle_t team, int *id) {
  const char *name = "gasnet_coll_barrier_result";
  if (team == &tmb_job.tm) return gasnet_barrier_result(id);
  const struct tmb_named_barrier *b = &barrier_of(name, team)->barrier;
  TMB_CHECK(b->used, "%s: called before the first barrier phase of the team", name);
  TMB_CHECK(!b->notified, "%s: called between notify and wait", name);
  if (b->vote >> 32 != NAMED) return 1;
  if (id) *id = (int)(uint32_t)b->vote;
  return 0;
}

/* ---- autotuner: nothing to do */

void gasnet_coll_loadTuningState(char *filename, gasnet_team_handle_t team) {
  (void)filename, (void)team;
}

void gasnet_coll_dumpTuningState(char *filename, gasnet_team_handle_t team) {
  (void)filename, (void)team;
}

void gasnet_coll_dumpProfile(char *filename, gasnet_team_handle_t team) {
  (void)filename, (void)team;
}

int gasnet_coll_get_num_tree_classes(gasnet_team_handle_t team, gasnet_coll_optype_t optype) {
  (void)team, (void)optype;
  return 0;
}

size_t gasnet_coll_get_num_params(gasnet_team_handle_t team, gasnet_coll_optype_t optype,
                                  uint32_t algorithm) {
  (void)team, (void)optype, (void)algorithm;
  return 0;
}

gasnet_coll_tuning_parameter_t gasnet_coll_get_param(gasnet_team_handle_t team,
                                                     gasnet_coll_optype_t optype,
                                                     uint32_t algorithm, size_t index) {
  (void)team, (void)optype, (void)algorithm, (void)index;
  const gasnet_coll_tuning_parameter_t none = {GASNET_COLL_NUM_PARAM_TYPES, 0, 0, 0, 0};
  return none;
}

void gasnet_coll_set_tree_kind(gasnet_team_handle_t team, int tree_type, int fanout,
                               gasnet_coll_optype_t optype) {
  (void)team, (void)tree_type, (void)fanout, (void)optype;
}

void gasnet_coll_set_dissem_limit(gasnet_team_handle_t team, size_t dissemlimit,
                                  gasnet_coll_optype_t optype) {
  (void)team, (void)dissemlimit, (void)optype;
}
