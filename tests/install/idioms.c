/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How clients of other implementations write: wrapper macros, handler tables, thread-info macros,
 * tests of configuration macros, names pasted together. Valid C99 and C++11; check.sh compiles it
 * with many options, together with idioms_two.c, links both in one program and runs that.
 */
#ifdef WRAPPED_IN_EXTERN_C /* some C++ clients do this to every header of a C library */
extern "C" {
#endif
#ifdef GASNETEX_FIRST
# include <gasnetex.h>
#endif
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#ifdef WRAPPED_IN_EXTERN_C
}
#endif

#include "expect.h"
#include "idioms.h"

/* ---- configuration in the preprocessor, as clients test it */
#if GASNET_NDEBUG == GASNET_DEBUG
# error "exactly one of GASNET_NDEBUG and GASNET_DEBUG is 1"
#endif
#if !defined(GASNET_CONDUIT_SMP) || !GASNET_CONDUIT_SMP || defined(GASNET_CONDUIT_IBV)
# error "this is the smp conduit"
#endif
#if GASNET_SEGMENT_FAST
enum { segment_mode = 1 };
#elif GASNET_SEGMENT_LARGE
enum { segment_mode = 2 };
#elif GASNET_SEGMENT_EVERYTHING
enum { segment_mode = 3 };
#else
# error "no segment mode"
#endif
#if GASNET_PSHM && !GASNET_ALIGNED_SEGMENTS && GASNET_NULL_ARGV_OK
enum { shares_memory = 1 };
#endif
#if GEX_SPEC_VERSION_MAJOR > 0 || GEX_SPEC_VERSION_MINOR >= 9
enum { has_memory_kinds = 1 };
#endif
#if (GASNET_RELEASE_VERSION_MAJOR * 10000 + GASNET_RELEASE_VERSION_MINOR * 100) < 20200000
# error "a release that is new enough"
#endif
#if GASNET_SEQ + GASNET_PARSYNC + GASNET_PAR != 1
# error "one thread mode"
#endif

#define GASNET_SAFE(call)                                                                         \
 do {                                                                                             \
  int rc_ = (call);                                                                               \
  if (rc_ != GASNET_OK) {                                                                         \
   fprintf(stderr, "%s: %s (%s) at %s:%d\n", #call, gasnet_ErrorName(rc_), gasnet_ErrorDesc(rc_), \
           __FILE__, __LINE__);                                                                   \
   gasnet_exit(rc_);                                                                              \
  }                                                                                               \
 } while (0)

static const char *config = GASNET_CONFIG_STRING;
static gex_Event_t pending[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
static gasnet_hsl_t old_hsl = GASNET_HSL_INITIALIZER;
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_atomic_t counter = gasnett_atomic_init(0);
GASNETT_THREADKEY_DEFINE(client_key);
GASNETT_IDENT(client_ident, "$ClientName: idioms $");
static volatile int pongs;
static gex_TM_t team;

/* ---- handlers, and tables of them */
enum { H_PING = 201, H_PONG, H_MEDIUM, H_OLD, OLD_ANY };

static void ping(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
  gex_AM_ReplyShort2(token, H_PONG, 0, a0, a1);
}
static void pong(gex_Token_t token, gex_AM_Arg_t a0, gex_AM_Arg_t a1) {
  gasnet_node_t from = (gasnet_node_t)-1;
  GASNET_SAFE(gasnet_AMGetMsgSource(token, &from));
  gex_HSL_Lock(&hsl);
  if (from < gasnet_nodes() && a0 + 1 == a1) pongs = pongs + 1;
  gex_HSL_Unlock(&hsl);
}
static void medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  uintptr_t where = ((uintptr_t)(uint32_t)hi << 32) | (uint32_t)lo;
  (void)token;
  if (nbytes == 6 && memcmp(buf, "hello", 6) == 0) *(volatile int *)where = 1;
}
static void old_handler(gasnet_token_t token, gasnet_handlerarg_t a0) {
  (void)token, (void)a0;
  gasnett_atomic_increment(&counter, GASNETT_ATOMIC_REL);
}

