/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles and their bounds.
 *
 * Owns nothing. Included by prif/memory and by the queries of coarrays. Calls nothing. Invariants:
 * a handle has 1 to 15 codimensions; its last upper cobound follows from the size of a team.
 */
#ifndef PRIF_MEMORY_H
#define PRIF_MEMORY_H

#include "prif.h"

/* A new handle, zero but for `self`; NULL: no memory. */
struct prif_co *prif_handle_new(void);
void prif_handle_free(struct prif_co *co);

/* Sets corank and bounds from the arguments of a call for a coarray of `images`. in upper: as many
 * as `lower`, or one less. Returns false after prif_fail where they are wrong. */
bool prif_bounds_set(struct prif_co *co, const struct prif_desc *lower,
                     const struct prif_desc *upper, uint32_t images, const struct prif_status *to);

/* Upper cobound of codimension k, from 0, for `images` images: the last one follows the team in
 * which it is asked for. */
int64_t prif_bounds_upper(const struct prif_co *co, int k, uint32_t images);

/* Number of the image with these cosubscripts, [corank], from 1; 0: there is none among `images`.
 */
uint32_t prif_bounds_index(const struct prif_co *co, const int64_t *sub, uint32_t images);

/* Cosubscripts of image `index`, from 1. [out] sub: [corank] */
void prif_bounds_subscripts(const struct prif_co *co, uint32_t index, int64_t *sub);

#endif
