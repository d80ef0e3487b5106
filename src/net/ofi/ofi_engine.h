/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the ofi conduit and the functions that its files offer each other.
 *
 * Owns: struct tmb_net of this conduit: one endpoint of type FI_EP_RDM, one completion queue, one
 * address vector. Included by src/net/ofi only. Calls: libfabric by the table of ofi_calls.h,
 * env->up. One lock guards all of it, so libfabric is asked for FI_THREAD_DOMAIN; it is not held
 * while core is called (ofi_hand_up, op_done). Invariants: every buffer is posted, in flight, held,
 * being delivered or free; a request is sent only while the units of those that the peer has not
 * given back stay below the credit, so the memory that a peer must keep for this rank is bounded;
 * requests leave buffers for replies.
 */
#ifndef TMB_NET_OFI_OFI_ENGINE_H
#define TMB_NET_OFI_OFI_ENGINE_H

#include "net/net.h"
#include "net/ofi/ofi_calls.h"
#include "os/sync/lock.h"

#include <string.h>

/* Chosen, not measured. */
#define OFI_ALIGN       16u    /* bytes, of a payload in a message */
#define OFI_RAILS       4u     /* domains that long transfers share, at most */
#define OFI_UNIT        1024u  /* bytes of a message that count as one unit of credit */
#define OFI_EVENTS      16     /* completions that are read at a time */
#define OFI_NAME_MAX    232    /* longest address of an endpoint that is supported */
#define OFI_SMALL_BYTES 1024u  /* of a small send buffer */
#define OFI_BATCH_BYTES 65536u /* of messages that leave as one; at most a message's */
#define OFI_BATCHED_MAX 32512u /* payload of one of them: two fit */
#define OFI_MESSAGE_MAX \
 (sizeof(struct ofi_head) + 4 * TMB_AM_ARGS_SENT + OFI_ALIGN + TMB_AM_MEDIUM_BYTES_MAX)

/* Begin of every message. The arguments follow, then, at the next multiple of 16, the payload. */
struct ofi_head {
  uint64_t token; /* of the job */
  uint32_t src, nbytes;
  uint16_t route;
  uint16_t returned; /* units of credit that the receiver of this message gets back */
  uint8_t kind;      /* enum ofi_kind */
  uint8_t handler, nargs, is_reply;
};
_Static_assert(sizeof(struct ofi_head) == 24, "no holes");

enum ofi_kind {
  OFI_SHORT = TMB_AM_SHORT,
  OFI_MEDIUM = TMB_AM_MEDIUM,
  OFI_LONG = TMB_AM_LONG, /* whose payload is in place: struct ofi_place */
  OFI_CREDIT,             /* nothing but `returned` */
  OFI_ASK,     /* which registered memory is around an address: struct ofi_region, base only */
  OFI_REGION,  /* the answer: struct ofi_region */
  OFI_FREED,   /* memory is registered no longer: struct ofi_region */
  OFI_SIGNAL,  /* a signal after a write: struct ofi_change */
  OFI_CHANGED, /* the signal has changed: struct ofi_change */
  OFI_PROBE,   /* whether the receiver lives */
  OFI_PROBED,  /* it does */
  OFI_ATOMIC,  /* an operation on a word: struct ofi_rmw */
  OFI_RESULT,  /* the operation is performed: struct ofi_rmw, operand[0] is the value before */
  OFI_BATCH,   /* several messages, each at a multiple of 16 */
  OFI_PUT,     /* in a batch: struct ofi_write, then the data */
  OFI_WRITTEN, /* the puts of a batch are in place: struct ofi_write of the last one */
  OFI_KINDS
};

/* Registered memory of a peer: payload of OFI_ASK, OFI_REGION and OFI_FREED. */
struct ofi_region {
  uint64_t asked; /* address that was asked for */
  uint64_t base, bytes;
  uint64_t key[OFI_RAILS];
  uint64_t rails; /* bit for each rail that has a key */
  uint64_t from;  /* the value in place of `base` in remote accesses: 0 or base */
};

/* Payload of OFI_LONG: where the data lie at the receiver. */
struct ofi_place {
  uint64_t addr, bytes;
};

/* Payload of OFI_SIGNAL. */
struct ofi_change {
  uint64_t addr, value;
  uint32_t op;
  uint32_t access, serial; /* of the origin, which gets them back in OFI_CHANGED */
  uint32_t zero;
};

