/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of non-contiguous put and get in debug clients (API 04, items Dbg; 08.8): totals, bounds,
 * overlap, flags, armed peer completion, context, legacy strides.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

#include <gasnet_vis.h>
#include <string.h>

static char buf[256];
static const ptrdiff_t tight = 8, wide = 16;
static const size_t four = 4, many = 2000;

/* ---- totals */
DBG_CASE(vector_total, "gex_VIS_VectorPutBlocking", "dstlist", "16 bytes", "15 bytes") {
  const gex_Memvec_t d[2] = {{dbg.base, 8}, {dbg.base + 20, 8}}, s = {buf, 15};
  gex_VIS_VectorPutBlocking(dbg.tm, 0, 2, d, 1, &s, 0);
}
DBG_CASE(indexed_total, "gex_VIS_IndexedGetNBI", "srclist", "16 bytes", "17 bytes") {
  void *const d[2] = {buf, buf + 50}, *const s[1] = {dbg.base};
  gex_VIS_IndexedGetNBI(dbg.tm, 2, d, 8, 0, 1, s, 17, 0);
}
DBG_CASE(one_side_empty, "gex_VIS_VectorPutBlocking", "0 bytes", "15 bytes") {
  const gex_Memvec_t s = {buf, 15};
  gex_VIS_VectorPutBlocking(dbg.tm, 0, 0, NULL, 1, &s, 0);
}
DBG_CASE(strided_overflow, "gex_VIS_StridedPutBlocking", "count") {
  const size_t huge[2] = {(size_t)1 << 62, 64};
  const ptrdiff_t stride[2] = {8, 16};
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, stride, buf, stride, 8, huge, 2, 0);
}

/* ---- bounds */
DBG_CASE(strided_end, "gex_VIS_StridedPutBlocking", "dstaddr", "outside") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &many, 1, 0);
}
DBG_CASE(strided_below, "gex_VIS_StridedGetNB", "srcaddr", "outside") {
  const ptrdiff_t back = -8;
  gex_Event_Wait(
      gex_VIS_StridedGetNB(dbg.tm, buf, &tight, 0, dbg.base + 16, &back, 8, &four, 1, 0));
}
DBG_CASE(vector_outside, "gex_VIS_VectorPutBlocking", "dstlist", "outside") {
  const gex_Memvec_t d[2] = {{dbg.base, 8}, {dbg.base + DBG_SEG_BYTES - 7, 8}}, s = {buf, 16};
  gex_VIS_VectorPutBlocking(dbg.tm, 0, 2, d, 1, &s, 0);
}
DBG_CASE(indexed_outside, "gex_VIS_IndexedGetBlocking", "srclist", "outside") {
  void *const d[1] = {buf}, *const s[1] = {dbg.base - 1};
  gex_VIS_IndexedGetBlocking(dbg.tm, 1, d, 8, 0, 1, s, 8, 0);
}
DBG_CASE(local_null, "gex_VIS_StridedPutBlocking", "srcaddr", "NULL") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &tight, NULL, &tight, 8, &four, 1, 0);
}
DBG_CASE(local_not_bound, DBG_WARNS, "gex_VIS_StridedPutBlocking", "srcaddr", "SELF_SEG_BOUND") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &tight, buf, &tight, 8, &four, 1,
                             GEX_FLAG_SELF_SEG_BOUND);
}
DBG_CASE(bad_rank, "gex_VIS_StridedPutBlocking", "rank", "99") {
  gex_VIS_StridedPutBlocking(dbg.tm, 99, dbg.base, &tight, buf, &tight, 8, &four, 1, 0);
}
DBG_CASE(no_team, "gex_VIS_StridedPutBlocking", "tm", "GEX_TM_INVALID") {
  gex_VIS_StridedPutBlocking(GEX_TM_INVALID, 0, dbg.base, &tight, buf, &tight, 8, &four, 1, 0);
}

