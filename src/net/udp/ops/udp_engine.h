/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the udp conduit: state of a rank, and the calls between its parts.
 *
 * Owns the struct definitions. Included by the parts, each of which calls those above it in this
 * file only: udp_engine (lock, buffers, completions), udp_peer, udp_credit, udp_pending (completion
 * of gathered operations), udp_rail, udp_send (packets out), udp_pieces (of long packets),
 * udp_gather, udp_probe, udp_xfer (long transfers out), udp_message, udp_small, udp_rma,
 * udp_atomic, udp_deliver (messages to core), udp_recv (packets in), udp_lost, udp_progress (the
 * loop), udp_open. All but udp_deliver's hand-over run under engine->lock, and no call into core
 * that may call the engine again does. Invariants: a packet lives in a slot of its peer's window
 * until it is acknowledged; a peer is in the busy list while it has anything in flight, waiting or
 * to be acknowledged; peers that this rank has not talked to have no struct.
 */
#ifndef TMB_UDP_ENGINE_H
#define TMB_UDP_ENGINE_H

#include "net/udp/guard/udp_auth.h"
#include "net/udp/guard/udp_seal.h"
#include "net/udp/io/udp_io.h"
#include "net/udp/window/udp_mtu.h"
#include "net/udp/window/udp_window.h"
#include "os/sync/lock.h"

#include <pthread.h>

/* The window of packets and its acknowledgements. Chosen 2026-11-22 to 2026-11-24; `tombolo bench
 * net` measures their effect together. */
#define UDP_FDS_MAX       8u  /* descriptors to wait for */
#define UDP_OUT_MAX       64u /* packets handed to the network in one call */
#define UDP_REPLY_SLOTS   16u /* of the window, that requests leave to replies */
/* Of a connection: the kernel retransmits; here only packets of a broken one. */
#define UDP_STREAM_RTO_NS 200000000u
#define UDP_XFER_SLOTS    48u        /* of the window, that transfers leave to messages */
#define UDP_COPY_MAX      8192u      /* a put that is copied, so that its source is free at once */
#define UDP_BULK_BYTES    4096u      /* of a payload that belongs to a long transfer */
#define UDP_NO_CATEGORY   UINT32_MAX /* nobody is to be notified */
#define UDP_ACK_EVERY     16u        /* packets */
#define UDP_ASKS          4u         /* for an acknowledgement, a window */
#define UDP_ACK_DELAY_NS  200000u
#define UDP_ANSWERS_SURE  4u /* answered signals, after which the next answer is waited for */
/* For signals whose end nobody awaits. Less than the shortest time-out. Chosen 2026-11-28
 * from the packets of hydro on two pretended hosts. */
#define UDP_ANSWER_NS     2000000u
#define UDP_ANSWERS_MOST  16u /* counted; halved by a miss */
#define UDP_SERVE_THREAD  4   /* beside TMB_SERVE_*: messages of env->thread_now */

/* Memory of a packet. */
struct udp_buf {
  struct udp_buf *next;
  uint32_t size_class;
  TMB_ALIGNED(16) uint8_t data[];
};

/* A transfer that takes packets of its own: long put, parts of a message, answer to a get. */
struct udp_xfer {
  struct udp_xfer *next;
  struct udp_record record; /* template of its parts */
  int32_t args[TMB_AM_ARGS_MAX];
  const uint8_t *src;
  uint8_t *copy; /* freed at the end, or NULL */
  uint64_t total, sent;
  uint64_t last_number; /* of the packet made last */
  uint32_t unacked;     /* packets */
  bool begun;           /* the first packet has been made */
  bool ended;           /* the last one */
  bool held;            /* the caller asks how far it is; freed by him */
  bool complete;        /* held: all acknowledged */
  void *op;             /* for op_done */
  uint32_t category, local_category;
  uint32_t cost; /* answer to a get: credit to give back at the end */
  void *signal;  /* answer to a get: changes at the end, or NULL */
  uint32_t signal_op;
  struct udp_xfer *next_held;
  uint32_t id;
};

/* Operations in one gathered packet that core waits for: `count` parts of (op, category). */
struct udp_pending {
  struct udp_pending *next;
  void *op;
  uint32_t category, count;
  bool signal;     /* complete when all packets up to `number` have been acknowledged */
  uint64_t number; /* of the packet; once it is sent */
};

