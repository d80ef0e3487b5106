/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification, the sender's side, and its messages.
 *
 * Owns: internal messages TAGGED (notification, with the data as a Long when there are any),
 * TAGGED_ACK (reply: credit, and completion of an operation), TAGGED_CREDIT (credit). Called by
 * clients and tagged_get.c. Calls: am.h, tagged.c, tagged_credit.c, transfer.c, op.h.
 * Invariants: credit is taken before a notification is sent; a notification for this process itself
 * is matched at once; data are in place before the handler of their notification runs.
 */
#include "base/error.h"
#include "core/am/am.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/segment/segment_table.h"
#include "core/team.h"
#include "notify/tagged.h"

/* Notification: uid(0,1) target(2) source(3) tag(4) nbytes(5,6) number(7) op(8,9). Reply: op(0,1)
 * credit(2).
 * Credit: credit(0). */
enum { NOTIFY_ARGS = TMB_TAGGED_HEAD_ARGS + 2, ACK_ARGS = 3 };

/* ---- messages */

void tmb_tagged_pack(int32_t *args, const struct tmb_tagged *tagged) {
  tmb_kit_pack64(args, tagged->uid);
  args[2] = (int32_t)tagged->target;
  args[3] = (int32_t)tagged->source;
  args[4] = (int32_t)tagged->tag;
  tmb_kit_pack64(args + 5, tagged->nbytes);
  args[7] = (int32_t)tagged->number;
}

struct tmb_tagged tmb_tagged_unpack(const int32_t *args) {
  return (struct tmb_tagged){.uid = tmb_kit_unpack64(args),
                             .target = (uint32_t)args[2],
                             .source = (uint32_t)args[3],
                             .tag = (uint32_t)args[4],
                             .number = (uint32_t)args[7],
                             .nbytes = tmb_kit_unpack64(args + 5)};
}

void tmb_tagged_reply(uint32_t jobrank, uint64_t op, uint32_t credit) {
  int32_t args[ACK_ARGS];
  if (!credit && !op) return;
  tmb_kit_pack64(args, op);
  args[2] = (int32_t)credit;
  tmb_kit_reply(jobrank, TMB_KIT_TAGGED_ACK, args, ACK_ARGS);
}

static void on_notification(const struct tmb_am_in *in) {
  struct tmb_tagged tagged = tmb_tagged_unpack(in->args);
  tagged.jobrank = in->src;
  tmb_tagged_reply(in->src, tmb_kit_unpack64(in->args + TMB_TAGGED_HEAD_ARGS),
                   tmb_tagged_arrive(&tagged));
}

static void on_ack(const struct tmb_am_in *in) {
  void *op = tmb_kit_unpack_ptr(in->args);
  tmb_tagged_regain(in->src, (uint32_t)in->args[2]);
  if (op) tmb_up_peer_done(op, TMB_CAT_PUT, in->src);
}

static void on_credit(const struct tmb_am_in *in) {
  tmb_tagged_regain(in->src, (uint32_t)in->args[0]);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_TAGGED, TMB_TAKES_SHORT_OR_LONG | TMB_BY_THREAD, NOTIFY_ARGS, 0, on_notification},
    {TMB_KIT_TAGGED_ACK, TMB_TAKES_SHORT, ACK_ARGS, 0, on_ack},
    {TMB_KIT_TAGGED_CREDIT, TMB_TAKES_SHORT | TMB_BY_THREAD, TMB_TAGGED_CREDIT_ARGS, 0, on_credit},
    {0}};

const struct tmb_layer tmb_tagged_send_layer = {.name = "tagged_send", .handlers = handlers};

/* ---- sending */

void tmb_tagged_check(const struct tmb_tagged_send *s) {
  const struct tmb_transfer *t = &s->data;
  tmb_check_context_at(t->call);
  tmb_check_tm(t->call, t->tm, false);
  tmb_transfer_check(t);
  if (s->tag == GEXX_NOTIFY_ANY_TAG)
    tmb_fatal_nopos("%s: argument tag is GEXX_NOTIFY_ANY_TAG, which only requests take", t->call);
}

void tmb_tagged_record(uint64_t begun, const struct tmb_tagged_send *s, const struct tmb_op *op) {
  const struct tmb_transfer *t = &s->data;
  if (TMB_LIKELY(!begun)) return;
  const struct tmb_trace_event like = {.what =
                                           t->is_get ? TMB_WHAT_GET_NOTIFY : TMB_WHAT_PUT_NOTIFY,
                                       .peer = tmb_jobrank(t->tm, t->rank),
                                       .bytes = t->nbytes,
                                       .object = (uintptr_t)t->remote,
                                       .value = s->tag};
  tmb_record_signal(begun, &like, op, false);
}

struct tmb_tagged tmb_tagged_of(const struct tmb_tagged_send *s) {
  const uint32_t jobrank = tmb_jobrank(s->data.tm, s->data.rank);
  return (struct tmb_tagged){.uid = tmb_team_of(s->data.tm)->uid,
                             .target = s->data.rank,
                             .source = s->data.tm->rank,
                             .jobrank = tmb_job.rank,
                             .tag = s->tag,
                             .number = tmb_tagged_number(jobrank),
                             .nbytes = s->data.nbytes};
}

bool tmb_tagged_withdraw(const struct tmb_tagged_send *s, const struct tmb_tagged *tagged) {
  const uint32_t jobrank = tmb_jobrank(s->data.tm, s->data.rank);
  if (!tmb_tagged_number_back(jobrank, tagged->number)) return false;
  tmb_tagged_regain(jobrank, 1);
  return true;
}

/* Send the notification with nbytes of data. With op the target acknowledges them, and op counts
 * that. */
