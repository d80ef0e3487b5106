/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of struct tmb_job that belong to one file each, of core or of a layer above.
 *
 * Owns: their types. Included by job.h only. A part is named after its subject; the comment above
 * it names the one file that reads and writes it. So a second struct tmb_job has a state of its own
 * (src/api/two_jobs_test.c), and no file of core keeps one beside it, but for those of
 * docs/STATE.md. Invariants: a part that threads share has its lock as first field, on a cache line
 * of its own, and all that follows changes under it unless it says `atomic` (clang checks it by a
 * function of the file, which demands the lock and returns the part); all bytes 0 is its state
 * before the job begins, unless job.c says otherwise.
 */
#ifndef TMB_CORE_JOB_PARTS_H
#define TMB_CORE_JOB_PARTS_H

#include "base/compiler.h"
#include "base/container/hash.h"
#include "boot/status.h"
#include "core/gex.h"
#include "core/layer.h"
#include "net/message.h"
#include "os/sync/lock.h"

#include <gasnetex_ext.h>
#include <stdbool.h>

_Static_assert(TMB_HANDLER_FIRST == GEX_AM_INDEX_BASE, "handlers of clients begin there");

struct tmb_team;
struct tmb_thread;
struct tmb_op;

/* layer.c: the layers, and which of them has which work; written once. */
struct tmb_layers {
  const struct tmb_layer *const *all;
  size_t count;
  const struct tmb_layer *at_work[TMB_WORK_KINDS];
  const struct tmb_layer *signals, *atomics, *counts; /* the layer that has this call, or NULL */
  const struct tmb_layer *closes, *makes, *frees;     /* teams, likewise */
};

/* am/am_deliver.c: handlers of internal messages by index; takes 0: free. Written once. */
struct tmb_internal {
  struct tmb_layer_handler handler[TMB_HANDLER_FIRST];
};

/* op/thread.c: threads that have entered. */
struct tmb_threads {
  uint64_t alive; /* atomic */
  uint32_t ids;   /* atomic */
  /* The state of the first thread, of which SEQ clients have no other. */
  struct tmb_thread *only;
};

/* op/op.c: the pool of operations. */
struct tmb_op_pool {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t free_count, slots;
  struct tmb_op *head, *tail;
};

/* op/track.c: operations that each peer still has to complete. */
struct tmb_track {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  struct tmb_hash parts;
};

/* op/status.c: whose entries the team table of the status page are. */
struct tmb_shown {
  struct tmb_team *team[TMB_STATUS_TEAMS];
};

/* am/kit.c: transfers of which pieces are missing. */
#define TMB_PIECE_BUCKETS 64u /* power of two; chosen, not measured */
struct tmb_incomplete;
struct tmb_pieces {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  uint32_t last_id; /* atomic */
  size_t count;
  struct tmb_incomplete *bucket[TMB_PIECE_BUCKETS];
};

/* segment/target.c: places outside of segments that ranks of other hosts may write. */
#define TMB_TARGETS_MAX 64u /* chosen, not measured */
struct tmb_targets {
  uint32_t count; /* that are open; atomic */
  struct {
    const void *owner; /* NULL: free; atomic, as the others */
    uintptr_t base, bytes;
  } place[TMB_TARGETS_MAX];
};

/* progress/later.c: messages to the client that a thread of the conduit has received. */
struct tmb_later;
struct tmb_laters {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  uint32_t count; /* of messages; atomic */
  bool full;      /* `deferring` are not in `handlers` */
  size_t bytes;   /* of their payloads */
  struct tmb_later *first, *last;
  uint64_t deferring[2]; /* handlers that add messages */
  uint64_t handlers[2];  /* that may run in such a thread now; atomic, read by conduits */
};

/* segment/segment_create.c: segments that exist beside the attached one. */
struct tmb_segments {
  struct tmb_lock lock;
  struct gexx_segment_s *first;
  struct gexx_segment_s *dead; /* handles that debug clients have destroyed: stale ones are named */
};

