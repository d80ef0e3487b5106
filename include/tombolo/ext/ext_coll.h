/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_coll.h: the collectives that GASNet-EX lacks, and persistent collectives.
 *
 * Owns the gexx_Coll_ prototypes and types. Included by gasnetex_ext.h. Calls nothing. The common
 * rules of collectives hold (gasnet_coll.h, API 06.1): every member of the team calls, in team
 * order; any number outstanding; the event stands for the caller's part; flags are 0; any host
 * memory, and device segments. Blocks are given in bytes, and nbytes, counts and displacements may
 * be 0. dst and src must not overlap. "Single-valued" arguments are equal on all members.
 */
#ifndef GEXX_EXT_COLL_H
#define GEXX_EXT_COLL_H

#include "gasnet_coll.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_Coll_ScatterNB: scatter, gather, exchange, scans and reduce-scatter.
 * Every member of the team calls, in one order on each team. Sizes and displacements are
 * bytes and may be 0. dst and src do not overlap. V forms have blocks of different lengths.
 * [in] root: rank of the root, equal on all members.
 * [out] dst: where the result goes.
 * [in] src: the caller's data.
 * [in] nbytes: bytes of a block.
 * [in] dst_bytes, dst_displs, src_bytes, src_displs: [size] length and place of each member's
 * block, in bytes; read before the call returns.
 * [in] dt: GEX_DT_*, equal on all members.
 * [in] dt_sz: bytes of an element.
 * [in] dt_cnt: elements, at least 1.
 * [in] op: GEX_OP_*, equal on all members.
 * Completion: the event stands for the caller's part: when it is synchronised, src may be changed
 * and dst is final.
 * Threads: normal context. Several threads must order their calls on one team; any thread may
 * synchronise the event.
 * Errors: debug clients compare the arguments of all members, and name the ranks that differ. With
 * a lost member the result is undefined.
 * Cost: short data take log2(members) steps or fewer, long data a ring or direct transfers.
 * tombolo-tune(1) measures which is best.
 * See: gex_Coll_BroadcastNB, gexx_Coll_Init, gex_Event_Wait */

/* Block r of the root's src goes to dst of member r.
 * [in] root: rank. [out] dst: [nbytes]. [in] src: [size * nbytes], read on the root only. [in]
 * nbytes: bytes of a block. Single-valued: root, nbytes. Cost: a tree for small blocks, else size -
 * 1 messages from the root. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ScatterNB(gex_TM_t tm, gex_Rank_t root, void *dst,
                                                          const void *src, size_t nbytes,
                                                          gex_Flags_t flags);

/* src of member r goes to block r of the root's dst.
 * [out] dst: [size * nbytes], written on the root only. [in] src: [nbytes]. Single-valued: root,
 * nbytes. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_GatherNB(gex_TM_t tm, gex_Rank_t root, void *dst,
                                                         const void *src, size_t nbytes,
                                                         gex_Flags_t flags);

/* src of member r goes to block r of everybody's dst.
 * [out] dst: [size * nbytes]. [in] src: [nbytes]. Single-valued: nbytes. Cost: log2(size) messages
 * for small results, else a ring. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_AllGatherNB(gex_TM_t tm, void *dst, const void *src,
                                                            size_t nbytes, gex_Flags_t flags);

/* Block j of member i's src goes to block i of member j's dst.
 * [out] dst, [in] src: [size * nbytes]. Single-valued: nbytes. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ExchangeNB(gex_TM_t tm, void *dst, const void *src,
                                                           size_t nbytes, gex_Flags_t flags);

/* Scatter with blocks of different lengths: member r gets src_bytes[r] bytes at src +
 * src_displs[r]. [out] dst: [nbytes]. [in] src, src_bytes, src_displs: [size], in bytes, read on
 * the root only, before the call returns. [in] nbytes: bytes of the caller's block, equal to the
 * root's src_bytes[rank]. Single-valued: root. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ScatterVNB(gex_TM_t tm, gex_Rank_t root, void *dst,
                                                           size_t nbytes, const void *src,
                                                           const size_t *src_bytes,
                                                           const size_t *src_displs,
                                                           gex_Flags_t flags);

/* Gather with blocks of different lengths: nbytes bytes of member r's src go to dst + dst_displs[r]
 * of the root, where dst_bytes[r] is that nbytes. [in] dst_bytes, dst_displs: [size], in bytes,
 * read on the root only, before the call returns. Single-valued: root. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_GatherVNB(gex_TM_t tm, gex_Rank_t root, void *dst,
                                                          const size_t *dst_bytes,
                                                          const size_t *dst_displs, const void *src,
                                                          size_t nbytes, gex_Flags_t flags);

/* All-gather with blocks of different lengths. [in] dst_bytes, dst_displs: [size], in bytes, read
 * before the call returns; dst_bytes is single-valued. [in] src: [dst_bytes[rank]]. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_AllGatherVNB(gex_TM_t tm, void *dst,
                                                             const size_t *dst_bytes,
                                                             const size_t *dst_displs,
                                                             const void *src, gex_Flags_t flags);

/* Exchange with blocks of different lengths: src_bytes[j] bytes at src + src_displs[j] go to member
 * j, which receives them at dst + dst_displs[i], with dst_bytes[i] equal to that length. All four
 * arrays: [size], in bytes, read before the call returns. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ExchangeVNB(
    gex_TM_t tm, void *dst, const size_t *dst_bytes, const size_t *dst_displs, const void *src,
    const size_t *src_bytes, const size_t *src_displs, gex_Flags_t flags);

/* Combines vectors of size * dt_cnt elements; block r of the result, dt_cnt elements, goes to
 * member r. dt, dt_sz, op, user_op, user_cdata as in gex_Coll_ReduceToAllNB. [out] dst: [dt_cnt]
 * elements. [in] src: [size * dt_cnt] elements. Single-valued: dt, dt_sz, dt_cnt, op. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ReduceScatterNB(
    gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
    gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);

/* Inclusive scan: member r gets the combination of the vectors of ranks 0..r, always in the order
 * of ranks. Arguments as gex_Coll_ReduceToAllNB. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ScanNB(gex_TM_t tm, void *dst, const void *src,
                                                       gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                                       gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                                       void *user_cdata, gex_Flags_t flags);

/* Exclusive scan: member r gets the combination of ranks 0..r-1; the dst of rank 0 stays as it is.
 */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_ExScanNB(gex_TM_t tm, void *dst, const void *src,
                                                         gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                                         gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                                         void *user_cdata, gex_Flags_t flags);

