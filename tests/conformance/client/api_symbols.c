/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every inline and every numbered message name is also a function that dlsym finds, so that other
 * languages can call it; this program uses the library through such pointers only.
 */
/* mode: PAR */
/* ranks: 1 2 4 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gasnet.h>

#include "check.h"

static void *find(const char *name) {
  void *const symbol = dlsym(RTLD_DEFAULT, name);
  if (!symbol) check_fail(__FILE__, __LINE__, "%s is not an exported function", name);
  check_count(1);
  return symbol;
}

/* Each family name with its 17 counts. */
static void find_numbered(void) {
  static const char *const family[] = {"gex_AM_RequestShort%d",
                                       "gex_AM_RequestMedium%d",
                                       "gex_AM_RequestLong%d",
                                       "gex_AM_ReplyShort%d",
                                       "gex_AM_ReplyMedium%d",
                                       "gex_AM_ReplyLong%d",
                                       "gex_AM_CommitRequestMedium%d",
                                       "gex_AM_CommitReplyMedium%d",
                                       "gex_AM_CommitRequestLong%d",
                                       "gex_AM_CommitReplyLong%d",
                                       "gex_AM_CommitRequestMedium%d_v2",
                                       "gex_AM_CommitReplyMedium%d_v2",
                                       "gex_AM_CommitRequestLong%d_v2",
                                       "gex_AM_CommitReplyLong%d_v2",
                                       "gasnet_AMRequestShort%d",
                                       "gasnet_AMRequestMedium%d",
                                       "gasnet_AMRequestLong%d",
                                       "gasnet_AMRequestLongAsync%d",
                                       "gasnet_AMReplyShort%d",
                                       "gasnet_AMReplyMedium%d",
                                       "gasnet_AMReplyLong%d"};
  char name[64];
  for (size_t f = 0; f < sizeof family / sizeof *family; f++)
    for (int n = 0; n <= 16; n++) {
      snprintf(name, sizeof name, family[f], n); /* one %d in each */
      (void)find(name);
    }
}

static void find_inlines(void) {
  static const char *const name[] = {"gex_Client_Init",
                                     "gasnet_init",
                                     "gex_HSL_Init",
                                     "gex_HSL_Destroy",
                                     "gex_HSL_Lock",
                                     "gex_HSL_Unlock",
                                     "gex_HSL_Trylock",
                                     "gex_Event_Test",
                                     "gex_Event_Wait",
                                     "gex_AM_MaxArgs",
                                     "gex_RMA_PutBlocking",
                                     "gex_RMA_PutNB",
                                     "gex_RMA_PutNBI",
                                     "gex_RMA_GetBlocking",
                                     "gex_RMA_GetNB",
                                     "gex_RMA_GetNBI",
                                     "gex_RMA_GetBlockingVal",
                                     "gex_RMA_PutBlockingVal",
                                     "gex_RMA_PutNBVal",
                                     "gex_RMA_PutNBIVal",
                                     "gasnet_mynode",
                                     "gasnet_nodes",
                                     "gasnet_AMMaxMedium",
                                     "gasnet_hold_interrupts",
                                     "gasnet_hsl_lock",
                                     "gasnet_put",
                                     "gasnet_put_nb_bulk",
                                     "gasnet_get_nbi",
                                     "gasnet_put_val",
                                     "gasnet_get_val",
                                     "gasnet_try_syncnb_some",
                                     "gasnet_wait_syncnbi_puts",
                                     "gasnet_end_nbi_accessregion"};
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) (void)find(name[i]);
}

/* ---- use through pointers */
enum { H_REQUEST = 200, H_LONG, H_REPLY };
typedef int reply_medium2_fn(gex_Token_t, gex_AM_Index_t, const void *, size_t, gex_Event_t *,
                             gex_Flags_t, gex_AM_Arg_t, gex_AM_Arg_t);
static reply_medium2_fn *reply_medium2;
static volatile int replies, longs;
static char *base;

static void on_request(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2) {
  CHECK_EQ(a0 * 100 + a1 * 10 + a2, 123);
  CHECK_EQ(reply_medium2(token, H_REPLY, "abc", 4, GEX_EVENT_NOW, 0, 8, 9), 0);
}
static void on_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0) {
  (void)token;
  CHECK_PTR(buf, base + 64);
  CHECK_BYTES(buf, nbytes, (uint64_t)a0);
  longs++;
}
static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0,
                     gex_AM_Arg_t a1) {
  (void)token;
  CHECK_STR((char *)buf, "abc");
  CHECK_EQ(nbytes * 100 + (size_t)a0 * 10 + (size_t)a1, 489);
  replies++;
}

