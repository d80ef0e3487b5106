/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and remote memory operations as core, the on-node engine and conduits hand them to each
 * other.
 *
 * Owns no state. Included by core, src/near, src/net and the layers above core. Calls nothing.
 * Invariants: ranks are jobranks everywhere; a struct that describes something outgoing belongs to
 * the caller and need not outlive the call; the contract of the function says how long the memory
 * behind its pointers lives.
 */
#ifndef TMB_NET_MESSAGE_H
#define TMB_NET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tmb_am_category { TMB_AM_SHORT = 0, TMB_AM_MEDIUM = 1, TMB_AM_LONG = 2 };

/* Messages that progress serves. */
enum { TMB_SERVE_NOTHING = 0, TMB_SERVE_REPLIES = 1, TMB_SERVE_REQUESTS = 2, TMB_SERVE_ALL = 3 };

/* Result of a poll: bits. BUSY: this thread could not poll everything, because another one is at
 * work there, or could not continue for lack of a resource; a waiting thread must check again soon,
 * for nobody will ring. */
enum { TMB_FOUND_NOTHING = 0, TMB_FOUND_WORK = 1, TMB_FOUND_BUSY = 2 };

/* Fixed by the API: arguments, bytes and handlers of a message. Medium messages: chosen. */
#define TMB_AM_ARGS_MAX           16
#define TMB_AM_ARGS_SENT          17 /* between two hooks `number`: one more, its number */
#define TMB_AM_MEDIUM_BYTES_MAX   65536u
#define TMB_AM_LONG_BYTES_MAX     0x7fffffffu
#define TMB_HANDLER_FIRST         128 /* least index of a client's handler */

/* Endpoints of a message as one number of 12 bits, 0 between primordial ones: index at the target,
 * and index at the source, where a reply goes. Engine and conduits carry it unread. */
#define TMB_ROUTE(target, source) ((uint16_t)((source) << 6 | (target)))
#define TMB_ROUTE_TARGET(route)   ((route)&63u)
#define TMB_ROUTE_SOURCE(route)   ((route) >> 6)
#define TMB_ROUTE_BITS            12 /* fixed */
/* A further bit, between two hooks `number` only: the last argument is the message's number. */
#define TMB_ROUTE_NUMBERED        (1u << TMB_ROUTE_BITS)
#define TMB_NO_NUMBER             UINT32_MAX /* numbers are given, but not to this message */

/* Whether a message that has come may have so many arguments. */
static inline bool tmb_am_args_fit(uint32_t nargs, uint32_t route) {
  return nargs <= (route & TMB_ROUTE_NUMBERED ? TMB_AM_ARGS_SENT : TMB_AM_ARGS_MAX);
}

/* Handler, arguments and kind of a message as one number, as the shortest paths hand them on. */
static inline uint32_t tmb_am_head(uint8_t handler, uint8_t nargs, bool is_reply) {
  return handler | (uint32_t)nargs << 8 | (uint32_t)is_reply << 16;
}

/* Progress of an operation that is sent in parts; zeroed before the first attempt. */
struct tmb_resume {
  uint64_t at; /* bytes of the source that have been read */
  uint32_t id;
  bool started;
};

/* The resource that had no room. */
enum tmb_lacks {
  TMB_LACKS_UNKNOWN,
  TMB_LACKS_RING,   /* the peer's ring in shared memory */
  TMB_LACKS_BUFFER, /* message buffers of this rank */
  TMB_LACKS_CREDIT, /* the peer has not handled earlier messages */
  TMB_LACKS_WINDOW, /* packets to the peer are not acknowledged, or the provider's queue is full */
  TMB_LACKS_NOTIFY  /* the peer has not taken earlier notifications */
};

/* One outgoing message. Filled by the caller except `staged`, which am_send keeps across
 * retries. */
/* Names memory outside of segments that its owner has exposed to writes from other hosts, see the
 * slot `expose` of net.h. */
struct tmb_net_key {
  uint64_t base, key;
};

