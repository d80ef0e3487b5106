/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gexx_TM_Shrink: a team of the survivors, on which all of them agree.
 *
 * Owns: the decision of each shrinking of a team so far. Called by clients, by progress, when a
 * peer is lost, and by the handlers of its two messages. Calls: teams, rows, sends that never wait.
 * Agreement by a rotating coordinator with a failure detector that never errs (T. D. Chandra, S.
 * Toueg, Unreliable failure detectors for reliable distributed systems, J. ACM 43(2), 1996, section
 * 6.1): the lowest member that is not lost coordinates. Every member sends it its STATE: the
 * decision of which it has been notified, if any. Once the coordinator has the STATE of all members
 * that are not lost, it adopts the decision that any of them was notified of. If there is none, the
 * members from which it has heard stay. It notifies all. When a coordinator is lost, all, those
 * included whose call has returned, send their STATE to the next. Invariants: a member heeds no
 * coordinator lower than the one that it sent its STATE to last; so all survivors get one answer.
 * Guarded by one lock, under which nothing waits.
 */
#include "core/team/shrink.h"
#include "base/container/list.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/status.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/shared.h"
#include "core/team/groups.h"
#include "net/up.h"
#include "os/sync/lock.h"

#include <stdlib.h>
#include <string.h>

/* The decision, a byte for each member: its row in the new team, or one of these. */
enum { EXCLUDED = 0xff, NO_ROW = 0xfe };
#define NOT_SENT UINT32_MAX

/* State of one shrinking of a team at this member. */
struct tmb_shrink {
  struct tmb_shrink *next;
  uint64_t uid;          /* of the team */
  uint32_t number;       /* of the shrinking in it */
  uint32_t rank, size;   /* of this member; of the team */
  bool called;           /* this member has called */
  bool decided, pending; /* decided; something is to be sent */
  uint32_t coordinator;  /* to which STATE was sent last; NOT_SENT */
  uint64_t new_uid;      /* of the new team; before the decision: this member's proposal */
  uint8_t *value;     /* [size] decision; before: rows of the members that have sent their STATE */
  uint8_t *heard;     /* [size] 1: has sent its STATE to this coordinator */
  uint8_t *notify;    /* [size] 1: is to be notified */
  uint32_t jobrank[]; /* [size] */
};

/* Arguments: uid(0,1), target's rank(2), number(3), sender's rank(4), coordinator(5), decided(6),
 * sender's row(7), new uid(8,9). The decision is the payload. */
enum { ARGS = 10 };

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.shrinks.lock) static inline struct tmb_shrinks *known(void) {
  return &tmb_job.shrinks;
}

static bool is_lost(const struct tmb_shrink *s, uint32_t rank) {
  return tmb_peer_lost(s->jobrank[rank]);
}

/* ---- records */

TMB_REQUIRES(tmb_job.shrinks.lock)
static struct tmb_shrink *find(uint64_t uid, uint32_t rank, uint32_t number) {
  for (struct tmb_shrink *s = known()->first; s; s = s->next)
    if (s->uid == uid && s->rank == rank && s->number == number) return s;
  return NULL;
}

TMB_REQUIRES(tmb_job.shrinks.lock)
static struct tmb_shrink *find_or_make(const struct tmb_team *team, uint32_t number) {
  struct tmb_shrink *s = find(team->uid, team->head.rank, number);
  if (s) return s;
  const uint32_t size = team->head.size;
  s = calloc(1, sizeof *s + size * (sizeof *s->jobrank + 3));
  if (!s) tmb_fatal("out of memory for a team of %u members", size);
  s->uid = team->uid;
  s->number = number;
  s->rank = team->head.rank;
  s->size = size;
  s->coordinator = NOT_SENT;
  s->value = (uint8_t *)(s->jobrank + size);
  s->heard = s->value + size;
  s->notify = s->heard + size;
  for (uint32_t r = 0; r < size; r++) s->jobrank[r] = tmb_team_jobrank(team, r);
  TMB_LIST_PUSH(&known()->first, s);
  return s;
}

/* Have progress handle it. */
static void set_pending(struct tmb_shrink *s, bool pending) {
  if (s->pending == pending) return;
  s->pending = pending;
  if (pending)
    tmb_fetch_add_acq_rel(&tmb_job.work[TMB_WORK_SHRINKS], 1);
  else
    tmb_fetch_sub_rel(&tmb_job.work[TMB_WORK_SHRINKS], 1);
}

/* ---- messages */

static void pack(const struct tmb_shrink *s, uint32_t to, uint32_t coordinator, int32_t *args) {
  tmb_kit_pack64(args, s->uid);
  args[2] = (int32_t)to;
  args[3] = (int32_t)s->number;
  args[4] = (int32_t)s->rank;
  args[5] = (int32_t)coordinator;
  args[6] = s->decided;
  args[7] = s->value[s->rank];
  tmb_kit_pack64(args + 8, s->new_uid);
}

