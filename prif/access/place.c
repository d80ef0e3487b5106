/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of an image, as the arguments of a PRIF procedure name it: the checks.
 *
 * Owns nothing. Called by the rooms access, sync and atomic. Calls: the bounds of segments.
 * Invariants: each message names the argument, its value, and the allowed values.
 */
#include "access/place.h"

#define WORD 8u /* bytes of an event, a lock, an atomic variable */

/* Whether [low, high) from `at` on lies in [0, bytes). */
static bool within(size_t at, struct prif_span span, size_t bytes) {
  const size_t before = (size_t)0 - (size_t)span.low; /* low is 0 or negative */
  return at <= bytes && before <= at && (size_t)span.high <= bytes - at;
}

static bool find_in_coarray(struct prif_place *p, const struct prif_where *w, struct prif_span span,
                            const struct prif_status *to) {
  const struct prif_co *co = prif_coarray(*w->coarray, to);
  const char *name = caf.statement.call;
  if (!co) return false;
  const struct caf_token *t = co->token;
  const size_t at = co->offset + *w->offset;
  if (p->rank >= t->ranks || !t->addr[p->rank]) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: image_num=%u: the coarray does not exist there; its team, of %u images, has "
              "allocated it without that image [TMB-2228]",
              name, p->rank + 1, co->block->team->size);
    return false;
  }
  if (span.low != span.high && (at < co->offset || !within(at, span, t->bytes))) {
    prif_fail(
        to, PRIF_STAT_ERROR,
        "%s: %s=%zu: bytes %td to %td from there on are accessed, and the coarray has bytes 0 "
        "to %td [TMB-2227]",
        name, w->name, *w->offset, span.low, span.high - 1, (ptrdiff_t)(t->bytes - co->offset) - 1);
    return false;
  }
  p->at = (char *)t->addr[p->rank] + at;
  return true;
}

static bool find_in_segment(struct prif_place *p, const struct prif_where *w, struct prif_span span,
                            const struct prif_status *to) {
  void *owner = NULL;
  uintptr_t bytes = 0;
  const uintptr_t at = (uintptr_t)*w->pointer;
  p->at = (char *)at;
  if (span.low == span.high) return true;
  (void)gex_Segment_QueryBound(caf.tm, p->rank, &owner, NULL, &bytes);
  if (within(at - (uintptr_t)owner, span, bytes)) return true;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: %s=0x%zx: image %u has no memory of coarrays from byte %td to %td from there on; "
            "pass an address in what prif_allocate_coarray or prif_allocate gave on that image "
            "[TMB-2226]",
            caf.statement.call, w->name, (size_t)at, p->rank + 1, span.low, span.high - 1);
  return false;
}

bool prif_find_slow(struct prif_place *p, const struct prif_where *w, struct prif_span span,
                    const struct prif_status *to) {
  p->rank = prif_rank(w->image_num, to);
  if (p->rank == UINT32_MAX) return false;
  return w->pointer ? find_in_segment(p, w, span, to) : find_in_coarray(p, w, span, to);
}

bool prif_find_word(struct prif_place *p, const struct prif_where *w,
                    const struct prif_status *to) {
  if (!prif_find(p, w, WORD, to)) return false;
  if (__builtin_expect((uintptr_t)p->at % WORD == 0, 1)) return true;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: %s=%zu: not the place of such a variable: address %p there is "
            "not a multiple of %u [TMB-2225]",
            caf.statement.call, w->name, w->pointer ? (size_t)*w->pointer : *w->offset,
            (void *)p->at, WORD);
  return false;
}

bool prif_met_loss(uint32_t rank, const struct prif_status *to) {
  gex_Rank_t met;
  if (!caf.lost[rank] && gexx_Lost_Take(&met) == GEXX_ERR_LOST && met == rank)
    (void)gexx_Peer_Query(rank); /* it polls, which reports the loss */
  if (!caf.lost[rank]) return false;
  prif_fail(to, prif_code_of(caf.lost[rank]), "%s: image %u of the initial team has %s [TMB-2224]",
            caf.statement.call, rank + 1, caf_end_name(caf.lost[rank]));
  return true;
}
