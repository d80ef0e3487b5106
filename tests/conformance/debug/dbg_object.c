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
static void attach_second(void) {
  if (gex_Segment_Attach(&segment, dbg.tm, GASNET_PAGESIZE)) _exit(6);
  attach_refused(GASNET_PAGESIZE);
}
static void attach_zero(void) {
  attach_refused(0);
}
static void attach_odd(void) {
  attach_refused(GASNET_PAGESIZE + 8);
}
static void attach_huge(void) {
  attach_refused(gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE);
}
static void attach_null(void) {
  (void)gex_Segment_Attach(NULL, dbg.tm, GASNET_PAGESIZE);
}
static void attach_pair(void) {
  (void)gex_Segment_Attach(&segment, gex_TM_Pair(dbg.ep, 0), GASNET_PAGESIZE);
}
static void attach_no_team(void) {
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
static void no_category(void) {
  register_one(0, GEX_FLAG_AM_REQUEST, 0);
}
static void two_categories(void) {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0);
}
static void no_direction(void) {
  register_one(0, GEX_FLAG_AM_SHORT, 0);
}
static void many_args(void) {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 17);
}
static void entry_flags(void) {
  register_one(0, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP | 1u << 20, 0);
}
static void null_handler(void) {
  gex_AM_Entry_t entry = {0, NULL, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, NULL};
  (void)gex_EP_RegisterHandlers(dbg.ep, &entry, 1);
}
static void register_no_ep(void) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, NULL};
  (void)gex_EP_RegisterHandlers(GEX_EP_INVALID, &entry, 1);
}

/* ---- handles */
static void client_invalid(void) {
  (void)gex_Client_QueryName(GEX_CLIENT_INVALID);
}
static void client_junk(void) {
  (void)gex_Client_QueryFlags((gex_Client_t)(void *)junk);
}
static void client_cdata(void) {
  gex_Client_SetCData(GEX_CLIENT_INVALID, junk);
}
static void ep_invalid(void) {
  (void)gex_EP_QuerySegment(GEX_EP_INVALID);
}
static void ep_junk(void) {
  (void)gex_EP_QueryIndex((gex_EP_t)(void *)junk);
}
static void ep_cdata(void) {
  (void)gex_EP_QueryCData((gex_EP_t)(void *)junk);
}
static void segment_invalid(void) {
  (void)gex_Segment_QueryAddr(GEX_SEGMENT_INVALID);
}
static void segment_junk(void) {
  (void)gex_Segment_QuerySize((gex_Segment_t)(void *)junk);
}
static void segment_cdata(void) {
  gex_Segment_SetCData(GEX_SEGMENT_INVALID, junk);
}
static void tm_invalid(void) {
  (void)gex_TM_QueryRank(GEX_TM_INVALID);
}
static void tm_junk(void) {
  (void)gex_TM_QuerySize((gex_TM_t)(void *)junk);
}
static void pair_ep_junk(void) {
  (void)gex_TM_Pair((gex_EP_t)(void *)junk, 0);
}
static void pair_index(void) {
  (void)gex_TM_Pair(dbg.ep, GASNET_MAXEPS);
}

/* ---- TM-pairs where a team is needed */
static gex_TM_t pair(void) {
  return gex_TM_Pair(dbg.ep, 0);
}
static void pair_client(void) {
  (void)gex_TM_QueryClient(pair());
}
static void pair_ep(void) {
  (void)gex_TM_QueryEP(pair());
}
static void pair_flags(void) {
  (void)gex_TM_QueryFlags(pair());
}
static void pair_rank(void) {
  (void)gex_TM_QueryRank(pair());
}
static void pair_size(void) {
  (void)gex_TM_QuerySize(pair());
}
static void pair_to_jobrank(void) {
  (void)gex_TM_TranslateRankToJobrank(pair(), 0);
}
static void pair_from_jobrank(void) {
  (void)gex_TM_TranslateJobrankToRank(pair(), 0);
}
static void pair_to_ep(void) {
  (void)gex_TM_TranslateRankToEP(pair(), 0, 0);
}
static void pair_cdata(void) {
  gex_TM_SetCData(pair(), junk);
}
static void pair_query_cdata(void) {
  (void)gex_TM_QueryCData(pair());
}
static void pair_barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(pair(), 0));
}

/* ---- ranks, flags, values */
static void to_jobrank(void) {
  (void)gex_TM_TranslateRankToJobrank(dbg.tm, 77);
}
static void from_jobrank(void) {
  (void)gex_TM_TranslateJobrankToRank(dbg.tm, 77);
}
static void to_ep(void) {
  (void)gex_TM_TranslateRankToEP(dbg.tm, 77, 0);
}
static void to_ep_flags(void) {
  (void)gex_TM_TranslateRankToEP(dbg.tm, 0, 16);
}
static void bound_rank(void) {
  (void)gex_Segment_QueryBound(dbg.tm, 77, NULL, NULL, NULL);
}
static void bound_nb_rank(void) {
  (void)!gex_EP_QueryBoundSegmentNB(dbg.tm, GEX_RANK_INVALID, NULL, NULL, NULL, 0);
}
static void bound_nb_flags(void) {
  (void)!gex_EP_QueryBoundSegmentNB(dbg.tm, 0, NULL, NULL, NULL, 1u << 20);
}
static void verbose_2(void) {
  gex_System_SetVerboseErrors(2);
}