/* Payload of OFI_ATOMIC. */
struct ofi_rmw {
  uint64_t addr, operand[2];
  uint32_t opcode, dt, bytes;
  uint32_t access, serial; /* of the origin, which gets them back in OFI_RESULT */
  uint32_t zero;
};

/* Payload of OFI_PUT. */
struct ofi_write {
  uint64_t addr;
  uint32_t access, serial; /* of the origin, which gets them back in OFI_WRITTEN */
  uint32_t answers;        /* whether OFI_WRITTEN follows: 1 in the last put of a batch */
  uint32_t zero;
};

/* Context that libfabric gives back with a completion. */
enum ofi_use { OFI_USE_SEND, OFI_USE_RECV, OFI_USE_ACCESS, OFI_USE_QUESTION };
struct ofi_op {
  struct fi_context2 context; /* first: providers write here while the operation is in progress */
  enum ofi_use use;
  uint32_t peer;
  struct ofi_op *next; /* in the list that it is in */
};

/* A message that is being sent or received. */
struct ofi_buffer {
  struct ofi_op op;
  struct ofi_pool *pool;    /* NULL: from malloc */
  struct ofi_buffer *batch; /* NULL, or in whose memory it is, as a part */
  char *data;               /* aligned to 64, a part to OFI_ALIGN */
  uint32_t bytes;           /* received */
  uint32_t users;           /* of a batch: parts being delivered, and 1 while others are left */
};

/* Buffers of one size; a piece of memory of their own. */
struct ofi_pool {
  struct ofi_buffer *all;
  char *memory;
  size_t stride;
  uint32_t count, free_count;
  struct ofi_op *free;
  struct fid_mr *mr; /* NULL: the provider does not need it */
  void *desc;
};

/* Whether a peer lives, see ofi_silent.h. The first two are set by messages, the rest by
 * ofi_silent.c. */
enum ofi_life_state { OFI_CALM, OFI_ASKING, OFI_ASKED };
struct ofi_life {
  bool heard;      /* something has come since the last check */
  bool reached;    /* the provider has taken something for it */
  bool answer_due; /* an OFI_PROBED is still to be sent */
  bool silent;     /* and so it is broken */
  uint8_t state;   /* enum ofi_life_state of the probe: being sent, or sent */
  uint8_t looks;   /* checks since it was sent */
  uint64_t heard_ns, asked_ns;
  uint64_t spoke_ns; /* when a look last found that something had come; 0: never */
};

/* State of the engine about silent peers: when to check, and buffers for questions. */
struct ofi_silent {
  uint64_t timeout_ns; /* 0: nobody is judged */
  uint64_t look_ns, full_ns;
  uint64_t survey_ns, survey_last_ns; /* when all hosts were first and last asked; 0: not now */
  bool cut_off;                       /* this rank's own host is lost */
  bool cut_off_known;                 /* and core has been notified */
  bool by_peer;     /* the provider completes a send when the peer's process has it */
  uint8_t *answers; /* [size] whether a rank answers while its client computes */
  struct ofi_pool questions;
};

/* Short messages to a peer that wait to leave as one, see ofi_send.c. */
struct ofi_batch {
  struct ofi_buffer *buffer; /* NULL: none waits */
  uint32_t end;              /* bytes in it */
  uint32_t put;              /* where its last OFI_PUT has its payload; 0: it has none */
  uint32_t access;           /* 1 + the index of that put's access */
  uint32_t close;            /* messages in a row that followed soon after the one before */
  uint64_t last_ns;          /* when the last one was sent, by the clock of struct ofi_turns */
  uint64_t turn;             /* net->peers.turns.count then */
  uint64_t tick;             /* of the client, when the last one was written */
  bool again;                /* the next one is tried again: time passed because it had no room */
  uint64_t again_ns;         /* since then, by the same clock */
  bool listed;               /* in net->peers.batches */
  uint32_t next;             /* peer + 1 there; 0: the last */
};

