/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages over the rings: send and progress.
 *
 * Owns: the record format. Called by core. Calls: near_bulk,
 * doorbells, near_loss, tmb_up_am. A record is 1..192 consecutive slots: 16-byte header, for Long
 * and bulk an 8-byte word, arguments, padding to 16, inline payload. The consumer clears the lap
 * words of interior slots, but for those of a clean record. Invariants: a record never wraps (a PAD
 * record fills the end); requests and replies use separate rings, and only the request ring may be
 * left unserved while a reply is being sent, so replies always drain. Design follows the bounded
 * queue with a sequence number per slot (D. Vyukov), with variable-length records.
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
#define ARGS_IN_BULK      10u /* of a Medium in a buffer: room behind its word, too */

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
TMB_NO_TSAN static inline void publish(struct tmb_near_slot *slot, uint64_t word) {
  tmb_store_rel((uint64_t *)(void *)slot, word);
}

/* The word in which this thread announces its reservation, and the ring; word NULL: losses are not
 * expected. */
struct claim {
  uint64_t *word, ring;
};

/*
 * Reserve `need` consecutive slots of a ring of `to`. out pos: position of the first. Returns it,
 * or NULL when there is no room. This process's copy of the ring's head may be stale: that only
 * makes the answer conservative.
 */
static TMB_ALWAYS_INLINE struct tmb_near_slot *reserve(struct tmb_near *near, uint32_t to,
                                                       uint32_t reply, uint32_t need,
                                                       const struct claim *claim, uint64_t *pos) {
  struct tmb_near_ring *ring = tmb_near_ring(near, to, reply);
  uint64_t *seen = &near->seen[to].head[reply];
  const uint64_t slots = near->slots[reply];
  uint64_t tail = tmb_load_rlx(&ring->tail);
  struct tmb_near_slot *slot = &ring->slot[tail & (slots - 1)];
  tmb_prefetch_write(slot);
  uint64_t pad;
  for (;;) {
    const uint64_t index = tail & (slots - 1);
    pad = need > 1 && index + need > slots ? slots - index : 0;
    if (TMB_UNLIKELY(tail + pad + need - tmb_load_acq(seen) > slots)) {
      tmb_store_rel(seen, tmb_load_acq(&ring->head));
      if (tail + pad + need - tmb_load_acq(seen) > slots) return NULL;
    }
    if (TMB_UNLIKELY(claim->word != NULL))
      tmb_store_rlx(claim->word, tmb_near_claim(claim->ring, tail, pad + need));
    if (TMB_LIKELY(tmb_cas_weak_rel(&ring->tail, &tail, tail + pad + need))) break;
    slot = &ring->slot[tail & (slots - 1)];
  }
  if (TMB_UNLIKELY(pad)) {
    const struct tmb_near_slot h = {.kind = TMB_NEAR_KIND_PAD, .slots = (uint8_t)pad};
    publish(slot, header_word(tmb_near_lap(tail, near->slots_log2[reply]), &h));
    slot = ring->slot;
  }
  TMB_TSAN_ACQUIRE(ring);
  *pos = tail + pad;
  tmb_prefetch_write(&ring->slot[(*pos + RESERVE_LOOKAHEAD) & (slots - 1)]);
  if (need > 1) tmb_prefetch_write(&ring->slot[(*pos + RESERVE_LOOKAHEAD + 1) & (slots - 1)]);
  return slot;
}

