/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract between core and a conduit: how a rank reaches ranks of other hosts.
 *
 * Owns no state. Included by core, by src/net/defaults and by every conduit. A conduit is one
 * folder, src/net/NAME, that fills one struct tmb_net_ops, either in the library or in a plug-in,
 * which is loaded when it is asked for and links nothing of the library: it calls core through
 * env->up only. Invariants: four slots are mandatory: open, close, am_send, progress; each other
 * one may be left empty, and then core acts as its comment says. Peers are jobranks on other hosts;
 * ranks of this host are reached by the near engine (src/near), never by a conduit. No slot runs
 * handlers except progress. Returns are 0, TMB_AGAIN, or a negative code of base/error.def.
 * Messages that a conduit delivers have been checked: lengths, indices and sources are in range;
 * addresses in this process come from env->up->target.
 */
#ifndef TMB_NET_NET_H
#define TMB_NET_NET_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "net/message.h"

#include <poll.h>

/* Fixed by this interface. */
#define TMB_NET_ABI          16 /* changes with this file; a plug-in of another number is refused */
#define TMB_NET_SECRET_BYTES 32

struct tmb_net; /* a conduit's own state */

/* Numbers that `tombolo why` shows, in memory that other processes of this user may read. Written
 * by the conduit, relaxed; each is a count since open but those from `unacked` on. boot/status.h
 * names them in this order. */
struct tmb_net_stats {
  uint64_t sent, received;      /* messages */
  uint64_t bytes_out, bytes_in; /* payload */
  uint64_t packets_out, packets_in;
  uint64_t retransmits, timeouts;
  uint64_t duplicates, refused; /* dropped: came before; not authentic or malformed */
  uint64_t unacked, queued;     /* now: packets not acknowledged; messages that wait for room */
  uint64_t stalled; /* now: 1 + the peer that owes an answer and was heard least lately; 0: none */
  uint64_t stalled_heard_ns; /* when it last said something */
  uint64_t looked_ns;        /* when this rank last looked for packets */
  uint64_t stalled_count;    /* now: peers that have not answered for 200 ms and more */
  uint64_t heard_ns;         /* when any peer last said something; 0: none has */
};

/* Memory as a network interface sees it. */
enum { TMB_NET_MEMORY_HOST, TMB_NET_MEMORY_CUDA, TMB_NET_MEMORY_ROCR, TMB_NET_MEMORY_ZE };
struct tmb_net_memory {
  uint32_t interface; /* TMB_NET_MEMORY_* */
  uint64_t number;    /* of the device */
};

/* Calls into core. Any thread, unless said otherwise. Filled by core; every conduit gets this
 * table. */
