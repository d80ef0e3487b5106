/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over shared memory, see shared.h.
 *
 * Owns: the ops that wait, a free list of them, the list of their teams (engine/state.h). Called by
 * calls/start.c. Calls: shared_row.h, shared_now.c for small data, core's ops. Reductions go from
 * the highest rank down, the left operand is the new one: one order on every rank and in every run,
 * and a client's function, which overwrites its right operand, never writes to a slot.
 * Long broadcasts from a mapped segment are read there: the root's first chunk says where.
 * Invariants: guarded by the lock of collectives; ops of a team complete in order; nothing here
 * blocks.
 */
#include "coll/shared/shared_meet.h"

#include "base/container/list.h"
#include "base/log.h"
#include "coll/engine/pull.h"
#include "coll/engine/receive.h"
#include "coll/select/tuning.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/status.h"
#include "core/op/thread.h"

#include <stdlib.h>
#include <string.h>

/* PROBES: polls inside a call where a member has a processor to itself. VAIN_LOOKS: empty polls of
 * a member that shares its processor, before it compares the calls of the members. Chosen. */
#define PROBES       16u
#define VAIN_LOOKS   4u

/* Bytes from which on a broadcast is offered where that is possible; and chunks of it that a member
 * reads in one go, with the lock held. Chosen: shorter ones take as long through rows. */
#define OFFER_LEAST  (128u << 10)
#define OFFER_CHUNKS 64u

/* The calls of a client's function for an op, one after another. */
struct client {
  struct tmb_apply apply;
  struct tmb_team *team;
  struct tmb_coll_shared_op *op;
};

struct tmb_coll_shared_op {
  struct tmb_coll_shared_op *next;
  struct tmb_coll_op *owner;             /* this is a BOARD step of it; NULL: of none */
  struct tmb_coll_shared_op *owner_next; /* its next one */
  bool closed;                           /* the owner has not come to this step yet */
  struct client *client; /* NULL without such a function, and until the op is kept */
  struct tmb_op *event;  /* NULL until the call that starts the collective has made one */
  struct tmb_coll_call call;
  struct tmb_call_signature signature;
  uint64_t first; /* number of its first chunk */
  uint64_t unit;  /* most bytes of each block that one chunk carries */
  uint64_t shown,
      read; /* chunks that this member has shown, and read; the collective has `chunks` */
  uint64_t chunks;
  uint32_t members_read; /* members of whose part of chunk number `read` this member has taken its
                            data */
  uint32_t vain;         /* looks in a row at which not all had come */
  bool shows;            /* this member has data for others and writes chunks */
  uint64_t folds;        /* bytes of the result that the last member makes for all; 0: none */
  uint64_t where;        /* address at the root of data that it offers; 0: it shows them */
  bool meets;            /* members that show count themselves at each chunk, see shared_meet.h */
};

/* ---- actions of the kinds */

/* Members that show data: the root, all but the root, all; nobody: not done over shared memory. */
enum shower { ROOT, OTHERS, ALL, NOBODY };

static const struct {
  uint8_t shower;
  bool blocks; /* a chunk holds a block for each member */
  bool reduces;
} kinds[TMB_COLL_KINDS] = {
    [TMB_COLL_BROADCAST] = {ROOT, false, false},    [TMB_COLL_REDUCE] = {OTHERS, false, true},
    [TMB_COLL_ALLREDUCE] = {ALL, false, true},      [TMB_COLL_SCATTER] = {ROOT, true, false},
    [TMB_COLL_GATHER] = {OTHERS, false, false},     [TMB_COLL_ALLGATHER] = {ALL, false, false},
    [TMB_COLL_EXCHANGE] = {ALL, true, false},       [TMB_COLL_REDUCE_SCATTER] = {ALL, true, true},
    [TMB_COLL_SCAN] = {ALL, false, true},           [TMB_COLL_EXSCAN] = {ALL, false, true},
    [TMB_COLL_SCATTERV] = {NOBODY, false, false},   [TMB_COLL_GATHERV] = {NOBODY, false, false},
    [TMB_COLL_ALLGATHERV] = {NOBODY, false, false}, [TMB_COLL_EXCHANGEV] = {NOBODY, false, false},
    [TMB_COLL_SYNC] = {NOBODY, false, false},
};

/* Whether members that publish data in a collective of this kind count themselves, and the last
 * one wakes the readers. */