/* ---- persistent collectives: build once, start many times */

/* Page gexx_Coll_Init: persistent collectives.
 * A plan is a collective with its arguments. It is built once and started many times.
 * Names: gexx_Coll_Kind_t: which collective a plan is;
 * GEXX_COLL_*: the collective of this name;
 * gexx_Coll_Plan_t: a plan
 * [in] plan: a plan that gexx_Coll_Init has made.
 * Completion: gexx_Coll_Init returns at once. gexx_Coll_StartNB returns an event like the
 * collective itself.
 * Threads: normal context. Starts of one team are ordered like collectives.
 * Errors: GASNET_ERR_BAD_ARG for an unknown kind or a NULL pointer.
 * Cost: a start saves the choice of an algorithm and its schedule.
 * See: gexx_Coll_ScatterNB, gex_Coll_BroadcastNB */

typedef enum {
  GEXX_COLL_BROADCAST,
  GEXX_COLL_REDUCE_TO_ONE,
  GEXX_COLL_REDUCE_TO_ALL,
  GEXX_COLL_SCATTER,
  GEXX_COLL_GATHER,
  GEXX_COLL_ALL_GATHER,
  GEXX_COLL_EXCHANGE,
  GEXX_COLL_REDUCE_SCATTER,
  GEXX_COLL_SCAN,
  GEXX_COLL_EX_SCAN,
  GEXX_COLL_SCATTER_V,
  GEXX_COLL_GATHER_V,
  GEXX_COLL_ALL_GATHER_V,
  GEXX_COLL_EXCHANGE_V
} gexx_Coll_Kind_t;

/* The arguments of the call that gexx_kind names; members that it has not are ignored. */
typedef struct {
  gexx_Coll_Kind_t gexx_kind;
  gex_Rank_t gexx_root;
  void *gexx_dst;
  const void *gexx_src;
  size_t gexx_nbytes;
  gex_DT_t gexx_dt;
  size_t gexx_dt_sz, gexx_dt_cnt;
  gex_OP_t gexx_op;
  gex_Coll_ReduceFn_t gexx_user_op;
  void *gexx_user_cdata;
  const size_t *gexx_dst_bytes, *gexx_dst_displs, *gexx_src_bytes, *gexx_src_displs;
} gexx_Coll_Args_t;

typedef struct gexx_coll_plan_s *gexx_Coll_Plan_t;

/* Builds a collective without starting it. Local: no communication, no place in the team's order.
 * [out] plan_p: written on success. [in] tm: must outlive the plan. [in] args: read before return,
 * arrays included. [in] flags: 0. Returns GASNET_OK, or GASNET_ERR_BAD_ARG for an unknown kind or a
 * NULL pointer. Normal context. */
GEXX_API int gexx_Coll_Init(gexx_Coll_Plan_t *plan_p, gex_TM_t tm, const gexx_Coll_Args_t *args,
                            gex_Flags_t flags);

/* Starts a plan: as the collective call, with the buffers' present contents. All members start
 * plans of equal arguments, or call the function itself. May be started again before the event is
 * synced only if the buffers allow it. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_Coll_StartNB(gexx_Coll_Plan_t plan, gex_Flags_t flags);

/* Frees a plan none of whose starts is unsynced. NULL is ignored. */
GEXX_API void gexx_Coll_Free(gexx_Coll_Plan_t plan);

#ifdef __cplusplus
}
#endif

#endif
