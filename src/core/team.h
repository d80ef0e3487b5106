/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: struct tmb_team behind gex_TM_t, the registry that finds a team by its number, and the
 * all-gather that team creation is built on.
 *
 * Owns: declarations of team.c (objects, registry), team_gather.c (all-gather), team_make.c (the
 * public calls). Called by client.c (primordial team), barrier.c, coll, and the handlers of
 * internal messages that belong to a team. Calls: op.h types only. A message of a team carries
 * (uid, rank of the target in the team): a process may have several members of one team.
 * Invariants: uid is equal on all members and never used again in the job; 0 is the primordial
 * team; tables are written before the team is registered, `delta` entries also by attach and
 * publish; a team is freed, and messages find it no longer, when its handle and every user that
 * took a reference have let go: a collective in flight, also one of the library's own, holds one.
 */
#ifndef TMB_CORE_TEAM_H
#define TMB_CORE_TEAM_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "boot/status.h"
#include "core/gex.h"
#include "core/layer.h"
#include "net/message.h"

#include <stdbool.h>

/* Limits of a team that bound its memory. Chosen. */
#define TMB_TEAM_ROUNDS_MAX   20   /* teams of at most 2^20 members */
#define TMB_TEAM_GATHER_BYTES 64   /* most that a member contributes to tmb_team_allgather */
#define TMB_TEAM_SCRATCH_MIN  4096 /* answer of GEX_FLAG_TM_SCRATCH_SIZE_MIN, bytes */

/* Internal message handlers of teams: 40..47. */

struct tmb_op;

/* The members of a team in one neighbourhood, where the team spans several (groups.h). */
struct tmb_team_group {
  uint32_t count;   /* members */
  uint32_t rounds;  /* ceil(log2 of the team's groups) */
  uint32_t *member; /* [count] team ranks, ascending; the first one leads */
  uint32_t *to;     /* [rounds] leader that this group's leader signals in a round */
  uint32_t groups;  /* of the team */
  uint32_t *order;  /* [size] team ranks: this group, the one before it, and so on; of a leader */
  uint32_t *first;  /* [groups + 1] where each of these groups begins in `order`; of a leader */
};

/* State of the barriers of a team member, see barrier.c. */
enum tmb_barrier_form {
  TMB_BARRIER_ROUNDS,  /* dissemination among all */
  TMB_BARRIER_CENTRAL, /* all count in one word, the last one releases all */
  TMB_BARRIER_MEMBER,  /* the group counts in a word of its leader, who releases it */
  TMB_BARRIER_LEADER   /* of a group: awaits it, then dissemination among leaders */
};

/* EX barriers of a team member; guarded by the lock of barrier.c, except `arrived`. */
struct tmb_team_barrier {
  uint64_t
      done; /* number of the last barrier completed; that of the last called is in team->calls */
  uint32_t round; /* next round to pass, of barrier number done + 1 */
  bool posted;    /* the signal of that round has been sent */
  bool listed;    /* in barrier.c's list of teams with barriers in flight */
  bool closing;   /* the last barrier is that of an unattended gex_TM_Destroy */
  bool plain;     /* barrier number done + 1 has no op, and is not counted as work */
  uint8_t form;   /* enum tmb_barrier_form; set with the team, as the next one */
  uint32_t steps; /* rounds that this member passes in a barrier */
  struct tmb_op *first, *last;
  struct tmb_team *next; /* in the list of teams with barriers in flight */
  uint64_t
      arrived[TMB_TEAM_ROUNDS_MAX]; /* [round] number of the last barrier for which the peer of that
                                       round has signalled; written by the message handler */
};

/* One all-gather in flight or arriving early: two per member, by parity of its number. */
struct tmb_team_gather {
  char
      *blocks; /* [size * TMB_TEAM_GATHER_BYTES], NULL until needed. Block i is that of rank + i; of
                  a leader that of group->order[i], then all by rank; of its group all by rank */
  uint32_t got[TMB_TEAM_ROUNDS_MAX]; /* bytes that have arrived per round; by the handler */
};

/* A member of a team. Clients see `head`. */
struct tmb_team {
  struct gexx_tm_s head;
  uint64_t uid;
  uint32_t rounds;                /* ceil(log2 size) */
  uint32_t shrinks;               /* calls of gexx_TM_Shrink by this member */
  uint32_t made;                  /* calls that make teams from this one, begun by this member */
  uint64_t parent;                /* uid of the team that this one was made from */
  uint32_t order;                 /* number of the call that made it, of those of its parent */
  uint32_t lost;                  /* tmb_team_lost; atomic */
  uint32_t refs;                  /* the handle, and each user of tmb_team_hold; atomic */
  const gex_EP_Index_t *ep_index; /* [size], or NULL when all are primordial */
  uint32_t *jobrank_table;        /* [size] memory for head.jobrank, unused while that is NULL */
  intptr_t
      *local_delta; /* [size] delta table of this team, or NULL: the job's; see tmb_team_delta */
  void *scratch;    /* this member's scratch memory, NULL: none */
  size_t scratch_bytes;   /* equal on every member; 0: NO_SCRATCH */
  uint64_t *peer_scratch; /* [size] addresses in their owners' space, NULL without */
  void *coll;             /* owned by coll; freed when its layer hears that the team is */
  struct tmb_team_gather gather[2];
  struct tmb_team_barrier barrier;
  struct tmb_team_group *group;     /* this member's, NULL: the team has none; see groups.h */
  bool shared;                      /* all members are on this host and have a row; see shared.h */
  uint8_t *shared_row;              /* [size] their rows, or NULL: all 0 */
  bool closed;                      /* the handle is destroyed; guarded by the registry's lock */
  struct tmb_team *hash_next;       /* registry */
  uint8_t shown;                    /* index on the status page, or TMB_STATUS_NO_TEAM */
  uint64_t recorded;                /* collectives in the trace so far */
  struct tmb_status_team *calls;    /* counts of its collective calls: there, or own_calls */
  struct tmb_status_team own_calls; /* where the page is full */
};

