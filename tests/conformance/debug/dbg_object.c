/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of objects in debug clients (API 01, items Dbg): segment sizes and a second attach,
 * handler tables, handles of the wrong kind, TM-pairs where teams are needed, ranks, flags.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char junk[256];
static gex_Segment_t segment;

static void attach_refused(uintptr_t size) {
  if (gex_Segment_Attach(&segment, dbg.tm, size) != GASNET_ERR_BAD_ARG) _exit(6);
}
DBG_CASE(attach_second, DBG_REFUSED, "gex_Segment_Attach", "second") {
  if (gex_Segment_Attach(&segment, dbg.tm, GASNET_PAGESIZE)) _exit(6);
  attach_refused(GASNET_PAGESIZE);
}
DBG_CASE(attach_zero, DBG_REFUSED, "gex_Segment_Attach", "size", "0") {
  attach_refused(0);
}
DBG_CASE(attach_odd, DBG_REFUSED, "gex_Segment_Attach", "size", "4104") {
  attach_refused(GASNET_PAGESIZE + 8);
}
DBG_CASE(attach_huge, DBG_REFUSED, "gex_Segment_Attach", "size", "limit") {
  attach_refused(gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE);
}
DBG_CASE(attach_null, "gex_Segment_Attach", "segment_p", "NULL") {
  (void)gex_Segment_Attach(NULL, dbg.tm, GASNET_PAGESIZE);
}
DBG_CASE(attach_pair, "gex_Segment_Attach", "tm", "TM-pair") {
  (void)gex_Segment_Attach(&segment, gex_TM_Pair(dbg.ep, 0), GASNET_PAGESIZE);
}
DBG_CASE(attach_no_team, "gex_Segment_Attach", "tm", "GEX_TM_INVALID") {
  (void)gex_Segment_Attach(&segment, GEX_TM_INVALID, GASNET_PAGESIZE);
}

/* ---- handler tables */
static void handler(gex_Token_t token) {
  (void)token;
}
static void register_one(gex_AM_Index_t index, gex_Flags_t flags, unsigned nargs) {
  gex_AM_Entry_t entry = {index, (gex_AM_Fn_t)handler, flags, nargs, NULL, "one"};
  (void)gex_EP_RegisterHandlers(dbg.ep, &entry, 1);
}
DBG_CASE(no_category, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x8") {
  register_one(0, GEX_FLAG_AM_REQUEST, 0);
}
DBG_CASE(two_categories, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0xd") {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0);
}
DBG_CASE(no_direction, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x1") {
  register_one(0, GEX_FLAG_AM_SHORT, 0);
}
DBG_CASE(many_args, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_nargs", "17") {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 17);
}
DBG_CASE(entry_flags, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x100019") {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP | 1u << 20, 0);
}
DBG_CASE(null_handler, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_fnptr", "NULL") {
  gex_AM_Entry_t entry = {0, NULL, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, NULL};
  (void)gex_EP_RegisterHandlers(dbg.ep, &entry, 1);
}
DBG_CASE(register_no_ep, "gex_EP_RegisterHandlers", "ep", "GEX_EP_INVALID") {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, NULL};
  (void)gex_EP_RegisterHandlers(GEX_EP_INVALID, &entry, 1);
}

/* ---- handles */
DBG_CASE(client_invalid, "gex_Client_QueryName", "client", "GEX_CLIENT_INVALID") {
  (void)gex_Client_QueryName(GEX_CLIENT_INVALID);
}
DBG_CASE(client_junk, "gex_Client_QueryFlags", "client", "0x") {
  (void)gex_Client_QueryFlags((gex_Client_t)(void *)junk);
}
DBG_CASE(client_cdata, "gex_Client_SetCData", "client", "GEX_CLIENT_INVALID") {
  gex_Client_SetCData(GEX_CLIENT_INVALID, junk);
}
DBG_CASE(ep_invalid, "gex_EP_QuerySegment", "ep", "GEX_EP_INVALID") {
  (void)gex_EP_QuerySegment(GEX_EP_INVALID);
}
DBG_CASE(ep_junk, "gex_EP_QueryIndex", "ep", "0x") {
  (void)gex_EP_QueryIndex((gex_EP_t)(void *)junk);
}
DBG_CASE(ep_cdata, "gex_EP_QueryCData", "ep", "0x") {
  (void)gex_EP_QueryCData((gex_EP_t)(void *)junk);
}
DBG_CASE(segment_invalid, "gex_Segment_QueryAddr", "segment", "GEX_SEGMENT_INVALID") {
  (void)gex_Segment_QueryAddr(GEX_SEGMENT_INVALID);
}
DBG_CASE(segment_junk, "gex_Segment_QuerySize", "segment", "0x") {
  (void)gex_Segment_QuerySize((gex_Segment_t)(void *)junk);
}
DBG_CASE(segment_cdata, "gex_Segment_SetCData", "segment", "GEX_SEGMENT_INVALID") {
  gex_Segment_SetCData(GEX_SEGMENT_INVALID, junk);
}
DBG_CASE(tm_invalid, "gex_TM_QueryRank", "tm", "GEX_TM_INVALID") {
  (void)gex_TM_QueryRank(GEX_TM_INVALID);
}
DBG_CASE(tm_junk, "gex_TM_QuerySize", "tm", "0x") {
  (void)gex_TM_QuerySize((gex_TM_t)(void *)junk);
}
DBG_CASE(pair_ep_junk, "gex_TM_Pair", "ep", "0x") {
  (void)gex_TM_Pair((gex_EP_t)(void *)junk, 0);
}
DBG_CASE(pair_index, "gex_TM_Pair", "remote_ep_index", "33") {
  (void)gex_TM_Pair(dbg.ep, GASNET_MAXEPS);
}

