/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get off the inline path: debug clients, unmapped peers, segment-disposition flags.
 *
 * Owns nothing. Called by inline_rma.h. Calls: peer.h, op.h, progress.
 * An access is resolved once (peer, addresses), then served by a copy when the peer is mapped, else
 * by the conduit. Invariants: the op's counters are raised before anything is sent; local
 * completion of a put is reached when it returns, unless a conduit reads the source later: then it
 * is counted as part of the op, and waited for if the client asks for that (GEX_EVENT_NOW); a debug
 * client's complete NB operation still yields a live root event, so that a second synchronisation
 * is found out.
 */
#include "base/error.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"

#include <gasnetex_ext.h>

#define RMA_FLAGS                                                                               \
 (GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_SELF_SEG_UNKNOWN | \
  GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET |                 \
  GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |                \
  GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD)

/* The remote range may lie outside the bound segment. */
#define RMA_ANYWHERE   (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)

/* More than a copy may be needed. */
#define NO_SIMPLE_COPY (RMA_ANYWHERE | GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET)

/* One access. `is_get`: remote is the source. */
struct access {
  const char *call;
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get;
  void *remote;
  void *local;
  size_t nbytes;
  gex_Flags_t flags;
  const gex_Event_t *lc; /* of a put: GEX_EVENT_NOW, DEFER, GROUP, or where the event goes */
};

/* Local memory of an endpoint with a device segment must lie inside that. */
static void check_local_side(const struct access *a) {
  const bool bound = tmb_mk_device(a->tm->ep->segment) && !(a->flags & GEX_FLAG_SELF_SEG_OFFSET);
  tmb_check_local_ep(&(struct tmb_local_range){a->call, a->is_get ? "dest" : "src", a->tm->ep,
                                               a->local, a->nbytes,
                                               a->flags | (bound ? GEX_FLAG_SELF_SEG_BOUND : 0)});
}

static void check_access(const struct access *a) {
  tmb_check_context_at(a->call);
  tmb_check_tm_rank(a->call, a->tm, a->rank);
  tmb_check_flags(a->call, a->flags, RMA_FLAGS);
  tmb_check_seg_flags(a->call, a->flags);
  if (a->flags & (GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD)) {
    const uint32_t jobrank = tmb_jobrank(a->tm, a->rank);
    if (jobrank == tmb_job.rank || ((a->flags & GEX_FLAG_PEER_NEVER_NBRHD) &&
                                    tmb_nbrhd_of(jobrank) == tmb_nbrhd_of(tmb_job.rank)))
      tmb_fatal_nopos(
          "%s: argument flags is 0x%x, which promises that rank %u is not %s, but it is", a->call,
          a->flags, a->rank, jobrank == tmb_job.rank ? "this process" : "in this neighbourhood");
  }
  check_local_side(a);
  if (a->flags & GEX_FLAG_PEER_SEG_OFFSET) {
    const struct tmb_peer_segment *s = tmb_segtab_at(a->tm, a->rank);
    const uintptr_t size = s ? s->size : 0;
    if ((uintptr_t)a->remote > size || a->nbytes > size - (uintptr_t)a->remote)
      tmb_fatal_nopos(
          "%s: %zu bytes at offset %zu are outside the segment of rank %u, which has %zu "
          "bytes",
          a->call, a->nbytes, (size_t)(uintptr_t)a->remote, a->rank, (size_t)size);
  } else if (!(a->flags & RMA_ANYWHERE)) {
    tmb_check_remote(a->call, a->is_get ? "src" : "dest", a->tm, a->rank, a->remote, a->nbytes);
    if (!(a->flags & GEX_FLAG_SELF_SEG_OFFSET))
      tmb_check_overlap(a->call, tmb_jobrank(a->tm, a->rank), a->is_get ? a->local : a->remote,
                        a->is_get ? a->remote : a->local, a->nbytes);
  }
}