/* ---- overlap */
DBG_CASE(overlap_stride, "gex_VIS_StridedPutBlocking", "dststrides", "overlap", "7 bytes") {
  const ptrdiff_t close = 7;
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &close, buf, &tight, 8, &four, 1, 0);
}
DBG_CASE(overlap_zero, "gex_VIS_StridedGetBlocking", "dststrides", "overlap") {
  const ptrdiff_t zero = 0;
  gex_VIS_StridedGetBlocking(dbg.tm, buf, &zero, 0, dbg.base, &tight, 8, &four, 1, 0);
}
DBG_CASE(overlap_dims, "gex_VIS_StridedPutBlocking", "dststrides", "overlap", "32 bytes") {
  const ptrdiff_t d[2] = {16, 32}, s[2] = {8, 32};
  const size_t count[2] = {3, 2};
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, d, buf, s, 8, count, 2, 0);
}
DBG_CASE(overlap_self, "gex_VIS_StridedPutBlocking", "source", "destination", "overlap") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base + 4, &wide, dbg.base, &wide, 8, &four, 1, 0);
}
DBG_CASE(overlap_list, "gex_VIS_VectorPutBlocking", "dstlist", "overlap") {
  const gex_Memvec_t d[3] = {{dbg.base + 40, 8}, {dbg.base, 8}, {dbg.base + 33, 8}}, s = {buf, 24};
  gex_VIS_VectorPutBlocking(dbg.tm, 0, 3, d, 1, &s, 0);
}
DBG_CASE(overlap_src, "gex_VIS_IndexedPutBlocking", "srclist", "overlap") {
  void *const d[2] = {dbg.base + 64, dbg.base}, *const s[2] = {dbg.base + 100, dbg.base + 70};
  gex_VIS_IndexedPutBlocking(dbg.tm, 0, 2, d, 8, 2, s, 8, 0);
}

/* ---- flags */
DBG_CASE(unknown_flag, DBG_WARNS, "gex_VIS_StridedPutBlocking", "flags", "0x40000000") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1, 1u << 30);
}
DBG_CASE(leaf_get, DBG_WARNS, "gex_VIS_StridedGetNBI", "flags", "GEX_FLAG_ENABLE_LEAF_LC") {
  gex_VIS_StridedGetNBI(dbg.tm, buf, &tight, 0, dbg.base, &wide, 8, &four, 1,
                        GEX_FLAG_ENABLE_LEAF_LC);
}
DBG_CASE(leaf_blocking, DBG_WARNS, "gex_VIS_StridedPutBlocking", "flags",
         "GEX_FLAG_ENABLE_LEAF_LC") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1,
                             GEX_FLAG_ENABLE_LEAF_LC);
}
DBG_CASE(leaf_not_enabled, "gex_Event_QueryLeaf", "event_category") {
  const gex_Event_t ev =
      gex_VIS_StridedPutNB(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1, 0);
  (void)gex_Event_QueryLeaf(ev, GEX_EC_LC);
}
DBG_CASE(sync_twice, "gex_Event_Wait", "synchronised before") {
  const gex_Event_t ev =
      gex_VIS_StridedPutNB(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1, 0);
  gex_Event_Wait(ev);
  gex_Event_Wait(ev);
}
DBG_CASE(never_self, "gex_VIS_StridedPutBlocking", "flags", "this process") {
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1,
                             GEX_FLAG_PEER_NEVER_SELF);
}
static void in_handler(gex_Token_t token) {
  (void)token;
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1, 0);
}
DBG_CASE(context, "gex_VIS_StridedPutBlocking", "request handler") {
  dbg_in_request(in_handler);
}

