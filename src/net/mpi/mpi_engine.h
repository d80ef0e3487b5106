/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the mpi conduit and the functions that its files offer each other.
 *
 * Owns: struct tmb_net of this conduit: one communicator, receives that are posted all the time,
 * buffers for messages in flight. Included by src/net/mpi only. Calls: MPI, env->up. One lock
 * guards all of it and is held around each call of MPI, but not while core gets a message, so
 * MPI_THREAD_SERIALIZED suffices for this library's threads. Rank numbers of the communicator are
 * those of the job. Invariants: every buffer is posted, in flight, held, being delivered or free;
 * receives match messages in the order in which they were started, which is that of `posted`; a
 * request is sent only while the units of those that the peer has not given back stay below the
 * credit, so the memory that a peer must keep for this rank is bounded; requests leave buffers for
 * replies.
 */
#ifndef TMB_NET_MPI_MPI_ENGINE_H
#define TMB_NET_MPI_MPI_ENGINE_H

#include "net/net.h"
#include "os/sync/lock.h"

#include <mpi.h>

#ifdef OPEN_MPI
# define MPI_NAME     "Open MPI"
# define MPI_LAUNCHER "mpirun.openmpi"
#else
# define MPI_NAME     "MPICH"
# define MPI_LAUNCHER "mpiexec.hydra"
#endif

/* Chosen, not measured. */
#define NMPI_ALIGN       16u   /* bytes, of a payload in a message */
#define NMPI_UNIT        256u  /* bytes of a message that count as one unit of credit */
#define NMPI_SMALL_BYTES 1024u /* of a small receive buffer */
#define NMPI_TRANSFERS   32u   /* long transfers in flight */
#define NMPI_MESSAGE_MAX \
 (sizeof(struct nmpi_head) + 4 * TMB_AM_ARGS_SENT + NMPI_ALIGN + TMB_AM_MEDIUM_BYTES_MAX)

/* Begin of every message. The arguments follow, then, at the next multiple of 16, the payload. MPI
 * says which rank has sent it. */
struct nmpi_head {
  uint32_t nbytes;
  uint16_t route;
  uint16_t returned; /* units of credit that the receiver of this message gets back */
  uint8_t kind;      /* enum nmpi_kind */
  uint8_t handler, nargs, is_reply;
  uint8_t zero[4];
};
_Static_assert(sizeof(struct nmpi_head) == NMPI_ALIGN, "arguments are aligned");

enum nmpi_kind {
  NMPI_SHORT = TMB_AM_SHORT,
  NMPI_MEDIUM = TMB_AM_MEDIUM,
  NMPI_CREDIT, /* nothing but `returned` */
  NMPI_PUT,    /* struct nmpi_ask: the data come by a tag of their own */
  NMPI_GET,    /* struct nmpi_ask: the data are to be sent by a tag of their own */
  NMPI_MOVED,  /* the put of slot `route` has come */
  NMPI_LONG,   /* struct nmpi_ask: as NMPI_PUT; the message is to be delivered once all has come */
  NMPI_KINDS
};

/* Message about a long transfer. */
struct nmpi_ask {
  uint64_t addr, nbytes;
  uint64_t signal_addr, signal_value; /* addr 0: no signal */
  uint32_t signal_op, slot;           /* TMB_SIGNAL_*; of the rank that asks */
};

/* A long transfer, between the program's memory on both sides; of this rank (`own`: one of the
 * slots) or of another. */
struct nmpi_transfer {
  struct nmpi_transfer *next; /* in the list that it is in */
  MPI_Request request;
  char *at;    /* the data that MPI has not been given yet */
  size_t left; /* of it */
  uint32_t peer, slot;
  int tag;
  bool own, busy, receives;
  bool moved, come;            /* MPI is through here; own put: and at the peer */
  bool source_reported;        /* own: that the source has been read */
  bool held;                   /* own: a Long, whose sender asks whether the source has been read */
  bool listed, signals;        /* in net->direct.finished; `signal` is to be changed */
  struct tmb_rma rma;          /* own */
  struct tmb_signal signal;    /* another's, as the next */
  struct nmpi_buffer *message; /* NMPI_LONG, to be delivered at the end; NULL: none */
};