static bool meets(uint32_t kind) {
  return tmb_job.wait.crowded && (kinds[kind].shower == ALL || kinds[kind].shower == OTHERS);
}

static uint64_t blocks_of(const struct tmb_team *team, const struct tmb_coll_call *call) {
  return kinds[call->kind].blocks ? team->head.size : 1;
}

/* For verbose users: why shared memory is used. */
TMB_COLD static void announce(const struct tmb_coll_shape *c, uint64_t shown) {
  struct tmb_coll_choice choice;
  if (tmb_coll_select_shared(c, tmb_coll_tuning(), shown, &choice)) tmb_coll_announce(c, &choice);
}

bool tmb_coll_shared_takes(struct tmb_team *team, const struct tmb_coll_call *call,
                           struct tmb_call_signature signature) {
  if (!team->shared || kinds[call->kind].shower == NOBODY || call->sync || !call->bytes)
    return false;
  struct tmb_call_signature *known = &tmb_coll_team_of(team)->shared.known;
  if (known->call == signature.call && known->bytes == signature.bytes) return true;
  const uint64_t blocks = blocks_of(team, call);
  if (call->reducer.elem > TMB_SHARED_BYTES || call->reducer.elem * blocks > TMB_SHARED_BYTES ||
      call->bytes > UINT64_MAX / blocks)
    return false;
  const uint64_t shown = call->bytes * blocks;
  const bool pulls = shown > tmb_coll_tuning()->shared_copy_max && tmb_pull_works();
  const struct tmb_coll_shape c = {.kind = call->kind,
                                   .pull = pulls ? 0 : UINT64_MAX,
                                   .size = team->head.size,
                                   .rank = team->head.rank,
                                   .bytes = call->bytes,
                                   .commutes = call->commutes,
                                   .shared = true,
                                   .folds = call->reducer.loop != NULL};
  if (!tmb_coll_select_shared(&c, tmb_coll_tuning(), shown, NULL)) return false;
  if (TMB_UNLIKELY(tmb_coll_tuning()->verbose)) announce(&c, shown);
  if (shown <= TMB_SHARED_BYTES) *known = signature;
  return true;
}

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

/* ---- showing */

static void wake_readers(const struct tmb_team *team, const struct tmb_coll_call *call) {
  if (kinds[call->kind].shower == OTHERS) {
    tmb_row_wake(team, call->root);
    return;
  }
  tmb_row_wake_all(team);
}

/* Bytes of a block in a chunk of an op. */
static uint64_t length_of(const struct tmb_coll_shared_op *op, uint64_t chunk) {
  return TMB_MIN(op->unit, op->call.bytes - chunk * op->unit);
}

/* The last member that comes makes the result once, for all: the others read its row instead of all
 * rows. Returns the bytes of a chunk of that result; 0: each member makes its own. */
static uint64_t folds(const struct tmb_team *team, const struct tmb_coll_call *c) {
  const uint64_t size = team->head.size, all = c->bytes * size;
  if (!meets(c->kind)) return 0;
  switch (c->kind) {
  case TMB_COLL_ALLREDUCE:
    return c->reducer.loop ? TMB_MIN(c->bytes, (uint64_t)TMB_SHARED_BYTES) : 0;
  case TMB_COLL_ALLGATHER: return all <= TMB_SHARED_BYTES ? all : 0;
  case TMB_COLL_EXCHANGE: return all * size <= TMB_SHARED_BYTES ? all * size : 0;
  default: return 0;
  }
}

/* Combine the data of all in a chunk, the highest first. */
static void fold_values(const struct tmb_team *team, const struct tmb_coll_shared *b,
                        const struct tmb_coll_shared_op *op, uint64_t number) {
  const struct tmb_reducer *r = &op->call.reducer;
  const uint64_t length = length_of(op, op->shown);
  char *const to = (char *)op->call.dst + op->shown * op->unit;
  uint32_t member = team->head.size - 1;
  const char *right = tmb_row_data(b->row[member], number, length);
  while (member-- > 0) {
    r->loop(tmb_row_data(b->row[member], number, length), right, to, length / r->elem);
    right = to;
  }
  memcpy(tmb_row_data(b->row[team->head.rank], number, op->folds), to, length);
}

