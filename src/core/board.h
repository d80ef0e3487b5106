/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boards: memory in which the members of a team, all in one neighbourhood, show each other data and
 * signals.
 *
 * Owns: struct tmb_board_row, one row per member of a team that has a board; rows are areas of the
 * conduit (shared_area). Called by team creation (take, give), barrier.c and coll/board.c. Calls:
 * the conduit. Each line has one writer at a time, named beside it. Invariants: row 0 of every rank
 * belongs to the primordial team; a row is clear when it is taken, and it is offered to others only
 * after that; a team has a board on all its members or on none; a row is given back when its member
 * is disposed of, and then no other member will touch it again (see gex_TM_Destroy's barrier).
 */
#ifndef TMB_CORE_BOARD_H
#define TMB_CORE_BOARD_H

#include "base/atomic.h"
#include "core/job.h"

#define TMB_BOARD_HEADS    64u    /* chunks that a member may have shown and others not yet read */
#define TMB_BOARD_SLOTS    8u     /* the same of chunks that need a slot */
#define TMB_BOARD_BYTES    16384u /* of a chunk */
#define TMB_BOARD_SMALL    96u    /* bytes that need no slot */
#define TMB_BOARD_NOTES    16u    /* collectives that a member of a debug client has noted */
#define TMB_BOARD_ROWS_MAX 64u
#define TMB_BOARD_NONE     UINT32_MAX

struct tmb_board_line {
  uint64_t word TMB_ALIGNED(TMB_CACHE_LINE);
};

/* A collective and its arguments that must be the same on all members; its makers know how. */
struct tmb_board_what {
  uint64_t call, bytes;
};

/* A member's collectives, in order; debug clients. */
struct tmb_board_note {
  uint64_t number TMB_ALIGNED(TMB_CACHE_LINE); /* of the collective + 1; 0 while it is written */
  uint64_t uid;                                /* of the team: a row may have got another one */
  struct tmb_board_what what;
};

/* Contribution to an all-gather of the library's own, by parity of its number. */
struct tmb_board_card {
  uint64_t number TMB_ALIGNED(TMB_CACHE_LINE); /* of the all-gather + 1 */
  char block[TMB_TEAM_GATHER_BYTES] TMB_ALIGNED(TMB_CACHE_LINE);
};

/* What a member shows. Two lines, which many processors fetch as a pair. */
struct tmb_board_head {
  uint64_t number TMB_ALIGNED(2 * TMB_CACHE_LINE); /* of the chunk + 1; written last */
  struct tmb_board_what what;                      /* whose chunk it is */
  char small[TMB_BOARD_SMALL] TMB_ALIGNED(16);     /* chunks of at most this; fit for any type */
};
_Static_assert(sizeof(struct tmb_board_head) == 2 * TMB_CACHE_LINE, "two cache lines");

/* Others. An odd number of lines: the slots begin in different sets of a cache. */
struct tmb_board_slot {
  char data[TMB_BOARD_BYTES + TMB_CACHE_LINE] TMB_ALIGNED(TMB_CACHE_LINE);
};

struct tmb_board_row {
  struct tmb_board_line read;    /* chunks that this member has read; by the member */
  struct tmb_board_line arrive;  /* arrivals at barriers, all members together; row of rank 0 */
  struct tmb_board_line release; /* barriers that are complete; by the last to arrive */
  struct tmb_board_line named;   /* the same of named barriers, with votes; rank 0 of the job */
  struct tmb_board_line outcome; /* of the last named barrier; by the last to arrive */
  struct tmb_board_line flag[TMB_TEAM_ROUNDS_MAX]; /* barriers' signals by round; by one peer */
  struct tmb_board_card card[2];
  struct tmb_board_note note[TMB_BOARD_NOTES];
  struct tmb_board_head head[TMB_BOARD_HEADS];
  struct tmb_board_slot slot[TMB_BOARD_SLOTS];
};
_Static_assert(sizeof(struct tmb_board_row) <= TMB_SHARED_AREA_BYTES, "a row fits its area");

/* Give the primordial team its board if the conduit has areas; after the conduit is open. */
void tmb_board_init(void);

/* Take a clear row of this process; TMB_BOARD_NONE when there is none. Any thread. */
uint32_t tmb_board_take(void);
void tmb_board_give(uint32_t row);

/* Row of a member of a team that has a board. */
static inline struct tmb_board_row *tmb_board_row(const struct tmb_team *team, uint32_t rank) {
  return tmb_job.ops->shared_area(tmb_job.conduit, tmb_team_jobrank(team, rank),
                                  team->board_row ? team->board_row[rank] : 0);
}

#endif
