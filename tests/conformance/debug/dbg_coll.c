/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* debug: yes */
/*
 * Misuse of collectives in debug clients (API 06, items Dbg): root, TM-pair, flags, buffers, types,
 * operators, context, legacy flags, persistent handles; and calls that are legal.
 */
#include "dbg_case.h"

#include <gasnet_coll.h>
#include <tombolo/ext/ext_coll.h>

static uint64_t in[4], out[4];

static void broadcast(gex_TM_t tm, gex_Rank_t root, void *dst, void *src, gex_Flags_t flags) {
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, dst, src, 8, flags));
}

static void reduce(gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(dbg.tm, out, in, dt, dt_sz, dt_cnt, op, NULL, NULL, 0));
}

DBG_CASE(bad_root, "gex_Coll_BroadcastNB", "root", "7") {
  broadcast(dbg.tm, 7, out, in, 0);
}
DBG_CASE(pair, "gex_Coll_BroadcastNB", "tm", "TM-pair") {
  broadcast(gex_TM_Pair(dbg.ep, 0), 0, out, in, 0);
}
DBG_CASE(no_team, "gex_Coll_BroadcastNB", "tm", "GEX_TM_INVALID") {
  broadcast(GEX_TM_INVALID, 0, out, in, 0);
}
DBG_CASE(bad_flags, DBG_WARNS, "gex_Coll_BroadcastNB", "flags", "0x200") {
  broadcast(dbg.tm, 0, out, in, 1u << 9);
}
DBG_CASE(no_dst, "gex_Coll_BroadcastNB", "dst", "NULL", "8") {
  broadcast(dbg.tm, 0, NULL, in, 0);
}
DBG_CASE(no_src, "gex_Coll_BroadcastNB", "src", "NULL", "8") {
  broadcast(dbg.tm, 0, out, NULL, 0);
}
DBG_CASE(bad_type, "gex_Coll_ReduceToAllNB", "dt", "0x100000") {
  reduce(1u << 20, 8, 1, GEX_OP_ADD);
}
DBG_CASE(bad_size, DBG_WARNS, "gex_Coll_ReduceToAllNB", "dt_sz", "4", "8") {
  reduce(GEX_DT_U64, 4, 1, GEX_OP_ADD);
}
DBG_CASE(no_count, DBG_WARNS, "gex_Coll_ReduceToAllNB", "dt_cnt", "0") {
  reduce(GEX_DT_U64, 8, 0, GEX_OP_ADD);
}
DBG_CASE(bad_op, "gex_Coll_ReduceToAllNB", "op", "0x10") {
  reduce(GEX_DT_U64, 8, 1, GEX_OP_SUB);
}
DBG_CASE(fetch_op, "gex_Coll_ReduceToAllNB", "op", "0x80000") {
  reduce(GEX_DT_U64, 8, 1, GEX_OP_FADD);
}
DBG_CASE(float_and, "gex_Coll_ReduceToAllNB", "op", "integers") {
  reduce(GEX_DT_DBL, 8, 1, GEX_OP_AND);
}
DBG_CASE(user_add, "gex_Coll_ReduceToAllNB", "op", "GEX_DT_USER") {
  reduce(GEX_DT_USER, 8, 1, GEX_OP_ADD);
}
DBG_CASE(no_function, "gex_Coll_ReduceToAllNB", "user_op", "NULL") {
  reduce(GEX_DT_USER, 8, 1, GEX_OP_USER);
}

static void in_handler_body(gex_Token_t token) {
  (void)token;
  broadcast(dbg.tm, 0, out, in, 0);
}
DBG_CASE(in_handler, "gex_Coll_BroadcastNB", "request handler") {
  dbg_in_request(in_handler_body);
}

DBG_CASE(legacy_no_in, DBG_WARNS, "gasnet_coll_broadcast", "flags", "0x10") {
  gasnet_coll_broadcast(GASNET_TEAM_ALL, out, 0, in, 8, GASNET_COLL_OUT_MYSYNC);
}
DBG_CASE(legacy_two_out, DBG_WARNS, "gasnet_coll_exchange", "flags", "0x32") {
  gasnet_coll_exchange(GASNET_TEAM_ALL, out, in, 8,
                       GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_OUT_ALLSYNC);
}
DBG_CASE(legacy_root, "gasnet_coll_gather", "root", "3") {
  gasnet_coll_gather(GASNET_TEAM_ALL, 3, out, in, 8,
                     GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
}

DBG_CASE(no_lists, "gexx_Coll_AllGatherVNB", "dst_bytes", "NULL") {
  gex_Event_Wait(gexx_Coll_AllGatherVNB(dbg.tm, out, NULL, NULL, in, 0));
}
DBG_CASE(wrong_block, "gexx_Coll_GatherVNB", "nbytes", "8", "16") {
  const size_t bytes[1] = {16}, displs[1] = {0};
  gex_Event_Wait(gexx_Coll_GatherVNB(dbg.tm, 0, out, bytes, displs, in, 8, 0));
}
DBG_CASE(not_a_plan, "gexx_Coll_StartNB", "plan") {
  gex_Event_Wait(gexx_Coll_StartNB((gexx_Coll_Plan_t)(void *)in, 0));
}
DBG_CASE(synced_twice, "gex_Event_Wait", "event", "synchronised before") {
  const gex_Event_t ev = gex_Coll_BroadcastNB(dbg.tm, 0, out, in, 8, 0);
  gex_Event_Wait(ev);
  gex_Event_Wait(ev);
}
/* Two ranks that differ in nbytes. */
DBG_CASE_WITH(lengths_differ, 2, NULL, "broadcast", "rank 0", "64", "32", "same") {
  static char big[2][64];
  gex_Event_Wait(gex_Coll_BroadcastNB(dbg.tm, 0, big[0], big[1], dbg.rank == 0 ? 64 : 32, 0));
  for (;;) gasnet_AMPoll();
}
DBG_CASE(legal, NULL) {
  broadcast(dbg.tm, 0, out, in, 0);
  broadcast(dbg.tm, 0, out, out, 0);
  gex_Event_Wait(gex_Coll_BroadcastNB(dbg.tm, 0, NULL, NULL, 0, 0));
  reduce(GEX_DT_DBL, 8, 4, GEX_OP_MAX);
  gasnet_coll_gather(GASNET_TEAM_ALL, 0, out, in, 8,
                     GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL);
}

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