/* A transfer of which parts have come. */
struct udp_parts {
  struct udp_parts *next;
  uint32_t id;
  uint64_t total, come;
  bool head; /* the part with the action has come */
  struct udp_record action;
  int32_t args[TMB_AM_ARGS_MAX];
  uint8_t *memory; /* Medium: where it is put together */
};

/* A signal that waits until all packets before its own have come. */
struct udp_late {
  struct udp_late *next;
  uint64_t number;
  void *addr;
  uint64_t value;
  uint8_t op;
};

/* A get whose data have not all come. */
struct udp_get {
  void *op; /* NULL and total 0: the entry is free */
  uint8_t *local;
  uint64_t total, come;
  uint32_t category, peer;
  uint32_t next_free;
  uint16_t generation;
  bool used;
};

/* ---- parts of a peer; all of them change under engine->lock */

/* The open packet, in which small operations are gathered. udp_gather.c, udp_pending.c,
 * udp_small.c.
 */
struct udp_gather {
  struct udp_buf *buf; /* NULL: none is open */
  uint32_t end;        /* of the control part, from the packet's start */
  uint32_t tail;       /* bytes of the tail behind it */
  uint32_t count;      /* of operations in it */
  uint8_t flags;
  uint64_t tick;                              /* engine->time.tick when the last was added */
  struct udp_pending *pending, *pending_last; /* of the puts in it */
  struct udp_pending *passing; /* acknowledged, but earlier packets are not: signals */
  uint64_t soon_end; /* packets below this number are acknowledged soon, later ones need not be */
  bool quiet;        /* only signals that nobody awaits the end of are in it */
  uint64_t small_ns; /* when the last small put was made */
  uint32_t dense;    /* small puts that came close after one another */
  uint32_t blind;    /* small puts since then for which the clock was not read */
};

/* Transfers to the peer. udp_xfer.c, udp_rail.c. */
struct udp_bulk {
  struct udp_xfer *first, *last; /* that still have packets to make */
  struct udp_xfer *passing; /* complete, but earlier packets are not: their signals wait there */
  uint64_t copied;          /* bytes of copies in them */
  uint32_t next_id;
  uint32_t rail, run; /* the rail that they take, and bytes on it so far */
  uint64_t bytes;     /* of all transfers */
  bool fills_link;    /* packets have stood in a queue of this host: datagrams fill its link */
  uint32_t breaks;    /* losses of the connection in a row */
  uint64_t break_ns;  /* losses of packets that were sent before belong to the last one */
  uint64_t streamed;  /* bytes that the connection took since then */
  uint64_t rest_ns;   /* datagrams carry everything until then */
};

/* When an acknowledgement was asked for. udp_send.c. */
struct udp_asking {
  uint64_t unasked; /* bytes sent since then */
  uint64_t asked;   /* number of the packet that did */
};

/* Data that come from the peer. udp_recv.c. */
struct udp_coming {
  uint64_t seq; /* of the packet that is being read */
  struct udp_parts *parts;
  struct udp_pieces *pieces; /* packets that come in pieces. udp_pieces.c */
  struct udp_late *late;     /* signals that came before earlier packets, by number */
};

/* Credit of requests. udp_peer.c. */
struct udp_credits {
  uint32_t sent, back;          /* cost of ours at the peer: sent, handled */
  uint32_t handled, advertised; /* cost of the peer's here */
  bool starved;                 /* a request found no credit: the notice of it may be lost */
  uint32_t asks;                /* for that notice */
  uint64_t ask_ns;              /* when to ask */
};

/* The acknowledgement that this rank owes. udp_peer.c, udp_send.c. */
struct udp_owed {
  uint32_t packets;
  bool now;
  uint64_t tick;            /* engine->time.tick when `now` was set */
  uint64_t due_ns, come_ns; /* UINT64_MAX: none owed; when the last numbered packet came */
};

/* Answers of this rank to signals of the peer: udp_send.c has the table of states. Ticks are
 * engine->time.tick, UINT64_MAX: never. */
struct udp_answering {
  uint64_t signal_tick;       /* of the peer's last signal to this rank */
  uint64_t alone_tick;        /* of the last signal whose acknowledgement was sent alone */
  uint64_t delayed_ack_tick;  /* of the acknowledgement that is delayed for the client's answer */
  uint64_t quiet_ns, owed_ns; /* when a signal entered this state, 0: none is in it */
  uint8_t count;              /* signals in a row that were answered, up to UDP_ANSWERS_SURE */
  uint8_t soon; /* packets that followed within UDP_ANSWER_NS, up to UDP_ANSWERS_MOST */
};

