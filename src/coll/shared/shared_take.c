/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking: a member reads its part of the next chunk in the rows of those that show it, or in the
 * memory that the root of a long broadcast offers.
 *
 * Owns nothing. Called by shared.c. Calls: shared_meet.h, shared_fold.c, apply.h, pull.h.
 * Reductions go from the highest rank down, the left operand is the new one: one order on every
 * rank and in every run, and a client's function, which overwrites its right operand, never writes
 * to a slot. Invariant: guarded by the lock of collectives.
 */
#include "coll/engine/apply.h"
#include "coll/engine/pull.h"
#include "coll/shared/shared_meet.h"
#include "coll/shared/shared_op.h"

#include <string.h>

/* Looks in vain after which a member compares the calls of those that have come; and chunks of
 * offered data that a member reads in one go, with the lock held. Chosen. */
#define VAIN_LOOKS   4u
#define OFFER_CHUNKS 64u

/* Members whose data this member takes: *low up to *high - 1. Where it reduces, it takes them
 * from the highest down. */
static void sources(const struct tmb_team *team, const struct tmb_coll_call *call, uint32_t *low,
                    uint32_t *high) {
  const uint32_t me = team->head.rank, size = team->head.size;
  *low = 0;
  *high = size;
  switch (call->kind) {
  case TMB_COLL_BROADCAST:
  case TMB_COLL_SCATTER:
    *low = call->root;
    *high = call->root + 1;
    break;
  case TMB_COLL_REDUCE:
  case TMB_COLL_GATHER:
    if (me != call->root) *high = 0;
    break;
  case TMB_COLL_SCAN: *high = me + 1; break;
  case TMB_COLL_EXSCAN: *high = me; break;
  default: break;
  }
}

/* Address of the data that a member shows for this one in the chunk to be read next; NULL while
 * it has not shown them. */
static const char *chunk_of(const struct tmb_team *team, const struct tmb_coll_shared *b,
                            const struct tmb_coll_shared_op *op, uint32_t member) {
  const bool blocks = tmb_board_kinds[op->call.kind].blocks, mine = member == team->head.rank;
  const uint64_t length = tmb_board_length(op, op->read), skip = blocks ? team->head.rank : 0;
  if (mine && !(op->shows && tmb_board_kinds[op->call.kind].reduces))
    return (const char *)op->call.src + op->read * op->unit + skip * op->call.bytes;
  const uint64_t number = op->first + op->read;
  const struct tmb_shared_head *head = tmb_row_head(b->row[member], number);
  if (tmb_load_acq(&head->number) != number + 1) return NULL;
  tmb_row_check(team, op->signature, member, head);
  return tmb_row_data(b->row[member], number, length * (blocks ? team->head.size : 1)) +
         skip * length;
}

/* Take the data of members one by one, each to its place. */
static bool collect(struct tmb_team *team, struct tmb_coll_shared *b,
                    struct tmb_coll_shared_op *op) {
  const uint32_t me = team->head.rank;
  const uint64_t length = tmb_board_length(op, op->read), at = op->read * op->unit;
  uint32_t low, high;
  sources(team, &op->call, &low, &high);
  for (; op->members_read < high - low; op->members_read++) {
    const uint32_t turn = me + op->members_read, many = high - low;
    const uint32_t member = low + (many == 1 ? 0 : turn < many ? turn : turn - many);
    const char *from = chunk_of(team, b, op, member);
    if (!from) return false;
    char *to = (char *)op->call.dst + at + (many > 1 ? member * op->call.bytes : 0);
    if (to != from) memcpy(to, from, length);
  }
  return true;
}

/* Have a client's function called, once the op is one that waits. */
static void apply(struct tmb_coll_shared_op *op, char *to, const char *from, uint64_t length) {
  if (!op->client) return;
  struct tmb_apply *a = &op->client->apply;
  *a = (struct tmb_apply){.reducer = &op->call.reducer,
                          .to = to,
                          .own = to,
                          .message = (char *)(uintptr_t)from, /* which is the left operand */
                          .bytes = length,
                          .event = op->event,
                          .then = a->then};
  tmb_apply_post(a);
}