static gex_AM_Entry_t table[] = {
    {H_PING, (gex_AM_Fn_t)ping, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2, NULL, "ping"},
    {H_PONG, (gex_AM_Fn_t)pong, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 2, NULL, "pong"},
    {H_MEDIUM, (gex_AM_Fn_t)medium, GEX_FLAG_AM_REQREP | GEX_FLAG_AM_MEDLONG, 2, &table, "medium"}};

#ifdef __cplusplus
typedef void (*old_fn)();
static gasnet_handlerentry_t old_table[] = {{H_OLD, (old_fn)old_handler}, {0, (old_fn)old_handler}};
#else
static gasnet_handlerentry_t old_table[] = {{H_OLD, (void (*)())old_handler},
                                            {0, (void (*)())old_handler}};
#endif

/* ---- constants where the language wants constants */
static const char *name_of(gex_DT_t dt, int rc) {
  switch (rc) {
  case GASNET_OK: break;
  case GASNET_ERR_NOT_INIT:
  case GASNET_ERR_RESOURCE:
  case GASNET_ERR_BAD_ARG:
  case GASNET_ERR_NOT_READY:
  case GASNET_ERR_BARRIER_MISMATCH: return gasnet_ErrorName(rc);
  default: return "?";
  }
  switch (dt) {
  case GEX_DT_I32: return "i32";
  case GEX_DT_U32: return "u32";
  case GEX_DT_I64: return "i64";
  case GEX_DT_U64: return "u64";
  case GEX_DT_FLT: return "flt";
  case GEX_DT_DBL: return "dbl";
  case GEX_DT_USER: return "user";
  default: return "?";
  }
}
static int kind_of(gex_MK_Class_t mk_class) {
  switch (mk_class) {
  case GEX_MK_CLASS_HOST: return 0;
  case GEX_MK_CLASS_CUDA_UVA: return 1;
  case GEX_MK_CLASS_HIP: return 2;
  case GEX_MK_CLASS_ZE: return 3;
  }
  return -1;
}
char pages[2 * GASNET_PAGESIZE];
int per_rank_limit[GASNET_MAXEPS];

/* ---- names pasted together */
#define ADD(T, ad, where, value) \
 gex_Event_Wait(gex_AD_OpNB_##T((ad), NULL, 0, (where), GEX_OP_ADD, (value), 0, 0))
#define ATOMIC_ADD(bits, p, v) gasnett_atomic##bits##_add((p), (v), 0)
#define SEND(kind, n)          gex_AM_Request##kind##n
#define STRIDED(op)            gex_VIS_Strided##op##Blocking

static void use_atomics(void *there) {
  gex_AD_t ad;
  gasnett_atomic32_t small = gasnett_atomic32_init(40);
  gasnett_atomic64_t large = gasnett_atomic64_init(40);
  gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_ADD | GEX_OP_TO_FETCHING(GEX_OP_ADD), 0);
  ADD(U64, ad, there, 2);
  gex_AD_Destroy(ad);
  EXPECT(ATOMIC_ADD(32, &small, 2) == 42);
  EXPECT(ATOMIC_ADD(64, &large, 2) == 42);
}

static void use_messages(gex_Rank_t peer) {
  volatile int arrived = 0;
  uintptr_t where = (uintptr_t)&arrived;
  int64_t wide = 7;
  unsigned char narrow = 8;
  GASNET_BEGIN_FUNCTION();
  SEND(Short, 2)(team, peer, H_PING, 0, wide, narrow); /* any integer is an argument */
  gex_AM_RequestShort(team, peer, H_PING, 0, (gex_AM_Arg_t)wide, 8);
  gasnet_AMRequestShort2(peer, H_PING, 7, 8);
  gex_AM_RequestMedium(team, gex_TM_QueryRank(team), H_MEDIUM, "hello", 6, GEX_EVENT_NOW, 0,
                       where >> 32, where);
  if (peer < gex_TM_QuerySize(team))
    GASNET_BLOCKUNTIL(pongs == 3 && arrived);
  else
    gasnet_exit(3);
  GASNET_SAFE(gasnet_AMRequestShort1(peer, H_OLD, 1));
  while (gasnett_atomic_read(&counter, GASNETT_ATOMIC_ACQ) < 1) gasnet_AMPoll();
}