/* Put the data of all side by side. */
static void fold_blocks(const struct tmb_team *team, const struct tmb_coll_shared *b,
                        const struct tmb_coll_shared_op *op, uint64_t number) {
  const uint64_t bytes = op->call.bytes;
  char *const to = op->call.dst;
  for (uint32_t r = 0; r < team->head.size; r++)
    memcpy(to + r * bytes, tmb_row_data(b->row[r], number, bytes), bytes);
  memcpy(tmb_row_data(b->row[team->head.rank], number, op->folds), to, op->folds);
}

/* Put the data of all for each member side by side. */
static void fold_exchange(const struct tmb_team *team, const struct tmb_coll_shared *b,
                          const struct tmb_coll_shared_op *op, uint64_t number) {
  const uint64_t bytes = op->call.bytes, size = team->head.size, all = bytes * size;
  const uint32_t me = team->head.rank;
  char *const to = tmb_row_data(b->row[me], number, op->folds);
  for (uint64_t r = 0; r < size; r++) {
    const char *from = r == me ? op->call.src : tmb_row_data(b->row[r], number, all);
    for (uint64_t i = 0; i < size; i++) memcpy(to + i * all + r * bytes, from + i * bytes, bytes);
  }
}

/* The last member makes the result of all from the data of all, and shows it in its own row. Nobody
 * reads there before. */
static void fold(const struct tmb_team *team, const struct tmb_coll_shared *b,
                 const struct tmb_coll_shared_op *op, uint64_t number) {
  for (uint32_t r = 0; r < team->head.size; r++)
    tmb_row_check(team, op->signature, r, tmb_row_head(b->row[r], number));
  switch (op->call.kind) {
  case TMB_COLL_ALLREDUCE: fold_values(team, b, op, number); break;
  case TMB_COLL_ALLGATHER: fold_blocks(team, b, op, number); break;
  default: fold_exchange(team, b, op, number); break;
  }
}

/* Take this member's part of the result. */
static void take_folded(const struct tmb_team *team, const struct tmb_coll_shared *b,
                        const struct tmb_coll_shared_op *op, uint32_t last) {
  const uint64_t number = op->first + op->read, all = op->call.bytes * team->head.size;
  const char *from = tmb_row_data(b->row[last], number, op->folds);
  char *const to = (char *)op->call.dst + op->read * op->unit;
  tmb_row_check(team, op->signature, last, tmb_row_head(b->row[last], number));
  switch (op->call.kind) {
  case TMB_COLL_ALLREDUCE: memcpy(to, from, length_of(op, op->read)); break;
  case TMB_COLL_ALLGATHER: memcpy(to, from, all); break;
  default: memcpy(to, from + team->head.rank * all, all); break;
  }
}

/* Counts this member among those that have published a chunk. Returns whether it was the last
 * one: then the readers are to be woken. */
static bool meet(const struct tmb_team *team, const struct tmb_coll_shared *b,
                 const struct tmb_coll_shared_op *op, uint64_t number) {
  const bool all = kinds[op->call.kind].shower == ALL;
  if (!all && team->head.rank == op->call.root) return false; /* a reduction in place */
  const bool last_here = all && tmb_shared_last_here(team, TMB_MEETING_COLL, number);
  const bool last = tmb_meet_arrive(b, number, team->head.size - !all);
  tmb_store_rlx(&tmb_job.last_here, last_here && !last);
  if (!last) return false;
  if (op->folds) fold(team, b, op, number);
  tmb_meet_close(b, number, team->head.rank);
  return true;
}

/* Whether the root says with its first chunk where its data are; equal on all members. */
static bool says_where(const struct tmb_coll_shared_op *op) {
  return op->call.kind == TMB_COLL_BROADCAST && op->call.bytes >= OFFER_LEAST;
}

/* Address of the root's data where all members map them, else 0. */
static uint64_t where_mapped(const struct tmb_team *team, const struct tmb_coll_shared_op *op) {
  for (uint32_t r = 0; r < team->head.size; r++)
    if (!tmb_pull_saves(tmb_team_jobrank(team, r), op->call.src, op->call.bytes)) return 0;
  return (uint64_t)(uintptr_t)op->call.src;
}

/* Show the next chunk. out wakes: set to true if the readers are to be woken. Returns false when
 * there is no room for the chunk. */
