/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 00.8: every call that is illegal in restricted context, made in each kind of it: in a request
 * handler, in a reply handler, with a handler-safe lock held, between Prepare and Commit, and in a
 * no-interrupt section. The legal ones are made there, too, and must not be reported.
 */
/* ranks: 1 */
/* debug: yes */
/* timeout: 240 */
#include "dbg_case.h"

#include <stdio.h>

static char buf[64];
static gex_Event_t event; /* live, made in normal context */
static gex_Event_t events[1];
static volatile int zero;
static gex_AM_Entry_t entry;

static void untouched(gex_Token_t token) {
  (void)token;
}

/* ---- the forbidden calls */
static void poll(void) {
  (void)gasnet_AMPoll();
}
static void blockuntil(void) {
  GASNET_BLOCKUNTIL(zero);
}
static void request_short(void) {
  gex_AM_RequestShort0(dbg.tm, 0, 128, 0);
}
static void request_medium(void) {
  gex_AM_RequestMedium0(dbg.tm, 0, 128, buf, 1, GEX_EVENT_NOW, 0);
}
static void request_long(void) {
  gex_AM_RequestLong0(dbg.tm, 0, 128, buf, 1, dbg.base, GEX_EVENT_NOW, 0);
}
static void request_immediate(void) {
  gex_AM_RequestShort0(dbg.tm, 0, 128, GEX_FLAG_IMMEDIATE);
}
static void prepare_medium(void) {
  (void)gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 8, GEX_EVENT_NOW, 0, 0);
}
static void prepare_long(void) {
  (void)gex_AM_PrepareRequestLong(dbg.tm, 0, buf, 1, 8, NULL, GEX_EVENT_NOW, 0, 0);
}
static void put(void) {
  gex_RMA_PutBlocking(dbg.tm, 0, dbg.base, buf, 1, 0);
}
static void put_nb(void) {
  event = gex_RMA_PutNB(dbg.tm, 0, dbg.base, buf, 1, GEX_EVENT_NOW, 0);
}
static void put_nbi(void) {
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 1, GEX_EVENT_NOW, 0);
}
static void get(void) {
  gex_RMA_GetBlocking(dbg.tm, buf, 0, dbg.base, 1, 0);
}
static void get_nb(void) {
  event = gex_RMA_GetNB(dbg.tm, buf, 0, dbg.base, 1, 0);
}
static void get_nbi(void) {
  gex_RMA_GetNBI(dbg.tm, buf, 0, dbg.base, 1, 0);
}
static void get_val(void) {
  (void)gex_RMA_GetBlockingVal(dbg.tm, 0, dbg.base, 1, 0);
}
static void put_val(void) {
  gex_RMA_PutBlockingVal(dbg.tm, 0, dbg.base, 1, 1, 0);
}
static void put_nb_val(void) {
  event = gex_RMA_PutNBVal(dbg.tm, 0, dbg.base, 1, 1, 0);
}
static void put_nbi_val(void) {
  gex_RMA_PutNBIVal(dbg.tm, 0, dbg.base, 1, 1, 0);
}
static void event_test(void) {
  (void)gex_Event_Test(event);
}
static void event_wait(void) {
  gex_Event_Wait(event);
}
static void event_wait_invalid(void) {
  gex_Event_Wait(GEX_EVENT_INVALID);
}
static void event_test_invalid(void) {
  (void)gex_Event_Test(GEX_EVENT_INVALID);
}
static void test_some(void) {
  (void)gex_Event_TestSome(events, 1, 0);
}
static void wait_some(void) {
  gex_Event_WaitSome(events, 1, 0);
}
static void test_all(void) {
  (void)gex_Event_TestAll(events, 1, 0);
}
static void wait_all(void) {
  gex_Event_WaitAll(events, 1, 0);
}
static void leaf(void) {
  (void)gex_Event_QueryLeaf(event, GEX_EC_LC);
}
static void nbi_test(void) {
  (void)gex_NBI_Test(GEX_EC_ALL, 0);
}
static void nbi_wait(void) {
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
static void begin(void) {
  gex_NBI_BeginAccessRegion(0);
}
static void end(void) {
  event = gex_NBI_EndAccessRegion(0);
}
static void coll_barrier(void) {
  event = gex_Coll_BarrierNB(dbg.tm, 0);
}
static void coll_barrier_blocking(void) {
  gex_Coll_BarrierBlocking(dbg.tm, 0);
}
static void g1_notify(void) {
  gasnet_barrier_notify(1, 0);
}
static void g1_wait(void) {
  (void)gasnet_barrier_wait(1, 0);
}
static void g1_try(void) {
  (void)gasnet_barrier_try(1, 0);
}
static void g1_barrier(void) {
  (void)gasnet_barrier(1, 0);
}
static void g1_result(void) {
  (void)gasnet_barrier_result(&(int){0});
}
static void register_handlers(void) {
  (void)gex_EP_RegisterHandlers(dbg.ep, &entry, 1);
}
static void segment_attach(void) {
  (void)gex_Segment_Attach(&dbg.seg, dbg.tm, GASNET_PAGESIZE);
}
static void query_bound(void) {
  (void)gex_Segment_QueryBound(dbg.tm, 0, NULL, NULL, NULL);
}
static void query_bound_nb(void) {
  event = gex_EP_QueryBoundSegmentNB(dbg.tm, 0, NULL, NULL, NULL, 0);
}
static void translate(void) {
  (void)gex_TM_TranslateRankToJobrank(dbg.tm, 0);
}
static void translate_back(void) {
  (void)gex_TM_TranslateJobrankToRank(dbg.tm, 0);
}
static void translate_ep(void) {
  (void)gex_TM_TranslateRankToEP(dbg.tm, 0, 0);
}
static void segment_info(void) {
  (void)gasnet_getSegmentInfo(NULL, 0);
}
static void node_info(void) {
  (void)gasnet_getNodeInfo(NULL, 0);
}
static void g1_put(void) {
  gasnet_put(0, dbg.base, buf, 1);
}
static void g1_get_nbi(void) {
  gasnet_get_nbi(buf, 0, dbg.base, 1);
}
static void g1_memset(void) {
  gasnet_memset(0, dbg.base, 0, 1);
}
static void g1_get_nb_val(void) {
  (void)gasnet_get_nb_val(0, dbg.base, 1);
}
static void g1_request(void) {
  gasnet_AMRequestShort0(0, 128);
}
static void g1_try_nb(void) {
  (void)gasnet_try_syncnb(event);
}
static void g1_wait_puts(void) {
  gasnet_wait_syncnbi_puts();
}

#define CALL(fn, name) \
 { fn, #fn, name, 0 }
/* Neither waits nor sends: only a warning. */
#define MILD(fn, name) \
 { fn, #fn, name, 1 }
static const struct {
  void (*fn)(void);
  const char *id, *name;
  int mild;
} calls[] = {
    CALL(poll, "gasnet_AMPoll"),
    CALL(blockuntil, "GASNET_BLOCKUNTIL"),
    CALL(request_short, "gex_AM_RequestShort"),
    CALL(request_medium, "gex_AM_RequestMedium"),
    CALL(request_long, "gex_AM_RequestLong"),
    CALL(request_immediate, "gex_AM_RequestShort"),
    CALL(prepare_medium, "gex_AM_PrepareRequestMedium"),
    CALL(prepare_long, "gex_AM_PrepareRequestLong"),
    CALL(put, "gex_RMA_PutBlocking"),
    CALL(put_nb, "gex_RMA_PutNB"),
    CALL(put_nbi, "gex_RMA_PutNBI"),
    CALL(get, "gex_RMA_GetBlocking"),
    CALL(get_nb, "gex_RMA_GetNB"),
    CALL(get_nbi, "gex_RMA_GetNBI"),
    CALL(get_val, "gex_RMA_GetBlockingVal"),
    CALL(put_val, "gex_RMA_PutBlockingVal"),
    CALL(put_nb_val, "gex_RMA_PutNBVal"),
    CALL(put_nbi_val, "gex_RMA_PutNBIVal"),
    MILD(event_test, "gex_Event_Test"),
    CALL(event_wait, "gex_Event_Wait"),
    MILD(event_test_invalid, "gex_Event_Test"),
    CALL(event_wait_invalid, "gex_Event_Wait"),
    CALL(test_some, "gex_Event_TestSome"),
    CALL(wait_some, "gex_Event_WaitSome"),
    CALL(test_all, "gex_Event_TestAll"),
    CALL(wait_all, "gex_Event_WaitAll"),
    MILD(leaf, "gex_Event_QueryLeaf"),
    CALL(nbi_test, "gex_NBI_Test"),
    CALL(nbi_wait, "gex_NBI_Wait"),
    CALL(begin, "gex_NBI_BeginAccessRegion"),
    CALL(end, "gex_NBI_EndAccessRegion"),
    CALL(coll_barrier, "gex_Coll_BarrierNB"),
    CALL(coll_barrier_blocking, "gex_Coll_Barrier"),
    CALL(g1_notify, "gasnet_barrier_notify"),
    CALL(g1_wait, "gasnet_barrier_wait"),
    CALL(g1_try, "gasnet_barrier_try"),
    CALL(g1_barrier, "gasnet_barrier"),
    CALL(g1_result, "gasnet_barrier_result"),
    MILD(register_handlers, "gex_EP_RegisterHandlers"),
    CALL(segment_attach, "gex_Segment_Attach"),
    CALL(query_bound, "gex_Segment_QueryBound"),
    CALL(query_bound_nb, "gex_EP_QueryBoundSegmentNB"),
    MILD(translate, "gex_TM_TranslateRankToJobrank"),
    MILD(translate_back, "gex_TM_TranslateJobrankToRank"),
    MILD(translate_ep, "gex_TM_TranslateRankToEP"),
    MILD(segment_info, "gasnet_getSegmentInfo"),
    MILD(node_info, "gasnet_getNodeInfo"),
    CALL(g1_put, "gasnet_put"),
    CALL(g1_get_nbi, "gasnet_get_nbi"),
    CALL(g1_memset, "gasnet_memset"),
    CALL(g1_get_nb_val, "gasnet_get_nb_val"),
    CALL(g1_request, "gasnet_AMRequestShort"),
    CALL(g1_try_nb, "gasnet_AMPoll"),
    CALL(g1_wait_puts, "gex_NBI_Wait"),
};
enum { CALLS = sizeof calls / sizeof *calls, CONTEXTS = 4 };

/* ---- the contexts: each makes the chosen call inside */
static int chosen = -1;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;

/* All that is legal in every restricted context. */
static void legal_calls(void) {
  gex_RankInfo_t *info;
  gex_Rank_t count, index;
  gex_HSL_t inner = GEX_HSL_INITIALIZER;
  gex_HSL_Lock(&inner);
  gex_HSL_Unlock(&inner);
  if (gex_HSL_Trylock(&inner) == GASNET_OK) gex_HSL_Unlock(&inner);
  if (gasnet_mynode() >= gasnet_nodes()) _exit(7);
  gasnet_QueryGexObjects(NULL, NULL, NULL, NULL);
  (void)gex_AM_MaxRequestMedium(dbg.tm, 0, GEX_EVENT_NOW, 0, 0);
  (void)gex_AM_LUBReplyLong();
  gex_Client_SetCData(dbg.client, buf);
  gex_TM_SetCData(dbg.tm, buf);
  gex_EP_SetCData(dbg.ep, buf);
  gex_Segment_SetCData(dbg.seg, buf);
  if (gex_TM_QueryCData(dbg.tm) != buf || gex_EP_QueryCData(dbg.ep) != buf) _exit(7);
  if (gex_EP_QuerySegment(dbg.ep) != dbg.seg || gex_TM_QuerySize(dbg.tm) != dbg.size) _exit(7);
  if (gex_Segment_QueryAddr(dbg.seg) != dbg.base || gex_TM_QueryEP(dbg.tm) != dbg.ep) _exit(7);
  (void)gex_TM_Pair(dbg.ep, 0);
  (void)gex_System_QueryJobRank();
  gex_System_QueryNbrhdInfo(&info, &count, &index);
  gex_System_QueryHostInfo(&info, &count, &index);
  gex_System_QueryMyPosition(&count, &count, &count, &count);
  (void)gex_System_QueryMaxThreads();
  (void)gex_System_QueryHiddenAMConcurrencyLevel();
  gex_System_SetVerboseErrors(gex_System_GetVerboseErrors());
  if (gex_EP_QueryBoundSegmentNB(dbg.tm, 0, NULL, NULL, NULL, GEX_FLAG_IMMEDIATE)) _exit(7);
}

static void make_call(void) {
  if (chosen < 0)
    legal_calls();
  else
    calls[chosen].fn();
}
static void in_handler(gex_Token_t token) {
  (void)token;
  make_call();
}
static void in_request(void) {
  dbg_in_request(in_handler);
}
static void in_reply(void) {
  dbg_in_reply(in_handler);
}
static void with_lock(void) {
  gex_HSL_Lock(&lock);
  make_call();
  gex_HSL_Unlock(&lock);
}
static void prepared(void) {
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 8, GEX_EVENT_NOW, 0, 0);
  make_call();
  (void)gex_AM_CancelRequestMedium(sd, 0);
}
static const struct {
  void (*fn)(void);
  const char *id, *word;
} contexts[CONTEXTS] = {{in_request, "in_request", "request handler"},
                        {in_reply, "in_reply", "reply handler"},
                        {with_lock, "with_lock", "handler-safe lock"},
                        {prepared, "prepared", "Prepare"}};

/* ---- cases: one for each pair, and one control for each context */
static struct dbg_case cases[(CALLS + 1) * CONTEXTS];
static char names[(CALLS + 1) * CONTEXTS][64];
static int context_of_case;

static void run_chosen(void) {
  gex_Event_t lc;
  entry = (gex_AM_Entry_t){
      0, (gex_AM_Fn_t)untouched, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, NULL};
  event = dbg_live_event(&lc);
  events[0] = dbg_live_event(GEX_EVENT_NOW);
  contexts[context_of_case].fn();
}

/* gasnet_barrier_wait and try are only reached after a notify. */
static void setup(int *argc, char ***argv) {
  for (int c = 0; c < CONTEXTS; c++)
    for (int k = -1; k < CALLS; k++)
      if (strcmp((*argv)[2], names[c * (CALLS + 1) + k + 1]) == 0) chosen = k, context_of_case = c;
  dbg_setup(argc, argv);
  if (chosen >= 0 && (calls[chosen].fn == g1_wait || calls[chosen].fn == g1_try))
    gasnet_barrier_notify(1, 0);
}

int main(int argc, char **argv) {
  for (int c = 0; c < CONTEXTS; c++)
    for (int k = -1; k < CALLS; k++) {
      const int i = c * (CALLS + 1) + k + 1;
      snprintf(names[i], sizeof names[i], "%s/%s", contexts[c].id, k < 0 ? "legal" : calls[k].id);
      cases[i].name = names[i];
      cases[i].run = run_chosen;
      cases[i].ranks = 1;
      dbg_add(&cases[i]);
      if (k < 0) continue;
      cases[i].words[0] = calls[k].mild ? DBG_WARNS : calls[k].name;
      cases[i].words[1] = calls[k].mild ? calls[k].name : contexts[c].word;
    }
  return dbg_main(argc, argv, setup);
}
