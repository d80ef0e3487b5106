/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparison of the members' collective calls and their arguments.
 *
 * Owns: the list of teams of a debug client with calls to compare; internal message COLL_CALL.
 * Called by the engine and shared.c, under the lock of collectives. Calls: core/shared.h,
 * tmb_up_am_send. A member shows the signature of each call to the rank below, which compares it
 * with that of its own call: in its row, with a wake-up, or, in a team without shared memory, by a
 * message. The comparisons form a ring, so a difference anywhere in the team is found while the
 * ranks wait for each other, however the data travel. Invariants: a signature in a row is
 * overwritten after TMB_SHARED_CALLS more calls, and a neighbour that is too late to read it skips
 * it; of signatures that came by message a member keeps as many as it can be behind another.
 */
#include "base/log.h"
#include "coll/engine/engine.h"
#include "core/progress/peer.h"

#include <stdlib.h>

#define LOG_CALLS 256u /* collectives that one member may be ahead of another, see engine.c */

struct logged_call {
  uint64_t number; /* of the collective in its team + 1; 0: none yet */
  struct tmb_call_signature signature;
};

/* Calls of this member and of the next one, by number modulo LOG_CALLS. */
struct tmb_call_log {
  uint64_t calls; /* of this member */
  struct logged_call mine[LOG_CALLS], next[LOG_CALLS];
};

void tmb_coll_mismatch(const struct tmb_team *team, struct tmb_call_signature mine, uint32_t member,
                       struct tmb_call_signature theirs) {
  const struct tmb_coll_team *ct = team->coll;
  if (ct && ct->whole) {
    team = ct->whole;
    member = team->group->member[member];
  }
  const char *differ = (mine.call ^ theirs.call) >> 56        ? "kind"
                       : (uint32_t)(mine.call ^ theirs.call)  ? "root"
                       : (mine.call ^ theirs.call) << 8 >> 40 ? "type or operator"
                                                              : "length";
  tmb_fatal_nopos(
      "collective %s of %zu bytes per rank, root %u, on a team of %u ranks: rank %u of the team, "
      "%u "
      "in the job, calls %s of %zu bytes, root %u, instead (another %s); all ranks must make the "
      "same calls in the same order with the same arguments",
      tmb_coll_kind_name((uint32_t)(mine.call >> 56)), (size_t)mine.bytes, (uint32_t)mine.call,
      team->head.size, member, tmb_team_jobrank(team, member),
      tmb_coll_kind_name((uint32_t)(theirs.call >> 56)), (size_t)theirs.bytes,
      (uint32_t)theirs.call, differ);
}

void tmb_coll_publish(struct tmb_team *team, struct tmb_call_signature signature) {
  const uint32_t size = team->head.size, me = team->head.rank;
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  struct tmb_shared_call *call_slot =
      &tmb_shared_row(team, me)->calls[ct->published % TMB_SHARED_CALLS];
  if (ct->published++ == ct->compared) {
    ct->next_published = tmb_colls.published;
    tmb_colls.published = team;
    tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
  }
  tmb_store_rlx(&call_slot->number, 0);
  tmb_fence_rel();
  tmb_store_rlx(&call_slot->uid, team->uid);
  tmb_store_rlx(&call_slot->signature.call, signature.call);
  tmb_store_rlx(&call_slot->signature.bytes, signature.bytes);
  tmb_store_rel(&call_slot->number, ct->published);
  tmb_peer_wake(tmb_team_jobrank(team, (me + size - 1) % size));
}

/* ---- by messages. CALL: uid(0,1) member(2) number(3,4) signature(5,6) (7,8) */

enum { CALL_ARGS = 9 };

TMB_REQUIRES(tmb_coll_guard) static struct tmb_call_log *log_of(struct tmb_team *team) {
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  if (!ct->call_log) ct->call_log = calloc(1, sizeof *ct->call_log);
  if (!ct->call_log) tmb_fatal("out of memory for the collectives of a team");
  return ct->call_log;
}

/* Compare the two signatures of a call, if both are known. */
static void compare_logged(const struct tmb_team *team, const struct tmb_call_log *log,
                           uint64_t number) {
  const struct logged_call *mine = &log->mine[number % LOG_CALLS],
                           *next = &log->next[number % LOG_CALLS];
  if (mine->number != next->number) return;
  if (mine->signature.call != next->signature.call ||
      mine->signature.bytes != next->signature.bytes)
    tmb_coll_mismatch(team, mine->signature, (team->head.rank + 1) % team->head.size,
                      next->signature);
}

