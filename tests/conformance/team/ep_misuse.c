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

static void segment_null(void) {
  (void)gex_Segment_Create(NULL, dbg.client, memory, 64, GEX_MK_HOST, 0);
}
static void segment_client(void) {
  (void)gex_Segment_Create(&seg, GEX_CLIENT_INVALID, memory, 64, GEX_MK_HOST, 0);
}
static void segment_empty(void) {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 0, GEX_MK_HOST, 0);
}
static void segment_kind(void) {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 64, GEX_MK_INVALID, 0);
}
static void segment_flags(void) {
  (void)gex_Segment_Create(&seg, dbg.client, memory, 64, GEX_MK_HOST, 4);
}
static void destroy_null(void) {
  gex_Segment_Destroy(GEX_SEGMENT_INVALID, 0);
}
static void destroy_flags(void) {
  make_segment();
  gex_Segment_Destroy(seg, 8);
}
static void destroy_attached(void) {
  gex_Segment_Destroy(dbg.seg, 0);
}
static void destroy_twice(void) {
  make_segment();
  gex_Segment_Destroy(seg, 0);
  gex_Segment_Destroy(seg, 0);
}
static void query_destroyed(void) {
  make_segment();
  gex_Segment_Destroy(seg, 0);
  (void)gex_Segment_QueryAddr(seg);
}

static void ep_null(void) {
  (void)gex_EP_Create(NULL, dbg.client, GEX_EP_CAPABILITY_ALL, 0);
}
static void ep_client(void) {
  (void)gex_EP_Create(&ep, GEX_CLIENT_INVALID, GEX_EP_CAPABILITY_ALL, 0);
}
static void ep_flags(void) {
  (void)gex_EP_Create(&ep, dbg.client, GEX_EP_CAPABILITY_ALL, 1u << 9);
}
static void bind_junk(void) {
  make_ep();
  (void)gex_EP_BindSegment(ep, (gex_Segment_t)(void *)memory, 0);
}
static void publish_flags(void) {
  make_ep();
  (void)gex_EP_PublishBoundSegment(dbg.tm, &ep, 1, 2);
}
static void publish_pair(void) {
  make_ep();
  (void)gex_EP_PublishBoundSegment(gex_TM_Pair(ep, 0), &ep, 1, 0);
}
static void publish_twice(void) {
  make_ep();
  gex_EP_t list[2] = {ep, ep};
  (void)gex_EP_PublishBoundSegment(dbg.tm, list, 2, 0);
}
static void publish_null(void) {
  (void)gex_EP_PublishBoundSegment(dbg.tm, NULL, 1, 0);
}

/* ---- traffic */
static void put_unbound(void) {
  make_ep();
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(ep, 1), 0, memory, 1, 8, 0);
}
static void put_outside(void) {
  make_ep();
  make_segment();
  if (gex_EP_BindSegment(ep, seg, 0)) _exit(6);
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(dbg.ep, 1), 0, memory + sizeof memory - 4, 1, 8, 0);
}
/* Memory of the primordial endpoint's segment is not that of endpoint 1's. */
static void put_other_segment(void) {
  make_ep();
  make_segment();
  if (gex_EP_BindSegment(ep, seg, 0)) _exit(6);
  (void)gex_RMA_PutBlockingVal(gex_TM_Pair(dbg.ep, 1), 0, dbg.base, 1, 8, 0);
}
static void put_self_bound(void) {
  make_ep();
  (void)gex_RMA_PutBlocking(gex_TM_Pair(ep, 0), 0, dbg.base, dbg.base + 64, 8,
                            GEX_FLAG_SELF_SEG_BOUND); /* bound to ep 0, not to ep */
}
static void handler(gex_Token_t token) {
  (void)token;
}
static void am_no_endpoint(void) {
  const gex_AM_Index_t index =
      dbg_handler((gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  gex_AM_RequestShort0(gex_TM_Pair(dbg.ep, 5), 0, index, 0);
  GASNET_BLOCKUNTIL(0);
}
/* Registered on the primordial endpoint only. */
static void am_other_table(void) {
  const gex_AM_Index_t index =
      dbg_handler((gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  make_ep();
  gex_AM_RequestShort0(gex_TM_Pair(dbg.ep, 1), 0, index, 0);
  GASNET_BLOCKUNTIL(0);
}

static void legal(void) {
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

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(segment_null, "gex_Segment_Create", "segment_p", "NULL"),
    ROW(segment_client, "gex_Segment_Create", "GEX_CLIENT_INVALID"),
    ROW(segment_empty, "gex_Segment_Create", "length", "0"),
    ROW(segment_kind, "gex_Segment_Create", "GEX_MK_INVALID"),
    ROW(segment_flags, DBG_WARNS, "gex_Segment_Create", "flags", "0x4"),
    ROW(destroy_null, "gex_Segment_Destroy", "GEX_SEGMENT_INVALID"),
    ROW(destroy_flags, DBG_WARNS, "gex_Segment_Destroy", "flags", "0x8"),
    ROW(destroy_attached, "gex_Segment_Destroy", "attached"),
    ROW(destroy_twice, "gex_Segment_Destroy", "not a segment handle"),
    ROW(query_destroyed, "gex_Segment_QueryAddr", "not a segment handle"),
    ROW(ep_null, "gex_EP_Create", "ep_p", "NULL"),
    ROW(ep_client, "gex_EP_Create", "GEX_CLIENT_INVALID"),
    ROW(ep_flags, DBG_WARNS, "gex_EP_Create", "flags", "0x200"),
    ROW(bind_junk, "gex_EP_BindSegment", "segment"),
    ROW(publish_flags, DBG_WARNS, "gex_EP_PublishBoundSegment", "flags", "0x2"),
    ROW(publish_pair, "gex_EP_PublishBoundSegment", "TM-pair"),
    ROW(publish_twice, "gex_EP_PublishBoundSegment", "endpoint 1", "twice"),
    ROW(publish_null, "gex_EP_PublishBoundSegment", "eps", "NULL"),
    ROW(put_unbound, "gex_RMA_PutBlockingVal", "endpoint 1", "published"),
    ROW(put_outside, "gex_RMA_PutBlockingVal", "outside", "8192"),
    ROW(put_other_segment, "gex_RMA_PutBlockingVal", "outside", "8192"),
    ROW(put_self_bound, DBG_WARNS, "gex_RMA_PutBlocking", "src", "SELF_SEG_BOUND"),
    ROW(am_no_endpoint, "endpoint 5", "not created"),
    ROW(am_other_table, "handler", "not registered"),
    ROW(legal, NULL),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof cases[0]);
}
