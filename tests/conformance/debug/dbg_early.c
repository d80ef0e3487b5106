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
DBG_CASE(poll_early, "gasnet_AMPoll", "not initialised") {
  gasnet_AMPoll();
}
DBG_CASE(barrier_early, "gasnet_barrier_notify", "not initialised") {
  gasnet_barrier_notify(5, 0);
}
DBG_CASE(put_early, "gex_RMA_PutBlocking", "not initialised") {
  gex_RMA_PutBlocking(GEX_TM_INVALID, 0, buf, buf, 1, 0);
}
DBG_CASE(request_early, "gex_AM_RequestShort", "not initialised") {
  gex_AM_RequestShort0(GEX_TM_INVALID, 0, 128, 0);
}
DBG_CASE(region_early, "gex_NBI_BeginAccessRegion", "not initialised") {
  gex_NBI_BeginAccessRegion(0);
}
DBG_CASE(nbi_early, "gex_NBI_Wait", "not initialised") {
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
DBG_CASE(g1_put_early, "gasnet_put", "not initialised") {
  gasnet_put(0, buf, buf, 1);
}
DBG_CASE(g1_request_early, "gasnet_AMRequestShort", "not initialised") {
  gasnet_AMRequestShort0(0, 128);
}
DBG_CASE(objects_early, "gasnet_QueryGexObjects", "not initialised") {
  gasnet_QueryGexObjects(&client, &ep, &tm, NULL);
}
DBG_CASE(blockuntil_early, "GASNET_BLOCKUNTIL", "not initialised") {
  volatile int never = 0;
  GASNET_BLOCKUNTIL(never);
}

/* ---- before the segment */
DBG_CASE(put_unattached, "gex_RMA_PutBlocking", "dest", "no segment") {
  start(0);
  gex_RMA_PutBlocking(tm, 0, buf, buf, 8, 0);
}
DBG_CASE(long_unattached, "gex_AM_RequestLong", "dest_addr", "no segment") {
  start(0);
  gex_AM_RequestLong0(tm, 0, 128, buf, 8, buf, GEX_EVENT_NOW, 0);
}

/* ---- GASNet-1 not enabled, or not attached */
DBG_CASE(g1_off_put, "gasnet_put", "GEX_FLAG_USES_GASNET1") {
  start(0);
  gasnet_put(0, buf, buf, 1);
}
DBG_CASE(g1_off_request, "gasnet_AMRequestShort", "GEX_FLAG_USES_GASNET1") {
  start(0);
  gasnet_AMRequestShort0(0, 128);
}
DBG_CASE(g1_off_memset, "gasnet_memset", "GEX_FLAG_USES_GASNET1") {
  start(0);
  gasnet_memset(0, buf, 0, 1);
}
DBG_CASE(g1_init_only_get, "gasnet_get", "gasnet_attach") {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_get(buf, 0, buf, 1);
}
DBG_CASE(g1_init_only_request, "gasnet_AMRequestMedium", "gasnet_attach") {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_AMRequestMedium0(0, 128, buf, 1);
}
DBG_CASE(g1_init_only_objects, "gasnet_QueryGexObjects", "gasnet_attach") {
  if (gasnet_init(dbg_argc, dbg_argv)) _exit(3);
  gasnet_QueryGexObjects(&client, NULL, NULL, NULL);
}

/* ---- arguments of init */
DBG_CASE(init_null_client, "gex_Client_Init", "client_p", "NULL") {
  gex_Client_Init(NULL, &ep, &tm, "EARLY", dbg_argc, dbg_argv, 0);
}
DBG_CASE(init_null_ep, "gex_Client_Init", "ep_p", "NULL") {
  gex_Client_Init(&client, NULL, &tm, "EARLY", dbg_argc, dbg_argv, 0);
}
DBG_CASE(init_null_tm, "gex_Client_Init", "tm_p", "NULL") {
  gex_Client_Init(&client, &ep, NULL, "EARLY", dbg_argc, dbg_argv, 0);
}
DBG_CASE(init_null_name, "gex_Client_Init", "Name", "NULL") {
  init(NULL, 0);
}
DBG_CASE(init_lower_name, DBG_WARNS, "gex_Client_Init", "Name", "early") {
  if (init("early", 0)) _exit(3);
}
DBG_CASE(init_flags, DBG_WARNS, "gex_Client_Init", "flags", "0x100000") {
  init("EARLY", 1u << 20);
}

/* ---- progress threads */
DBG_CASE(progress_threads_twice, DBG_WARNS, "gex_System_QueryProgressThreads", "second") {
  unsigned count = 7;
  const gex_ProgressThreadInfo_t *info;
  start(GEX_FLAG_DEFER_THREADS);
  if (gex_System_QueryProgressThreads(client, &count, &info, 0) || count) _exit(7);
  (void)gex_System_QueryProgressThreads(client, &count, &info, 0);
}
DBG_CASE(progress_threads_in_lock, DBG_WARNS, "gex_System_QueryProgressThreads",
         "handler-safe lock") {
  unsigned count;
  const gex_ProgressThreadInfo_t *info;
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  start(GEX_FLAG_DEFER_THREADS);
  gex_HSL_Lock(&lock);
  (void)gex_System_QueryProgressThreads(client, &count, &info, 0);
}

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_none);
}
