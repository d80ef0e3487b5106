/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On-node engine: message rings, message buffers, doorbells, segments, and regions of the layers
 * above, in memory that the ranks of one host share.
 *
 * Owns: an arena, a memory file that all ranks of a host map (near_state.h has its layout). Called
 * by core. Calls: base, os, the upcall for messages. Invariants: it knows the ranks of its host
 * only, by their near index (0 .. count - 1 in the order of their jobranks); nothing in it is sized
 * by the job.
 */
#ifndef TMB_NEAR_NEAR_H
#define TMB_NEAR_NEAR_H

#include "base/atomic.h"
#include "near/near_state.h"

/* Control block of a rank. */
static inline struct tmb_near_ctl *tmb_near_ctl(const struct tmb_near *near, uint32_t rank) {
  return (struct tmb_near_ctl *)(void *)near->arena + rank;
}

/* Ring of a rank. in reply: 0 requests, 1 replies. */
static inline struct tmb_near_ring *tmb_near_ring(const struct tmb_near *near, uint32_t rank,
                                                  uint32_t reply) {
  return (struct tmb_near_ring *)(void *)(near->arena + near->ring_offset +
                                          rank * near->ring_stride +
                                          (reply ? near->ring_reply : 0));
}

/* Memory of a rank in a region. */
static inline void *tmb_near_at(const struct tmb_near *near, uint32_t region, uint32_t index) {
  const struct tmb_near_region *r = &near->region[region];
  return near->arena + r->offset + index * r->bytes;
}

/* Claims of a rank. */
static inline uint64_t *tmb_near_claims(const struct tmb_near *near, uint32_t rank) {
  return (uint64_t *)(void *)(near->arena + near->claim_offset) + (size_t)rank * TMB_NEAR_CLAIMS;
}

/* The lap of a ring position: the value of the `lap` word of a slot that is ready there. */
static inline uint32_t tmb_near_lap(uint64_t pos, uint32_t slots_log2) {
  return (uint32_t)(pos >> slots_log2) | 0x80000000u;
}

/* Move the consumer of an inbox to a position. The caller owns the lock, or is alone. Returns the
 * slot there; out lap: of the position. */
static inline struct tmb_near_slot *tmb_near_inbox_move(const struct tmb_near *near,
                                                        struct tmb_near_inbox *box, uint32_t reply,
                                                        uint64_t head, uint32_t *lap) {
  struct tmb_near_slot *slot = &box->ring->slot[head & (near->slots[reply] - 1)];
  *lap = tmb_near_lap(head, near->slots_log2[reply]);
  tmb_store_rel(&box->head, head);
  tmb_store_rlx(box->shown, head);
  tmb_store_rlx(&box->next, (const uint64_t *)(const void *)slot);
  tmb_store_rlx(&box->lap, *lap);
  return slot;
}

/* Show senders the room in a ring, and when to do so next: each quarter of it. */
static inline void tmb_near_inbox_publish(const struct tmb_near *near, struct tmb_near_inbox *box,
                                          uint32_t reply, uint64_t head) {
  box->publish_at = head + near->slots[reply] / 4;
  tmb_store_rel(&box->ring->head, head);
}

/* ---- near_arena.c */

/*
 * Ask for memory of each rank of the host that the others reach by load and store, zero at first;
 * untouched pages cost no memory. Equal calls in equal order on all ranks, before tmb_near_open. in
 * name: for messages, a literal; in bytes: of one rank, rounded up to a cache line. Returns the
 * number of the region, for tmb_near_at.
 */
uint32_t tmb_near_region(struct tmb_near *near, const char *name, size_t bytes);

/* Compute the layout, create and map the arena; collective. in near: zero but for its regions.
 * Returns 0, or an error that has been printed; then it is zeroed. May block. */
int tmb_near_open(struct tmb_near *near, const struct tmb_near_env *env);

/* Release everything; not collective. */
void tmb_near_close(struct tmb_near *near);

/* ---- near_am.c */

/* Try to send to the rank of near index `to`; out->peer is not read. A Long's destination is
 * in that rank's mapped segment, or its payload is in place (filled). 0: the payload has been read.
 * TMB_AGAIN: no resources now, or as tmb_near_bulk_take; out->staged may hold one, call again with
 * this struct or release it. Never blocks, never runs handlers. Any thread. */