/* State of a rank of another host that this rank has had to do with. */
enum { OFI_REGIONS = 8 };
struct ofi_peer {
  uint32_t flying;   /* units of requests that have not been given back */
  uint32_t owed;     /* units to be given back */
  bool listed;       /* in net->peers.todo */
  bool broken;       /* nothing can be sent any more; net->peers.broken counts it */
  bool informed;     /* it knows of registered memory of this rank */
  bool asking;       /* an OFI_ASK is in progress */
  uint64_t needed;   /* address that an operation asks for which cannot go by messages */
  bool refused;      /* its owner says that it is not registered */
  bool answer_due;   /* `answer` is still to be sent */
  uint32_t quiet;    /* accesses for which no OFI_ASK is sent, after a refusal */
  uint32_t accesses; /* in progress */
  uint32_t next;     /* peer + 1 in net->peers.todo; 0: the last */
  uint32_t regions, oldest;
  struct ofi_region region[OFI_REGIONS];
  struct ofi_region answer;
  struct ofi_region freed; /* to be reported; bytes 0: nothing */
  uint64_t broken_ns;
  uint64_t lost_ns; /* when core said that it is lost; 0: not yet */
  int error;        /* why it is broken */
  struct ofi_life life;
  struct ofi_batch batch;
};

/* Messages in the order in which they came. */
struct ofi_queue {
  struct ofi_op *first, **last;
};

/* A domain that is used, with its endpoint. All but the stripes of long transfers take the first.
 */
struct ofi_rail {
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *av;
  struct fid_cq *cq;
  struct fid_eq *eq; /* NULL: the completion queue has the descriptor, or there is none */
  struct fid_ep *ep; /* NULL: this rank does not have the rail */
  fi_addr_t *addr;   /* [size]; FI_ADDR_NOTAVAIL: that rank does not have it */
  int wait_fd;       /* -1: none */
};

struct ofi_access;
struct ofi_memory;
struct tmb_progress_thread;

/* ---- parts of the state; all of them change under net->lock, unless a comment says otherwise */

/* Messages and puts of all peers that may share a batch. */
struct ofi_turns {
  uint64_t count;    /* so far */
  uint64_t call_ns;  /* start of the call that sends, or later */
  uint64_t spent_ns; /* all the time that was not the client's */
};

/* Peers, and the set of those with something due. ofi_send.c. */
struct ofi_peers {
  struct ofi_turns turns;
  struct ofi_peer **of; /* [size]; NULL: nothing to do with it yet */
  uint32_t todo;        /* peer + 1: something is still to be sent to it */
  uint32_t batches;     /* peer + 1: messages to it may wait in its batch; the thread reads it */
  uint32_t broken;
};

/* Buffers of messages. ofi_pool.c. */
struct ofi_bufs {
  struct ofi_pool receives, small, large;
};

/* Messages that have come. ofi_receive.c. */
struct ofi_inbox {
  struct ofi_queue held[TMB_NET_HELD]; /* that wait for a poll that serves them, see queue_of */
  uint32_t held_count;                 /* of them in buffers of the pool */
  size_t held_bytes;                   /* of copies */
  struct ofi_buffer *batch;            /* whose parts are next; NULL: none */
  uint32_t batch_at;                   /* where the next one begins */
  struct ofi_op *unanswered;           /* OFI_SIGNAL messages whose OFI_CHANGED had no room */
  struct ofi_op *unposted;             /* receive buffers for which the provider had no room */
};

/* Completions that have been read. ofi_receive.c. */
struct ofi_completions {
  struct fi_cq_data_entry events[OFI_EVENTS];
  uint32_t at, count;
  uint32_t rail; /* whose completion queue was read last */
};

/* Puts and gets of the provider. Lists of struct ofi_access. ofi_rma.c. */
struct ofi_accesses {
  struct ofi_access *all; /* [OFI_ACCESSES] */
  struct ofi_op *free, *done;
  struct ofi_op *pending; /* whose signal is still to be sent */
  struct ofi_op *again;   /* that are to be tried again */
};

/* Atomic operations of the provider; constant once the conduit is open. ofi_atomic.c. */
struct ofi_atomics {
  bool asked;                     /* FI_ATOMIC is in the first rail's capabilities, on all ranks */
  bool any;                       /* the provider performs some domains */
  uint32_t can[TMB_ATOMIC_TYPES]; /* bit for each opcode that all ranks' providers have */
  void *desc;                     /* of the accesses, where the provider needs it */
};

/* Memory of this rank that is registered. ofi_memory.c. */
struct ofi_memories {
  struct ofi_memory *list;
  uint64_t next_key;
};

