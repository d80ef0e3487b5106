/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification of an owner whose data have been read.
 *
 * Owns: internal messages 67 (request for a part of the data) and 68 (the part, by reply), and the
 * table of gets of which parts are still to be read. Called by clients. Calls: tagged_send.c,
 * tagged.c, transfer.c. Mapped data are copied and the owner is notified by a message. Otherwise
 * each request carries the whole notification, and the one that reads the last part delivers it at
 * the owner, so that the notification costs no message. Invariants: requests may arrive in any
 * order; (source, id) names a get until its last part is read; a notification follows every read of
 * its data; only the first part of an immediate get may fail.
 */
#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "core/am/am.h"
#include "core/check.h"
#include "core/failure/failure.h"
#include "core/team/team.h"
#include "core/wait/thread.h"
#include "core/wait/wait.h"
#include "notify/tagged.h"
#include "os/lock.h"

#include <stdlib.h>

/* Request: notification(0..6) src(7,8) bytes(9) op(10,11) dest(12,13) id(14). Part: dest(0,1)
 * op(2,3). */
enum { GET_ARGS = 15, DATA_ARGS = 4 };

/* At the owner of the data: a get of several parts, of which some are still to be read. */
struct unread {
  struct unread *next;
  uint64_t missing;
  uint32_t src, id;
};

static struct tmb_lock gets_lock;
static struct {
  uint32_t next_id;
  struct unread *list;
} gets TMB_GUARDED_BY(gets_lock);

/* Count `bytes` of a get that have been read. Returns true when all are. */
static bool count(const struct tmb_am_in *in, uint64_t total, uint64_t bytes) {
  const uint32_t id = (uint32_t)in->args[14];
  if (bytes == total) return true;
  tmb_lock_acquire(&gets_lock);
  struct unread **p = &gets.list;
  while (*p && ((*p)->id != id || (*p)->src != in->src)) p = &(*p)->next;
  struct unread *u = *p;
  if (!u) {
    u = malloc(sizeof *u);
    if (!u) tmb_fatal("out of memory for a get of %llu bytes", (unsigned long long)total);
    *u = (struct unread){NULL, total, in->src, id};
    *p = u;
  }
  u->missing -= bytes;
  const bool last = u->missing == 0;
  if (last) {
    *p = u->next;
    free(u);
  }
  tmb_lock_release(&gets_lock);
  return last;
}

static void on_get(const struct tmb_am_in *in) {
  const int32_t args[DATA_ARGS] = {in->args[12], in->args[13], in->args[10], in->args[11]};
  struct tmb_tagged tagged = tmb_tagged_unpack(in->args);
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = TMB_TAGGED_AM_DATA,
                            .nargs = DATA_ARGS,
                            .is_reply = 1,
                            .staged = -1,
                            .args = args,
                            .src = (void *)(uintptr_t)tmb_team_join64(in->args + 7),
                            .nbytes = (uint32_t)in->args[9]};
  (void)tmb_up_am_send(&data);
  if (!count(in, tagged.nbytes, data.nbytes)) return;
  tagged.jobrank = in->src;
  tmb_tagged_reply(in->src, 0, tmb_tagged_arrive(&tagged));
}

static void on_data(const struct tmb_am_in *in) {
  memcpy((void *)(uintptr_t)tmb_team_join64(in->args), in->payload, in->nbytes);
  tmb_up_peer_done((void *)(uintptr_t)tmb_team_join64(in->args + 2), TMB_CAT_GET, in->src);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_TAGGED_AM_GET, on_get}, {TMB_TAGGED_AM_DATA, on_data}, {0, NULL}};

const struct tmb_layer tmb_tagged_get_layer = {.name = "tagged_get", .handlers = handlers};

/* Ask for all parts. */
static int request(const struct tmb_tagged_send *s, uint32_t jobrank, struct tmb_op *op) {
  const struct tmb_transfer *t = &s->data;
  const struct tmb_tagged tagged = tmb_tagged_of(s);
  int32_t args[GET_ARGS];
  tmb_tagged_pack(args, &tagged);
  tmb_team_args64(args + 10, (uint64_t)(uintptr_t)op);
  args[14] = (int32_t)tmb_fetch_add_rlx(&gets.next_id, 1);
  for (size_t at = 0; at < t->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    tmb_team_args64(args + 7, (uint64_t)(uintptr_t)t->remote + at);
    args[9] = (int32_t)TMB_MIN(t->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    tmb_team_args64(args + 12, (uint64_t)(uintptr_t)t->local + at);
    struct tmb_am_out out = {.peer = jobrank,
                             .handler = TMB_TAGGED_AM_GET,
                             .nargs = GET_ARGS,
                             .immediate = at == 0 && (t->flags & GEX_FLAG_IMMEDIATE),
                             .staged = -1,
                             .args = args};
    tmb_up_peer_more(op, TMB_CAT_GET, jobrank);
    if (!tmb_up_am_send(&out)) continue;
    tmb_up_peer_done(op, TMB_CAT_GET, jobrank);
    tmb_tagged_regain(jobrank, 1);
    return TMB_AGAIN;
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
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_tagged_check(s);
  tmb_transfer_resolve(t);
  if (!tmb_tagged_take(t->call, jobrank, (t->flags & GEX_FLAG_IMMEDIATE) != 0)) return TMB_AGAIN;
  if (tmb_peer_lost(jobrank)) {
    tmb_op_lose(op, TMB_CAT_GET, jobrank);
    return 0;
  }
  const int rc = serve(s, jobrank, op);
  if (rc == 0 && !tmb_transfer_device(t)) tmb_count(GEXX_STATS_GET, jobrank, t->nbytes);
  return rc;
}

int gexx_RMA_GetNotify(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  struct tmb_tagged_send s = {{"gexx_RMA_GetNotify", tm, rank, true, src, dest, nbytes, flags, 0},
                              tag};
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  struct gexx_wait wait;
  if (start(&s, &op)) return 1;
  tmb_wait_begin(&wait);
  while (!tmb_op_done(&op, GEX_EC_ALL)) tmb_wait_step(&wait);
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
  if (!start(&s, op)) return tmb_op_event(op);
  tmb_op_free(op);
  return GEX_EVENT_NO_OP;
}
