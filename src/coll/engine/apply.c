/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling clients' reduction functions, see apply.h.
 *
 * Owns: the queue of calls that are posted (state.h). Called by the engine, by coll/shared and by
 * the progress hook. Calls: the client's functions. Invariants: the queue is guarded by the lock of
 * collectives, which is not held while a function runs; while calls are posted no thread that has
 * polled sleeps for long, because tmb_apply_run then never says that there was nothing to do.
 */
#include "coll/engine/apply.h"

#include "base/container/list.h"
#include "coll/engine/engine.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "os/os.h"

/* ns after which any thread runs the function: one that waits for the event polls much sooner. */
#define GRACE_NS 20000000u

void tmb_apply_post(struct tmb_apply *a) {
  a->since = 0;
  a->posted = true;
  TMB_LIST_EXTEND(&tmb_colls.calls.end, a);
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
}

static void unlink_at(struct tmb_apply **place) {
  struct tmb_apply *a = TMB_LIST_POP(place);
  if (!*place) tmb_colls.calls.end = place;
  a->posted = false;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] - 1);
}

bool tmb_apply_cancel(struct tmb_apply *a) {
  if (!a->posted) return false;
  struct tmb_apply **place = &tmb_colls.calls.first;
  while (*place != a) place = &(*place)->next;
  unlink_at(place);
  return true;
}

bool tmb_apply_any(void) {
  return tmb_colls.calls.first != NULL;
}

/* Whether this thread makes a call; else notes since when it has been left alone. */
static bool takes(struct tmb_apply *a, uint64_t *now) {
  const uint32_t thread = a->event ? tmb_load_rlx(&a->event->thread) : 0;
  if (!tmb_job.threads || !thread || thread == tmb_thread()->id) return true;
  if (!*now) *now = tmb_os_now_ns();
  if (!a->since) a->since = *now;
  return *now - a->since >= GRACE_NS;
}

TMB_REQUIRES(tmb_coll_guard) int tmb_apply_run(void) {
  uint64_t now = 0;
  struct tmb_apply **place = &tmb_colls.calls.first, *a;
  if (TMB_LIKELY(!tmb_colls.calls.first)) return TMB_FOUND_NOTHING;
  while ((a = *place) != NULL && !takes(a, &now)) place = &a->next;
  if (!a) return TMB_FOUND_BUSY;
  unlink_at(place);
  a->running = true;
  tmb_coll_unlock();
  /* The function may take long, or wait for another thread: that one must not sleep over progress
   * that this thread has made since its poll began. */
  if (tmb_job.threads) tmb_progress_made();
  tmb_reduce_apply(a->reducer, a->to, a->own, a->message, a->bytes, a->right);
  tmb_coll_lock();
  a->running = false;
  a->then(a);
  return TMB_FOUND_WORK;
}
