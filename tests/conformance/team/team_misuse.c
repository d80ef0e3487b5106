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

static void split_color(void) {
  split(-3, NULL, 0, none);
}
static void split_global(void) {
  split(0, dbg.base, 4096, GEX_FLAG_TM_GLOBAL_SCRATCH);
}
static void split_symmetric(void) {
  split(0, dbg.base, 4096, GEX_FLAG_TM_SYMMETRIC_SCRATCH);
}
static void split_flags(void) {
  split(0, dbg.base, 4096, 1u << 20);
}
static void split_queries(void) {
  split(0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN);
}
static void split_no_bytes(void) {
  split(0, dbg.base, 0, 0);
}
static void split_outside(void) {
  split(0, dbg.base + DBG_SEG_BYTES - 100, 4096, 0);
}
static void split_outside_offset(void) {
  split(0, (void *)(uintptr_t)(DBG_SEG_BYTES - 100), 4096, GEX_FLAG_SCRATCH_SEG_OFFSET);
}
static void split_pair(void) {
  (void)gex_TM_Split(&made, gex_TM_Pair(dbg.ep, 0), 0, 0, NULL, 0, none);
}
static void split_no_team(void) {
  (void)gex_TM_Split(&made, GEX_TM_INVALID, 0, 0, NULL, 0, none);
}
static void in_handler(gex_Token_t token) {
  (void)token;
  split(0, NULL, 0, none);
}
static void split_in_handler(void) {
  dbg_in_request(in_handler);
}
/* Members of one new team disagree about scratch memory. */
static void split_mixed(void) {
  split(0, dbg.base, 4096, dbg.rank ? none : 0);
}

