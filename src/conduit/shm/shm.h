/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On-node engine: message rings, message buffers, doorbells, control words and segments in shared
 * memory.
 *
 * Owns: struct tmb_shm, one per process, and the layout of the arena, a memory file that all ranks
 * of a host map. Called by: conduit/smp, and later by network conduits for their on-node peers.
 * Calls: base, os, conduit.h's upcalls. Arena: [control block x size][request and reply ring x
 * size][message buffers x size][words for semaphores x size][areas x size][index of signals x
 * size]; each part page aligned, every rank computes the same offsets from the same settings. Pages
 * are touched on first use only, so a pair that never talks costs nothing and the whole arena is
 * one mapping. Invariants: ring positions are slot counts that never decrease, tail - head <=
 * slots; a record is contiguous; a slot is ready when its lap word equals the lap of its position;
 * interior slots of a record have lap 0 after consumption, so payload is never taken for a header.
 */
#ifndef TMB_CONDUIT_SHM_SHM_H
#define TMB_CONDUIT_SHM_SHM_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "conduit/conduit.h"
#include "os/lock.h"

#define TMB_SHM_RANK_BITS        (32 - TMB_ROUTE_BITS) /* 2^20 ranks */
#define TMB_SHM_SLOT_BYTES       64
#define TMB_SHM_RECORD_SLOTS_MAX 192 /* 12 KiB: fits the slot count byte */
#define TMB_SHM_CLAIMS           64  /* threads of a process that reserve at the same time */

/* One 64-byte slot. The first word is written last, with release order. */
struct tmb_shm_slot {
  uint32_t lap; /* 0: not ready; else lap of the position, high bit set */
  uint8_t handler;
  uint8_t nargs;
  uint8_t kind;  /* TMB_SHM_KIND_* | reply bit not needed: rings are separate */
  uint8_t slots; /* of this record */
  uint32_t src;  /* jobrank; route in the upper TMB_ROUTE_BITS: no cost while it is 0 */
  uint32_t nbytes;
  uint8_t body[48]; /* args, padded to 16 bytes, then payload; Long and bulk: 8-byte word first */
};
_Static_assert(sizeof(struct tmb_shm_slot) == TMB_SHM_SLOT_BYTES, "a slot is one cache line");

enum {
  TMB_SHM_KIND_SHORT,
  TMB_SHM_KIND_MEDIUM, /* payload in the record */
  TMB_SHM_KIND_LONG,   /* word: destination address at the target */
  TMB_SHM_KIND_BULK,   /* medium; word: buffer index of the sender */
  TMB_SHM_KIND_PAD     /* nothing: the record before the wrap */
};

/* A ring in the arena. tail: any producer, by compare and swap. head: the owner, lazily. */
struct tmb_shm_ring {
  uint64_t tail TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t head TMB_ALIGNED(TMB_CACHE_LINE);
  struct tmb_shm_slot slot[] TMB_ALIGNED(TMB_CACHE_LINE);
};

/* A word alone in its cache line. */
struct tmb_shm_line {
  uint64_t word TMB_ALIGNED(TMB_CACHE_LINE);
};

/* Control block of a rank in the arena. */
struct tmb_shm_ctl {
  struct {
    uint32_t bell;     /* futex; incremented by wakers */
    uint32_t sleeping; /* 1: somebody sleeps or is about to; set by the owner, cleared by wakers */
    uint32_t indexed;  /* 1: the owner wants its signals indexed; set by the owner, for ever */
  } door TMB_ALIGNED(TMB_CACHE_LINE);
  struct tmb_shm_line flag[TMB_FLAG_WORDS]; /* control words, one writer each */
};

/* Consumer side of a ring, private to the owning process. */
struct tmb_shm_inbox {
  struct tmb_shm_ring *ring;
  struct tmb_lock lock; /* held by the thread that consumes */
  uint64_t head;        /* next position to consume; written under the lock, as next and lap are */
  const uint64_t *next; /* first word of the slot at `head` */
  uint32_t lap;         /* its low half once the record is there */
  uint64_t published;   /* last value stored in ring->head; under the lock */
} TMB_ALIGNED(TMB_CACHE_LINE);

/* The tails of this process's rings when a peer was lost: everything that the peer sent has been
 * handled once the heads have reached them. */
struct tmb_shm_mark {
  uint64_t tail[2];
};

