/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine that runs schedules, and the state of a collective in flight.
 *
 * Owns: struct tmb_coll_op, struct tmb_coll_plan, struct tmb_coll_team; declarations of engine.c,
 * stash.c, plan.c. Called by entry points (call.c), by progress and by the handlers of internal
 * messages. Calls: core's teams, ops and the conduit's am_send. A collective is one op
 * per member, named by its number in the team; data travel as Medium requests, one per chunk.
 * Invariants: everything here is guarded by tmb_coll_guard; nothing waits under it; the engine
 * sends from initiation, from the progress hook and, to ranks of other hosts, from its counterpart
 * in a thread of the conduit, never from a handler; a client's reduction function runs without the
 * lock, from progress, and its op is left alone meanwhile (apply.h).
 */
#ifndef TMB_COLL_ENGINE_H
#define TMB_COLL_ENGINE_H

#include "coll/engine/apply.h"
#include "coll/engine/device.h"
#include "coll/engine/pull.h"
#include "coll/engine/shared_state.h"
#include "coll/engine/state.h"
#include "coll/reduce/reduce.h"
#include "coll/select/select.h"
#include "core/am/kit.h"
#include "core/job.h"
#include "core/op/op.h"
#include "os/sync/lock.h"

#define TMB_COLL_BUCKETS 32u /* by collective number; power of two */
#define TMB_COLL_PLANS   32u /* cached schedules of a team; power of two */

/* Messages of collectives. DATA: a chunk, or a Long with all data at their place. READY: the
 * receiver waits for data. PLACE: it does, and they may be put where it says. OFFER: the data of a
 * message may be read in the sender's memory. TAKEN: they have been. REFUSED: they cannot be, from
 * the offset on; send them. Arguments: uid(0,1) number(2) target's rank(3) sender's rank(4) tag(5)
 * offset, or bytes of an OFFER (6,7); OFFER has a process number(8) and an address(9,10), too,
 * PLACE whether there is a key(8), an address(9,10) and the key(11,12). */
enum { TMB_COLL_ARGS = 8, TMB_COLL_OFFER_ARGS = 11, TMB_COLL_PLACE_ARGS = 13 };

/* Where data may be written at their receiver. */
struct tmb_coll_target {
  uint64_t address; /* 0: nowhere */
  bool keyed;       /* `key` is the conduit's, for memory around it */
  struct tmb_net_key key;
};

/* Peers to which later segments of a message go from memory to memory, too; at most. */
#define TMB_COLL_ONWARD 4u
struct tmb_coll_onward {
  uint32_t peer;
  uint64_t from_at; /* of the first segment, whose place this is */
  struct tmb_coll_target place;
};

/* A schedule and the shape for which it was made. */
struct tmb_coll_plan {
  struct tmb_sched sched;
  struct tmb_coll_choice choice;
  struct tmb_coll_shape shape;
  uint8_t sync;
  uint32_t refs; /* the cache, a client's plan, and ops */
};

/* Arguments of one call. */
struct tmb_coll_call {
  const char *name; /* public function */
  gex_TM_t tm;
  enum tmb_coll_kind kind;
  gex_Rank_t root;
  void *dst;
  const void *src;
  size_t bytes;               /* of the vector or block */
  struct tmb_reducer reducer; /* elem 0: nothing is reduced */
  bool commutes;
  struct tmb_coll_blocks send, recv;
  uint8_t sync;      /* TMB_COLL_SYNC_IN, OUT */
  uint16_t operands; /* type and operator */
};

/* Synchronisation of GASNet-1 calls. IN: all members have called before data move. OUT: all
 * members' data have moved before the collective is complete on any. */
enum { TMB_COLL_SYNC_IN = 1, TMB_COLL_SYNC_OUT = 2 };

/* Split-phase barrier of GASNet-1 over a team; legacy.c. */
struct tmb_named_barrier {
  uint64_t vote;
  gex_Event_t event;
  bool notified, used;
};

