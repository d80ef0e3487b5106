/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of negotiated-payload messages in debug clients (API 02.5, items Dbg).
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[512];
static gex_AM_Index_t medium_index, reply_index;

static void payload0(gex_Token_t token, void *payload, size_t nbytes) {
  (void)token, (void)payload, (void)nbytes;
}
static void setup(int *argc, char ***argv) {
  dbg_setup(argc, argv);
  medium_index = dbg_handler((gex_AM_Fn_t)payload0, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0);
  reply_index = dbg_handler((gex_AM_Fn_t)payload0, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 0);
}

/* A prepared Medium or Long of up to 64 bytes in our buffer, without arguments. */
static gex_AM_SrcDesc_t medium(void) {
  return gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 0, 0);
}
static gex_AM_SrcDesc_t longer(void *dest) {
  return gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, dest, GEX_EVENT_NOW, 0, 0);
}

/* ---- Prepare */
static void twice(void) {
  (void)medium();
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 0, 0);
}
static void twice_long(void) {
  (void)medium();
  (void)gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, NULL, GEX_EVENT_NOW, 0, 0);
}
static void rank(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 99, buf, 1, 64, GEX_EVENT_NOW, 0, 0);
}
static void nargs_17(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 0, 17);
}
static void least_most(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 65, 64, GEX_EVENT_NOW, 0, 0);
}
static void least_limit(void) {
  const size_t limit = gex_AM_MaxRequestMedium(dbg.tm, 0, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, limit + 1, limit + 2, NULL, 0, 0);
}
static void lc_without_buf(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 1, 64, GEX_EVENT_NOW, 0, 0);
}
static void buf_without_lc(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, NULL, 0, 0);
}
static void lc_defer(void) {
  (void)gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, NULL, GEX_EVENT_DEFER, 0, 0);
}
static void reply_group_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, buf, 1, 64, GEX_EVENT_GROUP, 0, 0);
}
static void reply_group(void) {
  dbg_in_request(reply_group_body);
}
static void flags(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 1u << 30, 0);
}
static void self_offset(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_OFFSET,
                                    0);
}
static void in_reply_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
}
static void in_reply(void) {
  dbg_in_reply(in_reply_body);
}
static void after_reply_body(gex_Token_t token) {
  gex_AM_ReplyMedium0(token, reply_index, buf, 1, GEX_EVENT_NOW, 0);
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
}
static void after_reply(void) {
  dbg_in_request(after_reply_body);
}

static void reply_while_prepared_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
  gex_AM_ReplyMedium0(token, reply_index, buf, 1, GEX_EVENT_NOW, 0);
}
static void reply_while_prepared(void) {
  dbg_in_request(reply_while_prepared_body);
}

/* ---- Commit */
static void commit_no_op(void) {
  gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, 128, 1);
}
static void commit_long_of_medium(void) {
  gex_AM_CommitRequestLong0(medium(), medium_index, 1, dbg.base);
}
static void commit_medium_of_long(void) {
  gex_AM_CommitRequestMedium0(longer(NULL), medium_index, 1);
}
static void commit_reply_of_request(void) {
  gex_AM_CommitReplyMedium0(medium(), medium_index, 1);
}
static void commit_request_body(gex_Token_t token) {
  gex_AM_CommitRequestMedium0(gex_AM_PrepareReplyMedium(token, buf, 1, 64, GEX_EVENT_NOW, 0, 0),
                              medium_index, 1);
}
static void commit_request_of_reply(void) {
  dbg_in_request(commit_request_body);
}
static void commit_nargs(void) {
  gex_AM_CommitRequestMedium2(medium(), medium_index, 1, 7, 8);
}
static void commit_nbytes(void) {
  const gex_AM_SrcDesc_t sd = medium();
  gex_AM_CommitRequestMedium0(sd, medium_index, gex_AM_SrcDescSize(sd) + 1);
}
static void commit_handler(void) {
  gex_AM_CommitRequestMedium0(medium(), 12, 1);
}
static void commit_twice(void) {
  const gex_AM_SrcDesc_t sd = medium();
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
}
static void commit_after_cancel(void) {
  const gex_AM_SrcDesc_t sd = medium();
  (void)gex_AM_CancelRequestMedium(sd, 0);
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
}
static void commit_other_dest(void) {
  gex_AM_CommitRequestLong0(longer(dbg.base), medium_index, 1, dbg.base + 8);
}
static void commit_dest_outside(void) {
  gex_AM_CommitRequestLong0(longer(NULL), medium_index, 8, dbg.base + DBG_SEG_BYTES - 7);
}
static void commit_v2_flags(void) {
  (void)gex_AM_CommitRequestMedium0_v2(medium(), medium_index, 1, GEX_FLAG_LC_COPY_YES);
}
static void commit_untouched(void) {
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 400, 400, NULL, 0, 0);
  gex_AM_CommitRequestMedium0(sd, medium_index, 400);
}

