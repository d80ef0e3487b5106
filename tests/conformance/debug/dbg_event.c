/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of events and implicit operations in debug clients (API 03.5, 03.6, items Dbg).
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];
static const gex_Event_t no_op = GEX_EVENT_NO_OP;

static void no_op_test(void) {
  (void)gex_Event_Test(no_op);
}
static void no_op_wait(void) {
  gex_Event_Wait(no_op);
}
static void no_op_array(int which) {
  gex_Event_t events[3] = {GEX_EVENT_INVALID, dbg_live_event(GEX_EVENT_NOW), GEX_EVENT_NO_OP};
  if (which == 0) (void)gex_Event_TestSome(events, 3, 0);
  if (which == 1) gex_Event_WaitSome(events, 3, 0);
  if (which == 2) (void)gex_Event_TestAll(events, 3, 0);
  if (which == 3) gex_Event_WaitAll(events, 3, 0);
}
static void no_op_test_some(void) {
  no_op_array(0);
}
static void no_op_wait_some(void) {
  no_op_array(1);
}
static void no_op_test_all(void) {
  no_op_array(2);
}
static void no_op_wait_all(void) {
  no_op_array(3);
}
static void no_op_g1_wait(void) {
  gasnet_wait_syncnb(no_op);
}
static void no_op_leaf(void) {
  (void)gex_Event_QueryLeaf(no_op, GEX_EC_LC);
}

static void waited_twice(void) {
  const gex_Event_t event = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
static void tested_after_wait(void) {
  const gex_Event_t event = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_Wait(event);
  (void)gex_Event_Test(event);
}
static void waited_after_array(void) {
  gex_Event_t event = dbg_live_event(GEX_EVENT_NOW), copy = event;
  gex_Event_WaitAll(&event, 1, 0);
  gex_Event_WaitSome(&copy, 1, 0);
}
static void region_twice(void) {
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 4, GEX_EVENT_NOW, 0);
  const gex_Event_t event = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
static void g1_handle_twice(void) {
  const gasnet_handle_t handle = gasnet_get_nb(buf, 0, dbg.base, 4);
  gasnet_wait_syncnb(handle);
  gasnet_wait_syncnb(handle);
}
static void barrier_event_twice(void) {
  const gex_Event_t event = gex_Coll_BarrierNB(dbg.tm, 0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
static void leaf_after_root(void) {
  gex_Event_t leaf;
  const gex_Event_t root = dbg_live_event(&leaf);
  gex_Event_Wait(root);
  gex_Event_Wait(leaf);
}
static void garbage_event(void) {
  gex_Event_Wait((gex_Event_t)(uintptr_t)0x1238);
}
static void same_twice_in_array(void) {
  gex_Event_t events[2];
  events[0] = events[1] = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_WaitAll(events, 2, 0);
}
static void null_array(void) {
  gex_Event_WaitAll(NULL, 2, 0);
}

#define FLAGS_CASE(fn, call)                         \
 static void fn(void) {                              \
  gex_Event_t event = dbg_live_event(GEX_EVENT_NOW); \
  (void)event;                                       \
  call;                                              \
 }
FLAGS_CASE(flags_test_some, (void)gex_Event_TestSome(&event, 1, 4))
FLAGS_CASE(flags_wait_some, gex_Event_WaitSome(&event, 1, 4))
FLAGS_CASE(flags_test_all, (void)gex_Event_TestAll(&event, 1, 4))
FLAGS_CASE(flags_wait_all, gex_Event_WaitAll(&event, 1, 4))
FLAGS_CASE(flags_nbi_test, (void)gex_NBI_Test(GEX_EC_ALL, 4))
FLAGS_CASE(flags_nbi_wait, gex_NBI_Wait(GEX_EC_ALL, 4))
FLAGS_CASE(flags_begin, gex_NBI_BeginAccessRegion(4))
FLAGS_CASE(flags_barrier, gex_Event_Wait(gex_Coll_BarrierNB(dbg.tm, 4)))
static void flags_end(void) {
  gex_NBI_BeginAccessRegion(0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(4));
}

/* ---- leaves */
static void leaf_all(void) {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_ALL);
}
static void leaf_or(void) {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_LC | GEX_EC_PUT);
}
static void leaf_none(void) {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), 0);
}
static void leaf_of_leaf(void) {
  gex_Event_t leaf;
  (void)dbg_live_event(&leaf);
  (void)gex_Event_QueryLeaf(leaf, GEX_EC_LC);
}
static void leaf_now(void) {
  (void)gex_Event_QueryLeaf(dbg_live_event(GEX_EVENT_NOW), GEX_EC_LC);
}
static void leaf_defer(void) {
  (void)gex_Event_QueryLeaf(dbg_live_event(GEX_EVENT_DEFER), GEX_EC_LC);
}
static void leaf_get_of_put(void) {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_GET);
}
static void leaf_of_dead(void) {
  gex_Event_t leaf;
  const gex_Event_t root = dbg_live_event(&leaf);
  gex_Event_Wait(root);
  (void)gex_Event_QueryLeaf(root, GEX_EC_LC);
}