static bool show(struct tmb_team *team, struct tmb_coll_shared *b, struct tmb_coll_shared_op *op,
                 bool *wakes) {
  const uint64_t number = op->first + op->shown, at = op->shown * op->unit;
  const uint64_t length = length_of(op, op->shown), blocks = blocks_of(team, &op->call);
  struct tmb_shared_row *row = b->row[team->head.rank];
  const bool small = TMB_MAX(length * blocks, op->folds) <= TMB_SHARED_SMALL;
  if (!tmb_row_has_room(team, b, number, small)) {
    b->lacks |= small ? TMB_ROW_WANTS_SMALL : TMB_ROW_WANTS_SLOT;
    return false;
  }
  if (op->shown == 0 && says_where(op)) {
    op->where = where_mapped(team, op);
    memcpy(tmb_row_head(row, number)->small, &op->where, sizeof op->where);
  }
  char *to = tmb_row_data(row, number, length * blocks);
  const char *from = (const char *)op->call.src + at;
  const bool whole = kinds[op->call.kind].reduces || op->folds; /* others read its own block, too */
  const uint64_t mine = whole ? UINT64_MAX : team->head.rank;
  for (uint64_t i = 0; i < blocks && !op->where; i++)
    if (i != mine || blocks == 1)
      tmb_row_copy(to + i * length, from + i * op->call.bytes, length, !whole);
  tmb_row_publish(row, number, op->signature);
  if (!op->meets || meet(team, b, op, number)) *wakes = true;
  if (!tmb_job.wait.crowded) wake_readers(team, &op->call);
  op->shown = op->where ? op->chunks : op->shown + 1;
  return true;
}

/* ---- waiting for members */

/* Address of the data that a member shows for this one in the chunk to be read next; NULL while
 * it has not shown them. */
static const char *chunk_of(const struct tmb_team *team, const struct tmb_coll_shared *b,
                            const struct tmb_coll_shared_op *op, uint32_t member) {
  const bool blocks = kinds[op->call.kind].blocks, mine = member == team->head.rank;
  const uint64_t length = length_of(op, op->read), skip = blocks ? team->head.rank : 0;
  if (mine && !(op->shows && kinds[op->call.kind].reduces))
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
  const uint64_t length = length_of(op, op->read), at = op->read * op->unit;
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

/* A client's function has combined the data of one more member. */
static void applied(struct tmb_apply *apply) {
  const struct client *client = (const struct client *)(const void *)apply;
  client->op->members_read++;
  if (TMB_UNLIKELY(tmb_team_lost(client->team))) tmb_coll_shared_abandon(client->team);
}

static bool applies(const struct tmb_coll_shared_op *op) {
  return op->client && (op->client->apply.posted || op->client->apply.running);
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
                          .then = applied};
  tmb_apply_post(a);
}

