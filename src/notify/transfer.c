/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of puts and gets that also signal or notify the other side, see transfer.h.
 *
 * Owns nothing. Called by put_signal.c, tagged_send.c and tagged_get.c. Calls: core's checks and
 * tables of segments. Invariant: nothing is sent from here.
 */
#include "notify/transfer.h"

#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"

/* The data may lie outside the bound segment. */
#define ANYWHERE (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)

void tmb_transfer_check_offset(const struct tmb_transfer *t, const char *argument,
                               const void *offset, size_t nbytes) {
  const struct tmb_peer_segment *s = tmb_segtab_at(t->tm, t->rank);
  const uintptr_t size = s ? s->size : 0, at = (uintptr_t)offset;
  if (at > size || nbytes > size - at)
    tmb_fatal_nopos("%s: argument %s: %zu bytes at offset %zu are outside the segment of rank %u, "
                    "which has %zu bytes",
                    t->call, argument, nbytes, (size_t)at, t->rank, (size_t)size);
}

static void check_promises(const struct tmb_transfer *t) {
  if (!(t->flags & (GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD))) return;
  const uint32_t jobrank = tmb_jobrank(t->tm, t->rank);
  const bool self = jobrank == tmb_job.rank;
  if (self || ((t->flags & GEX_FLAG_PEER_NEVER_NBRHD) &&
               tmb_nbrhd_of(jobrank) == tmb_nbrhd_of(tmb_job.rank)))
    tmb_fatal_nopos("%s: argument flags is 0x%x, which promises that rank %u is not %s, but it is",
                    t->call, t->flags, t->rank, self ? "this process" : "in this neighbourhood");
}

void tmb_transfer_check(const struct tmb_transfer *t) {
  const char *const remote = t->is_get ? "src" : "dest";
  tmb_check_context_at(t->call);
  tmb_check_tm_rank(t->call, t->tm, t->rank);
  tmb_check_flags(t->call, t->flags, TMB_TRANSFER_FLAGS);
  tmb_check_seg_flags(t->call, t->flags);
  check_promises(t);
  if (!t->nbytes) return;
  const bool bound = tmb_mk_device(t->tm->ep->segment) && !(t->flags & GEX_FLAG_SELF_SEG_OFFSET);
  tmb_check_local_ep(&(struct tmb_local_range){t->call, t->is_get ? "dest" : "src", t->tm->ep,
                                               t->local, t->nbytes,
                                               t->flags | (bound ? GEX_FLAG_SELF_SEG_BOUND : 0)});
  if (t->flags & GEX_FLAG_PEER_SEG_OFFSET)
    tmb_transfer_check_offset(t, remote, t->remote, t->nbytes);
  else if (!(t->flags & ANYWHERE))
    tmb_check_remote(t->call, remote, t->tm, t->rank, t->remote, t->nbytes);
}

void tmb_transfer_resolve(struct tmb_transfer *t) {
  if (t->flags & GEX_FLAG_PEER_SEG_OFFSET) t->remote = tmb_segtab_offset(t->tm, t->rank, t->remote);
  if (t->flags & GEX_FLAG_SELF_SEG_OFFSET) t->local = tmb_segtab_self_offset(t->tm->ep, t->local);
  t->delta = tmb_segtab_delta_of(t->tm, t->rank);
}

bool tmb_transfer_device(const struct tmb_transfer *t) {
  return tmb_mk_involved(t->tm, t->rank);
}

bool tmb_transfer_direct(const struct tmb_transfer *t) {
  if (t->delta == GEXX_UNMAPPED) return false;
  return !(t->flags & ANYWHERE) || !t->nbytes ||
         tmb_segtab_maps(t->tm, t->rank, t->remote, t->nbytes);
}

void tmb_transfer_copy(const struct tmb_transfer *t) {
  void *mapped = gexx_rma_local(t->delta, t->remote);
  if (t->is_get)
    gexx_rma_copy(t->local, mapped, t->nbytes);
  else
    gexx_rma_copy(mapped, t->local, t->nbytes);
}

void tmb_transfer_check_lc(const char *call, const gex_Event_t *lc_opt, enum tmb_form form) {
  if (!lc_opt)
    tmb_fatal_nopos("%s: argument lc_opt is NULL; pass GEX_EVENT_NOW%s", call,
                    form == TMB_FORM_BLOCKING ? "" : " or GEX_EVENT_DEFER");
  if (form == TMB_FORM_BLOCKING && lc_opt != GEX_EVENT_NOW)
    tmb_fatal_nopos("%s: argument lc_opt is %p; the blocking form takes GEX_EVENT_NOW only", call,
                    (const void *)lc_opt);
  if (form == TMB_FORM_NB && lc_opt == GEX_EVENT_GROUP)
    tmb_fatal_nopos("%s: argument lc_opt is GEX_EVENT_GROUP, which only implicit puts take", call);
  if (form == TMB_FORM_NBI && (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP)
    tmb_fatal_nopos(
        "%s: argument lc_opt is the address %p; implicit puts take GEX_EVENT_NOW, DEFER or GROUP",
        call, (const void *)lc_opt);
}
