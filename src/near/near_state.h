/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the on-node engine, and the layout of the memory that the ranks of one host share.
 *
 * Owns: struct tmb_near, one per process, and its parts. Included by near.h, which has the calls,
 * and by core/job.h, of which it is a member. Arena: [control block x count][request and reply ring
 * x count][message buffers x count][claims x count] and then, for each region that a layer has
 * asked for, [bytes x count]; each part is page aligned. Every rank computes equal offsets, because
 * the settings are equal. Pages are touched on first use only, so a pair that never talks costs
 * nothing and the whole arena is one mapping. Invariants: ring positions are slot counts that never
 * decrease, tail - head <= slots; a record is contiguous; a slot is ready when its lap word equals
 * the lap of its position; interior slots of a record have lap 0 after consumption, or begin with
 * something else than the next lap (TMB_NEAR_KIND_CLEAN), so payload is never taken for a header.
 */
#ifndef TMB_NEAR_STATE_H
#define TMB_NEAR_STATE_H

#include "base/compiler.h"
#include "net/message.h"
#include "os/sync/lock.h"

#define TMB_NEAR_RANK_BITS        (32 - TMB_ROUTE_BITS) /* 2^20 ranks */
#define TMB_NEAR_SLOT_BYTES       64
#define TMB_NEAR_RECORD_SLOTS_MAX 192 /* 12 KiB: fits the slot count byte */
#define TMB_NEAR_CLAIMS           64  /* threads of a process that reserve concurrently */
#define TMB_NEAR_REGIONS_MAX      16
#define TMB_NEAR_ROUND_BYTES_MIN  (128u << 10) /* of payload, until a buffer comes again */
#define TMB_NEAR_ROUND_BYTES_MAX  (512u << 10)

/* One 64-byte slot. The first word is written last, with release order. */
struct tmb_near_slot {
  uint32_t lap; /* 0: not ready; else lap of the position, high bit set */
  uint8_t handler;
  uint8_t nargs;
  uint8_t kind;  /* TMB_NEAR_KIND_* | reply bit not needed: rings are separate */
  uint8_t slots; /* of this record */
  uint32_t
      src; /* jobrank of the sender; route in the upper TMB_ROUTE_BITS: no cost while it is 0 */
  uint32_t nbytes;
  uint8_t body[48]; /* args, padded to 16 bytes, then payload; Long and bulk: 8-byte word first */
};
_Static_assert(sizeof(struct tmb_near_slot) == TMB_NEAR_SLOT_BYTES, "a slot is one cache line");

enum {
  TMB_NEAR_KIND_SHORT,
  TMB_NEAR_KIND_MEDIUM, /* payload in the record */
  TMB_NEAR_KIND_CLEAN,  /* the same; no interior slot begins with the lap that comes next there */
  TMB_NEAR_KIND_LONG,   /* word: destination address at the target */
  TMB_NEAR_KIND_BULK,   /* medium; word: the buffer; near index of its owner in the upper half */
  TMB_NEAR_KIND_PAD     /* nothing: the record before the wrap */
};

/* A ring in the arena. tail: any producer, by compare and swap. head: the owner, lazily. */
struct tmb_near_ring {
  uint64_t tail TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t head TMB_ALIGNED(TMB_CACHE_LINE);
  struct tmb_near_slot slot[] TMB_ALIGNED(TMB_CACHE_LINE);
};

/* A word alone in its cache line. */
struct tmb_near_line {
  uint64_t word TMB_ALIGNED(TMB_CACHE_LINE);
};

/* Kinds of sleep of a rank. */
enum { TMB_NEAR_AWAKE, TMB_NEAR_IN_FUTEX, TMB_NEAR_IN_POLL };

/* Control block of a rank in the arena. */
struct tmb_near_ctl {
  struct {
    uint32_t bell;     /* futex; incremented by wakers */
    uint32_t sleeping; /* TMB_NEAR_IN_*: somebody sleeps or is about to; set by the owner, cleared
                          by wakers */
    uint32_t indexed;  /* 1: the owner wants its signals indexed; set by the owner, for ever */
  } door TMB_ALIGNED(TMB_CACHE_LINE);
};

