/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of conduit udp for each peer: windows, gathered operations, transfers, credit, answers.
 *
 * Owns: struct udp_peer and its parts. Included by udp_state.h. A part names the files of ops that
 * read and write it. Invariants: all of it changes under engine->lock; a packet lives in a slot of
 * its peer's window until it is acknowledged; a peer is in the busy list while it has anything in
 * flight, waiting or to be acknowledged; peers that this rank has not talked to have no struct.
 */
#ifndef TMB_UDP_PEER_H
#define TMB_UDP_PEER_H

#include "net/message.h"
#include "net/udp/guard/udp_seal.h"
#include "net/udp/window/udp_mtu.h"
#include "net/udp/window/udp_window.h"

/* The window of packets and its acknowledgements. Chosen; `tombolo bench net`
 * measures their effect together. */
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
/* Delay of an acknowledgement that no wait depends on, where packets follow as soon. Less than the
 * shortest time-out. Chosen from the packets of hydro on two pretended hosts. */
#define UDP_ANSWER_NS     2000000u
#define UDP_ANSWERS_MOST  16u /* counted; halved by a miss */

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
  int32_t args[TMB_AM_ARGS_SENT];
  const uint8_t *src;
  uint8_t *copy;       /* freed at the end, or NULL */
  struct udp_buf *buf; /* of which `copy` is the memory; NULL: it is from malloc */
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
  int32_t args[TMB_AM_ARGS_SENT];
  struct udp_buf *buf; /* Medium: where it is put together; else NULL */
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
 * udp_small.c. */
struct udp_gather {
  struct udp_buf *buf; /* NULL: none is open */
  uint32_t end;        /* of the control part, from the packet's start */
  uint32_t last;       /* where its last record starts */
  uint32_t tail;       /* bytes of the tail behind it */
  uint32_t count;      /* of operations in it */
  uint32_t room;       /* bytes of `buf` */
  uint8_t flags;
  uint64_t tick;                              /* engine->time.tick when the last was added */
  struct udp_pending *pending, *pending_last; /* of the puts in it */
  struct udp_pending *passing; /* acknowledged, but earlier packets are not: signals */
  uint64_t soon_end;   /* packets below this number are acknowledged soon, later ones need not be */
  uint64_t soon_ns;    /* what is not acknowledged by then need not be soon: the peer may wait */
  bool quiet;          /* only signals that nobody awaits the end of are in it */
  bool close;          /* the last packet was full soon after the one before it */
  uint64_t full_ns;    /* when it was, by udp_gather_clock */
  uint64_t full_puts;  /* engine->peers.small_puts then */
  uint64_t small_ns;   /* when the last small put was made, by the same */
  uint64_t small_puts; /* engine->peers.small_puts then */
  uint32_t dense;      /* small puts that came close after one another */
  uint32_t blind;      /* small puts since then for which the clock was not read */
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
  uint64_t rest_ns;   /* time until which datagrams carry everything */
};

/* Since the last packet that requests an acknowledgement. udp_send.c. */
struct udp_asking {
  uint64_t unasked; /* bytes sent since that packet */
  uint64_t asked;   /* its number */
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
  uint64_t delay_ns;        /* of one that nobody waits for: udp_send.c has the table of states */
};

/* Answers of this rank to signals of the peer: udp_send.c has the table of states. Ticks are
 * engine->time.tick, UINT64_MAX: never. */
struct udp_answering {
  uint64_t signal_tick;       /* of the peer's last signal to this rank */
  uint64_t alone_tick;        /* of the last signal whose acknowledgement was sent alone */
  uint64_t delayed_ack_tick;  /* of the acknowledgement that is delayed for the client's answer */
  uint64_t quiet_ns, owed_ns; /* when a packet entered this state, 0: none is in it */
  uint8_t count;              /* signals in a row that were answered, up to UDP_ANSWERS_SURE */
  uint8_t soon; /* packets that followed within UDP_ANSWER_NS, up to UDP_ANSWERS_MOST */
};

/* Whether the peer is there. udp_lost.c, udp_recv.c. */
struct udp_life {
  bool heard;          /* a datagram of the peer has come */
  bool spoken;         /* a datagram or bytes of a connection of the peer have come */
  bool loss_reported;  /* core has been notified */
  uint32_t rail;       /* that its latest packet took */
  uint64_t heard_ns;   /* when its latest packet came */
  uint64_t asked_ns;   /* since when it owes an answer; 0: it owes none */
  uint64_t vain_ns;    /* since when it is asked and acknowledges nothing; 0: it is not */
  uint64_t refused_ns; /* since when the network reports that nobody listens; 0: it does not */
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

#endif
