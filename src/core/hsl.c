/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handler-safe locks.
 *
 * Owns nothing: the lock is in the client's memory. Called by the inlines of gasnetex.h. Calls:
 * futex(2) after spinning. The lock is the three-state futex mutex of U. Drepper, "Futexes Are
 * Tricky" (2011): 0 free, 1 held, 2 held with sleepers. Invariants: never polls; debug clients
 * chain the locks that a thread holds, last first, through gexx_debug.
 */
#include "core/check.h"
#include "core/thread.h"
#include "os/futex.h"

#define SPINS 200

static void lock_slow(gex_HSL_t *hsl) {
  for (int i = 0; i < SPINS; i++) {
    uint32_t expected = 0;
    if (tmb_load_rlx(&hsl->gexx_state) == 0 && tmb_cas_acq(&hsl->gexx_state, &expected, 1)) return;
    tmb_cpu_pause();
  }
  while (tmb_xchg_acq(&hsl->gexx_state, 2)) (void)tmb_futex_wait(&hsl->gexx_state, 2, UINT64_MAX);
}

/* Note the acquisition in the thread's list; debug clients. */
static void link_lock(gex_HSL_t *hsl) {
  struct tmb_thread *t = tmb_thread();
  tmb_store_rlx(&hsl->gexx_owner, t->id);
  hsl->gexx_debug = (uint64_t)(uintptr_t)t->hsl;
  t->hsl = hsl;
}

static void check_recursion(const char *call, const gex_HSL_t *hsl) {
  if (!hsl) tmb_fatal_nopos("%s: argument hsl is NULL", call);
  if (tmb_load_rlx(&hsl->gexx_state) && tmb_load_rlx(&hsl->gexx_owner) == tmb_thread()->id)
    tmb_fatal_nopos("%s: this thread already holds the handler-safe lock %p; it is not recursive",
                    call, (const void *)hsl);
}

void gexx_hsl_init(gex_HSL_t *hsl) {
  TMB_CHECK(hsl, "gex_HSL_Init: argument hsl is NULL");
  *hsl = (gex_HSL_t)GEX_HSL_INITIALIZER;
}

void gexx_hsl_destroy(gex_HSL_t *hsl) {
  TMB_CHECK(hsl, "gex_HSL_Destroy: argument hsl is NULL");
  TMB_CHECK(tmb_load_rlx(&hsl->gexx_state) == 0,
            "gex_HSL_Destroy: the handler-safe lock %p is held; unlock it first", (void *)hsl);
}

void gexx_hsl_lock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_recursion("gex_HSL_Lock", hsl);
  uint32_t expected = 0;
  if (TMB_UNLIKELY(!tmb_cas_acq(&hsl->gexx_state, &expected, 1))) lock_slow(hsl);
  if (TMB_UNLIKELY(tmb_job.debug)) link_lock(hsl);
}

int gexx_hsl_trylock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_recursion("gex_HSL_Trylock", hsl);
  uint32_t expected = 0;
  if (!tmb_cas_acq(&hsl->gexx_state, &expected, 1)) return GASNET_ERR_NOT_READY;
  if (TMB_UNLIKELY(tmb_job.debug)) link_lock(hsl);
  return GASNET_OK;
}

static void unlink_lock(gex_HSL_t *hsl) {
  struct tmb_thread *t = tmb_thread();
  if (!hsl) tmb_fatal_nopos("gex_HSL_Unlock: argument hsl is NULL");
  if (!tmb_load_rlx(&hsl->gexx_state))
    tmb_fatal_nopos("gex_HSL_Unlock: the handler-safe lock %p is not held", (void *)hsl);
  if (tmb_load_rlx(&hsl->gexx_owner) != t->id)
    tmb_fatal_nopos("gex_HSL_Unlock: the handler-safe lock %p is held by another thread",
                    (void *)hsl);
  if (t->hsl != hsl)
    tmb_fatal_nopos(
        "gex_HSL_Unlock: the handler-safe lock %p is not the last one acquired, which is "
        "%p; release in reverse order",
        (void *)hsl, (void *)t->hsl);
  t->hsl = (gex_HSL_t *)(uintptr_t)hsl->gexx_debug;
  tmb_store_rlx(&hsl->gexx_owner, 0);
}

void gexx_hsl_unlock(gex_HSL_t *hsl) {
  if (TMB_UNLIKELY(tmb_job.debug)) unlink_lock(hsl);
  if (TMB_UNLIKELY(tmb_xchg_acq_rel(&hsl->gexx_state, 0) == 2))
    (void)tmb_futex_wake(&hsl->gexx_state, 1);
}
