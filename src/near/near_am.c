/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages over the rings: send and progress.
 *
 * Owns: the record format. Called by core. Calls: near_bulk,
 * doorbells, near_loss, tmb_up_am. A record is 1..192 consecutive slots: 16-byte header, for Long
 * and bulk an 8-byte word, arguments, padding to 16, inline payload. The consumer clears the lap
 * words of interior slots. Invariants: a record never wraps (a PAD record fills the end); requests
 * and replies use separate rings, and only the request ring may be left unserved while a reply is
 * being sent, so replies always drain. Design follows the bounded queue with a sequence number per
 * slot (D. Vyukov), with variable-length records.
 */
/* How the rings work.
 *
 * Each rank owns two rings of 64-byte slots in shared memory, for requests and for replies. All
 * ranks of the host write into them, only the owner reads. The usual queue with a lock would make a
 * sender wait for one that lost its processor while it held the lock; so there is none.
 *
 * A sender advances `tail` by compare-and-swap. The slots that it passed are its own. It fills them
 * and at last stores the first word of the record, with release order. That word has the lap: how
 * often the ring has been filled. The owner looks at the slot at `head`. An old lap says that the
 * record is not ready, and that is all that the owner needs: no count, no flag to be reset, and the
 * load is of the line that it is going to read anyway. With acquire order it then sees the whole
 * record, and runs the handler on the payload where it lies.
 *
 * `head` tells senders how much room there is. It is published each quarter of the ring, and a
 * sender keeps a copy, so the line seldom travels. Records are in order of their reservation: one
 * that is reserved and not yet filled holds up those behind it, for as long as its sender needs for
 * a few stores. If the sender dies there, near_loss.c skips its slots.
 *
 * A handler may need room for its reply. While it waits, its rank serves replies only, which start
 * nothing. So some rank always empties its reply ring, and no circle of full rings can form. */

#include "base/error.h"
#include "near/near.h"
#include "net/up.h"

#include <string.h>

#define PROGRESS_BATCH    32 /* most records that one progress call consumes of each ring */
#define RESERVE_LOOKAHEAD 8u
#define ARGS_IN_SLOT      12u /* of a Short: room in a slot behind its header */

/*
 * The first eight bytes of a slot as one word, lap in the low half. Made by shifts: storing the
 * bytes one by one and loading them as a word would stall every send until the stores have left the
 * store buffer.
 */
static inline uint64_t header_word(uint32_t lap, const struct tmb_near_slot *h) {
  return (uint64_t)lap | (uint64_t)h->handler << 32 | (uint64_t)h->nargs << 40 |
         (uint64_t)h->kind << 48 | (uint64_t)h->slots << 56;
}

/* Fields of a header word. */
struct header {
  uint32_t lap;
  uint8_t handler, nargs, kind, slots;
};

static inline struct header header_of(uint64_t word) {
  return (struct header){.lap = (uint32_t)word,
                         .handler = (uint8_t)(word >> 32),
                         .nargs = (uint8_t)(word >> 40),
                         .kind = (uint8_t)(word >> 48),
                         .slots = (uint8_t)(word >> 56)};
}

/* The store is hidden from the thread sanitizer, which gets annotations instead: the slot
 * comes back through the consumer, often another process. */
TMB_NO_TSAN static inline void publish(struct tmb_near_slot *slot, uint32_t lap,
                                       const struct tmb_near_slot *h) {
  tmb_store_rel((uint64_t *)(void *)slot, header_word(lap, h));
}

/* The word in which this thread announces its reservation, and the ring; word NULL: losses are not
 * expected. */
struct claim {
  uint64_t *word, ring;
};

/*
 * Reserve `need` consecutive slots of a ring. out pos: position of the first. Returns false when
 * there is no room. in seen: this process's copy of the ring's head; stale values only make the
 * answer conservative.
 */