/* segment/mk_peer.c: device segments of peers. */
struct gexx_mk_s;
struct tmb_far_segment;
struct tmb_far_segments {
  struct tmb_lock lock;
  struct gexx_mk_s *kinds;
  struct gexx_mk_s *dead;                      /* as that of tmb_segments */
  struct tmb_far_segment **far[GASNET_MAXEPS]; /* [job size] or NULL */
};

/* segment/mk_stage.c: the pool of host buffers for device memory that travels. */
struct tmb_mk_pool {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  uint32_t copies; /* that are in progress; grows under the lock; atomic */
  bool cannot;     /* a kind has failed to pin it */
  char *memory;    /* NULL: not made yet */
  size_t bytes;
  char *free; /* the first free buffer; its first word is the next one */
  struct gexx_mk_s *pinner;
};

/* shared.c: which rows of this process are in use. */
struct tmb_row_use {
  uint64_t used;          /* a bit for each; row 0 is never taken; atomic */
  uint32_t region, cards; /* of the on-node engine: rows; cards of the primordial team */
  uint32_t turns;         /* turns of ranks by processor */
};

/* progress/failure.c: state of peers. */
struct tmb_failures {
  struct tmb_lock attending; /* held by the thread that deals with changes */
  const uint32_t *changes;   /* counted by the supervisor */
  uint32_t seen;             /* changes that were handled */
  uint8_t *reported;         /* [size] 1: the callback was called or there was none */
  uint8_t *cut;              /* [size] 1: the conduit has given it up */
  uint32_t cuts;             /* given up, but not handled yet; atomic */
  gexx_Failure_Fn_t fn;
  void *cdata;
};

/* team/team.c: the registry of teams, and messages for teams that do not exist yet. The limits:
 * lists of the table of teams, a power of two; and former teams whose messages are recognised.
 * Chosen, not measured. */
#define TMB_TEAM_BUCKETS 256
#define TMB_TEAM_GRAVES  64
struct tmb_parked;
struct tmb_team_stats {
  uint64_t made, freed, bytes, parked;
};
struct tmb_registry {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  uint32_t grave_next;
  uint32_t making; /* calls that make teams in progress in this process; atomic */
  uint64_t uids;   /* atomic */
  struct tmb_team_stats stats;
  struct tmb_team *bucket[TMB_TEAM_BUCKETS];
  /* The first of those for teams of this bucket, in order of arrival, and their end; NULL: empty.
   */
  struct tmb_parked *parked[TMB_TEAM_BUCKETS];
  struct tmb_parked **parked_end[TMB_TEAM_BUCKETS];
  struct tmb_team *grave[TMB_TEAM_GRAVES];
};

/* team/barrier.c: barriers in flight, and the GASNet-1 barrier. */
struct tmb_barrier_words;
struct tmb_barriers {
  struct tmb_lock lock TMB_ALIGNED(TMB_CACHE_LINE);
  /* teams with EX barriers in flight, the primordial one apart */
  struct tmb_team *busy;
  /* sending a signal found no resources, so progress must try again */
  bool stalled;
  struct {
    uint64_t phase; /* number of the current or last named barrier, from 1 */
    uint32_t round;
    uint64_t vote;           /* combined votes of the ranks heard so far, see VOTE_BITS */
    const uint64_t *outcome; /* where the last to arrive writes it; NULL: signals by round */
    bool notified, complete;
    bool posted;   /* the signal of the present round has been sent */
    uint32_t lost; /* complete because of a lost rank: 1 + its number */
  } named;
  /* Set once: control words, a part of the on-node engine's memory that other ranks of the host
   * reach; this rank's. */
  uint32_t region;
  struct tmb_barrier_words *words;
};

/* team/shrink.c: shrinkings of teams, with their decisions. */
struct tmb_shrink;
struct tmb_shrinks {
  struct tmb_lock lock;
  struct tmb_shrink *first;
};

/* src/ratomic/domain.c: live domains of atomics. */
struct tmb_ad;
struct tmb_domains {
  struct tmb_lock lock;
  struct tmb_ad *first;
  struct tmb_ad *dead; /* as that of tmb_segments */
};

/* src/notify/stats.c: operations counted by peer; made at start, with TOMBOLO_STATS. */
struct tmb_stats;

#endif
