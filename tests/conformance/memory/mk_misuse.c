/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of memory kinds in debug clients, and calls that refuse device memory (API 07): handles,
 * a kind in use, local addresses outside the device segment, atomics, strided transfers.
 */
/* ranks: 1 */
/* debug: yes */
/* again: TMB_DEVICE=cuda */
#include "dbg_case.h"
#include "mk_dev.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>

static gex_EP_t ep; /* bound to device memory, in tests that ask for it */
static char *device;

static void setup(int *argc, char ***argv) {
  dev_select();
  dbg_setup(argc, argv);
}

static void bind(void) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  (void)gex_EP_Create(&ep, dbg.client, GEX_EP_CAPABILITY_ALL, 0);
  (void)gex_Segment_Create(&seg, dbg.client, NULL, 4096, dev_kind(dbg.client, 0), 0);
  (void)gex_EP_BindSegment(ep, seg, 0);
  (void)gex_EP_PublishBoundSegment(dbg.tm, &ep, 1, 0);
  device = (char *)gex_Segment_QueryAddr(seg);
}

static gex_TM_t pair(gex_EP_t from, gex_EP_t to) {
  return gex_TM_Pair(from, gex_EP_QueryIndex(to));
}

DBG_CASE(destroy_host, "gex_MK_Destroy", "kind", "GEX_MK_HOST") {
  gex_MK_Destroy(GEX_MK_HOST, 0);
}
DBG_CASE(destroy_invalid, "gex_MK_Destroy", "kind", "INVALID") {
  gex_MK_Destroy(GEX_MK_INVALID, 0);
}
DBG_CASE(destroy_flags, DBG_WARNS, "gex_MK_Destroy", "flags", "0x5") {
  gex_MK_Destroy(dev_kind(dbg.client, 0), 5);
}
DBG_CASE(destroy_twice, "gex_MK_Destroy", "kind", "not the handle") {
  const gex_MK_t kind = dev_kind(dbg.client, 0);
  gex_MK_Destroy(kind, 0);
  gex_MK_Destroy(kind, 0);
}
DBG_CASE(destroy_used, "gex_MK_Destroy", "kind", "1 segments") {
  const gex_MK_t kind = dev_kind(dbg.client, 0);
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  (void)gex_Segment_Create(&seg, dbg.client, NULL, 4096, kind, 0);
  gex_MK_Destroy(kind, 0);
}
DBG_CASE(query_host, "gex_MK_QueryClass", "GEX_MK_HOST") {
  (void)gex_MK_QueryClass(GEX_MK_HOST);
}
DBG_CASE(set_host, "gex_MK_SetCData", "GEX_MK_HOST") {
  gex_MK_SetCData(GEX_MK_HOST, &ep);
}
DBG_CASE(put_host_memory, "gex_RMA_PutBlocking", "src", "outside") {
  char buf[8] = {0};
  bind();
  (void)gex_RMA_PutBlocking(pair(ep, dbg.ep), 0, dbg.base, buf, 8, 0);
}
DBG_CASE(put_outside, "gex_RMA_PutBlocking", "dest", "outside") {
  bind();
  (void)gex_RMA_PutBlocking(pair(dbg.ep, ep), 0, device + 4090, dbg.base, 8, 0);
}
DBG_CASE(vis_device, "gex_VIS_VectorPutBlocking", "dstlist", "outside") {
  gex_Memvec_t to = {NULL, 8}, from = {NULL, 8};
  bind();
  to.gex_addr = device + 4090;
  from.gex_addr = dbg.base;
  (void)gex_VIS_VectorPutBlocking(pair(dbg.ep, ep), 0, 1, &to, 1, &from, 0);
}
static void on_long(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf, (void)nbytes;
}
DBG_CASE(long_device, "gex_AM_RequestLong", "device memory") {
  bind();
  gex_AM_Entry_t entry = {200, on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "long"};
  (void)gex_EP_RegisterHandlers(ep, &entry, 1);
  (void)gex_AM_RequestLong(pair(dbg.ep, ep), 0, 200, dbg.base, 8, device, GEX_EVENT_NOW, 0);
}
DBG_CASE(medium_device, "gex_AM_RequestMedium", "source_addr", "device") {
  bind();
  gex_AM_Entry_t entry = {200, on_long, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "m"};
  (void)gex_EP_RegisterHandlers(dbg.ep, &entry, 1);
  (void)gex_AM_RequestMedium(dbg.tm, 0, 200, device, 8, GEX_EVENT_NOW, 0);
}
DBG_CASE(wait_device, "gexx_Signal_Wait", "sig", "device memory") {
  bind();
  gexx_Signal_Wait((uint64_t *)(void *)device, GEXX_SIG_EQ, 1);
}
DBG_CASE(coll_leaves, "gex_Coll_BroadcastNB", "dst", "100 bytes at") {
  bind();
  gex_Event_Wait(gex_Coll_BroadcastNB(dbg.tm, 0, device + 4000, dbg.base, 100, 0));
}
DBG_CASE(signal_offset, "PutSignal", "sig_addr", "host segment") {
  bind();
  (void)gexx_RMA_PutSignalBlocking(pair(dbg.ep, ep), 0, NULL, dbg.base, 8, GEX_EVENT_NOW,
                                   (uint64_t *)64, GEXX_SIG_SET, 1, GEX_FLAG_PEER_SEG_OFFSET);
}
DBG_CASE(signal_source, "PutSignal", "src", "outside") {
  uint64_t word = 0;
  bind();
  (void)gexx_RMA_PutSignalBlocking(pair(ep, dbg.ep), 0, dbg.base, &word, 8, GEX_EVENT_NOW,
                                   (uint64_t *)(void *)(dbg.base + 64), GEXX_SIG_SET, 1, 0);
}
DBG_CASE(signal_device, "PutSignal", "sig_addr", "host segment") {
  bind();
  (void)gexx_RMA_PutSignalBlocking(pair(dbg.ep, ep), 0, device, dbg.base, 8, GEX_EVENT_NOW,
                                   (uint64_t *)(void *)(device + 8), GEXX_SIG_SET, 1, 0);
}
DBG_CASE(atomic_device, "gex_AD_OpNBI_U64", "device memory") {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AD_t ad = GEX_AD_INVALID;
  gex_EP_Location_t member = {0, 0};
  bind();
  member.gex_ep_index = gex_EP_QueryIndex(ep);
  (void)gex_TM_Create(&tm, 1, dbg.tm, &member, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_INC, 0);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, device, GEX_OP_INC, 0, 0, 0);
}
DBG_CASE(legal, NULL) {
  bind();
  (void)gex_RMA_PutBlockingVal(pair(ep, ep), dbg.rank, device + 4088, 5, 8, 0);
  (void)gex_RMA_GetBlocking(pair(ep, dbg.ep), device, dbg.rank, dbg.base, 4096, 0);
}

DBG_CASE_AS(legal_far, legal, 2, DBG_UNMAPPED, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, setup);
}
