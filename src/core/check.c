/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse checks, see check.h.
 *
 * Owns nothing. Called from entry points of debug clients, off the fast path. Calls: base/log.
 * Invariants: each function either returns or ends the process with one message; after a failed
 * initialisation that message is the reason of the failure, which has been printed.
 */
#include "core/check.h"

#include "base/messages/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tmb_advise(enum tmb_advice advice, const char *fmt, ...) {
  char text[512];
  va_list args;
  const uint32_t bit = UINT32_C(1) << advice;
  if (!tmb_job.debug || tmb_job.state == TMB_JOB_FAILED ||
      (tmb_fetch_or_acq_rel(&tmb_job.advised, bit) & bit))
    return;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tmb_warn_numbered(tmb_message_number(fmt), "%s", text);
}

int tmb_refuse(const char *call, int code, const char *fmt, ...) {
  char text[512];
  va_list args;
  if (!tmb_job.verbose_errors) return code;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tmb_print_numbered(tmb_message_number(fmt), "%s returns %s: %s", call, gasnet_ErrorName(code),
                     text);
  return code;
}

/* The client has not checked the result of gex_Client_Init. */
static void end_after_failure(void) {
  if (tmb_job.state == TMB_JOB_FAILED) exit(EXIT_FAILURE);
}

int tmb_refuse_early(const char *call) {
  end_after_failure();
  return tmb_refuse(call, GASNET_ERR_NOT_INIT, "the library is not initialised");
}

void tmb_check_ready_at(const char *call) {
  end_after_failure();
  if (!tmb_job_ready())
    tmb_fatal_nopos("%s: the library is not initialised; call gex_Client_Init or gasnet_init first",
                    call);
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
    tmb_fatal_nopos("%s: argument rank is %u, but %s has %u ranks (0 to %u)", call, rank,
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
