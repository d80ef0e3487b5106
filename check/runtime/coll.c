/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers and collectives.
 *
 * Owns: the plans of persistent collectives. These are calls of the library. Each member of a team
 * gives its clock to the object of the call, which is named by the team and the number of the call
 * in it, and takes it at the end, where data come to it: all members of a barrier, all but the root
 * of a broadcast, the root of a reduction to one. Buffers in a segment are read and written until
 * the end. Invariant: the members of a team make its calls in the same order, so that they count
 * alike.
 */
#include "check/runtime/chk.h"

#include <stdlib.h>

/* One collective of this rank. */
struct coll {
  gex_TM_t tm;
  bool gives, takes;
  const void *dst, *src;
  size_t dst_bytes, src_bytes;
};

static uint64_t buffer(const void *at, size_t bytes, uint32_t write, uint32_t site) {
  if (!at || !chk_segment_has(at)) return 0;
  return chk_touch(
      &(struct chk_range){chk.rank, (uintptr_t)at, bytes, write | CHK_LOCAL | CHK_TRANSFER}, site,
      true);
}

static struct chk_pending begin(const struct coll *c, const char *call, const void *pc) {
  struct chk_pending p = {.members = c->tm->size, .acquires = c->takes, .category = GEX_EC_ALL};
  chk_enter();
  p.site = chk_site(call, pc);
  p.acquire = chk_team_key(c->tm);
  const bool in_place = c->dst == c->src;
  if (!in_place) p.remote = buffer(c->src, c->src_bytes, 0, p.site);
  p.local = buffer(c->dst, c->dst_bytes, CHK_WRITE, p.site);
  chk_local_open(p.local);
  if (c->gives) chk_floor_give();
  if (c->gives) chk_release(p.acquire, p.site, 0);
  chk_exit();
  return p;
}

/* Whether this rank is the root of a call. */
#define ROOT(tm, root) ((tm)->rank == (root))
/* Parameters of reductions. */
#define OPERANDS                                                                     \
 gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, \
     void *user_cdata
#define OPERANDS_GIVEN   dt, dt_sz, dt_cnt, op, user_op, user_cdata
#define REDUCED          (dt_sz * dt_cnt)

#define BEGIN(call, ...) begin(&(struct coll){__VA_ARGS__}, call, __builtin_return_address(0))

CHK_DEFINE(gex_Event_t, gex_Coll_BarrierNB, (gex_TM_t tm, gex_Flags_t flags), (tm, flags),
           CHK_STARTED, BEGIN("gex_Coll_BarrierNB", tm, true, true, NULL, NULL, 0, 0))

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  struct chk_pending p = {0};
  if (chk_on()) p = BEGIN("gex_Coll_BarrierBlocking", tm, true, true, NULL, NULL, 0, 0);
  chk_real.gex_Coll_BarrierBlocking(tm, flags);
  if (chk_on()) (void)chk_started(&p, GEX_EVENT_INVALID);
}

CHK_DEFINE(gex_Event_t, gex_Coll_BroadcastNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
            gex_Flags_t flags),
           (tm, root, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gex_Coll_BroadcastNB", tm, ROOT(tm, root), !ROOT(tm, root), dst,
                 ROOT(tm, root) ? src : NULL, nbytes, nbytes))

CHK_DEFINE(gex_Event_t, gex_Coll_ReduceToOneNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, OPERANDS, gex_Flags_t flags),
           (tm, root, dst, src, OPERANDS_GIVEN, flags), CHK_STARTED,
           BEGIN("gex_Coll_ReduceToOneNB", tm, true, ROOT(tm, root), ROOT(tm, root) ? dst : NULL,
                 src, REDUCED, REDUCED))

CHK_DEFINE(gex_Event_t, gex_Coll_ReduceToAllNB,
           (gex_TM_t tm, void *dst, const void *src, OPERANDS, gex_Flags_t flags),
           (tm, dst, src, OPERANDS_GIVEN, flags), CHK_STARTED,
           BEGIN("gex_Coll_ReduceToAllNB", tm, true, true, dst, src, REDUCED, REDUCED))