/* Offset of a Medium's payload in its record: behind the header and the arguments. */
static inline uint32_t payload_at(uint32_t nargs) {
  return TMB_ALIGN_UP(16u + 4u * nargs, 16u);
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
      s.payload_at = payload_at(out->nargs);
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

static inline void copy_args(void *to, const int32_t *args, uint32_t nargs) {
  int32_t *out = to;
  for (uint32_t i = 0; i < nargs; i++) out[i] = args[i];
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
  copy_args(record + s->args_at, out->args, out->nargs);
}

/* Remember the slot of the next record to this target, which expect_answer prefetches; behind a
 * record of one slot, as a longer one is not written before the peer has polled that slot again.
 * Behind a longer request, only that an answer is expected: a line of its own stands for it. For
 * requests of a single thread: threads that send concurrently would contend for the cache line of
 * `answer`. At the end of a ring the hint is wrong once. */
static inline void remember_next(struct tmb_near *near, uint32_t reply,
                                 const struct tmb_near_slot *slot, uint32_t slots) {
  if (reply ? slots > 1 : near->env.threads) return;
  tmb_store_rlx(&near->inbox[!reply].answer, slots == 1 ? (const void *)(slot + 1) : near->inbox);
}

/* Begin to take the slot of the answer from the peer that polls it, while the handler is found and
 * runs. Only if the last record was answered: a sender in flow must keep its lines. */
static inline void expect_answer(struct tmb_near_inbox *box) {
  const void *slot = tmb_load_rlx(&box->answer);
  if (!slot) return;
  tmb_prefetch_write(slot);
  tmb_store_rlx(&box->answer, NULL);
}

/* Publish a record whose body is filled. in pos: position of its first slot. */
static inline void put_record(struct tmb_near *near, uint32_t to, struct tmb_am_out *out,
                              const struct shape *s, struct tmb_near_slot *slot, uint64_t pos) {
  const uint32_t reply = out->is_reply;
  slot->src = near->env.rank | (uint32_t)out->route << TMB_NEAR_RANK_BITS;
  slot->nbytes = (uint32_t)out->nbytes;
  const struct tmb_near_slot h = {
      .handler = out->handler, .nargs = out->nargs, .kind = s->kind, .slots = (uint8_t)s->slots};
  TMB_TSAN_RELEASE(tmb_near_ring(near, to, reply));
  if (s->kind == TMB_NEAR_KIND_BULK) {
    TMB_TSAN_RELEASE(near->arena);
    if (near->claims) tmb_near_bulk_sent(near, (uint32_t)out->staged, to);
    out->staged = -1;
  }
  publish(slot, header_word(tmb_near_lap(pos, near->slots_log2[reply]), &h));
  remember_next(near, reply, slot, s->slots);
}

/* Send a message of any shape. */
static TMB_NOINLINE int send_any(struct tmb_near *near, uint32_t to, struct tmb_am_out *out) {
  const struct shape s = shape_of(near, out);
  const uint32_t reply = out->is_reply;
  void *target = s.kind == TMB_NEAR_KIND_LONG && out->nbytes
                     ? (void *)((uintptr_t)out->dest + (uintptr_t)near->delta[to])
                     : NULL;
  if ((s.kind == TMB_NEAR_KIND_BULK || s.kind == TMB_NEAR_KIND_LONG) &&
      !place_early(near, out, s.kind, target)) {
    out->lacks = TMB_LACKS_BUFFER;
    return TMB_AGAIN;
  }
  uint64_t *claimed = TMB_UNLIKELY(near->claims != NULL) ? tmb_near_claim_take(near) : NULL;
  const struct claim claim = {claimed, claimed ? tmb_near_claim_ring(to, reply) : 0};
  uint64_t pos;
  struct tmb_near_slot *slot = reserve(near, to, reply, s.slots, &claim, &pos);
  if (slot) {
    fill_record((char *)slot, out, &s, target, near->env.index);
    put_record(near, to, out, &s, slot, pos);
  }
  if (claimed) tmb_store_rel(claimed, 0);
  if (!slot) {
    out->lacks = TMB_LACKS_RING;
    return TMB_AGAIN;
  }
  tmb_near_notify(near, to);
  return 0;
}

/* Publish a record of a message without a route. in head: its header word, without the lap. */
static TMB_ALWAYS_INLINE void put_plain(struct tmb_near *near, uint32_t to, uint32_t reply,
                                        uint64_t head, struct tmb_near_slot *slot, uint64_t pos) {
  slot->src = near->env.rank;
  TMB_TSAN_RELEASE(tmb_near_ring(near, to, reply));
  publish(slot, head | tmb_near_lap(pos, near->slots_log2[reply]));
  remember_next(near, reply, slot, header_of(head).slots);
  tmb_near_notify(near, to);
}

/* Send a Short in one slot. Inlined for each ring. in head: its header word, without the lap. */
static TMB_ALWAYS_INLINE bool send_short(struct tmb_near *near, uint32_t to, uint32_t reply,
                                         uint64_t head, const int32_t *args) {
  const struct claim none = {NULL, 0};
  uint64_t pos;
  struct tmb_near_slot *slot = reserve(near, to, reply, 1, &none, &pos);
  if (TMB_UNLIKELY(!slot)) return false;
  const uint32_t nargs = header_of(head).nargs;
  if (nargs) copy_args(slot->body, args, nargs);
  put_plain(near, to, reply, head, slot, pos);
  return true;
}

bool tmb_near_send_short(struct tmb_near *near, uint32_t to, bool reply, uint8_t handler,
                         uint8_t nargs, const int32_t *args) {
  const struct tmb_near_slot h = {
      .handler = handler, .nargs = nargs, .kind = TMB_NEAR_KIND_SHORT, .slots = 1};
  if (TMB_UNLIKELY(nargs > ARGS_IN_SLOT || near->claims)) return false;
  return reply ? send_short(near, to, 1, header_word(0, &h), args)
               : send_short(near, to, 0, header_word(0, &h), args);
}

/* The payload of a Medium. */
struct payload {
  const void *src;
  size_t nbytes;
};

/* Copy the payload to offset `at` of a record, at most 64. Were the reader to clear its interior
 * slots, it would take each line back from the sender. Instead the sender looks whether one of them
 * begins with the lap that comes next there, which only chance or malice makes true. It looks at
 * what it stores, as loads from the ring would wait for the lines. Returns the record's kind. */
static inline uint64_t put_payload(struct tmb_near_slot *slot, uint32_t slots, uint32_t at,
                                   const struct payload *p, uint32_t next) {
  bool same = false;
  if (slots > 1) slot[slots - 1].lap = 0; /* less than a word of payload may follow */
  if (p->nbytes) memcpy((char *)slot + at, p->src, p->nbytes);
  for (uint32_t i = 1; i < slots; i++) {
    const size_t offset = TMB_NEAR_SLOT_BYTES * i - at;
    uint32_t word;
    if (offset + sizeof word > p->nbytes) break;
    memcpy(&word, (const char *)p->src + offset, sizeof word);
    same |= word == next;
    slot[i].lap = word; /* also if the client has changed it since it was copied */
  }
  return TMB_UNLIKELY(same) ? TMB_NEAR_KIND_MEDIUM : TMB_NEAR_KIND_CLEAN;
}

/* Send a Medium in a record. Inlined for each ring. in head: as of put_plain, without kind and
 * slots. */
static TMB_ALWAYS_INLINE bool send_inside(struct tmb_near *near, uint32_t to, uint32_t reply,
                                          uint64_t head, const int32_t *args,
                                          const struct payload *p) {
  const struct claim none = {NULL, 0};
  const uint32_t nargs = header_of(head).nargs, at = payload_at(nargs);
  const uint32_t slots = (at + (uint32_t)p->nbytes + TMB_NEAR_SLOT_BYTES - 1) / TMB_NEAR_SLOT_BYTES;
  uint64_t pos;
  struct tmb_near_slot *slot = reserve(near, to, reply, slots, &none, &pos);
  if (TMB_UNLIKELY(!slot)) return false;
  if (nargs) copy_args(slot->body, args, nargs);
  slot->nbytes = (uint32_t)p->nbytes;
  const uint32_t next = tmb_near_lap(pos + near->slots[reply], near->slots_log2[reply]);
  const uint64_t kind = put_payload(slot, slots, at, p, next);
  put_plain(near, to, reply, head | kind << 48 | (uint64_t)slots << 56, slot, pos);
  return true;
}

/* Send a Medium by a buffer of this rank. Inlined for each ring; as send_inside. */
static TMB_ALWAYS_INLINE bool send_bulk(struct tmb_near *near, uint32_t to, uint32_t reply,
                                        uint64_t head, const int32_t *args,
                                        const struct payload *p) {
  const struct claim none = {NULL, 0};
  const uint32_t nargs = header_of(head).nargs;
  const int32_t index = tmb_near_bulk_take_index(near, reply, p->nbytes);
  if (index < 0) return false;
  memcpy(tmb_near_bulk_addr(near, near->env.index, (uint32_t)index), p->src, p->nbytes);
  uint64_t pos;
  struct tmb_near_slot *slot = reserve(near, to, reply, nargs > ARGS_IN_BULK ? 2 : 1, &none, &pos);
  if (TMB_UNLIKELY(!slot)) {
    tmb_near_bulk_done(near, near->env.index, (uint32_t)index);
    return false;
  }
  const uint64_t buffer = (uint64_t)near->env.index << 32 | (uint32_t)index;
  memcpy(slot->body, &buffer, 8);
  if (nargs) copy_args(slot->body + 8, args, nargs);
  slot->nbytes = (uint32_t)p->nbytes;
  TMB_TSAN_RELEASE(near->arena);
  const uint64_t slots = nargs > ARGS_IN_BULK ? 2 : 1;
  put_plain(near, to, reply, head | (uint64_t)TMB_NEAR_KIND_BULK << 48 | slots << 56, slot, pos);
  return true;
}

bool tmb_near_send_medium(struct tmb_near *near, uint32_t to, uint32_t head, const int32_t *args,
                          const void *src, size_t nbytes) {
  const uint64_t word = (uint64_t)(uint16_t)head << 32;
  const struct payload p = {src, nbytes};
  if (TMB_UNLIKELY(near->claims || header_of(word).nargs > ARGS_IN_SLOT)) return false;
  if (nbytes > near->inline_bytes_max)
    return head >> 16 ? send_bulk(near, to, 1, word, args, &p)
                      : send_bulk(near, to, 0, word, args, &p);
  return head >> 16 ? send_inside(near, to, 1, word, args, &p)
                    : send_inside(near, to, 0, word, args, &p);
}

/* Out of line, so that other messages save no registers for it. */
static TMB_NOINLINE int send_plain(struct tmb_near *near, uint32_t to, struct tmb_am_out *out) {
  if (tmb_near_send_short(near, to, out->is_reply, out->handler, out->nargs, out->args)) return 0;
  return send_any(near, to, out);
}

int tmb_near_am_send(struct tmb_near *near, uint32_t to, struct tmb_am_out *out) {
  if (out->category == TMB_AM_SHORT && !out->route) return send_plain(near, to, out);
  return send_any(near, to, out);
}

/* Run the handler of a record of any kind. */
static TMB_NOINLINE void deliver_any(struct tmb_near *near, struct tmb_near_slot *slot,
                                     uint64_t word, bool reply) {
  const struct header h = header_of(word);
  char *record = (char *)slot;
  struct tmb_am_in in = {.src = slot->src & ((UINT32_C(1) << TMB_NEAR_RANK_BITS) - 1),
                         .route = (uint16_t)(slot->src >> TMB_NEAR_RANK_BITS),
                         .handler = h.handler,
                         .nargs = h.nargs,
                         .is_reply = reply};
  uint64_t aux = 0;
  switch (h.kind) {
  case TMB_NEAR_KIND_SHORT:
    in.category = TMB_AM_SHORT;
    in.args = (const int32_t *)(const void *)(record + 16);
    break;
  case TMB_NEAR_KIND_MEDIUM:
  case TMB_NEAR_KIND_CLEAN:
    in.category = TMB_AM_MEDIUM;
    in.args = (const int32_t *)(const void *)(record + 16);
    in.payload = record + payload_at(h.nargs);
    in.nbytes = slot->nbytes;
    break;
  default:
    memcpy(&aux, record + 16, 8);
    in.args = (const int32_t *)(const void *)(record + 24);
    in.category = h.kind == TMB_NEAR_KIND_LONG ? TMB_AM_LONG : TMB_AM_MEDIUM;
    in.payload = h.kind == TMB_NEAR_KIND_LONG
                     ? (void *)(uintptr_t)aux
                     : tmb_near_bulk_addr(near, (uint32_t)(aux >> 32), (uint32_t)aux);
    in.nbytes = slot->nbytes;
  }
  tmb_up_am(&in);
  if (h.kind == TMB_NEAR_KIND_BULK) tmb_near_bulk_done(near, (uint32_t)(aux >> 32), (uint32_t)aux);
}

/* Run the handler of a Short in one slot. Returns false, with nothing done, where that takes
 * deliver_any. */
static inline bool deliver_short(struct tmb_near_slot *slot, uint64_t word, bool reply) {
  const struct header h = header_of(word);
  const uint32_t src = slot->src;
  return !(src >> TMB_NEAR_RANK_BITS) &&
         tmb_up_short(src, h.handler, h.nargs, reply, (const int32_t *)(const void *)slot->body);
}

/* Run the handler of a Medium that tmb_near_send_medium has sent. Returns as deliver_short. */
static inline bool deliver_medium(struct tmb_near *near, struct tmb_near_slot *slot, uint64_t word,
                                  bool reply) {
  const struct header h = header_of(word);
  const uint32_t head = tmb_am_head(h.handler, h.nargs, reply), src = slot->src;
  const int32_t *args = (const int32_t *)(const void *)slot->body;
  if (src >> TMB_NEAR_RANK_BITS) return false;
  if (h.kind == TMB_NEAR_KIND_CLEAN)
    return tmb_up_medium(src, head, args, (char *)slot + payload_at(h.nargs), slot->nbytes);
  if (h.kind != TMB_NEAR_KIND_BULK) return false;
  uint64_t buffer;
  memcpy(&buffer, slot->body, 8);
  const uint32_t owner = (uint32_t)(buffer >> 32), index = (uint32_t)buffer;
  void *payload = tmb_near_bulk_addr(near, owner, index);
  if (!tmb_up_medium(src, head, args + 2, payload, slot->nbytes)) return false;
  tmb_near_bulk_done(near, owner, index);
  return true;
}

/* Run the handler of a record that is no Short in one slot, and clear its interior slots. Returns
 * its slots. */
static TMB_NOINLINE uint64_t deliver_long(struct tmb_near *near, struct tmb_near_slot *slot,
                                          uint64_t word, bool reply) {
  const struct header h = header_of(word);
  if (h.kind != TMB_NEAR_KIND_PAD && !deliver_medium(near, slot, word, reply))
    deliver_any(near, slot, word, reply);
  if (h.kind != TMB_NEAR_KIND_CLEAN)
    for (uint64_t i = 1; i < h.slots; i++) tmb_store_rlx((uint64_t *)(void *)&slot[i], 0);
  return h.slots;
}

/* Whether a record is a Short in one slot. */
static inline bool is_short(uint64_t word) {
  return word >> 48 == (TMB_NEAR_KIND_SHORT | 1u << 8);
}

/* Consume the ready records of one inbox, at most a batch. Inlined for each. */
static TMB_ALWAYS_INLINE int serve_box(struct tmb_near *near, uint32_t reply) {
  struct tmb_near_inbox *box = &near->inbox[reply];
  if (!tmb_lock_try(&box->lock)) return TMB_FOUND_BUSY; /* also a handler of it, up the stack */
  struct tmb_near_slot *slot = (struct tmb_near_slot *)(uintptr_t)tmb_load_rlx(&box->next);
  uint32_t lap = tmb_load_rlx(&box->lap);
  int left = PROGRESS_BATCH;
  for (; left; left--) {
    const uint64_t word = tmb_load_acq((uint64_t *)(void *)slot);
    uint64_t slots = 1;
    if ((uint32_t)word != lap) break;
    TMB_TSAN_ACQUIRE(box->ring);
    expect_answer(box);
    if (!is_short(word) || TMB_UNLIKELY(!deliver_short(slot, word, reply)))
      slots = deliver_long(near, slot, word, reply);
    const uint64_t head = box->head + slots;
    slot = tmb_near_inbox_move(near, box, reply, head, &lap);
    if (TMB_UNLIKELY(head >= box->publish_at)) tmb_near_inbox_publish(near, box, reply, head);
  }
  tmb_lock_release(&box->lock);
  return left == PROGRESS_BATCH ? TMB_FOUND_NOTHING : TMB_FOUND_WORK;
}

int tmb_near_serve_requests(struct tmb_near *near) {
  return serve_box(near, 0);
}

int tmb_near_serve_replies(struct tmb_near *near) {
  return serve_box(near, 1);
}

/* Where the next record of an inbox is not there, it may never come. */
static int serve_hole(struct tmb_near *near, uint32_t reply) {
  struct tmb_near_inbox *box = &near->inbox[reply];
  if (tmb_near_pending(box)) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&box->lock)) return TMB_FOUND_BUSY;
  const int done = tmb_near_repair(near, box, reply);
  tmb_lock_release(&box->lock);
  return done ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

TMB_COLD int tmb_near_serve_holes(struct tmb_near *near, int serve) {
  int found = TMB_FOUND_NOTHING;
  if (serve & TMB_SERVE_REPLIES) found |= serve_hole(near, 1);
  if (serve & TMB_SERVE_REQUESTS) found |= serve_hole(near, 0);
  return found;
}
