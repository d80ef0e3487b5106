/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of the GASNet-1 layer in debug clients (API 08, items Dbg): arguments of messages, puts,
 * gets, values and memsets, value-get handles, barrier phases out of order. Locks and no-interrupt
 * sections: dbg_lock.c; calls before attach: dbg_early.c.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];

/* ---- put, get, values, memset */
DBG_CASE(put_node, "gex_RMA_PutBlocking", "rank", "99") {
  gasnet_put(99, dbg.base, buf, 4);
}
DBG_CASE(get_node, "gex_RMA_GetBlocking", "rank", "99") {
  gasnet_get(buf, 99, dbg.base, 4);
}
DBG_CASE(put_outside, "gex_RMA_PutBlocking", "dest", "outside") {
  gasnet_put_bulk(0, dbg.base + DBG_SEG_BYTES - 2, buf, 4);
}
DBG_CASE(get_outside, "gex_RMA_GetNB", "src", "outside") {
  gasnet_wait_syncnb(gasnet_get_nb(buf, 0, dbg.base - 4, 4));
}
DBG_CASE(put_val_9, "gex_RMA_PutBlockingVal", "nbytes", "9") {
  gasnet_put_val(0, dbg.base, 1, 9);
}
DBG_CASE(get_val_9, "gex_RMA_GetBlockingVal", "nbytes", "9") {
  (void)gasnet_get_val(0, dbg.base, 9);
}
DBG_CASE(nb_val_9, "gasnet_get_nb_val", "nbytes", "9") {
  (void)gasnet_get_nb_val(0, dbg.base, 9);
}
DBG_CASE(nb_val_0, "gasnet_get_nb_val", "nbytes", "0") {
  (void)gasnet_get_nb_val(0, dbg.base, 0);
}
DBG_CASE(nb_val_node, "gasnet_get_nb_val", "rank", "99") {
  (void)gasnet_get_nb_val(99, dbg.base, 4);
}
DBG_CASE(nb_val_outside, "gasnet_get_nb_val", "src", "outside") {
  (void)gasnet_get_nb_val(0, dbg.base + DBG_SEG_BYTES, 4);
}
DBG_CASE(memset_node, "gasnet_memset", "rank", "99") {
  gasnet_memset(99, dbg.base, 0, 4);
}
DBG_CASE(memset_outside, "gasnet_memset", "dest", "outside") {
  gasnet_memset(0, dbg.base + 1, 0, DBG_SEG_BYTES);
}
DBG_CASE(memset_nb_outside, "gasnet_memset_nb", "dest", "outside") {
  gasnet_wait_syncnb(gasnet_memset_nb(0, dbg.base - 1, 0, 2));
}
DBG_CASE(memset_nbi_node, "gasnet_memset_nbi", "rank", "5") {
  gasnet_memset_nbi(5, dbg.base, 0, 4);
}
DBG_CASE(valget_twice, "gasnet_wait_syncnb_valget", "handle", "0x", "once") {
  const gasnet_valget_handle_t handle = gasnet_get_nb_val(0, dbg.base, 4);
  (void)gasnet_wait_syncnb_valget(handle);
  (void)gasnet_wait_syncnb_valget(handle);
}
DBG_CASE(valget_null, "gasnet_wait_syncnb_valget", "handle") {
  (void)gasnet_wait_syncnb_valget((gasnet_valget_handle_t)0);
}

