/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of active messages in debug clients (API 02, items Dbg): arguments of requests and
 * replies, registered promises against what arrives, tokens, what handlers leave behind, limits
 * queries.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

#define REQUEST GEX_FLAG_AM_REQUEST
#define REPLY   GEX_FLAG_AM_REPLY

static char buf[64];
static gex_AM_Index_t index_used = 200; /* never registered */

static void wait_long(void) {
  for (int i = 0; i < 1000; i++) gasnet_AMPoll();
}

/* ---- arguments of requests */
DBG_CASE(rank_short, "gex_AM_RequestShort", "rank", "99") {
  gex_AM_RequestShort0(dbg.tm, 99, 128, 0);
}
DBG_CASE(rank_medium, "gex_AM_RequestMedium", "rank", "99") {
  gex_AM_RequestMedium0(dbg.tm, 99, 128, buf, 1, GEX_EVENT_NOW, 0);
}
DBG_CASE(rank_long, "gex_AM_RequestLong", "rank", "99") {
  gex_AM_RequestLong0(dbg.tm, 99, 128, buf, 1, dbg.base, GEX_EVENT_NOW, 0);
}
DBG_CASE(team_invalid, "gex_AM_RequestShort", "tm", "GEX_TM_INVALID") {
  gex_AM_RequestShort0(GEX_TM_INVALID, 0, 128, 0);
}
DBG_CASE(handler_low, "gex_AM_RequestShort", "handler", "127") {
  gex_AM_RequestShort0(dbg.tm, 0, 127, 0);
}
DBG_CASE(flags_short, "gex_AM_RequestShort", "flags", "0x40000000") {
  gex_AM_RequestShort0(dbg.tm, 0, 128, 1u << 30);
}
DBG_CASE(flags_medium, "gex_AM_RequestMedium", "flags", "0x40000000") {
  gex_AM_RequestMedium0(dbg.tm, 0, 128, buf, 1, GEX_EVENT_NOW, 1u << 30);
}
DBG_CASE(two_peer_seg, "gex_AM_RequestLong", "flags", "PEER_SEG") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 1, dbg.base, GEX_EVENT_NOW,
                      GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND);
}
DBG_CASE(medium_limit, "gex_AM_RequestMedium", "nbytes", "limit") {
  const size_t limit = gex_AM_MaxRequestMedium(dbg.tm, 0, GEX_EVENT_NOW, 0, 0);
  char *const big = (char *)calloc(1, limit + 1);
  if (!big) _exit(6);
  gex_AM_RequestMedium0(dbg.tm, 0, 128, big, limit + 1, GEX_EVENT_NOW, 0);
}
DBG_CASE(long_limit, "gex_AM_RequestLong", "nbytes", "limit") {
  const size_t limit = gex_AM_MaxRequestLong(dbg.tm, 0, GEX_EVENT_NOW, 0, 0);
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, limit + 1, dbg.base, GEX_EVENT_NOW, 0);
}
DBG_CASE(source_null_medium, "gex_AM_RequestMedium", "source_addr", "NULL", "5") {
  gex_AM_RequestMedium0(dbg.tm, 0, 128, NULL, 5, GEX_EVENT_NOW, 0);
}
DBG_CASE(source_null_long, "gex_AM_RequestLong", "source_addr", "NULL", "5") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, NULL, 5, dbg.base, GEX_EVENT_NOW, 0);
}
DBG_CASE(dest_below, "gex_AM_RequestLong", "dest_addr", "5 bytes", "outside") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 5, dbg.base - 1, GEX_EVENT_NOW, 0);
}
DBG_CASE(dest_end, "gex_AM_RequestLong", "dest_addr", "5 bytes", "outside") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 5, dbg.base + DBG_SEG_BYTES - 4, GEX_EVENT_NOW, 0);
}
DBG_CASE(dest_overlap, "gex_AM_RequestLong", "destination", "overlap") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, dbg.base, 5, dbg.base + 4, GEX_EVENT_NOW, 0);
}
DBG_CASE(lc_null_medium, "gex_AM_RequestMedium", "lc_opt", "NULL") {
  gex_AM_RequestMedium0(dbg.tm, 0, 128, buf, 1, NULL, 0);
}
DBG_CASE(lc_null_long, "gex_AM_RequestLong", "lc_opt", "NULL") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 1, dbg.base, NULL, 0);
}
DBG_CASE(lc_defer_medium, "gex_AM_RequestMedium", "lc_opt", "GEX_EVENT_DEFER") {
  gex_AM_RequestMedium0(dbg.tm, 0, 128, buf, 1, GEX_EVENT_DEFER, 0);
}
DBG_CASE(lc_defer_long, "gex_AM_RequestLong", "lc_opt", "GEX_EVENT_DEFER") {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 1, dbg.base, GEX_EVENT_DEFER, 0);
}

