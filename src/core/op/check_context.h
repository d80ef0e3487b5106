/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of where a call is made: in a handler, with a lock held, with a message prepared.
 *
 * Owns nothing. Called at the top of entry points, in debug clients only. Calls: check.h, thread.h.
 * Invariants: as in check.h.
 */
#ifndef TMB_CORE_CHECK_CONTEXT_H
#define TMB_CORE_CHECK_CONTEXT_H

#include "core/check.h"
#include "core/op/thread.h"

/* Fatal unless the thread is in normal context: no handler, no lock held, nothing prepared. in
 * call: function's name. */
void tmb_check_context_at(const char *call);
#define TMB_CHECK_CONTEXT(call)                                \
 do {                                                          \
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_context_at(call); \
 } while (0)

/* Fatal in a handler, in every client: for collective calls, which would there be paired with
 * another call of the other ranks. Costs a load. */
#define TMB_CHECK_NO_HANDLER(call)                                               \
 do {                                                                            \
  const struct tmb_thread *const self_ = tmb_thread_self;                        \
  if (TMB_UNLIKELY(self_ && (self_->context & (TMB_IN_REQUEST | TMB_IN_REPLY)))) \
   tmb_check_context_at(call);                                                   \
 } while (0)

/* Warns unless in normal context: for calls that do no harm elsewhere. */
void tmb_check_context_mild(const char *call);
#define TMB_CHECK_MILD(call)                                     \
 do {                                                            \
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_context_mild(call); \
 } while (0)

/* Fatal if this thread holds a handler-safe lock. in where: the action that would follow. */
void tmb_check_no_hsl(const char *call, const char *where);

#endif
