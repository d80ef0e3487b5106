/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract between core and a conduit: one table of functions, and a handful of upcalls.
 *
 * Owns no state. Included by core and by every conduit; a conduit is one folder that fills one
 * struct tmb_conduit_ops. Core calls the slots; a conduit calls the upcalls at the end of this
 * file. Invariants: ten slots are mandatory: open, close, am_send, am_stage, am_release, progress,
 * sleep, wake_self, attach and flag_word; of the others an empty one is filled from
 * conduit/defaults, which builds it from active messages, or stays empty where its comment says
 * what that means (tmb_conduit_complete). Peers are
 * jobranks. No slot runs handlers except progress. Returns are 0, TMB_AGAIN, or a negative code
 * from base/error.def.
 */
#ifndef TMB_CONDUIT_CONDUIT_H
#define TMB_CONDUIT_CONDUIT_H

#include "net/message.h"

/* What core tells a conduit at open. Lifetime: the job. */
struct tmb_conduit_env {
  uint32_t rank, size;
  int arena_fd;               /* host-shared memory for rings; empty */
  int segment_fd;             /* host-shared memory for segments; empty */
  bool threads;               /* client threads may be inside the library at once */
  void *ctx;                  /* argument of the two functions below */
  void (*barrier)(void *ctx); /* collective, bootstrap only */
  void (*allgather)(void *ctx, const void *mine, size_t bytes,
                    void *all); /* collective, bytes <= 64 */
};

struct tmb_conduit; /* a conduit's own state */

struct tmb_conduit_ops {
  const char *name; /* lower case, as in TOMBOLO_CONDUIT */

  /* Connect to the job; collective. out c: state. Returns 0 or an error that has been printed. May
   * block. */
  int (*open)(const struct tmb_conduit_env *env, struct tmb_conduit **c);

  /* Release everything; not collective. */
  void (*close)(struct tmb_conduit *c);

  /* Try to send. 0: the payload has been read. TMB_AGAIN: no resources now; out->staged may hold
   * one, call again with the same struct or am_release. Never blocks, never runs handlers. Any
   * thread. */
  int (*am_send)(struct tmb_conduit *c, struct tmb_am_out *out);

  /* Reserve a buffer of TMB_AM_MEDIUM_BYTES_MAX bytes that the target reads in place. out->is_reply
   * is read, out->staged set. Returns its address, or NULL when none is free now. Any thread. */
  void *(*am_stage)(struct tmb_conduit *c, struct tmb_am_out *out);

  /* Give back out->staged of a message that will not be sent. */
  void (*am_release)(struct tmb_conduit *c, struct tmb_am_out *out);

  /* Run what has arrived (tmb_up_am) and finish local work; bounded. in serve: TMB_SERVE_*. Returns
   * TMB_FOUND_ bits: WORK if something was done, BUSY if a part was skipped because another thread
   * is at work there. Never sleeps. Any thread. */
  int (*progress)(struct tmb_conduit *c, int serve);

  /* Sleep until something may have arrived. `last_check` is asked after the intention to sleep is
   * visible to peers and to other threads of this process: for how many nanoseconds at most, 0:
   * there is no sleep, UINT64_MAX: no limit. Returns whether it slept and was woken. */
  bool (*sleep)(struct tmb_conduit *c, uint64_t (*last_check)(void *arg), void *arg);

  /* Wake threads of this process that are in sleep. Cheap when there are none. */
  void (*wake_self)(struct tmb_conduit *c);

  /* Create this rank's segment and map those of all peers; collective, with a barrier. in sizes:
   * [size] bytes, page multiples. out base: own segment; out delta: [size] add to the owner's
   * address, or INTPTR_MIN. Returns 0 or an error that has been printed. */
  int (*attach)(struct tmb_conduit *c, const uint64_t *sizes, void **base, intptr_t *delta);

  /* Set a control word of a peer after all earlier stores: flag[index] = value there, and wake it.
   * Words are written by one peer each. */
  void (*flag_post)(struct tmb_conduit *c, uint32_t peer, uint32_t index, uint64_t value);

  /* This rank's control words. Read with acquire. */
  const uint64_t *(*flag_word)(struct tmb_conduit *c, uint32_t index);

  /* Remote memory access; may send several messages and so run progress. 0: tmb_up_op_done follows
   * `*parts` times (out). */
  int (*put)(struct tmb_conduit *c, const struct tmb_rma *rma);
  int (*get)(struct tmb_conduit *c, const struct tmb_rma *rma);

  /* As put and get, and `signal` changes at the peer afterwards; rma->op may be NULL: nobody asks
   * for completion. A put with rma->resume does not wait and runs no progress: TMB_AGAIN means that
   * the rest is sent by further calls with the same arguments; a conduit without that may wait. */
  int (*put_signal)(struct tmb_conduit *c, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);
  int (*get_signal)(struct tmb_conduit *c, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);

  /* Send a Long whose destination this process has not mapped; contract of tmb_up_am_send. */
  int (*am_long)(struct tmb_conduit *c, struct tmb_am_out *out);

