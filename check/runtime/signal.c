/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for signals, semaphores and tagged notifications.
 *
 * Owns nothing. These are calls of the library (ext_notify.h). A successful wait or test acquires
 * what was given to the word, the semaphore, or by notifications to this rank. Puts with a signal
 * are in rma.c. Invariant: notifications of all tags to one rank are one object: an order that is
 * not there may be assumed, and no race is reported falsely.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

static void acquired(uint64_t key, const char *call, const void *pc) {
  if (!chk_on()) return;
  chk_enter();
  chk_acquire(key, chk_site(call, pc));
  chk_exit();
}

static void signalled(const void *word, const char *call, const void *pc) {
  if (!chk_on()) return;
  chk_enter();
  chk_word_take(chk.rank, chk_resolve((uintptr_t)word), chk_site(call, pc));
  chk_exit();
}

void gexx_check_words(void) {
  chk.words = true;
}

void gexx_check_word(gex_Rank_t rank, const void *word, int how) {
  if (!chk_on()) return;
  const uintptr_t at = (uintptr_t)word, memory = rank == chk.rank ? chk_resolve(at) : at;
  chk_enter();
  const uint32_t site = chk_site("wait", __builtin_return_address(0));
  if (how & GEXX_CHECK_TAKE) chk_word_take(rank, memory, site);
  if (how & GEXX_CHECK_GIVE) chk_word_give(rank, memory, site, 0);
  chk_exit();
}

#define ACQUIRED(call, key) acquired(key, call, __builtin_return_address(0))
#define SIGNALLED(call, at) signalled(at, call, __builtin_return_address(0))

uint64_t gexx_Signal_Fetch(const uint64_t *sig) {
  const uint64_t value = chk_real.gexx_Signal_Fetch(sig);
  SIGNALLED("gexx_Signal_Fetch", sig);
  return value;
}

int gexx_Signal_Test(const uint64_t *sig, int cmp, uint64_t value) {
  const int rc = chk_real.gexx_Signal_Test(sig, cmp, value);
  if (rc == GASNET_OK) SIGNALLED("gexx_Signal_Test", sig);
  return rc;
}

uint64_t gexx_Signal_Wait(const uint64_t *sig, int cmp, uint64_t value) {
  const uint64_t found = chk_real.gexx_Signal_Wait(sig, cmp, value);
  SIGNALLED("gexx_Signal_Wait", sig);
  return found;
}

int gexx_Signal_TryConsume(uint64_t *sig, uint64_t n) {
  const int rc = chk_real.gexx_Signal_TryConsume(sig, n);
  if (rc == GASNET_OK) SIGNALLED("gexx_Signal_TryConsume", sig);
  return rc;
}

uint64_t gexx_Signal_WaitConsume(uint64_t *sig, uint64_t n) {
  const uint64_t left = chk_real.gexx_Signal_WaitConsume(sig, n);
  SIGNALLED("gexx_Signal_WaitConsume", sig);
  return left;
}

uint64_t gexx_Signal_Reset(uint64_t *sig) {
  const uint64_t value = chk_real.gexx_Signal_Reset(sig);
  SIGNALLED("gexx_Signal_Reset", sig);
  return value;
}

int gexx_Signal_TestSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  const int rc = chk_real.gexx_Signal_TestSome(sigs, count, stride, index);
  if (rc == GASNET_OK) SIGNALLED("gexx_Signal_TestSome", (const char *)sigs + *index * stride);
  return rc;
}

uint64_t gexx_Signal_WaitSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index) {
  const uint64_t found = chk_real.gexx_Signal_WaitSome(sigs, count, stride, index);
  SIGNALLED("gexx_Signal_WaitSome", (const char *)sigs + *index * stride);
  return found;
}

/* ---- semaphores */

static uint64_t sem_key(gexx_Sem_Handle_t h) {
  return chk_key(CHK_KEY_SEM, (uint64_t)h.gexx_rank << 32 | h.gexx_index, h.gexx_addr);
}

