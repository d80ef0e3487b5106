/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of team creation and destruction in debug clients (API 01.7, items Dbg): flags, colours,
 * scratch memory, lists, stale handles, TM-pairs.
 */
/* ranks: 1 */
/* debug: yes */
/* timeout: 120 */
#include "dbg_case.h"

static gex_TM_t made;
static const gex_Flags_t none = GEX_FLAG_TM_NO_SCRATCH;
static gex_EP_Location_t self[2];
static gex_Addr_t addrs[2];

static void split(int color, void *addr, size_t bytes, gex_Flags_t flags) {
  (void)gex_TM_Split(&made, dbg.tm, color, 0, addr, bytes, flags);
}
static void create(size_t count, size_t handles, size_t bytes, gex_Flags_t flags) {
  addrs[0] = dbg.base;
  self[0].gex_rank = self[1].gex_rank = dbg.rank;
  (void)gex_TM_Create(&made, handles, dbg.tm, self, count, addrs, bytes, flags);
}

DBG_CASE(split_color, DBG_WARNS, "gex_TM_Split", "color", "-3") {
  split(-3, NULL, 0, none);
}
DBG_CASE(split_global, "gex_TM_Split", "GEX_FLAG_TM_GLOBAL_SCRATCH") {
  split(0, dbg.base, 4096, GEX_FLAG_TM_GLOBAL_SCRATCH);
}
DBG_CASE(split_symmetric, "gex_TM_Split", "GEX_FLAG_TM_SYMMETRIC_SCRATCH") {
  split(0, dbg.base, 4096, GEX_FLAG_TM_SYMMETRIC_SCRATCH);
}
DBG_CASE(split_flags, DBG_WARNS, "gex_TM_Split", "flags", "0x100000") {
  split(0, dbg.base, 4096, 1u << 20);
}
DBG_CASE(split_queries, "gex_TM_Split", "RECOMMENDED", "_MIN") {
  split(0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN);
}
DBG_CASE(split_no_bytes, DBG_WARNS, "gex_TM_Split", "scratch_size", "0") {
  split(0, dbg.base, 0, 0);
}
DBG_CASE(split_outside, DBG_WARNS, "gex_TM_Split", "scratch_addr", "4096", "outside") {
  split(0, dbg.base + DBG_SEG_BYTES - 100, 4096, 0);
}
DBG_CASE(split_outside_offset, DBG_WARNS, "gex_TM_Split", "scratch_addr", "4096", "offset") {
  split(0, (void *)(uintptr_t)(DBG_SEG_BYTES - 100), 4096, GEX_FLAG_SCRATCH_SEG_OFFSET);
}
DBG_CASE(split_pair, "gex_TM_Split", "tm", "TM-pair") {
  (void)gex_TM_Split(&made, gex_TM_Pair(dbg.ep, 0), 0, 0, NULL, 0, none);
}
DBG_CASE(split_no_team, "gex_TM_Split", "GEX_TM_INVALID") {
  (void)gex_TM_Split(&made, GEX_TM_INVALID, 0, 0, NULL, 0, none);
}
static void in_handler(gex_Token_t token) {
  (void)token;
  split(0, NULL, 0, none);
}
DBG_CASE(split_in_handler, "gex_TM_Split", "request handler") {
  dbg_in_request(in_handler);
}
/* Members of one new team disagree about scratch memory. */
DBG_CASE_WITH(split_mixed, 2, NULL, DBG_WARNS, "gex_TM_Split", "scratch_size", "4096") {
  split(0, dbg.base, 4096, dbg.rank ? none : 0);
}

