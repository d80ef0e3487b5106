/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The split-phase named barrier of GASNet-1 over the job, and the non-blocking EX barrier over any
 * team.
 *
 * Owns: declarations of barrier.c, barrier_named.c and barrier_words.c. Called by progress
 * (advance) and the public calls. Algorithm: dissemination (Hensgen, Finkel, Manber, Int. J.
 * Parallel Program. 17, 1988, doi:10.1007/BF01379320): ceil(log2 P) rounds, in round k rank r
 * signals rank r + 2^k; among all, or among the leaders of groups. Signals are control words of the
 * conduit. Invariants: control words 0..15 belong to the EX barrier, 16..37 to the named one (two
 * parities); a word has one writer.
 */
#ifndef TMB_CORE_BARRIER_H
#define TMB_CORE_BARRIER_H

#include "core/layer.h"
#include "core/team.h"

extern const struct tmb_layer tmb_barrier_layer, tmb_barrier_words_layer;

/* Close a team (tmb_team_close) once every member has called this or a barrier of this number; does
 * not wait. */
void tmb_barrier_close(struct tmb_team *team);
#endif
