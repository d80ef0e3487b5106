/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the context of a call, see check_context.h.
 *
 * Owns nothing. Called from entry points of debug clients, off the fast path. Calls: check.h.
 * Invariants: each function either returns or ends the process with one message.
 */
#include "core/op/check_context.h"

#include "core/op/thread.h"

void tmb_check_context_at(const char *call) {
  tmb_check_ready_at(call);
  const struct tmb_thread *t = tmb_thread();
  if (t->context & (TMB_IN_REQUEST | TMB_IN_REPLY))
    tmb_fatal_nopos(
        "%s: called in a %s handler (handler index %u), where communication and polling "
        "are not allowed; reply, or record the work and do it after the handler",
        call, t->context & TMB_IN_REPLY ? "reply" : "request",
        t->token[t->context & TMB_IN_REPLY ? 1 : 0].entry->gex_index);
  if (t->context & TMB_PREPARED)
    tmb_fatal_nopos(
        "%s: called between gex_AM_Prepare and Commit or Cancel of descriptor %p; commit "
        "or cancel it first",
        call, (const void *)&t->srcdesc);
  if (t->context & TMB_IN_OPERATOR)
    tmb_advise(TMB_ADVICE_CONTEXT,
               "%s: called in the function of a reduction, where it can hang; call it before or "
               "after",
               call);
  if (t->context & TMB_NO_INTERRUPT)
    tmb_advise(TMB_ADVICE_INTERRUPTS,
               "%s: called between gasnet_hold_interrupts and gasnet_resume_interrupts", call);
  tmb_check_no_hsl(call, "called");
}

void tmb_check_context_mild(const char *call) {
  tmb_check_ready_at(call);
  const struct tmb_thread *t = tmb_thread();
  if (t->context || t->hsl)
    tmb_advise(TMB_ADVICE_CONTEXT, "%s: called in %s, where the API does not allow this call", call,
               t->hsl                                         ? "a section with a handler-safe lock"
               : t->context & (TMB_IN_REQUEST | TMB_IN_REPLY) ? "a handler"
               : t->context & TMB_IN_OPERATOR                 ? "the function of a reduction"
                                              : "a prepared or no-interrupt section");
}

void tmb_check_no_hsl(const char *call, const char *where) {
  const struct tmb_thread *t = tmb_thread();
  if (t->hsl)
    tmb_fatal_nopos("%s: %s while this thread holds the handler-safe lock %p; unlock it first",
                    call, where, (const void *)t->hsl);
}
