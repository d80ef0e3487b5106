/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attached events and accessors: which attached sections an accessor writes or reads.
 *
 * Owns: the name of its function. Included by watch.c and remote.c. Calls nothing. Invariants: none
 * of its own.
 */
#ifndef CAF_WATCH_H
#define CAF_WATCH_H

#include "data/accessor.h"

/* As caf_accessor_call, for an object of this image. Then posts the events of the attached sections
 * that the accessor has written or read. */
int caf_watched_call(const struct caf_ask *ask, char *base, const struct caf_asker *asker,
                     struct caf_found *found);

#endif