/* Whether the peer is there. udp_lost.c, udp_recv.c. */
struct udp_life {
  bool heard;          /* a datagram of it has come */
  bool spoken;         /* something of it has come */
  bool loss_reported;  /* core has been notified */
  uint32_t rail;       /* that its latest packet took */
  uint64_t heard_ns;   /* when it last said anything */
  uint64_t asked_ns;   /* since when it owes an answer, 0: it does not */
  uint64_t refused_ns; /* since when the network says that nobody listens, 0: it does not */
};

/* Keys of the hash, one for each direction; constant. */
struct udp_keys {
  uint64_t out[2], in[2];
};

struct udp_peer {
  uint32_t rank;
  bool busy, lost;
  struct udp_peer *next_busy;
  struct udp_keys key;
  struct udp_seal seal; /* with config.cipher */
  struct udp_mtu mtu;
  struct udp_tx tx;
  uint64_t detect_ns; /* when to look for losses again */
  struct udp_rx rx;
  struct udp_gather gather;
  struct udp_bulk bulk;
  struct udp_asking ask;
  struct udp_coming in;
  struct udp_credits credit;
  struct udp_owed ack;
  struct udp_answering answer;
  struct udp_life life;
};

/* A message to be delivered without the lock. */
struct udp_delivery {
  struct udp_peer *peer;
  uint32_t cost; /* of a request */
  struct tmb_am_in in;
  void *memory; /* freed afterwards, or NULL */
};

/* To be reported without the lock: a completion, a signal of a get that has been served, or that a
 * peer is lost. */
struct udp_done {
  void *op;
  uint32_t category, peer;
  void *addr; /* of a signal, else NULL */
  uint64_t value;
  const char *lost; /* why, else NULL */
  uint32_t more;    /* completions of this kind besides this one */
};

/* Memory that is freed when a batch ends. */
struct udp_kept {
  struct udp_kept *next;
  void *memory;
};

/* Working set of one call of progress. */
struct udp_batch {
  struct udp_batch *next;
  struct udp_datagrams in;
  struct udp_delivery *list;
  uint32_t count, capacity;
  struct udp_kept *kept;
};

/* Messages that came while they were not served: requests inside a handler; all while the client
 * computes. */
struct udp_held {
  struct udp_held *next;
  struct udp_delivery delivery;
  bool by_thread; /* the progress thread may deliver it */
  int32_t args[TMB_AM_ARGS_MAX];
  TMB_ALIGNED(16) uint8_t payload[];
};

/* Fixed: the sizes of udp_engine.c, and the longest packet. */
#define UDP_BUF_CLASSES 4u

struct udp_config {
  uint32_t packet_bytes;     /* of a packet at most, header included */
  uint32_t base_bytes;       /* to begin with; 0: packet_bytes is given */
  bool begins_long;          /* to begin with packet_bytes; base_bytes where those get lost */
  uint32_t credit;           /* cost of requests at a peer that have not been handled, at most */
  struct udp_cipher *cipher; /* NULL: packets are hashed, not encrypted */
  bool hash_payload;
  uint64_t rto_min_ns; /* 0: the window's own */
  bool coalesce;
  uint64_t peer_timeout_ns;
  uint64_t stream_min; /* transfers of so many bytes and more take the connection, if io has one */
  uint32_t stream_bytes; /* of a packet there at most */
};

/* ---- parts of the engine. All of them change under engine->lock, unless a comment says otherwise.
 * */

/* Peers, and the set of those with something to do. udp_peer.c, udp_lost.c. */
struct udp_peers {
  struct udp_peer *
      *of; /* [size] NULL: silent; read without the lock by udp_peer_explain (acquire) */
  struct udp_peer *busy;
  bool dirty;           /* one has something to send */
  bool waits;           /* something is gathered, a transfer not sent whole, or a packet lost */
  uint64_t keep_ns;     /* when to ask silent ones */
  uint64_t survey_ns;   /* since when all hosts are asked whether they hear this rank */
  uint64_t ask_ns;      /* when to ask them again; 0: they are not asked */
  bool cut_off;         /* core has been notified that this rank is lost */
  uint32_t rails_noted; /* bit r: it has been said that rail r is lost */
};