static void create_no_mode(void) {
  create(1, 1, 0, 0);
}
static void create_two_modes(void) {
  create(1, 1, 4096, GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH);
}
static void create_no_bytes(void) {
  create(1, 1, 0, GEX_FLAG_TM_LOCAL_SCRATCH);
}
static void create_outside(void) {
  create(1, 1, 2 * DBG_SEG_BYTES, GEX_FLAG_TM_LOCAL_SCRATCH);
}
static void create_twice(void) {
  create(2, 2, 0, none);
}
static void create_rank(void) {
  self[1].gex_rank = 0;
  gex_EP_Location_t list[1] = {{88, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
static void create_endpoint(void) {
  gex_EP_Location_t list[1] = {{0, 3}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
static void create_handles(void) {
  create(1, 2, 0, none);
}
static void create_elsewhere(void) {
  gex_EP_Location_t list[1] = {{1 - dbg.rank, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, 1, NULL, 0, none);
}
static void create_no_handles(void) {
  self[0].gex_rank = 0;
  (void)gex_TM_Create(NULL, 1, dbg.tm, self, 1, NULL, 0, none);
}
/* The lists of the members differ. */
static void create_mixed(void) {
  gex_EP_Location_t list[2] = {{0, 0}, {1, 0}};
  (void)gex_TM_Create(&made, 1, dbg.tm, list, dbg.rank ? 2 : 1, NULL, 0, none);
}

static void dup_no_mode(void) {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 4096, 0);
}
static void dup_global(void) {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 4096, GEX_FLAG_TM_GLOBAL_SCRATCH);
}
static void dup_short(void) {
  (void)gex_TM_Dup(&made, dbg.tm, dbg.base, 8, GEX_FLAG_TM_LOCAL_SCRATCH);
}
static void dup_null(void) {
  (void)gex_TM_Dup(NULL, dbg.tm, dbg.base, 4096, none);
}

static void destroy_primordial(void) {
  (void)gex_TM_Destroy(dbg.tm, NULL, 0);
}
static void destroy_pair(void) {
  (void)gex_TM_Destroy(gex_TM_Pair(dbg.ep, 0), NULL, 0);
}
static void destroy_flags(void) {
  split(0, NULL, 0, none);
  (void)gex_TM_Destroy(made, NULL, GEX_FLAG_IMMEDIATE);
}
static void destroy_twice(void) {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  (void)gex_TM_Destroy(stale, NULL, 0);
}
static void stale_query(void) {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  split(0, NULL, 0, none);
  (void)gex_TM_QueryRank(stale);
}
static void stale_put(void) {
  split(0, NULL, 0, none);
  const gex_TM_t stale = made;
  (void)gex_TM_Destroy(stale, NULL, 0);
  (void)gex_RMA_PutBlockingVal(stale, 0, dbg.base, 1, 8, 0);
}
/* Rank 1 never calls the barrier, so that it is in flight for sure. */
static void destroy_busy(void) {
  split(0, NULL, 0, none);
  if (dbg.rank) {
    GASNET_BLOCKUNTIL(0);
  }
  gex_Event_t event = gex_Coll_BarrierNB(made, 0);
  (void)event;
  (void)gex_TM_Destroy(made, NULL, 0);
}

static void legal(void) {
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

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }
#define ROW2(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 2, NULL }

static const struct dbg_case cases[] = {
    ROW(split_color, DBG_WARNS, "gex_TM_Split", "color", "-3"),
    ROW(split_global, "gex_TM_Split", "GEX_FLAG_TM_GLOBAL_SCRATCH"),
    ROW(split_symmetric, "gex_TM_Split", "GEX_FLAG_TM_SYMMETRIC_SCRATCH"),
    ROW(split_flags, DBG_WARNS, "gex_TM_Split", "flags", "0x100000"),
    ROW(split_queries, "gex_TM_Split", "RECOMMENDED", "_MIN"),
    ROW(split_no_bytes, DBG_WARNS, "gex_TM_Split", "scratch_size", "0"),
    ROW(split_outside, DBG_WARNS, "gex_TM_Split", "scratch_addr", "4096", "outside"),
    ROW(split_outside_offset, DBG_WARNS, "gex_TM_Split", "scratch_addr", "4096", "offset"),
    ROW(split_pair, "gex_TM_Split", "tm", "TM-pair"),
    ROW(split_no_team, "gex_TM_Split", "GEX_TM_INVALID"),
    ROW(split_in_handler, "gex_TM_Split", "request handler"),
    ROW2(split_mixed, DBG_WARNS, "gex_TM_Split", "scratch_size", "4096"),
    ROW(create_no_mode, "gex_TM_Create", "scratch mode"),
    ROW(create_two_modes, "gex_TM_Create", "more than one scratch mode"),
    ROW(create_no_bytes, DBG_WARNS, "gex_TM_Create", "scratch_size", "0"),
    ROW(create_outside, DBG_WARNS, "gex_TM_Create", "scratch_addr", "outside"),
    ROW(create_twice, "gex_TM_Create", "args", "twice"),
    ROW(create_rank, "gex_TM_Create", "args[0].gex_rank", "88"),
    ROW(create_endpoint, "gex_TM_Create", "endpoint 3", "does not exist"),
    ROW(create_handles, "gex_TM_Create", "num_new_tms", "2"),
    ROW2(create_elsewhere, "gex_TM_Create", "no endpoint of this process"),
    ROW(create_no_handles, "gex_TM_Create", "new_tms", "NULL"),
    ROW2(create_mixed, "gex_TM_Create", "differs"),
    ROW(dup_no_mode, "gex_TM_Dup", "scratch mode"),
    ROW(dup_global, "gex_TM_Dup", "GEX_FLAG_TM_GLOBAL_SCRATCH"),
    ROW(dup_short, "gex_TM_Dup", "scratch_len", "8"),
    ROW(dup_null, "gex_TM_Dup", "new_tm_p", "NULL"),
    ROW(destroy_primordial, "gex_TM_Destroy", "primordial"),
    ROW(destroy_pair, "gex_TM_Destroy", "TM-pair"),
    ROW(destroy_flags, DBG_WARNS, "gex_TM_Destroy", "flags", "0x1"),
    ROW(destroy_twice, "gex_TM_Destroy", "not a team handle"),
    ROW(stale_query, "gex_TM_QueryRank", "not a team handle"),
    ROW(stale_put, "gex_RMA_PutBlockingVal", "not a team handle"),
    ROW2(destroy_busy, "gex_TM_Destroy", "barriers", "not complete"),
    ROW(legal, NULL),
    ROW2(legal, NULL),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof cases[0]);
}
