/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing (showing) and reading chunks in the rows of a team: common to all files here.
 *
 * Owns nothing. Included by shared_op.h and shared_now.c. Calls: core's shared rows, the conduit's
 * notify, the tuning. A member publishes its count of read chunks, and wakes the others, at
 * multiples of STRIDE only, so most chunks cost the reader no store. Therefore heads and slots
 * become free half of them at a time. Invariants: as in shared.h; guarded by the lock of
 * collectives.
 */
#ifndef TMB_COLL_SHARED_ROW_H
#define TMB_COLL_SHARED_ROW_H

#include "coll/select/tuning.h"
#include "coll/shared/shared.h"
#include "core/progress/peer.h"
#include "os/os.h"

#define TMB_ROW_STRIDE \
 (TMB_SHARED_SLOTS / 2)         /* a member publishes its count of chunks read after this many */
#define TMB_ROW_AHEAD        4u /* how many heads ahead the line is fetched for writing */

/* Bytes of a block from which on it is shown by stores that go past the caches, where these are
 * faster. From study/journal/0025. */
#define TMB_ROW_STREAM_LEAST 4096u

/* Bytes of a block from which on its lines are asked for before it is copied. Measured with 2 ranks
 * on a Xeon: with 512 B and 4 KiB calls take 0.8 and 0.93 of the time, with 128 and 256 B as long.
 */
#define TMB_ROW_FETCH_LEAST  512u

/* Ring a member's doorbell, if it sleeps. */
static inline void tmb_row_wake(const struct tmb_team *team, uint32_t rank) {
  if (rank != team->head.rank) tmb_peer_wake(tmb_team_jobrank(team, rank));
}

static inline void tmb_row_wake_all(const struct tmb_team *team) {
  for (uint32_t r = 0; r < team->head.size; r++) tmb_row_wake(team, r);
}

/* Whether this member may show chunk `number`: all members have read the chunk that used its
 * head before, and its slot if it is not small. */
static inline bool tmb_row_has_room(const struct tmb_team *team, struct tmb_coll_shared *b,
                                    uint64_t number, bool small) {
  const uint64_t many = small ? TMB_SHARED_HEADS / 2 : TMB_SHARED_SLOTS / 2;
  if (TMB_LIKELY(number < b->room[!small])) return true;
  const uint64_t half = number & ~(many - 1);
  if (half >= 2 * many) {
    const uint64_t least = half - many;
    if (b->read < least) return false;
    for (uint32_t r = 0; r < team->head.size; r++)
      if (r != team->head.rank && tmb_load_acq(&b->row[r]->read.word) < least) return false;
  }
  b->room[!small] = half + many;
  return true;
}

static inline struct tmb_shared_head *tmb_row_head(struct tmb_shared_row *row, uint64_t number) {
  return &row->head[number % TMB_SHARED_HEADS];
}

/* Where the data of a chunk of so many bytes are. */
static inline char *tmb_row_data(struct tmb_shared_row *row, uint64_t number, uint64_t bytes) {
  return bytes <= TMB_SHARED_SMALL ? tmb_row_head(row, number)->small
                                   : row->slot[number % TMB_SHARED_SLOTS].data;
}

/* Ask for the lines of a place that is about to be written. The readers' caches hold them, and the
 * stores of a copy get them one after another. */
static inline void tmb_row_fetch(const char *to, uint64_t bytes) {
  if (TMB_LIKELY(bytes < TMB_ROW_FETCH_LEAST) || tmb_job.wait.crowded) return;
  for (uint64_t i = 0; i < bytes; i += TMB_CACHE_LINE) tmb_prefetch_write(to + i);
}

/* Write data of a chunk. in others: this member does not read them there. */
static inline void tmb_row_copy(char *to, const char *from, uint64_t bytes, bool others) {
  if (TMB_LIKELY(bytes < TMB_ROW_STREAM_LEAST) || !others || !tmb_coll_tuning()->shared_streams) {
    tmb_row_fetch(to, bytes);
    memcpy(to, from, bytes);
  } else {
    tmb_os_copy_past(to, from, bytes);
  }
}

/* A member has written the data of a chunk: publish its number, after which others may read
 * them. */
static inline void tmb_row_publish(struct tmb_shared_row *row, uint64_t number,
                                   struct tmb_call_signature signature) {
  struct tmb_shared_head *head = tmb_row_head(row, number);
  head->signature = signature;
  tmb_store_rel(&head->number, number + 1);
  tmb_prefetch_write(tmb_row_head(row, number + TMB_ROW_AHEAD));
}