struct tmb_net_up {
  /* A message has arrived: run its handler. From progress only. */
  void (*am)(const struct tmb_am_in *in);
  /* Delivers from a thread of the conduit a message whose handler was one of env->thread_now when
   * it came. While it waits for room for a reply it calls progress with TMB_SERVE_NOTHING. Without
   * locks of the conduit. */
  void (*am_by_thread)(const struct tmb_am_in *in);
  /* Work of the library that goes on while the client computes: in each poll of a thread of the
   * conduit, after am_by_thread, without locks of the conduit. It sends and never waits. Returns
   * TMB_FOUND_ bits: WORK if something was done; BUSY if some waits for room, so that the thread
   * calls again soon. NULL: nothing. */
  int (*thread_work)(void);
  /* Address at which rank `src` may read or write `nbytes` bytes at `addr` of this process; NULL if
   * it may not. Every address that comes from a peer passes here before it is used. */
  void *(*target)(uint32_t src, uint64_t addr, uint64_t nbytes);
  /* The segment that holds `addr`, for conduits that register memory; it stays until the slot
   * segment_freed names it. out memory: the memory around it; NULL: only segments in host memory
   * count. Returns false, with nothing set, if there is none. */
  bool (*segment)(const void *addr, void **base, size_t *nbytes, struct tmb_net_memory *memory);
  /* The signal word at `addr` (checked by target) changes: set or add, with release order, and a
   * thread that waits for it is woken. in op: TMB_SIGNAL_*. */
  void (*signal)(void *addr, uint32_t op, uint64_t value);
  /* Perform the atomic operation of a peer on the word at `addr` (checked by target), as the
   * processor does. in atomic: opcode, dt and operands count. out old: 8 bytes, the value before in
   * the low ones. Returns false, with nothing done, if type or opcode is none. */
  bool (*atomic)(void *addr, const struct tmb_net_atomic *atomic, void *old);
  /* A part of an operation towards `peer` is complete: once for each that was counted, see `put`.
   * op_more counts a further one, before it is sent. Both ignore a NULL `op`, and peers
   * that are lost. */
  void (*op_done)(void *op, uint32_t category, uint32_t peer);
  void (*op_more)(void *op, uint32_t category, uint32_t peer);
  /* Nothing can be sent to or received from `peer` any more. The rank itself: its host is cut off
   * from the others. in why: one clause, for the message. Under the ABORT policy the job ends; does
   * not return then. */
  void (*peer_lost)(uint32_t peer, const char *why);
  /* A setting of config.def, by its TOMBOLO_ name. */
  const char *(*setting)(const char *name);
  int64_t (*setting_int)(const char *name);
  /* print: one line on stderr with the rank before it; fatal: also ends the job. */
  void (*print)(const char *format, ...) __attribute__((format(printf, 1, 2)));
  void (*fatal)(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
  /* A mark in the trace of this process (TOMBOLO_TEST_TRACE_FILE), if there is one. */
  void (*trace)(const char *text);
  /* As fatal, with exit code 2: the user has given a setting a wrong value. */
  void (*wrong_setting)(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
  /* NULL, or while events are recorded (TOMBOLO_TRACE): a packet was "sent", "resent" or
   * "received". in what: constant. */
  void (*packet)(const char *what, uint32_t peer, size_t bytes);
};

/* Arguments of core to a conduit at open. Lifetime: the job. */
struct tmb_net_env {
  uint32_t abi; /* TMB_NET_ABI */
  uint32_t rank, size;
  uint32_t host, hosts;
  const uint32_t *host_of; /* [size] host of each rank, 0..hosts-1 */
  uint64_t job_id;         /* equal on all ranks */
  const uint8_t *secret;   /* [TMB_NET_SECRET_BYTES] secret of the job */
  bool threads;            /* client threads may be inside the library at once */
  /* Internal handlers that am_by_thread may run while the client computes: bit i % 64 of word
   * i / 64 is handler i. thread_handlers has those that always may. thread_now is read for each
   * message; it adds handlers that leave work to the client, while there is room for that. */
  uint64_t thread_handlers[2];
  const uint64_t *thread_now;  /* [2]; atomic, changes at any time; NULL: none */
  bool crowded;                /* ranks of this host outnumber its processors */
  bool launched;               /* by a launcher that serves an MPI in this process, too */
  struct tmb_net_stats *stats; /* to be kept up to date */
  const struct tmb_net_up *up;
  void *ctx;                  /* argument of the two functions below */
  void (*barrier)(void *ctx); /* collective; open, and leave where all ranks are there */
  void (*allgather)(void *ctx, const void *mine, size_t bytes,
                    void *all); /* collective, any length; open only */
};

struct tmb_net_ops {
  uint32_t abi;     /* TMB_NET_ABI */
  const char *name; /* lower case, as in TOMBOLO_CONDUIT */
  bool joins_mpi;   /* the ranks of the job are those of an MPI in this process, once it is open */
  bool whole;       /* each Medium is one message of the network: fewer, longer ones cost less */

  /* ---- mandatory */

  /* Connect to the job; collective. out net: state. Returns 0, or an error that has been printed.
   * May block. */
  int (*open)(const struct tmb_net_env *env, struct tmb_net **net);

  /* Release everything; not collective. Messages that have not been acknowledged may be lost: core
   * asks `drained` before, if it cares. */
  void (*close)(struct tmb_net *net);

  /* Try to send a Short, or a Medium of at most TMB_AM_MEDIUM_BYTES_MAX bytes. (A Long comes here
   * only as the default of am_long sends it: as Mediums to an internal handler.) 0: the payload
   * has been read, and the message will arrive exactly once unless the peer is lost; between two
   * ranks, order need not be kept. TMB_AGAIN: no resources now, call again after progress; requests
   * must not be able to use up the resources of replies. Never blocks, never runs handlers. Any
   * thread, also inside up->am. */
  int (*am_send)(struct tmb_net *net, struct tmb_am_out *out);

  /* Hand up arrived messages and finish local work; bounded. in serve: TMB_SERVE_*: with
   * TMB_SERVE_REPLIES no request is delivered. Returns TMB_FOUND_ bits: WORK if something was done,
   * BUSY if a part was skipped because another thread is at work there. Never sleeps. Any thread,
   * and with TMB_SERVE_REPLIES also inside up->am of a request on that thread. With
   * TMB_SERVE_NOTHING, which only conduits with a thread see, inside up->am_by_thread: nothing is
   * delivered, no completion is reported, and the client has not called; returns an error of
   * base/error.def if the thread is to end. One that has the slot `drained`, and no thread because
   * TOMBOLO_PROGRESS_SHARE is 0, sees it while the client waits in a round of the bootstrap. */
  int (*progress)(struct tmb_net *net, int serve);

  /* ---- optional */

  /* A buffer of TMB_AM_MEDIUM_BYTES_MAX bytes for a message that the client fills itself; sets
   * out->staged. NULL: none is free now. Both or neither; empty: core lends its own memory, and
   * am_send copies. */
  void *(*am_stage)(struct tmb_net *net, struct tmb_am_out *out);
  void (*am_release)(struct tmb_net *net, struct tmb_am_out *out);

  /* Remote memory access. Before the call core has counted one part of (op, category, peer), and
   * with rma->report_local one of (op, local_category, peer). 0: op_done follows once for each:
   * `category` when the operation is complete, for a put when the data are visible at the peer;
   * `local_category` when the source has been read, possibly inside the call. The source of a put
   * must not change before that, and is not read after it. TMB_AGAIN: nothing was done, call again
   * after progress. Never blocks, never runs handlers: data that do not fit now wait in the
   * conduit, which gets nbytes only, not memory that it may keep. TMB_E_UNSUPPORTED: nothing was
   * done, and this one is to be built from messages. rma->resume is not used. Any thread, also
   * inside up->am. Both empty: built from messages by net/defaults. */
  int (*put)(struct tmb_net *net, const struct tmb_rma *rma);
  int (*get)(struct tmb_net *net, const struct tmb_rma *rma);

  /* As put and get, and `signal` changes at the peer once the data are visible there, or have been
   * read. One message, no answer; nbytes may be 0. rma->op may be NULL: nobody asks for completion,
   * and then the source is read before the return: TMB_AGAIN may
   * come between parts, if rma->resume is not NULL, and the call is repeated with the same
   * arguments. Empty, or TMB_E_UNSUPPORTED at the first call: as put and get. */
  int (*put_signal)(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);
  int (*get_signal)(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);

  /* A put or get with device memory on one side or both; else as `put` and `get`. After
   * TMB_E_UNSUPPORTED core copies the data through host memory, as for all if the slot is empty. */
  int (*device_rma)(struct tmb_net *net, const struct tmb_rma *rma, bool is_get);

  /* A Long message: payload to out->dest, then the handler. As am_send, but TMB_AGAIN may also come
   * between parts: out->resume says how far it is, and the call is repeated with the same
   * arguments; of an immediate one only while resume->at is 0. Empty, or TMB_E_UNSUPPORTED at the
   * first call: Mediums, by net/defaults. */
  int (*am_long)(struct tmb_net *net, struct tmb_am_out *out);

  /* Performs one remote operation on a word, atomic with those of the owner's processor and of
   * other ranks. As get; returns TMB_E_UNSUPPORTED, with nothing done, for an opcode or type that
   * it does not do: then, and when empty, it is a message to the owner. */
  int (*atomic)(struct tmb_net *net, const struct tmb_net_atomic *atomic);

  /* Whether the network itself performs all operations of an atomic domain, which need not be
   * atomic towards processors: then core hands every one of them to `atomic` with `offload` set,
   * those on words of this process and of its host too, and that never returns
   * TMB_E_UNSUPPORTED. in dt: gex_DT_t; ops: an OR of gex_OP_t. All ranks give one answer.
   * Empty: false. */
  bool (*offloads)(struct tmb_net *net, uint32_t dt, uint32_t ops);

  /* Descriptors to wait for. Fills at most `max` entries (fd, events) that become ready when
   * progress has something to do, and lowers *timeout_ns to the time until the next timer. After
   * it, progress is called once more before the thread sleeps. Called as well, with max 0, after
   * other calls of the conduit while a thread of this process sleeps: its timer, 0 if something is
   * kept to be delivered, reaches that thread. Returns the number of entries. Any thread; cheap.
   * Empty: a waiting thread polls again after at most a millisecond. */
  uint32_t (*wait_fds)(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns);

  /* Whether all that this rank has sent has been acknowledged. Core calls it, and progress, before
   * close. Empty: true. */
  bool (*drained)(struct tmb_net *net);

  /* Rank `peer` is lost: drop the messages to it, and do not touch its operations' memory after the
   * return. Returns TMB_AGAIN while received messages of the peer are undelivered, then 0. One
   * thread at a time. Empty: 0. */
  int (*lost)(struct tmb_net *net, uint32_t peer);

  /* A segment of this rank is about to be unmapped, or to belong to the client again: keep nothing
   * registered of it. Any thread, not inside up->am. Empty: nothing is registered. */
  void (*segment_freed)(struct tmb_net *net, void *base, size_t nbytes);

  /* Memory outside of segments is to be written by Longs of ranks of other hosts, until conceal.
   * out key: core takes it to those ranks, and they give it to am_long. Returns false if it would
   * be of no use. Both or neither; empty: am_long needs none. Any thread. */
  bool (*expose)(struct tmb_net *net, void *base, size_t nbytes, struct tmb_net_key *key);
  void (*conceal)(struct tmb_net *net, const struct tmb_net_key *key);

  /* One line for `tombolo why` and messages: state towards a peer. Empty: nothing is said. */
  void (*explain)(struct tmb_net *net, uint32_t peer, char *text, size_t bytes);

  /* The process ends with `code`: the last call, in good order, not in signal handlers. May wait
   * some seconds for the others; they may not come. Empty: nothing is done. */
  void (*leave)(struct tmb_net *net, int code);
};

/* The version of this interface and the mandatory slots, of a conduit's table. */
#define TMB_NET_MANDATORY(NAME, OPEN, CLOSE, AM_SEND, PROGRESS)                              \
 .abi = TMB_NET_ABI, .name = (NAME), .open = (OPEN), .close = (CLOSE), .am_send = (AM_SEND), \
 .progress = (PROGRESS)

/* Symbol that a plug-in exports: its table. In ...: the optional slots. */
#define TMB_NET_PLUGIN_SYMBOL "tombolo_net"
TMB_EXPORT extern const struct tmb_net_ops tombolo_net;
#define TMB_NET_TABLE(NAME, OPEN, CLOSE, AM_SEND, PROGRESS, ...) \
 { TMB_NET_MANDATORY(NAME, OPEN, CLOSE, AM_SEND, PROGRESS), __VA_ARGS__ }

/* Whether a handler is one of a set as env->thread_handlers. */
static inline bool tmb_net_handler_in(const uint64_t set[2], uint32_t handler) {
  return handler < 128 && (tmb_load_rlx(&set[handler / 64]) >> (handler % 64) & 1);
}

/* Whether a message that has just come may be handed to up->am_by_thread. in thread_now: of env;
 * NULL: none may. */
static inline bool tmb_net_by_thread(const uint64_t *thread_now, const struct tmb_am_in *in) {
  return thread_now && tmb_net_handler_in(thread_now, in->handler);
}

/* Inside a conduit, beside TMB_SERVE_*: messages that the progress thread may deal with. */
enum { TMB_SERVE_THREAD = 4 };

/* Conduits keep messages that wait in this many queues: requests, replies, and both for the
 * thread. */
enum { TMB_NET_HELD = 4 };

/* Whether the messages of a queue may be served. in serve: TMB_SERVE_* or TMB_SERVE_THREAD. */
static inline bool tmb_net_serves(int serve, int queue) {
  const int each = queue % 2 ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS;
  return serve & (each | (queue / 2 ? TMB_SERVE_THREAD : 0));
}

/* Whether a request may be sent. in used: cost of the requests that the peer has not handled yet;
 * credit: their limit; by_thread: its progress thread serves the request. One request is always
 * possible. Requests to the client use at most seven eighths of the credit (chosen), so
 * they never keep the others from the peer while its client computes. Beyond the credit there is at
 * most one request. */
static inline bool tmb_net_credit(uint32_t used, uint32_t cost, uint32_t credit, bool by_thread) {
  const uint32_t client = credit - credit / 8;
  if (!used || used + cost <= client) return true;
  return by_thread && (used <= client || used + cost <= credit);
}

/* From how many units on a rank returns credit, if no message takes it back before. The rest, below
 * that, never keeps a request from it for good. in most: cost of a request, at most. */
static inline uint32_t tmb_net_credit_due(uint32_t credit, uint32_t most) {
  const uint32_t client = credit - credit / 8;
  const uint32_t room = client > most ? client - most : 1;
  return room < credit / 2 ? room : credit < 2 ? 1 : credit / 2;
}

/* Whether the peer's progress thread always serves a message. */
static inline bool tmb_net_out_by_thread(const uint64_t thread_handlers[2],
                                         const struct tmb_am_out *out) {
  return tmb_net_handler_in(thread_handlers, out->handler);
}

#endif