/* ---- what arrives against what was registered */
static void count0(gex_Token_t token) {
  (void)token;
}
static void payload1(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t a) {
  (void)token, (void)payload, (void)nbytes, (void)a;
}
DBG_CASE(unregistered, "handler 200", "register") {
  gex_AM_RequestShort0(dbg.tm, 0, index_used, 0);
  wait_long();
}
DBG_CASE(nargs_short, DBG_WARNS, "2 arguments", "gex_nargs 0") {
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)count0, GEX_FLAG_AM_SHORT | REQUEST, 0);
  gex_AM_RequestShort2(dbg.tm, 0, h, 0, 1, 2);
  wait_long();
}
DBG_CASE(nargs_medium, DBG_WARNS, "0 arguments", "gex_nargs 1") {
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)payload1, GEX_FLAG_AM_MEDIUM | REQUEST, 1);
  gex_AM_RequestMedium0(dbg.tm, 0, h, buf, 4, GEX_EVENT_NOW, 0);
  wait_long();
}
DBG_CASE(category_short, "Short", "gex_flags", "misuse") {
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)payload1, GEX_FLAG_AM_MEDLONG | REQUEST, 1);
  gex_AM_RequestShort1(dbg.tm, 0, h, 0, 1);
  wait_long();
}
DBG_CASE(category_long, DBG_WARNS, "Long", "gex_flags", "misuse") {
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)payload1, GEX_FLAG_AM_MEDIUM | REQUEST, 1);
  gex_AM_RequestLong1(dbg.tm, 0, h, buf, 4, dbg.base, GEX_EVENT_NOW, 0, 1);
  wait_long();
}
DBG_CASE(reply_only, DBG_WARNS, "request", "gex_flags", "misuse") {
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)count0, GEX_FLAG_AM_SHORT | REPLY, 0);
  gex_AM_RequestShort0(dbg.tm, 0, h, 0);
  wait_long();
}
static void request_only_body(gex_Token_t token) {
  gex_AM_ReplyShort0(token, index_used, 0);
}
DBG_CASE(request_only, DBG_WARNS, "reply", "gex_flags", "misuse") {
  index_used = dbg_handler((gex_AM_Fn_t)count0, GEX_FLAG_AM_SHORT | REQUEST, 0);
  dbg_in_request(request_only_body);
  wait_long();
}