/* A message that came before its receive was posted. */
struct tmb_stash {
  struct tmb_stash *next;
  uint32_t seq, src, tag;
  uint8_t kind;                 /* TMB_KIT_COLL_* */
  int32_t pid;                  /* of an OFFER */
  uint64_t address;             /* of an OFFER */
  struct tmb_coll_target place; /* of a READY that was a PLACE */
  uint64_t at;  /* offset of the payload in the message; OFFER: length of the data offered */
  size_t bytes; /* length of the payload */
  size_t capacity;
  char payload[] TMB_ALIGNED(16);
};

/* Collectives of one member of a team. */
struct tmb_coll_team {
  struct tmb_coll_op *active[TMB_COLL_BUCKETS];
  struct tmb_stash *stash[TMB_COLL_BUCKETS], **stash_end[TMB_COLL_BUCKETS];
  struct tmb_coll_plan *plan[TMB_COLL_PLANS];
  struct tmb_coll_nodes
      *nodes;   /* NULL: all members are on one node, or each on another; made by plan.c */
  uint8_t *far; /* [members] those on other hosts; NULL: none; made by plan.c */
  bool nodes_known, far_known;
  struct tmb_coll_op *held,
      **held_end; /* collectives not begun, because this member is too far ahead of others */
  bool fence;     /* a synchronising collective is in flight */
  struct tmb_named_barrier barrier;
  struct tmb_coll_shared shared;
  struct tmb_team
      *near; /* the members in this node as a team, NULL: not needed yet; made by shared_step.c */
  struct tmb_team *whole;       /* of such a team: the team whose node it is; else NULL */
  uint64_t published, compared; /* collectives of a debug client, see signature.c */
  struct tmb_team *next_published;
  struct tmb_call_log *call_log; /* log for a team without shared memory, or NULL */
};

/* Progress of the BOARD step at pc. OPENS: it is being begun. */
enum tmb_coll_board_at { TMB_BOARD_CLOSED, TMB_BOARD_OPENS, TMB_BOARD_OPEN, TMB_BOARD_DONE };

/* Calls of shared/ that schedules use. reserve: queue the BOARD steps of an op, which begins; in
 * the order in which collectives of the team do, equal on all members of the node. open: begin the
 * next one. Both under the lock of collectives, in normal context. */
struct tmb_coll_boards {
  void (*reserve)(struct tmb_coll_op *op);
  void (*open)(struct tmb_coll_op *op);
};

/* Progress of an op; all zero when it begins. */
struct tmb_coll_at {
  bool runnable, held, live; /* live: sending of `out` has begun */
  bool fence, finished;      /* finished: complete, but still in the run queue */
  uint8_t board;             /* enum tmb_coll_board_at */
  bool pull_refused;         /* `pull` cannot be read; the sender must be notified */
  uint8_t offered, owed;     /* bit per buffer with an OFFER that has not been taken, or data on
                                their way: made in this round, made in earlier ones */
  uint32_t pc;               /* next step */
  uint32_t posted_end;       /* receives below this step may be matched */
  uint32_t waiting;          /* receives between pc and posted_end that are incomplete */
  uint32_t round;            /* of the step at pc */
  uint32_t hint;             /* receive at which the search for a match begins */
  uint32_t untaken;          /* OFFERs that have not been taken, and data on their way */
  uint32_t asking;           /* 1 + index of a receive for which more must be asked for; 0: none */
  uint64_t sent;             /* bytes of the SEND at pc that have been sent */
  uint64_t granted;          /* bytes of the gated SEND at pc that its receiver has asked for */
  struct tmb_coll_target place; /* of all of them at the receiver */
  uint32_t places;              /* that this rank has opened, see direct.c */
  uint32_t onwards;             /* entries of `onward` */
  uint64_t moves;               /* pieces read, and refused ones sent, so far */
  struct tmb_stash *pull;       /* OFFER that is being read, or NULL */
};

