/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses by accessors: where they run, and their answers.
 *
 * Owns: the place of an object, and an answer. Included by anywhere.c and remote.c. Calls
 * nothing. Invariants: an accessor runs in the calling image where that can reach the object, else
 * on the image that has it.
 */
#ifndef CAF_REMOTE_H
#define CAF_REMOTE_H

#include "data/accessor.h"

/* An object of an image. */
struct caf_there {
  uint32_t rank;
  const struct caf_token *token; /* NULL: no coarray, but the memory that the rank has passed as
                                  * `add` */
  uint64_t base;                 /* its address there */
};

/* Where the answer of a get may be put, if it fits. */
struct caf_room {
  void *at;
  size_t bytes;
};

/* The answer. */
struct caf_answer {
  struct caf_found found;
  size_t bytes; /* get: at found.at, without gaps where found.owned, or in the room */
};

/* Makes an access and waits for its end. Returns 0 or a STAT code; CAF_STAT_ERROR: an image has no
 * memory, or another program. */
int caf_remote_call(const struct caf_there *there, const struct caf_ask *ask,
                    const struct caf_room *room, struct caf_answer *answer);

#endif
