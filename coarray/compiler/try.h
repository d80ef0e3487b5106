/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of an accessor whose result is kept.
 *
 * Owns: the result of a run. Included by trial.c and follow.c. Calls nothing. Invariants: for a
 * process that ends soon: nothing is freed.
 */
#ifndef CAF_TRY_H
#define CAF_TRY_H

#include "data/accessor.h"

/* Result of a trial run: the elements that a get has read, or whether an object is allocated. */
struct caf_seen {
  size_t bytes;
  char *result; /* malloc'ed */
};

/* Runs the accessor of an access on an object in this process. Returns 0, or CAF_STAT_ERROR. */
int caf_try(const struct caf_ask *ask, char *object, struct caf_seen *seen);

/* The value of each byte in a second run, after one with 0x81: as addresses neither is canonical,
 * and as data they differ. Of what is not allocated the address is 0. */
static inline int caf_try_second(const struct caf_ask *ask) {
  return ask->kind == CAF_ACCESS_PRESENT ? 0 : 0x93;
}

/* Whether both runs have read something, and not the same. */
bool caf_try_differs(const struct caf_seen *one, const struct caf_seen *two);

#endif