/* State of the client, and of the thread that stands in for it. ofi_progress.c. */
struct ofi_client {
  struct tmb_progress_thread *thread; /* NULL: none; constant once the conduit is open */
  int nudge;       /* descriptor that wakes a sleeping client; -1: none; constant as well */
  bool nudged;     /* `nudge` is to be emptied */
  bool ends;       /* the conduit closes; atomic */
  uint32_t serves; /* 1 + the peer whose message the thread deals with, without the lock; 0: none */
  bool moved;      /* completions since its last progress are not only questions and answers */
  uint64_t tick;   /* grows with each progress of the client; atomic, the thread reads it */
  uint64_t wait_tick, wait_due_ns; /* when it asked for descriptors to wait for, and its timer */
};

struct tmb_net {
  /* constant once the conduit is open */
  struct tmb_net_env env;
  const struct ofi_calls *calls;
  struct ofi_rail rail[OFI_RAILS];
  uint32_t rails; /* one more than the last that is open */
  uint64_t token;
  uint64_t mr_mode;
  uint32_t credit, credit_due, inject_max;
  uint32_t tx_limit; /* of operations in progress, for requests */
  bool rma;          /* put and get by the provider */
  bool hmem;         /* ... also with memory of devices */
  bool ordered;      /* a message arrives after the writes before it */
  uint32_t gather;   /* short messages: 0 each alone, 1 in batches if they follow closely, 2 all */
  uint64_t timeout_ns;
  struct ofi_atomics atomics;
  struct ofi_card *gathered; /* [size] of ofi_gather; NULL once the conduit is open */

  struct tmb_lock lock; /* of all that follows */
  uint32_t tx_busy;     /* sends and accesses that have not completed */
  bool ended; /* by ofi_fatal: nothing is sent or received any more; read without the lock, too */
  struct ofi_peers peers;
  struct ofi_client client;
  struct ofi_completions cq;
  struct ofi_inbox in;
  struct ofi_bufs bufs;
  struct ofi_accesses access;
  struct ofi_memories memory;
  struct ofi_silent silent;
};

/* ---- ofi_choose.c */

/* Capabilities of a rank, for the others. */
struct ofi_card {
  uint64_t providers; /* bit for each row of the table that is usable here */
  uint64_t name_bytes;
  uint8_t name[OFI_NAME_MAX];
};

/* Whether a provider's entry leads to this host only. */
bool ofi_choose_is_loopback(const struct fi_info *info);

/* The providers that are usable here, and why the others are not. in wanted: TOMBOLO_OFI_PROVIDER;
 * device: TOMBOLO_OFI_DEVICE, or NULL. out infos: one for each usable row, NULL for others; free
 * them by ofi_choose_free. Returns the bits. */
enum { OFI_PROVIDERS = 16 };
uint64_t ofi_choose_list(const struct ofi_calls *calls, const char *wanted, const char *device,
                         struct fi_info *infos[OFI_PROVIDERS]);
void ofi_choose_free(const struct ofi_calls *calls, struct fi_info *infos[OFI_PROVIDERS]);
const char *ofi_choose_name(uint32_t row);
bool ofi_choose_emulated(uint32_t row); /* made of sockets */
bool ofi_choose_gathers(uint32_t row);  /* a message costs system calls */
/* Known reason why libfabric does not list provider `name`: "" or "; ..." of the space in /dev/shm.
 * out text: [bytes]. Returns text. */
const char *ofi_choose_lacks(const char *name, char *text, size_t bytes);

/* A fabric that this host has according to /sys, or NULL. */
const char *ofi_choose_fabric(void);

/* The domain that TOMBOLO_OFI_INTERFACES names for a rail, or NULL: it names fewer. out text: room
 * for the name. */
const char *ofi_choose_rail(const char *list, uint32_t rail, char *text, size_t bytes);

/* Replace an entry by one whose provider reaches memory of devices, if there is one. */
void ofi_choose_hmem(const struct ofi_calls *calls, struct fi_info **info);

/* Replace an entry by one with FI_ATOMIC on its domain, if its atomic operations are to be used. in
 * setting: TOMBOLO_OFI_ATOMICS. Returns NULL, or why not: a clause; the entry stays. */
const char *ofi_choose_atomics(const struct ofi_calls *calls, const char *setting,
                               struct fi_info **info);
/* Whether some rank may find another answer than this one: it depends on more than the setting and
 * the provider. */
bool ofi_choose_atomics_vary(const char *setting, const struct fi_info *info);

/* A domain of a provider, as getinfo has it. reach: where it leads: 0 nowhere else, 1 this machine
 * only, 2 a link only, 3 other hosts by IPv6, 4 by anything else. */
