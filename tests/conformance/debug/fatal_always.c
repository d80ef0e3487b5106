/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse that is fatal in every build, here in a client without GASNET_DEBUG: barrier phases out of
 * order (API 08.7), a message for a handler that is not registered (02.1), a wrong count in a
 * GASNet-1 message (08.4), calls before initialisation; and that unchecked legal use stays legal.
 */
/* ranks: 1 */
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include "dbg_case.h"

static char buf[64];

static void start(void) {
  dbg_setup(dbg_argc, dbg_argv);
}

DBG_CASE(wait_only, "gasnet_barrier_wait", "17", "gasnet_barrier_notify") {
  start();
  (void)gasnet_barrier_wait(17, 0);
}
DBG_CASE(try_only, "gasnet_barrier_try", "18", "gasnet_barrier_notify") {
  start();
  (void)gasnet_barrier_try(18, 0);
}
DBG_CASE(notify_twice, "gasnet_barrier_notify", "19") {
  start();
  gasnet_barrier_notify(1, 0);
  gasnet_barrier_notify(19, 0);
}
DBG_CASE(barrier_inside, "gasnet_barrier", "20") {
  start();
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier(20, 0);
}
static void barrier_of_handler(gex_Token_t token) {
  (void)token;
  (void)gasnet_barrier(21, 0);
}
static void event_of_handler(gex_Token_t token) {
  (void)token;
  gex_Event_Wait(gex_Coll_BarrierNB(dbg.tm, 0));
}
static void blocking_of_handler(gex_Token_t token) {
  (void)token;
  gex_Coll_BarrierBlocking(dbg.tm, 0);
}
DBG_CASE(in_handler, "gasnet_barrier", "request handler") {
  start();
  dbg_in_request(barrier_of_handler);
}
DBG_CASE(in_handler_nb, "gex_Coll_BarrierNB", "request handler") {
  start();
  dbg_in_request(event_of_handler);
}
/* More ranks than processors: such a barrier has no event. */
DBG_CASE_WITH(in_handler_crowded, 8, NULL, "gex_Coll_Barrier", "request handler") {
  start();
  dbg_in_request(blocking_of_handler);
}
DBG_CASE(unregistered, "rank 0", "handler 200", "register") {
  start();
  gex_AM_RequestShort0(dbg.tm, 0, 200, 0);
  for (int i = 0; i < 1000; i++) gasnet_AMPoll();
}
DBG_CASE_WITH(unregistered_peer, 2, NULL, "rank 0", "handler 201", "register") {
  start();
  if (dbg.rank == 0) gex_AM_RequestMedium0(dbg.tm, 1, 201, buf, 8, GEX_EVENT_NOW, 0);
  for (;;) gasnet_AMPoll();
}
DBG_CASE(wrong_count, "gasnet_AMRequestShort", "numargs", "3", "2 arguments") {
  start();
  gasnet_AMRequestShort(0, 200, 3, 1, 2);
}
/* Nothing is attached: the address is worthless, and so would be a fault at the peer. */
static void no_segment(void) {
  dbg_setup_no_segment(dbg_argc, dbg_argv);
}
DBG_CASE(put_unattached, "gex_RMA_PutBlocking", "dest", "no segment is attached") {
  no_segment();
  gex_RMA_PutBlocking(dbg.tm, dbg.size - 1, buf, buf + 8, 8, 0);
}
DBG_CASE(put_nbi_unattached, "gex_RMA_PutNBI", "dest", "no segment is attached") {
  no_segment();
  gex_RMA_PutNBI(dbg.tm, dbg.size - 1, NULL, buf, 8, GEX_EVENT_NOW, 0);
}
DBG_CASE(get_unattached, "gex_RMA_GetBlocking", "src", "no segment is attached") {
  no_segment();
  gex_RMA_GetBlocking(dbg.tm, buf, dbg.size - 1, NULL, 8, 0);
}
DBG_CASE(value_unattached, "gex_RMA_PutBlockingVal", "dest", "no segment is attached") {
  no_segment();
  gex_RMA_PutBlockingVal(dbg.tm, dbg.size - 1, NULL, 7, 8, 0);
}
DBG_CASE(long_unattached, "gex_AM_RequestLong", "dest_addr", "no segment is attached") {
  no_segment();
  gex_AM_RequestLong0(dbg.tm, dbg.size - 1, 200, buf, 8, NULL, GEX_EVENT_NOW, 0);
}
DBG_CASE(vis_unattached, "gex_VIS_StridedPutBlocking", "dst", "no segment is attached") {
  const ptrdiff_t stride = 16;
  const size_t count = 2;
  no_segment();
  gex_VIS_StridedPutBlocking(dbg.tm, dbg.size - 1, NULL, &stride, buf, &stride, 8, &count, 1, 0);
}
DBG_CASE(atomic_unattached, "gex_AD_OpNB_U64", "tgt_addr", "no segment is attached") {
  gex_AD_t ad;
  no_segment();
  gex_AD_Create(&ad, dbg.tm, GEX_DT_U64, GEX_OP_ADD, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, dbg.size - 1, NULL, GEX_OP_ADD, 1, 0, 0));
}
DBG_CASE(poll_early, "gasnet_AMPoll", "not initialised") {
  gasnet_AMPoll();
}
DBG_CASE(request_early, "gex_AM_RequestShort", "not initialised") {
  gex_AM_RequestShort0(GEX_TM_INVALID, 0, 128, 0);
}
DBG_CASE(barrier_early, "gasnet_barrier_notify", "not initialised") {
  gasnet_barrier_notify(1, 0);
}
DBG_CASE(coll_barrier_early, "gex_Coll_Barrier", "not initialised") {
  gex_Coll_BarrierBlocking(dbg.tm, 0);
}
DBG_CASE(size_early, "gasnet_getMaxLocalSegmentSize", "not initialised") {
  (void)gasnet_getMaxLocalSegmentSize();
}

/* Without debug checks the misuse below goes unseen; it must not cost or break anything. */
DBG_CASE(unchecked, NULL) {
  start();
  gasnet_hold_interrupts();
  gasnet_put(0, dbg.base, buf, 4);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gex_Event_Wait(GEX_EVENT_INVALID);
  gex_Coll_BarrierBlocking(dbg.tm, 0);
}

DBG_CASE_AS(put_unattached2, put_unattached, 2, NULL, "gex_RMA_PutBlocking", "dest", "no segment")
DBG_CASE_AS(get_unattached2, get_unattached, 2, NULL, "gex_RMA_GetBlocking", "src", "no segment")
DBG_CASE_AS(long_unattached2, long_unattached, 2, NULL, "gex_AM_RequestLong", "dest", "no segment")
DBG_CASE_AS(vis_unattached2, vis_unattached, 2, NULL, "gex_VIS_StridedPut", "dst", "no segment")
DBG_CASE_AS(atomic_unattached2, atomic_unattached, 2, NULL, "gex_AD_OpNB_U64", "no segment")

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_none);
}
