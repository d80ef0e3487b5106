/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits: the wait of the library below, which serves other images meanwhile, and ends with a loss.
 *
 * Owns nothing. Included by every file of this library that waits. Calls nothing. Invariants: a
 * wait outside of these functions is a call of the library below that a peer's message, signal or
 * loss ends. A wait ends where an image is lost, has ended or asks for an access; its caller then
 * checks whether the wait can still be fulfilled.
 */
#ifndef CAF_WAIT_H
#define CAF_WAIT_H

#include "caf.h"

#include <gasnet_tools.h>

/* Lengths of waits between checks whether the wait can still be fulfilled: the first one, after
 * which the wait is shown to `tombolo why`, and later ones. A loss or an end ends them before. */
enum { CAF_LOOK_US = 1000, CAF_LOOK_LATER_US = 100000 };

/* Waits at most timeout_us until the event is complete (GEX_EVENT_NO_OP: none) or until(arg) is not
 * 0 (NULL: none), as gexx_Event_WaitUntil does, and serves. Returns before when an image is lost or
 * has ended, or a request was served. Returns whether the event is complete, and synchronised. */
bool caf_poll_until(gex_Event_t event, int (*until)(void *arg), void *arg, uint64_t timeout_us);

/* A word of this image, which others write: read by a call, so that a replay finds what was
 * recorded. Does not poll. */
static inline uint64_t caf_own_word(uint64_t *word) {
  uint64_t value = 0;
  gex_RMA_GetBlocking(caf.tm, &value, caf.rank, word, sizeof value, 0);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return value;
}

/* Looks at a signal of this image until it is at least `want`, for about a hand-off: an image that
 * is about to post costs no poll. Returns what it saw last, with which a wait may end unless a
 * replay, a trace or a checker follows it. */
enum { CAF_LOOKS = 24 };
static inline uint64_t caf_look(const uint64_t *word, uint64_t want) {
  uint64_t value = 0;
  for (int i = 0; i < CAF_LOOKS; i++) {
    value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (value >= want) break;
    gasnett_spinloop_hint();
  }
  return value;
}

/* Number of images at their end. Polls: it may serve a message, and hear of a loss. */
uint64_t caf_ended(void);

/* A word of a rank that this image waits for. */
struct caf_word {
  uint32_t rank;
  const void *at;                                 /* its address there: 8 bytes, aligned */
  bool (*is_over)(uint64_t value, uint64_t with); /* the wait is over; calls nothing */
  uint64_t with;
};

/* Waits until the word has a value with which the wait is over, for CAF_LOOK_US, or
 * CAF_LOOK_LATER_US, and serves. [in] times: that this wait has been continued. Returns before as
 * caf_poll_until, and when a word that is not mapped is to be read again. */
void caf_word_wait(const struct caf_word *word, uint32_t times);

/* Waits until a word of a rank is at least `with`. Shows the wait, once it has lasted. [out] value:
 * the last one that was read. Returns 0, or the state of the rank, which has ended before. */
int caf_word_reach(uint32_t rank, const void *at, uint64_t with, uint64_t *value);

#endif