/* ---- replies; each body runs in a request or reply handler */
#define IN_REQUEST(name, statement, ...)                                       \
 static void name##_body(gex_Token_t token) {                                  \
  statement;                                                                   \
 }                                                                             \
 DBG_CASE(name, __VA_ARGS__) {                                                 \
  index_used = dbg_handler((gex_AM_Fn_t)count0, GEX_FLAG_AM_SHORT | REPLY, 0); \
  dbg_in_request(name##_body);                                                 \
 }
#define IN_REPLY(name, statement, ...)        \
 static void name##_body(gex_Token_t token) { \
  statement;                                  \
 }                                            \
 DBG_CASE(name, __VA_ARGS__) {                \
  dbg_in_reply(name##_body);                  \
 }

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_Token_t kept;

static void reply_lc_group(gex_Token_t token) {
  gex_AM_ReplyMedium0(token, index_used, buf, 1, GEX_EVENT_GROUP, 0);
}
IN_REQUEST(twice,
           (gex_AM_ReplyShort0(token, index_used, 0), gex_AM_ReplyShort0(token, index_used, 0)),
           "gex_AM_ReplyShort", "second reply")
IN_REQUEST(twice_medium,
           (gex_AM_ReplyShort0(token, index_used, 0),
            gex_AM_ReplyMedium0(token, index_used, buf, 1, GEX_EVENT_NOW, 0)),
           "gex_AM_ReplyMedium", "second reply")
IN_REPLY(reply_in_reply, gex_AM_ReplyShort0(token, 128, 0), "gex_AM_ReplyShort", "reply handler")
IN_REQUEST(reply_group, reply_lc_group(token), "gex_AM_ReplyMedium", "lc_opt", "GEX_EVENT_GROUP")
IN_REQUEST(reply_defer, gex_AM_ReplyMedium0(token, index_used, buf, 1, GEX_EVENT_DEFER, 0),
           "gex_AM_ReplyMedium", "lc_opt", "GEX_EVENT_DEFER")
IN_REQUEST(reply_lc_null, gex_AM_ReplyLong0(token, index_used, buf, 1, dbg.base, NULL, 0),
           "gex_AM_ReplyLong", "lc_opt", "NULL")
IN_REQUEST(reply_dest,
           gex_AM_ReplyLong0(token, index_used, buf, 5, dbg.base + DBG_SEG_BYTES, GEX_EVENT_NOW, 0),
           "gex_AM_ReplyLong", "dest_addr", "outside")
IN_REQUEST(reply_limit, gex_AM_ReplyMedium0(token, index_used, buf, 1u << 30, GEX_EVENT_NOW, 0),
           "gex_AM_ReplyMedium", "nbytes", "1073741824")
IN_REQUEST(reply_source, gex_AM_ReplyMedium0(token, index_used, NULL, 5, GEX_EVENT_NOW, 0),
           "gex_AM_ReplyMedium", "source_addr", "NULL")
IN_REQUEST(reply_handler_low, gex_AM_ReplyShort0(token, 5, 0), "gex_AM_ReplyShort", "handler", "5")
IN_REQUEST(reply_flags, gex_AM_ReplyShort0(token, index_used, 1u << 30), DBG_WARNS,
           "gex_AM_ReplyShort", "flags", "0x40000000")
IN_REQUEST(reply_locked, (gex_HSL_Lock(&lock), gex_AM_ReplyShort0(token, index_used, 0)),
           "gex_AM_ReplyShort", "handler-safe lock", "0x")
IN_REQUEST(reply_null_token, ((void)token, gex_AM_ReplyShort0((gex_Token_t)0, index_used, 0)),
           "gex_AM_ReplyShort", "token", "NULL")
IN_REQUEST(leak_lock, ((void)token, gex_HSL_Lock(&lock)), "returned", "handler-safe lock")
IN_REQUEST(leak_prepared, (void)gex_AM_PrepareReplyMedium(token, NULL, 8, 8, NULL, 0, 0),
           "returned", "prepared reply")
static void keep(gex_Token_t token) {
  kept = token;
}
static void keep_token(void) {
  dbg_in_request(keep);
}

DBG_CASE(token_after_reply, "gex_AM_ReplyShort", "token", "0x") {
  keep_token();
  gex_AM_ReplyShort0(kept, index_used, 0);
}
DBG_CASE(token_after_info, "gex_Token_Info", "token", "0x") {
  gex_Token_Info_t info;
  keep_token();
  (void)gex_Token_Info(kept, &info, GEX_TI_SRCRANK);
}
DBG_CASE(token_after_source, "gasnet_AMGetMsgSource", "token", "0x") {
  gasnet_node_t node;
  keep_token();
  (void)gasnet_AMGetMsgSource(kept, &node);
}
DBG_CASE(token_after_max, "gex_Token_MaxReplyMedium", "token", "0x") {
  keep_token();
  (void)gex_Token_MaxReplyMedium(kept, GEX_EVENT_NOW, 0, 0);
}
static void info_bits(gex_Token_t token) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(token, &info, 1u << 20);
}
IN_REQUEST(token_mask, info_bits(token), DBG_WARNS, "gex_Token_Info", "mask", "0x100000")
IN_REQUEST(token_info_null, (void)gex_Token_Info(token, NULL, GEX_TI_ALL), "gex_Token_Info", "info",
           "NULL")

