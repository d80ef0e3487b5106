/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of signals, semaphores and tagged notification in debug clients.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

#include <gasnetex_ext.h>

static char buf[64];

static uint64_t *sig(size_t at) {
  return (uint64_t *)(void *)(dbg.base + at);
}

/* A put with one argument changed. */
struct put {
  gex_Rank_t rank;
  void *dest;
  size_t nbytes;
  gex_Event_t *lc_opt;
  uint64_t *sig;
  int op;
  gex_Flags_t flags;
};
static struct put legal_put(void) {
  const struct put p = {0, dbg.base + 64, 8, GEX_EVENT_NOW, sig(0), GEXX_SIG_ADD, 0};
  return p;
}
static void blocking(struct put p) {
  (void)gexx_RMA_PutSignalBlocking(dbg.tm, p.rank, p.dest, buf, p.nbytes, p.lc_opt, p.sig, p.op, 1,
                                   p.flags);
}

#define PUT_CASE(fn, change, ...) \
 DBG_CASE(fn, __VA_ARGS__) {      \
  struct put p = legal_put();     \
  change;                         \
  blocking(p);                    \
 }
PUT_CASE(null_signal, p.sig = NULL, "gexx_RMA_PutSignalBlocking", "sig_addr", "NULL")
PUT_CASE(odd_signal, p.sig = (uint64_t *)(void *)(dbg.base + 4), "gexx_RMA_PutSignalBlocking",
         "sig_addr", "aligned")
PUT_CASE(signal_outside, p.sig = sig(DBG_SEG_BYTES), "gexx_RMA_PutSignalBlocking", "sig_addr", "0x")
PUT_CASE(signal_before, p.sig = (uint64_t *)(void *)(dbg.base - 8), "gexx_RMA_PutSignalBlocking",
         "sig_addr", "0x")
PUT_CASE(bad_op, p.op = 2, "gexx_RMA_PutSignalBlocking", "op is 2", "GEXX_SIG_ADD")
PUT_CASE(bad_rank, p.rank = 9, "gexx_RMA_PutSignalBlocking", "rank", "9")
PUT_CASE(bad_flags, p.flags = GEX_FLAG_AM_PREPARE_LEAST_CLIENT, DBG_WARNS,
         "gexx_RMA_PutSignalBlocking", "flags")
PUT_CASE(never_self, p.flags = GEX_FLAG_PEER_NEVER_SELF, "gexx_RMA_PutSignalBlocking", "flags",
         "this process")
PUT_CASE(data_outside, p.dest = dbg.base + DBG_SEG_BYTES - 4, "gexx_RMA_PutSignalBlocking", "dest",
         "0x")
PUT_CASE(null_lc, p.lc_opt = NULL, "gexx_RMA_PutSignalBlocking", "lc_opt", "NULL")
PUT_CASE(deferred_lc, p.lc_opt = GEX_EVENT_DEFER, "gexx_RMA_PutSignalBlocking", "lc_opt",
         "GEX_EVENT_NOW")
PUT_CASE(offset_outside,
         (p.flags = GEX_FLAG_PEER_SEG_OFFSET, p.dest = (void *)64,
          p.sig = (uint64_t *)(uintptr_t)DBG_SEG_BYTES),
         "gexx_RMA_PutSignalBlocking", "sig_addr", "offset")

DBG_CASE(nbi_address, "gexx_RMA_PutSignalNBI", "lc_opt", "0x") {
  gex_Event_t leaf;
  (void)gexx_RMA_PutSignalNBI(dbg.tm, 0, dbg.base + 64, buf, 8, &leaf, sig(0), GEXX_SIG_SET, 1, 0);
}
DBG_CASE(nb_group, "gexx_RMA_PutSignalNB", "lc_opt", "GEX_EVENT_GROUP") {
  gex_Event_Wait(gexx_RMA_PutSignalNB(dbg.tm, 0, dbg.base + 64, buf, 8, GEX_EVENT_GROUP, sig(0),
                                      GEXX_SIG_SET, 1, 0));
}
DBG_CASE(get_null_signal, "gexx_RMA_GetSignalNBI", "sig_addr", "NULL") {
  (void)gexx_RMA_GetSignalNBI(dbg.tm, buf, 0, dbg.base, 8, NULL, GEXX_SIG_SET, 1, 0);
}
DBG_CASE(get_outside, "gexx_RMA_GetSignalNB", "src", "0x") {
  gex_Event_Wait(gexx_RMA_GetSignalNB(dbg.tm, buf, 0, dbg.base + DBG_SEG_BYTES, 8, sig(0),
                                      GEXX_SIG_SET, 1, 0));
}
static void wait_in_handler(gex_Token_t token) {
  (void)token;
  (void)gexx_Signal_Wait(sig(0), GEXX_SIG_EQ, 0);
}
DBG_CASE(wait_in_request, "gexx_Signal_Wait", "handler") {
  dbg_in_request(wait_in_handler);
}

