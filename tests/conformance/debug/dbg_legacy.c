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
static void put_node(void) {
  gasnet_put(99, dbg.base, buf, 4);
}
static void get_node(void) {
  gasnet_get(buf, 99, dbg.base, 4);
}
static void put_outside(void) {
  gasnet_put_bulk(0, dbg.base + DBG_SEG_BYTES - 2, buf, 4);
}
static void get_outside(void) {
  gasnet_wait_syncnb(gasnet_get_nb(buf, 0, dbg.base - 4, 4));
}
static void put_val_9(void) {
  gasnet_put_val(0, dbg.base, 1, 9);
}
static void get_val_9(void) {
  (void)gasnet_get_val(0, dbg.base, 9);
}
static void nb_val_9(void) {
  (void)gasnet_get_nb_val(0, dbg.base, 9);
}
static void nb_val_0(void) {
  (void)gasnet_get_nb_val(0, dbg.base, 0);
}
static void nb_val_node(void) {
  (void)gasnet_get_nb_val(99, dbg.base, 4);
}
static void nb_val_outside(void) {
  (void)gasnet_get_nb_val(0, dbg.base + DBG_SEG_BYTES, 4);
}
static void memset_node(void) {
  gasnet_memset(99, dbg.base, 0, 4);
}
static void memset_outside(void) {
  gasnet_memset(0, dbg.base + 1, 0, DBG_SEG_BYTES);
}
static void memset_nb_outside(void) {
  gasnet_wait_syncnb(gasnet_memset_nb(0, dbg.base - 1, 0, 2));
}
static void memset_nbi_node(void) {
  gasnet_memset_nbi(5, dbg.base, 0, 4);
}
static void valget_twice(void) {
  const gasnet_valget_handle_t handle = gasnet_get_nb_val(0, dbg.base, 4);
  (void)gasnet_wait_syncnb_valget(handle);
  (void)gasnet_wait_syncnb_valget(handle);
}
static void valget_null(void) {
  (void)gasnet_wait_syncnb_valget((gasnet_valget_handle_t)0);
}