/* Turn offsets into addresses. */
static void resolve(struct access *a) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_access(a);
  if (a->flags & GEX_FLAG_PEER_SEG_OFFSET) a->remote = tmb_segtab_offset(a->tm, a->rank, a->remote);
  if (a->flags & GEX_FLAG_SELF_SEG_OFFSET) a->local = tmb_segtab_self_offset(a->tm->ep, a->local);
}

/* Whether the access is a copy here: the peer's segment is mapped and the range lies inside it. in
 * delta: of the peer. */
static bool direct(const struct access *a, intptr_t delta) {
  if (delta == GEXX_UNMAPPED) return false;
  if (TMB_LIKELY(!(a->flags & RMA_ANYWHERE))) return true;
  return tmb_segtab_maps(a->tm, a->rank, a->remote, a->nbytes);
}

static void copy(const struct access *a, intptr_t delta) {
  void *mapped = gexx_rma_local(delta, a->remote);
  if (a->is_get)
    gexx_rma_copy(a->local, mapped, a->nbytes);
  else
    gexx_rma_copy(mapped, a->local, a->nbytes);
}

/* Serve a resolved access that is not empty. */
static int serve(const struct access *a, struct tmb_op *op) {
  if (tmb_mk_involved(a->tm, a->rank))
    return tmb_mk_rma(&(struct tmb_mk_access){.tm = a->tm,
                                              .rank = a->rank,
                                              .is_get = a->is_get,
                                              .immediate = (a->flags & GEX_FLAG_IMMEDIATE) != 0,
                                              .deferred = a->lc == GEX_EVENT_DEFER,
                                              .remote = a->remote,
                                              .local = a->local,
                                              .nbytes = a->nbytes,
                                              .op = op});
  const intptr_t delta = tmb_segtab_delta_of(a->tm, a->rank);
  if (direct(a, delta)) {
    copy(a, delta);
    return 0;
  }
  if (!(a->flags & RMA_ANYWHERE))
    tmb_check_attached(a->call, a->is_get ? "src" : "dest", a->tm, a->rank, a->remote);
  const struct tmb_rma rma = {.peer = tmb_jobrank(a->tm, a->rank),
                              .remote = a->remote,
                              .local = a->local,
                              .nbytes = a->nbytes,
                              .op = op,
                              .category = a->is_get ? TMB_CAT_GET : TMB_CAT_PUT,
                              .local_category = TMB_CAT_LC,
                              .report_local = !a->is_get && a->lc != GEX_EVENT_DEFER,
                              .immediate = (a->flags & GEX_FLAG_IMMEDIATE) != 0};
  if (a->is_get) return tmb_peer_get(&rma);
  const int rc = tmb_peer_put(&rma);
  if (rc == 0 && a->lc == GEX_EVENT_NOW) tmb_op_wait_local(op);
  return rc;
}

/*
 * Serve an access; parts that remain are counted in op. Returns 0 when started (or done), TMB_AGAIN
 * for an immediate access without resources.
 */
static int start(struct access *a, struct tmb_op *op) {
  const uint64_t begun = tmb_record_clock();
  resolve(a);
  const int rc = a->nbytes ? serve(a, op) : 0;
  if (rc) return tmb_poll_refused(rc);
  const uint32_t peer = tmb_jobrank(a->tm, a->rank);
  tmb_count(a->is_get ? GEXX_STATS_GET : GEXX_STATS_PUT, peer, a->nbytes);
  tmb_record_operation(begun, a->is_get ? TMB_WHAT_GET : TMB_WHAT_PUT, peer, a->nbytes, a->remote,
                       op);
  return 0;
}

/* The usual access that comes here because operations are counted, recorded or checked: a copy, and
 * done. Returns false, with nothing done, for all others. */
static bool done_by_copy(const struct access *a) {
  if (tmb_job.debug || tmb_job.lost || a->tm->reserved || (a->flags & NO_SIMPLE_COPY)) return false;
  const uint64_t begun = tmb_record_clock();
  const intptr_t delta = tmb_segtab_delta_of(a->tm, a->rank);
  if (delta == GEXX_UNMAPPED) return false;
  copy(a, delta);
  const uint32_t peer = tmb_jobrank(a->tm, a->rank);
  tmb_count(a->is_get ? GEXX_STATS_GET : GEXX_STATS_PUT, peer, a->nbytes);
  tmb_record_copy(begun, a->is_get ? TMB_WHAT_GET : TMB_WHAT_PUT, peer, a->nbytes, a->remote);
  return true;
}