/* The clock of a call, and timers. udp_progress.c; the clock is read by udp_engine_lock. */
struct udp_time {
  uint64_t now_ns;    /* at the start of the call */
  uint64_t next_ns;   /* when a timer is due at the earliest */
  uint64_t tick;      /* calls of progress; read without the lock by the progress thread */
  uint64_t wait_tick; /* tick when the client last asked for descriptors to wait for */
};

/* The progress thread of this conduit. udp.c, udp_progress.c. */
struct udp_helper {
  struct tmb_progress_thread *thread; /* NULL: none; constant once the conduit is open */
  pthread_t self;                     /* while it delivers */
  bool delivers;                      /* it runs handlers, without the lock */
  bool ends;                          /* the conduit closes; atomic */
  int doorbell_fd; /* eventfd: rung when the thread received a message that a sleeping client waits
                    * for; -1 */
  bool doorbell_rung; /* it is readable */
  uint64_t bulk_ns;   /* when a long payload last came; atomic, read without the lock */
};

/* Packets that are made and not handed over yet. udp_send.c. */
struct udp_outbox {
  struct udp_out packet[UDP_OUT_MAX];
  struct udp_slot *slot[UDP_OUT_MAX]; /* NULL: not numbered */
  struct udp_peer *peer[UDP_OUT_MAX];
  uint32_t count;
  struct udp_buf *loose; /* buffers of packets that are not numbered: free after the hand-over */
};

/* Memory to be used again. udp_engine.c, udp_pending.c, udp_deliver.c. */
struct udp_spare {
  struct udp_buf *bufs[UDP_BUF_CLASSES];
  uint32_t buf_count[UDP_BUF_CLASSES];
  struct udp_pending *pending;
  struct udp_batch *batches;
};

/* Result of receiving. udp_progress.c, udp_recv.c. */
struct udp_inbox {
  bool flood;     /* the last receive call found something */
  bool more;      /* and left packets for which no descriptor is readable */
  bool signalled; /* signals have changed since the client's last call of progress */
  bool moved;     /* packets have brought data, credit or acknowledgements since then */
  uint8_t *(*tail_place)(void *placer, const uint8_t *head, uint32_t bytes);       /* udp_recv.c */
  bool (*packet_lends)(const void *placer, const uint8_t *packet, uint32_t bytes); /* udp_recv.c */
};

/* Messages that wait until they are served. udp_deliver.c. */
struct udp_waiting {
  struct udp_held *first, *last;
  uint32_t by_thread; /* of them, those that the progress thread may deliver */
  uint32_t threads;   /* that deliver now, without the lock */
};

/* Completions to be reported once the lock is released. udp_engine.c. */
struct udp_reports {
  struct udp_done *list; /* [capacity] */
  uint32_t count, capacity;
};

/* Gets whose data have not all come. udp_rma.c. */
struct udp_gets {
  struct udp_get *list; /* [count] */
  uint32_t count, free; /* free: index of the first free one; UINT32_MAX: none */
};

/* Transfers whose callers retry. udp_xfer.c. */
struct udp_holds {
  struct udp_xfer *first;
  uint32_t last_id; /* given last */
};

struct tmb_net {
  struct tmb_lock lock;
  /* constant once the conduit is open */
  uint32_t rank, size, hosts;
  const uint32_t *host_of; /* [size] */
  uint64_t job_id;
  const uint8_t *secret;
  struct udp_nh_key *tail_key;
  const struct tmb_net_up *up;
  uint64_t thread_handlers[2]; /* of tmb_net_env, as the next */
  const uint64_t *thread_now;
  struct tmb_net_stats *stats;    /* statistics of the network: atomic */
  struct tmb_net_stats own_stats; /* where the environment has none */
  struct udp_config config;
  struct udp_io io;
  /* under the lock */
  struct udp_time time;
  struct udp_peers peers;
  struct udp_inbox in;
  struct udp_waiting kept;
  struct udp_reports done;
  struct udp_spare spare;
  struct udp_gets gets;
  struct udp_holds held;
  struct udp_helper helper;
  struct udp_outbox out;
};

/* ---- udp_engine.c */