static TMB_ALWAYS_INLINE bool reserve(struct tmb_near_ring *ring, uint32_t slots_log2,
                                      uint32_t need, uint64_t *seen, const struct claim *claim,
                                      uint64_t *pos) {
  const uint64_t slots = UINT64_C(1) << slots_log2;
  uint64_t tail = tmb_load_rlx(&ring->tail);
  tmb_prefetch_write(&ring->slot[tail & (slots - 1)]);
  uint64_t pad;
  do {
    const uint64_t index = tail & (slots - 1);
    pad = need > 1 && index + need > slots ? slots - index : 0;
    if (TMB_UNLIKELY(tail + pad + need - tmb_load_acq(seen) > slots)) {
      tmb_store_rel(seen, tmb_load_acq(&ring->head));
      if (tail + pad + need - tmb_load_acq(seen) > slots) return false;
    }
    if (TMB_UNLIKELY(claim->word != NULL))
      tmb_store_rlx(claim->word, tmb_near_claim(claim->ring, tail, pad + need));
  } while (TMB_UNLIKELY(!tmb_cas_weak_rel(&ring->tail, &tail, tail + pad + need)));
  if (TMB_UNLIKELY(pad)) {
    const struct tmb_near_slot h = {.kind = TMB_NEAR_KIND_PAD, .slots = (uint8_t)pad};
    publish(&ring->slot[tail & (slots - 1)], tmb_near_lap(tail, slots_log2), &h);
  }
  TMB_TSAN_ACQUIRE(ring);
  *pos = tail + pad;
  tmb_prefetch_write(&ring->slot[(*pos + RESERVE_LOOKAHEAD) & (slots - 1)]);
  if (need > 1) tmb_prefetch_write(&ring->slot[(*pos + RESERVE_LOOKAHEAD + 1) & (slots - 1)]);
  return true;
}

/* Representation of a message, decided once per attempt. */
struct shape {
  uint8_t kind;
  uint32_t args_at;    /* offset of the arguments from the record's start */
  uint32_t payload_at; /* offset of inline payload */
  uint32_t slots;
};

static inline struct shape shape_of(const struct tmb_near *near, const struct tmb_am_out *out) {
  struct shape s = {.kind = TMB_NEAR_KIND_SHORT, .args_at = 16};
  uint32_t end = 16 + 4u * out->nargs;
  if (out->category == TMB_AM_MEDIUM) {
    if (out->staged >= 0 || out->nbytes > near->inline_bytes_max) {
      s.kind = TMB_NEAR_KIND_BULK;
    } else {
      s.kind = TMB_NEAR_KIND_MEDIUM;
      s.payload_at = TMB_ALIGN_UP(end, 16u);
      end = s.payload_at + (uint32_t)out->nbytes;
    }
  } else if (out->category == TMB_AM_LONG) {
    s.kind = TMB_NEAR_KIND_LONG;
  }
  if (s.kind == TMB_NEAR_KIND_LONG || s.kind == TMB_NEAR_KIND_BULK) {
    s.args_at = 24;
    end += 8;
  }
  s.slots = (end + TMB_NEAR_SLOT_BYTES - 1) / TMB_NEAR_SLOT_BYTES;
  return s;
}

/* Put the payload where the target will find it, before a slot is reserved. Returns false when no
 * buffer is free, or messages are to be handled first. */
static bool place_early(struct tmb_near *near, struct tmb_am_out *out, uint8_t kind, void *target) {
  if (kind == TMB_NEAR_KIND_BULK && !out->filled) {
    void *buffer = out->staged >= 0
                       ? tmb_near_bulk_addr(near, near->env.index, (uint32_t)out->staged)
                       : tmb_near_bulk_take(near, out);
    if (!buffer) return false;
    memcpy(buffer, out->src, out->nbytes);
    out->filled = 1;
  } else if (kind == TMB_NEAR_KIND_LONG && !out->filled && !out->immediate && out->nbytes) {
    memcpy(target, out->src, out->nbytes);
    out->filled = 1;
  }
  return true;
}

/* Write the body of a record: word, payload, arguments. in target: mapped destination of a Long; in
 * index: of this rank. */
static inline void fill_record(char *record, const struct tmb_am_out *out, const struct shape *s,
                               void *target, uint32_t index) {
  if (s->kind == TMB_NEAR_KIND_LONG) {
    if (!out->filled && out->nbytes) memcpy(target, out->src, out->nbytes);
    memcpy(record + 16, &out->dest, 8);
  } else if (s->kind == TMB_NEAR_KIND_BULK) {
    const uint64_t buffer = (uint64_t)index << 32 | (uint32_t)out->staged;
    memcpy(record + 16, &buffer, 8);
  } else if (s->kind == TMB_NEAR_KIND_MEDIUM && out->nbytes) {
    memcpy(record + s->payload_at, out->src, out->nbytes);
  }
  int32_t *args = (int32_t *)(void *)(record + s->args_at);
  for (uint32_t i = 0; i < out->nargs; i++) args[i] = out->args[i];
}

/* Remember the slot of the next record to this target, which expect_answer prefetches; only for a
 * short record, and for requests of a single thread. Threads that send requests concurrently would
 * contend for the cache line of `answer`. */
