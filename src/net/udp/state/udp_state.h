/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a rank in conduit udp: struct tmb_net, its parts, and the working set of a poll.
 *
 * Owns: their types. Included by ops/udp_engine.h, which has the calls. A part names the files of
 * ops that read and write it. Invariants: all of it changes under tmb_net.lock, unless a comment
 * says otherwise; memory of a batch lives until the batch ends.
 */
#ifndef TMB_UDP_STATE_H
#define TMB_UDP_STATE_H

#include "net/net.h"
#include "net/udp/guard/udp_auth.h"
#include "net/udp/io/udp_io.h"
#include "net/udp/state/udp_peer.h"
#include "os/sync/lock.h"

#include <pthread.h>

/* A message to be delivered without the lock. */
struct udp_delivery {
  struct udp_peer *peer;
  uint32_t cost; /* of a request */
  struct tmb_am_in in;
  void *memory;        /* freed afterwards, or NULL */
  struct udp_buf *buf; /* given back afterwards, or NULL */
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
  uint8_t *copies; /* [copies_left] of a kept block, for copies of packets */
  uint32_t copies_left;
};

/* Messages that came while they were not served: requests inside a handler; all while the client
 * computes. */
struct udp_held {
  struct udp_held *next;
  struct udp_delivery delivery;
  bool by_thread; /* the progress thread may deliver it */
  int32_t args[TMB_AM_ARGS_SENT];
  TMB_ALIGNED(16) uint8_t payload[];
};

/* Fixed: the sizes of udp_engine.c, and the longest packet. */
#define UDP_BUF_CLASSES 6u

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

/* ---- parts of the engine. They change under engine->lock, unless a comment says otherwise. */

/* Peers, and the set of those with something to do. udp_peer.c, udp_lost.c. */
struct udp_peers {
  struct udp_peer *
      *of; /* [size] NULL: silent; read without the lock by udp_peer_explain (acquire) */
  struct udp_peer *busy;
  uint64_t small_puts;  /* to all of them. udp_small.c, as the next */
  uint64_t full_ns;     /* when the last one found no room, by udp_gather_clock; 0: it found some */
  bool dirty;           /* one has something to send */
  bool waits;           /* something is gathered, a transfer not sent whole, or a packet lost */
  uint64_t heard_ns;    /* when any of them last said something; 0: none has */
  uint64_t keep_ns;     /* time of the next question to silent peers */
  uint64_t survey_ns;   /* since when all hosts are asked whether they hear this rank */
  uint64_t ask_ns;      /* time of the next question to them; 0: none is due */
  bool cut_off;         /* core has been notified that this rank is lost */
  uint32_t rails_noted; /* bit r: it has been said that rail r is lost */
};

/* The clock of a call, and timers. udp_progress.c; the clock is read by udp_engine_lock. handed_ns:
 * udp_gather.c. */
struct udp_time {
  uint64_t now_ns;    /* at the start of the call */
  uint64_t handed_ns; /* all the time that was no client's: see udp_gather_clock */
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
  uint32_t tails;        /* bytes of those that have a tail */
  bool full;             /* the system has not taken all of those that were handed over last */
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

#endif