enum { OFI_DOMAINS = 32 };
struct ofi_domain {
  char name[OFI_NAME_MAX];
  int reach;
  uint64_t mr_mode;
};
/* The domains of a row that can be used, each once. Returns how many. */
uint32_t ofi_choose_domains(const struct ofi_calls *calls, uint32_t row,
                            struct ofi_domain domains[OFI_DOMAINS]);

/* Every rank's piece of some bytes, at most those of struct ofi_card. Collective, at open. Valid
 * until the next call. */
static inline void *ofi_gather(const struct tmb_net *net, const void *mine, size_t bytes) {
  net->env.allgather(net->env.ctx, mine, bytes, net->gathered);
  return net->gathered;
}

/* ---- ofi_calls.c */

/* The job cannot go on. Called with the lock, which it gives back: the end of a job asks `drained`.
 * in error: of libfabric, positive; 0: memory is short. */
_Noreturn void ofi_fatal(struct tmb_net *net, const char *what, int error);
/* A failure of libfabric, on the rank where it happens. Returns false. */
bool ofi_says(const struct tmb_net *net, const char *what, int rc);

/* ---- ofi_rail.c */

/* Open the first rail, whose provider and domain are chosen. Returns whether it went well; else it
 * has been said. */
bool ofi_rail_open(struct tmb_net *net, struct ofi_rail *rail);
/* Open the others, as far as they can be, and meet those of the other ranks. Collective. */
void ofi_rail_others(struct tmb_net *net);
/* Send to the others where a rail of this rank is, and learn where theirs are. Collective. in good:
 * whether it is open here. Returns whether it is for all that have said so. */
bool ofi_rail_meet(struct tmb_net *net, struct ofi_rail *rail, bool good);
/* Close the endpoints, so that the provider uses nothing any more; and then the other objects. */
bool ofi_rail_stop(struct tmb_net *net);
void ofi_rail_close(struct tmb_net *net);
/* Have the next descriptors name the queues of all rails. Returns 0, or a code of libfabric. */
int ofi_rail_wait(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint32_t *count);
/* ---- ofi_pool.c */

/* Make `count` buffers of `bytes` bytes. Returns whether there was memory. */
bool ofi_pool_make(struct ofi_pool *pool, uint32_t count, size_t bytes, enum ofi_use use);
void ofi_pool_free(struct ofi_pool *pool);
struct ofi_buffer *ofi_pool_take(struct ofi_pool *pool, uint32_t reserve);
void ofi_buffer_put(struct ofi_buffer *b);
/* A copy in memory from malloc, which lets the original be used again. */
struct ofi_buffer *ofi_buffer_copy(const struct ofi_buffer *b);

/* ---- ofi_send.c; under the lock */

struct ofi_peer *ofi_peer_of(struct tmb_net *net, uint32_t rank);
/* Send a message of the conduit itself. Returns 0 or TMB_AGAIN. */
int ofi_send_own(struct tmb_net *net, uint32_t peer, enum ofi_kind kind, const void *payload,
                 uint32_t nbytes);
/* As ofi_send_own, for a message that takes one unit of the peer's credit, as a request does. */
int ofi_send_request(struct tmb_net *net, uint32_t peer, enum ofi_kind kind, const void *payload,
                     uint32_t nbytes);
/* Something is to be sent to a peer as soon as there is room. */
void ofi_send_later(struct tmb_net *net, uint32_t peer);
/* Whether a peer waits for a delayed message. Nobody waits for credit of a rank that leaves, or to
 * learn that it lives; and where the peer has left, the provider may refuse them for ever. */
bool ofi_send_owes(const struct tmb_net *net);
/* Send the delayed messages. Returns whether anything was sent but answers to OFI_PROBE. */
bool ofi_send_rest(struct tmb_net *net);
/* Add a put to the batch of a peer, if it follows others closely. in put: addr, access and serial
 * are set; out before: 1 + the access of the put before it in the batch, or 0. Returns 0,
 * TMB_AGAIN, or TMB_E_UNSUPPORTED: it is to leave alone. */
