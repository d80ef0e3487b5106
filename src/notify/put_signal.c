/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get with a signal off the inline path: debug clients, unmapped peers, segment-disposition
 * flags.
 *
 * Owns nothing. Called by inline_notify.h. Calls: peer.h, op.h,
 * transfer.c, core's memory kinds. A transfer is resolved once, then served by a copy and a release
 * operation when both the data and the signal are mapped, by core when data are in device memory,
 * else by the conduit. Invariants: the op's counters are raised before anything is sent; a put is
 * locally complete when it returns, because the conduit has read the source; a blocking put asks
 * for no acknowledgement.
 */
#include "base/error.h"
#include "core/check.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"
#include "notify/notify.h"
#include "notify/transfer.h"

_Static_assert(GEXX_SIG_SET == TMB_SIGNAL_SET && GEXX_SIG_ADD == TMB_SIGNAL_ADD,
               "a conduit gets the client's constants");

/* One operation: its data, and the change of the signal. */
struct operation {
  struct tmb_transfer data;
  const struct gexx_signal_op *asked;
  uint64_t *sig_addr;
};

static struct operation operation_of(const char *call, bool is_get,
                                     const struct gexx_signal_op *a) {
  return (struct operation){.data = {.call = call,
                                     .tm = a->tm,
                                     .rank = a->rank,
                                     .is_get = is_get,
                                     .remote = a->remote,
                                     .local = a->local,
                                     .nbytes = a->nbytes,
                                     .flags = a->flags},
                            .asked = a,
                            .sig_addr = a->sig_addr};
}

/* The signal: an aligned word in the bound segment. */
static void check_signal(const struct operation *o) {
  const struct tmb_transfer *t = &o->data;
  const bool offset = (t->flags & GEX_FLAG_PEER_SEG_OFFSET) != 0;
  if (o->asked->op != GEXX_SIG_SET && o->asked->op != GEXX_SIG_ADD)
    tmb_fatal_nopos("%s: argument op is %d; give GEXX_SIG_SET or GEXX_SIG_ADD", t->call,
                    o->asked->op);
  if (!offset && !o->sig_addr)
    tmb_fatal_nopos("%s: argument sig_addr is NULL; give the address of a 64-bit word in the "
                    "segment of rank %u",
                    t->call, t->rank);
  if ((uintptr_t)o->sig_addr % sizeof(uint64_t))
    tmb_fatal_nopos("%s: argument sig_addr is %p; a signal is aligned to %zu bytes", t->call,
                    (const void *)o->sig_addr, sizeof(uint64_t));
  if (offset)
    tmb_transfer_check_offset(t, "sig_addr", o->sig_addr, sizeof *o->sig_addr);
  else if (!tmb_mk_remote(
               t->tm,
               t->rank)) /* the signals of device segments are checked by tmb_mk_check_signal */
    tmb_check_remote(t->call, "sig_addr", t->tm, t->rank, o->sig_addr, sizeof *o->sig_addr);
}

/* Count an operation that is done by copying, without the conduit. */
static void count(const struct tmb_transfer *t) {
  tmb_count(t->is_get ? GEXX_STATS_GET_SIGNAL : GEXX_STATS_PUT_SIGNAL, tmb_jobrank(t->tm, t->rank),
            t->nbytes);
}

static void record(uint64_t begun, const struct operation *o, const struct tmb_op *op,
                   bool copied) {
  const struct tmb_transfer *t = &o->data;
  const struct tmb_trace_event like = {.what =
                                           t->is_get ? TMB_WHAT_GET_SIGNAL : TMB_WHAT_PUT_SIGNAL,
                                       .peer = tmb_jobrank(t->tm, t->rank),
                                       .bytes = t->nbytes,
                                       .object = (uintptr_t)o->sig_addr,
                                       .value = o->asked->value};
  tmb_record_signal(begun, &like, op, copied);
}

/* Data in device memory on either side. */
static int with_device(const struct operation *o, struct tmb_op *op, uint64_t begun) {
  const struct tmb_transfer *t = &o->data;
  const struct tmb_signal signal = {o->sig_addr, o->asked->value, (uint32_t)o->asked->op};
  tmb_mk_check_signal(t->call, t->tm, t->rank, o->sig_addr);
  const int rc =
      tmb_mk_rma_signal(&(struct tmb_mk_access){.tm = t->tm,
                                                .rank = t->rank,
                                                .is_get = t->is_get,
                                                .immediate = (t->flags & GEX_FLAG_IMMEDIATE) != 0,
                                                .remote = t->remote,
                                                .local = t->local,
                                                .nbytes = t->nbytes,
                                                .op = op,
                                                .signal = &signal});
  if (rc) return tmb_poll_refused(rc);
  count(t);
  record(begun, o, op, false);
  return 0;
}

/* Change a mapped signal after all earlier accesses. Returns whether that was all: its owner was
 * awake. */