/* A message that is being sent or received. */
struct nmpi_buffer {
  struct nmpi_buffer *next; /* in the list that it is in */
  struct nmpi_pool *pool;   /* NULL: from malloc */
  MPI_Request *request;
  char *data;     /* aligned to 64 */
  uint32_t bytes; /* received */
  uint32_t peer;
  bool complete; /* found so, out of order */
};

/* First in, first out. */
struct nmpi_queue {
  struct nmpi_buffer *first, *last;
};

/* Buffers of one size; a piece of memory of their own, which is touched when it is used. */
struct nmpi_pool {
  struct nmpi_buffer *all;
  MPI_Request *request; /* [count] */
  char *memory;
  size_t stride;
  uint32_t count, free_count;
  struct nmpi_buffer *free;
  struct nmpi_queue busy; /* handed to MPI, the oldest first */
};

/* State of a rank of another host that this rank has had to do with. */
struct nmpi_peer {
  uint32_t flying; /* units of requests that have not been given back */
  uint32_t owed;   /* units to be given back */
  uint32_t next;   /* peer + 1 in net->peers.todo; 0: the last */
  bool listed;     /* in net->peers.todo */
  bool lost;       /* nothing is sent to it any more */
};

/* ---- parts of the state; each changes under net->lock */

/* Ranks of other hosts, and to whom credit is to be returned. mpi_send.c. */
struct nmpi_peers {
  struct nmpi_peer **of; /* [size]; NULL: nothing to do with it yet */
  uint32_t todo;         /* peer + 1: credit is to be returned to it */
};

/* Receives, and messages that have come. mpi_inbox.c. */

struct nmpi_inbox {
  struct nmpi_pool receives;
  struct nmpi_queue ready;              /* receives that have completed out of order */
  struct nmpi_queue idle;               /* receive buffers that are to be posted again */
  struct nmpi_queue held[TMB_NET_HELD]; /* that wait for a poll that serves them, see queue_of */
  uint32_t held_count;                  /* of them, in receive buffers */
  uint32_t idle_count;
  uint32_t fruitless; /* looks in a row at the oldest receive alone */
  int *done;          /* [receives.count] for MPI_Testsome, as the next */
  MPI_Status *status;
};

/* Messages that are being sent. mpi_send.c. */
struct nmpi_outbox {
  struct nmpi_pool small, large;
  uint32_t sending; /* buffers in their busy queues */
};

/* Long puts and gets. mpi_direct.c. */
struct nmpi_direct {
  struct nmpi_transfer own[NMPI_TRANSFERS];
  struct nmpi_transfer *moving, *finished,
      *answers;   /* MPI has it; to be reported; to be answered */
  uint32_t count; /* of transfers that are not over */
};

struct tmb_net {
  /* constant once the conduit is open */
  struct tmb_net_env env;
  MPI_Comm comm;
  uint32_t credit;
  uint32_t credit_due;                /* credit that is returned at once */
  size_t direct_bytes;                /* a put or get of so many bytes is not made of messages */
  bool owns;                          /* MPI_Init was called here */
  uint8_t *agreed;                    /* [size] what each rank said last, at open */
  struct tmb_progress_thread *thread; /* NULL: none */

  struct tmb_lock lock; /* of all that follows, and of each call of MPI */
  bool ended;           /* MPI is not used any more */
  bool thread_ends;     /* atomic */
  uint64_t tick;        /* calls of progress by the client; atomic, the thread reads it */
  uint32_t busy_polls;  /* polls of the thread that are still BUSY_NS apart */
  struct nmpi_peers peers;
  struct nmpi_inbox in;
  struct nmpi_outbox out;
  struct nmpi_direct direct;
};

