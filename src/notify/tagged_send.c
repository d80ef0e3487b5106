/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification, the sender's side, and its messages.
 *
 * Owns: credit towards each process; internal messages 64 (notification, with the data as a Long
 * when there are any), 65 (reply: credit, and completion of an operation), 66 (credit). Called by
 * clients and by matching. Calls: tmb_up_am_send, tagged.c, op.h. Invariants: credit is taken
 * before a notification is sent; a notification for this process itself is matched at once; data
 * are in place before the handler of their notification runs.
 */
#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "core/am.h"
#include "core/bound.h"
#include "core/check.h"
#include "core/op.h"
#include "core/progress.h"
#include "core/team.h"
#include "core/thread.h"
#include "notify/tagged.h"

#include <stdlib.h>

/* Notification: uid(0,1) target(2) source(3) tag(4) nbytes(5,6) op(7,8). Reply: op(0,1) credit(2).
 * Credit: credit(0). */
enum { NOTE_ARGS = 9, ACK_ARGS = 3, CREDIT_ARGS = 1 };

static struct {
  uint32_t *used; /* [job size] credit taken; atomic */
  uint32_t credits;
  uint32_t stalls;
} out_state;

uint32_t tmb_note_credits(void) {
  uint32_t credits = tmb_load_rlx(&out_state.credits);
  if (TMB_UNLIKELY(!credits)) {
    credits = (uint32_t)tmb_cfg_int(TMB_CFG_NOTIFY_CREDITS);
    tmb_store_rlx(&out_state.credits, credits);
  }
  return credits;
}

uint64_t tmb_note_stalls(void) {
  return tmb_load_rlx(&out_state.stalls);
}

/* Credit taken, by process; made at first use, by whichever thread is first. */
static uint32_t *used_table(void) {
  uint32_t *table = tmb_load_acq(&out_state.used);
  if (TMB_LIKELY(table != NULL)) return table;
  uint32_t *mine = calloc(tmb_job.size, sizeof *mine);
  if (!mine) tmb_fatal("out of memory for notifications to %u ranks", tmb_job.size);
  if (tmb_cas_acq_rel(&out_state.used, &table, mine)) return mine;
  free(mine);
  return table;
}

static bool try_credit(uint32_t *used) {
  uint32_t found = tmb_load_rlx(used);
  while (found < tmb_note_credits())
    if (tmb_cas_acq(used, &found, found + 1)) return true;
  return false;
}

static void return_credit(uint32_t jobrank, uint32_t credit) {
  if (credit) tmb_fetch_sub_rel(&used_table()[jobrank], credit);
}

struct credit_wait {
  uint32_t *used;
  bool taken; /* a wait may ask again after it was told yes */
};

static bool credit_ready(void *arg) {
  struct credit_wait *w = arg;
  if (!w->taken) w->taken = try_credit(w->used);
  return w->taken;
}

/* Take credit. Returns false only for an immediate operation. */
static bool take_credit(const char *call, uint32_t jobrank, bool immediate) {
  struct credit_wait w = {&used_table()[jobrank], false};
  if (TMB_LIKELY(credit_ready(&w))) return true;
  if (immediate) return false;
  if (jobrank == tmb_job.rank && !tmb_job.threads)
    tmb_fatal_nopos("%s: this rank has %u unmatched notifications for itself, the limit; start "
                    "requests for them first, or raise TOMBOLO_NOTIFY_CREDITS",
                    call, tmb_note_credits());
  tmb_fetch_add_rlx(&out_state.stalls, 1);
  tmb_signal_wait(credit_ready, &w);
  return true;
}

/* ---- messages */