static void use_transfers(gex_Rank_t peer, void *there) {
  gasnet_handle_t handle;
  uint64_t out = 42, in = 0;
  ptrdiff_t stride[1] = {sizeof(uint64_t)};
  size_t count[1] = {1};
  GASNET_POST_THREADINFO(GASNET_GET_THREADINFO());
  {
    GASNET_BEGIN_FUNCTION(); /* each scope may have its own */
    gasnet_put(peer, there, &out, sizeof out);
  }
  handle = gasnet_get_nb_bulk(&in, peer, there, sizeof in);
  if (handle != GASNET_INVALID_HANDLE) gasnet_wait_syncnb(handle);
  EXPECT(in == 42);
  pending[1] = gex_RMA_GetNB(team, &in, peer, there, sizeof in, 0);
  if (pending[1] == GEX_EVENT_NO_OP || gex_Event_Test(pending[0]) != GASNET_OK) failures++;
  gex_Event_WaitAll(pending, sizeof pending / sizeof *pending, 0);
  gex_RMA_PutNBI(team, peer, there, &out, sizeof out, GEX_EVENT_DEFER, 0) ? failures++ : 0;
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT(STRIDED(Get)(team, &in, stride, peer, there, stride, sizeof in, count, 1, 0) == 0);
  gasnet_hsl_lock(&old_hsl), gasnet_hsl_unlock(&old_hsl);
}

static void use_tools(void) {
  gasnett_tick_t start = gasnett_ticks_now();
  char text[64];
  gasnett_mutex_lock(&mutex);
  gasnett_threadkey_set(client_key, text);
  gasnett_mutex_unlock(&mutex);
  EXPECT(gasnett_threadkey_get(client_key) == text && key_of_other_file() == text);
  if_pf(gasnett_ticks_to_ns(gasnett_ticks_now() - start) > UINT64_C(1000000000) * 100) failures++;
  EXPECT(!strcmp(gasnett_format_number(65536, text, sizeof text, 1), "64 KB"));
  GASNETT_TRACE_PRINTF("%s", text);
  (GASNETT_TRACE_SETSOURCELINE(__FILE__, __LINE__), (void)0);
  EXPECT(MAX(1, 2) - MIN(1, 2) == 1);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gasnet_seginfo_t info[1];
  gex_Rank_t peer;
  GASNET_SAFE(gex_Client_Init(&client, &ep, &team, "idioms", &argc, &argv, GEX_FLAG_USES_GASNET1));
  GASNET_SAFE(gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof table[0]));
  GASNET_SAFE(gex_Segment_Attach(&segment, team, sizeof pages));
  (void)per_rank_limit, (void)old_table[1];
  table[0].gex_index = H_OLD;
  table[0].gex_fnptr = (gex_AM_Fn_t)old_handler;
  table[0].gex_nargs = 1;
  GASNET_SAFE(gex_EP_RegisterHandlers(ep, table, 1));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  peer = (gex_TM_QueryRank(team) + 1) % gex_TM_QuerySize(team);
  GASNET_SAFE(gasnet_getSegmentInfo(info, 1));
  use_messages(peer);
  use_transfers(gex_TM_QueryRank(team), gex_Segment_QueryAddr(segment));
  use_atomics((char *)info[0].addr + 64);
  use_tools();
  EXPECT(strstr(config, "RELEASE=2025.8.0") && segment_mode == 1 && shares_memory);
  EXPECT(has_memory_kinds && kind_of(GEX_MK_CLASS_HIP) == 2);
  EXPECT(!strcmp(name_of(GEX_DT_U64, GASNET_OK), "u64"));
  EXPECT(!strcmp(name_of(0, GASNET_ERR_BAD_ARG), "GASNET_ERR_BAD_ARG"));
  EXPECT(other_file(team) == 0);
  GASNET_SAFE((gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS),
               gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS)));
  if (gex_TM_QueryRank(team) == 0) printf("names: %s\n", failures ? "FAILED" : "ok");
  gasnet_exit(failures != 0);
  return 0;
}
