/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handler-safe locks.
 *
 * Owns nothing: the lock is in the client's memory. Called by the inlines of gasnetex.h. Calls: the
 * library's lock (os/sync/lock.h), whose bytes gexx_state holds; in the form that also excludes
 * threads of PARSYNC clients, which may hold a lock outside the library. Invariants: never polls;
 * debug clients chain the locks that a thread holds, last first, through gexx_debug.
 */
#include "core/check.h"
#include "core/op/thread.h"
#include "os/os.h"
#include "os/sync/lock.h"

_Static_assert(sizeof(struct tmb_lock) == sizeof(((gex_HSL_t *)0)->gexx_state), "same bytes");

static struct tmb_lock *lock_of(gex_HSL_t *hsl) {
  return (struct tmb_lock *)(void *)&hsl->gexx_state;
}

static bool is_held(const gex_HSL_t *hsl) {
  return tmb_load_rlx(&((const struct tmb_lock *)(const void *)&hsl->gexx_state)->held);
}

/* Values of gexx_debug of a lock that is not held, in debug clients; a copy of a lock has another
 * value. */
enum { MARK_READY = 1, MARK_DEAD = 2 };
#define MARK    UINT64_C(0x68736c2d00000000)
/* A lock that is held so long is reported in debug clients. Chosen, not measured. */
#define LONG_NS UINT64_C(1000000000)

static uint64_t mark_of(const gex_HSL_t *hsl, uint64_t state) {
  return (MARK ^ (uintptr_t)hsl << 4) + state;
}

static void advise_dead(const char *call, const gex_HSL_t *hsl) {
  tmb_advise(
      TMB_ADVICE_HSL_DESTROY,
      "%s: the handler-safe lock %p has been destroyed; initialise it again with gex_HSL_Init",
      call, (const void *)hsl);
}

/* Record the acquisition in the thread's list; debug clients. */
static void link_lock(gex_HSL_t *hsl) {
  struct tmb_thread *t = tmb_thread();
  tmb_store_rlx(&hsl->gexx_owner, t->id);
  if (hsl->gexx_debug == mark_of(hsl, MARK_DEAD)) advise_dead("gex_HSL_Lock", hsl);
  hsl->gexx_debug = (uint64_t)(uintptr_t)t->hsl;
  if (!t->hsl) t->hsl_since_ns = tmb_os_now_ns();
  t->hsl = hsl;
}

static void check_recursion(const char *call, const gex_HSL_t *hsl) {
  if (!hsl) tmb_fatal_nopos("%s: argument hsl is NULL", call);
  if (is_held(hsl) && tmb_load_rlx(&hsl->gexx_owner) == tmb_thread()->id)
    tmb_fatal_nopos("%s: this thread already holds the handler-safe lock %p; it is not recursive",
                    call, (const void *)hsl);
}

void gexx_hsl_init(gex_HSL_t *hsl) {
  TMB_CHECK(hsl, "gex_HSL_Init: argument hsl is NULL");
  if (TMB_UNLIKELY(tmb_job.debug) && hsl->gexx_debug == mark_of(hsl, MARK_READY))
    tmb_advise(TMB_ADVICE_HSL_INIT,
               "gex_HSL_Init: the handler-safe lock %p is initialised already; destroy it first",
               (void *)hsl);
  *hsl = (gex_HSL_t)GEX_HSL_INITIALIZER;
  if (TMB_UNLIKELY(tmb_job.debug)) hsl->gexx_debug = mark_of(hsl, MARK_READY);
}

void gexx_hsl_destroy(gex_HSL_t *hsl) {
  TMB_CHECK(hsl, "gex_HSL_Destroy: argument hsl is NULL");
  TMB_CHECK(!is_held(hsl), "gex_HSL_Destroy: the handler-safe lock %p is held; unlock it first",
            (void *)hsl);
  if (TMB_LIKELY(!tmb_job.debug)) return;
  if (hsl->gexx_debug == mark_of(hsl, MARK_DEAD)) advise_dead("gex_HSL_Destroy", hsl);
  hsl->gexx_debug = mark_of(hsl, MARK_DEAD);
}

TMB_NO_LOCK_CHECK void gexx_hsl_lock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_recursion("gex_HSL_Lock", hsl);
  if (TMB_UNLIKELY(!tmb_lock_try_shared(lock_of(hsl)))) {
    tmb_thread()->hsl_wanted = hsl;
    tmb_lock_wait(lock_of(hsl));
  }
  if (TMB_UNLIKELY(tmb_job.debug)) link_lock(hsl);
}

TMB_NO_LOCK_CHECK int gexx_hsl_trylock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_recursion("gex_HSL_Trylock", hsl);
  if (!tmb_lock_try_shared(lock_of(hsl))) return GASNET_ERR_NOT_READY;
  if (TMB_UNLIKELY(tmb_job.debug)) link_lock(hsl);
  return GASNET_OK;
}

static void unlink_lock(gex_HSL_t *hsl) {
  struct tmb_thread *t = tmb_thread();
  if (!hsl) tmb_fatal_nopos("gex_HSL_Unlock: argument hsl is NULL");
  if (!is_held(hsl))
    tmb_fatal_nopos("gex_HSL_Unlock: the handler-safe lock %p is not held", (void *)hsl);
  if (tmb_load_rlx(&hsl->gexx_owner) != t->id)
    tmb_fatal_nopos("gex_HSL_Unlock: the handler-safe lock %p is held by another thread",
                    (void *)hsl);
  gex_HSL_t *later = NULL; /* acquired just after this one */
  for (gex_HSL_t *at = t->hsl; at && at != hsl; at = (gex_HSL_t *)(uintptr_t)at->gexx_debug)
    later = at;
  if (!later) {
    t->hsl = (gex_HSL_t *)(uintptr_t)hsl->gexx_debug;
  } else {
    tmb_advise(TMB_ADVICE_HSL_ORDER,
               "gex_HSL_Unlock: the handler-safe lock %p is not the last one acquired, which is "
               "%p; release in reverse order",
               (void *)hsl, (void *)t->hsl);
    later->gexx_debug = hsl->gexx_debug;
  }
  hsl->gexx_debug = mark_of(hsl, MARK_READY);
  tmb_store_rlx(&hsl->gexx_owner, 0);
  const uint64_t ns = tmb_os_now_ns() - t->hsl_since_ns;
  if (!t->hsl && ns > LONG_NS)
    tmb_advise(
        TMB_ADVICE_HSL_LONG,
        "gex_HSL_Unlock: the handler-safe lock %p was held for %.1f s; handlers that need it "
        "wait as long, and so may other ranks",
        (void *)hsl, 1e-9 * (double)ns);
}

TMB_NO_LOCK_CHECK void gexx_hsl_unlock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) unlink_lock(hsl);
  tmb_lock_release(lock_of(hsl));
}