/* A post, with a put of these bytes. An asynchronous one says nowhere when its source is free. */
static void post(gexx_Sem_Handle_t h, void *dest, const void *src, size_t nbytes, const char *call,
                 const void *pc) {
  if (!chk_on()) return;
  chk_enter();
  const uint32_t site = chk_site(call, pc);
  const struct chk_range range = {h.gexx_rank, (uintptr_t)dest, nbytes,
                                  CHK_WRITE | CHK_TRANSFER | CHK_SIGNALS};
  const uint64_t put = chk_touch(&range, site, true);
  (void)chk_local_side(&range, src, 0, site, false);
  chk_release(sem_key(h), site, put);
  chk_exit();
}

#define POST(call, dest, src, bytes) post(sem, dest, src, bytes, call, __builtin_return_address(0))

void gexx_Sem_Post(gexx_Sem_Handle_t sem) {
  POST("gexx_Sem_Post", NULL, NULL, 0);
  chk_real.gexx_Sem_Post(sem);
}

void gexx_Sem_PostN(gexx_Sem_Handle_t sem, uint64_t n) {
  POST("gexx_Sem_PostN", NULL, NULL, 0);
  chk_real.gexx_Sem_PostN(sem, n);
}

void gexx_Sem_PutSignal(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                        uint64_t n) {
  POST("gexx_Sem_PutSignal", dest, src, nbytes);
  chk_real.gexx_Sem_PutSignal(sem, dest, src, nbytes, n);
}

void gexx_Sem_PutSignalAsync(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                             uint64_t n) {
  POST("gexx_Sem_PutSignalAsync", dest, src, nbytes);
  chk_real.gexx_Sem_PutSignalAsync(sem, dest, src, nbytes, n);
}

void gexx_Sem_Wait(gexx_Sem_t sem) {
  chk_real.gexx_Sem_Wait(sem);
  ACQUIRED("gexx_Sem_Wait", sem_key(gexx_Sem_QueryHandle(sem)));
}

void gexx_Sem_WaitN(gexx_Sem_t sem, uint64_t n) {
  chk_real.gexx_Sem_WaitN(sem, n);
  ACQUIRED("gexx_Sem_WaitN", sem_key(gexx_Sem_QueryHandle(sem)));
}

int gexx_Sem_Try(gexx_Sem_t sem) {
  const int rc = chk_real.gexx_Sem_Try(sem);
  if (rc == GASNET_OK) ACQUIRED("gexx_Sem_Try", sem_key(gexx_Sem_QueryHandle(sem)));
  return rc;
}

int gexx_Sem_TryN(gexx_Sem_t sem, uint64_t n) {
  const int rc = chk_real.gexx_Sem_TryN(sem, n);
  if (rc == GASNET_OK) ACQUIRED("gexx_Sem_TryN", sem_key(gexx_Sem_QueryHandle(sem)));
  return rc;
}

/* ---- tagged notifications */

/* A transfer that notifies its peer. in lasts: its local side, too. */
static struct chk_pending notify(const struct chk_range *range, const void *local, bool lasts,
                                 const char *call, const void *pc) {
  const bool put = (range->flags & CHK_WRITE) != 0;
  struct chk_pending p = {.category = put ? GEX_EC_PUT : GEX_EC_GET};
  chk_enter();
  p.site = chk_site(call, pc);
  p.remote = chk_touch(range, p.site, true);
  p.local = chk_local_side(range, local, put ? 0 : CHK_WRITE, p.site, lasts);
  chk_release(chk_key(CHK_KEY_TAG, range->owner, 0), p.site, p.remote);
  chk_exit();
  chk_within = true; /* the library makes some of a put and a message */
  return p;
}

#define PUT (CHK_WRITE | CHK_TRANSFER | CHK_SIGNALS)
#define GET (CHK_TRANSFER | CHK_SIGNALS)
#define NOTIFY(call, at, local, lasts, flags)                                                  \
 notify(&(struct chk_range){chk_jobrank(tm, rank), (uintptr_t)(at), nbytes, (flags)}, (local), \
        (lasts), call, __builtin_return_address(0))