/* Memory of a packet of up to `bytes` bytes. NULL without memory. */
struct udp_buf *udp_buf_get(struct tmb_net *e, uint32_t bytes);
/* Bytes that it holds. */
uint32_t udp_buf_bytes(const struct udp_buf *buf);
void udp_buf_put(struct tmb_net *e, struct udp_buf *buf);

/* Note a completion for op_done, or a signal; udp_engine_unlock reports it. */
void udp_done_add(struct tmb_net *e, const struct udp_done *done);

/* Memory of this process that `p` names; under a core that goes on, NULL if it may not. */
void *udp_target(struct tmb_net *e, struct udp_peer *p, uint64_t addr, uint64_t bytes);

/* Take the lock and read the clock; release it and report completions. The third takes the lock,
 * and time.now_ns is old until the fourth has been called. */
bool udp_engine_try(struct tmb_net *e) TMB_TRY_ACQUIRE(true, e->lock);
void udp_engine_lock(struct tmb_net *e) TMB_ACQUIRE(e->lock);
void udp_engine_lock_blind(struct tmb_net *e) TMB_ACQUIRE(e->lock);
void udp_engine_clock(struct tmb_net *e); /* holds the lock */
void udp_engine_unlock(struct tmb_net *e) TMB_RELEASE(e->lock);

/* ---- udp_peer.c */

/* The peer's state, made if need be. NULL without memory. */
struct udp_peer *udp_peer_get(struct tmb_net *e, uint32_t rank);
void udp_peer_busy(struct tmb_net *e, struct udp_peer *p);
/* An acknowledgement is owed at once: with the next packet, or alone at the next poll. */
void udp_ack_owe(struct tmb_net *e, struct udp_peer *p);

/* ---- udp_peer.c: credit */

/* Cost of a request in credit. */
static inline uint32_t udp_cost(uint64_t nbytes) {
  return 1 + (uint32_t)(nbytes / 256);
}
/* Whether the peer takes a request of this cost now, by its progress thread or its client; if not,
 * it is asked after a while. */
bool udp_credit(struct tmb_net *e, struct udp_peer *p, uint32_t cost, bool by_thread);
/* A request of this cost has been handled. */
void udp_credit_back(struct tmb_net *e, struct udp_peer *p, uint32_t cost);

/* ---- udp_pending.c */

/* One more part of (op, category) lies in the open packet. in signal: it is complete when all
 * packets before are acknowledged, too. */
void udp_pending_add(struct tmb_net *e, struct udp_peer *p, void *op, uint32_t category,
                     bool signal);
/* The open packet gets this number. Returns its list. */
struct udp_pending *udp_pending_take(struct udp_peer *p, uint64_t number);
/* The packet of an entry has been acknowledged. */
void udp_pending_acked(struct tmb_net *e, struct udp_peer *p, struct udp_pending *pending);
/* All packets below tx.una have been acknowledged. */
void udp_pending_passed(struct tmb_net *e, struct udp_peer *p);
/* Forget a list. */
void udp_pending_drop(struct tmb_net *e, struct udp_pending **pending);

/* ---- udp_rail.c */

#define UDP_NO_RAIL    UINT32_MAX
#define UDP_RAIL_ASKED 0x80000000u /* of a probe's id: whether the rail carries this length */

