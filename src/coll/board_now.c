/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short way of small collectives over boards: shown, read and complete inside the call.
 *
 * Owns nothing. Called by board.c when nothing of the team is in flight. Calls: board_row.h. Small
 * data lie in the cache line of their number, so one store shows them and one miss brings them.
 * Where each rank has a processor, the others of a blocking collective are at most a hand-off
 * behind: the call reads their rows again and again for about that long, with nothing in between,
 * before it leaves the rest to progress. Invariants: guarded by the lock of collectives, so the
 * number of readings is bounded; a client's function is not called here; a call that returns SHOWN
 * has counted no chunk as read, so tmb_coll_board_start reads the whole chunk again.
 */
#include "coll/board_row.h"

#include <string.h>

#define LOOKS                                                                                     \
 600u /* most readings of others' rows in one call, where each rank has a processor; about 0.3 us \
       */

/* One collective that is done inside its call. */
struct now {
  struct tmb_team *team;
  struct tmb_coll_board *b;
  const struct tmb_coll_call *call;
  struct tmb_board_what what;
  uint64_t number;
  uint32_t looks; /* readings that are left, of LOOKS */
};

static inline void copy(void *to, const void *from, size_t bytes) {
  if (TMB_LIKELY(bytes == sizeof(uint64_t)))
    memcpy(to, from, sizeof(uint64_t));
  else
    memcpy(to, from, bytes);
}

/* A member's small data; NULL when they do not come soon. */
static inline const char *find(struct now *n, uint32_t member) {
  const struct tmb_board_head *head = tmb_row_head(n->b->row[member], n->number);
  while (tmb_load_acq(&head->number) != n->number + 1)
    if (n->looks-- == 0) {
      n->looks = 0;
      return NULL;
    }
  tmb_row_check(n->team, n->what, member, head);
  return head->small;
}

/* Combine what all show, the highest rank first, as board.c does. */
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

/* Copy the blocks of all members to dst. in skip: offset of the block for this member in what
 * each member shows. */
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

static enum tmb_board_now broadcast(struct now *n) {
  const struct tmb_coll_call *c = n->call;
  struct tmb_board_row *row = n->b->row[c->root];
  if (n->team->head.rank == c->root) {
    if (!tmb_row_has_room(n->team, n->b, n->number, true)) return TMB_BOARD_NOT_NOW;
    copy(tmb_row_head(row, n->number)->small, c->src, c->bytes);
    tmb_row_publish(row, n->number, n->what);
    tmb_row_wake_all(n->team);
    if (c->dst != c->src) copy(c->dst, c->src, c->bytes);
  } else {
    const char *from = find(n, c->root);
    if (!from) return TMB_BOARD_NOT_NOW;
    copy(c->dst, from, c->bytes);
  }
  return TMB_BOARD_COMPLETE;
}

/* A collective in which all members show data and all read. in blocks: each shows one block for
 * every member, else one that is for all. */
static enum tmb_board_now all(struct now *n, bool blocks) {
  const struct tmb_coll_call *c = n->call;
  struct tmb_board_row *row = n->b->row[n->team->head.rank];
  if (!tmb_row_has_room(n->team, n->b, n->number, true)) return TMB_BOARD_NOT_NOW;
  copy(tmb_row_head(row, n->number)->small, c->src,
       blocks ? c->bytes * n->team->head.size : c->bytes);
  tmb_row_publish(row, n->number, n->what);
  tmb_row_wake_all(n->team);
  const bool complete = c->kind == TMB_COLL_ALLREDUCE
                            ? combine(n)
                            : collect(n, blocks ? n->team->head.rank * c->bytes : 0);
  return complete ? TMB_BOARD_COMPLETE : TMB_BOARD_SHOWN;
}

enum tmb_board_now tmb_coll_board_now(struct tmb_team *team, const struct tmb_coll_call *call) {
  struct tmb_coll_board *b = &tmb_coll_team_of(team)->board;
  struct now n = {.team = team,
                  .b = b,
                  .call = call,
                  .what = tmb_coll_what(call),
                  .number = b->next,
                  .looks = tmb_job.wait.crowded ? 0 : LOOKS};
  enum tmb_board_now now = TMB_BOARD_NOT_NOW;
  switch (call->kind) {
  case TMB_COLL_BROADCAST:
    if (call->bytes <= TMB_BOARD_SMALL) now = broadcast(&n);
    break;
  case TMB_COLL_ALLREDUCE:
    if (call->bytes <= TMB_BOARD_SMALL && call->reducer.loop) now = all(&n, false);
    break;
  case TMB_COLL_ALLGATHER:
    if (call->bytes <= TMB_BOARD_SMALL) now = all(&n, false);
    break;
  case TMB_COLL_EXCHANGE:
    if (call->bytes * team->head.size <= TMB_BOARD_SMALL) now = all(&n, true);
    break;
  default: break;
  }
  if (now == TMB_BOARD_COMPLETE) {
    b->next++;
    tmb_row_count_read(team, b);
  }
  return now;
}