static inline struct tmb_team *tmb_team_of(gex_TM_t tm) {
  return (struct tmb_team *)(void *)tm;
}

/* 1 + jobrank of a member that is lost, 0: none. */
static inline uint32_t tmb_team_lost(const struct tmb_team *team) {
  return tmb_load_rlx(&team->lost);
}

/* Jobrank of a member. */
static inline uint32_t tmb_team_jobrank(const struct tmb_team *team, uint32_t rank) {
  return team->head.jobrank ? team->head.jobrank[rank] : rank;
}

/* Rounds in which `count` members hear of each other: ceil(log2 count). */
static inline uint32_t tmb_team_log2(uint32_t count) {
  uint32_t rounds = 0;
  while ((UINT64_C(1) << rounds) < count) rounds++;
  return rounds;
}

/* ---- team.c */

/* Make the primordial team in place; after rank, size and tables are known. */
void tmb_team_init_primordial(struct tmb_team *team);

/* A team of `size` members with tables to be filled by the caller: jobrank_table, *ep_index
 * (writable), shared_row, *peer_scratch (scratch only). Not registered. Fatal when there is no
 * memory. */
struct tmb_team *tmb_team_new(uint32_t size, bool with_scratch, gex_EP_Index_t **ep_index);

/* Complete and register a filled team: rank, ep and flags of its head, uid and tables are set.
 * Messages that came before are delivered now. */
void tmb_team_register(struct tmb_team *team);

/* Let go of a reference; the last one frees. tmb_team_close is that of the handle, which dies. */
void tmb_team_hold(struct tmb_team *team);
void tmb_team_release(struct tmb_team *team);
void tmb_team_close(struct tmb_team *team);

/* The member with this number and rank in this process. in `in`: the message that asks; NULL: a
 * member whose handle is destroyed is not found. Returns NULL when there is none; then, while a
 * call that makes teams is in progress here, the message has been copied, and its handler will be
 * run again once the team is registered; otherwise it is for a team that is no more. Any thread. */
struct tmb_team *tmb_team_find(uint64_t uid, uint32_t rank, const struct tmb_am_in *in);

/* Members of team `uid` in this process that are registered. */
uint32_t tmb_team_local_members(uint64_t uid);

/* A number for a team that this process proposes. */
uint64_t tmb_team_uid(void);

/*
 * A peer may know a team before this process has registered it, but only while a call that makes
 * teams is in progress here: tmb_team_making brackets these calls, tmb_team_in_making asks.
 */
void tmb_team_making(bool begins);
bool tmb_team_in_making(void);

/* Recompute the delta tables of all teams after segments were attached or published. */
void tmb_team_refresh(void);

/* Marks the teams of a process that is lost: they can do nothing collective any more. */
extern const struct tmb_layer tmb_team_layer;

/* Call `fn` for every team that has lost a member, with a reference held and no lock. */
void tmb_team_each_lost(void (*fn)(struct tmb_team *team));

/* Teams made and freed by this process so far, and bytes in live teams; for tests and reports. */
struct tmb_team_stats tmb_team_stats(void); /* job_parts.h */

/* ---- team_gather.c */

/*
 * Every member contributes `bytes` bytes (1..TMB_TEAM_GATHER_BYTES, equal on all) and gets those of
 * all by rank. Collective over the team in team order; normal context; polls. Returns false when a
 * member is lost; the thread has met the loss. Bruck's algorithm: ceil(log2 P) rounds, one message
 * per round; of a team with groups, among their leaders.
 */
bool tmb_team_allgather(struct tmb_team *team, const void *mine, size_t bytes, void *all);

/* The all-gather in steps, so that one thread can serve several members of a team: begin for
 * each, step until all are complete, then end each. */
struct tmb_team_gathering {
  struct tmb_team *team;
  struct tmb_team_gather *slot;
  uint64_t number; /* of this all-gather in the team */
  uint32_t bytes, round;
  uint32_t seen; /* members whose contribution in shared memory has been seen */
  bool sent;     /* the message of `round` */
  bool done;
};
void tmb_team_gather_begin(struct tmb_team_gathering *g, struct tmb_team *team, const void *mine,
                           size_t bytes);
/* Send the rounds that are ready. Returns whether the all-gather is complete, or never will be
 * because a member is lost. */
bool tmb_team_gather_step(struct tmb_team_gathering *g);
/* Copy the result to `all` and end; after tmb_team_gather_step has returned true. Returns false
 * as tmb_team_allgather. */
bool tmb_team_gather_end(struct tmb_team_gathering *g, void *all);
/* Describes a gathering, as struct tmb_why of wait.h wants it. */
void tmb_team_gather_describe(const void *gathering, struct tmb_status_wait *out);

extern const struct tmb_layer tmb_team_gather_layer;

#endif
