/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective over shared memory that is not over, and how its parts act on it.
 *
 * Owns: struct tmb_coll_shared_op. Included by the files of this folder, except shared_now.c, whose
 * collectives are over in their call. Calls: shared_row.h, apply.h. Invariant: guarded by the lock
 * of collectives.
 */
#ifndef TMB_COLL_SHARED_OP_H
#define TMB_COLL_SHARED_OP_H

#include "coll/engine/apply.h"
#include "coll/shared/shared_row.h"

/* Bytes from which on a broadcast is offered where that is possible. Chosen: shorter ones take as
 * long through rows. */
#define TMB_BOARD_OFFER_LEAST (128u << 10)

/* The calls of a client's function for an op, one after another. */
struct tmb_board_client {
  struct tmb_apply apply;
  struct tmb_team *team;
  struct tmb_coll_shared_op *op;
};

struct tmb_coll_shared_op {
  struct tmb_coll_shared_op *next;
  struct tmb_coll_op *owner;             /* this is a BOARD step of it; NULL: of none */
  struct tmb_coll_shared_op *owner_next; /* its next one */
  bool closed;                           /* the owner has not come to this step yet */
  struct tmb_board_client *client; /* NULL without such a function, and until the op is kept */
  struct tmb_op *event;            /* NULL until the call that starts the collective has made one */
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
enum tmb_shower { TMB_SHOWN_BY_ROOT, TMB_SHOWN_BY_OTHERS, TMB_SHOWN_BY_ALL, TMB_SHOWN_BY_NOBODY };

struct tmb_board_kind {
  uint8_t shower;
  bool blocks; /* a chunk holds a block for each member */
  bool reduces;
};
static const struct tmb_board_kind tmb_board_kinds[TMB_COLL_KINDS] = {
    [TMB_COLL_BROADCAST] = {TMB_SHOWN_BY_ROOT, false, false},
    [TMB_COLL_REDUCE] = {TMB_SHOWN_BY_OTHERS, false, true},
    [TMB_COLL_ALLREDUCE] = {TMB_SHOWN_BY_ALL, false, true},
    [TMB_COLL_SCATTER] = {TMB_SHOWN_BY_ROOT, true, false},
    [TMB_COLL_GATHER] = {TMB_SHOWN_BY_OTHERS, false, false},
    [TMB_COLL_ALLGATHER] = {TMB_SHOWN_BY_ALL, false, false},
    [TMB_COLL_EXCHANGE] = {TMB_SHOWN_BY_ALL, true, false},
    [TMB_COLL_REDUCE_SCATTER] = {TMB_SHOWN_BY_ALL, true, true},
    [TMB_COLL_SCAN] = {TMB_SHOWN_BY_ALL, false, true},
    [TMB_COLL_EXSCAN] = {TMB_SHOWN_BY_ALL, false, true},
    [TMB_COLL_SCATTERV] = {TMB_SHOWN_BY_NOBODY, false, false},
    [TMB_COLL_GATHERV] = {TMB_SHOWN_BY_NOBODY, false, false},
    [TMB_COLL_ALLGATHERV] = {TMB_SHOWN_BY_NOBODY, false, false},
    [TMB_COLL_EXCHANGEV] = {TMB_SHOWN_BY_NOBODY, false, false},
    [TMB_COLL_SYNC] = {TMB_SHOWN_BY_NOBODY, false, false},
};

/* Whether members that publish data in a collective of this kind count themselves, and the last
 * one wakes the readers. */
static inline bool tmb_board_meets(uint32_t kind) {
  return tmb_job.wait.crowded && (tmb_board_kinds[kind].shower == TMB_SHOWN_BY_ALL ||
                                  tmb_board_kinds[kind].shower == TMB_SHOWN_BY_OTHERS);
}

static inline uint64_t tmb_board_blocks(const struct tmb_team *team,
                                        const struct tmb_coll_call *call) {
  return tmb_board_kinds[call->kind].blocks ? team->head.size : 1;
}

/* Bytes of a block in a chunk of an op. */
static inline uint64_t tmb_board_length(const struct tmb_coll_shared_op *op, uint64_t chunk) {
  return TMB_MIN(op->unit, op->call.bytes - chunk * op->unit);
}

/* Whether the root says with its first chunk where its data are; equal on all members. */
static inline bool tmb_board_says_where(const struct tmb_coll_shared_op *op) {
  return op->call.kind == TMB_COLL_BROADCAST && op->call.bytes >= TMB_BOARD_OFFER_LEAST;
}

/* Whether a client's function is to be called for an op, or runs. */
static inline bool tmb_board_applies(const struct tmb_coll_shared_op *op) {
  return op->client && (op->client->apply.posted || op->client->apply.running);
}

/* ---- shared_fold.c */

/* The last member that comes makes the result once, for all: the others read its row instead of all
 * rows. Returns the bytes of a chunk of that result; 0: each member makes its own. */
uint64_t tmb_board_folds(const struct tmb_team *team, const struct tmb_coll_call *c);

/* The last member makes the result of all from the data of all, and shows it in its own row. Nobody
 * reads there before. */
void tmb_board_fold(const struct tmb_team *team, const struct tmb_coll_shared *b,
                    const struct tmb_coll_shared_op *op, uint64_t number);

/* Take this member's part of the result. */
void tmb_board_take_folded(const struct tmb_team *team, const struct tmb_coll_shared *b,
                           const struct tmb_coll_shared_op *op, uint32_t last);

/* ---- shared_show.c */

/* Show the next chunk. out wakes: set to true if the readers are to be woken. Returns false when
 * there is no room for the chunk. */
bool tmb_board_show(struct tmb_team *team, struct tmb_coll_shared *b, struct tmb_coll_shared_op *op,
                    bool *wakes);

/* Wake the members that read what a collective shows. */
void tmb_board_wake(const struct tmb_team *team, const struct tmb_coll_call *call);

/* ---- shared_take.c */

/* Take this member's data of the next chunk, as far as they have been shown. Returns whether that
 * is done. */
bool tmb_board_take(struct tmb_team *team, struct tmb_coll_shared *b,
                    struct tmb_coll_shared_op *op);

/* Whether this member reads nothing in rows: the data are offered, and it takes a part of them, or
 * it is not known yet where they are. */
bool tmb_board_reads_there(struct tmb_team *team, struct tmb_coll_shared *b,
                           struct tmb_coll_shared_op *op);

/* Whether all members have read what this one offers. Else it waits, as for room. */
bool tmb_board_let_go(const struct tmb_team *team, struct tmb_coll_shared *b,
                      const struct tmb_coll_shared_op *op);

/* ---- shared.c */

/* Make the rows of a team known to its state. */
void tmb_board_open(struct tmb_team *team, struct tmb_coll_shared *b);

/* An op without contents. */
struct tmb_coll_shared_op *tmb_board_op_new(void);

/* Give an op, whose call is set, its chunks. */
void tmb_board_begin(struct tmb_team *team, struct tmb_coll_shared *b,
                     struct tmb_coll_shared_op *op);

/* Queue an op behind those of its team. */
void tmb_board_append(struct tmb_team *team, struct tmb_coll_shared *b,
                      struct tmb_coll_shared_op *op);

/* Advance the ops of a team in order. Returns how many chunks were shown and read, and how many ops
 * are complete. */
uint64_t tmb_board_advance_team(struct tmb_team *team, struct tmb_coll_shared *b);

/* Take a team without ops out of the list of those that have some. */
void tmb_board_unlist(struct tmb_team *team, struct tmb_coll_shared *b);

#endif
