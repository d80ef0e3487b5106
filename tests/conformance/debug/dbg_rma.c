/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of put and get in debug clients (API 03, items Dbg): rank, range, lc_opt, flags, value
 * size, team handle, use before init or before a segment is attached.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];
static const gex_Rank_t none = 99; /* no such rank */

/* Each call on (tm, rank, remote, nbytes, flags); index by name below. */
static void call_one(int which, gex_TM_t tm, gex_Rank_t rank, void *remote, size_t nbytes,
                     gex_Flags_t flags) {
  gex_Event_t event = GEX_EVENT_INVALID;
  switch (which) {
  case 0: (void)gex_RMA_PutBlocking(tm, rank, remote, buf, nbytes, flags); break;
  case 1: (void)gex_RMA_PutNBI(tm, rank, remote, buf, nbytes, GEX_EVENT_NOW, flags); break;
  case 2: event = gex_RMA_PutNB(tm, rank, remote, buf, nbytes, GEX_EVENT_NOW, flags); break;
  case 3: (void)gex_RMA_GetBlocking(tm, buf, rank, remote, nbytes, flags); break;
  case 4: (void)gex_RMA_GetNBI(tm, buf, rank, remote, nbytes, flags); break;
  case 5: event = gex_RMA_GetNB(tm, buf, rank, remote, nbytes, flags); break;
  case 6: (void)gex_RMA_GetBlockingVal(tm, rank, remote, nbytes, flags); break;
  case 7: (void)gex_RMA_PutBlockingVal(tm, rank, remote, 1, nbytes, flags); break;
  case 8: (void)gex_RMA_PutNBIVal(tm, rank, remote, 1, nbytes, flags); break;
  default: event = gex_RMA_PutNBVal(tm, rank, remote, 1, nbytes, flags); break;
  }
  gex_Event_Wait(event);
}

/* One misuse of all ten calls. */
/* clang-format off */
#define ALL_CALLS(X, kind) \
 X(0, kind, "gex_RMA_PutBlocking") \
 X(1, kind, "gex_RMA_PutNBI") \
 X(2, kind, "gex_RMA_PutNB") \
 X(3, kind, "gex_RMA_GetBlocking") \
 X(4, kind, "gex_RMA_GetNBI") \
 X(5, kind, "gex_RMA_GetNB") \
 X(6, kind, "gex_RMA_GetBlockingVal") \
 X(7, kind, "gex_RMA_PutBlockingVal") \
 X(8, kind, "gex_RMA_PutNBIVal") \
 X(9, kind, "gex_RMA_PutNBVal")
/* clang-format on */

static void rank_misuse(int which) {
  call_one(which, dbg.tm, none, dbg.base, 4, 0);
}
static void below_misuse(int which) {
  call_one(which, dbg.tm, 0, dbg.base - 1, 3, 0);
}
static void end_misuse(int which) {
  call_one(which, dbg.tm, 0, dbg.base + DBG_SEG_BYTES - 3, 4, 0);
}
static void beyond_misuse(int which) {
  call_one(which, dbg.tm, 0, dbg.base + 10 * DBG_SEG_BYTES, 1, 0);
}
static void flags_misuse(int which) {
  call_one(which, dbg.tm, 0, dbg.base, 4, 1u << 30);
}
static void team_misuse(int which) {
  call_one(which, GEX_TM_INVALID, 0, dbg.base, 4, 0);
}
static void legal_misuse(int which) {
  call_one(which, dbg.tm, 0, dbg.base + DBG_SEG_BYTES - 4, 4, 0);
  call_one(which, dbg.tm, 0, dbg.base, 1, 0);
}

#define DEFINE(n, kind, call)   \
 static void kind##_##n(void) { \
  kind##_misuse(n);             \
 }
ALL_CALLS(DEFINE, rank)
ALL_CALLS(DEFINE, below)
ALL_CALLS(DEFINE, end)
ALL_CALLS(DEFINE, beyond)
ALL_CALLS(DEFINE, flags)
ALL_CALLS(DEFINE, team)
ALL_CALLS(DEFINE, legal)