/* Combine the data of members, the highest first. */
static bool combine(struct tmb_team *team, struct tmb_coll_shared *b,
                    struct tmb_coll_shared_op *op) {
  const struct tmb_reducer *r = &op->call.reducer;
  const uint64_t length = tmb_board_length(op, op->read);
  char *to = (char *)op->call.dst + op->read * op->unit;
  uint32_t low, high;
  sources(team, &op->call, &low, &high);
  if (op->members_read == 0 && high - low > 1 && r->loop) {
    const char *right = chunk_of(team, b, op, high - 1), *left = chunk_of(team, b, op, high - 2);
    if (!right || !left) return false;
    r->loop(left, right, to, length / r->elem);
    op->members_read = 2;
  }
  for (; op->members_read < high - low; op->members_read++) {
    const char *from = chunk_of(team, b, op, high - 1 - op->members_read);
    if (!from) return false;
    if (op->members_read == 0)
      memcpy(to, from, length);
    else if (r->loop)
      r->loop(from, to, to, length / r->elem);
    else {
      apply(op, to, from, length);
      return false;
    }
  }
  return true;
}

/* Members are missing at a chunk: checks whether one of them calls another collective. Not at each
 * poll, because it reads a line of each row. */
static void check_present(const struct tmb_team *team, const struct tmb_coll_shared *b,
                          const struct tmb_coll_shared_op *op, uint64_t number) {
  for (uint32_t r = 0; r < team->head.size; r++) {
    const struct tmb_shared_head *head = tmb_row_head(b->row[r], number);
    if (tmb_load_acq(&head->number) == number + 1) tmb_row_check(team, op->signature, r, head);
  }
}

/* Whether this member takes data of others. */
static bool needs_others(const struct tmb_team *team, const struct tmb_coll_shared_op *op) {
  uint32_t low, high;
  sources(team, &op->call, &low, &high);
  return high - low > 1 || (high > low && low != team->head.rank);
}

/* Find out whether the root offers its data. Returns false while it has shown nothing. */
static bool find_where(const struct tmb_team *team, const struct tmb_coll_shared *b,
                       struct tmb_coll_shared_op *op) {
  const struct tmb_shared_head *head = tmb_row_head(b->row[op->call.root], op->first);
  if (tmb_load_acq(&head->number) != op->first + 1) return false;
  tmb_row_check(team, op->signature, op->call.root, head);
  memcpy(&op->where, head->small, sizeof op->where);
  return true;
}

/* Read a part of what the root offers. Returns false while this rank has not mapped it yet. Only
 * the last part is published as read, for the root waits for that. */
static bool take_offered(struct tmb_team *team, struct tmb_coll_shared *b,
                         struct tmb_coll_shared_op *op) {
  const uint64_t chunks = TMB_MIN(op->chunks - op->read, (uint64_t)OFFER_CHUNKS);
  const uint64_t at = op->read * op->unit, bytes = TMB_MIN(chunks * op->unit, op->call.bytes - at);
  const char *from = tmb_pull_mapped(tmb_team_jobrank(team, op->call.root), op->where + at, bytes);
  char *const to = (char *)op->call.dst + at;
  if (!from) return false;
  if (to != from) memcpy(to, from, bytes);
  op->read += chunks;
  if (op->read < op->chunks) return true;
  tmb_row_read_to(team, b, op->first + op->chunks);
  return true;
}

bool tmb_board_reads_there(struct tmb_team *team, struct tmb_coll_shared *b,
                           struct tmb_coll_shared_op *op) {
  if (op->shown && !op->read && tmb_board_says_where(op) && !find_where(team, b, op)) return true;
  if (op->where && op->read < op->chunks) (void)take_offered(team, b, op);
  return op->where;
}

bool tmb_board_let_go(const struct tmb_team *team, struct tmb_coll_shared *b,
                      const struct tmb_coll_shared_op *op) {
  if (TMB_LIKELY(!op->where) || team->head.rank != op->call.root) return true;
  for (uint32_t r = 0; r < team->head.size; r++)
    if (tmb_load_acq(&b->row[r]->read.word) < op->first + op->chunks) {
      b->lacks |= TMB_ROW_WANTS_SLOT;
      return false;
    }
  return true;
}

bool tmb_board_take(struct tmb_team *team, struct tmb_coll_shared *b,
                    struct tmb_coll_shared_op *op) {
  const uint64_t number = op->first + op->read;
  uint32_t last;
  if (op->meets && needs_others(team, op)) {
    if (!tmb_meet_closed(b, number, &last)) {
      if (++op->vain > VAIN_LOOKS) check_present(team, b, op, number);
      return false;
    }
    op->vain = 0;
    if (op->folds) {
      tmb_board_take_folded(team, b, op, last);
      return true;
    }
  }
  return tmb_board_kinds[op->call.kind].reduces ? combine(team, b, op) : collect(team, b, op);
}
