/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of short data over a team's shared memory: members write (show) their data in their
 * own row, and read those of the others there.
 *
 * Owns: the declarations of the files of this folder. Called by calls/start.c, under the lock of
 * collectives. Calls: core/shared.h. Data are cut into chunks,
 * numbered per team; a member that has data for a chunk copies them into the chunk's place in its
 * row, and those that want them read them there: one step for any team size, no message. After R.
 * Graham, G. Shipman, "MPI support for multi-core architectures: optimized shared memory
 * collectives", EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_21. Invariants: a member reads
 * chunks in order, each once, also those that hold nothing for it; a slot is written again only
 * when all members have read it.
 */
#ifndef TMB_COLL_SHARED_H
#define TMB_COLL_SHARED_H

#include "coll/engine/engine.h"

/* Whether a call is done over shared memory; equal on all members. */
bool tmb_coll_shared_takes(struct tmb_team *team, const struct tmb_coll_call *call,
                           struct tmb_call_signature signature);

/* Start such a call. Returns its event, INVALID when it is complete. */
gex_Event_t tmb_coll_shared_start(struct tmb_team *team, const struct tmb_coll_call *call,
                                  struct tmb_call_signature signature);

/* ---- shared_now.c */

enum tmb_shared_now { TMB_SHARED_NOT_NOW, TMB_SHARED_SHOWN, TMB_SHARED_COMPLETE };

/* Do a small collective inside the call, when nothing of the team is in flight. Returns
 * COMPLETE; SHOWN when the others did not come soon: this member's data are in shared memory, and
 * tmb_coll_shared_start must do the rest; NOT_NOW when nothing was done. */
enum tmb_shared_now tmb_coll_shared_now(struct tmb_team *team, const struct tmb_coll_call *call,
                                        struct tmb_call_signature signature);

/* ---- shared.c */

/* From progress: advance the collectives over shared memory that wait. Returns how many chunks were
 * shown and read. */
int tmb_coll_shared_advance(void);

/* The team has lost a member: complete its collectives that wait, marked as having met a loss. */
void tmb_coll_shared_abandon(struct tmb_team *team);

/* ---- shared_step.c */

/* Use of the memory that members of a node share, for schedules. */
extern const struct tmb_coll_boards tmb_coll_boards;

/* A team is freed: free what this folder has allocated for it. */
void tmb_coll_shared_free(struct tmb_coll_team *ct);

#endif
