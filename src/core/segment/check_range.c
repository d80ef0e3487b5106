/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of ranges, see check_range.h.
 *
 * Owns nothing. Called from entry points of debug clients, off the fast path. Calls: the tables of
 * segments. Invariants: each function either returns or ends the process with one message.
 */
#include "core/segment/check_range.h"

#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"

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