static gex_Event_t pend(const struct chk_pending *p, gex_Event_t event) {
  chk_within = false;
  return chk_started(p, event);
}

static int pend_nbi(const struct chk_pending *p, int refused) {
  chk_within = false;
  return chk_started_nbi(p, refused);
}

/* A put returns at local completion: its notification alone says more. */
int gexx_RMA_PutNotify(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_RMA_PutNotify(tm, rank, dest, src, nbytes, tag, flags);
  const struct chk_pending p = NOTIFY("gexx_RMA_PutNotify", dest, src, false, PUT);
  const int rc = chk_real.gexx_RMA_PutNotify(tm, rank, dest, src, nbytes, tag, flags);
  chk_within = false;
  if (rc) (void)pend(&p, GEX_EVENT_NO_OP);
  return rc;
}

int gexx_RMA_PutNotifyNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Event_t *lc_opt, uint32_t tag, gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gexx_RMA_PutNotifyNBI(tm, rank, dest, src, nbytes, lc_opt, tag, flags);
  const struct chk_pending p =
      NOTIFY("gexx_RMA_PutNotifyNBI", dest, src, chk_source_lasts(lc_opt), PUT);
  return pend_nbi(&p,
                  chk_real.gexx_RMA_PutNotifyNBI(tm, rank, dest, src, nbytes, lc_opt, tag, flags));
}

gex_Event_t gexx_RMA_PutNotifyNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                 size_t nbytes, gex_Event_t *lc_opt, uint32_t tag,
                                 gex_Flags_t flags) {
  if (!chk_on())
    return chk_real.gexx_RMA_PutNotifyNB(tm, rank, dest, src, nbytes, lc_opt, tag, flags);
  const struct chk_pending p =
      NOTIFY("gexx_RMA_PutNotifyNB", dest, src, chk_source_lasts(lc_opt), PUT);
  return pend(&p, chk_real.gexx_RMA_PutNotifyNB(tm, rank, dest, src, nbytes, lc_opt, tag, flags));
}

int gexx_RMA_GetNotify(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_RMA_GetNotify(tm, dest, rank, src, nbytes, tag, flags);
  const struct chk_pending p = NOTIFY("gexx_RMA_GetNotify", src, dest, true, GET);
  const int rc = chk_real.gexx_RMA_GetNotify(tm, dest, rank, src, nbytes, tag, flags);
  (void)pend(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

int gexx_RMA_GetNotifyNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                          uint32_t tag, gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_RMA_GetNotifyNBI(tm, dest, rank, src, nbytes, tag, flags);
  const struct chk_pending p = NOTIFY("gexx_RMA_GetNotifyNBI", src, dest, true, GET);
  return pend_nbi(&p, chk_real.gexx_RMA_GetNotifyNBI(tm, dest, rank, src, nbytes, tag, flags));
}

gex_Event_t gexx_RMA_GetNotifyNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                                 uint32_t tag, gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_RMA_GetNotifyNB(tm, dest, rank, src, nbytes, tag, flags);
  const struct chk_pending p = NOTIFY("gexx_RMA_GetNotifyNB", src, dest, true, GET);
  return pend(&p, chk_real.gexx_RMA_GetNotifyNB(tm, dest, rank, src, nbytes, tag, flags));
}

int gexx_Notify_Test(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  const int rc = chk_real.gexx_Notify_Test(req, status);
  if (rc == GASNET_OK) ACQUIRED("gexx_Notify_Test", chk_key(CHK_KEY_TAG, chk.rank, 0));
  return rc;
}

void gexx_Notify_Wait(gexx_Notify_t req, gexx_Notify_Status_t *status) {
  chk_real.gexx_Notify_Wait(req, status);
  ACQUIRED("gexx_Notify_Wait", chk_key(CHK_KEY_TAG, chk.rank, 0));
}