/* The rail of a transfer's next packet, UDP_NO_RAIL: none now; lowers *due_ns to when by time. */
uint32_t udp_rail_bulk(struct tmb_net *e, struct udp_peer *p, uint64_t *due_ns);
/* Whether a rail is the connection. */
static inline bool udp_rail_is_stream(const struct tmb_net *e, uint32_t r) {
  return r == e->io.rails; /* without one no rail has this number */
}
/* Whether the first of the transfers takes the connection: it is long, and the connection works. */
bool udp_rail_streams(const struct tmb_net *e, const struct udp_peer *p);
/* Whether something is in flight through the connection. */
static inline bool udp_rail_flows(const struct tmb_net *e, const struct udp_peer *p) {
  return e->io.has_stream && p->tx.rail[e->io.rails].in_flight;
}
/* The rail of a packet that is retransmitted. */
uint32_t udp_rail_again(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* Whether a window leaves room for a packet that is retransmitted. */
bool udp_rail_open(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* A packet that the connection had is retransmitted. */
void udp_rail_broke(const struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot);
/* Nothing of a rail has been acknowledged for its time-out. */
void udp_rail_timeout(struct tmb_net *e, struct udp_peer *p, uint32_t r);
/* Whether it is to be asked now whether rail `r` carries packets of the length that is used. */
bool udp_rail_ask(struct tmb_net *e, struct udp_peer *p, uint32_t r);
/* The length of packets has changed. */
void udp_rail_set_bytes(const struct tmb_net *e, struct udp_peer *p);
/* A rail carries packets of this length. */
void udp_rail_answered(struct udp_peer *p, uint32_t r, uint32_t bytes);

/* ---- udp_resend.c */

/* Send a packet again that was not acknowledged in time. */
void udp_packet_resend(struct tmb_net *e, struct udp_peer *p, uint64_t number);

/* ---- udp_send.c */

/* Make a numbered packet of the bytes in `buf` and at `tail`, and send it. There is room. */
struct udp_slot *udp_packet_send(struct tmb_net *e, struct udp_peer *p, const struct udp_out *out,
                                 struct udp_buf *buf, uint32_t control, uint8_t flags);
/* Send a numbered packet again as it is, where `out` says, with the newest acknowledgement. */
void udp_packet_again(struct tmb_net *e, struct udp_peer *p, struct udp_slot *slot, uint64_t number,
                      struct udp_out *out);
/* Send an acknowledgement alone. */
void udp_ack_send(struct tmb_net *e, struct udp_peer *p, uint8_t flags);
/* Send a packet without a number, whose control part ends at `end`; `buf` is freed after it. */
void udp_loose_send(struct tmb_net *e, struct udp_peer *p, struct udp_buf *buf,
                    const struct udp_out *made, uint32_t end);
/* The client has answered a signal that had been acknowledged alone. */
void udp_ack_answered(struct udp_peer *p);
/* A signal has come whose end nobody awaits. */
void udp_ack_quiet(struct tmb_net *e, struct udp_peer *p);
/* Whether a due acknowledgement for a signal waits for the client's answer, until its next poll. */
bool udp_ack_delayed(const struct tmb_net *e, struct udp_peer *p);
/* The due acknowledgement is about to be sent alone. */
void udp_ack_alone(const struct tmb_net *e, struct udp_peer *p);
/* Hand over the packets that were made. */
void udp_out_flush(struct tmb_net *e);

/* A packet that is about to be sent. */
struct udp_ask {
  uint32_t rail;
  uint64_t bytes;
  bool stops; /* nothing more may be sent after it for now, whatever its rail's window says */
  bool ends;  /* somebody waits until all has come */
};

/* Whether it asks for an acknowledgement: at an end, UDP_ASKS times a window, and where the window
 * is full, unless an answer is in flight: else a full window would be acknowledged, and refilled,
 * packet by packet. */
bool udp_packet_asks(struct udp_peer *p, const struct udp_ask *ask);

/* ---- udp_pieces.c */

/* Whether a packet that is retransmitted on `rail` is too long for it, or may be: it was lost
 * often.
 */
bool udp_pieces_due(const struct tmb_net *e, const struct udp_peer *p, const struct udp_slot *slot,
                    uint32_t rail);
/* Send a packet in pieces, on slot->rail. */
void udp_pieces_send(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot,
                     uint64_t number);
/* A piece of packet `number` has come, which is new. Returns the packet if it is whole, else NULL;
 * it lives until the batch ends, and its header is not checked. */
uint8_t *udp_pieces_take(struct tmb_net *e, struct udp_batch *b, struct udp_peer *p,
                         const struct udp_record *r, uint64_t number);
void udp_pieces_free(struct udp_peer *p);

/* ---- udp_gather.c */

#define UDP_QUIET 0x80u /* beside UDP_ACK_NOW: a signal whose end nobody awaits */

/* Whether a packet is in flight whose acknowledgement is worth waiting for. */
static inline bool udp_gather_waits(const struct udp_peer *p) {
  return p->tx.una < p->gather.soon_end;
}
/* Add a record with its payload to the open packet; sets UDP_TAIL where it must. in flags:
 * UDP_ACK_NOW, UDP_QUIET; reserve: slots of the window to leave free. Returns false if there is no
 * room now.
 */
bool udp_gather(struct tmb_net *e, struct udp_peer *p, struct udp_record *r, uint8_t flags,
                uint32_t reserve);
/* Add a record without a tail to the open packet, which there is. Sends nothing and needs no clock.
 * Returns false, with nothing done, if it does not fit. */
bool udp_gather_join(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);
/* Send the open packet, if the window allows. Returns false if not. */
bool udp_gather_flush(struct tmb_net *e, struct udp_peer *p, uint32_t reserve);
/* Send it if nothing is in flight, else let it wait for company. */
void udp_gather_settle(struct tmb_net *e, struct udp_peer *p);
/* Payload of one packet at most, with such a record. */
uint32_t udp_payload_max(const struct udp_peer *p, const struct udp_record *r);
/* Payload, if packets have so many bytes at most. */
uint32_t udp_payload_of(uint32_t packet_bytes, const struct udp_record *r);

/* ---- udp_probe.c */

/* Go on with the search for the length of packets. Returns when to call again. */
uint64_t udp_probe_push(struct tmb_net *e, struct udp_peer *p);
/* Answer a probe; take an answer. */
void udp_probe_take(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);

/* ---- udp_xfer.c */

struct udp_xfer *udp_xfer_new(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r,
                              const void *src, uint64_t total);
/* Copy the source, so that it is free. */
void udp_xfer_copy(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
void udp_xfer_add(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* Make packets of the transfers of `p` while the windows allow. Returns when to go on, for pacing;
 * UINT64_MAX: not by time. */
uint64_t udp_xfer_push(struct tmb_net *e, struct udp_peer *p);
/* A packet of it has been acknowledged. */
void udp_xfer_acked(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* All packets below tx.una have been acknowledged: signals that waited for that have changed. */
void udp_xfer_passed(struct tmb_net *e, struct udp_peer *p);
/* Held: mark it complete; else free it. */
void udp_xfer_free(struct tmb_net *e, struct udp_peer *p, struct udp_xfer *x);
/* A transfer that its caller asks for. Returns NULL if it is none. */
struct udp_xfer *udp_xfer_held(struct tmb_net *e, uint32_t id);
void udp_xfer_hold(struct tmb_net *e, struct udp_xfer *x);
void udp_xfer_unhold(struct tmb_net *e, struct udp_xfer *x);

/* ---- udp_message.c */

int udp_am_send(struct tmb_net *e, struct tmb_am_out *out);

/* ---- udp_small.c */

/* Gather a put of up to UDP_INLINE_MAX bytes; its source is free on return. in r: the record
 * without its payload. Returns 0, or TMB_AGAIN if the window has no room. */
int udp_small_put(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                  const struct tmb_rma *rma);
/* A put of a burst that the open packet has room for joins it. The clock need not have been read.
 * Returns whether it was one; if not, nothing is done. */
bool udp_small_join(struct tmb_net *e, struct udp_record *r, const struct tmb_rma *rma);
/* Whether a put may be gathered: it is short, fits into a packet, and no transfer waits. */
static inline bool udp_small_is(const struct udp_peer *p, const struct tmb_rma *rma) {
  const uint32_t most = TMB_MIN(p->mtu.bytes, UDP_HEADER_BYTES + UDP_RECORD_MAX);
  return rma->nbytes <= most - (UDP_HEADER_BYTES + UDP_RECORD_MAX - UDP_INLINE_MAX) &&
         !p->bulk.first;
}
/* Send the open packet, unless more puts are likely to come at once. */
void udp_small_settle(struct tmb_net *e, struct udp_peer *p);

/* ---- udp_rma.c */

int udp_put(struct tmb_net *e, const struct tmb_rma *rma);
int udp_get(struct tmb_net *e, const struct tmb_rma *rma);
int udp_put_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal);
int udp_get_signal(struct tmb_net *e, const struct tmb_rma *rma, const struct tmb_signal *signal);
int udp_am_long(struct tmb_net *e, struct tmb_am_out *out);
/* A get has come from `p`; data of a get of ours. */
void udp_get_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);
void udp_get_end(struct tmb_net *e, uint32_t index);
/* Without r->payload: they lie in their place. Returns false if they are of none of ours. */
bool udp_get_data(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);
/* Make an entry for a get or the value of an atomic operation, and send its record, whose id is
 * set. Returns 0, or TMB_AGAIN without credit or room. */
int udp_get_ask(struct tmb_net *e, struct udp_peer *p, struct udp_record *r,
                const struct udp_get *get);
/* Where data of a get belong, or NULL. */
uint8_t *udp_get_place(struct tmb_net *e, const struct udp_peer *p, const struct udp_record *r);

/* ---- udp_atomic.c */

int udp_atomic(struct tmb_net *e, const struct tmb_net_atomic *atomic);
/* One has come from `p`. */
void udp_atomic_serve(struct tmb_net *e, struct udp_peer *p, const struct udp_record *r);

/* ---- udp_deliver.c */

void udp_batch_free(struct udp_batch *b);
struct udp_batch *udp_batch_get(struct tmb_net *e);
void udp_batch_put(struct tmb_net *e, struct udp_batch *b);
/* Empty a batch: free its memory. */
void udp_batch_end(struct udp_batch *b);
/* Free `memory` when the batch ends. */
void udp_batch_keep(struct tmb_net *e, struct udp_batch *b, void *memory);
/* A copy of a datagram's rest, aligned; lives until the batch ends. */
uint8_t *udp_batch_copy(struct tmb_net *e, struct udp_batch *b, const uint8_t *data,
                        uint32_t bytes);
/* Note something to be delivered; the memory behind its pointers lives until the end of the batch.
 * */
void udp_deliver_add(struct tmb_net *e, struct udp_batch *b, const struct udp_delivery *d);
/* Take messages that were kept before and are served now. Returns whether there may be more of it:
 * then nothing is to be received before it. */
bool udp_deliver_kept(struct tmb_net *e, struct udp_batch *b, int serve);
/* Keep the messages that are not served. in serve: TMB_SERVE_*, 0: nothing. */
void udp_deliver_hold(struct tmb_net *e, struct udp_batch *b, int serve);
/* Hand up, without the lock. */
void udp_deliver_run(const struct udp_batch *b, void (*am)(const struct tmb_am_in *in));
/* Give the credit of delivered messages back; with the lock. */
void udp_deliver_credit(struct tmb_net *e, struct udp_batch *b);

/* ---- udp_recv.c */

/* Take the packets of a datagram in. in data: [bytes], aligned to 8. */
void udp_datagram_take(struct tmb_net *e, struct udp_batch *b, uint8_t *data, uint32_t bytes);
/* Process the received datagrams. */
void udp_batch_take(struct tmb_net *e, struct udp_batch *b);
/* See udp_datagrams.lends: a long packet whose records are put in place while the lock is held. in
 * placer: the engine. */
bool udp_packet_lends(const void *placer, const uint8_t *packet, uint32_t bytes);
/* Where the tail of a packet belongs, see udp_datagrams.place. NULL, too, if the packet is not
 * authentic, has come before, or has a hash or tag that covers its tail. in placer: the engine. */
uint8_t *udp_tail_place(void *placer, const uint8_t *head, uint32_t bytes);

/* ---- udp_lost.c */

void udp_peer_free(struct tmb_net *e, struct udp_peer *p);
int udp_peer_lost(struct tmb_net *e, uint32_t rank);
/* A packet has to be answered; asks counts from the first. Reports a lost peer to core. */
void udp_peer_asked(struct tmb_net *e, struct udp_peer *p);
/* Ask peers that have been silent for long whether they are there. */
void udp_peer_keep(struct tmb_net *e);
void udp_peer_explain(struct tmb_net *e, uint32_t rank, char *text, size_t bytes);

/* ---- udp_progress.c */

int udp_progress(struct tmb_net *e, int serve);
uint32_t udp_wait_fds(struct tmb_net *e, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns);
bool udp_drained(struct tmb_net *e);
/* Do the work of the client's calls, except to deliver, if it has not called since `tick`. Lowers
 * *ns to the next timer. Returns whether it did. */
bool udp_tend(struct tmb_net *e, uint64_t tick, uint64_t *ns);
/* Whether long transfers are in progress. A hint. */
bool udp_busy_transfers(const struct tmb_net *e);

/* Send for the busy peers, and find the next timer. in flush: also open packets that wait for more
 * operations; acks: also acknowledgements alone. */
void udp_push_all(struct tmb_net *e, bool flush, bool acks);

/* ---- udp_open.c */

/* in env: as at open, without its functions; config, io: copied. Returns the engine or NULL. */
struct tmb_net *udp_engine_new(const struct tmb_net_env *env, const struct udp_config *config,
                               const struct udp_io *io);
void udp_engine_free(struct tmb_net *e);

#endif