int tmb_near_am_send(struct tmb_near *near, uint32_t to, struct tmb_am_out *out);

/* tmb_near_am_send for a Short without a route. Returns whether it is sent; else ask
 * tmb_near_am_send: there is no room, a slot has no room for its arguments, or losses are expected.
 */
bool tmb_near_send_short(struct tmb_near *near, uint32_t to, bool reply, uint8_t handler,
                         uint8_t nargs, const int32_t *args);

/* The same for a client's Medium; false also where a buffer is needed and messages are to be
 * handled first. in head: tmb_am_head. */
bool tmb_near_send_medium(struct tmb_near *near, uint32_t to, uint32_t head, const int32_t *args,
                          const void *src, size_t nbytes);

/*
 * Whether the next record of an inbox is there; a hint that decides only whether to try. With
 * several consuming threads `next` and `lap` may be out of date, and then this reads a word that a
 * producer is just filling: hence not checked for races.
 */
TMB_NO_TSAN static inline bool tmb_near_pending(const struct tmb_near_inbox *box) {
  return (uint32_t)tmb_load_rlx(tmb_load_rlx(&box->next)) == tmb_load_rlx(&box->lap);
}

/* Whether no reply was handled since a request was sent; where several threads send, never. */
static inline bool tmb_near_expects_answer(const struct tmb_near *near) {
  return tmb_load_rlx(&near->inbox[1].answer) != NULL;
}

/* Parts of tmb_near_progress: what is pending in one inbox; and where peers are lost, records that
 * may never come. */
int tmb_near_serve_requests(struct tmb_near *near);
int tmb_near_serve_replies(struct tmb_near *near);
int tmb_near_serve_holes(struct tmb_near *near, int serve);

/* Run the handlers of arrived messages (tmb_up_am); bounded. in serve: TMB_SERVE_*. Returns
 * TMB_FOUND_ bits: WORK if something was done, BUSY if a part was skipped because another thread is
 * at work there. Never sleeps. Any thread. */
static inline int tmb_near_progress(struct tmb_near *near, int serve) {
  int found = TMB_FOUND_NOTHING;
  if (TMB_UNLIKELY(tmb_near_pending(&near->inbox[1])) && (serve & TMB_SERVE_REPLIES))
    found |= tmb_near_serve_replies(near);
  if (TMB_UNLIKELY(tmb_near_pending(&near->inbox[0])) && (serve & TMB_SERVE_REQUESTS))
    found |= tmb_near_serve_requests(near);
  if (TMB_UNLIKELY(tmb_load_rlx(&near->lost_count))) found |= tmb_near_serve_holes(near, serve);
  return found;
}

/* ---- near_bulk.c: message buffers. Index space: requests 0..bulk_count[0]-1, then replies. */

/* Reserve a buffer of TMB_AM_MEDIUM_BYTES_MAX bytes that the target reads in place. out->is_reply
 * is read, out->staged set. Returns its address, or NULL when none is free now, or at the first
 * attempt of a client's request while messages wait to be handled. Any thread. */
void *tmb_near_bulk_take(struct tmb_near *near, struct tmb_am_out *out);

/* Give back out->staged, if any, of a message that will not be sent. */
void tmb_near_bulk_release(struct tmb_near *near, struct tmb_am_out *out);

/* Reserve one for a client's Medium: its index, or -1 where tmb_near_bulk_take returns NULL. */
int32_t tmb_near_bulk_take_index(struct tmb_near *near, bool reply, size_t nbytes);

void *tmb_near_bulk_addr(const struct tmb_near *near, uint32_t rank, uint32_t index);
void tmb_near_bulk_done(struct tmb_near *near, uint32_t rank, uint32_t index);

/* tmb_near_bulk_sent: record that a buffer goes to a peer, before its message is published.
 * tmb_near_bulk_reclaim: the peer is lost, take back the buffers that went to it. */
void tmb_near_bulk_sent(struct tmb_near *near, uint32_t index, uint32_t peer);
void tmb_near_bulk_reclaim(struct tmb_near *near, uint32_t peer);