/* Combine the data of members, the highest first. */
static bool combine(struct tmb_team *team, struct tmb_coll_shared *b,
                    struct tmb_coll_shared_op *op) {
  const struct tmb_reducer *r = &op->call.reducer;
  const uint64_t length = length_of(op, op->read);
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

/* ---- running */

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

/* Whether this member reads nothing in rows: the data are offered, and it takes a part of them, or
 * it is not known yet where they are. */
static bool reads_there(struct tmb_team *team, struct tmb_coll_shared *b,
                        struct tmb_coll_shared_op *op) {
  if (op->shown && !op->read && says_where(op) && !find_where(team, b, op)) return true;
  if (op->where && op->read < op->chunks) (void)take_offered(team, b, op);
  return op->where;
}

/* Whether all members have read what this one offers. Else it waits, as for room. */
static bool let_go(const struct tmb_team *team, struct tmb_coll_shared *b,
                   const struct tmb_coll_shared_op *op) {
  if (TMB_LIKELY(!op->where) || team->head.rank != op->call.root) return true;
  for (uint32_t r = 0; r < team->head.size; r++)
    if (tmb_load_acq(&b->row[r]->read.word) < op->first + op->chunks) {
      b->lacks |= TMB_ROW_WANTS_SLOT;
      return false;
    }
  return true;
}

/* Take this member's data of the next chunk, as far as they have been shown. Returns whether that
 * is done. */
static bool take(struct tmb_team *team, struct tmb_coll_shared *b, struct tmb_coll_shared_op *op) {
  const uint64_t number = op->first + op->read;
  uint32_t last;
  if (op->meets && needs_others(team, op)) {
    if (!tmb_meet_closed(b, number, &last)) {
      if (++op->vain > VAIN_LOOKS) check_present(team, b, op, number);
      return false;
    }
    op->vain = 0;
    if (op->folds) {
      take_folded(team, b, op, last);
      return true;
    }
  }
  return kinds[op->call.kind].reduces ? combine(team, b, op) : collect(team, b, op);
}

/* Show chunks as far as there is room and read chunks as far as they are shown. Where ranks
 * outnumber processors, readers are woken once for all chunks: woken for the first one, each would
 * sleep again before the next. in head: this is the oldest op of the team, the only one that may
 * read. Returns how many chunks were shown and read. */
static uint64_t advance(struct tmb_team *team, struct tmb_coll_shared *b,
                        struct tmb_coll_shared_op *op, bool head) {
  const uint64_t before = op->shown + op->read;
  if (op->closed) return 0;
  if (head && !op->read) tmb_row_skip(team, b, op->first);
  for (uint64_t seen = UINT64_MAX; seen != op->shown + op->read;) {
    seen = op->shown + op->read;
    bool wakes = false;
    while (op->shown < op->chunks && show(team, b, op, &wakes)) {}
    if (wakes && tmb_job.wait.crowded) wake_readers(team, &op->call);
    if (head && reads_there(team, b, op)) break; /* a part at a time: the lock is held */
    while (head && op->read < op->shown && !applies(op) && take(team, b, op)) {
      op->read++;
      op->members_read = 0;
      tmb_row_count_read(team, b);
    }
  }
  return op->shown + op->read - before;
}

static void begin(struct tmb_team *team, struct tmb_coll_shared *b, struct tmb_coll_shared_op *op) {
  const struct tmb_coll_call *c = &op->call;
  const uint8_t shower = kinds[c->kind].shower;
  const bool root = team->head.rank == c->root;
  op->unit = c->bytes;
  op->chunks = 1;
  if (c->bytes * blocks_of(team, c) > TMB_SHARED_BYTES) {
    const uint64_t most = TMB_SHARED_BYTES / blocks_of(team, c), elem = c->reducer.elem;
    op->unit = elem ? most - most % elem : most;
    op->chunks = (c->bytes + op->unit - 1) / op->unit;
  }
  op->shows =
      shower == ALL || (shower == ROOT) == root || (c->kind == TMB_COLL_REDUCE && c->src == c->dst);
  op->shown = op->shows ? 0 : op->chunks;
  op->read = 0;
  op->members_read = 0;
  op->vain = 0;
  op->where = 0;
  op->meets = meets(c->kind);
  op->folds = folds(team, c);
  op->first = tmb_row_begin(b, op->chunks);
  b->next = op->first + op->chunks;
}

static struct tmb_coll_shared_op *op_new(void) {
  struct tmb_coll_shared_op *op = TMB_LIST_POP(&tmb_colls.shared.free);
  if (!op) op = malloc(sizeof *op);
  if (!op) tmb_fatal("out of memory for a collective");
  return op;
}

static void op_free(struct tmb_coll_shared_op *op) {
  free(op->client);
  TMB_LIST_PUSH(&tmb_colls.shared.free, op);
}

/* Enter the team in the list of those with ops that wait, or take it out. */
static void list(struct tmb_team *team, struct tmb_coll_shared *b) {
  b->next_team = tmb_colls.shared.teams;
  tmb_colls.shared.teams = team;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] + 1);
  if (tmb_job.wait.crowded) tmb_fetch_add_rlx(&tmb_job.crowd_waits, 1);
}

static void unlist(struct tmb_team **place, struct tmb_coll_shared *b) {
  *place = b->next_team;
  tmb_store_rlx(&tmb_job.work[TMB_WORK_COLLS], tmb_job.work[TMB_WORK_COLLS] - 1);
  if (!tmb_job.wait.crowded) return;
  tmb_fetch_sub_rel(&tmb_job.crowd_waits, 1);
  tmb_store_rlx(&tmb_job.last_here, false);
}

static void unlist_found(struct tmb_team *team, struct tmb_coll_shared *b) {
  struct tmb_team **place = &tmb_colls.shared.teams;
  while (*place != team) place = &tmb_coll_team_of(*place)->shared.next_team;
  unlist(place, b);
}

/* The oldest op of a team is complete. */
static void end(struct tmb_coll_shared_op *op) {
  if (op->owner) {
    op->owner->boards = op->owner_next;
    tmb_engine_board_done(op->owner);
  } else {
    tmb_coll_event_done(op->event);
  }
  op_free(op);
}