static inline void remember_next(struct tmb_near *near, uint32_t reply, const struct shape *s,
                                 const struct tmb_near_slot *next) {
  if (s->slots != 1 || s->kind > TMB_NEAR_KIND_MEDIUM) return;
  if (reply || !near->env.threads) tmb_store_rlx(&near->inbox[!reply].answer, (const void *)next);
}

/* Begin to take the slot of the answer from the peer that polls it, while the handler is found and
 * runs. Only if the last record was answered: a sender in flow must keep its lines. */
static inline void expect_answer(struct tmb_near_inbox *box) {
  const void *slot = tmb_load_rlx(&box->answer);
  if (!slot) return;
  tmb_prefetch_write(slot);
  tmb_store_rlx(&box->answer, NULL);
}

/* Reserve slots, fill and publish them, and wake the target. Inlined twice: a record whose shape is
 * known to the compiler takes half of the instructions. */
static TMB_ALWAYS_INLINE int send_record(struct tmb_near *near, uint32_t to, struct tmb_am_out *out,
                                         const struct shape *s, void *target, uint64_t *claimed) {
  const uint32_t reply = out->is_reply;
  struct tmb_near_ring *ring = tmb_near_ring(near, to, reply);
  const struct claim claim = {claimed, claimed ? tmb_near_claim_ring(to, reply) : 0};
  uint64_t pos;
  if (!reserve(ring, near->slots_log2[reply], s->slots, &near->seen[to].head[reply], &claim,
               &pos)) {
    if (claimed) tmb_store_rel(claimed, 0);
    out->lacks = TMB_LACKS_RING;
    return TMB_AGAIN;
  }
  struct tmb_near_slot *slot = &ring->slot[pos & (near->slots[reply] - 1)];
  fill_record((char *)slot, out, s, target, near->env.index);
  slot->src = near->env.rank | (uint32_t)out->route << TMB_NEAR_RANK_BITS;
  slot->nbytes = (uint32_t)out->nbytes;
  const struct tmb_near_slot h = {
      .handler = out->handler, .nargs = out->nargs, .kind = s->kind, .slots = (uint8_t)s->slots};
  TMB_TSAN_RELEASE(ring);
  if (s->kind == TMB_NEAR_KIND_BULK) TMB_TSAN_RELEASE(near->arena);
  if (claimed && s->kind == TMB_NEAR_KIND_BULK) tmb_near_bulk_sent(near, (uint32_t)out->staged, to);
  publish(slot, tmb_near_lap(pos, near->slots_log2[reply]), &h);
  if (claimed) tmb_store_rel(claimed, 0);
  if (s->kind == TMB_NEAR_KIND_BULK) out->staged = -1;
  remember_next(near, reply, s, &ring->slot[(pos + s->slots) & (near->slots[reply] - 1)]);
  tmb_near_notify(near, to);
  return 0;
}

/* Send a message of any shape. */
static TMB_NOINLINE int send_any(struct tmb_near *near, uint32_t to, struct tmb_am_out *out) {
  const struct shape s = shape_of(near, out);
  void *target = s.kind == TMB_NEAR_KIND_LONG && out->nbytes
                     ? (void *)((uintptr_t)out->dest + (uintptr_t)near->delta[to])
                     : NULL;
  if ((s.kind == TMB_NEAR_KIND_BULK || s.kind == TMB_NEAR_KIND_LONG) &&
      !place_early(near, out, s.kind, target)) {
    out->lacks = TMB_LACKS_BUFFER;
    return TMB_AGAIN;
  }
  uint64_t *claimed = TMB_UNLIKELY(near->claims != NULL) ? tmb_near_claim_take(near) : NULL;
  return send_record(near, to, out, &s, target, claimed);
}

int tmb_near_am_send(struct tmb_near *near, uint32_t to, struct tmb_am_out *out) {
  static const struct shape one_slot = {TMB_NEAR_KIND_SHORT, 16, 0, 1};
  if (out->category == TMB_AM_SHORT && out->nargs <= ARGS_IN_SLOT && TMB_LIKELY(!near->claims))
    return send_record(near, to, out, &one_slot, NULL, NULL);
  return send_any(near, to, out);
}