static int send(const struct tmb_tagged_send *s, size_t nbytes, struct tmb_op *op) {
  const struct tmb_transfer *t = &s->data;
  const uint32_t jobrank = tmb_jobrank(t->tm, t->rank);
  const struct tmb_tagged tagged = tmb_tagged_of(s);
  const bool far = nbytes && (!tmb_segtab_attached(jobrank, t->remote, nbytes) ||
                              tmb_mapped_delta(jobrank) == GEXX_UNMAPPED);
  int32_t args[NOTIFY_ARGS] = {0};
  tmb_tagged_pack(args, &tagged);
  if (far && op) {
    tmb_kit_pack_ptr(args + TMB_TAGGED_HEAD_ARGS, op);
    tmb_up_peer_more(op, TMB_CAT_PUT, jobrank);
  }
  struct tmb_am_out out = {.peer = jobrank,
                           .category = nbytes ? TMB_AM_LONG : TMB_AM_SHORT,
                           .handler = TMB_KIT_TAGGED,
                           .nargs = NOTIFY_ARGS,
                           .immediate = (t->flags & GEX_FLAG_IMMEDIATE) != 0,
                           .unmapped = far,
                           .staged = -1,
                           .args = args,
                           .src = t->local,
                           .nbytes = nbytes,
                           .dest = t->remote};
  while (tmb_am_send(&out)) {
    if (tmb_tagged_withdraw(s, &tagged)) {
      if (far && op) tmb_up_peer_done(op, TMB_CAT_PUT, jobrank);
      return TMB_AGAIN;
    }
    out.immediate = false;
  }
  return 0;
}

int tmb_tagged_send_bare(const struct tmb_tagged_send *s) {
  if (tmb_jobrank(s->data.tm, s->data.rank) != tmb_job.rank) return send(s, 0, NULL);
  const struct tmb_tagged tagged = tmb_tagged_of(s);
  tmb_tagged_regain(tmb_job.rank, tmb_tagged_arrive(&tagged));
  if (tmb_job.threads) tmb_wake_self();
  return 0;
}

/* Put and notify. Returns 0, or TMB_AGAIN for an immediate operation without credit or resources.
 */
static int start(struct tmb_tagged_send *s, struct tmb_op *op) {
  struct tmb_transfer *t = &s->data;
  const uint32_t jobrank = tmb_jobrank(t->tm, t->rank);
  const bool immediate = (t->flags & GEX_FLAG_IMMEDIATE) != 0;
  const uint64_t begun = tmb_record_clock();
  tmb_transfer_resolve(t);
  if (!tmb_tagged_take(t->call, jobrank, immediate)) return tmb_poll_refused(TMB_AGAIN);
  if (tmb_peer_lost(jobrank)) {
    tmb_op_or_thread_lose(op, TMB_CAT_PUT, jobrank);
    return 0;
  }
  if (tmb_transfer_device(t) || t->nbytes > TMB_AM_LONG_BYTES_MAX) {
    (void)gexx_rma_put(t->tm, t->rank, t->remote, t->local, t->nbytes, 0);
    return tmb_tagged_send_bare(s);
  }
  const bool self = jobrank == tmb_job.rank;
  if (self && t->nbytes) memmove(t->remote, t->local, t->nbytes);
  const int rc = self ? tmb_tagged_send_bare(s) : send(s, t->nbytes, op);
  if (rc) return tmb_poll_refused(rc);
  tmb_count(GEXX_STATS_PUT, jobrank, t->nbytes);
  tmb_tagged_record(begun, s, op);
  return 0;
}

static struct tmb_tagged_send put_of(const char *call, gex_TM_t tm, gex_Rank_t rank, void *dest,
                                     const void *src, size_t nbytes) {
  return (struct tmb_tagged_send){.data = {.call = call,
                                           .tm = tm,
                                           .rank = rank,
                                           .remote = dest,
                                           .local = (void *)(uintptr_t)src,
                                           .nbytes = nbytes}};
}

int gexx_RMA_PutNotify(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = put_of("gexx_RMA_PutNotify", tm, rank, dest, src, nbytes);
  s.tag = tag;
  s.data.flags = flags;
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_tagged_check(&s);
  if (start(&s, NULL)) return 1;
  return tmb_peer_lost(tmb_jobrank(tm, rank)) ? GEXX_ERR_LOST : 0;
}

int gexx_RMA_PutNotifyNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Event_t *lc_opt, uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = put_of("gexx_RMA_PutNotifyNBI", tm, rank, dest, src, nbytes);
  s.tag = tag;
  s.data.flags = flags;
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_tagged_check(&s);
    tmb_transfer_check_lc(s.data.call, lc_opt, TMB_FORM_NBI);
  }
  return start(&s, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

gex_Event_t gexx_RMA_PutNotifyNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                 size_t nbytes, gex_Event_t *lc_opt, uint32_t tag,
                                 gex_Flags_t flags) {
  struct tmb_tagged_send s = put_of("gexx_RMA_PutNotifyNB", tm, rank, dest, src, nbytes);
  const bool leaf = (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP;
  s.tag = tag;
  s.data.flags = flags;
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_tagged_check(&s);
    tmb_transfer_check_lc(s.data.call, lc_opt, TMB_FORM_NB);
  }
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, leaf ? GEX_EC_LC : 0);
  tmb_op_name(op, TMB_WHAT_PUT_NOTIFY, tmb_jobrank(s.data.tm, s.data.rank));
  if (start(&s, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  const gex_Event_t event = tmb_op_event(op);
  if (leaf) *lc_opt = gex_Event_QueryLeaf(event, GEX_EC_LC);
  return event;
}
