/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of state in debug clients: calls before initialisation, remote memory before a segment is
 * attached, GASNet-1 calls that are not enabled yet, arguments of gex_Client_Init.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];
static gex_Client_t client;
static gex_EP_t ep;
static gex_TM_t tm;

static int init(const char *name, gex_Flags_t flags) {
  return gex_Client_Init(&client, &ep, &tm, name, dbg_argc, dbg_argv, flags);
}
static void start(gex_Flags_t flags) {
  if (init("EARLY", flags)) _exit(3);
}

/* ---- before initialisation */
static void poll_early(void) {
  gasnet_AMPoll();
}
static void barrier_early(void) {
  gasnet_barrier_notify(5, 0);
}
static void put_early(void) {
  gex_RMA_PutBlocking(GEX_TM_INVALID, 0, buf, buf, 1, 0);
}
static void request_early(void) {
  gex_AM_RequestShort0(GEX_TM_INVALID, 0, 128, 0);
}
static void region_early(void) {
  gex_NBI_BeginAccessRegion(0);
}
static void nbi_early(void) {
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
static void g1_put_early(void) {
  gasnet_put(0, buf, buf, 1);
}
static void g1_request_early(void) {
  gasnet_AMRequestShort0(0, 128);
}
static void objects_early(void) {
  gasnet_QueryGexObjects(&client, &ep, &tm, NULL);
}
static void blockuntil_early(void) {
  volatile int never = 0;
  GASNET_BLOCKUNTIL(never);
}

/* ---- before the segment */
static void put_unattached(void) {
  start(0);
  gex_RMA_PutBlocking(tm, 0, buf, buf, 8, 0);
}
static void long_unattached(void) {
  start(0);
  gex_AM_RequestLong0(tm, 0, 128, buf, 8, buf, GEX_EVENT_NOW, 0);
}

/* ---- GASNet-1 not enabled, or not attached */
static void g1_off_put(void) {
  start(0);
  gasnet_put(0, buf, buf, 1);
}
static void g1_off_request(void) {
  start(0);
  gasnet_AMRequestShort0(0, 128);
}
static void g1_off_memset(void) {
  start(0);
  gasnet_memset(0, buf, 0, 1);
}
static void g1_init_only_get(void) {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_get(buf, 0, buf, 1);
}
static void g1_init_only_request(void) {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_AMRequestMedium0(0, 128, buf, 1);
}
static void g1_init_only_objects(void) {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_QueryGexObjects(&client, NULL, NULL, NULL);
}

/* ---- arguments of init */
static void init_null_client(void) {
  gex_Client_Init(NULL, &ep, &tm, "EARLY", dbg_argc, dbg_argv, 0);
}
static void init_null_ep(void) {
  gex_Client_Init(&client, NULL, &tm, "EARLY", dbg_argc, dbg_argv, 0);
}
static void init_null_tm(void) {
  gex_Client_Init(&client, &ep, NULL, "EARLY", dbg_argc, dbg_argv, 0);
}
static void init_null_name(void) {
  init(NULL, 0);
}
static void init_lower_name(void) {
  if (init("early", 0)) _exit(3);
}
static void init_flags(void) {
  init("EARLY", 1u << 20);
}

/* ---- progress threads */
static void progress_threads_twice(void) {
  unsigned count = 7;
  const gex_ProgressThreadInfo_t *info;
  start(GEX_FLAG_DEFER_THREADS);
  if (gex_System_QueryProgressThreads(client, &count, &info, 0) || count) _exit(7);
  (void)gex_System_QueryProgressThreads(client, &count, &info, 0);
}
static void progress_threads_in_lock(void) {
  unsigned count;
  const gex_ProgressThreadInfo_t *info;
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  start(GEX_FLAG_DEFER_THREADS);
  gex_HSL_Lock(&lock);
  (void)gex_System_QueryProgressThreads(client, &count, &info, 0);
}

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(poll_early, "gasnet_AMPoll", "not initialised"),
    ROW(barrier_early, "gasnet_barrier_notify", "not initialised"),
    ROW(put_early, "gex_RMA_PutBlocking", "not initialised"),
    ROW(request_early, "gex_AM_RequestShort", "not initialised"),
    ROW(region_early, "gex_NBI_BeginAccessRegion", "not initialised"),
    ROW(nbi_early, "gex_NBI_Wait", "not initialised"),
    ROW(g1_put_early, "gasnet_put", "not initialised"),
    ROW(g1_request_early, "gasnet_AMRequestShort", "not initialised"),
    ROW(objects_early, "gasnet_QueryGexObjects", "not initialised"),
    ROW(blockuntil_early, "GASNET_BLOCKUNTIL", "not initialised"),
    ROW(put_unattached, "gex_RMA_PutBlocking", "dest", "no segment"),
    ROW(long_unattached, "gex_AM_RequestLong", "dest_addr", "no segment"),
    ROW(g1_off_put, "gasnet_put", "GEX_FLAG_USES_GASNET1"),
    ROW(g1_off_request, "gasnet_AMRequestShort", "GEX_FLAG_USES_GASNET1"),
    ROW(g1_off_memset, "gasnet_memset", "GEX_FLAG_USES_GASNET1"),
    ROW(g1_init_only_get, "gasnet_get", "gasnet_attach"),
    ROW(g1_init_only_request, "gasnet_AMRequestMedium", "gasnet_attach"),
    ROW(g1_init_only_objects, "gasnet_QueryGexObjects", "gasnet_attach"),
    ROW(progress_threads_twice, DBG_WARNS, "gex_System_QueryProgressThreads", "second"),
    ROW(progress_threads_in_lock, DBG_WARNS, "gex_System_QueryProgressThreads",
        "handler-safe lock"),
    ROW(init_null_client, "gex_Client_Init", "client_p", "NULL"),
    ROW(init_null_ep, "gex_Client_Init", "ep_p", "NULL"),
    ROW(init_null_tm, "gex_Client_Init", "tm_p", "NULL"),
    ROW(init_null_name, "gex_Client_Init", "Name", "NULL"),
    ROW(init_lower_name, DBG_WARNS, "gex_Client_Init", "Name", "early"),
    ROW(init_flags, DBG_WARNS, "gex_Client_Init", "flags", "0x100000"),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_none, cases, sizeof cases / sizeof *cases);
}
