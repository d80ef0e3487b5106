/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of this process in its job: one instance, tmb_job, and the objects that hang off it.
 *
 * Owns: declarations of struct tmb_job, clients, endpoints, segments, teams and threads. Included
 * by core and api. Written by client.c (set-up), attach.c (segments), register.c (handlers),
 * thread.c; read everywhere. Invariants: `client` is the one that started the job; object heads
 * follow tombolo/abi.h; everything that the fast path reads is written before gex_Client_Init
 * returns, except `delta`, which attach, bind and publish fill.
 */
#ifndef TMB_CORE_JOB_H
#define TMB_CORE_JOB_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "boot/boot_state.h"
#include "core/gex.h"
#include "core/job_parts.h"
#include "core/nbrhd.h"
#include "core/team.h"
#include "near/near_state.h"

#include <stdbool.h>
#include <tombolo/check_hook.h>

struct tmb_net;
struct tmb_net_ops;

/* States of gex_Client_Init and of the GASNet-1 attach. */
/* FAILED: gex_Client_Init has returned an error, and the reason has been printed. */
enum tmb_job_state { TMB_JOB_NONE, TMB_JOB_STARTING, TMB_JOB_READY, TMB_JOB_FAILED };

struct gexx_client_s {
  uint32_t magic;
  gex_Flags_t flags;
  void *cdata;
  char *name; /* copy; lives as long as the process */
};

struct gexx_segment_s {
  uint32_t magic;
  gex_Client_t client;
  void *base;     /* in this process */
  uintptr_t size; /* bytes */
  void *cdata;
  const struct tmb_mk_ops *mk; /* kind of memory; NULL: attached */
  bool owned;                  /* Destroy returns the memory */
  int share;                   /* 1 + descriptor that peers may map, 0: none */
  struct gexx_segment_s *next; /* list of created segments */
};

/* TM-pairs of an endpoint, by remote endpoint index: real objects, so that the fast path needs no
 * test for pairs. */
struct gexx_ep_s {
  uint32_t magic;
  gex_EP_Index_t index;
  gex_Client_t client;
  gex_Segment_t segment; /* NULL while unbound */
  gex_Flags_t flags;
  gex_EP_Capabilities_t capabilities;
  void *cdata;
  gex_AM_Entry_t handler[256];          /* by index; fnptr NULL: free */
  uint64_t legacy[4];                   /* bit per index: any category and argument count */
  struct gexx_tm_s pair[GASNET_MAXEPS]; /* by remote endpoint index */
};

_Static_assert(GASNET_MAXEPS <= 64, "an endpoint index fits its part of TMB_ROUTE");

#define TMB_MAGIC_CLIENT  0x636c6931u
#define TMB_MAGIC_EP      0x65705f31u
#define TMB_MAGIC_SEGMENT 0x73656731u

/* Where a peer's segment is, in its own address space. */
struct tmb_peer_segment {
  uintptr_t base, size;
  char *local; /* where this process has mapped it by itself, or NULL */
};

/* Waiting, decided at start-up and by gasnet_set_waitmode. */
struct tmb_wait_policy {
  uint32_t mode;        /* GASNET_WAIT_* */
  uint32_t yield_count; /* yields before sleeping */
  uint64_t spin_ns;     /* polling before the first yield */
  uint64_t last_ns;     /* spin_ns of the last rank of a processor, see last_here */
  uint32_t eager_steps; /* looks without a pause between them, at the beginning of a wait */
  uint32_t
      hold_pauses[2]; /* after progress, before the next poll; [1]: the last request got no reply */
  uint32_t cpus;      /* processors that the ranks of this host may use together */
  uint32_t home;      /* processor of this rank, see tmb_place_plan */
  bool spread;        /* ranks go to their homes at start */
  bool crowded;       /* ranks of this host outnumber the cores they may use */
  bool polls_yield;   /* polls may have to: crowded, or a thread that polls was once confined */
  bool one_cpu;       /* several ranks of this host may use one processor, and no other */
  bool outnumber;     /* ranks of this kernel do, on all its hosts; or `crowded` */
};

/* Special conditions that messages and polls check: bits of tmb_job.special. */
enum {
  TMB_SPECIAL_LOSS = 1,  /* failures are reported: peers may be lost, and progress notices it */
  TMB_SPECIAL_COUNT = 2, /* operations are counted, or events recorded */
  TMB_SPECIAL_NET = 4,   /* there is a conduit for other hosts, to be polled */
  TMB_SPECIAL_GATE = 8   /* record and replay may let messages come in a poll */
};
#define TMB_SPECIAL_SENDS ((uint32_t)(TMB_SPECIAL_LOSS | TMB_SPECIAL_COUNT))
#define TMB_SPECIAL_POLLS ((uint32_t)(TMB_SPECIAL_LOSS | TMB_SPECIAL_NET | TMB_SPECIAL_GATE))