CHK_DEFINE(gex_Event_t, gexx_Coll_ScatterNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
            gex_Flags_t flags),
           (tm, root, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ScatterNB", tm, ROOT(tm, root), !ROOT(tm, root), dst,
                 ROOT(tm, root) ? src : NULL, nbytes, nbytes * tm->size))

CHK_DEFINE(gex_Event_t, gexx_Coll_GatherNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
            gex_Flags_t flags),
           (tm, root, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gexx_Coll_GatherNB", tm, true, ROOT(tm, root), ROOT(tm, root) ? dst : NULL, src,
                 nbytes * tm->size, nbytes))

CHK_DEFINE(gex_Event_t, gexx_Coll_AllGatherNB,
           (gex_TM_t tm, void *dst, const void *src, size_t nbytes, gex_Flags_t flags),
           (tm, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gexx_Coll_AllGatherNB", tm, true, true, dst, src, nbytes * tm->size, nbytes))

CHK_DEFINE(gex_Event_t, gexx_Coll_ExchangeNB,
           (gex_TM_t tm, void *dst, const void *src, size_t nbytes, gex_Flags_t flags),
           (tm, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ExchangeNB", tm, true, true, dst, src, nbytes * tm->size,
                 nbytes * tm->size))

CHK_DEFINE(gex_Event_t, gexx_Coll_ScatterVNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, size_t nbytes, const void *src,
            const size_t *src_bytes, const size_t *src_displs, gex_Flags_t flags),
           (tm, root, dst, nbytes, src, src_bytes, src_displs, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ScatterVNB", tm, ROOT(tm, root), !ROOT(tm, root), dst, NULL, nbytes, 0))

CHK_DEFINE(gex_Event_t, gexx_Coll_GatherVNB,
           (gex_TM_t tm, gex_Rank_t root, void *dst, const size_t *dst_bytes,
            const size_t *dst_displs, const void *src, size_t nbytes, gex_Flags_t flags),
           (tm, root, dst, dst_bytes, dst_displs, src, nbytes, flags), CHK_STARTED,
           BEGIN("gexx_Coll_GatherVNB", tm, true, tm->rank == root, NULL, src, 0, nbytes))

CHK_DEFINE(gex_Event_t, gexx_Coll_AllGatherVNB,
           (gex_TM_t tm, void *dst, const size_t *dst_bytes, const size_t *dst_displs,
            const void *src, gex_Flags_t flags),
           (tm, dst, dst_bytes, dst_displs, src, flags), CHK_STARTED,
           BEGIN("gexx_Coll_AllGatherVNB", tm, true, true, NULL, src, 0, dst_bytes[tm->rank]))

CHK_DEFINE(gex_Event_t, gexx_Coll_ExchangeVNB,
           (gex_TM_t tm, void *dst, const size_t *dst_bytes, const size_t *dst_displs,
            const void *src, const size_t *src_bytes, const size_t *src_displs, gex_Flags_t flags),
           (tm, dst, dst_bytes, dst_displs, src, src_bytes, src_displs, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ExchangeVNB", tm, true, true, NULL, NULL, 0, 0))

CHK_DEFINE(gex_Event_t, gexx_Coll_ReduceScatterNB,
           (gex_TM_t tm, void *dst, const void *src, OPERANDS, gex_Flags_t flags),
           (tm, dst, src, OPERANDS_GIVEN, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ReduceScatterNB", tm, true, true, dst, src, REDUCED,
                 REDUCED * tm->size))

CHK_DEFINE(gex_Event_t, gexx_Coll_ScanNB,
           (gex_TM_t tm, void *dst, const void *src, OPERANDS, gex_Flags_t flags),
           (tm, dst, src, OPERANDS_GIVEN, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ScanNB", tm, true, true, dst, src, REDUCED, REDUCED))

CHK_DEFINE(gex_Event_t, gexx_Coll_ExScanNB,
           (gex_TM_t tm, void *dst, const void *src, OPERANDS, gex_Flags_t flags),
           (tm, dst, src, OPERANDS_GIVEN, flags), CHK_STARTED,
           BEGIN("gexx_Coll_ExScanNB", tm, true, true, tm->rank ? dst : NULL, src, REDUCED,
                 REDUCED))

/* ---- persistent collectives */

/* A plan, as the collective that each start of it is. */
struct plan {
  struct plan *next;
  gexx_Coll_Plan_t plan;
  struct coll coll;
};
static struct plan *plans;

static struct coll coll_of(gex_TM_t tm, const gexx_Coll_Args_t *a) {
  const bool is = tm->rank == a->gexx_root;
  const size_t n = a->gexx_nbytes, all = n * tm->size, reduced = a->gexx_dt_sz * a->gexx_dt_cnt;
  void *const dst = a->gexx_dst;
  const void *const src = a->gexx_src;
  switch (a->gexx_kind) {
  case GEXX_COLL_BROADCAST: return (struct coll){tm, is, !is, dst, is ? src : NULL, n, n};
  case GEXX_COLL_SCATTER: return (struct coll){tm, is, !is, dst, is ? src : NULL, n, all};
  case GEXX_COLL_GATHER: return (struct coll){tm, true, is, is ? dst : NULL, src, all, n};
  case GEXX_COLL_ALL_GATHER: return (struct coll){tm, true, true, dst, src, all, n};
  case GEXX_COLL_EXCHANGE: return (struct coll){tm, true, true, dst, src, all, all};
  case GEXX_COLL_REDUCE_TO_ONE:
    return (struct coll){tm, true, is, is ? dst : NULL, src, reduced, reduced};
  case GEXX_COLL_REDUCE_TO_ALL:
  case GEXX_COLL_SCAN: return (struct coll){tm, true, true, dst, src, reduced, reduced};
  case GEXX_COLL_EX_SCAN:
    return (struct coll){tm, true, true, tm->rank ? dst : NULL, src, reduced, reduced};
  case GEXX_COLL_REDUCE_SCATTER:
    return (struct coll){tm, true, true, dst, src, reduced, reduced * tm->size};
  case GEXX_COLL_SCATTER_V: return (struct coll){tm, is, !is, dst, NULL, n, 0};
  case GEXX_COLL_GATHER_V: return (struct coll){tm, true, is, NULL, src, 0, n};
  default: return (struct coll){tm, true, true, NULL, NULL, 0, 0}; /* lengths of each block */
  }
}

int gexx_Coll_Init(gexx_Coll_Plan_t *plan_p, gex_TM_t tm, const gexx_Coll_Args_t *args,
                   gex_Flags_t flags) {
  const int rc = chk_real.gexx_Coll_Init(plan_p, tm, args, flags);
  struct plan *const p = chk_on() && rc == GASNET_OK ? malloc(sizeof *p) : NULL;
  if (!p) return rc;
  chk_enter();
  *p = (struct plan){plans, *plan_p, coll_of(tm, args)};
  plans = p;
  chk_exit();
  chk_made(*plan_p, "persistent collective", "gexx_Coll_Init", __builtin_return_address(0));
  return rc;
}

/* Where the plan is in the list, or its end. Under chk.lock. */
static struct plan **find(gexx_Coll_Plan_t plan) {
  struct plan **at = &plans;
  while (*at && (*at)->plan != plan) at = &(*at)->next;
  return at;
}

gex_Event_t gexx_Coll_StartNB(gexx_Coll_Plan_t plan, gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_Coll_StartNB(plan, flags);
  chk_enter();
  const struct plan *const known = *find(plan);
  chk_exit();
  if (!known) return chk_real.gexx_Coll_StartNB(plan, flags);
  const struct chk_pending p =
      begin(&known->coll, "gexx_Coll_StartNB", __builtin_return_address(0));
  return chk_started(&p, chk_real.gexx_Coll_StartNB(plan, flags));
}

void gexx_Coll_Free(gexx_Coll_Plan_t plan) {
  chk_enter();
  struct plan **const at = find(plan), *const known = *at;
  if (known) *at = known->next;
  chk_exit();
  free(known);
  chk_ended(plan);
  chk_real.gexx_Coll_Free(plan);
}

/* ---- those of GASNet-1. With a flag ...ALLSYNC nobody goes on before all have come. */

#define ALL_SYNC(flags)                                             \
 (((flags) & (GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC)) || \
  !((flags) & (GASNET_COLL_IN_MYSYNC | GASNET_COLL_IN_NOSYNC)) ||   \
  !((flags) & (GASNET_COLL_OUT_MYSYNC | GASNET_COLL_OUT_NOSYNC)))

#define FROM_ONE(NAME, SRC_BYTES)                                                      \
 CHK_DEFINE(gasnet_coll_handle_t, NAME,                                                \
            (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, \
             size_t nbytes, int flags),                                                \
            (team, dst, srcimage, src, nbytes, flags), CHK_STARTED,                    \
            BEGIN(#NAME, team, ROOT(team, srcimage) || ALL_SYNC(flags),                \
                  !ROOT(team, srcimage) || ALL_SYNC(flags), dst,                       \
                  ROOT(team, srcimage) ? src : NULL, nbytes, SRC_BYTES))
FROM_ONE(gasnet_coll_broadcast_nb, nbytes)
FROM_ONE(gasnet_coll_scatter_nb, nbytes * team->size)

CHK_DEFINE(gasnet_coll_handle_t, gasnet_coll_gather_nb,
           (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes,
            int flags),
           (team, dstimage, dst, src, nbytes, flags), CHK_STARTED,
           BEGIN("gasnet_coll_gather_nb", team, true, ROOT(team, dstimage) || ALL_SYNC(flags),
                 ROOT(team, dstimage) ? dst : NULL, src, nbytes * team->size, nbytes))

#define FROM_ALL(NAME, SRC_BYTES)                                                        \
 CHK_DEFINE(gasnet_coll_handle_t, NAME,                                                  \
            (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags), \
            (team, dst, src, nbytes, flags), CHK_STARTED,                                \
            BEGIN(#NAME, team, true, true, dst, src, nbytes * team->size, SRC_BYTES))
FROM_ALL(gasnet_coll_gather_all_nb, nbytes)
FROM_ALL(gasnet_coll_exchange_nb, nbytes * team->size)

/* ---- GASNet-1's barrier in two phases, over the job */

static struct chk_pending named; /* begun by any thread, one at a time; .members 0: none */

static void named_ended(void) {
  const struct chk_pending p = named;
  named.members = 0;
  (void)chk_started(&p, GEX_EVENT_INVALID);
}

void chk_barrier_leak(void) {
  if (named.members) chk_leak("barrier that was never waited for", named.site);
}

void gasnet_barrier_notify(int id, int flags) {
  if (chk_on())
    named = BEGIN("gasnet_barrier_notify", gexx_coll_team_all(), true, true, NULL, NULL, 0, 0);
  chk_real.gasnet_barrier_notify(id, flags);
}

int gasnet_barrier_wait(int id, int flags) {
  const int rc = chk_real.gasnet_barrier_wait(id, flags);
  if (chk_on()) named_ended();
  return rc;
}

int gasnet_barrier_try(int id, int flags) {
  const int rc = chk_real.gasnet_barrier_try(id, flags);
  if (chk_on() && rc != GASNET_ERR_NOT_READY) named_ended();
  return rc;
}

int gasnet_barrier(int id, int flags) {
  struct chk_pending p = {0};
  if (chk_on()) p = BEGIN("gasnet_barrier", gexx_coll_team_all(), true, true, NULL, NULL, 0, 0);
  const int rc = chk_real.gasnet_barrier(id, flags);
  if (chk_on()) (void)chk_started(&p, GEX_EVENT_INVALID);
  return rc;
}
