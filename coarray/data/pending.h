/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to images whose memory is not mapped: many are in progress, and keep the order of the
 * program.
 *
 * Owns: the list of ranges that puts of this image may still change. Included by the files that
 * read or write other images' memory. Calls: put, get. Invariants: while a range is in the list, a
 * put to it may be in progress; a further access of this image to any byte of it waits first,
 * others do not. Every image control statement ends with an empty list. Ranks whose memory is
 * mapped never appear: their puts are copies.
 */
#ifndef CAF_PENDING_H
#define CAF_PENDING_H

#include "section.h"

/* Whether puts to a rank are copies of this process, and so complete when they return. CAF_SHOWN:
 * so they are, but a trace or a checker sees the calls of the layer below, and no others. */
enum { CAF_NOT_ASKED, CAF_NEAR, CAF_FAR, CAF_SHOWN };
bool caf_is_near_slow(uint32_t rank);
static inline bool caf_is_near(uint32_t rank) {
  const uint8_t reach = caf.reach[rank];
  if (__builtin_expect(reach == CAF_NEAR, 1)) return true;
  return reach == CAF_SHOWN || (reach == CAF_NOT_ASKED && caf_is_near_slow(rank));
}

/* Where a coarray of a rank is in this process; 0: it is not mapped, nobody has asked yet whether
 * it is, or calls are shown. */
__attribute__((cold)) uintptr_t caf_place_slow(const struct caf_token *t, uint32_t rank);
static inline uintptr_t caf_place(const struct caf_token *t, uint32_t rank) {
  const uintptr_t place = t->here[rank];
  return __builtin_expect(place != 0, 1) ? place : caf_place_slow(t, rank);
}

/* The place in this process of a coarray of an image of the current team, in the fewest
 * instructions, of which few wait for another. [out] rank: of the image. Returns 0 where it is not
 * known yet, or there is more to check. */
static inline __attribute__((always_inline)) uintptr_t caf_place_short(const struct caf_token *t,
                                                                       int image, uint32_t *rank) {
  uint32_t r = (uint32_t)image - 1;
  if (!t || !t->here) return 0; /* without `here`: a component */
  if (__builtin_expect(r >= caf.images, 0)) {
    if (r >= caf.renumbered_images) return 0;
    r = caf.renumbered[r];
  }
  *rank = r;
  return t->here[r];
}

/* Address here of the word `offset` bytes into a coarray. [in] image: 0: this image. */
static inline __attribute__((always_inline)) void *
caf_word_short(const struct caf_token *t, size_t offset, int image, uint32_t *rank) {
  uintptr_t place = caf_place_short(t, image, rank);
  if (!place && !image && t && t->here && !caf.lost_count) place = t->here[ *rank = caf.rank];
  return __builtin_expect(place && offset < t->bytes, 1) ? (char *)place + offset : NULL;
}

/* Bits of caf.pending. CAF_UNDER_WAY: whatever was started with an implicit handle since
 * caf_complete, that is puts to far ranks, or asynchronous transfers. CAF_SERVES:
 * other images reach the memory of this one, or its accessors, by messages, which it takes in when
 * it polls: so must a program that does nothing but read a variable of its own image.
 * CAF_BY_MESSAGE: its memory. */
enum { CAF_UNDER_WAY = 1, CAF_SERVES = 2, CAF_BY_MESSAGE = 4 };

/* From now on CAF_SERVES. [in] more: CAF_BY_MESSAGE or 0. */
static inline void caf_serves(uint32_t more) {
  caf.pending |= CAF_SERVES | more;
  caf.until_poll = caf.until_serve = 0;
}

/* Serves the images that ask for accesses by accessors; not in a handler. Returns whether it has
 * served any. */
static inline bool caf_answer(void) {
  return __builtin_expect(caf.asked != 0, 0) && caf.answer();
}

/* Takes in messages, and serves; sync/wait.h has the waits. */
static inline void caf_poll(void) {
  if (caf_answer()) return;
  gasnet_AMPoll();
  (void)caf_answer();
}

/* Called by statements of which programs make loops that wait: takes in messages. Where all memory
 * is mapped, now and then: for accessors, and for targets of pointers, which are not. What is due
 * stays due until caf_serve. */
void caf_serve_slow(void);
static inline bool caf_serve_is_due(void) {
  return __builtin_expect(--caf.until_serve < 0, 0);
}
static inline void caf_serve(void) {
  if (caf_serve_is_due()) caf_serve_slow();
}

/* Whether a poll may report the loss of an image: asked by statements that are to tell of it. Of
 * images of other hosts only a poll tells, and caf_serve_is_due is always true. */