/* ---- mpi_env.c */

/* The thread level that TOMBOLO_MPI_THREAD names; -1: none has this name. in text: may be NULL. */
int nmpi_level(const char *text);
const char *nmpi_level_name(int level);
/* The job cannot go on: a call of MPI has failed. Called with the lock, which it gives back: the
 * end of a job asks `drained`. */
_Noreturn void nmpi_fatal(struct tmb_net *net, const char *call, int code);
_Noreturn void nmpi_no_memory(struct tmb_net *net, const char *what);
/* A call of MPI has failed, on the rank where it happens. Returns false. */
bool nmpi_says(const struct tmb_net *net, const char *call, int code);

/* ---- mpi_pool.c */

/* Make `count` buffers of `bytes` bytes. Returns whether there was memory. */
bool nmpi_pool_make(struct nmpi_pool *pool, uint32_t count, size_t bytes);
void nmpi_pool_free(struct nmpi_pool *pool);
/* A free buffer, if more than `reserve` are free, else NULL. */
struct nmpi_buffer *nmpi_pool_take(struct nmpi_pool *pool, uint32_t reserve);
void nmpi_buffer_put(struct nmpi_buffer *b);
/* A copy in memory from malloc, which lets the original be used again; NULL: there is none. */
struct nmpi_buffer *nmpi_buffer_copy(const struct nmpi_buffer *b);
void nmpi_queue_add(struct nmpi_queue *queue, struct nmpi_buffer *b);
/* The first one; the queue is not empty. */
struct nmpi_buffer *nmpi_queue_take(struct nmpi_queue *queue);

/* ---- mpi_send.c; under the lock, but for make, free and the slot */

/* The table of `size` ranks; buffers for `sends` long messages, and eight times as many short ones.
 * Return whether there was memory. */
bool nmpi_peers_make(struct nmpi_peers *peers, uint32_t size);
void nmpi_peers_free(struct nmpi_peers *peers, uint32_t size);
bool nmpi_outbox_make(struct nmpi_outbox *out, uint32_t sends);
void nmpi_outbox_free(struct nmpi_outbox *out);

struct nmpi_peer *nmpi_peer_of(struct tmb_net *net, uint32_t rank);
uint32_t nmpi_units(const struct nmpi_head *head);
/* Count units of handled requests of `peer`. */
void nmpi_credit_owe(struct tmb_net *net, uint32_t peer, uint32_t units);
/* Return credit that had no room before. Returns whether anything was sent. */
bool nmpi_send_rest(struct tmb_net *net);
/* Free the buffers that MPI has sent. Returns whether there were any. */
bool nmpi_reap(struct tmb_net *net);

/* Send a message of this conduit. in args: [head->nargs]; payload: [head->nbytes]. Returns 0 or
 * TMB_AGAIN. */
int nmpi_send_control(struct tmb_net *net, uint32_t to, struct nmpi_head *head, const void *args,
                      const void *payload);
int nmpi_am_send(struct tmb_net *net, struct tmb_am_out *out);

/* ---- mpi_direct.c; under the lock, but for the slots */

/* Ask MPI about the transfers. Returns whether one has come to its end here. */
bool nmpi_direct_look(struct tmb_net *net);
/* Send the answers that had no room before. Returns whether any was sent. */
bool nmpi_direct_answer(struct tmb_net *net);
/* Report to core the transfers that have ended; releases the lock meanwhile. */
void nmpi_direct_finish(struct tmb_net *net);
/* A message that asks for a transfer has come. */
void nmpi_direct_asked(struct tmb_net *net, const struct nmpi_buffer *b);
void nmpi_direct_moved(struct tmb_net *net, uint32_t peer, uint32_t slot);
/* Forget the transfers with a rank; UINT32_MAX: all. */
void nmpi_direct_lost(struct tmb_net *net, uint32_t peer);

