/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification of an owner whose data have been read.
 *
 * Owns: internal messages TAGGED_GET (request for a part of the data) and TAGGED_DATA (the part, by
 * reply). Called by clients. Calls: tagged_send.c,
 * tagged.c, transfer.c. Mapped data are copied and the owner is notified by a message. Otherwise
 * each request carries the whole notification, and the one that reads the last part delivers it at
 * the owner, so that the notification costs no message. Invariants: requests may arrive in any
 * order; a notification follows every read of
 * its data; only the first part of an immediate get may fail.
 */
#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "core/am/am.h"
#include "core/check.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/team.h"
#include "notify/tagged.h"

#include <stdlib.h>

/* Request: notification(0..7) src(8,9) bytes(10) op(11,12) dest(13,14) id(15). Part: dest(0,1)
 * op(2,3). */
enum { GET_ARGS = 16, DATA_ARGS = 4 };

static void on_get(const struct tmb_am_in *in) {
  const int32_t args[DATA_ARGS] = {in->args[13], in->args[14], in->args[11], in->args[12]};
  struct tmb_tagged tagged = tmb_tagged_unpack(in->args);
  const uint32_t bytes = (uint32_t)in->args[10];
  if (bytes > TMB_AM_MEDIUM_BYTES_MAX) tmb_kit_malformed(in, "length");
  const struct tmb_am_out data = {.handler = TMB_KIT_TAGGED_DATA,
                                  .nargs = DATA_ARGS,
                                  .args = args,
                                  .src =
                                      tmb_up_memory(in->src, tmb_kit_unpack64(in->args + 8), bytes),
                                  .nbytes = bytes};
  tmb_kit_reply_data(in->src, &data);
  if (!tmb_kit_last_piece(in->src, (uint32_t)in->args[15], tagged.nbytes, data.nbytes)) return;
  tagged.jobrank = in->src;
  tmb_tagged_reply(in->src, 0, tmb_tagged_arrive(&tagged));
}

static void on_data(const struct tmb_am_in *in) {
  memcpy(tmb_kit_unpack_ptr(in->args), in->payload, in->nbytes);
  tmb_up_peer_done(tmb_kit_unpack_ptr(in->args + 2), TMB_CAT_GET, in->src);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_TAGGED_GET, TMB_TAKES_SHORT | TMB_BY_THREAD, GET_ARGS, 0, on_get},
    {TMB_KIT_TAGGED_DATA, TMB_TAKES_MEDIUM, DATA_ARGS, 0, on_data},
    {0}};

const struct tmb_layer tmb_tagged_get_layer = {.name = "tagged_get", .handlers = handlers};

/* Ask for all parts. */
static int request(const struct tmb_tagged_send *s, uint32_t jobrank, struct tmb_op *op) {
  const struct tmb_transfer *t = &s->data;
  const struct tmb_tagged tagged = tmb_tagged_of(s);
  int32_t args[GET_ARGS];
  tmb_tagged_pack(args, &tagged);
  tmb_kit_pack_ptr(args + 11, op);
  args[15] = (int32_t)tmb_kit_next_id();
  for (size_t at = 0; at < t->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    tmb_kit_pack64(args + 8, (uint64_t)(uintptr_t)t->remote + at);
    args[10] = (int32_t)TMB_MIN(t->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    tmb_kit_pack64(args + 13, (uint64_t)(uintptr_t)t->local + at);
    struct tmb_am_out out = {.peer = jobrank,
                             .handler = TMB_KIT_TAGGED_GET,
                             .nargs = GET_ARGS,
                             .immediate = at == 0 && (t->flags & GEX_FLAG_IMMEDIATE),
                             .staged = -1,
                             .args = args};
    while (tmb_kit_send_part(&out, op, TMB_CAT_GET)) {
      if (tmb_tagged_withdraw(s, &tagged)) return TMB_AGAIN;
      out.immediate = false;
    }
  }
  return 0;
}

/* Get and notify, with credit. */
static int serve(const struct tmb_tagged_send *s, uint32_t jobrank, struct tmb_op *op) {
  const struct tmb_transfer *t = &s->data;
  if (tmb_transfer_device(t))
    (void)gexx_rma_get(t->tm, t->local, t->rank, t->remote, t->nbytes, 0);
  else if (jobrank == tmb_job.rank && t->nbytes)
    memmove(t->local, t->remote, t->nbytes);
  else if (t->nbytes && !tmb_transfer_direct(t))
    return request(s, jobrank, op);
  else if (t->nbytes)
    tmb_transfer_copy(t);
  return tmb_tagged_send_bare(s);
}

/* Get and notify, after taking credit. Parts that come later are counted in op. Returns 0, or
 * TMB_AGAIN for an immediate operation without credit or resources. */
static int start(struct tmb_tagged_send *s, struct tmb_op *op) {
  struct tmb_transfer *t = &s->data;
  const uint32_t jobrank = tmb_jobrank(t->tm, t->rank);
  const uint64_t begun = tmb_record_clock();
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_tagged_check(s);
  tmb_transfer_resolve(t);
  if (!tmb_tagged_take(t->call, jobrank, (t->flags & GEX_FLAG_IMMEDIATE) != 0))
    return tmb_poll_refused(TMB_AGAIN);
  if (tmb_peer_lost(jobrank)) {
    tmb_op_lose(op, TMB_CAT_GET, jobrank);
    return 0;
  }
  const int rc = serve(s, jobrank, op);
  if (rc) return tmb_poll_refused(rc);
  if (!tmb_transfer_device(t)) tmb_count(GEXX_STATS_GET, jobrank, t->nbytes);
  tmb_tagged_record(begun, s, op);
  return 0;
}

int gexx_RMA_GetNotify(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = {{"gexx_RMA_GetNotify", tm, rank, true, src, dest, nbytes, flags, 0},
                              tag};
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  struct gexx_wait wait;
  if (start(&s, &op)) return 1;
  tmb_op_name(&op, TMB_WHAT_GET_NOTIFY, tmb_jobrank(tm, rank));
  tmb_wait_begin(&wait);
  while (!tmb_op_done(&op, GEX_EC_ALL)) tmb_wait_step(&wait, tmb_why_op(&op));
  return tmb_op_sync(&op, GEX_EC_ALL);
}

int gexx_RMA_GetNotifyNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                          uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = {
      {"gexx_RMA_GetNotifyNBI", tm, rank, true, src, dest, nbytes, flags, 0}, tag};
  return start(&s, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

gex_Event_t gexx_RMA_GetNotifyNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                                 uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = {{"gexx_RMA_GetNotifyNB", tm, rank, true, src, dest, nbytes, flags, 0},
                              tag};
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_op_name(op, TMB_WHAT_GET_NOTIFY, tmb_jobrank(tm, rank));
  if (!start(&s, op)) return tmb_op_event(op);
  tmb_op_free(op);
  return GEX_EVENT_NO_OP;
}
