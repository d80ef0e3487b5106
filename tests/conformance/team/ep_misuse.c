/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of endpoints and created segments in debug clients (API 01.4, 01.5, items Dbg): NULL and
 * stale arguments, kinds and flags, publication, traffic to endpoints that do not exist or whose
 * segment is not known.
 */
/* ranks: 1 */
/* debug: yes */
/* timeout: 120 */
#include "dbg_case.h"

static char memory[8192];
static gex_EP_t ep;
static gex_Segment_t seg;

static void make_ep(void) {
  if (gex_EP_Create(&ep, dbg.client, GEX_EP_CAPABILITY_ALL, 0)) _exit(6);
}
static void make_segment(void) {
  if (gex_Segment_Create(&seg, dbg.client, memory, sizeof memory, GEX_MK_HOST, 0)) _exit(6);
}

DBG_CASE(segment_null, "gex_Segment_Create", "segment_p", "NULL") {
  (void)gex_Segment_Create(NULL, dbg.client, memory, 64, GEX_MK_HOST, 0);
}
DBG_CASE(segment_client, "gex_Segment_Create", "GEX_CLIENT_INVALID") {
  (void)gex_Segment_Create(&seg, GEX_CLIENT_INVALID, memory, 64, GEX_MK_HOST, 0);
}
DBG_CASE(segment_empty, "gex_Segment_Create", "length", "0") {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 0, GEX_MK_HOST, 0);
}
DBG_CASE(segment_kind, "gex_Segment_Create", "GEX_MK_INVALID") {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 64, GEX_MK_INVALID, 0);
}
DBG_CASE(segment_flags, DBG_WARNS, "gex_Segment_Create", "flags", "0x4") {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 64, GEX_MK_HOST, 4);
}
DBG_CASE(destroy_null, "gex_Segment_Destroy", "GEX_SEGMENT_INVALID") {
  gex_Segment_Destroy(GEX_SEGMENT_INVALID, 0);
}
DBG_CASE(destroy_flags, DBG_WARNS, "gex_Segment_Destroy", "flags", "0x8") {
  make_segment();
  gex_Segment_Destroy(seg, 8);
}
DBG_CASE(destroy_attached, "gex_Segment_Destroy", "attached") {
  gex_Segment_Destroy(dbg.seg, 0);
}
DBG_CASE(destroy_twice, "gex_Segment_Destroy", "not a segment handle") {
  make_segment();
  gex_Segment_Destroy(seg, 0);
  gex_Segment_Destroy(seg, 0);
}
DBG_CASE(query_destroyed, "gex_Segment_QueryAddr", "not a segment handle") {
  make_segment();
  gex_Segment_Destroy(seg, 0);
  (void)gex_Segment_QueryAddr(seg);
}

DBG_CASE(ep_null, "gex_EP_Create", "ep_p", "NULL") {
  (void)gex_EP_Create(NULL, dbg.client, GEX_EP_CAPABILITY_ALL, 0);
}
DBG_CASE(ep_client, "gex_EP_Create", "GEX_CLIENT_INVALID") {
  (void)gex_EP_Create(&ep, GEX_CLIENT_INVALID, GEX_EP_CAPABILITY_ALL, 0);
}
DBG_CASE(ep_flags, DBG_WARNS, "gex_EP_Create", "flags", "0x200") {
  (void)gex_EP_Create(&ep, dbg.client, GEX_EP_CAPABILITY_ALL, 1u << 9);
}
DBG_CASE(bind_junk, "gex_EP_BindSegment", "segment") {
  make_ep();
  (void)gex_EP_BindSegment(ep, (gex_Segment_t)(void *)memory, 0);
}
DBG_CASE(publish_flags, DBG_WARNS, "gex_EP_PublishBoundSegment", "flags", "0x2") {
  make_ep();
  (void)gex_EP_PublishBoundSegment(dbg.tm, &ep, 1, 2);
}
DBG_CASE(publish_pair, "gex_EP_PublishBoundSegment", "TM-pair") {
  make_ep();
  (void)gex_EP_PublishBoundSegment(gex_TM_Pair(ep, 0), &ep, 1, 0);
}
DBG_CASE(publish_twice, "gex_EP_PublishBoundSegment", "endpoint 1", "twice") {
  make_ep();
  gex_EP_t list[2] = {ep, ep};
  (void)gex_EP_PublishBoundSegment(dbg.tm, list, 2, 0);
}
DBG_CASE(publish_null, "gex_EP_PublishBoundSegment", "eps", "NULL") {
  (void)gex_EP_PublishBoundSegment(dbg.tm, NULL, 1, 0);
}