int nmpi_put(struct tmb_net *net, const struct tmb_rma *rma);
int nmpi_get(struct tmb_net *net, const struct tmb_rma *rma);
int nmpi_put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);
int nmpi_get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal);
int nmpi_am_long(struct tmb_net *net, struct tmb_am_out *out);

/* ---- mpi_inbox.c; under the lock, but for make and free */

/* Make the buffers, for so many messages at once. Returns whether there was memory. Then, once
 * there is a communicator, begin to receive: returns a code of MPI. */
bool nmpi_inbox_make(struct nmpi_inbox *in, uint32_t receives);
int nmpi_inbox_begin(struct tmb_net *net);
void nmpi_inbox_free(struct nmpi_inbox *in);
/* Withdraw the receives that MPI has: nothing more comes. */
void nmpi_inbox_stop(struct nmpi_inbox *in);
/* The next buffer in which a message has come, or NULL. */
struct nmpi_buffer *nmpi_inbox_next(struct tmb_net *net);
/* Release the buffer of a handled message; it is posted again when there is time. */
void nmpi_inbox_recycle(struct nmpi_inbox *in, struct nmpi_buffer *b);
/* Post idle buffers, if there are many, or anything else can wait. in idle: it can. */
void nmpi_inbox_post(struct tmb_net *net, bool idle);
/* Keep a message in one of the queues until it may be served; and the oldest of a queue, or NULL.
 */
void nmpi_inbox_hold(struct tmb_net *net, struct nmpi_buffer *b, int queue);
void nmpi_inbox_keep(struct nmpi_inbox *in, struct nmpi_buffer *copy, int queue); /* of a copy */
struct nmpi_buffer *nmpi_inbox_unhold(struct nmpi_inbox *in, int queue);
/* Whether a message of `peer` has come and has not been delivered. */
bool nmpi_inbox_has(const struct nmpi_inbox *in, uint32_t peer);

/* ---- mpi_progress.c */

int nmpi_progress(struct tmb_net *net, int serve);
/* Progress for a client that computes, see net/plugin/progress_thread.h. */
bool nmpi_tend(struct tmb_net *net, uint64_t seen, struct pollfd *fds, uint32_t *count,
               uint64_t *ns);
bool nmpi_drained(struct tmb_net *net);
int nmpi_lost(struct tmb_net *net, uint32_t peer);
void nmpi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes);

/* ---- mpi_end.c */

/* Learn when the program calls MPI_Finalize. Returns 0 or a code of MPI. */
int nmpi_watch_end(struct tmb_net *net);
void nmpi_leave(struct tmb_net *net, int code);

/* ---- mpi_boot.c */

/* Whether the bootstrap has initialised MPI. The conduit finalises it from now on. */
bool nmpi_boot_take(void);

/* ---- mpi_pmi.c */

/* Before MPI_Init: see that MPI finds the other ranks where no launcher of MPI has started this
 * process. Returns whether it can; it has been said why not. And after it. */
bool nmpi_manager_start(struct tmb_net *net);
void nmpi_manager_begun(void);

/* ---- payload of a message that lies in a buffer */

static inline size_t nmpi_payload_at(uint32_t nargs) {
  return (sizeof(struct nmpi_head) + 4 * (size_t)nargs + NMPI_ALIGN - 1) &
         ~(size_t)(NMPI_ALIGN - 1);
}

static inline struct nmpi_head *nmpi_head_of(const struct nmpi_buffer *b) {
  return (struct nmpi_head *)(void *)b->data;
}

/* Where a message waits until it is served: requests and replies, and both for the progress thread,
 * which may deal with them while the client computes. */
static inline int nmpi_queue_of(const struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct nmpi_head *h = nmpi_head_of(b);
  const struct tmb_am_in in = {.category = h->kind, .handler = h->handler};
  return h->is_reply + 2 * tmb_net_by_thread(net->env.thread_now, &in);
}

#endif
