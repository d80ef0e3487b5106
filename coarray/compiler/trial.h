/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether an accessor follows addresses that it finds in a structure.
 *
 * Owns: the question. Included by anywhere.c and trial.c. Calls nothing. Invariants: an accessor
 * that follows none may run on the mapped memory of another image; see trial.c.
 */
#ifndef CAF_TRIAL_H
#define CAF_TRIAL_H

#include "data/accessor.h"

/* Whether the accessor of an access may run here, on the structure of a rank whose memory is
 * mapped. Tries the accessor now and then. [in] t: the coarray; offset: of the object in it. */
bool caf_trial_direct(const struct caf_ask *ask, const struct caf_token *t, uint32_t rank,
                      size_t offset);

#endif