static bool change(const struct tmb_transfer *t, uint64_t *sig_addr,
                   const struct gexx_signal_op *a) {
  uint64_t *const sig = gexx_rma_local(t->delta, sig_addr);
  if (a->op == GEXX_SIG_SET)
    tmb_store_rel(sig, a->value);
  else
    tmb_fetch_add_rel(sig, a->value);
  const bool awake = tmb_peer_is_awake(tmb_jobrank(t->tm, t->rank));
  gexx_signal_changed(t->tm, t->rank, sig_addr);
  return awake;
}

/*
 * Serve an operation; parts that remain are counted in op, which may be NULL for a put. Returns 0
 * when started (or done), TMB_AGAIN for an immediate one without resources.
 */
static int start(struct operation *o, struct tmb_op *op) {
  struct tmb_transfer *t = &o->data;
  const struct gexx_signal_op *a = o->asked;
  const uint64_t begun = tmb_record_clock();
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_transfer_check(t);
    check_signal(o);
  }
  tmb_transfer_resolve(t);
  if (t->flags & GEX_FLAG_PEER_SEG_OFFSET)
    o->sig_addr = tmb_segtab_offset(t->tm, t->rank, o->sig_addr);
  if (tmb_transfer_device(t)) return with_device(o, op, begun);
  if (tmb_transfer_direct(t)) {
    tmb_transfer_copy(t);
    const bool copied = change(t, o->sig_addr, a) && !t->is_get;
    count(t);
    record(begun, o, NULL, copied);
    return 0;
  }
  const struct tmb_rma rma = {.peer = tmb_jobrank(t->tm, t->rank),
                              .remote = t->remote,
                              .local = t->local,
                              .nbytes = t->nbytes,
                              .op = op,
                              .category = t->is_get ? TMB_CAT_GET : TMB_CAT_PUT,
                              .local_category = TMB_CAT_LC,
                              .report_local = op && !t->is_get && a->lc_opt != GEX_EVENT_DEFER,
                              .immediate = (t->flags & GEX_FLAG_IMMEDIATE) != 0};
  const struct tmb_signal signal = {o->sig_addr, a->value, (uint32_t)a->op};
  const int rc =
      t->is_get ? tmb_peer_get_signal(&rma, &signal) : tmb_peer_put_signal(&rma, &signal);
  if (rc) return tmb_poll_refused(rc);
  record(begun, o, op, false);
  if (t->is_get) return 0;
  if (op && a->lc_opt == GEX_EVENT_NOW) tmb_op_wait_local(op);
  return 0;
}

static int implicit(struct operation *o) {
  return start(o, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

/* Start an operation and make its event. In debug clients also one that is complete already has
 * a live event, so that a missing wait is found, as for other puts and gets. */
static gex_Event_t with_event(struct operation *o, uint32_t leaves) {
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, leaves);
  tmb_op_name(op, o->data.is_get ? TMB_WHAT_GET_SIGNAL : TMB_WHAT_PUT_SIGNAL,
              tmb_jobrank(o->data.tm, o->data.rank));
  if (start(o, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  return tmb_op_event(op);
}

int gexx_put_signal(const struct gexx_signal_op *op) {
  struct operation o = operation_of("gexx_RMA_PutSignalBlocking", false, op);
  if (tmb_job.debug) tmb_transfer_check_lc(o.data.call, op->lc_opt, TMB_FORM_BLOCKING);
  if (start(&o, NULL)) return 1;
  return tmb_peer_lost(tmb_jobrank(op->tm, op->rank)) ? GEXX_ERR_LOST : 0;
}

int gexx_put_signal_nbi(const struct gexx_signal_op *op) {
  struct operation o = operation_of("gexx_RMA_PutSignalNBI", false, op);
  if (tmb_job.debug) tmb_transfer_check_lc(o.data.call, op->lc_opt, TMB_FORM_NBI);
  return implicit(&o);
}

gex_Event_t gexx_put_signal_nb(const struct gexx_signal_op *op) {
  struct operation o = operation_of("gexx_RMA_PutSignalNB", false, op);
  if (tmb_job.debug) tmb_transfer_check_lc(o.data.call, op->lc_opt, TMB_FORM_NB);
  const bool leaf = (uintptr_t)op->lc_opt > (uintptr_t)GEX_EVENT_GROUP;
  const gex_Event_t event = with_event(&o, leaf ? GEX_EC_LC : 0);
  if (leaf && event != GEX_EVENT_NO_OP) *op->lc_opt = gex_Event_QueryLeaf(event, GEX_EC_LC);
  return event;
}

int gexx_get_signal_nbi(const struct gexx_signal_op *op) {
  struct operation o = operation_of("gexx_RMA_GetSignalNBI", true, op);
  return implicit(&o);
}

gex_Event_t gexx_get_signal_nb(const struct gexx_signal_op *op) {
  struct operation o = operation_of("gexx_RMA_GetSignalNB", true, op);
  return with_event(&o, 0);
}