static void on_note(const struct tmb_am_in *in) {
  const int32_t *a = in->args;
  const struct tmb_note note = {.uid = tmb_team_join64(a),
                                .target = (uint32_t)a[2],
                                .source = (uint32_t)a[3],
                                .jobrank = in->src,
                                .tag = (uint32_t)a[4],
                                .nbytes = tmb_team_join64(a + 5)};
  const uint32_t credit = tmb_note_arrive(&note);
  if (!credit && !a[7] && !a[8]) return;
  const int32_t args[ACK_ARGS] = {a[7], a[8], (int32_t)credit};
  struct tmb_am_out ack = {.peer = in->src,
                           .handler = TMB_NOTE_AM_ACK,
                           .nargs = ACK_ARGS,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&ack);
}

static void on_ack(const struct tmb_am_in *in) {
  void *op = (void *)(uintptr_t)tmb_team_join64(in->args);
  return_credit(in->src, (uint32_t)in->args[2]);
  if (op) tmb_up_op_done(op, TMB_CAT_PUT);
}

static void on_credit(const struct tmb_am_in *in) {
  return_credit(in->src, (uint32_t)in->args[0]);
}

void tmb_note_give(uint32_t jobrank, uint32_t credits) {
  if (jobrank == tmb_job.rank) {
    return_credit(jobrank, credits);
    return;
  }
  const int32_t args[CREDIT_ARGS] = {(int32_t)credits};
  struct tmb_am_out out = {.peer = jobrank,
                           .handler = TMB_NOTE_AM_CREDIT,
                           .nargs = CREDIT_ARGS,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&out);
}

/* Before main, so that a rank which only receives understands them. */
__attribute__((constructor)) static void install(void) {
  tmb_up_set_internal(TMB_NOTE_AM_NOTE, on_note);
  tmb_up_set_internal(TMB_NOTE_AM_ACK, on_ack);
  tmb_up_set_internal(TMB_NOTE_AM_CREDIT, on_credit);
}

/* ---- sending */

/* One operation. */
struct send {
  const char *call;
  gex_TM_t tm;
  gex_Rank_t rank;
  void *dest;
  const void *src;
  size_t nbytes; /* of data that travel with the notification */
  size_t told;   /* what the status says */
  uint32_t tag;
  gex_Flags_t flags;
};

static void check_send(const struct send *s, const void *remote, const char *what) {
  tmb_check_context_at(s->call);
  tmb_check_tm(s->call, s->tm, false);
  tmb_check_tm_rank(s->call, s->tm, s->rank);
  tmb_check_flags(s->call, s->flags, GEX_FLAG_IMMEDIATE);
  if (s->tag == GEXX_NOTIFY_ANY_TAG)
    tmb_fatal_nopos("%s: argument tag is GEXX_NOTIFY_ANY_TAG, which only requests take", s->call);
  if (s->told) tmb_check_remote(s->call, what, s->tm, s->rank, remote, s->told);
}

static bool is_far(const struct send *s, uint32_t jobrank) {
  return s->nbytes && (!tmb_bound_attached(jobrank, s->dest, s->nbytes) ||
                       tmb_job.mapped_delta[jobrank] == GEXX_UNMAPPED);
}

/* To this process: copy, match. */
static void deliver(const struct send *s) {
  const struct tmb_note note = {.uid = tmb_team_of(s->tm)->uid,
                                .target = s->rank,
                                .source = s->tm->rank,
                                .jobrank = tmb_job.rank,
                                .tag = s->tag,
                                .nbytes = s->told};
  if (s->nbytes) memmove(s->dest, s->src, s->nbytes);
  return_credit(tmb_job.rank, tmb_note_arrive(&note));
  if (tmb_job.threads) tmb_job.ops->wake_self(tmb_job.conduit);
}

/*
 * Send data and notification; when the data are not there on return and somebody asks (op), they
 * are acknowledged. Returns 0, or TMB_AGAIN for an immediate operation without credit or resources.
 */