/* ---- near_loss.c */

/* From now on peers may be lost and this rank goes on: keep the state for that. Collective in
 * effect: a barrier follows before a peer may be lost. out offset, stride: where ranks sleep in the
 * arena file, as 32-bit futexes that a waker increments, by near index. */
void tmb_near_expect_loss(struct tmb_near *near, uint64_t *offset, uint64_t *stride);

/* The rank of near index `peer` is lost; no message will be sent to it any more. Take back the
 * resources of its messages, and see that an unfinished action of it stops nobody. Returns 0 once
 * everything that it had sent has been delivered, TMB_AGAIN before: call again after progress. One
 * thread at a time. */
int tmb_near_lost(struct tmb_near *near, uint32_t peer);

/* Take a word in which this thread writes its claims; storing 0 in it gives it back. Only once
 * losses are expected. */
uint64_t *tmb_near_claim_take(struct tmb_near *near);
/* A claim: slots [pos, pos + count) of a ring, which is named by tmb_near_claim_ring. */
uint64_t tmb_near_claim_ring(uint32_t rank, uint32_t reply);
uint64_t tmb_near_claim(uint64_t ring, uint64_t pos, uint64_t count);
/* Skip slots that a lost peer reserved and never published. in box: the inbox of this ring.
 * Returns whether there were any. */
int tmb_near_repair(struct tmb_near *near, struct tmb_near_inbox *box, uint32_t reply)
    TMB_REQUIRES(box->lock);

/* ---- near_door.c */

/* Wake the rank of near index `rank`, which is about to sleep or sleeps. */
void tmb_near_door_ring(struct tmb_near *near, uint32_t rank);

/* Sleep until something may have arrived. `last_check` is asked after the intention to sleep is
 * visible to peers and to other threads of this process: for how many nanoseconds at most, 0: there
 * is no sleep, UINT64_MAX: no limit. Returns whether it slept and was woken. */
bool tmb_near_sleep(struct tmb_near *near, uint64_t (*last_check)(void *), void *arg);

/* Sleep by steps, for a thread that sleeps in poll, on its bell among others: announce the sleep
 * before the last poll; withdraw it afterwards. in timed_out: it slept, and nothing woke it. */
void tmb_near_doze_begin(struct tmb_near *near);
void tmb_near_doze_end(struct tmb_near *near, bool timed_out);

/* Begin to index signals: on return, every writer to memory of this process sees it in
 * tmb_near_notify_unindexed, and earlier writes of others are visible here. */
void tmb_near_index_begin(struct tmb_near *near);

/* ---- near_segment.c */

/* Create this rank's segment and map those of all ranks of the host; collective. in sizes: [count]
 * bytes, page multiples. out base: own segment; out delta: [count] difference to the owner's
 * address. Returns 0 or an error that has been printed. */
int tmb_near_attach(struct tmb_near *near, const uint64_t *sizes, void **base, intptr_t *delta);

/* Wakes `rank` if it sleeps; call after the store that it waits for. */
static inline void tmb_near_notify(struct tmb_near *near, uint32_t rank) {
  if (TMB_UNLIKELY(near->sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_near_ctl(near, rank)->door.sleeping)))
    tmb_near_door_ring(near, rank);
}

/* Wake threads of this process that are in tmb_near_sleep. Cheap when there are none. */
static inline void tmb_near_wake_self(struct tmb_near *near) {
  tmb_near_notify(near, near->env.index);
}

/* Wake `rank` as tmb_near_notify, unless it has an index of its signals: then do nothing, because
 * the caller must enter the signal there first. Returns whether it was done. */
static inline bool tmb_near_notify_unindexed(struct tmb_near *near, uint32_t rank) {
  const struct tmb_near_ctl *ctl = tmb_near_ctl(near, rank);
  if (TMB_UNLIKELY(near->sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  if (TMB_LIKELY(!(tmb_load_rlx(&ctl->door.sleeping) | tmb_load_rlx(&ctl->door.indexed))))
    return true;
  if (tmb_load_rlx(&ctl->door.indexed)) return false;
  tmb_near_door_ring(near, rank);
  return true;
}

#endif
