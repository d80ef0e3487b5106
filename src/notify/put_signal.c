/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get with a signal off the inline path: debug clients, unmapped peers, segment-disposition
 * flags.
 *
 * Owns nothing. Called by inline_notify.h. Calls: the conduit's put_signal and get_signal, op.h,
 * core's checks. A transfer is resolved once, then served by a copy and a release operation when
 * both the data and the signal are mapped, else by the conduit. Invariants: the op's counters are
 * raised before anything is sent; a put is locally complete when it returns, because the conduit
 * has read the source; a blocking put asks for no acknowledgement.
 */
#include "base/error.h"
#include "core/bound.h"
#include "core/check.h"
#include "core/mk.h"
#include "core/op.h"
#include "core/thread.h"
#include "notify/index.h"
#include "notify/notify.h"

_Static_assert(GEXX_SIG_SET == TMB_SIGNAL_SET && GEXX_SIG_ADD == TMB_SIGNAL_ADD,
               "a conduit gets the client's constants");

#define SIGNAL_FLAGS                                                                            \
 (GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_SELF_SEG_UNKNOWN | \
  GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET |                 \
  GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |                \
  GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD)

/* The data may lie outside the bound segment. */
#define ANYWHERE (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)

/* One transfer, addresses resolved. */
struct transfer {
  const char *call;
  bool is_get;
  struct gexx_signal_op a;
};

static void check_offset(const struct transfer *t, const char *what, const void *offset,
                         size_t nbytes) {
  const struct tmb_peer_segment *s = tmb_bound_at(t->a.tm, t->a.rank);
  const uintptr_t size = s ? s->size : 0, at = (uintptr_t)offset;
  if (at > size || nbytes > size - at)
    tmb_fatal_nopos("%s: argument %s: %zu bytes at offset %zu are outside the segment of rank %u, "
                    "which has %zu bytes",
                    t->call, what, nbytes, (size_t)at, t->a.rank, (size_t)size);
}

/* The signal: an aligned word in the bound segment. */
static void check_signal(const struct transfer *t) {
  const struct gexx_signal_op *a = &t->a;
  const bool offset = (a->flags & GEX_FLAG_PEER_SEG_OFFSET) != 0;
  if (a->op != GEXX_SIG_SET && a->op != GEXX_SIG_ADD)
    tmb_fatal_nopos("%s: argument op is %d; give GEXX_SIG_SET or GEXX_SIG_ADD", t->call, a->op);
  if (!offset && !a->sig_addr)
    tmb_fatal_nopos("%s: argument sig_addr is NULL; give the address of a 64-bit word in the "
                    "segment of rank %u",
                    t->call, a->rank);
  if ((uintptr_t)a->sig_addr % sizeof(uint64_t))
    tmb_fatal_nopos("%s: argument sig_addr is %p; a signal is aligned to %zu bytes", t->call,
                    (const void *)a->sig_addr, sizeof(uint64_t));
  if (offset)
    check_offset(t, "sig_addr", a->sig_addr, sizeof *a->sig_addr);
  else
    tmb_check_remote(t->call, "sig_addr", a->tm, a->rank, a->sig_addr, sizeof *a->sig_addr);
}

static void check_peer_promises(const struct transfer *t) {
  const struct gexx_signal_op *a = &t->a;
  if (!(a->flags & (GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD))) return;
  const uint32_t jobrank = tmb_jobrank(a->tm, a->rank);
  const bool self = jobrank == tmb_job.rank;
  if (self || ((a->flags & GEX_FLAG_PEER_NEVER_NBRHD) &&
               tmb_nbrhd_of(jobrank) == tmb_nbrhd_of(tmb_job.rank)))
    tmb_fatal_nopos("%s: argument flags is 0x%x, which promises that rank %u is not %s, but it is",
                    t->call, a->flags, a->rank, self ? "this process" : "in this neighbourhood");
}

static void check_transfer(const struct transfer *t) {
  const struct gexx_signal_op *a = &t->a;
  const char *const remote = t->is_get ? "src" : "dest";
  tmb_check_context_at(t->call);
  tmb_check_tm_rank(t->call, a->tm, a->rank);
  tmb_check_flags(t->call, a->flags, SIGNAL_FLAGS);
  tmb_check_seg_flags(t->call, a->flags);
  check_peer_promises(t);
  check_signal(t);
  if (!a->nbytes) return;
  tmb_check_local_ep(&(struct tmb_local_range){t->call, t->is_get ? "dest" : "src", a->tm->ep,
                                               a->local, a->nbytes, a->flags});
  if (a->flags & GEX_FLAG_PEER_SEG_OFFSET)
    check_offset(t, remote, a->remote, a->nbytes);
  else if (!(a->flags & ANYWHERE))
    tmb_check_remote(t->call, remote, a->tm, a->rank, a->remote, a->nbytes);
}

/* Turn offsets into addresses. */
static void resolve(struct transfer *t) {
  struct gexx_signal_op *a = &t->a;
  if (TMB_UNLIKELY(tmb_job.debug)) check_transfer(t);
  tmb_mk_refuse(t->call, a->tm, a->rank);
  if (a->flags & GEX_FLAG_PEER_SEG_OFFSET) {
    a->remote = tmb_bound_offset(a->tm, a->rank, a->remote);
    a->sig_addr = tmb_bound_offset(a->tm, a->rank, a->sig_addr);
  }
  if (a->flags & GEX_FLAG_SELF_SEG_OFFSET) a->local = tmb_bound_self_offset(a->tm->ep, a->local);
}

