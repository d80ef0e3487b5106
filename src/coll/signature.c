/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the members of a team call the same collectives with the same arguments.
 *
 * Owns: the list of teams of a debug client with calls to compare. Called by the engine and
 * shared.c, under the lock of collectives. Calls: core/team/shared.h. A member publishes the
 * signature of each call in its row and wakes the rank below, which compares it with the signature
 * of its own call. The comparisons form a ring, so a difference anywhere in the team is found while
 * the ranks wait for each other, however the data travel. Invariants: a signature is overwritten
 * after TMB_SHARED_CALLS more calls; a neighbour that is too late to read it skips it.
 */
#include "base/log.h"
#include "coll/engine.h"
#include "core/peer.h"

static struct tmb_team *teams; /* list of teams with calls that have not been compared */

void tmb_coll_mismatch(const struct tmb_team *team, struct tmb_call_signature mine, uint32_t member,
                       struct tmb_call_signature theirs) {
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

void tmb_coll_publish(struct tmb_team *team, const struct tmb_coll_call *call) {
  const uint32_t size = team->head.size, me = team->head.rank;
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  struct tmb_shared_call *call_slot =
      &tmb_shared_row(team, me)->calls[ct->published % TMB_SHARED_CALLS];
  if (ct->published++ == ct->compared) {
    ct->next_published = teams;
    teams = team;
    tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
  }
  tmb_store_rlx(&call_slot->number, 0);
  tmb_fence_rel();
  const struct tmb_call_signature signature = tmb_coll_signature(call);
  tmb_store_rlx(&call_slot->uid, team->uid);
  tmb_store_rlx(&call_slot->signature.call, signature.call);
  tmb_store_rlx(&call_slot->signature.bytes, signature.bytes);
  tmb_store_rel(&call_slot->number, ct->published);
  tmb_peer_wake(tmb_team_jobrank(team, (me + size - 1) % size));
}

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
  for (struct tmb_team **place = &teams, *team; (team = *place) != NULL;) {
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
  for (struct tmb_team **place = &teams; *place;)
    if (*place == team)
      unlist(place);
    else
      place = &((struct tmb_coll_team *)(*place)->coll)->next_published;
}