struct ofi_put {
  struct ofi_write write;
  uint32_t peer, nbytes;
  const void *data;
  uint32_t before;
  bool copied; /* in: its source is to be read now, be it alone or not */
};
int ofi_send_put(struct tmb_net *net, struct ofi_put *put);
/* A lone put is about to be handed over; it has been: the next one is compared with now. */
void ofi_send_put_begins(struct tmb_net *net);
void ofi_send_put_alone(struct tmb_net *net, uint32_t peer);
/* A message or put found no room: until one finds some, time is not the client's. */
void ofi_send_again(struct tmb_net *net, uint32_t peer);
/* Send the batches to which the client has added nothing in its last `polls` polls. Returns whether
 * one was sent. */
bool ofi_send_batches(struct tmb_net *net, uint64_t polls);
/* Credit that a message returned, and credit that is owed for one. */
void ofi_credit_back(struct tmb_net *net, uint32_t peer, uint32_t units);
uint32_t ofi_credit_units(const struct ofi_buffer *b);
void ofi_credit_return(struct tmb_net *net, uint32_t peer);
/* A peer cannot be reached. in error: of libfabric, positive. */
void ofi_peer_break(struct tmb_net *net, uint32_t peer, int error);

int ofi_am_send(struct tmb_net *net, struct tmb_am_out *out);
/* As the slot, with the lock and uncounted. A Long: its payload is a struct ofi_place. */
int ofi_send_locked(struct tmb_net *net, struct tmb_am_out *out);

/* ---- ofi_progress.c */

int ofi_progress(struct tmb_net *net, int serve);
uint32_t ofi_wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns);
/* Progress for a client that computes, see net/plugin/progress_thread.h: messages and completions
 * are kept. in tick: of the client when it was last read. out fds, count, ns: descriptors to wait
 * for, up to when; ns is lowered. Returns false if the client is here or sleeps. */
bool ofi_tend(struct tmb_net *net, uint64_t tick, struct pollfd *fds, uint32_t *count,
              uint64_t *ns);
/* Whether batches wait, so that the thread checks often; without the lock. */
bool ofi_gathers(const struct tmb_net *net);
bool ofi_drained(struct tmb_net *net);
int ofi_lost(struct tmb_net *net, uint32_t peer);
/* Whether accesses to a lost peer are waited for no longer; with the lock. */
bool ofi_given_up(const struct tmb_net *net, uint32_t peer);
void ofi_explain(struct tmb_net *net, uint32_t peer, char *text, size_t bytes);

/* ---- ofi_receive.c; with the lock, except ofi_hand_up */

/* Give a receive buffer to the provider; and those for which it had no room. */
void ofi_post(struct tmb_net *net, struct ofi_buffer *b);
void ofi_post_rest(struct tmb_net *net);
/* Whether messages are held, or a batch is being read. */
bool ofi_holds_any(const struct tmb_net *net);
/* The next message that may be served, or NULL. in serve: TMB_SERVE_* or TMB_SERVE_THREAD; out
 * dealt: grows with each completion. */
struct ofi_buffer *ofi_next_message(struct tmb_net *net, int serve, uint32_t *dealt);
/* Count a message that is about to be given to core, and note the credit that it takes until it is
 * over. in b: NULL: there is none. Returns the units of the credit. */
uint32_t ofi_owe(struct tmb_net *net, const struct ofi_buffer *b);
/* Give a message to core, by one of its upcalls. */
void ofi_hand_up(struct tmb_net *net, const struct ofi_buffer *b,
                 void (*am)(const struct tmb_am_in *in));
/* A message is over: it is answered, where it has an answer, and its buffer is used again. */
void ofi_finish(struct tmb_net *net, struct ofi_buffer *b);
/* Send the answers for which there was no room. */
void ofi_answer_rest(struct tmb_net *net);

/* ---- payload of a message that lies in a buffer */

static inline size_t ofi_payload_at(uint32_t nargs) {
  return (sizeof(struct ofi_head) + 4 * (size_t)nargs + OFI_ALIGN - 1) & ~(size_t)(OFI_ALIGN - 1);
}

static inline struct ofi_head *ofi_head_of(const struct ofi_buffer *b) {
  return (struct ofi_head *)(void *)b->data;
}

static inline struct ofi_buffer *ofi_buffer_of(struct ofi_op *op) {
  return (struct ofi_buffer *)(void *)op;
}

/* Whether the provider is datagrams with ofi_rxd over them. */
static inline bool ofi_is_rxd(const struct tmb_net *net) {
  return strstr(net->rail[0].info->fabric_attr->prov_name, "ofi_rxd") != NULL;
}

#endif
