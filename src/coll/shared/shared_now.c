/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short method for collectives of one chunk over shared memory: shown, read and complete inside
 * the call.
 *
 * Owns nothing. Called by shared.c when nothing of the team is in flight. Calls: shared_row.h.
 * Small data lie in the cache line of their number, so one store shows them and one miss brings
 * them. Where each rank has a processor, the others of a blocking collective are at most a hand-off
 * behind: the call reads their rows again and again for about that long, with nothing in between,
 * before it leaves the rest to progress. Invariants: guarded by the lock of collectives, so the
 * number of readings is bounded; a client's function is not called here; a call that returns SHOWN
 * has counted no chunk as read, so tmb_coll_shared_start reads the whole chunk again.
 */
#include "coll/shared/shared_row.h"

#include <string.h>

/* Readings of others' rows in one call at most, where each rank has a processor: as many as fit
 * into the time of a copy of the data. Chosen. */
#define PROBES         600u
#define BYTES_PER_LOOK 8u

/* One collective that is done inside its call. */
struct now {
  struct tmb_team *team;
  struct tmb_coll_shared *b;
  const struct tmb_coll_call *call;
  struct tmb_call_signature signature;
  uint64_t number;
  uint64_t shown;    /* bytes that a member shows */
  uint64_t readings; /* readings that are left */
};

static inline void copy(void *to, const void *from, size_t bytes) {
  if (TMB_LIKELY(bytes == sizeof(uint64_t)))
    memcpy(to, from, sizeof(uint64_t));
  else
    memcpy(to, from, bytes);
}

/* Whether a reading is left. */
static inline bool another(struct now *n) {
  if (n->readings == 0) return false;
  n->readings--;
  return true;
}

/* The data that a member shows; NULL when they do not come soon. */
static inline const char *find(struct now *n, uint32_t member) {
  const struct tmb_shared_head *head = tmb_row_head(n->b->row[member], n->number);
  while (tmb_load_acq(&head->number) != n->number + 1)
    if (!another(n)) return NULL;
  tmb_row_check(n->team, n->signature, member, head);
  return tmb_row_data(n->b->row[member], n->number, n->shown);
}

/* Combine the data of all, the highest rank first, as shared_take.c does. */
static bool combine(struct now *n) {
  const struct tmb_reducer *r = &n->call->reducer;
  const size_t bytes = n->call->bytes, count = bytes / r->elem;
  uint32_t member = n->team->head.size - 1;
  const char *right = find(n, member);
  for (; right && member-- > 0; right = n->call->dst) {
    const char *left = find(n, member);
    if (!left) return false;
    r->loop(left, right, n->call->dst, count);
  }
  return right != NULL;
}

/* Copy the blocks of all members to dst. in skip: offset of the block for this member in the data
 * of each member. */
static bool collect(struct now *n, size_t skip) {
  const uint32_t size = n->team->head.size, me = n->team->head.rank;
  const size_t bytes = n->call->bytes;
  char *to = n->call->dst;
  const char *mine = (const char *)n->call->src + skip;
  if (to + me * bytes != mine) copy(to + me * bytes, mine, bytes);
  for (uint32_t i = 1; i < size; i++) {
    const uint32_t member = me + i < size ? me + i : me + i - size;
    const char *from = find(n, member);
    if (!from) return false;
    copy(to + member * bytes, from + skip, bytes);
  }
  return true;
}

/* Show this member's data. in own: the block of all those at src that nobody else reads;
 * UINT32_MAX: there is none. Returns false when there is no room. */
static bool show(struct now *n, uint32_t own) {
  const struct tmb_coll_call *c = n->call;
  struct tmb_shared_row *row = n->b->row[n->team->head.rank];
  const bool small = n->shown <= TMB_SHARED_SMALL;
  while (!tmb_row_has_room(n->team, n->b, n->number, small))
    if (!another(n)) return false;
  char *to = tmb_row_data(row, n->number, n->shown);
  const char *from = c->src;
  const bool others = c->kind != TMB_COLL_ALLREDUCE; /* which combines what each member shows */
  if (small) {
    copy(to, from, n->shown);
  } else if (own == UINT32_MAX) {
    tmb_row_copy(to, from, n->shown, others);
  } else {
    const uint64_t after = (own + 1) * c->bytes;
    tmb_row_copy(to, from, own * c->bytes, others);
    tmb_row_copy(to + after, from + after, n->shown - after, others);
  }
  tmb_row_publish(row, n->number, n->signature);
  tmb_row_wake_all(n->team);
  return true;
}

static enum tmb_shared_now broadcast(struct now *n) {
  const struct tmb_coll_call *c = n->call;
  if (n->team->head.rank == c->root) {
    if (!show(n, UINT32_MAX)) return TMB_SHARED_NOT_NOW;
    if (c->dst != c->src) copy(c->dst, c->src, c->bytes);
  } else {
    const char *from = find(n, c->root);
    if (!from) return TMB_SHARED_NOT_NOW;
    copy(c->dst, from, c->bytes);
  }
  return TMB_SHARED_COMPLETE;
}

enum tmb_shared_now tmb_coll_shared_now(struct tmb_team *team, const struct tmb_coll_call *call,
                                        struct tmb_call_signature signature) {
  struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
  const uint32_t me = team->head.rank;
  const bool blocks = call->kind == TMB_COLL_EXCHANGE;
  struct now n = {.team = team, .b = b, .call = call, .number = b->next};
  if (call->bytes > TMB_SHARED_BYTES) return TMB_SHARED_NOT_NOW;
  n.shown = blocks ? call->bytes * team->head.size : call->bytes;
  if (n.shown > TMB_SHARED_BYTES) return TMB_SHARED_NOT_NOW;
  n.signature = signature;
  n.readings = tmb_job.wait.crowded ? 0 : PROBES + n.shown / BYTES_PER_LOOK;
  enum tmb_shared_now now = TMB_SHARED_NOT_NOW;
  bool complete;
  switch (call->kind) {
  case TMB_COLL_BROADCAST: now = broadcast(&n); break;
  case TMB_COLL_ALLREDUCE:
  case TMB_COLL_ALLGATHER:
  case TMB_COLL_EXCHANGE:
    if (call->kind == TMB_COLL_ALLREDUCE && !call->reducer.loop) break;
    if (!show(&n, blocks ? me : UINT32_MAX)) break;
    complete =
        call->kind == TMB_COLL_ALLREDUCE ? combine(&n) : collect(&n, blocks ? me * call->bytes : 0);
    now = complete ? TMB_SHARED_COMPLETE : TMB_SHARED_SHOWN;
    break;
  default: break;
  }
  if (now == TMB_SHARED_COMPLETE) {
    b->next++;
    tmb_row_count_read(team, b);
  }
  return now;
}