/* Advance the ops of a team in order. Returns how many chunks were shown and read, and how many ops
 * are complete. */
static uint64_t advance_team(struct tmb_team *team, struct tmb_coll_shared *b) {
  uint64_t done = 0;
  b->lacks = 0;
  for (struct tmb_coll_shared_op *op; (op = b->first) != NULL;) {
    done += advance(team, b, op, true);
    if (op->closed || op->read < op->chunks || !let_go(team, b, op)) break;
    (void)TMB_LIST_POP(&b->first);
    if (!b->first) b->end = &b->first;
    end(op);
    done++; /* a root that others have let go has moved nothing */
  }
  /* Chunks so far ahead of this member's read position have no room, and later ones neither. */
  const uint64_t far = b->read + TMB_SHARED_HEADS;
  for (struct tmb_coll_shared_op *op = b->first; op && op->first < far; op = op->next)
    if (op != b->first) done += advance(team, b, op, false);
  if (tmb_job.wait.crowded) tmb_row_want_room(team, b, b->lacks);
  return done;
}

int tmb_coll_shared_advance(void) {
  uint64_t done = 0;
  for (struct tmb_team **place = &tmb_colls.shared.teams, *team; (team = *place) != NULL;) {
    struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
    done += advance_team(team, b);
    if (b->first)
      place = &b->next_team;
    else
      unlist(place, b);
  }
  return done > INT32_MAX ? INT32_MAX : (int)done;
}

void tmb_coll_shared_abandon(struct tmb_team *team) {
  struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
  struct tmb_coll_shared_op *op = b->first, *running = NULL, *next;
  if (!op) return;
  if (op->client && !tmb_apply_cancel(&op->client->apply) && op->client->apply.running) {
    running = op; /* ends when its function has returned */
    op = op->next;
    running->next = NULL;
  }
  b->first = running;
  b->end = running ? &running->next : &b->first;
  for (; op; op = next) {
    next = op->next;
    if (op->owner) {
      op_free(op);
      continue;
    }
    tmb_op_lose(op->event, TMB_CAT_PUT, tmb_team_lost(team) - 1);
    tmb_up_op_done(op->event, TMB_CAT_PUT);
    op_free(op);
  }
  if (!running) unlist_found(team, b);
}

static void open_shared(struct tmb_team *team, struct tmb_coll_shared *b) {
  if (TMB_LIKELY(b->row != NULL)) return;
  b->row = malloc(team->head.size * sizeof(struct tmb_shared_row *));
  if (!b->row) tmb_fatal("out of memory for a team of %u ranks", team->head.size);
  for (uint32_t r = 0; r < team->head.size; r++) b->row[r] = tmb_shared_row(team, r);
  b->end = &b->first;
}

/* Queue an op behind those of its team. */
static void append(struct tmb_team *team, struct tmb_coll_shared *b,
                   struct tmb_coll_shared_op *op) {
  if (!b->first) list(team, b);
  TMB_LIST_EXTEND(&b->end, op);
}

/* Queue a collective that cannot be completed in its call. Returns the op of its event. */
static struct tmb_op *keep(struct tmb_team *team, struct tmb_coll_shared *b,
                           const struct tmb_coll_shared_op *now) {
  struct tmb_coll_shared_op *op = op_new();
  *op = *now;
  op->event = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_op_name_call(op->event, TMB_WHAT_COLLECTIVE + op->call.kind, team, op->first + 1);
  op->event->rows = true;
  if (kinds[op->call.kind].shower == ROOT) op->event->peer = tmb_team_jobrank(team, op->call.root);
  tmb_up_op_more(op->event, TMB_CAT_PUT);
  if (op->call.reducer.user) {
    op->client = calloc(1, sizeof *op->client);
    if (!op->client) tmb_fatal("out of memory for a collective");
    op->client->team = team;
    op->client->op = op;
    tmb_store_rlx(&op->event->thread, tmb_thread()->id);
  }
  append(team, b, op);
  return op->event;
}

/* Event of a collective that is complete. */
static gex_Event_t done(void) {
  return tmb_job.live_events ? tmb_op_event(tmb_op_new(TMB_OP_SINGLE, 0)) : GEX_EVENT_INVALID;
}

