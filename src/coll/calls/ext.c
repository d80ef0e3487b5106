/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives of the extension: blocks, scans, V forms, persistent collectives.
 *
 * Owns: struct gexx_coll_plan_s. Called by clients. Calls: call.h, engine.h. Documentation:
 * include/tombolo/ext/ext_coll.h. Invariants: the plain calls and the persistent ones fill the
 * gexx_Coll_Args_t and start alike, so they match each other across ranks; size_t and uint64_t
 * arrays have one layout on every supported machine.
 */
#include "base/log.h"
#include "coll/calls/call.h"
#include "coll/calls/start.h"
#include "core/check.h"
#include "core/op/check_context.h"

#include <stdlib.h>
#include <string.h>

#include "tombolo/ext/ext_coll.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "block lists are passed through");

#define PLAN_MAGIC 0x706c616eu

struct gexx_coll_plan_s {
  uint32_t magic;
  struct tmb_coll_call call;
  struct tmb_coll_plan *plan;
  uint64_t *lists; /* memory behind call.send and call.recv */
};

static const struct {
  const char *name;
  enum tmb_coll_kind kind;
  bool reduces;
} kinds[] = {
    [GEXX_COLL_BROADCAST] = {"gex_Coll_BroadcastNB", TMB_COLL_BROADCAST, false},
    [GEXX_COLL_REDUCE_TO_ONE] = {"gex_Coll_ReduceToOneNB", TMB_COLL_REDUCE, true},
    [GEXX_COLL_REDUCE_TO_ALL] = {"gex_Coll_ReduceToAllNB", TMB_COLL_ALLREDUCE, true},
    [GEXX_COLL_SCATTER] = {"gexx_Coll_ScatterNB", TMB_COLL_SCATTER, false},
    [GEXX_COLL_GATHER] = {"gexx_Coll_GatherNB", TMB_COLL_GATHER, false},
    [GEXX_COLL_ALL_GATHER] = {"gexx_Coll_AllGatherNB", TMB_COLL_ALLGATHER, false},
    [GEXX_COLL_EXCHANGE] = {"gexx_Coll_ExchangeNB", TMB_COLL_EXCHANGE, false},
    [GEXX_COLL_REDUCE_SCATTER] = {"gexx_Coll_ReduceScatterNB", TMB_COLL_REDUCE_SCATTER, true},
    [GEXX_COLL_SCAN] = {"gexx_Coll_ScanNB", TMB_COLL_SCAN, true},
    [GEXX_COLL_EX_SCAN] = {"gexx_Coll_ExScanNB", TMB_COLL_EXSCAN, true},
    [GEXX_COLL_SCATTER_V] = {"gexx_Coll_ScatterVNB", TMB_COLL_SCATTERV, false},
    [GEXX_COLL_GATHER_V] = {"gexx_Coll_GatherVNB", TMB_COLL_GATHERV, false},
    [GEXX_COLL_ALL_GATHER_V] = {"gexx_Coll_AllGatherVNB", TMB_COLL_ALLGATHERV, false},
    [GEXX_COLL_EXCHANGE_V] = {"gexx_Coll_ExchangeVNB", TMB_COLL_EXCHANGEV, false},
};

static bool v_form(enum tmb_coll_kind kind) {
  return kind >= TMB_COLL_SCATTERV && kind <= TMB_COLL_EXCHANGEV;
}

static bool rooted(enum tmb_coll_kind kind) {
  return kind == TMB_COLL_BROADCAST || kind == TMB_COLL_REDUCE || kind == TMB_COLL_SCATTER ||
         kind == TMB_COLL_GATHER || kind == TMB_COLL_SCATTERV || kind == TMB_COLL_GATHERV;
}

/* One pair of block lists. */
static struct tmb_coll_blocks blocks(const struct tmb_coll_call *call, const char *which,
                                     const size_t *bytes, const size_t *at) {
  if (!bytes || !at)
    tmb_fatal_nopos("%s: argument %s_%s is NULL; one entry for each rank is needed", call->name,
                    which, bytes ? "displs" : "bytes");
  return (struct tmb_coll_blocks){(const uint64_t *)bytes, (const uint64_t *)at};
}

/* Debug clients: the root's own block is as long as nbytes says. */
static void check_local(const struct tmb_coll_call *call) {
  const gex_Rank_t rank = call->tm->rank;
  const bool sends = call->kind == TMB_COLL_SCATTERV;
  const uint64_t mine = sends ? call->send.bytes[rank] : call->recv.bytes[rank];
  if (mine != call->bytes)
    tmb_fatal_nopos("%s: argument nbytes is %zu, but %s_bytes[%u] of this rank, the root, is %zu",
                    call->name, call->bytes, sends ? "src" : "dst", rank, (size_t)mine);
}