/* A function pointer of the right type for a symbol. */
#define POINTER(type, name) type *const name##_fn = (type *)find(#name)

typedef int init_fn(gex_Client_t *, gex_EP_t *, gex_TM_t *, const char *, int *, char ***,
                    gex_Flags_t);
typedef int request3_fn(gex_TM_t, gex_Rank_t, gex_AM_Index_t, gex_Flags_t, gex_AM_Arg_t,
                        gex_AM_Arg_t, gex_AM_Arg_t);
typedef int commit_v2_fn(gex_AM_SrcDesc_t, gex_AM_Index_t, size_t, void *, gex_Flags_t,
                         gex_AM_Arg_t);
typedef int put_fn(gex_TM_t, gex_Rank_t, void *, const void *, size_t, gex_Flags_t);
typedef gasnet_register_value_t get_val_fn(gasnet_node_t, void *, size_t);
typedef int g1_request_fn(gasnet_node_t, gasnet_handler_t, gasnet_handlerarg_t, gasnet_handlerarg_t,
                          gasnet_handlerarg_t);

static void use_all(gex_TM_t tm, gex_Rank_t next, char *there) {
  POINTER(request3_fn, gex_AM_RequestShort3);
  POINTER(g1_request_fn, gasnet_AMRequestShort3);
  POINTER(commit_v2_fn, gex_AM_CommitRequestLong1_v2);
  POINTER(put_fn, gex_RMA_PutBlocking);
  POINTER(get_val_fn, gasnet_get_val);
  CHECK_EQ(gex_AM_RequestShort3_fn(tm, next, H_REQUEST, 0, 1, 2, 3), 0);
  CHECK_EQ(gasnet_AMRequestShort3_fn(next, H_REQUEST, 1, 2, 3), GASNET_OK);
  char out[100];
  pattern_fill(out, sizeof out, 77);
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestLong(tm, next, out, 1, sizeof out, NULL, GEX_EVENT_NOW, 0, 1);
  CHECK_EQ(gex_AM_CommitRequestLong1_v2_fn(sd, H_LONG, sizeof out, there + 64, 0, 77), 0);
  GASNET_BLOCKUNTIL(replies == 2 && longs == 1);
  const uint32_t word = 0xabcdef01;
  CHECK_EQ(gex_RMA_PutBlocking_fn(tm, next, there, &word, sizeof word, 0), 0);
  CHECK_EQ(gasnet_get_val_fn(next, there, 4), word);
}

int main(int argc, char **argv) {
  Dl_info where;
  void *const known = dlsym(RTLD_DEFAULT, "gasnet_AMPoll");
  if (!known || !dladdr(known, &where) || !strstr(where.dli_fname, "libtombolo.so")) {
    printf("skipped: this program does not use libtombolo.so, so dlsym does not see all of it\n");
    return 77;
  }
  find_numbered();
  find_inlines();
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  POINTER(init_fn, gex_Client_Init);
  reply_medium2 = (reply_medium2_fn *)find("gex_AM_ReplyMedium2");
  REQUIRE(gex_Client_Init_fn(&client, &ep, &tm, "SYMBOLS", &argc, &argv, GEX_FLAG_USES_GASNET1) ==
          GASNET_OK);
  check_set_rank(gex_TM_QueryRank(tm));
  gex_AM_Entry_t table[] = {
      {H_REQUEST, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, NULL, NULL},
      {H_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, NULL},
      {H_REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 2, NULL, NULL}};
  REQUIRE(gex_EP_RegisterHandlers(ep, table, 3) == GASNET_OK);
  REQUIRE(gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE) == GASNET_OK);
  base = (char *)gex_Segment_QueryAddr(segment);
  const gex_Rank_t next = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
  void *there = NULL;
  REQUIRE(gex_Segment_QueryBound(tm, next, &there, NULL, NULL) == 0);
  use_all(tm, next, (char *)there);
  gex_Coll_BarrierBlocking(tm, 0);
  return check_done();
}