static inline bool caf_has_reports(void) {
  return __builtin_expect(__atomic_load_n(caf.changes, __ATOMIC_RELAXED) !=
                              __atomic_load_n(caf.changes_seen, __ATOMIC_RELAXED),
                          0);
}

/* Whether no image of the job has come to its end, or is lost, in the fewest instructions. False
 * where there is more to do. */
static inline bool caf_all_run(void) {
  return !caf_serve_is_due() && !caf_has_reports() && caf.lost_count == 0 &&
         __atomic_load_n(&caf.shared->arrived, __ATOMIC_ACQUIRE) == 0;
}

/* Statements that only read report their result and its place: a loop that has found one value for
 * long offers its processor to others, among which may be the image that it waits for. */
void caf_looked(const void *where, int64_t found);

/* Counts an access. Returns whether it is to take in messages, see CAF_SERVES: an image that reads
 * some bytes again and again may wait for another one that asks this one. What is due stays due
 * until caf_poll_counted. [in] weight: 0: the access is one with another that has been counted. */
enum { CAF_SCALAR = 1, CAF_ARRAY = 4 };
void caf_poll_counted(void);
static inline bool caf_poll_is_due(int32_t weight) {
  return __builtin_expect((caf.until_poll -= weight) < 0, 0);
}

/* Counts the bytes of an array, as they take as long as many scalars. */
enum { CAF_BYTES_COUNTED = 128, CAF_BYTES_MOST = 1 << 15 };
static inline void caf_count_bytes(size_t bytes) {
  caf.until_poll -=
      (int32_t)((bytes < CAF_BYTES_MOST ? bytes : CAF_BYTES_MOST) / CAF_BYTES_COUNTED);
}

/* Before an access: that, and waits until no put to the bytes [low, low + bytes) of a rank is in
 * progress. */
void caf_await_slow(uint32_t rank, const void *low, size_t bytes);
static inline void caf_await(uint32_t rank, const void *low, size_t bytes) {
  if (caf_poll_is_due(CAF_ARRAY)) caf_poll_counted();
  if (__builtin_expect(caf.pending & CAF_UNDER_WAY, 0)) caf_await_slow(rank, low, bytes);
}

/* A put to these bytes of a far rank has begun, with an implicit handle. */
void caf_pending_add(uint32_t rank, const void *low, size_t bytes);

/* Memory that stays until the puts in progress are done; at least one byte. May wait for them. Ends
 * the program when there is none. */
void *caf_pending_memory(size_t bytes);

/* For the serving thread, whose implicit handles are its own: it begins with no puts in progress,
 * and ends with none. Returns the bits for caf_pending_show. */
uint32_t caf_pending_hide(void);
void caf_pending_show(uint32_t bits);

/* Waits for all puts and gets of this image: begins every image control statement. Where all memory
 * is mapped, there is nothing to wait for. */
void caf_complete_slow(void);
static inline void caf_complete(void) {
  if (__builtin_expect(caf.pending & CAF_UNDER_WAY, 0)) caf_complete_slow();
}

/* A collective statement of a team that may have this image alone: then does all of it but the
 * check of its arguments. */
static inline bool caf_meets_itself(struct caf_team *team) {
  if (__builtin_expect(team->size > 1 || caf.shown || caf.ordered, 1)) return false;
  caf_complete();
  caf_begin(team);
  caf_serve();
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
  return true;
}

/* Writes bytes that lie together; the source may be changed after the return. flags: 0 or
 * CAF_ANYWHERE. */
static inline void caf_put(uint32_t rank, void *remote, const void *data, size_t bytes,
                           gex_Flags_t flags) {
  if (caf_is_near(rank)) {
    gex_RMA_PutBlocking(caf.tm, rank, remote, data, bytes, flags);
    return;
  }
  caf_await(rank, remote, bytes);
  gex_RMA_PutNBI(caf.tm, rank, remote, data, bytes, GEX_EVENT_NOW, flags);
  caf_pending_add(rank, remote, bytes);
}

/* Reads bytes that lie together. flags: as above. */
static inline void caf_get(void *to, uint32_t rank, const void *remote, size_t bytes,
                           gex_Flags_t flags) {
  caf_await(rank, remote, bytes);
  gex_RMA_GetBlocking(caf.tm, to, rank, (void *)(uintptr_t)remote, bytes, flags);
}

/* ---- transfers with a handle (async.c) */

/* An asynchronous transfer has begun. Returns its handle, 0: it is done. Takes over `memory`, which
 * is malloc'ed or NULL. */
int64_t caf_async_add(gex_Event_t event, void *memory);

/* Waits for all asynchronous transfers. */
void caf_async_complete(void);

#endif