/* This process's copies of the heads of a peer's two rings, as it last read them; 16 bytes per
 * peer. */
struct tmb_shm_seen {
  uint64_t head[2];
};

struct tmb_shm {
  struct tmb_conduit_env env;
  char *arena; /* mapping of arena_fd */
  size_t arena_bytes;
  size_t ring_offset, ring_stride; /* request ring, then reply ring at ring_reply */
  size_t ring_reply;
  size_t bulk_offset, bulk_stride;
  size_t word_offset; /* TMB_SHARED_WORDS lines for each rank */
  size_t area_offset; /* `areas` times TMB_SHARED_AREA_BYTES for each rank */
  uint32_t areas;
  size_t index_offset;              /* TMB_INDEX_AREA_BYTES for each rank */
  size_t claim_offset;              /* TMB_SHM_CLAIMS words for each rank */
  uint32_t slots[2], slots_log2[2]; /* of request and reply rings */
  uint32_t inline_bytes_max;        /* largest medium payload inside a record */
  uint32_t bulk_count[2];           /* message buffers for requests and replies */
  uint32_t bulk_next[2];            /* where the search for a free buffer begins; a hint */
  bool sender_fences; /* some rank's kernel has no membarrier, so whoever wakes others needs a fence
                         of its own */
  struct tmb_shm_inbox inbox[2]; /* 0 requests, 1 replies */
  struct tmb_shm_seen *seen;     /* [size] */
  intptr_t *delta;               /* [size] as conduit.h's attach; valid after it */
  char *segments;                /* mapping of segment_fd, NULL before attach */
  size_t segments_bytes;
  uint64_t *claims;          /* claims of this process's threads; NULL while no loss is expected */
  uint8_t *gone;             /* [size] 1: lost; NULL as above */
  uint32_t gone_count;       /* lost peers */
  struct tmb_shm_mark *mark; /* [size] valid for lost peers; NULL as above */
};

/* Control block of a rank. */
static inline struct tmb_shm_ctl *tmb_shm_ctl(const struct tmb_shm *shm, uint32_t rank) {
  return (struct tmb_shm_ctl *)(void *)shm->arena + rank;
}

/* Ring of a rank. in reply: 0 requests, 1 replies. */
static inline struct tmb_shm_ring *tmb_shm_ring(const struct tmb_shm *shm, uint32_t rank,
                                                uint32_t reply) {
  return (struct tmb_shm_ring *)(void *)(shm->arena + shm->ring_offset + rank * shm->ring_stride +
                                         (reply ? shm->ring_reply : 0));
}

/* A word that `rank` lends to the upper layers; all are zero at first. */
static inline uint64_t *tmb_shm_word(const struct tmb_shm *shm, uint32_t rank, uint32_t index) {
  struct tmb_shm_line *lines = (struct tmb_shm_line *)(void *)(shm->arena + shm->word_offset);
  return &lines[(size_t)rank * TMB_SHARED_WORDS + index].word;
}

/* An area that `rank` lends to the upper layers. */
static inline void *tmb_shm_area(const struct tmb_shm *shm, uint32_t rank, uint32_t index) {
  return shm->arena + shm->area_offset +
         ((size_t)rank * shm->areas + index) * TMB_SHARED_AREA_BYTES;
}

/* The index of the signals of `rank`. */
static inline void *tmb_shm_index(const struct tmb_shm *shm, uint32_t rank) {
  return shm->arena + shm->index_offset + (size_t)rank * TMB_INDEX_AREA_BYTES;
}

/* Claims of a rank. */
static inline uint64_t *tmb_shm_claims(const struct tmb_shm *shm, uint32_t rank) {
  return (uint64_t *)(void *)(shm->arena + shm->claim_offset) + (size_t)rank * TMB_SHM_CLAIMS;
}

/* The lap of a ring position: the value of the `lap` word of a slot that is ready there. */
static inline uint32_t tmb_shm_lap(uint64_t pos, uint32_t slots_log2) {
  return (uint32_t)(pos >> slots_log2) | 0x80000000u;
}

/* Move the consumer of an inbox to a position. The caller owns the lock, or is alone. */
static inline void tmb_shm_inbox_move(const struct tmb_shm *shm, struct tmb_shm_inbox *box,
                                      uint32_t reply, uint64_t head) {
  const struct tmb_shm_slot *slot = &box->ring->slot[head & (shm->slots[reply] - 1)];
  tmb_store_rel(&box->head, head);
  tmb_store_rlx(&box->next, (const uint64_t *)(const void *)slot);
  tmb_store_rlx(&box->lap, tmb_shm_lap(head, shm->slots_log2[reply]));
}

