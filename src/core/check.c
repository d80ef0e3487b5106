/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse checks, see check.h.
 *
 * Owns nothing. Called from entry points of debug clients, off the fast path. Calls: base/log.
 * Invariants: each function either returns or ends the process with one message.
 */
#include "core/check.h"

#include "core/mk/mk.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"
#include "core/wait/thread.h"

#include <stdarg.h>
#include <stdio.h>

void tmb_advise(enum tmb_advice advice, const char *fmt, ...) {
  char text[512];
  va_list args;
  const uint32_t bit = UINT32_C(1) << advice;
  if (!tmb_job.debug || (tmb_fetch_or_acq_rel(&tmb_job.advised, bit) & bit)) return;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tmb_warn("%s", text);
}

int tmb_refuse(const char *call, int code, const char *fmt, ...) {
  char text[512];
  va_list args;
  if (!tmb_job.verbose_errors) return code;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tmb_print("%s returns %s: %s", call, gasnet_ErrorName(code), text);
  return code;
}

void tmb_check_ready_at(const char *call) {
  if (!tmb_job_ready())
    tmb_fatal_nopos("%s: the library is not initialised; call gex_Client_Init or gasnet_init first",
                    call);
}

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
               t->hsl ? "a section with a handler-safe lock"
               : t->context & (TMB_IN_REQUEST | TMB_IN_REPLY)
                   ? "a handler"
                   : "a prepared or no-interrupt section");
}

void tmb_check_no_hsl(const char *call, const char *where) {
  const struct tmb_thread *t = tmb_thread();
  if (t->hsl)
    tmb_fatal_nopos("%s: %s while this thread holds the handler-safe lock %p; unlock it first",
                    call, where, (const void *)t->hsl);
}

void tmb_check_tm(const char *call, gex_TM_t tm, bool pair) {
  tmb_check_ready_at(call);
  if (!tm) tmb_fatal_nopos("%s: argument tm is GEX_TM_INVALID", call);
  if (tm->magic == GEXX_MAGIC_TM) return;
  if (tm->magic != GEXX_MAGIC_PAIR)
    tmb_fatal_nopos("%s: argument tm (%p) is not a team handle", call, (void *)tm);
  if (!pair)
    tmb_fatal_nopos("%s: argument tm (%p) is a TM-pair; this call takes only teams", call,
                    (void *)tm);
}

void tmb_check_tm_rank(const char *call, gex_TM_t tm, gex_Rank_t rank) {
  tmb_check_tm(call, tm, true);
  if (rank >= tm->size)
    tmb_fatal_nopos("%s: argument rank is %u, but %s has %u ranks (0..%u)", call, rank,
                    tm->magic == GEXX_MAGIC_PAIR ? "the job" : "the team", tm->size, tm->size - 1);
}

void tmb_check_ep(const char *call, gex_EP_t ep) {
  tmb_check_ready_at(call);
  if (!ep) tmb_fatal_nopos("%s: argument ep is GEX_EP_INVALID", call);
  if (ep->magic != TMB_MAGIC_EP)
    tmb_fatal_nopos("%s: argument ep (%p) is not an endpoint handle", call, (void *)ep);
}

void tmb_check_client(const char *call, gex_Client_t client) {
  tmb_check_ready_at(call);
  if (!client) tmb_fatal_nopos("%s: argument client is GEX_CLIENT_INVALID", call);
  if (client->magic != TMB_MAGIC_CLIENT)
    tmb_fatal_nopos("%s: argument client (%p) is not a client handle", call, (void *)client);
}

void tmb_check_segment(const char *call, gex_Segment_t segment) {
  tmb_check_ready_at(call);
  if (!segment) tmb_fatal_nopos("%s: argument segment is GEX_SEGMENT_INVALID", call);
  if (segment->magic != TMB_MAGIC_SEGMENT)
    tmb_fatal_nopos("%s: argument segment (%p) is not a segment handle", call, (void *)segment);
}

void tmb_check_attached(const char *call, const char *argument, gex_TM_t tm, gex_Rank_t rank,
                        const void *addr) {
  if (tmb_job.ep.segment || tmb_ep_index(tm, rank) || tmb_segtab_at(tm, rank)) return;
  tmb_fatal_nopos("%s: argument %s (%p) names memory of rank %u, but no segment is attached yet; "
                  "call gex_Segment_Attach first",
                  call, argument, addr, rank);
}