static int start(struct send *s, struct tmb_op *op) {
  const uint32_t jobrank = tmb_jobrank(s->tm, s->rank);
  const bool immediate = (s->flags & GEX_FLAG_IMMEDIATE) != 0;
  if (!take_credit(s->call, jobrank, immediate)) return TMB_AGAIN;
  if (jobrank == tmb_job.rank) {
    deliver(s);
    return 0;
  }
  if (s->nbytes > TMB_AM_LONG_BYTES_MAX) {
    (void)gexx_rma_put(s->tm, s->rank, s->dest, s->src, s->nbytes, 0);
    s->nbytes = 0;
  }
  const bool far = is_far(s, jobrank);
  int32_t args[NOTE_ARGS] = {0};
  tmb_team_args64(args, tmb_team_of(s->tm)->uid);
  args[2] = (int32_t)s->rank;
  args[3] = (int32_t)s->tm->rank;
  args[4] = (int32_t)s->tag;
  tmb_team_args64(args + 5, s->told);
  if (far && op) {
    tmb_team_args64(args + 7, (uint64_t)(uintptr_t)op);
    tmb_up_op_more(op, TMB_CAT_PUT);
  }
  struct tmb_am_out out = {.peer = jobrank,
                           .category = s->nbytes ? TMB_AM_LONG : TMB_AM_SHORT,
                           .handler = TMB_NOTE_AM_NOTE,
                           .nargs = NOTE_ARGS,
                           .immediate = immediate,
                           .far = far,
                           .staged = -1,
                           .args = args,
                           .src = s->src,
                           .nbytes = s->nbytes,
                           .dest = s->dest};
  if (!tmb_up_am_send(&out)) return 0;
  if (far && op) tmb_up_op_done(op, TMB_CAT_PUT);
  return_credit(jobrank, 1);
  return TMB_AGAIN;
}

int gexx_RMA_PutNotify(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  struct send s = {"gexx_RMA_PutNotify", tm, rank, dest, src, nbytes, nbytes, tag, flags};
  if (TMB_UNLIKELY(tmb_job.debug)) check_send(&s, dest, "dest");
  return start(&s, NULL) ? 1 : 0;
}

int gexx_RMA_PutNotifyNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Event_t *lc_opt, uint32_t tag, gex_Flags_t flags) {
  struct send s = {"gexx_RMA_PutNotifyNBI", tm, rank, dest, src, nbytes, nbytes, tag, flags};
  if (TMB_UNLIKELY(tmb_job.debug)) check_send(&s, dest, "dest");
  TMB_CHECK(lc_opt && (uintptr_t)lc_opt <= (uintptr_t)GEX_EVENT_GROUP,
            "%s: argument lc_opt is %p; give GEX_EVENT_NOW, DEFER or GROUP", s.call,
            (void *)lc_opt);
  return start(&s, tmb_thread_iop(tmb_thread())) ? 1 : 0;
}

gex_Event_t gexx_RMA_PutNotifyNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                 size_t nbytes, gex_Event_t *lc_opt, uint32_t tag,
                                 gex_Flags_t flags) {
  struct send s = {"gexx_RMA_PutNotifyNB", tm, rank, dest, src, nbytes, nbytes, tag, flags};
  const bool leaf = (uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP;
  if (TMB_UNLIKELY(tmb_job.debug)) check_send(&s, dest, "dest");
  TMB_CHECK(lc_opt && lc_opt != GEX_EVENT_GROUP,
            "%s: argument lc_opt is %p; give GEX_EVENT_NOW, DEFER or the address of an event",
            s.call, (void *)lc_opt);
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, leaf ? GEX_EC_LC : 0);
  if (start(&s, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  const gex_Event_t event = tmb_op_event(op);
  if (leaf) *lc_opt = gex_Event_QueryLeaf(event, GEX_EC_LC);
  return event;
}

int gexx_RMA_GetNotify(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                       uint32_t tag, gex_Flags_t flags) {
  struct send s = {"gexx_RMA_GetNotify", tm, rank, NULL, NULL, 0, nbytes, tag, flags};
  if (TMB_UNLIKELY(tmb_job.debug)) check_send(&s, src, "src");
  if (gexx_rma_get(tm, dest, rank, src, nbytes, flags)) return 1;
  return start(&s, NULL) ? 1 : 0; /* a repetition reads the data again */
}