/* Fatal unless the chunk that a member shows belongs to this collective. */
static inline void tmb_row_check(const struct tmb_team *team, struct tmb_call_signature mine,
                                 uint32_t member, const struct tmb_shared_head *head) {
  if (TMB_UNLIKELY(head->signature.call != mine.call || head->signature.bytes != mine.bytes))
    tmb_coll_mismatch(team, mine, member, head->signature);
}

/* Increment of the word that counts waits for room: the lower half counts
 * those that want a slot, the upper one those that want a small chunk. */
#define TMB_ROW_WANTS_SLOT  UINT64_C(1)
#define TMB_ROW_WANTS_SMALL (UINT64_C(1) << 32)

/* The word that counts waits for room. A member that waits has changed it before it sleeps, with a
 * fence on all processors or, where senders fence, with one of its own (near_door.c). */
static inline uint64_t tmb_row_room_waits(const struct tmb_coll_shared *b) {
  if (TMB_UNLIKELY(tmb_job.near.sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  return tmb_load_rlx(&b->row[0]->room.word);
}

/* Whether the reads of this member so far make room for one that waits. */
static inline bool tmb_row_room_wanted(const struct tmb_coll_shared *b) {
  const uint64_t wanted = tmb_row_room_waits(b);
  if (TMB_LIKELY(!wanted)) return false;
  return b->read % (TMB_SHARED_HEADS / 2) == 0 || wanted % TMB_ROW_WANTS_SMALL;
}

/* Show the kind of room that this member waits for: TMB_ROW_WANTS_* of all its collectives, or 0:
 * none. A poll after it, before the member sleeps, looks again. */
static inline void tmb_row_want_room(const struct tmb_team *team, struct tmb_coll_shared *b,
                                     uint64_t wants) {
  if (b->wants_room == wants) return;
  tmb_store_rel(&b->row[team->head.rank]->lacks.word, wants);
  tmb_fetch_add_acq_rel(&b->row[0]->room.word, wants - b->wants_room);
  b->wants_room = wants;
}

/* Some members wait for room, and this one has published its count of chunks read: if it is the
 * last one, wake them, and nobody else. The fence: of two members that publish concurrently one
 * sees the count of the other. A member that starts to wait only now checks again before it sleeps.
 */
static inline void tmb_row_give_room(const struct tmb_team *team, const struct tmb_coll_shared *b) {
  tmb_fence_seq();
  for (uint32_t r = 0; r < team->head.size; r++)
    if (tmb_load_acq(&b->row[r]->read.word) < b->read) return;
  for (uint32_t r = 0; r < team->head.size; r++)
    if (tmb_load_rlx(&b->row[r]->lacks.word)) tmb_row_wake(team, r);
}

/* Say how many chunks this member has read. Where ranks outnumber processors others sleep that wait
 * for something else: they are left alone. */
static inline void tmb_row_say_read(const struct tmb_team *team, const struct tmb_coll_shared *b) {
  tmb_store_rel(&b->row[team->head.rank]->read.word, b->read);
  if (!tmb_job.wait.crowded)
    tmb_row_wake_all(team);
  else if (tmb_row_room_wanted(b))
    tmb_row_give_room(team, b);
}

/* A member has read all chunks before `number` at once: publish that. It may have passed where
 * small chunks become free, so each member that waits is looked at. */
static inline void tmb_row_read_to(const struct tmb_team *team, struct tmb_coll_shared *b,
                                   uint64_t number) {
  b->read = number;
  tmb_store_rel(&b->row[team->head.rank]->read.word, number);
  if (!tmb_job.wait.crowded)
    tmb_row_wake_all(team);
  else if (tmb_row_room_waits(b))
    tmb_row_give_room(team, b);
}

/* Count a chunk that this member has read. */
static inline void tmb_row_count_read(const struct tmb_team *team, struct tmb_coll_shared *b) {
  if (++b->read % TMB_ROW_STRIDE == 0) tmb_row_say_read(team, b);
}

/* The number of the first chunk of a collective. One whose chunks are as many as become free at a
 * time, or more, begins where they do: else its last chunks would wait for a further turn of all
 * other members. */
static inline uint64_t tmb_row_begin(const struct tmb_coll_shared *b, uint64_t chunks) {
  return chunks < TMB_ROW_STRIDE ? b->next : TMB_ALIGN_UP(b->next, (uint64_t)TMB_ROW_STRIDE);
}

/* Enters chunk `number` as the position of this member; the numbers between it and the member's
 * read position belong to no collective. */
static inline void tmb_row_skip(const struct tmb_team *team, struct tmb_coll_shared *b,
                                uint64_t number) {
  if (b->read >= number) return;
  b->read = number;
  tmb_row_say_read(team, b);
}

#endif