/* Whether data and signal can be reached by load and store. */
static bool direct(const struct gexx_signal_op *a) {
  if (a->tm->delta[a->rank] == GEXX_UNMAPPED) return false;
  return !(a->flags & ANYWHERE) || !a->nbytes ||
         tmb_bound_maps(a->tm, a->rank, a->remote, a->nbytes);
}

/*
 * Serve a transfer; parts that remain are counted in op, which may be NULL for a put. Returns 0
 * when started (or done), TMB_AGAIN for an immediate transfer without resources.
 */
static int start(struct transfer *t, struct tmb_op *op) {
  const struct gexx_signal_op *a = &t->a;
  resolve(t);
  if (direct(a)) {
    void *mapped = gexx_rma_local(a->tm, a->rank, a->remote);
    if (t->is_get)
      gexx_rma_copy(a->local, mapped, a->nbytes);
    else
      gexx_rma_copy(mapped, a->local, a->nbytes);
    gexx_signal_post(a->tm, a->rank, a->sig_addr, a->op, a->value);
    return 0;
  }
  const struct tmb_rma rma = {.peer = tmb_jobrank(a->tm, a->rank),
                              .remote = a->remote,
                              .local = a->local,
                              .nbytes = a->nbytes,
                              .op = op,
                              .category = t->is_get ? TMB_CAT_GET : TMB_CAT_PUT,
                              .immediate = (a->flags & GEX_FLAG_IMMEDIATE) != 0};
  const struct tmb_signal signal = {a->sig_addr, a->value, (uint32_t)a->op};
  return t->is_get ? tmb_job.ops->get_signal(tmb_job.conduit, &rma, &signal)
                   : tmb_job.ops->put_signal(tmb_job.conduit, &rma, &signal);
}

static int implicit(struct transfer *t) {
  return start(t, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

/* A debug client's complete operation still yields a live event, as for other puts and gets. */
static gex_Event_t with_event(struct transfer *t, uint32_t leaves) {
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, leaves);
  if (start(t, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  return tmb_op_event(op);
}

enum form { BLOCKING, NBI, NB };

static void check_lc(const char *call, const gex_Event_t *lc_opt, enum form form) {
  if (!tmb_job.debug) return;
  if (!lc_opt)
    tmb_fatal_nopos("%s: argument lc_opt is NULL; pass GEX_EVENT_NOW%s", call,
                    form == BLOCKING ? "" : " or GEX_EVENT_DEFER");
  if (form == BLOCKING && lc_opt != GEX_EVENT_NOW)
    tmb_fatal_nopos("%s: argument lc_opt is %p; the blocking form takes GEX_EVENT_NOW only", call,
                    (const void *)lc_opt);
  if (form == NB && lc_opt == GEX_EVENT_GROUP)
    tmb_fatal_nopos("%s: argument lc_opt is GEX_EVENT_GROUP, which only implicit puts take", call);
  if (form == NBI && (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP)
    tmb_fatal_nopos(
        "%s: argument lc_opt is the address %p; implicit puts take GEX_EVENT_NOW, DEFER or GROUP",
        call, (const void *)lc_opt);
}

void gexx_signal_wake(gex_TM_t tm, gex_Rank_t rank) {
  const uint32_t peer = tmb_jobrank(tm, rank);
  if (peer != tmb_job.rank)
    tmb_job.ops->notify(tmb_job.conduit, peer);
  else if (tmb_job.threads)
    tmb_job.ops->wake_self(tmb_job.conduit);
}

void gexx_signal_changed(gex_TM_t tm, gex_Rank_t rank, const uint64_t *sig_addr) {
  const uint32_t peer = tmb_jobrank(tm, rank);
  if (TMB_LIKELY(peer != tmb_job.rank)) {
    if (TMB_LIKELY(tmb_job.ops->notify_unwatched(tmb_job.conduit, peer))) return;
    tmb_index_mark(peer, sig_addr);
    tmb_job.ops->notify(tmb_job.conduit, peer);
    return;
  }
  tmb_up_signal(sig_addr);
  if (tmb_job.threads) tmb_job.ops->wake_self(tmb_job.conduit);
}

int gexx_put_signal(const struct gexx_signal_op *op) {
  struct transfer t = {"gexx_RMA_PutSignalBlocking", false, *op};
  check_lc(t.call, op->lc_opt, BLOCKING);
  return start(&t, NULL) ? 1 : 0;
}

int gexx_put_signal_nbi(const struct gexx_signal_op *op) {
  struct transfer t = {"gexx_RMA_PutSignalNBI", false, *op};
  check_lc(t.call, op->lc_opt, NBI);
  return implicit(&t);
}

gex_Event_t gexx_put_signal_nb(const struct gexx_signal_op *op) {
  struct transfer t = {"gexx_RMA_PutSignalNB", false, *op};
  check_lc(t.call, op->lc_opt, NB);
  const bool leaf = (uintptr_t)op->lc_opt > (uintptr_t)GEX_EVENT_GROUP;
  const gex_Event_t event = with_event(&t, leaf ? GEX_EC_LC : 0);
  if (leaf && event != GEX_EVENT_NO_OP) *op->lc_opt = gex_Event_QueryLeaf(event, GEX_EC_LC);
  return event;
}

int gexx_get_signal_nbi(const struct gexx_signal_op *op) {
  struct transfer t = {"gexx_RMA_GetSignalNBI", true, *op};
  return implicit(&t);
}

gex_Event_t gexx_get_signal_nb(const struct gexx_signal_op *op) {
  struct transfer t = {"gexx_RMA_GetSignalNB", true, *op};
  return with_event(&t, 0);
}