struct tmb_am_out {
  uint32_t peer;       /* jobrank */
  uint8_t category;    /* enum tmb_am_category */
  uint8_t handler;     /* index at the target; below TMB_HANDLER_FIRST: internal */
  uint8_t nargs;       /* 0..TMB_AM_ARGS_MAX; in a conduit TMB_AM_ARGS_SENT */
  uint8_t is_reply;    /* replies have their own resources */
  uint8_t immediate;   /* a failed attempt must leave no trace at the target */
  uint8_t filled;      /* payload already lies in the staged buffer (a prepared message) */
  uint8_t unmapped;    /* Long: the destination is known not to be mapped here */
  uint8_t lacks;       /* after TMB_AGAIN: enum tmb_lacks, for messages to people */
  uint16_t route;      /* TMB_ROUTE */
  uint8_t patient;     /* Long: the caller does other work until the source has been read, so that
                          a copy of it saves nothing */
  int32_t staged;      /* -1, or a buffer of the engine or conduit that belongs to this message */
  const int32_t *args; /* [nargs] */
  const void *src;     /* payload; read before am_send returns 0 */
  size_t nbytes;
  void *dest;                    /* Long: address in the target's space */
  const struct tmb_net_key *key; /* Long: of the memory around `dest`, for am_long; NULL: none */
  /* The slot am_long: never NULL. am_send: NULL, or for the hook `number`: this is a part of a
   * client's Long, whose number is its id. */
  struct tmb_resume *resume;
};

/* Fields that a message keeps on its way, from another description of it. */
#define TMB_AM_HEAD(of) \
 .handler = (of)->handler, .nargs = (of)->nargs, .is_reply = (of)->is_reply, .route = (of)->route

/* One message that has arrived. Everything it points at is valid only during the upcall. */
struct tmb_am_in {
  uint32_t src; /* jobrank */
  uint8_t category;
  uint8_t handler;
  uint8_t nargs;
  uint8_t is_reply;
  uint16_t route;      /* TMB_ROUTE */
  uint32_t number;     /* among those of its sender, from 1; 0: no numbers; see net/hook/number.c */
  const int32_t *args; /* [nargs] */
  void *payload;       /* aligned to 16; Long: the address the sender named */
  size_t nbytes;
};

/* A remote memory operation. `op` and the categories go back through the upcall op_done. */
struct tmb_rma {
  uint32_t peer;
  void *remote; /* address in the peer's space */
  void *local;
  size_t nbytes;
  void *op;                  /* NULL: no completion */
  uint32_t category;         /* of the event that the whole operation is complete; opaque */
  uint32_t local_category;   /* put: of the event that the source has been read; if report_local */
  bool report_local;         /* put: op_done(local_category) is asked for */
  bool immediate;            /* a failed attempt must leave no trace at the target */
  struct tmb_resume *resume; /* NULL, or as the slot that is called says */
};

enum { TMB_SIGNAL_SET = 0, TMB_SIGNAL_ADD = 1 };

/* A signal that changes at the peer once the data of a put is visible there, or that of a get has
 * been read. */
struct tmb_signal {
  void *addr; /* aligned 64-bit word in the peer's space */
  uint64_t value;
  uint32_t op; /* TMB_SIGNAL_* */
};

/* Numbers of the bits of gex_DT_t and gex_OP_t that atomic operations have; src/ratomic compares
 * them. A fetching opcode is 16 above the plain one; TMB_ATOMIC_GET, which has none, is one. */
enum {
  TMB_ATOMIC_I32,
  TMB_ATOMIC_U32,
  TMB_ATOMIC_I64,
  TMB_ATOMIC_U64,
  TMB_ATOMIC_FLT,
  TMB_ATOMIC_DBL,
  TMB_ATOMIC_TYPES
};
enum {
  TMB_ATOMIC_AND,
  TMB_ATOMIC_OR,
  TMB_ATOMIC_XOR,
  TMB_ATOMIC_ADD,
  TMB_ATOMIC_SUB,
  TMB_ATOMIC_MULT,
  TMB_ATOMIC_MIN,
  TMB_ATOMIC_MAX,
  TMB_ATOMIC_INC,
  TMB_ATOMIC_DEC,
  TMB_ATOMIC_SET,
  TMB_ATOMIC_CAS,
  TMB_ATOMIC_GET,
  TMB_ATOMIC_OPCODES
};

/* A remote atomic operation on a word of a peer. */
struct tmb_net_atomic {
  uint32_t peer;
  void *remote;        /* address in the peer's space, aligned to its size */
  uint32_t opcode, dt; /* gex_OP_t, one bit; gex_DT_t */
  uint32_t bytes;      /* of a value of that type: 4 or 8 */
  uint64_t operand[2]; /* the value in the low bytes */
  void *result;        /* of a fetching one: where the old value goes; else NULL */
  void *op;
  uint32_t category;
  bool immediate;
  bool offload; /* the domain leaves all of its operations to the network: slot `offloads` */
};

#endif
