/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of events and implicit operations in debug clients (API 03.5, 03.6, items Dbg).
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];
static const gex_Event_t no_op = GEX_EVENT_NO_OP;

DBG_CASE(no_op_test, "gex_Event_Test", "event", "GEX_EVENT_NO_OP") {
  (void)gex_Event_Test(no_op);
}
DBG_CASE(no_op_wait, "gex_Event_Wait", "event", "GEX_EVENT_NO_OP") {
  gex_Event_Wait(no_op);
}
static void no_op_array(int which) {
  gex_Event_t events[3] = {GEX_EVENT_INVALID, dbg_live_event(GEX_EVENT_NOW), GEX_EVENT_NO_OP};
  if (which == 0) (void)gex_Event_TestSome(events, 3, 0);
  if (which == 1) gex_Event_WaitSome(events, 3, 0);
  if (which == 2) (void)gex_Event_TestAll(events, 3, 0);
  if (which == 3) gex_Event_WaitAll(events, 3, 0);
}
DBG_CASE(no_op_test_some, "gex_Event_TestSome", "event", "GEX_EVENT_NO_OP") {
  no_op_array(0);
}
DBG_CASE(no_op_wait_some, "gex_Event_WaitSome", "event", "GEX_EVENT_NO_OP") {
  no_op_array(1);
}
DBG_CASE(no_op_test_all, "gex_Event_TestAll", "event", "GEX_EVENT_NO_OP") {
  no_op_array(2);
}
DBG_CASE(no_op_wait_all, "gex_Event_WaitAll", "event", "GEX_EVENT_NO_OP") {
  no_op_array(3);
}
DBG_CASE(no_op_g1_wait, "gex_Event_Wait", "event", "GEX_EVENT_NO_OP") {
  gasnet_wait_syncnb(no_op);
}
DBG_CASE(no_op_leaf, "gex_Event_QueryLeaf", "GEX_EVENT_NO_OP") {
  (void)gex_Event_QueryLeaf(no_op, GEX_EC_LC);
}

