/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status pages: state of a rank for `tombolo ps`, `tombolo why` and the watchdog of the supervisor,
 * which only read it.
 *
 * Owns: the layout of the page that each rank has in the job's control block (ctl.h). Written by
 * the rank, by plain or relaxed stores, read by any process of this user that opens the control
 * block through /proc. A thread writes the purpose of its wait just before it sleeps, and clears it
 * afterwards; operations that complete without sleeping write nothing. Counts of the calls that all
 * members of a team make lie here instead of in the rank's own memory, so that whoever has not
 * called can be seen from outside. Invariants: everything in it is a hint for people, nothing in
 * the library depends on it; a reader takes no value for an index or a length unchecked.
 */
#ifndef TMB_BOOT_STATUS_H
#define TMB_BOOT_STATUS_H

#include "base/compiler.h"
#include "os/process/crash.h"

#include <stdint.h>

#define TMB_STATUS_BYTES   8192
#define TMB_STATUS_LAYOUT  5u /* changes with the layout */
#define TMB_STATUS_WAITS   8  /* threads that can be shown */
#define TMB_STATUS_TEAMS   24 /* teams that can be shown */
#define TMB_STATUS_HOST    64
#define TMB_STATUS_NOBODY  UINT32_MAX
#define TMB_STATUS_NO_TEAM UINT8_MAX
#define TMB_STATUS_MISSING 4 /* words of a set of members: the first 256 of the team */
#define TMB_STATUS_CALL    32
#define TMB_STATUS_OBJECT  64
#define TMB_STATUS_NAME    24 /* of a team */
#define TMB_STATUS_MEMBER  12
#define TMB_STATUS_HELD    16 /* objects that a rank can show as held */

/* Kind of a thread's wait. */
enum tmb_wait_kind {
  TMB_WAIT_UNKNOWN,
  TMB_WAIT_OPERATION,    /* one operation: what, peer */
  TMB_WAIT_EVENTS,       /* several: count; kind and peer of the first */
  TMB_WAIT_IMPLICIT,     /* implicit operations: count */
  TMB_WAIT_BARRIER,      /* team, number */
  TMB_WAIT_NAMED,        /* gasnet_barrier_wait: number */
  TMB_WAIT_COLLECTIVE,   /* what, team, number, root in peer; missing, where known */
  TMB_WAIT_TEAM,         /* the making of a team, over the parent: team, number */
  TMB_WAIT_SEND,         /* room for a message: what, peer */
  TMB_WAIT_CONDITION,    /* a condition of the client (GASNET_BLOCKUNTIL) */
  TMB_WAIT_SIGNAL,       /* addr, cmp, value, found */
  TMB_WAIT_SIGNALS,      /* one of count signals from addr on, value bytes apart */
  TMB_WAIT_SEMAPHORE,    /* addr, value, found */
  TMB_WAIT_NOTIFICATION, /* peer or NOBODY, tag in value */
  TMB_WAIT_POLL,         /* gexx_Poll: anything */
  TMB_WAIT_LOCK,         /* addr; holder's thread in value, 0: unknown */
  TMB_WAIT_LOSS,         /* the loss of peer to be dealt with */
  TMB_WAIT_SHRINK,       /* gexx_TM_Shrink: peer has not sent its STATE, or decides */
  TMB_WAIT_LAYER,        /* a loop of a run-time library above, which describes it: client */
  TMB_WAIT_PROGRAM,      /* the client's thread polls, and finds nothing; fresh only */
  TMB_WAIT_KINDS
};

/* Operations, as TMB_WAIT_OPERATION and others name them. From COLLECTIVE on: that plus the
 * number of the kind in coll/select/select.h. */