gex_Event_t tmb_coll_shared_start(struct tmb_team *team, const struct tmb_coll_call *call,
                                  struct tmb_call_signature signature) {
  struct tmb_coll_shared *b = &tmb_coll_team_of(team)->shared;
  open_shared(team, b);
  const enum tmb_shared_now state = b->first || meets(call->kind)
                                        ? TMB_SHARED_NOT_NOW
                                        : tmb_coll_shared_now(team, call, signature);
  if (TMB_LIKELY(state == TMB_SHARED_COMPLETE)) return done();
  struct tmb_coll_shared_op now = {.call = *call, .signature = signature};
  begin(team, b, &now);
  if (state == TMB_SHARED_SHOWN) now.shown = now.chunks;
  (void)advance(team, b, &now, !b->first);
  if (!b->first && !tmb_job.wait.crowded && state == TMB_SHARED_NOT_NOW)
    for (uint32_t i = 0; i < PROBES && (now.read < now.chunks || !let_go(team, b, &now)); i++) {
      tmb_cpu_pause();
      (void)advance(team, b, &now, true);
    }
  const bool over = now.read == now.chunks && let_go(team, b, &now);
  return over ? done() : tmb_op_event(keep(team, b, &now));
}

/* ---- steps of schedules */

/* The members of a team in this node, as a team that only this folder knows. */
static struct tmb_team *near_of(struct tmb_team *team) {
  struct tmb_coll_team *ct = tmb_coll_team_of(team);
  if (TMB_LIKELY(ct->near != NULL)) return ct->near;
  const struct tmb_team_group *g = team->group;
  struct tmb_team *near = calloc(1, sizeof *near + g->count * (sizeof(uint32_t) + 1));
  if (!near) tmb_fatal("out of memory for a group of %u members", g->count);
  near->jobrank_table = (uint32_t *)(near + 1);
  near->head.size = g->count;
  near->head.jobrank = near->jobrank_table;
  near->uid = team->uid;
  near->shared = true;
  if (team->shared_row) near->shared_row = (uint8_t *)(near->jobrank_table + g->count);
  for (uint32_t i = 0; i < g->count; i++) {
    const uint32_t rank = g->member[i];
    if (rank == team->head.rank) near->head.rank = i;
    near->jobrank_table[i] = tmb_team_jobrank(team, rank);
    if (team->shared_row) near->shared_row[i] = team->shared_row[rank];
  }
  tmb_coll_team_of(near)->whole = team;
  ct->near = near;
  open_shared(near, &tmb_coll_team_of(near)->shared);
  return near;
}

/* The call that a BOARD step is. */
static struct tmb_coll_call call_of(const struct tmb_coll_op *op, const struct tmb_step *step) {
  return (struct tmb_coll_call){.kind = (enum tmb_coll_kind)step->tag,
                                .root = step->peer,
                                .dst = tmb_coll_place(op, step->to, step->to_at),
                                .src = tmb_coll_place(op, step->from, step->from_at),
                                .bytes = step->bytes,
                                .reducer = kinds[step->tag].reduces ? op->reducer
                                                                    : (struct tmb_reducer){0}};
}

static void reserve(struct tmb_coll_op *owner) {
  struct tmb_team *const near = near_of(owner->team);
  struct tmb_coll_shared *const b = &tmb_coll_team_of(near)->shared;
  const struct tmb_sched *const s = &owner->plan->sched;
  struct tmb_coll_shared_op **last = &owner->boards;
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->step[i].kind != TMB_STEP_BOARD) continue;
    struct tmb_coll_shared_op *op = op_new();
    *op = (struct tmb_coll_shared_op){.call = call_of(owner, &s->step[i]),
                                      .signature = owner->signature,
                                      .owner = owner,
                                      .closed = true};
    begin(near, b, op);
    append(near, b, op);
    *last = op;
    last = &op->owner_next;
  }
}

static void open_step(struct tmb_coll_op *owner) {
  struct tmb_team *const near = tmb_coll_team_of(owner->team)->near;
  struct tmb_coll_shared *const b = &tmb_coll_team_of(near)->shared;
  owner->boards->closed = false;
  (void)advance_team(near, b);
  if (!b->first) unlist_found(near, b);
}

const struct tmb_coll_boards tmb_coll_boards = {reserve, open_step};

void tmb_coll_shared_free(struct tmb_coll_team *ct) {
  if (ct->near) {
    free(tmb_coll_team_of(ct->near)->shared.row);
    free(ct->near->coll);
    free(ct->near);
  }
  free(ct->shared.row);
}