DBG_CASE(create_no_mode, "gex_TM_Create", "scratch mode") {
  create(1, 1, 0, 0);
}
DBG_CASE(create_two_modes, "gex_TM_Create", "more than one scratch mode") {
  create(1, 1, 4096, GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH);
}
DBG_CASE(create_no_bytes, DBG_WARNS, "gex_TM_Create", "scratch_size", "0") {
  create(1, 1, 0, GEX_FLAG_TM_LOCAL_SCRATCH);
}
DBG_CASE(create_outside, DBG_WARNS, "gex_TM_Create", "scratch_addr", "outside") {
  create(1, 1, 2 * DBG_SEG_BYTES, GEX_FLAG_TM_LOCAL_SCRATCH);
}
DBG_CASE(create_twice, "gex_TM_Create", "args", "twice") {
  create(2, 2, 0, none);
}
DBG_CASE(create_rank, "gex_TM_Create", "args[0].gex_rank", "88") {
  self[1].gex_rank = 0;
  gex_EP_Location_t list[1] = {{88, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
DBG_CASE(create_endpoint, "gex_TM_Create", "endpoint 3", "does not exist") {
  gex_EP_Location_t list[1] = {{0, 3}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
DBG_CASE(create_handles, "gex_TM_Create", "num_new_tms", "2") {
  create(1, 2, 0, none);
}
DBG_CASE_WITH(create_elsewhere, 2, NULL, "gex_TM_Create", "no endpoint of this process") {
  gex_EP_Location_t list[1] = {{1 - dbg.rank, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
DBG_CASE(create_no_handles, "gex_TM_Create", "new_tms", "NULL") {
  self[0].gex_rank = 0;
  (void)gex_TM_Create(NULL, 1, dbg.tm, self, 1, NULL, 0, none);
}
/* The lists of the members differ. */
DBG_CASE_WITH(create_mixed, 2, NULL, "gex_TM_Create", "differs") {
  gex_EP_Location_t list[2] = {{0, 0}, {1, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, dbg.rank ? 2 : 1, NULL, 0, none);
}

DBG_CASE(dup_no_mode, "gex_TM_Dup", "scratch mode") {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 4096, 0);
}
DBG_CASE(dup_global, "gex_TM_Dup", "GEX_FLAG_TM_GLOBAL_SCRATCH") {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 4096, GEX_FLAG_TM_GLOBAL_SCRATCH);
}
DBG_CASE(dup_short, "gex_TM_Dup", "scratch_len", "8") {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 8, GEX_FLAG_TM_LOCAL_SCRATCH);
}
DBG_CASE(dup_null, "gex_TM_Dup", "new_tm_p", "NULL") {
  (void)gex_TM_Dup(NULL, dbg.tm, dbg.base, 4096, none);
}

DBG_CASE(destroy_primordial, "gex_TM_Destroy", "primordial") {
  (void)gex_TM_Destroy(dbg.tm, NULL, 0);
}
DBG_CASE(destroy_pair, "gex_TM_Destroy", "TM-pair") {
  (void)gex_TM_Destroy(gex_TM_Pair(dbg.ep, 0), NULL, 0);
}
DBG_CASE(destroy_flags, DBG_WARNS, "gex_TM_Destroy", "flags", "0x1") {
  split(0, NULL, 0, none);
  (void)gex_TM_Destroy(made, NULL, GEX_FLAG_IMMEDIATE);
}
DBG_CASE(destroy_twice, "gex_TM_Destroy", "not a team handle") {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  (void)gex_TM_Destroy(stale, NULL, 0);
}
DBG_CASE(stale_query, "gex_TM_QueryRank", "not a team handle") {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  split(0, NULL, 0, none);
  (void)gex_TM_QueryRank(stale);
}
DBG_CASE(stale_put, "gex_RMA_PutBlockingVal", "not a team handle") {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  (void)gex_RMA_PutBlockingVal(stale, 0, dbg.base, 1, 8, 0);
}
/* Rank 1 never calls the barrier, so that it is in flight for sure. */
DBG_CASE_WITH(destroy_busy, 2, NULL, "gex_TM_Destroy", "barriers", "not complete") {
  split(0, NULL, 0, none);
  if (dbg.rank) {
    GASNET_BLOCKUNTIL(0);
  }
  gex_Event_t event = gex_Coll_BarrierNB(made, 0);
  (void)event;
  (void)gex_TM_Destroy(made, NULL, 0);
}

DBG_CASE(legal, NULL) {
  gex_Memvec_t back = {NULL, 0};
  split(0, NULL, 0, none);
  if (gex_TM_Destroy(made, &back, GEX_FLAG_GLOBALLY_QUIESCED)) _exit(7);
  split(0, dbg.base, DBG_SEG_BYTES, 0);
  if (!gex_TM_Destroy(made, &back, 0) || back.gex_addr != (void *)dbg.base) _exit(7);
  create(1, 1, DBG_SEG_BYTES, GEX_FLAG_TM_GLOBAL_SCRATCH);
  if (!gex_TM_Destroy(made, &back, 0) || back.gex_len != DBG_SEG_BYTES) _exit(7);
  (void)gex_TM_Split(NULL, dbg.tm, -1, 0, NULL, 0, 0);
  (void)gex_TM_Create(NULL, 0, dbg.tm, NULL, 0, NULL, 0, 0);
  (void)gex_TM_Split(&made, dbg.tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
}

DBG_CASE_AS(legal_on_2, legal, 2, NULL, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