DBG_CASE(waited_twice, "gex_Event_Wait", "event", "0x", "once") {
  const gex_Event_t event = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
DBG_CASE(tested_after_wait, "gex_Event_Test", "event", "0x", "once") {
  const gex_Event_t event = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_Wait(event);
  (void)gex_Event_Test(event);
}
DBG_CASE(waited_after_array, "gex_Event_WaitSome", "event", "0x", "once") {
  gex_Event_t event = dbg_live_event(GEX_EVENT_NOW), copy = event;
  gex_Event_WaitAll(&event, 1, 0);
  gex_Event_WaitSome(&copy, 1, 0);
}
DBG_CASE(region_twice, "gex_Event_Wait", "event", "0x", "once") {
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 4, GEX_EVENT_NOW, 0);
  const gex_Event_t event = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
DBG_CASE(g1_handle_twice, "gex_Event_Wait", "event", "0x", "once") {
  const gasnet_handle_t handle = gasnet_get_nb(buf, 0, dbg.base, 4);
  gasnet_wait_syncnb(handle);
  gasnet_wait_syncnb(handle);
}
DBG_CASE(barrier_event_twice, "gex_Event_Wait", "event", "0x", "once") {
  const gex_Event_t event = gex_Coll_BarrierNB(dbg.tm, 0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
DBG_CASE(leaf_after_root, "gex_Event_Wait", "event", "0x", "once") {
  gex_Event_t leaf;
  const gex_Event_t root = dbg_live_event(&leaf);
  gex_Event_Wait(root);
  gex_Event_Wait(leaf);
}
DBG_CASE(garbage_event, "gex_Event_Wait", "event", "0x1238") {
  gex_Event_Wait((gex_Event_t)(uintptr_t)0x1238);
}
DBG_CASE(same_twice_in_array, "gex_Event_WaitAll", "pevent", "0 and 1") {
  gex_Event_t events[2];
  events[0] = events[1] = dbg_live_event(GEX_EVENT_NOW);
  gex_Event_WaitAll(events, 2, 0);
}
DBG_CASE(null_array, "gex_Event_WaitAll", "pevent", "NULL") {
  gex_Event_WaitAll(NULL, 2, 0);
}

#define FLAGS_CASE(fn, call, ...)                    \
 DBG_CASE(fn, __VA_ARGS__) {                         \
  gex_Event_t event = dbg_live_event(GEX_EVENT_NOW); \
  (void)event;                                       \
  call;                                              \
 }
FLAGS_CASE(flags_test_some, (void)gex_Event_TestSome(&event, 1, 4), DBG_WARNS, "gex_Event_TestSome",
           "flags", "0x4")
FLAGS_CASE(flags_wait_some, gex_Event_WaitSome(&event, 1, 4), DBG_WARNS, "gex_Event_WaitSome",
           "flags", "0x4")
FLAGS_CASE(flags_test_all, (void)gex_Event_TestAll(&event, 1, 4), DBG_WARNS, "gex_Event_TestAll",
           "flags", "0x4")
FLAGS_CASE(flags_wait_all, gex_Event_WaitAll(&event, 1, 4), DBG_WARNS, "gex_Event_WaitAll", "flags",
           "0x4")
FLAGS_CASE(flags_nbi_test, (void)gex_NBI_Test(GEX_EC_ALL, 4), DBG_WARNS, "gex_NBI_Test", "flags",
           "0x4")
FLAGS_CASE(flags_nbi_wait, gex_NBI_Wait(GEX_EC_ALL, 4), DBG_WARNS, "gex_NBI_Wait", "flags", "0x4")
FLAGS_CASE(flags_begin, gex_NBI_BeginAccessRegion(4), DBG_WARNS, "gex_NBI_BeginAccessRegion",
           "flags", "0x4")
FLAGS_CASE(flags_barrier, gex_Event_Wait(gex_Coll_BarrierNB(dbg.tm, 4)), DBG_WARNS,
           "gex_Coll_BarrierNB", "flags", "0x4")
DBG_CASE(flags_end, DBG_WARNS, "gex_NBI_EndAccessRegion", "flags", "0x4") {
  gex_NBI_BeginAccessRegion(0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(4));
}

/* ---- leaves */
DBG_CASE(leaf_all, "gex_Event_QueryLeaf", "event_category", "0x1f") {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_ALL);
}
/* An operation that is complete at once, as puts to mapped memory are. */
DBG_CASE(leaf_of_complete, "gex_Event_QueryLeaf", "event_category", "0x1f") {
  (void)gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_ALL);
}
DBG_CASE(leaf_or, "gex_Event_QueryLeaf", "event_category", "0xa") {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_LC | GEX_EC_PUT);
}
DBG_CASE(leaf_none, "gex_Event_QueryLeaf", "event_category", "0x0") {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), 0);
}
DBG_CASE(leaf_of_leaf, "gex_Event_QueryLeaf", "root", "leaf") {
  gex_Event_t leaf;
  (void)dbg_live_event(&leaf);
  (void)gex_Event_QueryLeaf(leaf, GEX_EC_LC);
}
DBG_CASE(leaf_now, "gex_Event_QueryLeaf", "event_category", "0x8") {
  (void)gex_Event_QueryLeaf(dbg_live_event(GEX_EVENT_NOW), GEX_EC_LC);
}
DBG_CASE(leaf_defer, "gex_Event_QueryLeaf", "event_category", "0x8") {
  (void)gex_Event_QueryLeaf(dbg_live_event(GEX_EVENT_DEFER), GEX_EC_LC);
}
DBG_CASE(leaf_get_of_put, "gex_Event_QueryLeaf", "event_category", "0x1") {
  gex_Event_t leaf;
  (void)gex_Event_QueryLeaf(dbg_live_event(&leaf), GEX_EC_GET);
}
DBG_CASE(leaf_of_dead, "gex_Event_QueryLeaf", "0x", "once") {
  gex_Event_t leaf;
  const gex_Event_t root = dbg_live_event(&leaf);
  gex_Event_Wait(root);
  (void)gex_Event_QueryLeaf(root, GEX_EC_LC);
}

/* ---- access regions */
DBG_CASE(nested_region, "gex_NBI_BeginAccessRegion", "nest") {
  gex_NBI_BeginAccessRegion(0);
  gex_NBI_BeginAccessRegion(0);
}
DBG_CASE(nested_region_g1, "gex_NBI_BeginAccessRegion", "nest") {
  gasnet_begin_nbi_accessregion();
  gasnet_begin_nbi_accessregion();
}
DBG_CASE(end_without_begin, "gex_NBI_EndAccessRegion", "gex_NBI_BeginAccessRegion") {
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
}
DBG_CASE(wait_in_region, "gex_NBI_Wait", "access region") {
  gex_NBI_BeginAccessRegion(0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
DBG_CASE(test_in_region, "gex_NBI_Test", "access region") {
  gex_NBI_BeginAccessRegion(0);
  (void)gex_NBI_Test(GEX_EC_PUT, 0);
}
DBG_CASE(g1_wait_in_region, "gex_NBI_Wait", "access region") {
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnbi_all();
}
DBG_CASE(unknown_category, DBG_WARNS, "gex_NBI_Wait", "event_mask", "0x100000") {
  gex_NBI_Wait(1u << 20, 0);
}

/* ---- controls: the legal neighbours of the above */
DBG_CASE(legal, NULL) {
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

DBG_CASE_AS(legal_unmapped, legal, 1, DBG_UNMAPPED, NULL)
DBG_CASE_AS(waited_twice_unmapped, waited_twice, 1, DBG_UNMAPPED, "gex_Event_Wait", "once")

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