/* ---- traffic */
DBG_CASE(put_unbound, "gex_RMA_PutBlockingVal", "endpoint 1", "published") {
  make_ep();
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(ep, 1), 0, memory, 1, 8, 0);
}
DBG_CASE(put_outside, "gex_RMA_PutBlockingVal", "outside", "8192") {
  make_ep();
  make_segment();
  if (gex_EP_BindSegment(ep, seg, 0)) _exit(6);
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(dbg.ep, 1), 0, memory + sizeof memory - 4, 1, 8, 0);
}
/* Memory of the primordial endpoint's segment is not that of endpoint 1's. */
DBG_CASE(put_other_segment, "gex_RMA_PutBlockingVal", "outside", "8192") {
  make_ep();
  make_segment();
  if (gex_EP_BindSegment(ep, seg, 0)) _exit(6);
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(dbg.ep, 1), 0, dbg.base, 1, 8, 0);
}
DBG_CASE(put_self_bound, DBG_WARNS, "gex_RMA_PutBlocking", "src", "SELF_SEG_BOUND") {
  make_ep();
  (void)gex_RMA_PutBlocking(gex_TM_Pair(ep, 0), 0, dbg.base, dbg.base + 64, 8,
                            GEX_FLAG_SELF_SEG_BOUND); /* bound to ep 0, not to ep */
}
static void handler(gex_Token_t token) {
  (void)token;
}
DBG_CASE(am_no_endpoint, "endpoint 5", "not created") {
  const gex_AM_Index_t index =
      dbg_handler((gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  gex_AM_RequestShort0(gex_TM_Pair(dbg.ep, 5), 0, index, 0);
  GASNET_BLOCKUNTIL(0);
}
/* Registered on the primordial endpoint only. */
DBG_CASE(am_other_table, "handler", "not registered") {
  const gex_AM_Index_t index =
      dbg_handler((gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  make_ep();
  gex_AM_RequestShort0(gex_TM_Pair(dbg.ep, 1), 0, index, 0);
  GASNET_BLOCKUNTIL(0);
}

DBG_CASE(legal, NULL) {
  make_ep();
  make_segment();
  if (gex_EP_BindSegment(ep, seg, 0)) _exit(7);
  if (gex_EP_PublishBoundSegment(dbg.tm, NULL, 0, 0)) _exit(7);
  if (gex_EP_PublishBoundSegment(dbg.tm, &ep, 1, 0)) _exit(7);
  const gex_TM_t pair = gex_TM_Pair(ep, 1);
  (void)gex_RMA_PutBlockingVal(pair, 0, memory, 7, 8, GEX_FLAG_PEER_SEG_BOUND);
  (void)gex_RMA_PutBlocking(pair, 0, dbg.base, memory, 8,
                            GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_PEER_SEG_SOME);
  (void)gex_RMA_PutBlocking(pair, 0, memory + 8, dbg.base, 8, GEX_FLAG_SELF_SEG_SOME);
  if (gex_RMA_GetBlockingVal(pair, 0, memory + 8, 8, 0) != 7) _exit(7);
  gex_Segment_Destroy(seg, 0);
}

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
