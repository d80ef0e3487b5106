/* SPDX-License-Identifier: BSD-3-Clause */
/* The job and the handlers of the cases in bugs.c, chaos.c, right.c and crowd.c. */
#include "bugs.h"

gex_TM_t tm;
gex_Rank_t me;
long *base[RANKS_MAX];
int changed, code;
volatile long value, count;
char order[256];
volatile uint32_t came;

#define A15                                                                                \
 gex_AM_Arg_t a1, gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,      \
     gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10, \
     gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14, gex_AM_Arg_t a15

static void on_add(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value += n;
  count++;
}
static void on_scale(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  value *= n;
  count++;
}
/* Append the sender to the order. */
static void on_name(gex_Token_t t) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(t, &info, GEX_TI_SRCRANK);
  order[count++] = (char)('0' + info.gex_srcrank);
}

/* Prepare a reply, and send another one. */
static void on_ask(gex_Token_t t, void *buf, size_t nbytes) {
  (void)buf, (void)nbytes;
  gex_AM_CancelReplyMedium(gex_AM_PrepareReplyMedium(t, NULL, 8, 8, NULL, 0, 0), 0);
  gex_AM_ReplyShort(t, H_TELL, 0);
  value++;
}
static void on_tell(gex_Token_t t) {
  (void)t;
  count++;
}

/* Append a number to the order; a request is answered. */
static void append(uint32_t n) {
  came = came * 31 + n;
  count++;
}
static void on_item(gex_Token_t t, gex_AM_Arg_t n) {
  append((uint32_t)n);
  gex_AM_ReplyShort(t, H_BACK, 0, n);
}
static void on_back(gex_Token_t t, gex_AM_Arg_t n) {
  (void)t;
  append((uint32_t)n);
}
static void on_many(gex_Token_t t, gex_AM_Arg_t n, A15) {
  (void)t, (void)(a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15);
  append((uint32_t)n);
}

static void on_place(gex_Token_t t, void *buf, size_t nbytes, gex_AM_Arg_t n, A15) {
  on_many(t, n, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15);
  if (((const char *)buf)[nbytes - 1] != (char)n) append(UINT32_MAX);
}

/* A request is answered by the largest reply, which waits for a buffer. */
static void on_long(gex_Token_t t, gex_AM_Arg_t n) {
  append((uint32_t)n);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(t, NULL, 65536, 65536, NULL, 0, 1);
  memset(gex_AM_SrcDescAddr(sd), n, 65536);
  gex_AM_CommitReplyMedium(sd, H_FULL, 65536, n);
}
static void on_full(gex_Token_t t, void *buf, size_t nbytes, gex_AM_Arg_t n) {
  (void)t;
  append(((const unsigned char *)buf)[nbytes - 1] == (unsigned char)n ? (uint32_t)n : UINT32_MAX);
}

void barrier(void) {
  gex_Coll_BarrierBlocking(tm, 0);
}

void verdict(int bug, const char *text) {
  if (!bug) return;
  printf("rank %u: wrong: %s\n", me, text);
  fflush(stdout);
  code = 3;
}

uint64_t atomic(gex_AD_t ad, gex_OP_t op, uint64_t a, uint64_t b) {
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, (uint64_t *)(void *)base[0], op, a, b, 0));
  return old;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_AM_Entry_t handlers[] = {
      {H_ADD, (gex_AM_Fn_t)on_add, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_SCALE, (gex_AM_Fn_t)on_scale, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_NAME, (gex_AM_Fn_t)on_name, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL},
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {H_TELL, (gex_AM_Fn_t)on_tell, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, NULL, NULL},
      {H_ITEM, (gex_AM_Fn_t)on_item, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_MANY, (gex_AM_Fn_t)on_many, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 16, NULL, NULL},
      {H_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, NULL},
      {H_FULL, (gex_AM_Fn_t)on_full, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 1, NULL, NULL},
      {H_PLACE, (gex_AM_Fn_t)on_place, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 16, NULL, NULL},
      {H_BACK, (gex_AM_Fn_t)on_back, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, NULL}};
  gex_Client_Init(&client, &ep, &tm, "bugs", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, SEGMENT_BYTES);
  gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  me = gex_TM_QueryRank(tm);
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm) && r < RANKS_MAX; r++) {
    void *at = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &at, NULL, NULL, 0));
    base[r] = at;
  }
  memset(base[me], 0, SEGMENT_BYTES);
  barrier();
  changed = argc > 2;
  case_run(argc, argv);
  barrier();
  gasnet_exit(code);
}