/* ---- peer completion */
static void handler_fn(gex_Token_t token, void *payload, size_t nbytes) {
  (void)token, (void)payload, (void)nbytes;
}
static void armed_put(gex_AM_Index_t index, gex_Flags_t flags) {
  gex_VIS_SetPeerCompletionHandler(index, NULL, 0, 0);
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, &wide, buf, &tight, 8, &four, 1, flags);
  for (int i = 0; i < 100; i++) gasnet_AMPoll();
}
DBG_CASE(armed_get, "gex_VIS_StridedGetBlocking", "peer completion handler", "200") {
  gex_VIS_SetPeerCompletionHandler(200, NULL, 0, 0);
  gex_VIS_StridedGetBlocking(dbg.tm, buf, &tight, 0, dbg.base, &wide, 8, &four, 1, 0);
}
DBG_CASE(armed_immediate, "gex_VIS_StridedPutBlocking", "flags", "GEX_FLAG_IMMEDIATE") {
  armed_put(200, GEX_FLAG_IMMEDIATE);
}
DBG_CASE(armed_large, "gex_VIS_SetPeerCompletionHandler", "nbytes", "513") {
  gex_VIS_SetPeerCompletionHandler(200, buf, GEX_VIS_MAX_PEERCOMPLETION + 1, 0);
}
DBG_CASE(armed_null, "gex_VIS_SetPeerCompletionHandler", "source_addr", "NULL") {
  gex_VIS_SetPeerCompletionHandler(200, NULL, 1, 0);
}
DBG_CASE(armed_index, "gex_VIS_SetPeerCompletionHandler", "handler", "17") {
  gex_VIS_SetPeerCompletionHandler(17, NULL, 0, 0);
}
DBG_CASE(armed_flags, DBG_WARNS, "gex_VIS_SetPeerCompletionHandler", "flags", "0x4") {
  gex_VIS_SetPeerCompletionHandler(200, NULL, 0, 4);
}
DBG_CASE(handler_missing, "handler 200", "not registered") {
  armed_put(200, 0);
}
DBG_CASE(handler_wide, "peer completion handler", "gex_flags") {
  armed_put(dbg_handler((gex_AM_Fn_t)handler_fn,
                        GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY | GEX_FLAG_AM_REQUEST, 0),
            0);
}
DBG_CASE(handler_args, DBG_WARNS, "0 arguments", "gex_nargs 1") {
  armed_put(dbg_handler((gex_AM_Fn_t)handler_fn, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1), 0);
}

/* ---- GASNet-1 */
static const size_t legacy_count[3] = {8, 4, 3};
DBG_CASE(legacy_close, "gasnet_puts_bulk", "dststrides", "is 7") {
  const size_t d[2] = {7, 64}, s[2] = {8, 32};
  gasnet_puts_bulk(0, dbg.base, d, buf, s, legacy_count, 2);
}
DBG_CASE(legacy_nested, DBG_WARNS, "gasnet_gets_nbi_bulk", "dststrides", "is 31", "32 bytes") {
  const size_t d[2] = {16, 64}, s[2] = {8, 31};
  gasnet_gets_nbi_bulk(buf, s, 0, dbg.base, d, legacy_count, 2);
}
DBG_CASE(legacy_total, "gasnet_putv_nbi_bulk", "dstlist", "9 bytes") {
  const gasnet_memvec_t d = {dbg.base, 8}, s = {buf, 9};
  gasnet_putv_nbi_bulk(0, 1, &d, 1, &s);
}
DBG_CASE(legacy_rank, "gasnet_puti_bulk", "rank", "99") {
  void *const d[1] = {dbg.base}, *const s[1] = {buf};
  gasnet_puti_bulk(99, 1, d, 8, 1, s, 8);
}

/* ---- what is legal */
DBG_CASE(legal, NULL) {
  const ptrdiff_t d[2] = {16, 48}, s[2] = {0, 8};
  const size_t count[2] = {3, 2}, none[1] = {0};
  const size_t legacy_d[2] = {16, 64}, legacy_s[2] = {8, 32};
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base, d, buf, s, 8, count, 2, 0);
  /* interleaved source and destination, in one segment */
  gex_VIS_StridedPutBlocking(dbg.tm, 0, dbg.base + 8, &wide, dbg.base, &wide, 8, &four, 1, 0);
  gex_VIS_StridedPutBlocking(NULL, 99, NULL, d, NULL, s, 8, none, 1, 0);
  armed_put(dbg_handler((gex_AM_Fn_t)handler_fn, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0), 0);
  gasnet_puts_bulk(0, dbg.base, legacy_d, buf, legacy_s, legacy_count, 2);
}

/* Delivery of the completion handler is checked on both paths there. */
DBG_CASE_AS(handler_missing_messages, handler_missing, 1, DBG_UNMAPPED, "handler 200",
            "not registered")
DBG_CASE_AS(handler_wide_messages, handler_wide, 1, DBG_UNMAPPED, "peer completion handler",
            "gex_flags")
DBG_CASE_AS(handler_args_messages, handler_args, 1, DBG_UNMAPPED, DBG_WARNS, "0 arguments",
            "gex_nargs 1")
DBG_CASE_AS(legal_messages, legal, 1, DBG_UNMAPPED, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