void tmb_coll_send_call(struct tmb_team *team, struct tmb_call_signature signature) {
  const uint32_t size = team->head.size, below = (team->head.rank + size - 1) % size;
  if (size == 1) return;
  tmb_coll_lock();
  struct tmb_call_log *log = log_of(team);
  const uint64_t number = log->calls++;
  log->mine[number % LOG_CALLS] = (struct logged_call){number + 1, signature};
  compare_logged(team, log, number);
  tmb_coll_unlock();
  int32_t args[CALL_ARGS] = {0, 0, (int32_t)below};
  tmb_kit_pack64(args, team->uid);
  tmb_kit_pack64(args + 3, number);
  tmb_kit_pack64(args + 5, signature.call);
  tmb_kit_pack64(args + 7, signature.bytes);
  struct tmb_am_out out = {.peer = tmb_team_jobrank(team, below),
                           .handler = TMB_KIT_COLL_CALL,
                           .nargs = CALL_ARGS,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&out);
}

static void on_call(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(tmb_kit_unpack64(in->args), (uint32_t)in->args[2], in);
  if (!team || tmb_team_lost(team)) return;
  if (tmb_team_jobrank(team, (team->head.rank + 1) % team->head.size) != in->src)
    tmb_kit_malformed(in, "sender");
  const uint64_t number = tmb_kit_unpack64(in->args + 3);
  tmb_coll_lock();
  struct tmb_call_log *log = log_of(team);
  log->next[number % LOG_CALLS] = (struct logged_call){
      number + 1, {tmb_kit_unpack64(in->args + 5), tmb_kit_unpack64(in->args + 7)}};
  compare_logged(team, log, number);
  tmb_coll_unlock();
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_COLL_CALL, TMB_TAKES_SHORT, CALL_ARGS, 0, on_call}, {0}};

const struct tmb_layer tmb_signature_layer = {.name = "signature", .handlers = handlers};

/* ---- by rows */

/* Read the signature of a call from a member's row. Returns false when it is not there yet, or
 * has been overwritten. */
static bool read_call(const struct tmb_team *team, const struct tmb_shared_row *row,
                      uint64_t number, struct tmb_call_signature *signature) {
  const struct tmb_shared_call *call_slot = &row->calls[number % TMB_SHARED_CALLS];
  if (tmb_load_acq(&call_slot->number) != number + 1) return false;
  signature->call = tmb_load_rlx(&call_slot->signature.call);
  signature->bytes = tmb_load_rlx(&call_slot->signature.bytes);
  const uint64_t uid = tmb_load_rlx(&call_slot->uid);
  tmb_fence_acq();
  return tmb_load_rlx(&call_slot->number) == number + 1 && uid == team->uid;
}

/* Compare the signatures of this member and the next one as far as both have published them.
 * Returns how many calls were compared or skipped. */
static uint64_t compare_team(struct tmb_team *team) {
  struct tmb_coll_team *ct = team->coll;
  const uint32_t next = (team->head.rank + 1) % team->head.size;
  const struct tmb_shared_row *my_row = tmb_shared_row(team, team->head.rank);
  const struct tmb_shared_row *row = tmb_shared_row(team, next);
  const uint64_t before = ct->compared;
  for (; ct->compared < ct->published; ct->compared++) {
    struct tmb_call_signature mine, theirs;
    const bool late = ct->published - ct->compared > TMB_SHARED_CALLS;
    if (!late && tmb_load_acq(&row->calls[ct->compared % TMB_SHARED_CALLS].number) <= ct->compared)
      break; /* not there yet, or being written */
    if (late || !read_call(team, my_row, ct->compared, &mine) ||
        !read_call(team, row, ct->compared, &theirs))
      continue;
    if (mine.call != theirs.call || mine.bytes != theirs.bytes)
      tmb_coll_mismatch(team, mine, next, theirs);
  }
  return ct->compared - before;
}

static void unlist(struct tmb_team **place) {
  *place = ((struct tmb_coll_team *)(*place)->coll)->next_published;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] - 1);
}

int tmb_coll_compare(void) {
  uint64_t done = 0;
  for (struct tmb_team **place = &tmb_colls.published, *team; (team = *place) != NULL;) {
    struct tmb_coll_team *ct = team->coll;
    done += compare_team(team);
    if (ct->compared == ct->published)
      unlist(place);
    else
      place = &ct->next_published;
  }
  return done > INT32_MAX ? INT32_MAX : (int)done;
}

void tmb_coll_forget(const struct tmb_team *team) {
  for (struct tmb_team **place = &tmb_colls.published; *place;)
    if (*place == team)
      unlist(place);
    else
      place = &((struct tmb_coll_team *)(*place)->coll)->next_published;
}