/* ---- TM-pairs where a team is needed */
static gex_TM_t pair(void) {
  return gex_TM_Pair(dbg.ep, 0);
}
DBG_CASE(pair_client, "gex_TM_QueryClient", "TM-pair") {
  (void)gex_TM_QueryClient(pair());
}
DBG_CASE(pair_ep, "gex_TM_QueryEP", "TM-pair") {
  (void)gex_TM_QueryEP(pair());
}
DBG_CASE(pair_flags, "gex_TM_QueryFlags", "TM-pair") {
  (void)gex_TM_QueryFlags(pair());
}
DBG_CASE(pair_rank, "gex_TM_QueryRank", "TM-pair") {
  (void)gex_TM_QueryRank(pair());
}
DBG_CASE(pair_size, "gex_TM_QuerySize", "TM-pair") {
  (void)gex_TM_QuerySize(pair());
}
DBG_CASE(pair_to_jobrank, "gex_TM_TranslateRankToJobrank", "TM-pair") {
  (void)gex_TM_TranslateRankToJobrank(pair(), 0);
}
DBG_CASE(pair_from_jobrank, "gex_TM_TranslateJobrankToRank", "TM-pair") {
  (void)gex_TM_TranslateJobrankToRank(pair(), 0);
}
DBG_CASE(pair_to_ep, "gex_TM_TranslateRankToEP", "TM-pair") {
  (void)gex_TM_TranslateRankToEP(pair(), 0, 0);
}
DBG_CASE(pair_cdata, "gex_TM_SetCData", "TM-pair") {
  gex_TM_SetCData(pair(), junk);
}
DBG_CASE(pair_query_cdata, "gex_TM_QueryCData", "TM-pair") {
  (void)gex_TM_QueryCData(pair());
}
DBG_CASE(pair_barrier, "gex_Coll_BarrierNB", "TM-pair") {
  gex_Event_Wait(gex_Coll_BarrierNB(pair(), 0));
}

/* ---- ranks, flags, values */
DBG_CASE(to_jobrank, "gex_TM_TranslateRankToJobrank", "rank", "77") {
  (void)gex_TM_TranslateRankToJobrank(dbg.tm, 77);
}
DBG_CASE(from_jobrank, "gex_TM_TranslateJobrankToRank", "jobrank", "77") {
  (void)gex_TM_TranslateJobrankToRank(dbg.tm, 77);
}
DBG_CASE(to_ep, "gex_TM_TranslateRankToEP", "rank", "77") {
  (void)gex_TM_TranslateRankToEP(dbg.tm, 77, 0);
}
DBG_CASE(to_ep_flags, DBG_WARNS, "gex_TM_TranslateRankToEP", "flags", "0x10") {
  (void)gex_TM_TranslateRankToEP(dbg.tm, 0, 16);
}
DBG_CASE(bound_rank, "gex_Segment_QueryBound", "rank", "77") {
  (void)gex_Segment_QueryBound(dbg.tm, 77, NULL, NULL, NULL);
}
DBG_CASE(bound_nb_rank, "gex_EP_QueryBoundSegmentNB", "rank", "4294967295") {
  (void)!gex_EP_QueryBoundSegmentNB(dbg.tm, GEX_RANK_INVALID, NULL, NULL, NULL, 0);
}
DBG_CASE(bound_nb_flags, DBG_WARNS, "gex_EP_QueryBoundSegmentNB", "flags", "0x100000") {
  (void)!gex_EP_QueryBoundSegmentNB(dbg.tm, 0, NULL, NULL, NULL, 1u << 20);
}
DBG_CASE(verbose_2, DBG_WARNS, "gex_System_SetVerboseErrors", "enable", "2") {
  gex_System_SetVerboseErrors(2);
}

DBG_CASE(legal, NULL) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)handler, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, 16, NULL, NULL};
  if (gex_EP_RegisterHandlers(dbg.ep, &entry, 1) || gex_EP_RegisterHandlers(dbg.ep, NULL, 0))
    _exit(7);
  entry.gex_index = 3;
  if (gex_EP_RegisterHandlers(dbg.ep, &entry, 1) != GASNET_ERR_BAD_ARG) _exit(7);
  if (gex_Segment_Attach(&segment, dbg.tm, GASNET_PAGESIZE)) _exit(7);
  if (gex_Segment_QueryBound(pair(), 0, NULL, NULL, NULL)) _exit(7);
  if (pair() != gex_TM_Pair(dbg.ep, 0) || pair() == dbg.tm) _exit(7);
  gex_System_SetVerboseErrors(0);
}

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_no_segment);
}