static void legal(void) {
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

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(attach_second, DBG_REFUSED, "gex_Segment_Attach", "second"),
    ROW(attach_zero, DBG_REFUSED, "gex_Segment_Attach", "size", "0"),
    ROW(attach_odd, DBG_REFUSED, "gex_Segment_Attach", "size", "4104"),
    ROW(attach_huge, DBG_REFUSED, "gex_Segment_Attach", "size", "limit"),
    ROW(attach_null, "gex_Segment_Attach", "segment_p", "NULL"),
    ROW(attach_pair, "gex_Segment_Attach", "tm", "TM-pair"),
    ROW(attach_no_team, "gex_Segment_Attach", "tm", "GEX_TM_INVALID"),
    ROW(no_category, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x8"),
    ROW(two_categories, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0xd"),
    ROW(no_direction, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x1"),
    ROW(many_args, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_nargs", "17"),
    ROW(entry_flags, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_flags", "0x100019"),
    ROW(null_handler, DBG_WARNS, "gex_EP_RegisterHandlers", "gex_fnptr", "NULL"),
    ROW(register_no_ep, "gex_EP_RegisterHandlers", "ep", "GEX_EP_INVALID"),
    ROW(client_invalid, "gex_Client_QueryName", "client", "GEX_CLIENT_INVALID"),
    ROW(client_junk, "gex_Client_QueryFlags", "client", "0x"),
    ROW(client_cdata, "gex_Client_SetCData", "client", "GEX_CLIENT_INVALID"),
    ROW(ep_invalid, "gex_EP_QuerySegment", "ep", "GEX_EP_INVALID"),
    ROW(ep_junk, "gex_EP_QueryIndex", "ep", "0x"),
    ROW(ep_cdata, "gex_EP_QueryCData", "ep", "0x"),
    ROW(segment_invalid, "gex_Segment_QueryAddr", "segment", "GEX_SEGMENT_INVALID"),
    ROW(segment_junk, "gex_Segment_QuerySize", "segment", "0x"),
    ROW(segment_cdata, "gex_Segment_SetCData", "segment", "GEX_SEGMENT_INVALID"),
    ROW(tm_invalid, "gex_TM_QueryRank", "tm", "GEX_TM_INVALID"),
    ROW(tm_junk, "gex_TM_QuerySize", "tm", "0x"),
    ROW(pair_ep_junk, "gex_TM_Pair", "ep", "0x"),
    ROW(pair_index, "gex_TM_Pair", "remote_ep_index", "33"),
    ROW(pair_client, "gex_TM_QueryClient", "TM-pair"),
    ROW(pair_ep, "gex_TM_QueryEP", "TM-pair"),
    ROW(pair_flags, "gex_TM_QueryFlags", "TM-pair"),
    ROW(pair_rank, "gex_TM_QueryRank", "TM-pair"),
    ROW(pair_size, "gex_TM_QuerySize", "TM-pair"),
    ROW(pair_to_jobrank, "gex_TM_TranslateRankToJobrank", "TM-pair"),
    ROW(pair_from_jobrank, "gex_TM_TranslateJobrankToRank", "TM-pair"),
    ROW(pair_to_ep, "gex_TM_TranslateRankToEP", "TM-pair"),
    ROW(pair_cdata, "gex_TM_SetCData", "TM-pair"),
    ROW(pair_query_cdata, "gex_TM_QueryCData", "TM-pair"),
    ROW(pair_barrier, "gex_Coll_BarrierNB", "TM-pair"),
    ROW(to_jobrank, "gex_TM_TranslateRankToJobrank", "rank", "77"),
    ROW(from_jobrank, "gex_TM_TranslateJobrankToRank", "jobrank", "77"),
    ROW(to_ep, "gex_TM_TranslateRankToEP", "rank", "77"),
    ROW(to_ep_flags, DBG_WARNS, "gex_TM_TranslateRankToEP", "flags", "0x10"),
    ROW(bound_rank, "gex_Segment_QueryBound", "rank", "77"),
    ROW(bound_nb_rank, "gex_EP_QueryBoundSegmentNB", "rank", "4294967295"),
    ROW(bound_nb_flags, DBG_WARNS, "gex_EP_QueryBoundSegmentNB", "flags", "0x100000"),
    ROW(verbose_2, DBG_WARNS, "gex_System_SetVerboseErrors", "enable", "2"),
    ROW(legal, NULL),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_no_segment, cases, sizeof cases / sizeof *cases);
}