struct tmb_coll_op {
  struct tmb_coll_op *next; /* next in its bucket, in the free list or in the list of those held */
  struct tmb_coll_op *next_run;
  struct tmb_team *team;
  struct tmb_coll_plan *plan;
  struct tmb_op *event; /* NULL while the initiating call has not returned */
  uint32_t seq;
  uint32_t chunk; /* bytes of a message at most */
  struct tmb_coll_at at;
  char *base[TMB_BUF_COUNT];
  struct tmb_reducer reducer;
  struct tmb_call_signature signature; /* of the call */
  struct tmb_coll_shared_op *boards;   /* BOARD steps that are not complete, in order */
  uint64_t *got;                       /* [receives] bytes that have come */
  uint32_t got_capacity;
  char **assembly; /* [receives] or NULL: elements larger than a message are put together here */
  size_t tmp_capacity;
  struct tmb_am_out out;
  int32_t args[TMB_COLL_PLACE_ARGS];
  uint64_t pulled; /* bytes read of at.pull; UINT64_MAX: all; the sender must still be notified */
  uint64_t ask_at; /* more is asked for up to here, see at.asking */
  struct tmb_coll_direct *direct; /* data on their way from memory to memory; direct.c */
  struct tmb_coll_onward onward[TMB_COLL_ONWARD]; /* direct.c */
  struct tmb_coll_exposed *exposed; /* places of this rank that the conduit knows; direct.c */
  struct tmb_coll_refused *refused; /* messages whose offer was refused, to be sent; refused.c */
  struct tmb_apply apply; /* the call of a client's function that must be made before op goes on */
  struct tmb_coll_applies { /* place of the operand */
    uint32_t index;         /* receive, UINT32_MAX: the step at at.pc */
    size_t bytes;           /* that have come then */
    bool pulled;            /* they are part of at.pull */
    struct tmb_stash *kept; /* message with an operand, or NULL */
    char *memory;           /* of an operand, to be freed, or NULL */
  } applies;
  char *bounce; /* data read for the client's function */
  size_t bounce_capacity;
};

/* Whether a client's function must be called before an op goes on. */
static inline bool tmb_coll_applies(const struct tmb_coll_op *op) {
  return op->apply.posted || op->apply.running;
}

/* Fill the arguments of a message about the op's step of tag `tag` with team rank `peer`. */
static inline void tmb_coll_args(int32_t args[TMB_COLL_ARGS], const struct tmb_coll_op *op,
                                 uint32_t peer, uint32_t tag, uint64_t at) {
  tmb_kit_pack64(args, op->team->uid);
  args[2] = (int32_t)op->seq;
  args[3] = (int32_t)peer;
  args[4] = (int32_t)op->team->head.rank;
  args[5] = (int32_t)tag;
  tmb_kit_pack64(args + 6, at);
}

/* ---- engine.c; all of it under the lock of collectives */
extern const struct tmb_layer_handler tmb_engine_handlers[]; /* ends with a row of zeros */

/* Start the schedule of a collective on host memory. in plan: NULL to choose and find one. out
 * algorithm: its name, constant. Returns its event; NULL for none, when it is complete and the
 * client is no debug client. */
struct tmb_op *tmb_engine_start(const struct tmb_coll_call *call,
                                struct tmb_call_signature signature, struct tmb_coll_plan *plan,
                                const char **algorithm);

/* Advance the ops whose next step sends. in by_thread: in a thread of the conduit: to ranks of
 * other hosts only. Returns how many moved. */
int tmb_engine_advance(bool by_thread);

/* From shared/: the BOARD step at which an op is, is complete. */
void tmb_engine_board_done(struct tmb_coll_op *op);

/* Whether an op waits for room to send: nobody rings when a ring drains. */
bool tmb_engine_waits(void);
/* Whether collectives wait for a rank of another host. */
bool tmb_engine_waits_far(void);

/* A member of a team that has collectives is lost: complete all in flight, marked as having met a
 * loss. */
void tmb_engine_abandon(struct tmb_team *team);

