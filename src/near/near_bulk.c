/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message buffers of the on-node engine: payload that is too large for a ring record, and prepared
 * messages.
 *
 * Owns: the buffers in the sender's part of the arena. The sender takes and fills one, the target's
 * handler reads it in place and then clears the busy word. Called by near_am.c and by core for
 * prepared messages. Invariants: a buffer is owned by the sender while busy == 1 and the message is
 * not published, then by the target until it stores 0 with release (busy names the target where
 * losses are expected); requests and replies have
 * separate buffers, so replies always find theirs free in the end.
 */
#include "near/near.h"

/* So many buffers are used however long the payload is, where the target lags behind. */
#define USED_MIN            16u

/* Replies are handled before a request of more bytes is sent. Measured: below, to take each one by
 * itself costs more than the buffers that it frees give. */
#define REPLIES_FIRST_BYTES 16384u

static struct tmb_near_line *busy_words(const struct tmb_near *near, uint32_t rank) {
  return (struct tmb_near_line *)(void *)(near->arena + near->bulk_offset +
                                          rank * near->bulk_stride);
}

void *tmb_near_bulk_addr(const struct tmb_near *near, uint32_t rank, uint32_t index) {
  const size_t buffers = near->bulk_count[0] + near->bulk_count[1];
  char *end = near->arena + near->bulk_offset + (rank + 1) * near->bulk_stride;
  return end - (buffers - index) * TMB_AM_MEDIUM_BYTES_MAX;
}

/* Try to take a free buffer. */
static bool try_take(struct tmb_near_line *busy) {
  uint64_t expected = 0;
  return tmb_load_rlx(&busy->word) == 0 && tmb_cas_acq(&busy->word, &expected, 1);
}

/* Whether messages wait that are handled before a request of so many bytes is sent. */
static inline bool waits(const struct tmb_near *near, size_t nbytes) {
  return tmb_near_pending(&near->inbox[0]) ||
         (nbytes > REPLIES_FIRST_BYTES && tmb_near_pending(&near->inbox[1]));
}

/* Whether the first attempt to send a client's request by a buffer is to fail, because messages
 * wait to be handled. Where both ranks send, each would else fill all its buffers before it reads
 * one of the other's: payload leaves the caches, and the peer waits. Later attempts do not ask, as
 * another thread may be at work on those messages. */
static bool handles_first(const struct tmb_near *near, const struct tmb_am_out *out) {
  if (out->lacks || out->is_reply || out->immediate || out->handler < TMB_HANDLER_FIRST)
    return false;
  return waits(near, out->nbytes);
}

/* How many buffers payloads of a length go round: as many as the cache holds. To write to a buffer
 * that the peer has just read takes up to twice as long, so few are slow; handlers that read
 * nothing would be quicker with few. Measured by medium_return and medium_flood_read of `tombolo
 * bench am`. */
static inline uint32_t round_of(const struct tmb_near *near, uint32_t count, size_t nbytes) {
  return TMB_MIN(count, near->round_bytes / (uint32_t)TMB_MAX(nbytes, 1u));
}

/* Take a free buffer. Returns its index, or -1. */
static inline int32_t take(struct tmb_near *near, uint32_t reply, size_t nbytes) {
  const uint32_t count = near->bulk_count[reply];
  struct tmb_near_line *busy =
      busy_words(near, near->env.index) + (reply ? near->bulk_count[0] : 0);
  const uint32_t round = round_of(near, count, nbytes),
                 end = TMB_MIN(count, TMB_MAX(round, USED_MIN));
  uint32_t i = tmb_load_rlx(&near->bulk_next[reply]);
  if (i >= end) i = 0;
  for (uint32_t tries = 0; !try_take(&busy[i]); i = i + 1 == end ? 0 : i + 1)
    if (++tries == end) return -1;
  TMB_TSAN_ACQUIRE(near->arena);
  const uint32_t next = i + 1 < round ? i + 1 : 0;
  tmb_store_rlx(&near->bulk_next[reply], next);
  tmb_prefetch_write(&busy[next]);
  tmb_prefetch_write(&busy[i ? i - 1 : 0]); /* looked at next time */
  return (int32_t)(i + (reply ? near->bulk_count[0] : 0));
}

int32_t tmb_near_bulk_take_index(struct tmb_near *near, bool reply, size_t nbytes) {
  if (!reply && waits(near, nbytes)) return -1;
  return take(near, reply, nbytes);
}

void *tmb_near_bulk_take(struct tmb_near *near, struct tmb_am_out *out) {
  if (handles_first(near, out)) return NULL;
  out->staged = take(near, out->is_reply, out->nbytes);
  if (out->staged < 0) return NULL;
  return tmb_near_bulk_addr(near, near->env.index, (uint32_t)out->staged);
}

void tmb_near_bulk_release(struct tmb_near *near, struct tmb_am_out *out) {
  if (out->staged < 0) return;
  TMB_TSAN_RELEASE(near->arena);
  tmb_store_rel(&busy_words(near, near->env.index)[out->staged].word, 0);
  out->staged = -1;
}

void tmb_near_bulk_done(struct tmb_near *near, uint32_t rank, uint32_t index) {
  tmb_store_rel(&busy_words(near, rank)[index].word, 0);
}

#define SENT_TO UINT64_C(2) /* flag in the busy word: the other bits name the target */

void tmb_near_bulk_sent(struct tmb_near *near, uint32_t index, uint32_t peer) {
  tmb_store_rlx(&busy_words(near, near->env.index)[index].word, SENT_TO + peer);
}

void tmb_near_bulk_reclaim(struct tmb_near *near, uint32_t peer) {
  struct tmb_near_line *busy = busy_words(near, near->env.index);
  const uint32_t count = near->bulk_count[0] + near->bulk_count[1];
  for (uint32_t i = 0; i < count; i++)
    if (tmb_load_acq(&busy[i].word) == SENT_TO + peer) tmb_store_rel(&busy[i].word, 0);
}