enum tmb_what {
  TMB_WHAT_UNKNOWN,
  TMB_WHAT_PUT,
  TMB_WHAT_GET,
  TMB_WHAT_PUT_STRIDED,
  TMB_WHAT_GET_STRIDED,
  TMB_WHAT_PUT_SIGNAL,
  TMB_WHAT_GET_SIGNAL,
  TMB_WHAT_PUT_NOTIFY,
  TMB_WHAT_GET_NOTIFY,
  TMB_WHAT_ATOMIC,
  TMB_WHAT_SHORT,
  TMB_WHAT_MEDIUM,
  TMB_WHAT_LONG,
  TMB_WHAT_BARRIER,
  TMB_WHAT_COLLECTIVE
};

enum tmb_wait_state {
  TMB_WAIT_NONE,   /* the thread does not sleep */
  TMB_WAIT_ASLEEP, /* it does, or is about to */
  TMB_WAIT_POLLS   /* it waits without sleeping; true shortly after at_ns only */
};

/* Ranks that must act, from a run-time library above: GEXX_WAIT_* of tombolo/ext/ext_wait.h. */
enum tmb_layer_needs { TMB_LAYER_AS_SHOWN, TMB_LAYER_PEER, TMB_LAYER_HOLDER, TMB_LAYER_ANY };

/* Description of the wait by a run-time library above: gexx_WaitInfo_t of ext_wait.h. */
struct tmb_status_layer {
  uint32_t begun; /* number of this wait in its thread, from 1; 0: nothing is said */
  uint8_t needs;  /* GEXX_WAIT_* */
  uint8_t polls;
  uint16_t unused;
  uint32_t peer, home;
  uint64_t number, object_id, caller;
  char call[TMB_STATUS_CALL];
  char object[TMB_STATUS_OBJECT];
};

/* One thread of the rank that has waited. */
struct tmb_status_wait {
  int32_t thread;  /* the kernel's number; 0: the entry is free */
  uint32_t state;  /* enum tmb_wait_state */
  uint32_t waits;  /* sleeps begun after something had happened */
  uint8_t kind;    /* enum tmb_wait_kind */
  uint8_t what;    /* enum tmb_what */
  uint8_t team;    /* index in team[], or TMB_STATUS_NO_TEAM */
  uint8_t cmp;     /* GEXX_SIG_*; TMB_WAIT_SEND: enum tmb_lacks of net/message.h */
  uint32_t peer;   /* jobrank, or TMB_STATUS_NOBODY */
  uint32_t count;  /* operations or parts outstanding */
  uint64_t number; /* of the collective call in its team, from 1; of a semaphore: taken posts */
  uint64_t addr, value, found;
  uint64_t since_ns, at_ns;             /* when this wait first slept; when this was written */
  uint64_t progress;                    /* batches of work that the rank had done then */
  uint64_t missing[TMB_STATUS_MISSING]; /* bit per team rank: has not come */
  struct tmb_status_layer layer;
};

/* A team of which the rank is a member. */
struct tmb_status_team {
  uint64_t uid;
  uint32_t used;       /* 1: the entry is that of a team */
  uint32_t rank, size; /* of this process in it; of it */
  uint32_t order;      /* number of the call that made it, of those that made teams from parent */
  uint64_t parent;     /* uid of the team it was made from */
  char name[TMB_STATUS_NAME];
  uint64_t barriers; /* calls of barriers (GASNet-EX) so far */
  uint64_t named;    /* phases of the barrier of GASNet-1 begun so far; primordial team */
  uint64_t colls;    /* collectives by messages begun so far */
  uint64_t gathers;  /* all-gathers of the library itself begun so far */
};

/* Where a rank's message rings are; written once, when they exist. */
struct tmb_status_rings {
  uint32_t ready;     /* 1 */
  int32_t fd;         /* of the memory, in the rank */
  uint64_t offset[2]; /* of the ring of requests and of replies; their first two lines are tail and
                         head */
  uint32_t slots[2];
  uint64_t handled[2]; /* positions up to which the rank has handled them; the heads in the rings
                          may be up to a quarter of a ring behind */
};