DBG_CASE(lc_null_nb, "gex_RMA_PutNB", "lc_opt", "NULL") {
  gex_Event_Wait(gex_RMA_PutNB(dbg.tm, 0, dbg.base, buf, 4, NULL, 0));
}
DBG_CASE(lc_group_nb, "gex_RMA_PutNB", "lc_opt", "GEX_EVENT_GROUP") {
  gex_Event_Wait(gex_RMA_PutNB(dbg.tm, 0, dbg.base, buf, 4, GEX_EVENT_GROUP, 0));
}
DBG_CASE(lc_null_nbi, "gex_RMA_PutNBI", "lc_opt", "NULL") {
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 4, NULL, 0);
}
DBG_CASE(lc_event_nbi, "gex_RMA_PutNBI", "lc_opt", "address 0x") {
  gex_Event_t lc;
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 4, &lc, 0);
}
DBG_CASE(value_get_9, "gex_RMA_GetBlockingVal", "nbytes", "9") {
  (void)gex_RMA_GetBlockingVal(dbg.tm, 0, dbg.base, 9, 0);
}
DBG_CASE(value_put_9, "gex_RMA_PutBlockingVal", "nbytes", "9") {
  gex_RMA_PutBlockingVal(dbg.tm, 0, dbg.base, 1, 9, 0);
}
DBG_CASE(value_nbi_9, "gex_RMA_PutNBIVal", "nbytes", "9") {
  gex_RMA_PutNBIVal(dbg.tm, 0, dbg.base, 1, 9, 0);
}
DBG_CASE(value_nb_9, "gex_RMA_PutNBVal", "nbytes", "9") {
  gex_Event_Wait(gex_RMA_PutNBVal(dbg.tm, 0, dbg.base, 1, 9, 0));
}
DBG_CASE(src_null, "gex_RMA_PutBlocking", "src", "NULL") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, NULL, 4, 0);
}
DBG_CASE(dest_null, "gex_RMA_GetBlocking", "dest", "NULL") {
  gex_RMA_GetBlocking(dbg.tm, NULL, 0, dbg.base, 4, 0);
}
DBG_CASE(never_self, "gex_RMA_PutBlocking", "flags", "0x1000000") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, buf, 4, GEX_FLAG_PEER_NEVER_SELF);
}
DBG_CASE_WITH(never_nbrhd, 2, NULL, "gex_RMA_PutBlocking", "flags", "neighbourhood") {
  gex_RMA_PutBlocking(dbg.tm, 1, dbg.base, buf, 4, GEX_FLAG_PEER_NEVER_NBRHD);
}
DBG_CASE(two_self_seg, DBG_WARNS, "gex_RMA_PutBlocking", "flags", "SELF_SEG") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, buf, 4,
                      GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_BOUND);
}
DBG_CASE(two_peer_seg, DBG_WARNS, "gex_RMA_PutBlocking", "flags", "PEER_SEG") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, buf, 4,
                      GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND);
}
DBG_CASE(two_lc_copy, DBG_WARNS, "gex_RMA_PutNB", "flags", "LC_COPY") {
  gex_Event_Wait(gex_RMA_PutNB(dbg.tm, 0, dbg.base, buf, 4, GEX_EVENT_DEFER,
                               GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO));
}
DBG_CASE(peer_offset, "gex_RMA_PutBlocking", "offset", "16384") {
  gex_RMA_PutBlocking(dbg.tm, 0, (void *)(uintptr_t)DBG_SEG_BYTES, buf, 1,
                      GEX_FLAG_PEER_SEG_OFFSET);
}
DBG_CASE(self_offset, "gex_RMA_PutBlocking", "src", "offset", "16381") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, (void *)(uintptr_t)(DBG_SEG_BYTES - 3), 4,
                      GEX_FLAG_SELF_SEG_OFFSET);
}
DBG_CASE(self_bound, DBG_WARNS, "gex_RMA_PutBlocking", "src", "SELF_SEG_BOUND") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, buf, 4, GEX_FLAG_SELF_SEG_BOUND);
}
DBG_CASE(pair_rank, "gex_RMA_PutBlocking", "rank", "99") {
  gex_RMA_PutBlocking(gex_TM_Pair(dbg.ep, 0), none, dbg.base, buf, 4, 0);
}
DBG_CASE(stale_team, "gex_RMA_PutBlocking", "tm", "0x") {
  static uint64_t garbage[32];
  gex_RMA_PutBlocking((gex_TM_t)(void *)garbage, 0, dbg.base, buf, 4, 0);
}
DBG_CASE(overlap, "gex_RMA_PutBlocking", "source", "destination", "overlap") {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base + 2, dbg.base, 4, 0);
}

#define ROW(n, kind, call, ...) \
 DBG_CASE_NAMED(#kind "/" call, kind##_##n, kind##_##n, 1, NULL, __VA_ARGS__)
#define RANK(n, kind, call)   ROW(n, kind, call, call, "rank", "99")
#define BELOW(n, kind, call)  ROW(n, kind, call, call, "outside", "segment of rank 0")
#define END(n, kind, call)    ROW(n, kind, call, call, "4 bytes", "outside")
#define BEYOND(n, kind, call) ROW(n, kind, call, call, "1 bytes", "outside")
#define FLAGS(n, kind, call)  ROW(n, kind, call, DBG_WARNS, call, "flags", "0x40000000")
#define TEAM(n, kind, call)   ROW(n, kind, call, call, "tm", "GEX_TM_INVALID")
#define LEGAL(n, kind, call)  ROW(n, kind, call, NULL)
ALL_CALLS(RANK, rank)
ALL_CALLS(BELOW, below)
ALL_CALLS(END, end)
ALL_CALLS(BEYOND, beyond)
ALL_CALLS(FLAGS, flags)
ALL_CALLS(TEAM, team)
ALL_CALLS(LEGAL, legal)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
