/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a rank to itself: the handler runs inside the call that injects the message.
 *
 * Owns nothing. Called by am.c and npam.c through tmb_am_inject. Calls: tmb_up_am. Nobody has to
 * poll for such a message, as a thread that waits for it outside the library, or only puts, never
 * does. Invariants: a request runs here only outside handlers, and a reply only outside reply
 * handlers, so that the depth is at most two, and one buffer for each suffices; other messages to
 * oneself take the ring. The source is never written: handlers get a copy, except of a prepared
 * message, whose buffer is the library's.
 */
#include "core/am/am.h"

#include "base/log.h"
#include "core/op/record.h"
#include "core/progress/progress.h"

#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

/* The payload as the handler sees it. */
static void *payload_of(struct tmb_thread *t, const struct tmb_am_out *out) {
  if (out->category == TMB_AM_SHORT) return NULL;
  if (out->category == TMB_AM_LONG) {
    if (out->nbytes) tmb_am_check_attached(out);
    if (out->nbytes && !out->filled) memmove(out->dest, out->src, out->nbytes);
    return out->dest;
  }
  if (out->staged >= 0) return (void *)(uintptr_t)out->src;
  void **buf = &t->self_buf[out->is_reply];
  if (!*buf) *buf = aligned_alloc(64, TMB_AM_MEDIUM_BYTES_MAX);
  if (!*buf)
    tmb_fatal("out of memory for messages of a rank to itself (%u bytes)", TMB_AM_MEDIUM_BYTES_MAX);
  if (out->nbytes) memcpy(*buf, out->src, out->nbytes);
  return *buf;
}

bool tmb_am_self(struct tmb_am_out *out) {
  struct tmb_thread *t = tmb_thread();
  const uint32_t busy = out->is_reply ? TMB_IN_REPLY : TMB_IN_REPLY | TMB_IN_REQUEST;
  if (t->context & busy) return false;
  const struct tmb_am_in in = {TMB_AM_HEAD(out),
                               .src = tmb_job.rank,
                               .category = out->category,
                               .args = out->args,
                               .payload = payload_of(t, out),
                               .nbytes = out->category == TMB_AM_SHORT ? 0 : out->nbytes};
  tmb_count(GEXX_STATS_AM_SHORT + out->category, out->peer, in.nbytes);
  tmb_record_sent(tmb_record_clock(), out);
  tmb_up_am(&in);
  if (out->staged >= 0) tmb_peer_release(out);
  tmb_progress_made();
  return true;
}
