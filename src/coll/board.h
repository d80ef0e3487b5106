/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of short data over a team's board: everybody shows, everybody looks.
 *
 * Owns: struct tmb_coll_board, one per team member, and the declarations of board.c. Called by the
 * engine, under the lock of collectives. Calls: core/board.h. Data are cut into chunks, numbered
 * per team; who has data for a chunk copies them into its slot, who wants them reads them there:
 * one step for any team size, no message. After R. Graham, G. Shipman, "MPI support for multi-core
 * architectures: optimized shared memory collectives", EuroPVM/MPI 2008,
 * doi:10.1007/978-3-540-87475-1_21. Invariants: a member reads chunks in order, each once, also
 * those that hold nothing for it; a slot is written again only when all members have read it.
 */
#ifndef TMB_COLL_BOARD_H
#define TMB_COLL_BOARD_H

#include "core/board.h"

struct tmb_coll_call;
struct tmb_coll_board_op;

struct tmb_coll_board {
  struct tmb_board_row **row;  /* [size], NULL before first use */
  uint64_t next;               /* number of the next collective's first chunk */
  uint64_t read;               /* chunks that this member has read */
  uint64_t room[2];            /* chunks below it may be shown: small ones, those with a slot */
  struct tmb_board_what known; /* the last call with small data that went over the board */
  struct tmb_coll_board_op *first, **end; /* begun and not complete, in order */
  struct tmb_team *next_team;             /* list of teams with such */
};

/* Whether a call goes over the board; the same answer on all members. */
bool tmb_coll_board_takes(struct tmb_team *team, const struct tmb_coll_call *call);

/* Start it. Returns its event, INVALID when it is complete. */
gex_Event_t tmb_coll_board_start(struct tmb_team *team, const struct tmb_coll_call *call);

/* ---- board_now.c */

enum tmb_board_now { TMB_BOARD_NOT_NOW, TMB_BOARD_SHOWN, TMB_BOARD_COMPLETE };

/* Do a small collective inside the call, when nothing of the team is in flight. Returns COMPLETE;
 * SHOWN when others did not come soon: this member's data are on the board, the rest is to be done
 * in the general way; NOT_NOW when all of it is. */
enum tmb_board_now tmb_coll_board_now(struct tmb_team *team, const struct tmb_coll_call *call);

/* ---- board.c */

/* Go on with those that wait. Returns how much was done. */
int tmb_coll_board_advance(void);

/* The team has lost a member: those that wait end, with a mark. */
void tmb_coll_board_abandon(struct tmb_team *team);

#endif