/* Set the lists of block lengths and places in the call, where this member needs them. */
static void lists(struct tmb_coll_call *call, const gexx_Coll_Args_t *a) {
  const bool all = call->kind == TMB_COLL_EXCHANGEV, root = call->tm->rank == call->root;
  const bool rooted_v = call->kind == TMB_COLL_SCATTERV || call->kind == TMB_COLL_GATHERV;
  if (rooted_v && !root) return;
  if (all || call->kind == TMB_COLL_SCATTERV)
    call->send = blocks(call, "src", a->gexx_src_bytes, a->gexx_src_displs);
  if (call->kind != TMB_COLL_SCATTERV)
    call->recv = blocks(call, "dst", a->gexx_dst_bytes, a->gexx_dst_displs);
  if (TMB_UNLIKELY(tmb_job.debug) && rooted_v) check_local(call);
}

static void fill(struct tmb_coll_call *call, gex_TM_t tm, const gexx_Coll_Args_t *a,
                 gex_Flags_t flags) {
  const enum tmb_coll_kind kind = kinds[a->gexx_kind].kind;
  *call = (struct tmb_coll_call){.name = kinds[a->gexx_kind].name,
                                 .tm = tm,
                                 .kind = kind,
                                 .root = rooted(kind) ? a->gexx_root : 0,
                                 .dst = a->gexx_dst,
                                 .src = a->gexx_src,
                                 .bytes = a->gexx_nbytes};
  if (kinds[a->gexx_kind].reduces)
    tmb_coll_operands(call,
                      &(struct tmb_coll_operands){a->gexx_dt, a->gexx_dt_sz, a->gexx_dt_cnt,
                                                  a->gexx_op, a->gexx_user_op, a->gexx_user_cdata});
  else if (kind == TMB_COLL_ALLGATHERV || kind == TMB_COLL_EXCHANGEV)
    call->bytes = 0;
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_coll_check(call, flags);
  if (v_form(kind)) lists(call, a);
}

static gex_Event_t start(gex_TM_t tm, const gexx_Coll_Args_t *args, gex_Flags_t flags) {
  struct tmb_coll_call call;
  fill(&call, tm, args, flags);
  return tmb_coll_start(&call, NULL);
}

/* Fields of the arguments: those that all calls have, and the lengths and places of one side. */
#define ARGS(KIND)   .gexx_kind = KIND, .gexx_dst = dst, .gexx_src = src
#define BLOCKS(side) .gexx_##side##_bytes = side##_bytes, .gexx_##side##_displs = side##_displs

/* ---- blocks */

#define ROOTED(Name, KIND)                                                                  \
 gex_Event_t gexx_Coll_##Name##NB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, \
                                  size_t nbytes, gex_Flags_t flags) {                       \
  const gexx_Coll_Args_t a = {ARGS(KIND), .gexx_root = root, .gexx_nbytes = nbytes};        \
  return start(tm, &a, flags);                                                              \
 }
ROOTED(Scatter, GEXX_COLL_SCATTER)
ROOTED(Gather, GEXX_COLL_GATHER)

#define ROOTLESS(Name, KIND)                                                              \
 gex_Event_t gexx_Coll_##Name##NB(gex_TM_t tm, void *dst, const void *src, size_t nbytes, \
                                  gex_Flags_t flags) {                                    \
  const gexx_Coll_Args_t a = {ARGS(KIND), .gexx_nbytes = nbytes};                         \
  return start(tm, &a, flags);                                                            \
 }
ROOTLESS(AllGather, GEXX_COLL_ALL_GATHER)
ROOTLESS(Exchange, GEXX_COLL_EXCHANGE)

/* ---- V forms */

gex_Event_t gexx_Coll_ScatterVNB(gex_TM_t tm, gex_Rank_t root, void *dst, size_t nbytes,
                                 const void *src, const size_t *src_bytes, const size_t *src_displs,
                                 gex_Flags_t flags) {
  const gexx_Coll_Args_t a = {ARGS(GEXX_COLL_SCATTER_V), .gexx_root = root, .gexx_nbytes = nbytes,
                              BLOCKS(src)};
  return start(tm, &a, flags);
}

gex_Event_t gexx_Coll_GatherVNB(gex_TM_t tm, gex_Rank_t root, void *dst, const size_t *dst_bytes,
                                const size_t *dst_displs, const void *src, size_t nbytes,
                                gex_Flags_t flags) {
  const gexx_Coll_Args_t a = {ARGS(GEXX_COLL_GATHER_V), .gexx_root = root, .gexx_nbytes = nbytes,
                              BLOCKS(dst)};
  return start(tm, &a, flags);
}

