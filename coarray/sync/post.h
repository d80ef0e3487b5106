/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts of events: four methods of building them, of which the setting TOMBOLO_TEST_CAF_EVENTS
 * chooses one.
 *
 * Owns: the names of the methods. Included by the files that post events, wait for them, or
 * allocate coarrays. Calls nothing. Invariants: all images use one method; only in the method
 * `signal` may data and their post be one operation.
 */
#ifndef CAF_POST_H
#define CAF_POST_H

#include "caf.h"

/* SIGNAL: a put with signal, which wakes a waiting image; the others: a waiting image polls.
 * QUEUE: a message, whose handler appends to a queue of the owner. FLAG: a put of a count into a
 * word that the owner keeps for each poster. ATOMIC: a remote atomic addition to the event. */
enum caf_events { CAF_EVENTS_SIGNAL, CAF_EVENTS_QUEUE, CAF_EVENTS_FLAG, CAF_EVENTS_ATOMIC };

/* Reads the setting and makes the method's objects; once, before any post. Returns 0, or
 * CAF_STAT_ERROR when there is no memory. */
int caf_posts_start(void);

/* Posts an event of a rank once. word: its address there. The data that belong to the post are
 * complete before the call. */
void caf_post(uint32_t rank, void *word);

/* Puts data and posts the event in one operation, in the method `signal`. [in] remote: the
 * data's address there; [bytes]. */
void caf_post_with(uint32_t rank, void *remote, const void *data, size_t bytes, void *word);

/* Whether `want` posts of an event of this image have come; then it takes them. Takes in messages
 * where the method needs them. */
bool caf_posts_take(uint64_t *word, uint64_t want);

/* Posts of an event of this image that have come and were not taken, as far as a function sees that
 * calls nothing: not those whose messages have not been received. */
uint64_t caf_posts_come(const uint64_t *word);

/* Posts of an event of this image that have come and were not taken. */
uint64_t caf_posts_count(uint64_t *word);

/* Waits until the posts of this image have come to their owners: in statements behind which other
 * images may count on them. */
void caf_posts_settle_slow(void);
static inline void caf_posts_settle(void) {
  if (__builtin_expect(caf.posts_open != 0, 0)) caf_posts_settle_slow();
}

/* New coarrays begin here, of which nothing has been posted: forgets posts of earlier ones. */
void caf_posts_forget(const void *base, size_t bytes);

#endif