/* ---- the owner's side */
DBG_CASE(wait_null, "gexx_Signal_Wait", "sig", "aligned") {
  (void)gexx_Signal_Wait(NULL, GEXX_SIG_EQ, 0);
}
DBG_CASE(test_odd, "gexx_Signal_Test", "sig", "aligned") {
  (void)gexx_Signal_Test((uint64_t *)(void *)(dbg.base + 2), GEXX_SIG_EQ, 0);
}
DBG_CASE(bad_cmp, "gexx_Signal_Test", "cmp is 6", "GEXX_SIG_EQ") {
  (void)gexx_Signal_Test(sig(0), 6, 0);
}
DBG_CASE(consume_null, "gexx_Signal_TryConsume", "sig") {
  (void)gexx_Signal_TryConsume(NULL, 1);
}
DBG_CASE(no_range, "gexx_Signal_TestSome", "count is 0") {
  size_t index = 0;
  (void)gexx_Signal_TestSome(sig(0), 0, 8, &index);
}
DBG_CASE(odd_stride, "gexx_Signal_TestSome", "stride is 12") {
  size_t index = 0;
  (void)gexx_Signal_TestSome(sig(0), 4, 12, &index);
}
DBG_CASE(index_beyond, "gexx_Signal_WaitSome", "index is 4", "below 4") {
  size_t index = 4;
  (void)gexx_Signal_WaitSome(sig(0), 4, 8, &index);
}

/* ---- semaphores */
static gexx_Sem_t make(unsigned kind) {
  gexx_Sem_t sem = NULL;
  (void)gexx_Sem_Alloc(&sem, kind | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER);
  return sem;
}
DBG_CASE(post_many_boolean, "gexx_Sem_PostN", "sem", "BOOLEAN", "n is 2") {
  gexx_Sem_PostN(gexx_Sem_QueryHandle(make(GEXX_SEM_BOOLEAN)), 2);
}
DBG_CASE(wait_many_boolean, "gexx_Sem_WaitN", "sem", "BOOLEAN") {
  gexx_Sem_WaitN(make(GEXX_SEM_BOOLEAN), 1);
}
DBG_CASE(try_many_boolean, "gexx_Sem_TryN", "sem", "BOOLEAN") {
  (void)gexx_Sem_TryN(make(GEXX_SEM_BOOLEAN), 1);
}
DBG_CASE(put_many_boolean, "gexx_Sem_PutSignal", "sem", "BOOLEAN", "n is 3") {
  gexx_Sem_PutSignal(gexx_Sem_QueryHandle(make(GEXX_SEM_BOOLEAN)), dbg.base, buf, 8, 3);
}
DBG_CASE(put_outside, "gexx_Sem_PutSignal", "dest", "0x") {
  gexx_Sem_PutSignal(gexx_Sem_QueryHandle(make(GEXX_SEM_INTEGER)), dbg.base + DBG_SEG_BYTES, buf, 8,
                     1);
}
DBG_CASE(freed_twice, "gexx_Sem_Free", "sem", "freed") {
  const gexx_Sem_t sem = make(GEXX_SEM_INTEGER);
  gexx_Sem_Free(sem);
  gexx_Sem_Free(sem);
}
DBG_CASE(try_null, "gexx_Sem_Try", "sem", "NULL") {
  (void)gexx_Sem_Try(NULL);
}
DBG_CASE(no_handle, "gexx_Sem_Post", "sem", "handle") {
  const gexx_Sem_Handle_t h = {0, 0, 0, 0};
  gexx_Sem_Post(h);
}