static int blocking(struct access *a) {
  if (done_by_copy(a)) return 0;
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  if (start(a, &op)) return 1;
  if (!tmb_op_done(&op, GEX_EC_ALL)) {
    struct gexx_wait wait;
    tmb_wait_begin(&wait);
    tmb_op_name(&op, a->is_get ? TMB_WHAT_GET : TMB_WHAT_PUT, tmb_jobrank(a->tm, a->rank));
    while (!tmb_op_done(&op, GEX_EC_ALL)) tmb_wait_step(&wait, tmb_why_op(&op));
  }
  return tmb_op_sync(&op, GEX_EC_ALL);
}

static int implicit(struct access *a) {
  if (!tmb_job.live_events && done_by_copy(a)) return 0;
  return start(a, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

static gex_Event_t with_event(struct access *a, uint32_t leaves) {
  if (!tmb_job.live_events && done_by_copy(a)) return GEX_EVENT_INVALID;
  if (!tmb_job.live_events && !tmb_job.lost &&
      (a->nbytes == 0 || direct(a, tmb_segtab_delta_of(a->tm, a->rank)))) {
    (void)start(a, NULL);
    return GEX_EVENT_INVALID;
  }
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, leaves);
  if (start(a, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  tmb_op_name(op, a->is_get ? TMB_WHAT_GET : TMB_WHAT_PUT, tmb_jobrank(a->tm, a->rank));
  return tmb_op_event(op);
}

void tmb_op_wait_local(const struct tmb_op *op) {
  if (TMB_LIKELY(tmb_op_done(op, GEX_EC_LC))) return;
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  while (!tmb_op_done(op, GEX_EC_LC)) tmb_wait_step(&wait, tmb_why_op(op));
}

static void check_put_lc(const char *call, const gex_Event_t *lc_opt, bool nbi) {
  if (!tmb_job.debug) return;
  if (!lc_opt)
    tmb_fatal_nopos("%s: argument lc_opt is NULL; pass GEX_EVENT_NOW or GEX_EVENT_DEFER", call);
  if (!nbi && lc_opt == GEX_EVENT_GROUP)
    tmb_fatal_nopos("%s: argument lc_opt is GEX_EVENT_GROUP, which only implicit puts take", call);
  if (nbi && (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP)
    tmb_fatal_nopos(
        "%s: argument lc_opt is the address %p; implicit puts take GEX_EVENT_NOW, DEFER or "
        "GROUP",
        call, (const void *)lc_opt);
}

int gexx_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                 gex_Flags_t flags) {
  return blocking(&(struct access){"gex_RMA_PutBlocking", tm, rank, false, dest,
                                   (void *)(uintptr_t)src, nbytes, flags, GEX_EVENT_DEFER});
}

int gexx_rma_put_nbi(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                     gex_Event_t *lc_opt, gex_Flags_t flags) {
  check_put_lc("gex_RMA_PutNBI", lc_opt, true);
  return implicit(&(struct access){"gex_RMA_PutNBI", tm, rank, false, dest, (void *)(uintptr_t)src,
                                   nbytes, flags, lc_opt});
}

gex_Event_t gexx_rma_put_nb(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                            size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags) {
  check_put_lc("gex_RMA_PutNB", lc_opt, false);
  const bool leaf = (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP;
  const gex_Event_t event =
      with_event(&(struct access){"gex_RMA_PutNB", tm, rank, false, dest, (void *)(uintptr_t)src,
                                  nbytes, flags, lc_opt},
                 leaf ? GEX_EC_LC : 0);
  if (leaf && event != GEX_EVENT_NO_OP)
    *lc_opt = event == GEX_EVENT_INVALID ? event : gex_Event_QueryLeaf(event, GEX_EC_LC);
  return event;
}

int gexx_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                 gex_Flags_t flags) {
  return blocking(
      &(struct access){"gex_RMA_GetBlocking", tm, rank, true, src, dest, nbytes, flags, NULL});
}

int gexx_rma_get_nbi(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                     gex_Flags_t flags) {
  return implicit(
      &(struct access){"gex_RMA_GetNBI", tm, rank, true, src, dest, nbytes, flags, NULL});
}

gex_Event_t gexx_rma_get_nb(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                            gex_Flags_t flags) {
  return with_event(
      &(struct access){"gex_RMA_GetNB", tm, rank, true, src, dest, nbytes, flags, NULL}, 0);
}

/* Address of the nbytes low-order bytes of a value. */
static void *value_bytes(gex_RMA_Value_t *value, size_t nbytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (char *)value + (sizeof *value - nbytes);
#else
  (void)nbytes;
  return value;
#endif
}

static void check_value(const char *call, size_t nbytes, gex_Flags_t flags) {
  TMB_CHECK(nbytes <= SIZEOF_GEX_RMA_VALUE_T,
            "%s: argument nbytes is %zu; a value has 1 to %d bytes", call, nbytes,
            SIZEOF_GEX_RMA_VALUE_T);
  TMB_CHECK(!(flags & GEX_FLAG_SELF_SEG_OFFSET),
            "%s: argument flags is 0x%x: a value has no local buffer to be an offset", call, flags);
}

/* The value of a put or get by value is host memory, also when the local endpoint has a device
 * segment: replace (tm, rank) by the primordial endpoint's pair. */
static void from_host(gex_TM_t *tm, gex_Rank_t *rank) {
  if (TMB_LIKELY(!(*tm)->reserved) || !tmb_mk_device((*tm)->ep->segment)) return;
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_tm_rank("gex_RMA_", *tm, *rank);
  const gex_EP_Index_t index = tmb_ep_index(*tm, *rank);
  *rank = tmb_jobrank(*tm, *rank);
  *tm = &tmb_job.ep.pair[index];
}

/* Begin of each transfer by value. */
static TMB_ALWAYS_INLINE void begin_value(const char *call, gex_TM_t *tm, gex_Rank_t *rank,
                                          size_t nbytes, gex_Flags_t flags) {
  check_value(call, nbytes, flags);
  if (*tm) from_host(tm, rank);
}

gex_RMA_Value_t gexx_rma_get_val(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                 gex_Flags_t flags) {
  gex_RMA_Value_t value = 0;
  begin_value("gex_RMA_GetBlockingVal", &tm, &rank, nbytes, flags);
  (void)blocking(&(struct access){"gex_RMA_GetBlockingVal", tm, rank, true, src,
                                  value_bytes(&value, nbytes), nbytes, flags & ~GEX_FLAG_IMMEDIATE,
                                  NULL});
  return value;
}

int gexx_rma_put_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                     gex_Flags_t flags) {
  begin_value("gex_RMA_PutBlockingVal", &tm, &rank, nbytes, flags);
  return blocking(&(struct access){"gex_RMA_PutBlockingVal", tm, rank, false, dest,
                                   value_bytes(&value, nbytes), nbytes, flags, GEX_EVENT_DEFER});
}

int gexx_rma_put_nbi_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
                         size_t nbytes, gex_Flags_t flags) {
  begin_value("gex_RMA_PutNBIVal", &tm, &rank, nbytes, flags);
  return implicit(&(struct access){"gex_RMA_PutNBIVal", tm, rank, false, dest,
                                   value_bytes(&value, nbytes), nbytes, flags, GEX_EVENT_NOW});
}

gex_Event_t gexx_rma_put_nb_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
                                size_t nbytes, gex_Flags_t flags) {
  begin_value("gex_RMA_PutNBVal", &tm, &rank, nbytes, flags);
  return with_event(&(struct access){"gex_RMA_PutNBVal", tm, rank, false, dest,
                                     value_bytes(&value, nbytes), nbytes, flags, GEX_EVENT_NOW},
                    0);
}