/* ---- messages */
DBG_CASE(am_node, "gasnet_AMRequestShort", "dest", "99") {
  gasnet_AMRequestShort0(99, 128);
}
DBG_CASE(am_handler, "gasnet_AMRequestShort", "handler", "100") {
  gasnet_AMRequestShort0(0, 100);
}
DBG_CASE(am_count_high, "gasnet_AMRequestShort", "numargs", "3", "2 arguments") {
  gasnet_AMRequestShort(0, 200, 3, 1, 2);
}
DBG_CASE(am_count_low, "gasnet_AMRequestMedium", "numargs", "1", "2 arguments") {
  gasnet_AMRequestMedium(0, 200, buf, 1, 1, 1, 2);
}
DBG_CASE(am_limit, "gasnet_AMRequestMedium", "nbytes", "limit") {
  gasnet_AMRequestMedium0(0, 200, buf, gasnet_AMMaxMedium() + 1);
}
DBG_CASE(am_long_limit, "gasnet_AMRequestLong", "nbytes", "limit") {
  gasnet_AMRequestLong0(0, 200, buf, gasnet_AMMaxLongRequest() + 1, dbg.base);
}
DBG_CASE(am_dest, "gasnet_AMRequestLong", "dest_addr", "outside") {
  gasnet_AMRequestLong0(0, 200, buf, 8, dbg.base + DBG_SEG_BYTES - 7);
}
DBG_CASE(am_async_dest, "gasnet_AMRequestLong", "dest_addr", "outside") {
  gasnet_AMRequestLongAsync0(0, 200, buf, 8, buf);
}
DBG_CASE(am_source, "gasnet_AMRequestMedium", "source_addr", "NULL") {
  gasnet_AMRequestMedium0(0, 200, NULL, 8);
}
static gex_AM_Index_t answer_i;
static void on_answer(gex_Token_t token) {
  (void)token;
}
static void reply_twice_body(gex_Token_t token) {
  gasnet_AMReplyShort0(token, answer_i);
  gasnet_AMReplyShort0(token, answer_i);
}
DBG_CASE(reply_twice, "gasnet_AMReplyShort", "second reply") {
  answer_i = dbg_handler((gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0);
  dbg_in_request(reply_twice_body);
}
static void reply_in_reply_body(gex_Token_t token) {
  gasnet_AMReplyMedium0(token, 200, buf, 1);
}
DBG_CASE(reply_in_reply, "gasnet_AMReplyMedium", "reply handler") {
  dbg_in_reply(reply_in_reply_body);
}
DBG_CASE(reply_outside_handler, "gasnet_AMReplyShort", "token") {
  gasnet_AMReplyShort0((gasnet_token_t)0, 200);
}

/* ---- barrier phases; these are fatal in every build */
DBG_CASE(wait_only, "gasnet_barrier_wait", "17", "gasnet_barrier_notify") {
  (void)gasnet_barrier_wait(17, 0);
}
DBG_CASE(try_only, "gasnet_barrier_try", "18", "gasnet_barrier_notify") {
  (void)gasnet_barrier_try(18, 0);
}
DBG_CASE(notify_twice, "gasnet_barrier_notify", "19") {
  gasnet_barrier_notify(1, 0);
  gasnet_barrier_notify(19, 0);
}
DBG_CASE(barrier_inside, "gasnet_barrier", "20") {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier(20, 0);
}
DBG_CASE(wait_twice, "gasnet_barrier_wait", "21", "gasnet_barrier_notify") {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_wait(1, 0);
  (void)gasnet_barrier_wait(21, 0);
}
DBG_CASE(wait_after_barrier, "gasnet_barrier_wait", "22", "gasnet_barrier_notify") {
  (void)gasnet_barrier(1, 0);
  (void)gasnet_barrier_wait(22, 0);
}
DBG_CASE(barrier_flags, "gasnet_barrier_notify", "flags", "0x40") {
  gasnet_barrier_notify(1, 64);
}
DBG_CASE(unnamed_without_anonymous, "gasnet_barrier_notify", "flags", "0x4") {
  gasnet_barrier_notify(1, GASNET_BARRIERFLAG_UNNAMED & ~GASNET_BARRIERFLAG_ANONYMOUS);
}
DBG_CASE(result_inside, "gasnet_barrier_result") {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_result(&(int){0});
}
DBG_CASE(result_before, "gasnet_barrier_result") {
  (void)gasnet_barrier_result(&(int){0});
}

/* ---- controls */
DBG_CASE(legal, NULL) {
  gasnet_put(0, NULL, NULL, 0);
  gasnet_memset(0, dbg.base, 3, DBG_SEG_BYTES);
  if (gasnet_wait_syncnb_valget(gasnet_get_nb_val(0, dbg.base + DBG_SEG_BYTES - 8, 8)) !=
      UINT64_C(0x0303030303030303))
    _exit(7);
  for (int i = 0; i < 3; i++) {
    gasnet_barrier_notify(i, 0);
    if (gasnet_barrier_wait(i, 0) || gasnet_barrier(i, GASNET_BARRIERFLAG_UNNAMED)) _exit(7);
  }
  if (gasnet_barrier_result(&(int){0}) == 0) _exit(7);
}

DBG_CASE_AS(legal_unmapped, legal, 1, DBG_UNMAPPED, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