#define TMB_FAR           UINT32_MAX /* in tmb_job.near_of: a rank of another host */

struct tmb_job {
  /* read by every operation */
  uint32_t rank, size;
  uint32_t special;      /* TMB_SPECIAL_* */
  uint32_t *near_of;     /* [size] index among the ranks of this host, or TMB_FAR */
  bool debug;            /* the client was compiled with GASNET_DEBUG */
  bool handlers_watched; /* debug, events are recorded, or a checker or the gate watches */
  bool live_events;      /* debug or a check: an operation that is complete at once has a live
                            event, too */
  bool threads;          /* PAR: client threads may be inside at once */
  const struct tmb_net_ops *net; /* how ranks of other hosts are reached; NULL: there are none */
  struct tmb_net *net_state;
  intptr_t *delta;        /* [size] for the heads of teams; all unmapped before attach and without
                             TOMBOLO_TEST_SHM_MAP */
  intptr_t *mapped_delta; /* [ranks of this host] as delta, but also with TOMBOLO_TEST_SHM_MAP=0 */
  struct tmb_peer_segment *peer_segment; /* [size] */
  char *rows; /* shared rows of the ranks of this host, see shared.h; NULL: there are none */
  size_t rows_stride;             /* bytes of one rank's rows */
  struct tmb_shared_turns *turns; /* [ranks of this host] by processor: turns that ranks have had
                                    there, see place.c; NULL: none are shared */
  struct tmb_shared_card *cards;  /* [ranks of this host][2] of the primordial team's all-gathers */
  uint8_t *lost; /* [size] TMB_PEER_* of failure.h; NULL while a failure ends the job */
  uint64_t progress_count
      TMB_ALIGNED(TMB_CACHE_LINE); /* handlers run and waits advanced by any thread */
  uint32_t work[TMB_WORK_KINDS];   /* work for progress: barriers in flight, collectives that have
                                      something to send, puts that wait for room */
  uint32_t crowd_waits;     /* operations in flight that need ranks which have no processor */
  bool last_here;           /* all other ranks of this processor already wait, so yielding would run
                               nobody useful; atomic */
  uint32_t device_segments; /* segments of this process in device memory; atomic */
  bool signals_indexed;     /* a range of signals has an index; atomic */
  struct tmb_trace_area *trace; /* where events are recorded, NULL: nowhere; see op/record.h */
  bool counted; /* operations are counted, or a check or replay stands before the library: the heads
                   of teams and TM-pairs report no rank as mapped, so that inline forms call the
                   library, which asks tmb_segtab_deltas */
  bool recorded; /* operations are counted, or events recorded; then `counted`, too */

  enum tmb_job_state state TMB_ALIGNED(TMB_CACHE_LINE);
  bool attached;
  uint32_t clients_added; /* beside the first client; atomic */
  bool joined; /* all clients so far came by gexx_Client_Join; gex_Client_Init may come once */
  int verbose_errors;
  int failure_policy;      /* GEXX_FAILURE_*, see policy.c */
  uint64_t dropped;        /* messages to lost peers; atomic */
  uint32_t advised;        /* bit per enum tmb_advice: said already; atomic */
  uint32_t scratch_warned; /* the deprecated scratch query was named; atomic */
  bool threads_queried;    /* gex_System_QueryProgressThreads was called */
  uint64_t
      peer_copy_proof; /* random; peers read it to find out whether they may, see cross_read.c */
  int pid;
  bool peer_copy;   /* every rank of this host may read the memory of every other one of this
                       host, see cross_read.c */
  bool near_memory; /* ranks of this host use regions of the on-node engine (TOMBOLO_TEST_SHM) */
  struct tmb_nbrhds nbrhd; /* neighbourhoods, see nbrhd.h */
  uint32_t thread_mode;    /* 1 SEQ, 2 PARSYNC, 3 PAR */
  uint64_t threads_max;
  struct tmb_wait_policy wait;
  struct tmb_status *status; /* page of this process, see status.h */
  struct tmb_boot boot;
  struct tmb_near near; /* the on-node engine */
  struct gexx_client_s client;
  struct gexx_ep_s ep;                                   /* primordial */
  gex_EP_t eps[GASNET_MAXEPS];                           /* by index, NULL: not made */
  uint32_t eps_made;                                     /* beside the primordial one */
  struct tmb_peer_segment *segment_table[GASNET_MAXEPS]; /* [size] by endpoint index, or NULL; [0]
                                                    is peer_segment */
  intptr_t *ep_delta[GASNET_MAXEPS]; /* [size] by endpoint index, or NULL; [0] is delta */
  intptr_t *unmapped; /* [size], at least: the table of an index that has none of its own */
  struct gexx_segment_s segment; /* attached */
  union {                        /* primordial team: its head, and whole */
    struct gexx_tm_s tm TMB_ALIGNED(TMB_CACHE_LINE);
    struct tmb_team team;
  };
  uintptr_t segment_bytes_max, segment_bytes_max_all;