/* ---- messages */
static void am_node(void) {
  gasnet_AMRequestShort0(99, 128);
}
static void am_handler(void) {
  gasnet_AMRequestShort0(0, 100);
}
static void am_count_high(void) {
  gasnet_AMRequestShort(0, 200, 3, 1, 2);
}
static void am_count_low(void) {
  gasnet_AMRequestMedium(0, 200, buf, 1, 1, 1, 2);
}
static void am_limit(void) {
  gasnet_AMRequestMedium0(0, 200, buf, gasnet_AMMaxMedium() + 1);
}
static void am_long_limit(void) {
  gasnet_AMRequestLong0(0, 200, buf, gasnet_AMMaxLongRequest() + 1, dbg.base);
}
static void am_dest(void) {
  gasnet_AMRequestLong0(0, 200, buf, 8, dbg.base + DBG_SEG_BYTES - 7);
}
static void am_async_dest(void) {
  gasnet_AMRequestLongAsync0(0, 200, buf, 8, buf);
}
static void am_source(void) {
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
static void reply_twice(void) {
  answer_i = dbg_handler((gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0);
  dbg_in_request(reply_twice_body);
}
static void reply_in_reply_body(gex_Token_t token) {
  gasnet_AMReplyMedium0(token, 200, buf, 1);
}
static void reply_in_reply(void) {
  dbg_in_reply(reply_in_reply_body);
}
static void reply_outside_handler(void) {
  gasnet_AMReplyShort0((gasnet_token_t)0, 200);
}

/* ---- barrier phases; these are fatal in every build */
static void wait_only(void) {
  (void)gasnet_barrier_wait(17, 0);
}
static void try_only(void) {
  (void)gasnet_barrier_try(18, 0);
}
static void notify_twice(void) {
  gasnet_barrier_notify(1, 0);
  gasnet_barrier_notify(19, 0);
}
static void barrier_inside(void) {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier(20, 0);
}
static void wait_twice(void) {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_wait(1, 0);
  (void)gasnet_barrier_wait(21, 0);
}
static void wait_after_barrier(void) {
  (void)gasnet_barrier(1, 0);
  (void)gasnet_barrier_wait(22, 0);
}
static void barrier_flags(void) {
  gasnet_barrier_notify(1, 64);
}
static void unnamed_without_anonymous(void) {
  gasnet_barrier_notify(1, GASNET_BARRIERFLAG_UNNAMED & ~GASNET_BARRIERFLAG_ANONYMOUS);
}
static void result_inside(void) {
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier_result(&(int){0});
}
static void result_before(void) {
  (void)gasnet_barrier_result(&(int){0});
}

/* ---- controls */
static void legal(void) {
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

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(put_node, "gex_RMA_PutBlocking", "rank", "99"),
    ROW(get_node, "gex_RMA_GetBlocking", "rank", "99"),
    ROW(put_outside, "gex_RMA_PutBlocking", "dest", "outside"),
    ROW(get_outside, "gex_RMA_GetNB", "src", "outside"),
    ROW(put_val_9, "gex_RMA_PutBlockingVal", "nbytes", "9"),
    ROW(get_val_9, "gex_RMA_GetBlockingVal", "nbytes", "9"),
    ROW(nb_val_9, "gasnet_get_nb_val", "nbytes", "9"),
    ROW(nb_val_0, "gasnet_get_nb_val", "nbytes", "0"),
    ROW(nb_val_node, "gasnet_get_nb_val", "rank", "99"),
    ROW(nb_val_outside, "gasnet_get_nb_val", "src", "outside"),
    ROW(memset_node, "gasnet_memset", "rank", "99"),
    ROW(memset_outside, "gasnet_memset", "dest", "outside"),
    ROW(memset_nb_outside, "gasnet_memset_nb", "dest", "outside"),
    ROW(memset_nbi_node, "gasnet_memset_nbi", "rank", "5"),
    ROW(valget_twice, "gasnet_wait_syncnb_valget", "handle", "0x", "once"),
    ROW(valget_null, "gasnet_wait_syncnb_valget", "handle"),
    ROW(am_node, "gasnet_AMRequestShort", "dest", "99"),
    ROW(am_handler, "gasnet_AMRequestShort", "handler", "100"),
    ROW(am_count_high, "gasnet_AMRequestShort", "numargs", "3", "2 arguments"),
    ROW(am_count_low, "gasnet_AMRequestMedium", "numargs", "1", "2 arguments"),
    ROW(am_limit, "gasnet_AMRequestMedium", "nbytes", "limit"),
    ROW(am_long_limit, "gasnet_AMRequestLong", "nbytes", "limit"),
    ROW(am_dest, "gasnet_AMRequestLong", "dest_addr", "outside"),
    ROW(am_async_dest, "gasnet_AMRequestLong", "dest_addr", "outside"),
    ROW(am_source, "gasnet_AMRequestMedium", "source_addr", "NULL"),
    ROW(reply_twice, "gasnet_AMReplyShort", "second reply"),
    ROW(reply_in_reply, "gasnet_AMReplyMedium", "reply handler"),
    ROW(reply_outside_handler, "gasnet_AMReplyShort", "token"),
    ROW(wait_only, "gasnet_barrier_wait", "17", "gasnet_barrier_notify"),
    ROW(try_only, "gasnet_barrier_try", "18", "gasnet_barrier_notify"),
    ROW(notify_twice, "gasnet_barrier_notify", "19"),
    ROW(barrier_inside, "gasnet_barrier", "20"),
    ROW(wait_twice, "gasnet_barrier_wait", "21", "gasnet_barrier_notify"),
    ROW(wait_after_barrier, "gasnet_barrier_wait", "22", "gasnet_barrier_notify"),
    ROW(barrier_flags, "gasnet_barrier_notify", "flags", "0x40"),
    ROW(unnamed_without_anonymous, "gasnet_barrier_notify", "flags", "0x4"),
    ROW(result_inside, "gasnet_barrier_result"),
    ROW(result_before, "gasnet_barrier_result"),
    ROW(legal, NULL),
    {"legal_unmapped", legal, {NULL}, 0, DBG_UNMAPPED},
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof *cases);
}