/* Run the handler of one record. */
static void deliver(struct tmb_near *near, struct tmb_near_slot *slot, uint64_t word, bool reply) {
  const struct header h = header_of(word);
  char *record = (char *)slot;
  struct tmb_am_in in = {.src = slot->src & ((UINT32_C(1) << TMB_NEAR_RANK_BITS) - 1),
                         .route = (uint16_t)(slot->src >> TMB_NEAR_RANK_BITS),
                         .handler = h.handler,
                         .nargs = h.nargs,
                         .is_reply = reply,
                         .nbytes = slot->nbytes};
  uint64_t aux = 0;
  switch (h.kind) {
  case TMB_NEAR_KIND_SHORT:
    in.category = TMB_AM_SHORT;
    in.args = (const int32_t *)(const void *)(record + 16);
    break;
  case TMB_NEAR_KIND_MEDIUM:
    in.category = TMB_AM_MEDIUM;
    in.args = (const int32_t *)(const void *)(record + 16);
    in.payload = record + TMB_ALIGN_UP(16u + 4u * h.nargs, 16u);
    break;
  default:
    memcpy(&aux, record + 16, 8);
    in.args = (const int32_t *)(const void *)(record + 24);
    in.category = h.kind == TMB_NEAR_KIND_LONG ? TMB_AM_LONG : TMB_AM_MEDIUM;
    in.payload = h.kind == TMB_NEAR_KIND_LONG
                     ? (void *)(uintptr_t)aux
                     : tmb_near_bulk_addr(near, (uint32_t)(aux >> 32), (uint32_t)aux);
  }
  tmb_up_am(&in);
  if (h.kind == TMB_NEAR_KIND_BULK) tmb_near_bulk_done(near, (uint32_t)(aux >> 32), (uint32_t)aux);
}

/* Consume the ready records of one inbox, at most a batch. */
static TMB_NOINLINE int drain(struct tmb_near *near, struct tmb_near_inbox *box, uint32_t reply)
    TMB_REQUIRES(box->lock);
static TMB_NOINLINE int drain(struct tmb_near *near, struct tmb_near_inbox *box, uint32_t reply) {
  const uint32_t quarter = near->slots[reply] / 4;
  uint64_t head = box->head;
  int done = 0;
  while (done < PROGRESS_BATCH) {
    struct tmb_near_slot *slot = (struct tmb_near_slot *)(uintptr_t)tmb_load_rlx(&box->next);
    const uint64_t word = tmb_load_acq((uint64_t *)(void *)slot);
    const struct header h = header_of(word);
    if (h.lap != tmb_load_rlx(&box->lap)) break;
    TMB_TSAN_ACQUIRE(box->ring);
    if (TMB_LIKELY(h.kind != TMB_NEAR_KIND_PAD)) {
      expect_answer(box);
      deliver(near, slot, word, reply);
      done++;
    }
    for (uint32_t i = 1; i < h.slots; i++) tmb_store_rlx((uint64_t *)(void *)&slot[i], 0);
    head += h.slots;
    tmb_near_inbox_move(near, box, reply, head);
    if (head - box->published >= quarter) {
      box->published = head;
      tmb_store_rel(&box->ring->head, head);
    }
  }
  return done;
}

/* A rank is lost and the next record is not there: it may never come. */
TMB_COLD static int serve_hole(struct tmb_near *near, uint32_t reply) {
  struct tmb_near_inbox *box = &near->inbox[reply];
  if (!tmb_lock_try(&box->lock)) return TMB_FOUND_BUSY;
  const int done = tmb_near_repair(near, box, reply);
  tmb_lock_release(&box->lock);
  return done ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

static TMB_ALWAYS_INLINE int serve_box(struct tmb_near *near, uint32_t reply) {
  struct tmb_near_inbox *box = &near->inbox[reply];
  if (!tmb_near_pending(box))
    return TMB_UNLIKELY(tmb_load_rlx(&near->lost_count)) ? serve_hole(near, reply)
                                                         : TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&box->lock)) return TMB_FOUND_BUSY; /* also a handler of it, up the stack */
  const int done = drain(near, box, reply);
  tmb_lock_release(&box->lock);
  return done ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

static TMB_NOINLINE int serve_boxes(struct tmb_near *near, int serve) {
  int found = TMB_FOUND_NOTHING;
  if (serve & TMB_SERVE_REPLIES) found |= serve_box(near, 1);
  if (serve & TMB_SERVE_REQUESTS) found |= serve_box(near, 0);
  return found;
}

TMB_HOT int tmb_near_progress(struct tmb_near *near, int serve) {
  if (TMB_LIKELY(!tmb_near_pending(&near->inbox[0]) && !tmb_near_pending(&near->inbox[1]) &&
                 !tmb_load_rlx(&near->lost_count)))
    return TMB_FOUND_NOTHING;
  return serve_boxes(near, serve);
}
