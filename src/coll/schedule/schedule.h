/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: the actions of one rank in one collective, as data.
 *
 * Owns: struct tmb_step, struct tmb_sched and its builder. Called by the algorithms (alg_*.c),
 * which emit steps, by the engine, which runs them, and by schedule_test.c, which runs them without
 * a network. Calls: libc. A schedule is a list of rounds. In a round the steps READY, COPY, REDUCE,
 * BOARD and SEND run in the order in which they were emitted; then the receives of the round are
 * awaited, in any order. Rounds are private to a rank; messages match by sender and tag.
 * Invariants: a pair of ranks uses a tag once in a collective and direction; a receive and its send
 * name equal numbers of bytes and agree on TMB_STEP_GATED and PULL; a step of no bytes is not
 * emitted; COPY and REDUCE do not write to the source of an earlier SEND of their round.
 */
#ifndef TMB_COLL_SCHEDULE_H
#define TMB_COLL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum tmb_step_kind {
  TMB_STEP_READY,      /* notify `peer` that it may send its message `tag` */
  TMB_STEP_COPY,       /* to = from */
  TMB_STEP_REDUCE,     /* to = from + to, or to + from with TMB_STEP_RIGHT */
  TMB_STEP_BOARD,      /* a collective of the members of a node, over the memory that they share */
  TMB_STEP_SEND,       /* from goes to peer */
  TMB_STEP_RECV,       /* to = message */
  TMB_STEP_RECV_REDUCE /* to = message + from, or from + message with TMB_STEP_RIGHT */
};

enum {
  TMB_STEP_RIGHT = 1,   /* the message, or `from`, is the right operand */
  TMB_STEP_EARLY = 2,   /* `to` may be written from the beginning of the collective */
  TMB_STEP_FREE = 8,    /* `to` may be written from the beginning of the receive's own round */
  TMB_STEP_GATED = 16,  /* the sender waits for the receiver's TMB_STEP_READY; it may offer then */
  TMB_STEP_UNGATED = 4, /* a later segment of a message whose first one is gated */
  TMB_STEP_ASK = 32,    /* READY goes out in the first round, not in the receive's own */
  TMB_STEP_PULL = 64    /* the receiver reads the data in the sender's memory */
};

enum tmb_coll_buf { TMB_BUF_SRC, TMB_BUF_DST, TMB_BUF_TMP, TMB_BUF_COUNT };

/* A place: byte offset in one of the three buffers. */
struct tmb_ref {
  uint32_t buf; /* enum tmb_coll_buf */
  uint64_t at;
};

struct tmb_step {
  uint8_t kind, flags;
  uint8_t to, from; /* enum tmb_coll_buf */
  uint32_t round;
  uint32_t peer; /* rank in the team; BOARD: the root, an index in its node */
  uint32_t tag;  /* BOARD: the kind, enum tmb_coll_kind */
  uint64_t to_at, from_at, bytes;
  uint32_t recv; /* index among the receives; set by tmb_sched_seal */
  uint32_t open; /* receives: round from whose beginning `to` may be written; UINT32_MAX: only after
                    the sends of its own round */
};

struct tmb_sched {
  struct tmb_step *step; /* [count] */
  uint32_t count, capacity;
  uint32_t *recv_step; /* [recvs] index of each receive in `step` */
  uint32_t recvs;
  uint32_t boards;    /* BOARD steps */
  uint32_t round;     /* of the next step emitted */
  uint64_t tmp_bytes; /* size of TMB_BUF_TMP */
  bool failed;        /* out of memory while building */
};

struct tmb_coll_shape;

static inline struct tmb_ref tmb_ref_at(struct tmb_ref ref, uint64_t offset) {
  return (struct tmb_ref){ref.buf, ref.at + offset};
}

/* Reserve part of TMB_BUF_TMP, aligned to 64 bytes. */
struct tmb_ref tmb_sched_tmp(struct tmb_sched *s, uint64_t bytes);

/* Begin a round, unless the current one is still empty. */
void tmb_sched_next(struct tmb_sched *s);

/* Emit steps into the current round. in peer: index in the shape's group; tag: added to the shape's
 * base; flags: TMB_STEP_*. PULL or GATED is set when bytes exceed the shape's limits. */
void tmb_sched_copy(struct tmb_sched *s, struct tmb_ref to, struct tmb_ref from, uint64_t bytes);
void tmb_sched_reduce(struct tmb_sched *s, struct tmb_ref to, struct tmb_ref from, uint64_t bytes,
                      unsigned flags);

/* Emit a collective of the members of this node: a round by itself, equal on all of them. in kind:
 * enum tmb_coll_kind, no V form; root: an index in the node; bytes: of the vector, or of a block.
 */
void tmb_sched_board(struct tmb_sched *s, uint32_t kind, uint32_t root, struct tmb_ref to,
                     struct tmb_ref from, uint64_t bytes);

/* One message, as the schedules of its sender and of its receiver name it. */
struct tmb_msg {
  uint32_t peer, tag;
  struct tmb_ref at;
  uint64_t bytes;
  unsigned flags;
};
void tmb_sched_send(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m);
void tmb_sched_recv(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m);
/* Emit a receive that combines a message with `local` and stores the result at m.at. */
void tmb_sched_combine(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m,
                       struct tmb_ref local);
/* Emit a receive that combines the message with the data at m.at, in place. */
void tmb_sched_recv_reduce(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m);

/* Order the steps of each round (READY, local and SEND, receives) and number the receives. Returns
 * 0, or -1 when memory was short at any time. */
int tmb_sched_seal(struct tmb_sched *s);

void tmb_sched_free(struct tmb_sched *s);

#endif