  /* one file each, see job_parts.h */
  struct tmb_layers layers;
  struct tmb_internal internal;
  struct tmb_threads entered;
  struct tmb_op_pool ops;
  struct tmb_track track;
  struct tmb_shown shown;
  struct tmb_pieces pieces;
  struct tmb_targets targets;
  struct tmb_laters later;
  struct tmb_segments segments;
  struct tmb_far_segments far_segments;
  struct tmb_row_use row_use;
  struct tmb_failures failure;
  struct tmb_registry teams;
  struct tmb_barriers barriers;
  struct tmb_shrinks shrinks;
  struct tmb_mk_pool mk_pool;
  struct tmb_domains domains;
  struct tmb_stats *stats;
  gexx_check_handler_fn check; /* the checker's function, NULL: none; see check_hook.h */
  gexx_gate_fn gate;           /* of record and replay, NULL: none; see check_hook.h */
  struct tmb_kept *kept;       /* messages that the gate keeps, oldest first; see am/gate.c */
  struct tmb_lock kept_lock;   /* of that list */
};

extern struct tmb_job tmb_job TMB_HIDDEN;

/* Index of a rank of this host, for the on-node engine; TMB_FAR for others. */
static inline uint32_t tmb_near_of(uint32_t jobrank) {
  return tmb_job.near_of[jobrank];
}

/* Name of the conduit that reaches other hosts, or "none". */
const char *tmb_job_network(void);

/* True once gex_Client_Init has succeeded. */
static inline bool tmb_job_ready(void) {
  return tmb_job.state == TMB_JOB_READY;
}

/* Near or far: whether a rank is on this host, and so reached by the on-node engine (src/near) and
 * not by the conduit (src/net). */
static inline bool tmb_is_near(uint32_t jobrank) {
  return TMB_LIKELY(tmb_job.near_of[jobrank] != TMB_FAR);
}

/* Offset from an address in the attached segment of a rank to ours, or GEXX_UNMAPPED. */
static inline intptr_t tmb_mapped_delta(uint32_t jobrank) {
  const uint32_t near = tmb_near_of(jobrank);
  return TMB_LIKELY(near != TMB_FAR) ? tmb_job.mapped_delta[near] : GEXX_UNMAPPED;
}

/* Number of the memory-sharing neighbourhood of a rank. */
static inline uint32_t tmb_nbrhd_of(uint32_t jobrank) {
  const struct tmb_places *places = &tmb_job.boot.places;
  return tmb_job.nbrhd.first[places->host_of[jobrank]] +
         places->near_of[jobrank] / tmb_job.nbrhd.most;
}

/* Jobrank of a team rank. */
static inline uint32_t tmb_jobrank(gex_TM_t tm, gex_Rank_t rank) {
  return tm->jobrank ? tm->jobrank[rank] : rank;
}

/* Team rank of a jobrank, or GEX_RANK_INVALID: it is no member. */
static inline gex_Rank_t tmb_rank_of_jobrank(gex_TM_t tm, uint32_t jobrank) {
  if (!tm->jobrank) return jobrank;
  for (gex_Rank_t r = 0; r < tm->size; r++)
    if (tm->jobrank[r] == jobrank) return r;
  return GEX_RANK_INVALID;
}

/* Count an operation that is done here. in kind: GEXX_STATS_. */
static inline void tmb_count(int kind, uint32_t jobrank, size_t bytes) {
  if (TMB_UNLIKELY(tmb_job.recorded)) tmb_layers_count(kind, jobrank, bytes);
}

/* Endpoint index of (tm, rank): 0 unless the team or pair leaves the primordial endpoints. */
static inline gex_EP_Index_t tmb_ep_index(gex_TM_t tm, gex_Rank_t rank) {
  if (TMB_LIKELY(!tm->reserved)) return 0;
  if (tm->magic == GEXX_MAGIC_PAIR) return (gex_EP_Index_t)(tm - tm->ep->pair);
  const gex_EP_Index_t *table = tmb_team_of(tm)->ep_index;
  return table ? table[rank] : 0;
}

#endif
