/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Image control for several interfaces: common to gfortran's statements and the procedures of PRIF.
 *
 * Owns nothing. Included by the files of this folder that define these functions, by those that
 * start and end an image, and by the PRIF library. Calls nothing. Invariants: the functions check
 * their own preconditions; arguments are ranks of the job, addresses there, and counts.
 */
#ifndef CAF_CONTROL_H
#define CAF_CONTROL_H

#include "caf.h"

/* Index of the message by which an image learns that it alone is left. */
enum { CAF_H_ALONE = GEX_AM_INDEX_BASE + 48 };

/* Makes this image understand that message. */
void caf_events_start(void);

/* Whether every other image of the job has ended or is lost. */
bool caf_alone(void);

/* Waits until `want` posts of an event of this image have come, and takes them. [in] want: at least
 * 1, less than CAF_LOSS. Returns 0; CAF_STAT_FAILED or CAF_STAT_STOPPED when the current team has
 * lost a member and the posts have not come; CAF_STAT_STOPPED when this image alone is left. */
int caf_wait_posts(uint64_t *word, uint64_t want);

/* SYNC ALL. */
void caf_sync_all(const struct caf_status *to);

/* SYNC IMAGES. [in] count: of images, negative: all of the current team. [in] images: [count]
 * indices in the current team. */
void caf_sync_images(int count, const int *images, const struct caf_status *to);

/* SYNC MEMORY: completes the operations of this image, receives messages, and orders memory. */
void caf_sync_memory(void);

/* A lock variable, or the word of a critical section: 0 when free, else 1 + rank of its holder. */
struct caf_lock {
  uint32_t rank; /* where it lies */
  void *word;
  const struct caf_token *token; /* the awaited object, for `tombolo why`; may be NULL */
};

/* Result of taking a lock. */
enum caf_taken {
  CAF_TAKEN,
  CAF_TAKEN_OF_FAILED, /* its holder was lost */
  CAF_TAKEN_BUSY,      /* not: another image holds it, and `once` was asked for */
  CAF_TAKEN_BEFORE,    /* not: this image holds it */
  CAF_TAKEN_NEVER,     /* not: its holder has ended normally */
  CAF_TAKEN_NOWHERE,   /* not: the image where it lies is lost */
  CAF_TAKEN_NO_LOCK    /* not: the word is neither 0 nor an image's */
};

/* Takes a lock; waits for its holder unless `once`. Completes nothing: call caf_complete before.
 * [out] holder: the word before. */
enum caf_taken caf_lock_take(const struct caf_lock *lock, bool once, int64_t *holder);

/* Frees a lock that this image holds; of any other it only returns the word, 0: it is free. Returns
 * 1 + the own rank when it has freed it. */
int64_t caf_lock_free(const struct caf_lock *lock);

#endif