/* ---- signature.c: whether the members make equal calls */
static inline struct tmb_call_signature tmb_coll_signature(const struct tmb_coll_call *call) {
  const bool v = call->kind >= TMB_COLL_SCATTERV && call->kind <= TMB_COLL_EXCHANGEV;
  return (struct tmb_call_signature){(uint64_t)call->kind << 56 | (uint64_t)call->operands << 32 |
                                         call->root,
                                     v ? 0 : call->bytes};
}

/* Fatal: reports the calls of this rank and of a member of the team. */
_Noreturn void tmb_coll_mismatch(const struct tmb_team *team, struct tmb_call_signature mine,
                                 uint32_t member, struct tmb_call_signature theirs);

/* Debug jobs, teams with shared memory. tmb_coll_publish publishes the signature of a call in this
 * member's row; tmb_coll_compare, from progress, compares the signatures of this member and its
 * neighbour as far as both have published them, and returns how many it compared. */
void tmb_coll_publish(struct tmb_team *team, struct tmb_call_signature signature);
int tmb_coll_compare(void);

/* Debug jobs, other teams: send the signature of a call to the neighbour, which compares. Waits for
 * room; normal context, without the lock. */
void tmb_coll_send_call(struct tmb_team *team, struct tmb_call_signature signature);
extern const struct tmb_layer tmb_signature_layer;

/* A team ends: it is taken out of the list of teams with calls to compare. */
void tmb_coll_forget(const struct tmb_team *team);

/* ---- plan.c */

/* The schedule for a call, with a reference; from the team's cache if `cached`. Fatal when there is
 * no memory. */
struct tmb_coll_plan *tmb_coll_plan_get(struct tmb_team *team, const struct tmb_coll_call *call,
                                        bool cached);
void tmb_coll_plan_release(struct tmb_coll_plan *plan);

/* With TOMBOLO_VERBOSE, on the first rank of a team: print once for each algorithm and reason
 * that it is used. */
void tmb_coll_announce(const struct tmb_coll_shape *c, const struct tmb_coll_choice *choice);

/* ---- state.c */

/* State of a team for its collectives; made by the first call. Fatal when there is no memory. */
struct tmb_coll_team *tmb_coll_team_of(struct tmb_team *team);

/* ---- stash.c */

void tmb_stash_put(struct tmb_coll_team *ct, const struct tmb_am_in *in);
/* Keep a message of `bytes` bytes that came before its receive was open; number, sender, tag and
 * kind are those of `like`. Returns it; the caller fills in the payload. */
struct tmb_stash *tmb_stash_add(struct tmb_coll_team *ct, const struct tmb_stash *like,
                                size_t bytes);
/* Take out the first kept message with the number, sender, tag and kind of `like`; NULL when
 * there is none. */
struct tmb_stash *tmb_stash_take(struct tmb_coll_team *ct, const struct tmb_stash *like);
/* Find the first OFFER of a number for which fits(op, offer); NULL when none. */
struct tmb_stash *tmb_stash_offer(struct tmb_coll_team *ct, struct tmb_coll_op *op,
                                  bool (*fits)(struct tmb_coll_op *op, const struct tmb_stash *m));
void tmb_stash_free(struct tmb_stash *m);

/* The lock of all collectives of this process (state.h). */

TMB_ACQUIRE(tmb_coll_guard) static inline void tmb_coll_lock(void) {
  tmb_lock_acquire(&tmb_coll_guard);
}

TMB_TRY_ACQUIRE(true, tmb_coll_guard) static inline bool tmb_coll_try_lock(void) {
  return tmb_lock_try(&tmb_coll_guard);
}

TMB_RELEASE(tmb_coll_guard) static inline void tmb_coll_unlock(void) {
  tmb_lock_release(&tmb_coll_guard);
}

/* engine.c: release the lock, then the references to teams that complete fences held, which may
 * free the teams. */
void tmb_coll_unlock_drop(void) TMB_RELEASE(tmb_coll_guard);

/* engine.c: free the state of a team that ends. With the lock. */
void tmb_engine_team_free(struct tmb_team *team);

#endif