/* ---- access regions */
static void nested_region(void) {
  gex_NBI_BeginAccessRegion(0);
  gex_NBI_BeginAccessRegion(0);
}
static void nested_region_g1(void) {
  gasnet_begin_nbi_accessregion();
  gasnet_begin_nbi_accessregion();
}
static void end_without_begin(void) {
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
}
static void wait_in_region(void) {
  gex_NBI_BeginAccessRegion(0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
static void test_in_region(void) {
  gex_NBI_BeginAccessRegion(0);
  (void)gex_NBI_Test(GEX_EC_PUT, 0);
}
static void g1_wait_in_region(void) {
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnbi_all();
}
static void unknown_category(void) {
  gex_NBI_Wait(1u << 20, 0);
}

/* ---- controls: the legal neighbours of the above */
static void legal(void) {
  gex_Event_t leaf, other_leaf;
  const gex_Event_t root = dbg_live_event(&leaf);
  gex_Event_Wait(leaf);
  gex_Event_Wait(root);
  gex_Event_t both[4] = {dbg_live_event(&other_leaf), GEX_EVENT_INVALID, GEX_EVENT_INVALID, NULL};
  both[1] = other_leaf;
  both[2] = gex_Event_QueryLeaf(both[0], GEX_EC_LC);
  both[2] = GEX_EVENT_INVALID;
  gex_Event_WaitAll(both, 4, 0);
  gex_Event_WaitAll(both, 4, 0);
  gex_Event_Wait(GEX_EVENT_INVALID);
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 4, GEX_EVENT_GROUP, 0);
  gex_Event_Wait(dbg_live_event(GEX_EVENT_NOW));
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_LC));
  gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_PUT));
  gex_Event_Wait(region);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(no_op_test, "gex_Event_Test", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_wait, "gex_Event_Wait", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_test_some, "gex_Event_TestSome", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_wait_some, "gex_Event_WaitSome", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_test_all, "gex_Event_TestAll", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_wait_all, "gex_Event_WaitAll", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_g1_wait, "gex_Event_Wait", "event", "GEX_EVENT_NO_OP"),
    ROW(no_op_leaf, "gex_Event_QueryLeaf", "GEX_EVENT_NO_OP"),
    ROW(waited_twice, "gex_Event_Wait", "event", "0x", "once"),
    ROW(tested_after_wait, "gex_Event_Test", "event", "0x", "once"),
    ROW(waited_after_array, "gex_Event_WaitSome", "event", "0x", "once"),
    ROW(region_twice, "gex_Event_Wait", "event", "0x", "once"),
    ROW(g1_handle_twice, "gex_Event_Wait", "event", "0x", "once"),
    ROW(barrier_event_twice, "gex_Event_Wait", "event", "0x", "once"),
    ROW(leaf_after_root, "gex_Event_Wait", "event", "0x", "once"),
    ROW(garbage_event, "gex_Event_Wait", "event", "0x1238"),
    ROW(same_twice_in_array, "gex_Event_WaitAll", "pevent", "0 and 1"),
    ROW(null_array, "gex_Event_WaitAll", "pevent", "NULL"),
    ROW(flags_test_some, DBG_WARNS, "gex_Event_TestSome", "flags", "0x4"),
    ROW(flags_wait_some, DBG_WARNS, "gex_Event_WaitSome", "flags", "0x4"),
    ROW(flags_test_all, DBG_WARNS, "gex_Event_TestAll", "flags", "0x4"),
    ROW(flags_wait_all, DBG_WARNS, "gex_Event_WaitAll", "flags", "0x4"),
    ROW(flags_nbi_test, DBG_WARNS, "gex_NBI_Test", "flags", "0x4"),
    ROW(flags_nbi_wait, DBG_WARNS, "gex_NBI_Wait", "flags", "0x4"),
    ROW(flags_begin, DBG_WARNS, "gex_NBI_BeginAccessRegion", "flags", "0x4"),
    ROW(flags_end, DBG_WARNS, "gex_NBI_EndAccessRegion", "flags", "0x4"),
    ROW(flags_barrier, DBG_WARNS, "gex_Coll_BarrierNB", "flags", "0x4"),
    ROW(leaf_all, "gex_Event_QueryLeaf", "event_category", "0x1f"),
    ROW(leaf_or, "gex_Event_QueryLeaf", "event_category", "0xa"),
    ROW(leaf_none, "gex_Event_QueryLeaf", "event_category", "0x0"),
    ROW(leaf_of_leaf, "gex_Event_QueryLeaf", "root", "leaf"),
    ROW(leaf_now, "gex_Event_QueryLeaf", "event_category", "0x8"),
    ROW(leaf_defer, "gex_Event_QueryLeaf", "event_category", "0x8"),
    ROW(leaf_get_of_put, "gex_Event_QueryLeaf", "event_category", "0x1"),
    ROW(leaf_of_dead, "gex_Event_QueryLeaf", "0x", "once"),
    ROW(nested_region, "gex_NBI_BeginAccessRegion", "nest"),
    ROW(nested_region_g1, "gex_NBI_BeginAccessRegion", "nest"),
    ROW(end_without_begin, "gex_NBI_EndAccessRegion", "gex_NBI_BeginAccessRegion"),
    ROW(wait_in_region, "gex_NBI_Wait", "access region"),
    ROW(test_in_region, "gex_NBI_Test", "access region"),
    ROW(g1_wait_in_region, "gex_NBI_Wait", "access region"),
    ROW(unknown_category, DBG_WARNS, "gex_NBI_Wait", "event_mask", "0x100000"),
    {"legal", legal, {NULL}, 0, NULL},
    {"legal_unmapped", legal, {NULL}, 0, DBG_UNMAPPED},
    {"waited_twice_unmapped", waited_twice, {"gex_Event_Wait", "once"}, 0, DBG_UNMAPPED},
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof *cases);
}