void tmb_check_remote(const char *call, const char *argument, gex_TM_t tm, gex_Rank_t rank,
                      const void *addr, size_t nbytes) {
  if (!nbytes) return;
  const struct tmb_peer_segment *s = tmb_segtab_at(tm, rank);
  if (!s) tmb_check_attached(call, argument, tm, rank, addr);
  if (!s)
    tmb_fatal_nopos(
        "%s: argument %s (%p) names memory of endpoint %u of rank %u, but no bound segment of that "
        "endpoint has been published to this rank; call gex_EP_BindSegment and "
        "gex_EP_PublishBoundSegment first",
        call, argument, addr, tmb_ep_index(tm, rank), rank);
  const uintptr_t a = (uintptr_t)addr;
  if (a < s->base || nbytes > s->size || a - s->base > s->size - nbytes)
    tmb_fatal_nopos("%s: argument %s: %zu bytes at %p are outside the segment of rank %u, which is "
                    "%zu bytes at %p",
                    call, argument, nbytes, addr, rank, (size_t)s->size, (void *)s->base);
}

void tmb_check_flags(const char *call, gex_Flags_t flags, gex_Flags_t known) {
  if (flags & ~known)
    tmb_advise(TMB_ADVICE_FLAGS, "%s: argument flags is 0x%x; this call knows only 0x%x", call,
               flags, known);
}

#define SELF_SEG                                                                 \
 (GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | \
  GEX_FLAG_SELF_SEG_OFFSET)
#define PEER_SEG                                                                 \
 (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND | \
  GEX_FLAG_PEER_SEG_OFFSET)

void tmb_check_seg_flags(const char *call, gex_Flags_t flags) {
  const char *family = __builtin_popcount(flags & SELF_SEG) > 1   ? "GEX_FLAG_SELF_SEG_"
                       : __builtin_popcount(flags & PEER_SEG) > 1 ? "GEX_FLAG_PEER_SEG_"
                       : (flags & GEX_FLAG_LC_COPY_YES) && (flags & GEX_FLAG_LC_COPY_NO)
                           ? "GEX_FLAG_LC_COPY_"
                           : NULL;
  if (!family) return;
  if (flags & (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET))
    tmb_fatal_nopos("%s: argument flags is 0x%x: it holds more than one %s flag", call, flags,
                    family);
  tmb_advise(TMB_ADVICE_FLAGS, "%s: argument flags is 0x%x: it holds more than one %s flag", call,
             flags, family);
}

void tmb_check_local_ep(const struct tmb_local_range *r) {
  const struct gexx_segment_s *segment = r->ep->segment;
  const uintptr_t a = (uintptr_t)r->addr, size = segment ? segment->size : 0;
  const bool offset = (r->flags & GEX_FLAG_SELF_SEG_OFFSET) != 0;
  const uintptr_t base = offset || !segment ? 0 : (uintptr_t)segment->base;
  if (!r->nbytes) return;
  if (!r->addr && !offset)
    tmb_fatal_nopos("%s: argument %s is NULL with nbytes %zu", r->call, r->argument, r->nbytes);
  if (!(r->flags & (GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET)))
    return;
  if (a >= base && r->nbytes <= size && a - base <= size - r->nbytes) return;
  if ((r->flags & GEX_FLAG_SELF_SEG_SOME) && tmb_segment_holds(r->addr, r->nbytes)) return;
  if (offset)
    tmb_fatal_nopos("%s: argument %s: %zu bytes at offset %zu are outside the segment of this "
                    "rank, which has %zu bytes",
                    r->call, r->argument, r->nbytes, (size_t)a, (size_t)size);
  const char *const text =
      "%s: argument %s: %zu bytes at %p are outside the segment of this rank, but flags "
      "0x%x promise the opposite (GEX_FLAG_SELF_SEG_BOUND or SOME)";
  if (tmb_mk_device(segment))
    tmb_fatal_nopos(text, r->call, r->argument, r->nbytes, r->addr, r->flags);
  tmb_advise(TMB_ADVICE_SEGMENT, text, r->call, r->argument, r->nbytes, r->addr, r->flags);
}

void tmb_check_local(const char *call, const char *argument, const void *addr, size_t nbytes,
                     gex_Flags_t flags) {
  tmb_check_local_ep(&(struct tmb_local_range){call, argument, &tmb_job.ep, addr, nbytes, flags});
}

void tmb_check_overlap(const char *call, uint32_t jobrank, const void *dest, const void *src,
                       size_t nbytes) {
  const uintptr_t d = (uintptr_t)dest, s = (uintptr_t)src;
  if (jobrank != tmb_job.rank || (d < s ? s - d : d - s) >= nbytes) return;
  if (dest != src)
    tmb_fatal_nopos("%s: the source (%p) and the destination (%p) of these %zu bytes overlap", call,
                    src, dest, nbytes);
  tmb_advise(TMB_ADVICE_OVERLAP, "%s: source and destination of %zu bytes are the same address %p",
             call, nbytes, src);
}
