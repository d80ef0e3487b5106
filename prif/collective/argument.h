/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the collective subroutines.
 *
 * Owns nothing. Included by the files of prif/collective. Calls: prif.h. Invariants: a program's
 * arguments are checked before other images wait for this one.
 */
#ifndef PRIF_COLLECTIVE_ARGUMENT_H
#define PRIF_COLLECTIVE_ARGUMENT_H

#include "collective/collective.h"
#include "prif.h"

/* Whether an image of the current team has this number; false after prif_fail. argument: its name.
 */
bool prif_member(int32_t image, const char *procedure, const char *argument,
                 const struct prif_status *to);

/* RESULT_IMAGE= is absent, or an image of the current team. [out] image: 0: absent. */
bool prif_result_image(const int32_t *result_image, const char *procedure, int *image,
                       const struct prif_status *to);

/* A section of `count` elements of `bytes` each, one after the other. */
void prif_plain_section(struct caf_section *s, void *base, size_t count, size_t bytes);

#endif