/* shm_arena.c: compute the layout, create and map the arena; collective. out shm: zeroed by the
 * caller. Returns 0 or a printed error. */
int tmb_shm_open(struct tmb_shm *shm, const struct tmb_conduit_env *env);
void tmb_shm_close(struct tmb_shm *shm);

/* shm_am.c: the am_send, progress slots of conduit.h. */
int tmb_shm_am_send(struct tmb_shm *shm, struct tmb_am_out *out);
int tmb_shm_progress(struct tmb_shm *shm, int serve);

/* shm_bulk.c: message buffers. Index space: requests 0..bulk_count[0]-1, then replies. */
void *tmb_shm_bulk_take(struct tmb_shm *shm, struct tmb_am_out *out);
void tmb_shm_bulk_release(struct tmb_shm *shm, struct tmb_am_out *out);
void *tmb_shm_bulk_addr(const struct tmb_shm *shm, uint32_t rank, uint32_t index);
void tmb_shm_bulk_done(struct tmb_shm *shm, uint32_t rank, uint32_t index);

/* tmb_shm_bulk_sent: record that a buffer goes to a peer, before its message is published.
 * tmb_shm_bulk_reclaim: the peer is lost, take back the buffers that went to it. */
void tmb_shm_bulk_sent(struct tmb_shm *shm, uint32_t index, uint32_t peer);
void tmb_shm_bulk_reclaim(struct tmb_shm *shm, uint32_t peer);

/* shm_loss.c: the expect_loss and lost slots. */
void tmb_shm_expect_loss(struct tmb_shm *shm, uint64_t *offset, uint64_t *stride);
int tmb_shm_lost(struct tmb_shm *shm, uint32_t peer);

/* Take a word in which this thread writes its claims; storing 0 in it gives it back. Only once
 * losses are expected. */
uint64_t *tmb_shm_claim_take(struct tmb_shm *shm);
/* A claim: slots [pos, pos + count) of a ring, which is named by tmb_shm_claim_ring. */
uint64_t tmb_shm_claim_ring(uint32_t rank, uint32_t reply);
uint64_t tmb_shm_claim(uint64_t ring, uint64_t pos, uint64_t count);
/* Skip slots that a lost peer reserved and never published. in box: the inbox of this ring.
 * Returns whether there were any. */
int tmb_shm_repair(struct tmb_shm *shm, struct tmb_shm_inbox *box, uint32_t reply)
    TMB_REQUIRES(box->lock);

/* shm_door.c: doorbells, control words. */
void tmb_shm_door_ring(struct tmb_shm *shm, uint32_t rank);
bool tmb_shm_sleep(struct tmb_shm *shm, uint64_t (*last_check)(void *), void *arg);
void tmb_shm_wake_self(struct tmb_shm *shm);
void tmb_shm_flag_post(struct tmb_shm *shm, uint32_t peer, uint32_t index, uint64_t value);
void tmb_shm_index_begin(struct tmb_shm *shm);

/* shm_segment.c: the attach slot. */
int tmb_shm_attach(struct tmb_shm *shm, const uint64_t *sizes, void **base, intptr_t *delta);

/* Wakes `rank` if it sleeps; call after the store that it waits for. */
static inline void tmb_shm_notify(struct tmb_shm *shm, uint32_t rank) {
  if (TMB_UNLIKELY(shm->sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_shm_ctl(shm, rank)->door.sleeping)))
    tmb_shm_door_ring(shm, rank);
}

/* Wake `rank` as tmb_shm_notify, unless it has an index of its signals: then do nothing, because
 * the caller must enter the signal there first. Returns whether it was done. */
static inline bool tmb_shm_notify_unindexed(struct tmb_shm *shm, uint32_t rank) {
  const struct tmb_shm_ctl *ctl = tmb_shm_ctl(shm, rank);
  if (TMB_UNLIKELY(shm->sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  if (TMB_LIKELY(!(tmb_load_rlx(&ctl->door.sleeping) | tmb_load_rlx(&ctl->door.indexed))))
    return true;
  if (tmb_load_rlx(&ctl->door.indexed)) return false;
  tmb_shm_door_ring(shm, rank);
  return true;
}

#endif