/* Consumer side of a ring, private to the owning process. */
struct tmb_near_inbox {
  struct tmb_near_ring *ring;
  struct tmb_lock lock; /* held by the thread that consumes */
  uint32_t lap;         /* low half of the first word of a record at `head`, once it is there */
  uint64_t head;        /* next position to consume; written under the lock, as next and lap are */
  const uint64_t *next; /* first word of the slot at `head` */
  const void *answer;   /* slot that a message to the last target would take, of the other kind; a
                           hint; NULL: none was sent since a record of this inbox was handled */
  uint64_t publish_at;  /* position at which ring->head is stored next; under the lock */
  uint64_t *shown;      /* copy of `head` for readers that ask for unread messages */
  uint64_t unseen;      /* that place where the environment has none */
} TMB_ALIGNED(TMB_CACHE_LINE);
_Static_assert(sizeof(struct tmb_near_inbox) == TMB_CACHE_LINE, "one line");

/* The tails of this process's rings when a peer was lost: everything that the peer sent has been
 * handled once the heads have reached them. */
struct tmb_near_mark {
  uint64_t tail[2];
};

/* Copies in this process of the heads of a peer's two rings, as it last read them; 16 bytes per
 * peer. */
struct tmb_near_seen {
  uint64_t head[2];
};

/* Arguments of core to the engine at open. Lifetime: the job. */
struct tmb_near_env {
  uint64_t *handled;     /* [2] for the positions up to which this rank has handled requests and
                            replies, or NULL */
  uint32_t rank;         /* jobrank of this process */
  uint32_t index, count; /* near index of this process; ranks of this host */
  int arena_fd;          /* memory that the ranks of the host share, for the arena; empty */
  int segment_fd;        /* descriptor of an empty file, for segments */
  const int *bell_fd;    /* [count] eventfds that wake ranks from poll; NULL: nobody sleeps there */
  bool threads;          /* client threads may be inside the library at once */
  void *ctx;             /* argument of the functions below; each is collective over the job */
  bool (*agree)(void *ctx, bool ok); /* whether ok is true on every rank of the job */
  bool (*share)(void *ctx, uint64_t mine,
                uint64_t *all); /* out all: [count] of the ranks of this host; returns whether no
                                   rank of the job has 0 */
};

/* Memory that a layer has asked for: [count] times `bytes`, zero at first. */
struct tmb_near_region {
  const char *name;
  size_t bytes;  /* of one rank, a multiple of a cache line */
  size_t offset; /* in the arena */
};

struct tmb_near {
  struct tmb_near_env env;
  char *arena; /* mapping of arena_fd */
  size_t arena_bytes;
  size_t ring_offset, ring_stride; /* request ring, then reply ring at ring_reply */
  size_t ring_reply;
  size_t bulk_offset, bulk_stride;
  struct tmb_near_region region[TMB_NEAR_REGIONS_MAX];
  uint32_t regions;
  size_t claim_offset;              /* TMB_NEAR_CLAIMS words for each rank */
  uint32_t slots[2], slots_log2[2]; /* of request and reply rings */
  uint32_t inline_bytes_max;        /* largest medium payload inside a record */
  uint32_t bulk_count[2];           /* message buffers for requests and replies */
  uint32_t bulk_next[2];            /* where the search for a free buffer begins; a hint */
  uint32_t round_bytes;             /* payload that goes round the buffers: a quarter of L2 */
  bool sender_fences; /* some rank's kernel has no membarrier, so a waking thread needs a fence
                         of its own */
  struct tmb_near_inbox inbox[2]; /* 0 requests, 1 replies */
  struct tmb_near_seen *seen;     /* [count] */
  intptr_t *delta; /* [count] offset from an address in a rank's segment to ours; valid
                    * after attach */
  char *segments;  /* mapping of segment_fd, NULL before attach */
  size_t segments_bytes;
  uint64_t *claims;           /* claims of this process's threads; NULL while no loss is expected */
  uint8_t *lost;              /* [count] 1: lost; NULL as above */
  uint32_t lost_count;        /* lost peers */
  struct tmb_near_mark *mark; /* [count] valid for lost peers; NULL as above */
};

#endif
