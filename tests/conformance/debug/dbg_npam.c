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
DBG_CASE(twice, "gex_AM_PrepareRequestMedium", "outstanding", "0x") {
  (void)medium();
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(twice_long, "gex_AM_PrepareRequestLong", "outstanding", "0x") {
  (void)medium();
  (void)gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, NULL, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(rank, "gex_AM_PrepareRequestMedium", "rank", "99") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 99, buf, 1, 64, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(nargs_17, "gex_AM_PrepareRequestMedium", "numargs", "17") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 0, 17);
}
DBG_CASE(least_most, "gex_AM_PrepareRequestMedium", "least_payload", "65", "64") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 65, 64, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(least_limit, "gex_AM_PrepareRequestMedium", "least_payload", "limit") {
  const size_t limit = gex_AM_MaxRequestMedium(dbg.tm, 0, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, limit + 1, limit + 2, NULL, 0, 0);
}
DBG_CASE(lc_without_buf, DBG_WARNS, "gex_AM_PrepareRequestMedium", "lc_opt", "client_buf") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 1, 64, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(buf_without_lc, DBG_WARNS, "gex_AM_PrepareRequestMedium", "lc_opt", "client_buf") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, NULL, 0, 0);
}
DBG_CASE(lc_defer, "gex_AM_PrepareRequestLong", "lc_opt", "DEFER") {
  (void)gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 64, NULL, GEX_EVENT_DEFER, 0, 0);
}
static void reply_group_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, buf, 1, 64, GEX_EVENT_GROUP, 0, 0);
}
DBG_CASE(reply_group, "gex_AM_PrepareReplyMedium", "lc_opt", "GROUP") {
  dbg_in_request(reply_group_body);
}
DBG_CASE(flags, DBG_WARNS, "gex_AM_PrepareRequestMedium", "flags", "0x40000000") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, 1u << 30, 0);
}
DBG_CASE(self_offset, "gex_AM_PrepareRequestMedium", "flags", "SELF_SEG_OFFSET") {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 64, GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_OFFSET,
                                    0);
}
static void in_reply_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
}
DBG_CASE(in_reply, "gex_AM_PrepareReplyMedium", "reply handler") {
  dbg_in_reply(in_reply_body);
}
static void after_reply_body(gex_Token_t token) {
  gex_AM_ReplyMedium0(token, reply_index, buf, 1, GEX_EVENT_NOW, 0);
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
}
DBG_CASE(after_reply, "gex_AM_PrepareReplyMedium", "second reply") {
  dbg_in_request(after_reply_body);
}

static void reply_while_prepared_body(gex_Token_t token) {
  (void)gex_AM_PrepareReplyMedium(token, NULL, 1, 64, NULL, 0, 0);
  gex_AM_ReplyMedium0(token, reply_index, buf, 1, GEX_EVENT_NOW, 0);
}
DBG_CASE(reply_while_prepared, "gex_AM_ReplyMedium", "prepared") {
  dbg_in_request(reply_while_prepared_body);
}