static struct tmb_am_out message(const struct tmb_shrink *s, uint32_t to, uint8_t handler,
                                 const int32_t *args) {
  return (struct tmb_am_out){.peer = s->jobrank[to],
                             .category = TMB_AM_MEDIUM,
                             .handler = handler,
                             .nargs = ARGS,
                             .immediate = 1,
                             .staged = -1,
                             .args = args,
                             .src = s->value,
                             .nbytes = s->decided ? s->size : 0};
}

/* Try to send. in handler: TMB_KIT_SHRINK_STATE or DECIDED. Returns whether it is done: also when
 * the member is lost. */
static bool send(const struct tmb_shrink *s, uint32_t to, uint32_t coordinator, uint8_t handler) {
  int32_t args[ARGS];
  if (is_lost(s, to)) return true;
  pack(s, to, coordinator, args);
  struct tmb_am_out out = message(s, to, handler, args);
  return tmb_up_am_send(&out) == 0;
}

/* The decision is known here, and this rank coordinates or has been asked as a coordinator. */
static void notify_all(struct tmb_shrink *s) {
  for (uint32_t r = 0; r < s->size; r++) s->notify[r] = r != s->rank && s->value[r] != EXCLUDED;
  set_pending(s, true);
}

static void adopt(struct tmb_shrink *s, const struct tmb_am_in *in) {
  const uint8_t *value = in->payload;
  if (in->nbytes != s->size) tmb_kit_malformed(in, "length of the decision");
  for (uint32_t r = 0; r < s->size; r++)
    if (value[r] >= TMB_SHARED_ROWS_MAX && value[r] != NO_ROW && value[r] != EXCLUDED)
      tmb_kit_malformed(in, "row of a member");
  if (value[s->rank] == EXCLUDED) tmb_kit_malformed(in, "decision, which excludes this rank");
  memcpy(s->value, value, s->size);
  s->new_uid = tmb_kit_unpack64(in->args + 8);
  s->decided = true;
}

/* The record that a message is for, NULL for a team that is not made yet: then the message comes
 * again. */
TMB_REQUIRES(tmb_job.shrinks.lock) static struct tmb_shrink *record_of(const struct tmb_am_in *in) {
  const uint64_t uid = tmb_kit_unpack64(in->args);
  const uint32_t rank = (uint32_t)in->args[2], number = (uint32_t)in->args[3];
  struct tmb_shrink *s = find(uid, rank, number);
  if (s) return s;
  const struct tmb_team *team = tmb_team_find(uid, rank, in);
  return team ? find_or_make(team, number) : NULL;
}

/* A member sends its STATE to this coordinator. A member that knows the decision answers with it.
 */
static void on_state(const struct tmb_am_in *in) {
  struct tmb_am_out answer = {0};
  int32_t args[ARGS];
  tmb_lock_acquire(&tmb_job.shrinks.lock);
  struct tmb_shrink *s = record_of(in);
  if (s) {
    const uint32_t from = (uint32_t)in->args[4];
    if (from >= s->size || (uint32_t)in->args[5] != s->rank)
      tmb_kit_malformed(in, "rank of the sender, or of the coordinator");
    if (s->decided) {
      pack(s, from, s->rank, args);
      answer = message(s, from, TMB_KIT_SHRINK_DECIDED, args);
    } else if (in->args[6]) {
      adopt(s, in);
      notify_all(s);
    } else {
      s->heard[from] = 1;
      s->value[from] = (uint8_t)in->args[7];
    }
  }
  tmb_lock_release(&tmb_job.shrinks.lock);
  if (answer.nargs)
    tmb_kit_reply_data(in->src, &answer); /* the memory behind the pointer does not
                                           * change */
}

static void on_decided(const struct tmb_am_in *in) {
  tmb_lock_acquire(&tmb_job.shrinks.lock);
  struct tmb_shrink *s = record_of(in);
  const uint32_t coordinator = (uint32_t)in->args[5];
  if (s && !s->decided && (s->coordinator == NOT_SENT || coordinator >= s->coordinator))
    adopt(s, in);
  tmb_lock_release(&tmb_job.shrinks.lock);
}

/* ---- going on */

/* As coordinator: decide, if all have been heard that are not lost. */
static void try_decide(struct tmb_shrink *s) {
  for (uint32_t r = 0; r < s->size; r++)
    if (!s->heard[r] && !is_lost(s, r)) return;
  for (uint32_t r = 0; r < s->size; r++)
    if (is_lost(s, r)) s->value[r] = EXCLUDED;
  s->decided = true;
  notify_all(s);
}

/* Do all steps that are possible now. Returns whether nothing is left to be sent. */
TMB_REQUIRES(tmb_job.shrinks.lock) static bool advance(struct tmb_shrink *s) {
  uint32_t first = 0;
  bool sent = true;
  while (is_lost(s, first)) first++; /* this member at the latest */
  if (first == s->rank && s->called) {
    s->coordinator = first;
    s->heard[first] = 1;
    if (!s->decided) try_decide(s);
  } else if ((s->called || s->decided) && first != s->coordinator) {
    sent = send(s, first, first, TMB_KIT_SHRINK_STATE);
    if (sent) s->coordinator = first;
  }
  for (uint32_t r = 0; r < s->size; r++)
    if (s->notify[r]) {
      s->notify[r] = !send(s, r, s->rank, TMB_KIT_SHRINK_DECIDED);
      sent = sent && !s->notify[r];
    }
  set_pending(s, !sent);
  return sent;
}