/* Written, but with what GASNET_SD_INITVAL=17 makes Prepare fill in. */
static void commit_seventeen(void) {
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 400, 400, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(sd), 17, 400);
  gex_AM_CommitRequestMedium0(sd, medium_index, 400);
}

/* ---- Cancel, queries */
static void cancel_no_op(void) {
  (void)gex_AM_CancelRequestMedium(GEX_AM_SRCDESC_NO_OP, 0);
}
static void cancel_no_op_long(void) {
  (void)gex_AM_CancelRequestLong(GEX_AM_SRCDESC_NO_OP, 0);
}
static void cancel_flags(void) {
  (void)gex_AM_CancelRequestMedium(medium(), GEX_FLAG_IMMEDIATE);
}
static void cancel_kind(void) {
  (void)gex_AM_CancelRequestLong(medium(), 0);
}
static void cancel_reply_kind(void) {
  (void)gex_AM_CancelReplyMedium(medium(), 0);
}
static void cancel_twice(void) {
  const gex_AM_SrcDesc_t sd = medium();
  (void)gex_AM_CancelRequestMedium(sd, 0);
  (void)gex_AM_CancelRequestMedium(sd, 0);
}
static void addr_no_op(void) {
  (void)gex_AM_SrcDescAddr(GEX_AM_SRCDESC_NO_OP);
}
static void size_no_op(void) {
  (void)gex_AM_SrcDescSize(GEX_AM_SRCDESC_NO_OP);
}
static void size_dead(void) {
  const gex_AM_SrcDesc_t sd = medium();
  (void)gex_AM_CancelRequestMedium(sd, 0);
  (void)gex_AM_SrcDescSize(sd);
}

