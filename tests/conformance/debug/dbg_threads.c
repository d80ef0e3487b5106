/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse across threads in debug clients: what belongs to one thread used on another, and more
 * threads than GASNET_MAX_THREADS.
 */
/* mode: PAR */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static char buf[64];
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_AM_SrcDesc_t sd;
static gex_Token_t shared_token;

static void on_thread(void *(*fn)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, fn, NULL) || pthread_join(thread, NULL)) _exit(6);
}

static void *unlock_here(void *arg) {
  gex_HSL_Unlock(&lock);
  return arg;
}
DBG_CASE(unlock_foreign, "gex_HSL_Unlock", "0x", "another thread") {
  gex_HSL_Lock(&lock);
  on_thread(unlock_here);
}

static void prepare(void) {
  sd = gex_AM_PrepareRequestMedium(dbg.tm, 0, buf, 1, 8, GEX_EVENT_NOW, 0, 0);
}
static void *commit_here(void *arg) {
  gex_AM_CommitRequestMedium0(sd, 200, 1);
  return arg;
}
DBG_CASE(commit_foreign, "gex_AM_CommitRequestMedium", "sd", "0x", "thread") {
  prepare();
  on_thread(commit_here);
}
static void *cancel_here(void *arg) {
  (void)gex_AM_CancelRequestMedium(sd, 0);
  return arg;
}
DBG_CASE(cancel_foreign, "gex_AM_CancelRequestMedium", "sd", "0x", "thread") {
  prepare();
  on_thread(cancel_here);
}

static void *reply_here(void *arg) {
  gex_AM_ReplyShort0(shared_token, 200, 0);
  return arg;
}
static void reply_body(gex_Token_t token) {
  shared_token = token;
  on_thread(reply_here);
}
DBG_CASE(reply_foreign, "gex_AM_ReplyShort", "token", "another thread") {
  dbg_in_request(reply_body);
}

static void *end_here(void *arg) {
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  return arg;
}
DBG_CASE(end_foreign, "gex_NBI_EndAccessRegion", "no access region") {
  gex_NBI_BeginAccessRegion(0);
  on_thread(end_here);
}

static void *sync_here(void *arg) {
  gex_Event_Wait(*(gex_Event_t *)arg);
  return NULL;
}
DBG_CASE(synced_by_both, "gex_Event_Wait", "event", "once") {
  gex_Event_t event = dbg_live_event(GEX_EVENT_NOW);
  pthread_t thread;
  if (pthread_create(&thread, NULL, sync_here, &event) || pthread_join(thread, NULL)) _exit(6);
  gex_Event_Wait(event);
}

static volatile int release_threads;
static void *enter(void *arg) {
  gasnet_AMPoll();
  while (!__atomic_load_n(&release_threads, __ATOMIC_ACQUIRE)) usleep(1000);
  return arg;
}
/* The main thread is one of the threads that count. */
static void three_threads(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread[i], NULL, enter, NULL)) _exit(6);
  usleep(300000);
  __atomic_store_n(&release_threads, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

/* Threads that have ended do not count; each has its own context. */
static void *use_all(void *arg) {
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(dbg.tm, 0, dbg.base, buf, 8, GEX_EVENT_NOW, 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  return arg;
}
DBG_CASE_WITH(legal, 1, "GASNET_MAX_THREADS=2", NULL) {
  prepare(); /* restricts this thread only */
  for (int i = 0; i < 50; i++) on_thread(use_all);
  (void)gex_AM_CancelRequestMedium(sd, 0);
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
}

DBG_CASE_AS(too_many, three_threads, 1, "GASNET_MAX_THREADS=2", "GASNET_MAX_THREADS", "2")
DBG_CASE_AS(just_enough, three_threads, 1, "GASNET_MAX_THREADS=3", NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