  /* Wake a mapped peer that may be waiting for memory which was just written. */
  void (*notify)(struct tmb_conduit *c, uint32_t peer);

  /* The same for a signal; returns false, with nothing done, where the peer has an index of signals
   * (below): the caller enters the signal in the peer's index, then notifies. Filled where notify
   * is. */
  bool (*notify_unindexed)(struct tmb_conduit *c, uint32_t peer);

  /* Begin to index: on return, whoever writes memory of this process sees it in notify_unindexed,
   * and what others wrote before they could see it is visible here. May be left empty by a conduit
   * that maps nobody. */
  void (*index_begin)(struct tmb_conduit *c);

  /* TMB_INDEX_AREA_BYTES of rank `peer` (this one too) that every mapped rank reaches by load and
   * store, from open to close, zero at first, page aligned; for the index of its signals. May be
   * left empty by a conduit that maps nobody. */
  void *(*index_area)(struct tmb_conduit *c, uint32_t peer);

  /* A word of rank `peer` (this one too) that every mapped rank reaches by load and store, from
   * open to close, zero at first; its use is up to the upper layers. in index: < TMB_SHARED_WORDS.
   * May be left empty: there are none. */
  uint64_t *(*shared_word)(struct tmb_conduit *c, uint32_t peer, uint32_t index);

  /* An area of TMB_SHARED_AREA_BYTES of rank `peer` (this one too) that every mapped rank reaches
   * by load and store, page aligned, zero at first; one that is never touched costs no memory. in
   * index: < shared_areas(c). NULL for a peer that is not mapped. Both or neither may be left
   * empty: there are none. */
  void *(*shared_area)(struct tmb_conduit *c, uint32_t peer, uint32_t index);
  uint32_t (*shared_areas)(struct tmb_conduit *c);

  /* Set by tmb_conduit_complete: each change of a signal of this process is announced, by
   * notify_unindexed or by tmb_up_signal. */
  bool signals_told;

  /* From now on peers may be lost and this rank goes on: keep what that takes. Collective in
   * effect: a barrier follows before a peer may be lost. No other thread is inside. out offset,
   * stride: where ranks sleep in env->arena_fd, as 32-bit futexes that a waker increments; stride
   * 0: a sleep ends by itself within a tenth of a second. May be left empty: nothing is kept. */
  void (*expect_loss)(struct tmb_conduit *c, uint64_t *offset, uint64_t *stride);

  /* Rank `peer` is gone; no message will be sent to it any more. Take back what its messages hold,
   * and see that what it left half done stops nobody. Returns 0 once everything that it had sent
   * has been handed up, TMB_AGAIN before: call again after progress. One thread at a time. May be
   * left empty: 0. */
  int (*lost)(struct tmb_conduit *c, uint32_t peer);
};

#define TMB_FLAG_WORDS        40   /* control words per rank */
#define TMB_SHARED_WORDS      1024 /* shared_word, per rank */
#define TMB_SHARED_AREA_BYTES (148u << 10)
#define TMB_INDEX_AREA_BYTES  (272u << 10)

/* Fill the empty optional slots of `ops` from conduit/defaults. Mandatory slots must be there
 * (tmb_bug otherwise). */
void tmb_conduit_complete(struct tmb_conduit_ops *ops);

/* The conduits of this build: [*count] tables; the first that opens is used unless TOMBOLO_CONDUIT
 * names one. */
const struct tmb_conduit_ops *const *tmb_conduit_list(size_t *count);

/* ---------------------------------------------------------------- upcalls, implemented by core */

/* A message has arrived: runs its handler. Called from progress only. */
void tmb_up_am(const struct tmb_am_in *in);

/* One part of an operation is complete. Any thread. */
void tmb_up_op_done(void *op, uint32_t category);

/* A further part of `op` will complete: called before the part is sent. */
void tmb_up_op_more(void *op, uint32_t category);

/* The same for parts that a message from `peer` will complete: those still outstanding when the
 * peer is lost are completed then, in error. In a pair for each part. Any thread. */
void tmb_up_peer_more(void *op, uint32_t category, uint32_t peer);
void tmb_up_peer_done(void *op, uint32_t category, uint32_t peer);

/* Send, running progress until resources are there. Not from handlers unless out->is_reply. Returns
 * 0, or TMB_AGAIN for an immediate message. */
int tmb_up_am_send(struct tmb_am_out *out);

/* Reserve a message buffer (am_stage), running progress until there is one; NULL only for an
 * immediate message. */
void *tmb_up_am_stage(struct tmb_am_out *out);

/* A signal of this process has been changed by a message. Any thread; from handlers. */
void tmb_up_signal(const void *addr);

/* This rank's control word, to be written by the default of flag_post. */
uint64_t *tmb_up_flag_word(uint32_t index);

/* Handlers of internal messages, index < 128. Set at start-up only. */
typedef void (*tmb_internal_fn)(const struct tmb_am_in *in);
void tmb_up_set_internal(uint8_t index, tmb_internal_fn fn);

#endif