/* ---- controls */
static void legal_body(gex_Token_t token) {
  const gex_AM_SrcDesc_t first = gex_AM_PrepareReplyMedium(token, NULL, 8, 64, NULL, 0, 0);
  (void)gex_AM_CancelReplyMedium(first, 0);
  gex_Event_t event;
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, buf, 8, 64, &event, 0, 0);
  gex_AM_CommitReplyMedium0(sd, reply_index, 8);
}
static void legal(void) {
  gex_AM_SrcDesc_t sd = medium();
  if (gex_AM_SrcDescAddr(sd) != buf || gex_AM_SrcDescSize(sd) > 64) _exit(7);
  gex_AM_CommitRequestMedium0(sd, medium_index, 0);
  sd = gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, dbg.base, GEX_EVENT_NOW, 0, 0);
  gex_AM_CommitRequestLong0(sd, medium_index, 1, dbg.base);
  sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 400, 400, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(sd), 1, 400);
  if (gex_AM_CommitRequestMedium0_v2(sd, medium_index, 400, 0)) _exit(7);
  dbg_in_request(legal_body);
  for (int i = 0; i < 100; i++) gasnet_AMPoll();
}

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(twice, "gex_AM_PrepareRequestMedium", "outstanding", "0x"),
    ROW(twice_long, "gex_AM_PrepareRequestLong", "outstanding", "0x"),
    ROW(rank, "gex_AM_PrepareRequestMedium", "rank", "99"),
    ROW(nargs_17, "gex_AM_PrepareRequestMedium", "numargs", "17"),
    ROW(least_most, "gex_AM_PrepareRequestMedium", "least_payload", "65", "64"),
    ROW(least_limit, "gex_AM_PrepareRequestMedium", "least_payload", "limit"),
    ROW(lc_without_buf, DBG_WARNS, "gex_AM_PrepareRequestMedium", "lc_opt", "client_buf"),
    ROW(buf_without_lc, DBG_WARNS, "gex_AM_PrepareRequestMedium", "lc_opt", "client_buf"),
    ROW(lc_defer, "gex_AM_PrepareRequestLong", "lc_opt", "DEFER"),
    ROW(reply_group, "gex_AM_PrepareReplyMedium", "lc_opt", "GROUP"),
    ROW(flags, DBG_WARNS, "gex_AM_PrepareRequestMedium", "flags", "0x40000000"),
    ROW(self_offset, "gex_AM_PrepareRequestMedium", "flags", "SELF_SEG_OFFSET"),
    ROW(in_reply, "gex_AM_PrepareReplyMedium", "reply handler"),
    ROW(after_reply, "gex_AM_PrepareReplyMedium", "second reply"),
    ROW(reply_while_prepared, "gex_AM_ReplyMedium", "prepared"),
    ROW(commit_no_op, "gex_AM_CommitRequestMedium", "sd", "GEX_AM_SRCDESC_NO_OP"),
    ROW(commit_long_of_medium, "gex_AM_CommitRequestLong", "sd", "gex_AM_PrepareRequestMedium"),
    ROW(commit_medium_of_long, "gex_AM_CommitRequestMedium", "sd", "gex_AM_PrepareRequestLong"),
    ROW(commit_reply_of_request, "gex_AM_CommitReplyMedium", "sd", "gex_AM_PrepareRequestMedium"),
    ROW(commit_request_of_reply, "gex_AM_CommitRequestMedium", "sd", "gex_AM_PrepareReplyMedium"),
    ROW(commit_nargs, "gex_AM_CommitRequestMedium", "2 arguments", "numargs 0"),
    ROW(commit_nbytes, "gex_AM_CommitRequestMedium", "nbytes", "65", "64"),
    ROW(commit_handler, "gex_AM_CommitRequestMedium", "handler", "12"),
    ROW(commit_twice, "gex_AM_CommitRequestMedium", "sd", "before"),
    ROW(commit_after_cancel, "gex_AM_CommitRequestMedium", "sd", "before"),
    ROW(commit_other_dest, DBG_WARNS, "gex_AM_CommitRequestLong", "dest_addr", "Prepare"),
    ROW(commit_dest_outside, "gex_AM_CommitRequestLong", "dest_addr", "outside"),
    ROW(commit_v2_flags, DBG_WARNS, "gex_AM_CommitRequestMedium", "flags", "0x2"),
    ROW(commit_untouched, DBG_WARNS, "gex_AM_CommitRequestMedium", "never written",
        "GASNET_SD_INIT"),
    ROW(cancel_no_op, "gex_AM_CancelRequestMedium", "sd", "GEX_AM_SRCDESC_NO_OP"),
    ROW(cancel_no_op_long, "gex_AM_CancelRequestLong", "sd", "GEX_AM_SRCDESC_NO_OP"),
    ROW(cancel_flags, DBG_WARNS, "gex_AM_CancelRequestMedium", "flags", "0x1"),
    ROW(cancel_kind, "gex_AM_CancelRequestLong", "sd", "gex_AM_PrepareRequestMedium"),
    ROW(cancel_reply_kind, "gex_AM_CancelReplyMedium", "sd", "gex_AM_PrepareRequestMedium"),
    ROW(cancel_twice, "gex_AM_CancelRequestMedium", "sd", "before"),
    ROW(addr_no_op, "gex_AM_SrcDescAddr", "sd"),
    ROW(size_no_op, "gex_AM_SrcDescSize", "sd"),
    ROW(size_dead, "gex_AM_SrcDescSize", "sd", "0x"),
    ROW(legal, NULL),
    ROW(commit_seventeen, NULL),
    {"untouched_by_value",
     commit_seventeen,
     {DBG_WARNS, "never written"},
     0,
     "GASNET_SD_INITVAL=17"},
    {"untouched_bad_value",
     commit_seventeen,
     {DBG_SETTING, "SD_INITVAL", "300", "255"},
     0,
     "GASNET_SD_INITVAL=300"},
    {"untouched_allowed", commit_untouched, {NULL}, 0, "GASNET_SD_INIT=0"},
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, setup, cases, sizeof cases / sizeof *cases);
}