static int progress(int serve) {
  if (serve != TMB_SERVE_ALL) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&tmb_job.shrinks.lock)) return TMB_FOUND_BUSY;
  int found = TMB_FOUND_NOTHING;
  for (struct tmb_shrink *s = known()->first; s; s = s->next) {
    if (!s->pending) continue;
    if (advance(s))
      found |= TMB_FOUND_WORK;
    else
      found |= TMB_FOUND_BUSY; /* nobody rings for room */
  }
  tmb_lock_release(&tmb_job.shrinks.lock);
  return found;
}

/* The coordinator may have changed. */
static void on_lost(uint32_t jobrank) {
  (void)jobrank;
  tmb_lock_acquire(&tmb_job.shrinks.lock);
  for (struct tmb_shrink *s = known()->first; s; s = s->next)
    if (s->called) set_pending(s, true);
  tmb_lock_release(&tmb_job.shrinks.lock);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_SHRINK_STATE, TMB_TAKES_MEDIUM, ARGS, 0, on_state},
    {TMB_KIT_SHRINK_DECIDED, TMB_TAKES_MEDIUM, ARGS, 1, on_decided},
    {0}};

const struct tmb_layer tmb_shrink_layer = {.name = "shrink",
                                           .handlers = handlers,
                                           .work = TMB_WORK_SHRINKS,
                                           .progress = progress,
                                           .peer_lost = on_lost};

/* ---- the call */

static bool is_decided(void *arg) {
  struct tmb_shrink *s = arg;
  tmb_lock_acquire(&tmb_job.shrinks.lock);
  const bool done = advance(s) && s->decided;
  tmb_lock_release(&tmb_job.shrinks.lock);
  return done;
}

/* Rank that has to act next. */
static void describe_peer(const struct tmb_shrink *s, struct tmb_status_wait *out) {
  if (s->coordinator != s->rank && s->coordinator < s->size) {
    out->peer = s->jobrank[s->coordinator];
    return;
  }
  for (uint32_t r = 0; r < s->size; r++)
    if (!s->heard[r] && !is_lost(s, r) && out->peer == TMB_STATUS_NOBODY) out->peer = s->jobrank[r];
}

/* Describes the wait, for `tombolo why`. */
static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct tmb_shrink *s = arg;
  out->kind = TMB_WAIT_SHRINK;
  out->number = s->number;
  if (!tmb_lock_try(&tmb_job.shrinks.lock)) return;
  describe_peer(s, out);
  tmb_lock_release(&tmb_job.shrinks.lock);
}

static gex_TM_t make_team(struct tmb_team *old, const struct tmb_shrink *s, uint32_t row) {
  uint32_t count = 0, next = 0;
  gex_EP_Index_t *ep_index;
  for (uint32_t r = 0; r < s->size; r++) count += s->value[r] != EXCLUDED;
  struct tmb_team *team = tmb_team_new(count, false, &ep_index);
  for (uint32_t r = 0; r < s->size; r++) {
    if (s->value[r] == EXCLUDED) continue;
    if (r == s->rank) team->head.rank = next;
    team->jobrank_table[next] = s->jobrank[r];
    team->shared_row[next] = s->value[r];
    ep_index[next++] = old->ep_index ? old->ep_index[r] : 0;
  }
  team->uid = s->new_uid;
  team->parent = old->uid;
  team->order = ++old->made;
  team->head.ep = old->head.ep;
  team->head.client = old->head.client;
  team->head.flags = GEX_FLAG_TM_NO_SCRATCH;
  tmb_groups_set(team, row);
  tmb_team_register(team);
  return &team->head;
}

int gexx_TM_Shrink(gex_TM_t tm, gex_TM_t *new_tm_p) {
  const char *call = "gexx_TM_Shrink";
  TMB_CHECK_CONTEXT(call);
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_tm(call, tm, false);
    if (!new_tm_p) tmb_fatal_nopos("%s: argument new_tm_p is NULL", call);
  }
  struct tmb_team *team = tmb_team_of(tm);
  tmb_team_making(true);
  const uint32_t row = tmb_shared_take();
  tmb_lock_acquire(&tmb_job.shrinks.lock);
  struct tmb_shrink *s = find_or_make(team, ++team->shrinks);
  s->called = true;
  if (!s->decided) {
    s->value[s->rank] = row == TMB_SHARED_NONE ? NO_ROW : (uint8_t)row;
    s->new_uid = tmb_team_uid();
  }
  tmb_lock_release(&tmb_job.shrinks.lock);
  (void)tmb_wait_until(is_decided, s, UINT64_MAX, describe);
  *new_tm_p = make_team(team, s, row);
  tmb_team_making(false);
  return GASNET_OK;
}