/* Numbers of the network, in the order of struct tmb_net_stats of net/net.h. */
enum tmb_status_net {
  TMB_STATUS_NET_SENT, /* messages */
  TMB_STATUS_NET_RECEIVED,
  TMB_STATUS_NET_BYTES_OUT,
  TMB_STATUS_NET_BYTES_IN,
  TMB_STATUS_NET_PACKETS_OUT,
  TMB_STATUS_NET_PACKETS_IN,
  TMB_STATUS_NET_RETRANSMITS,
  TMB_STATUS_NET_TIMEOUTS,
  TMB_STATUS_NET_DUPLICATES,
  TMB_STATUS_NET_REFUSED,
  TMB_STATUS_NET_UNACKED, /* packets, now */
  TMB_STATUS_NET_QUEUED,  /* messages, now */
  TMB_STATUS_NET_STALLED, /* 1 + the peer that does not answer and was heard least lately */
  TMB_STATUS_NET_STALLED_HEARD_NS,
  TMB_STATUS_NET_LOOKED_NS,     /* when the rank last looked for packets */
  TMB_STATUS_NET_STALLED_COUNT, /* peers that do not answer, now */
  TMB_STATUS_NET_HEARD_NS,      /* when any peer last said something */
  TMB_STATUS_NET_MAX
};

/* Kinds of operations that are counted, in the order of GEXX_STATS_ in ext_progress.h. */
enum tmb_status_kind {
  TMB_STATUS_AM_SHORT,
  TMB_STATUS_AM_MEDIUM,
  TMB_STATUS_AM_LONG,
  TMB_STATUS_PUT,
  TMB_STATUS_GET,
  TMB_STATUS_PUT_SIGNAL,
  TMB_STATUS_GET_SIGNAL,
  TMB_STATUS_WAKE,
  TMB_STATUS_ATOMIC,
  TMB_STATUS_KINDS
};

/* Counts of the rank's actions, while operations are counted. Times are ticks of tmb_os_ticks_now;
 * sums are written by all threads of the rank. */
struct tmb_status_stats {
  uint64_t on;           /* 1: they are counted */
  uint64_t tick0, ns0;   /* one moment on the counter and on the monotonic clock, at the start */
  uint64_t end_ns;       /* when the rank had ended; the supervisor */
  uint64_t memory_bytes; /* most memory that it had; the supervisor */
  uint64_t count[TMB_STATUS_KINDS], bytes[TMB_STATUS_KINDS]; /* by enum tmb_status_kind */
  uint64_t peers;      /* ranks, itself apart, to which it has begun an operation */
  uint64_t waits;      /* that found nothing at first */
  uint64_t wait_ticks; /* in waits */
  uint64_t op_ticks;   /* in operations and messages, without the waits inside of them */
};

struct tmb_status {
  uint32_t layout; /* TMB_STATUS_LAYOUT once the rank has begun */
  int32_t pid;
  uint32_t rank, size;
  char host[TMB_STATUS_HOST];
  uint32_t attached;              /* 1: segments are there */
  uint32_t boot_rounds;           /* of the bootstrap begun: barriers and all-gathers */
  uint64_t boot_since_ns;         /* since when this rank is in one; 0: it is not */
  char member[TMB_STATUS_MEMBER]; /* name of a rank in the language; empty: rank */
  uint32_t first;                 /* the number that rank 0 has there */
  struct tmb_status_rings rings;
  struct tmb_status_stats stats;
  uint64_t held[TMB_STATUS_HELD]; /* objects of the layer above; 0: a free entry */
  struct tmb_status_wait wait[TMB_STATUS_WAITS];
  struct tmb_status_team team[TMB_STATUS_TEAMS];
  uint64_t net[TMB_STATUS_NET_MAX];
};
/* The part of a rank in the control block: its status, and where it was when it crashed. */
struct tmb_status_page {
  struct tmb_status status;
  struct tmb_crash crash;
};
_Static_assert(sizeof(struct tmb_status_page) <= TMB_STATUS_BYTES, "a status fits its page");

#endif