/* ---- limits queries */
DBG_CASE(max_rank, "gex_AM_MaxRequestMedium", "rank", "99") {
  (void)gex_AM_MaxRequestMedium(dbg.tm, 99, GEX_EVENT_NOW, 0, 0);
}
DBG_CASE(max_nargs, "gex_AM_MaxRequestLong", "numargs", "17") {
  (void)gex_AM_MaxRequestLong(dbg.tm, 0, GEX_EVENT_NOW, 0, 17);
}
DBG_CASE(max_defer, DBG_WARNS, "gex_AM_MaxRequestMedium", "lc_opt", "DEFER") {
  (void)gex_AM_MaxRequestMedium(dbg.tm, 0, GEX_EVENT_DEFER, 0, 0);
}
DBG_CASE(max_group, DBG_WARNS, "gex_AM_MaxReplyMedium", "lc_opt", "GROUP") {
  (void)gex_AM_MaxReplyMedium(dbg.tm, 0, GEX_EVENT_GROUP, 0, 0);
}
DBG_CASE(max_both, DBG_WARNS, "gex_AM_MaxReplyLong", "flags", "LEAST") {
  (void)gex_AM_MaxReplyLong(dbg.tm, 0, GEX_EVENT_NOW,
                            GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
}
DBG_CASE(max_flags, DBG_WARNS, "gex_AM_MaxRequestMedium", "flags", "0x40000000") {
  (void)gex_AM_MaxRequestMedium(dbg.tm, 0, GEX_EVENT_NOW, 1u << 30, 0);
}
DBG_CASE(max_team, "gex_AM_MaxRequestMedium", "tm", "GEX_TM_INVALID") {
  (void)gex_AM_MaxRequestMedium(GEX_TM_INVALID, 0, GEX_EVENT_NOW, 0, 0);
}
IN_REQUEST(token_max_group, (void)gex_Token_MaxReplyMedium(token, GEX_EVENT_GROUP, 0, 0), DBG_WARNS,
           "gex_Token_MaxReplyMedium", "lc_opt", "GROUP")
IN_REQUEST(token_max_nargs, (void)gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 17),
           "gex_Token_MaxReplyLong", "numargs", "17")

/* ---- controls */
static void legal_body(gex_Token_t token) {
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  gex_Token_Info_t info;
  if (gex_Token_Info(token, &info, GEX_TI_ALL) != GEX_TI_ALL) _exit(7);
  if (gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 16) < 512) _exit(7);
  if (gex_AM_MaxReplyLong(dbg.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0) < 512) _exit(7);
  gex_AM_ReplyShort0(token, index_used, 0);
}
DBG_CASE(legal, NULL) {
  index_used = dbg_handler((gex_AM_Fn_t)count0, GEX_FLAG_AM_SHORT | REPLY, 0);
  dbg_in_request(legal_body);
  const gex_AM_Index_t h = dbg_handler((gex_AM_Fn_t)payload1, GEX_FLAG_AM_MEDLONG | REQUEST, 1);
  gex_Event_t event;
  gex_AM_RequestMedium1(dbg.tm, 0, h, NULL, 0, GEX_EVENT_GROUP, 0, 1);
  gex_AM_RequestMedium1(dbg.tm, 0, h, buf, 9, &event, 0, 1);
  gex_Event_Wait(event);
  gex_AM_RequestLong1(dbg.tm, 0, h, NULL, 0, NULL, GEX_EVENT_NOW, 0, 1);
  gex_AM_RequestLong1(dbg.tm, 0, h, buf, 4, dbg.base + DBG_SEG_BYTES - 4, GEX_EVENT_NOW, 0, 1);
  gex_NBI_Wait(GEX_EC_AM, 0);
  wait_long();
}

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
