/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_coll.h: collective operations of GASNet-EX, and the rest of those of GASNet-1.
 *
 * Owns prototypes and types of broadcast and reductions (API 06.3, 06.4), and includes the legacy
 * part (API 06.5). Barriers are in gasnetex.h; scatter, gather, all-gather, exchange, scans and
 * persistent collectives in gasnetex_ext.h. Included by clients after or instead of gasnetex.h.
 * Common rules (API 06.1): every member of the team calls, in one order on each team; any
 * number may be outstanding; the event returned stands for the caller's part: when it is synced,
 * src may be changed and dst is final; any thread may sync it. Flags are 0. Buffers are any host
 * memory.
 */
#ifndef GASNET_COLL_H
#define GASNET_COLL_H

#include "gasnetex.h"
#include "tombolo/legacy/coll_legacy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gex_Coll_BroadcastNB: broadcast and reductions.
 * Every member of the team calls, in one order on each team. Any number of collectives may be
 * outstanding. Buffers are any host memory, or device segments.
 * [in] tm: team, no TM-pair.
 * [in] root: rank of the root, equal on all members.
 * [in] dt: GEX_DT_*, equal on all members.
 * [in] dt_sz: bytes of an element.
 * [in] dt_cnt: elements, at least 1.
 * [in] op: GEX_OP_*, equal on all members.
 * [in] dst: where the result goes.
 * [in] src: the caller's data.
 * Completion: the event stands for the caller's part: when it is synchronised, src may be changed
 * and dst is final.
 * Threads: normal context. Several threads must order their calls on one team; any thread may
 * synchronise the event. Operators run on any thread that is inside the library.
 * Errors: debug clients compare the arguments of all members, and name the ranks that differ. With
 * a lost member the result is undefined (gexx_Lost_Take).
 * Cost: short data take one step in shared memory, and log2(hosts) messages between hosts. Long
 * data use a pipeline or recursive halving.
 * See: gexx_Coll_ScatterNB, gex_Coll_BarrierNB, gex_Event_Wait, tombolo-tune(1) */

/* A client's operator: y[k] = x[k] + y[k] in its own sense, for k < count.
 * [in] arg1: x, left operands. [in,out] arg2_and_out: y, right operands and results; the two do not
 * overlap. [in] count: elements, at least 1, unrelated to dt_cnt. [in] cdata: user_cdata of the
 * calling rank. Called any number of times, from any thread that is inside the library; may make
 * only calls that are legal while a handler-safe lock is held. API 06.4. */
typedef void (*gex_Coll_ReduceFn_t)(const void *arg1, void *arg2_and_out, size_t count,
                                    const void *cdata);

/* Sends nbytes from the root's src to every member's dst.
 * [in] tm: team, no TM-pair. [in] root: rank in it. [out] dst: [nbytes], also on the root, where it
 * may be src. [in] src: [nbytes], read on the root only. root and nbytes are the same on all
 * members; nbytes may be 0. [in] flags: 0. Returns a root event. Normal context; polls not; several
 * threads must order their calls on one team. Cost: a tree of log(P) hops, or a pipeline. API 06.3.
 */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst,
                                                           const void *src, size_t nbytes,
                                                           gex_Flags_t flags);

/* Combines the members' vectors element by element; the root gets the result.
 * [out] dst: [dt_cnt] elements, written on the root only, where it may be src. [in] src: [dt_cnt].
 * [in] dt: GEX_DT_, with GEX_DT_USER op must be GEX_OP_USER or USER_NC. [in] dt_sz: bytes of an
 * element. [in] dt_cnt: elements, at least 1. [in] op: ADD MULT MIN MAX; AND OR XOR on integers;
 * USER; USER_NC, whose operands keep the order of ranks. root, dt, dt_sz, dt_cnt, op are the same
 * on all members. [in] user_op, user_cdata: for USER and USER_NC. [in] flags: 0. Returns a root
 * event. API 06.4. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_Coll_ReduceToOneNB(
    gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
    size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);

/* Reduces with the result on all members: equal bits everywhere. API 06.4. */
GEXX_API GEXX_WARN_UNUSED gex_Event_t gex_Coll_ReduceToAllNB(
    gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
    gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#endif
