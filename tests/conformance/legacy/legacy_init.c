/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08.2 and 08.3: the states of gasnet_init and gasnet_attach, what is legal between them, their
 * errors, handler numbering, segment sizes that differ, the attach hook, and all queries.
 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* ranks: 1 2 3 4 7 */
#include <gasnet.h>

#include "check.h"
#include "error_names.h"

static void *hook_base;
static uintptr_t hook_bytes;
static int hook_calls;

static void attach_hook(void *base, uintptr_t bytes) {
  hook_base = base;
  hook_bytes = bytes;
  hook_calls++;
}

static volatile int pinged[4];
static void ping0(gasnet_token_t token) {
  (void)token;
  pinged[0]++;
}
static void ping1(gasnet_token_t token, gasnet_handlerarg_t a) {
  (void)token;
  pinged[1] += a;
}
static void ping2(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t a,
                  gasnet_handlerarg_t b) {
  (void)token, (void)buf;
  pinged[2] += (int)nbytes * a * b;
}
static void ping3(gex_Token_t token) {
  (void)token;
  pinged[3]++;
}

static void before_init(void) {
  gasnet_handlerentry_t table[] = {{0, (gex_AM_Fn_t)ping0}};
  CHECK_EQ(gasnet_attach(table, 1, GASNET_PAGESIZE, 0), GASNET_ERR_NOT_INIT);
  CHECK_EQ(table[0].index, 0);
}

static void between(uintptr_t *max_local) {
  CHECK_CMP(gasnet_nodes(), >=, 1);
  CHECK_CMP(gasnet_mynode(), <, gasnet_nodes());
  CHECK_EQ(gasneti_mynode, gasnet_mynode());
  CHECK_EQ(gasneti_nodes, gasnet_nodes());
  const uintptr_t local = gasnet_getMaxLocalSegmentSize();
  const uintptr_t global = gasnet_getMaxGlobalSegmentSize();
  CHECK(local >= GASNET_PAGESIZE && local % GASNET_PAGESIZE == 0);
  CHECK(global >= GASNET_PAGESIZE && global % GASNET_PAGESIZE == 0);
  CHECK_CMP(global, <=, local);
  CHECK_STR(gasnet_getenv("TMB_LEGACY_INIT_MARK"), "mark");
  CHECK(gasnet_getenv("TMB_NOT_IN_THE_ENVIRONMENT") == NULL);
  int argc = 0;
  char **argv = NULL;
  CHECK_EQ(gasnet_init(&argc, &argv), GASNET_ERR_NOT_INIT);
  *max_local = local;
}