/* ---- tagged notification */
static gexx_Notify_t request(void) {
  gexx_Notify_t req = NULL;
  (void)gexx_Notify_Init(dbg.tm, 0, 1, 1, &req);
  return req;
}
DBG_CASE(any_tag, "gexx_RMA_PutNotify", "tag", "GEXX_NOTIFY_ANY_TAG") {
  (void)gexx_RMA_PutNotify(dbg.tm, 0, dbg.base, buf, 8, GEXX_NOTIFY_ANY_TAG, 0);
}
DBG_CASE(notify_pair, "gexx_RMA_PutNotify", "tm") {
  (void)gexx_RMA_PutNotify(gex_TM_Pair(dbg.ep, 0), 0, dbg.base, buf, 8, 1, 0);
}
DBG_CASE(notify_outside, "gexx_RMA_PutNotify", "dest", "0x") {
  (void)gexx_RMA_PutNotify(dbg.tm, 0, dbg.base - 1, buf, 8, 1, 0);
}
DBG_CASE(put_group, "gexx_RMA_PutNotifyNB", "lc_opt", "GEX_EVENT_GROUP") {
  gex_Event_Wait(gexx_RMA_PutNotifyNB(dbg.tm, 0, dbg.base, buf, 8, GEX_EVENT_GROUP, 1, 0));
}
DBG_CASE(put_never_self, "gexx_RMA_PutNotify", "flags", "this process") {
  (void)gexx_RMA_PutNotify(dbg.tm, 0, dbg.base, buf, 8, 1, GEX_FLAG_PEER_NEVER_SELF);
}
DBG_CASE(put_offset_beyond, "gexx_RMA_PutNotify", "dest", "offset") {
  (void)gexx_RMA_PutNotify(dbg.tm, 0, (void *)(uintptr_t)DBG_SEG_BYTES, buf, 8, 1,
                           GEX_FLAG_PEER_SEG_OFFSET);
}
DBG_CASE(get_any_tag, "gexx_RMA_GetNotify", "tag", "GEXX_NOTIFY_ANY_TAG") {
  (void)gexx_RMA_GetNotify(dbg.tm, buf, 0, dbg.base, 8, GEXX_NOTIFY_ANY_TAG, 0);
}
DBG_CASE(get_pair, "gexx_RMA_GetNotifyNBI", "tm") {
  (void)gexx_RMA_GetNotifyNBI(gex_TM_Pair(dbg.ep, 0), buf, 0, dbg.base, 8, 1, 0);
}
DBG_CASE(get_notify_outside, "gexx_RMA_GetNotifyNB", "src", "0x") {
  gex_Event_Wait(gexx_RMA_GetNotifyNB(dbg.tm, buf, 0, dbg.base + DBG_SEG_BYTES - 4, 8, 1, 0));
}
DBG_CASE(get_rank, "gexx_RMA_GetNotifyNBI", "rank", "3") {
  (void)gexx_RMA_GetNotifyNBI(dbg.tm, buf, 3, dbg.base, 8, 1, 0);
}
DBG_CASE(get_flags, DBG_WARNS, "gexx_RMA_GetNotify", "flags") {
  (void)gexx_RMA_GetNotify(dbg.tm, buf, 0, dbg.base, 8, 1, GEX_FLAG_AM_PREPARE_LEAST_CLIENT);
}
static void get_handler(gex_Token_t token) {
  (void)token;
  (void)gexx_RMA_GetNotifyNBI(dbg.tm, buf, 0, dbg.base, 8, 1, 0);
}
DBG_CASE(get_in_request, "gexx_RMA_GetNotifyNBI", "handler") {
  dbg_in_request(get_handler);
}
DBG_CASE(no_count, "gexx_Notify_Init", "expected_count is 0") {
  gexx_Notify_t req;
  (void)gexx_Notify_Init(dbg.tm, 0, 1, 0, &req);
}
DBG_CASE(bad_source, "gexx_Notify_Init", "rank", "7") {
  gexx_Notify_t req;
  (void)gexx_Notify_Init(dbg.tm, 7, 1, 1, &req);
}
DBG_CASE(not_started, "gexx_Notify_Wait", "req", "inactive") {
  gexx_Notify_Wait(request(), NULL);
}
DBG_CASE(started_twice, "gexx_Notify_Start", "req", "active") {
  const gexx_Notify_t req = request();
  gexx_Notify_Start(req);
  gexx_Notify_Start(req);
}
DBG_CASE(freed_active, "gexx_Notify_Free", "req", "active") {
  const gexx_Notify_t req = request();
  gexx_Notify_Start(req);
  gexx_Notify_Free(req);
}
DBG_CASE(too_many, "gexx_RMA_PutNotify", "128", "TOMBOLO_NOTIFY_CREDITS") {
  for (;;) (void)gexx_RMA_PutNotify(dbg.tm, 0, NULL, NULL, 0, 1, 0);
}

DBG_CASE(legal, NULL) {
  blocking(legal_put());
  (void)gexx_Signal_WaitConsume(sig(0), 1);
  const gexx_Sem_t sem = make(GEXX_SEM_BOOLEAN);
  gexx_Sem_Post(gexx_Sem_QueryHandle(sem));
  gexx_Sem_Wait(sem);
  gexx_Sem_Free(sem);
  const gexx_Notify_t req = request();
  (void)gexx_RMA_PutNotify(dbg.tm, 0, dbg.base, buf, 8, 1, 0);
  gexx_Notify_Start(req);
  gexx_Notify_Wait(req, NULL);
  gexx_Notify_Free(req);
}

DBG_CASE_AS(legal_unmapped, legal, 1, DBG_UNMAPPED, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