/* ---- Commit */
DBG_CASE(commit_no_op, "gex_AM_CommitRequestMedium", "sd", "GEX_AM_SRCDESC_NO_OP") {
  gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, 128, 1);
}
DBG_CASE(commit_long_of_medium, "gex_AM_CommitRequestLong", "sd", "gex_AM_PrepareRequestMedium") {
  gex_AM_CommitRequestLong0(medium(), medium_index, 1, dbg.base);
}
DBG_CASE(commit_medium_of_long, "gex_AM_CommitRequestMedium", "sd", "gex_AM_PrepareRequestLong") {
  gex_AM_CommitRequestMedium0(longer(NULL), medium_index, 1);
}
DBG_CASE(commit_reply_of_request, "gex_AM_CommitReplyMedium", "sd", "gex_AM_PrepareRequestMedium") {
  gex_AM_CommitReplyMedium0(medium(), medium_index, 1);
}
static void commit_request_body(gex_Token_t token) {
  gex_AM_CommitRequestMedium0(gex_AM_PrepareReplyMedium(token, buf, 1, 64, GEX_EVENT_NOW, 0, 0),
                              medium_index, 1);
}
DBG_CASE(commit_request_of_reply, "gex_AM_CommitRequestMedium", "sd", "gex_AM_PrepareReplyMedium") {
  dbg_in_request(commit_request_body);
}
DBG_CASE(commit_nargs, "gex_AM_CommitRequestMedium", "2 arguments", "numargs 0") {
  gex_AM_CommitRequestMedium2(medium(), medium_index, 1, 7, 8);
}
DBG_CASE(commit_nbytes, "gex_AM_CommitRequestMedium", "nbytes", "65", "64") {
  const gex_AM_SrcDesc_t sd = medium();
  gex_AM_CommitRequestMedium0(sd, medium_index, gex_AM_SrcDescSize(sd) + 1);
}
DBG_CASE(commit_handler, "gex_AM_CommitRequestMedium", "handler", "12") {
  gex_AM_CommitRequestMedium0(medium(), 12, 1);
}
DBG_CASE(commit_twice, "gex_AM_CommitRequestMedium", "sd", "before") {
  const gex_AM_SrcDesc_t sd = medium();
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
}
DBG_CASE(commit_after_cancel, "gex_AM_CommitRequestMedium", "sd", "before") {
  const gex_AM_SrcDesc_t sd = medium();
  (void)gex_AM_CancelRequestMedium(sd, 0);
  gex_AM_CommitRequestMedium0(sd, medium_index, 1);
}
DBG_CASE(commit_other_dest, DBG_WARNS, "gex_AM_CommitRequestLong", "dest_addr", "Prepare") {
  gex_AM_CommitRequestLong0(longer(dbg.base), medium_index, 1, dbg.base + 8);
}
DBG_CASE(commit_dest_outside, "gex_AM_CommitRequestLong", "dest_addr", "outside") {
  gex_AM_CommitRequestLong0(longer(NULL), medium_index, 8, dbg.base + DBG_SEG_BYTES - 7);
}
DBG_CASE(commit_v2_flags, DBG_WARNS, "gex_AM_CommitRequestMedium", "flags", "0x2") {
  (void)gex_AM_CommitRequestMedium0_v2(medium(), medium_index, 1, GEX_FLAG_LC_COPY_YES);
}
DBG_CASE(commit_untouched, DBG_WARNS, "gex_AM_CommitRequestMedium", "never written",
         "GASNET_SD_INIT") {
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 400, 400, NULL, 0, 0);
  gex_AM_CommitRequestMedium0(sd, medium_index, 400);
}

/* Written, but with what GASNET_SD_INITVAL=17 makes Prepare fill in. */
DBG_CASE(commit_seventeen, NULL) {
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, NULL, 400, 400, NULL, 0, 0);
  memset(gex_AM_SrcDescAddr(sd), 17, 400);
  gex_AM_CommitRequestMedium0(sd, medium_index, 400);
}

/* ---- Cancel, queries */
DBG_CASE(cancel_no_op, "gex_AM_CancelRequestMedium", "sd", "GEX_AM_SRCDESC_NO_OP") {
  (void)gex_AM_CancelRequestMedium(GEX_AM_SRCDESC_NO_OP, 0);
}
DBG_CASE(cancel_no_op_long, "gex_AM_CancelRequestLong", "sd", "GEX_AM_SRCDESC_NO_OP") {
  (void)gex_AM_CancelRequestLong(GEX_AM_SRCDESC_NO_OP, 0);
}
DBG_CASE(cancel_flags, DBG_WARNS, "gex_AM_CancelRequestMedium", "flags", "0x1") {
  (void)gex_AM_CancelRequestMedium(medium(), GEX_FLAG_IMMEDIATE);
}
DBG_CASE(cancel_kind, "gex_AM_CancelRequestLong", "sd", "gex_AM_PrepareRequestMedium") {
  (void)gex_AM_CancelRequestLong(medium(), 0);
}
DBG_CASE(cancel_reply_kind, "gex_AM_CancelReplyMedium", "sd", "gex_AM_PrepareRequestMedium") {
  (void)gex_AM_CancelReplyMedium(medium(), 0);
}
DBG_CASE(cancel_twice, "gex_AM_CancelRequestMedium", "sd", "before") {
  const gex_AM_SrcDesc_t sd = medium();
  (void)gex_AM_CancelRequestMedium(sd, 0);
  (void)gex_AM_CancelRequestMedium(sd, 0);
}
DBG_CASE(addr_no_op, "gex_AM_SrcDescAddr", "sd") {
  (void)gex_AM_SrcDescAddr(GEX_AM_SRCDESC_NO_OP);
}
DBG_CASE(size_no_op, "gex_AM_SrcDescSize", "sd") {
  (void)gex_AM_SrcDescSize(GEX_AM_SRCDESC_NO_OP);
}
DBG_CASE(size_dead, "gex_AM_SrcDescSize", "sd", "0x") {
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
DBG_CASE(legal, NULL) {
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

DBG_CASE_AS(untouched_by_value, commit_seventeen, 1, "GASNET_SD_INITVAL=17", DBG_WARNS,
            "never written")
DBG_CASE_AS(untouched_bad_value, commit_seventeen, 1, "GASNET_SD_INITVAL=300", DBG_SETTING,
            "SD_INITVAL", "300", "255")
DBG_CASE_AS(untouched_allowed, commit_untouched, 1, "GASNET_SD_INIT=0", NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, setup);
}
