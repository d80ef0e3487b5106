/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a team for its collectives over shared memory.
 *
 * Owns: struct tmb_coll_shared, one per team member, part of struct tmb_coll_team. Written by
 * shared/ only; stash.c makes it and frees it with the team. Calls nothing. Invariant: guarded by
 * the lock of collectives.
 */
#ifndef TMB_COLL_SHARED_STATE_H
#define TMB_COLL_SHARED_STATE_H

#include "core/shared.h"

struct tmb_coll_shared_op;

struct tmb_coll_shared {
  struct tmb_shared_row **row; /* [size], NULL before first use */
  uint64_t next;               /* number of the first chunk of the team's next collective */
  uint64_t read;               /* chunks that this member has read */
  uint64_t room[2]; /* this member may show chunks below this number: [0] small ones, [1] those with
                       a slot */
  uint64_t lacks;   /* room that collectives looked at in this pass lack, TMB_ROW_WANTS_* */
  uint64_t wants_room;             /* this member's share in the word that counts waits for room */
  struct tmb_call_signature known; /* the last call with small data that went over shared memory */
  struct tmb_coll_shared_op *first, **end; /* collectives begun and not complete, in order */
  struct tmb_team *next_team;              /* list of teams that have such collectives */
};

#endif