/* Refusals that must leave the job able to attach afterwards. */
static void bad_attaches(uintptr_t max_local) {
  gasnet_handlerentry_t none[] = {{0, (gex_AM_Fn_t)ping0}};
  CHECK_EQ(gasnet_attach(none, 1, GASNET_PAGESIZE + 1, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_attach(none, 1, GASNET_PAGESIZE / 2, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_attach(none, 1, max_local + GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(none[0].index, 0);
  gasnet_handlerentry_t low[] = {{GEX_AM_INDEX_BASE - 1, (gex_AM_Fn_t)ping0}};
  CHECK_EQ(gasnet_attach(low, 1, GASNET_PAGESIZE, 0), GASNET_ERR_RESOURCE);
  gasnet_handlerentry_t same[] = {{140, (gex_AM_Fn_t)ping0}, {140, (gex_AM_Fn_t)ping0}};
  CHECK_EQ(gasnet_attach(same, 2, GASNET_PAGESIZE, 0), GASNET_ERR_RESOURCE);
  CHECK_EQ(gasnet_attach(NULL, 1, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_attach(none, -1, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  /* A refusal on one rank is one on all, and leaves no handler behind. */
  const gasnet_node_t last = gasnet_nodes() - 1;
  gasnet_handlerentry_t fine[] = {{255, (gex_AM_Fn_t)ping0}};
  const int rc = gasnet_mynode() == last ? gasnet_attach(low, 1, GASNET_PAGESIZE, 0)
                                         : gasnet_attach(fine, 1, GASNET_PAGESIZE, 0);
  CHECK_EQ(rc, GASNET_ERR_RESOURCE);
  CHECK_EQ(hook_calls, 0);
}

static void good_attach(uintptr_t segsize) {
  gasnet_handlerentry_t table[] = {{200, (gex_AM_Fn_t)ping0},
                                   {0, (gex_AM_Fn_t)ping1},
                                   {0, (gex_AM_Fn_t)ping2},
                                   {255, (gex_AM_Fn_t)ping0},
                                   {0, (gex_AM_Fn_t)ping0}};
  CHECK_EQ(gasnet_attach(table, 5, segsize, 12345), GASNET_OK);
  CHECK_EQ(table[0].index, 200);
  CHECK_EQ(table[1].index, 254);
  CHECK_EQ(table[2].index, 253);
  CHECK_EQ(table[3].index, 255);
  CHECK_EQ(table[4].index, 252);
  CHECK_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_ERR_NOT_INIT);
}

static void objects(void) {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gasnet_QueryGexObjects(NULL, NULL, NULL, NULL);
  gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
  CHECK_STR(gex_Client_QueryName(client), "LEGACY");
  CHECK(gex_Client_QueryFlags(client) & GEX_FLAG_USES_GASNET1);
  CHECK(gex_TM_QueryEP(tm) == ep && gex_TM_QueryClient(tm) == client);
  CHECK(gex_EP_QuerySegment(ep) == segment && segment != GEX_SEGMENT_INVALID);
  CHECK_EQ(gex_TM_QueryRank(tm), gasnet_mynode());
  CHECK_EQ(gex_TM_QuerySize(tm), gasnet_nodes());
  gex_TM_t only = GEX_TM_INVALID;
  gasnet_QueryGexObjects(NULL, NULL, &only, NULL);
  CHECK(only == tm);
  CHECK_EQ(hook_calls, 1);
  CHECK_PTR(hook_base, gex_Segment_QueryAddr(segment));
  CHECK_EQ(hook_bytes, gex_Segment_QuerySize(segment));

  gex_AM_Entry_t later[] = {
      {0, (gex_AM_Fn_t)ping3, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ping3"}};
  CHECK_EQ(gex_EP_RegisterHandlers(ep, later, 1), GASNET_OK);
  CHECK_EQ(later[0].gex_index, 251);
}

static void segment_info(void) {
  const gasnet_node_t size = gasnet_nodes();
  gasnet_seginfo_t *const table = (gasnet_seginfo_t *)calloc(size + 2, sizeof *table);
  REQUIRE(table);
  table[size].addr = table[size + 1].addr = &hook_calls;
  CHECK_EQ(gasnet_getSegmentInfo(table, (int)size + 2), GASNET_OK);
  CHECK_PTR(table[size].addr, &hook_calls);
  CHECK_PTR(table[size + 1].addr, &hook_calls);
  for (gasnet_node_t r = 0; r < size; r++) {
    CHECK_CMP((uintptr_t)table[r].addr % GASNET_PAGESIZE, ==, 0);
    CHECK_EQ(table[r].size, (r ? r : 1) * (uintptr_t)GASNET_PAGESIZE);
  }
  CHECK_PTR(table[gasnet_mynode()].addr, hook_base);

  gasnet_seginfo_t one[2] = {{NULL, 0}, {NULL, 77}};
  CHECK_EQ(gasnet_getSegmentInfo(one, 1), GASNET_OK);
  CHECK_PTR(one[0].addr, table[0].addr);
  CHECK_EQ(one[1].size, 77);
  CHECK_EQ(gasnet_getSegmentInfo(one, 0), GASNET_OK);
  CHECK_EQ(gasnet_getSegmentInfo(one, -1), GASNET_ERR_BAD_ARG);
  /* Every byte can be reached: the last one of each segment. */
  for (gasnet_node_t r = 0; r < size; r++)
    gasnet_put_val(r, (char *)table[r].addr + table[r].size - 1 - gasnet_mynode(),
                   gasnet_mynode() + 1, 1);
  CHECK_EQ(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  const gasnet_seginfo_t mine = table[gasnet_mynode()];
  for (gasnet_node_t r = 0; r < size; r++)
    CHECK_EQ(((unsigned char *)mine.addr)[mine.size - 1 - r], r + 1);
  free(table);
}

static void node_info(void) {
  const gasnet_node_t size = gasnet_nodes();
  gasnet_nodeinfo_t *const table = (gasnet_nodeinfo_t *)calloc(size + 1, sizeof *table);
  gasnet_seginfo_t *const seg = (gasnet_seginfo_t *)calloc(size, sizeof *seg);
  REQUIRE(table && seg);
  table[size].host = 4242;
  CHECK_EQ(gasnet_getNodeInfo(table, (int)size + 1), GASNET_OK);
  CHECK_EQ(gasnet_getSegmentInfo(seg, (int)size), GASNET_OK);
  CHECK_EQ(table[size].host, 4242);
  const gasnet_nodeinfo_t mine = table[gasnet_mynode()];
  CHECK_EQ(mine.offset, 0);
  for (gasnet_node_t r = 0; r < size; r++) {
    CHECK(table[r].host < size && table[r].supernode < size);
    if (table[r].supernode == mine.supernode) CHECK_EQ(table[r].host, mine.host);
    if (table[r].supernode != mine.supernode) continue;
    /* Written by segment_info; read through the mapping that the offset names. */
    const unsigned char *const local =
        (const unsigned char *)((uintptr_t)seg[r].addr + table[r].offset);
    for (gasnet_node_t w = 0; w < size; w++) CHECK_EQ(local[seg[r].size - 1 - w], w + 1);
  }
  gex_Rank_t neighbours = 0, counted = 0;
  gex_System_QueryNbrhdInfo(NULL, &neighbours, NULL);
  for (gasnet_node_t r = 0; r < size; r++) counted += table[r].supernode == mine.supernode;
  CHECK_EQ(counted, neighbours);
  CHECK_EQ(gasnet_getNodeInfo(table, 0), GASNET_OK);
  CHECK_EQ(gasnet_getNodeInfo(table, -7), GASNET_ERR_BAD_ARG);
  free(table);
  free(seg);
}

static void error_texts(void) {
  check_error_names();
  CHECK_STR(gasnet_ErrorName(-3), "*unknown*");
  CHECK_STR(gasnet_ErrorName(10999), "*unknown*");
  const int known[] = {GASNET_OK, GASNET_ERR_NOT_INIT, GASNET_ERR_BARRIER_MISMATCH, 31337};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const char *const text = gasnet_ErrorDesc(known[i]);
    CHECK(text && text[0]);
  }
}

/* Handlers of the attach table and the one added later all run. */
static void ping_everybody(void) {
  const gasnet_node_t size = gasnet_nodes();
  static char byte_block[3];
  for (gasnet_node_t r = 0; r < size; r++) {
    CHECK_EQ(gasnet_AMRequestShort0(r, 252), GASNET_OK);
    CHECK_EQ(gasnet_AMRequestShort1(r, 254, 5), GASNET_OK);
    CHECK_EQ(gasnet_AMRequestMedium2(r, 253, byte_block, 3, 2, 7), GASNET_OK);
    CHECK_EQ(gasnet_AMRequestShort0(r, 251), GASNET_OK);
  }
  const int n = (int)size;
  GASNET_BLOCKUNTIL(pinged[0] >= n && pinged[1] >= 5 * n && pinged[2] >= 42 * n && pinged[3] >= n);
  CHECK_EQ(pinged[0], n);
  CHECK_EQ(pinged[1], 5 * n);
  CHECK_EQ(pinged[2], 42 * n);
  CHECK_EQ(pinged[3], n);
}

int main(int argc, char **argv) {
  setenv("TMB_LEGACY_INIT_MARK", "mark", 1);
  before_init();
  gasnet_client_attach_hook = attach_hook;
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);
  check_set_rank(gasnet_mynode());
  uintptr_t max_local = 0;
  between(&max_local);
  bad_attaches(max_local);
  /* Rank 0 asks for nothing and gets one page, rank r asks for r pages. */
  good_attach(gasnet_mynode() * (uintptr_t)GASNET_PAGESIZE);
  objects();
  segment_info();
  node_info();
  error_texts();
  ping_everybody();
  CHECK_EQ(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
  return check_done();
}