gex_Event_t gexx_Coll_AllGatherVNB(gex_TM_t tm, void *dst, const size_t *dst_bytes,
                                   const size_t *dst_displs, const void *src, gex_Flags_t flags) {
  const gexx_Coll_Args_t a = {ARGS(GEXX_COLL_ALL_GATHER_V), BLOCKS(dst)};
  return start(tm, &a, flags);
}

gex_Event_t gexx_Coll_ExchangeVNB(gex_TM_t tm, void *dst, const size_t *dst_bytes,
                                  const size_t *dst_displs, const void *src,
                                  const size_t *src_bytes, const size_t *src_displs,
                                  gex_Flags_t flags) {
  const gexx_Coll_Args_t a = {ARGS(GEXX_COLL_EXCHANGE_V), BLOCKS(dst), BLOCKS(src)};
  return start(tm, &a, flags);
}

/* ---- reductions */

#define REDUCTION(Name, KIND)                                                                      \
 gex_Event_t gexx_Coll_##Name##NB(                                                                 \
     gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt,            \
     gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags) {              \
  const gexx_Coll_Args_t a = {                                                                     \
      ARGS(KIND),    .gexx_dt = dt,           .gexx_dt_sz = dt_sz,          .gexx_dt_cnt = dt_cnt, \
      .gexx_op = op, .gexx_user_op = user_op, .gexx_user_cdata = user_cdata};                      \
  return start(tm, &a, flags);                                                                     \
 }
REDUCTION(ReduceScatter, GEXX_COLL_REDUCE_SCATTER)
REDUCTION(Scan, GEXX_COLL_SCAN)
REDUCTION(ExScan, GEXX_COLL_EX_SCAN)

/* ---- persistent */

/* Copy a block list of n entries to *at, which moves on. */
static const uint64_t *keep(const uint64_t *list, size_t n, uint64_t **at) {
  if (!list) return NULL;
  uint64_t *const copy = *at;
  memcpy(copy, list, n * sizeof *list);
  *at += n;
  return copy;
}

/* Copy the caller's block lists, which need not live longer than the Init call; starting needs
 * them when buffers are in device memory. */
static void keep_lists(struct gexx_coll_plan_s *p) {
  const size_t n = p->call.tm->size;
  struct tmb_coll_blocks *send = &p->call.send, *recv = &p->call.recv;
  p->lists = NULL;
  if (!send->bytes && !recv->bytes) return;
  uint64_t *at = malloc(4 * n * sizeof *at);
  if (!at) tmb_fatal("out of memory for a persistent collective");
  p->lists = at;
  *send = (struct tmb_coll_blocks){keep(send->bytes, n, &at), keep(send->at, n, &at)};
  *recv = (struct tmb_coll_blocks){keep(recv->bytes, n, &at), keep(recv->at, n, &at)};
}

int gexx_Coll_Init(gexx_Coll_Plan_t *plan_p, gex_TM_t tm, const gexx_Coll_Args_t *args,
                   gex_Flags_t flags) {
  if (!plan_p || !args || (unsigned)args->gexx_kind >= TMB_ARRAY_LEN(kinds))
    return GASNET_ERR_BAD_ARG;
  struct gexx_coll_plan_s *p = malloc(sizeof *p);
  if (!p) tmb_fatal("out of memory for a persistent collective");
  fill(&p->call, tm, args, flags);
  p->magic = PLAN_MAGIC;
  tmb_coll_lock();
  p->plan = tmb_coll_plan_get(tmb_team_of(tm), &p->call, false);
  tmb_coll_unlock();
  keep_lists(p);
  *plan_p = p;
  return GASNET_OK;
}

gex_Event_t gexx_Coll_StartNB(gexx_Coll_Plan_t plan, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gexx_Coll_StartNB");
    tmb_check_flags("gexx_Coll_StartNB", flags, 0);
    if (!plan || plan->magic != PLAN_MAGIC)
      tmb_fatal_nopos("gexx_Coll_StartNB: argument plan (%p) is not a persistent collective",
                      (void *)plan);
  }
  return tmb_coll_start(&plan->call, plan->plan);
}

void gexx_Coll_Free(gexx_Coll_Plan_t plan) {
  if (!plan) return;
  TMB_CHECK(plan->magic == PLAN_MAGIC,
            "gexx_Coll_Free: argument plan (%p) is not a persistent collective", (void *)plan);
  tmb_coll_lock();
  tmb_coll_plan_release(plan->plan);
  tmb_coll_unlock();
  plan->magic = 0;
  free(plan->lists);
  free(plan);
}
