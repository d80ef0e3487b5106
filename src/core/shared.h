/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows: memory in which the members of a team, all in one neighbourhood, show each other data and
 * signals.
 *
 * Owns: struct tmb_shared_row, one row per member of a team that has shared memory; the rows of a
 * rank are its part of a region of the on-node engine. Called by team creation (take, give),
 * barrier.c and coll/shared/shared.c. Calls: the engine. Each line has one writer at a time, named
 * beside it. Invariants: row 0 of every rank belongs to the primordial team; a row is clear when it
 * is taken, and it is offered to others only after that; a team has shared memory on all its
 * members or on none; a row is given back when its member is disposed of, and then no other member
 * will touch it again (see gex_TM_Destroy's barrier).
 */
#ifndef TMB_CORE_SHARED_H
#define TMB_CORE_SHARED_H

#include "base/atomic.h"
#include "core/job.h"

/* Sizes of a row, which bound its memory. Chosen, not measured one by one. */
#define TMB_SHARED_HEADS                                                                      \
 64u /* descriptors of chunks in a row: a member may be this many chunks ahead of the slowest \
        reader */
#define TMB_SHARED_SLOTS                                                                           \
 8u /* chunks longer than TMB_SHARED_SMALL: a member may be this many of them ahead of the slowest \
       reader */
#define TMB_SHARED_BYTES 16384u /* length of a chunk, at most */
#define TMB_SHARED_SMALL \
 96u /* chunks up to this length lie in the descriptor itself and need no slot */
#define TMB_SHARED_CALLS    16u /* in debug jobs: signatures of the last collectives of a member */
#define TMB_SHARED_ROWS_MAX 64u /* members of a team that meet in rows, at most */
#define TMB_SHARED_NONE     UINT32_MAX

struct tmb_shared_line {
  uint64_t word TMB_ALIGNED(TMB_CACHE_LINE);
};

/* Turns of ranks on a processor. Two cache lines, because many processors fetch lines in pairs. */
struct tmb_shared_turns {
  uint64_t count TMB_ALIGNED(2 * TMB_CACHE_LINE);
};

/* Meetings of a team's members, each kind numbered by itself: none continues before all arrive. */
enum tmb_meeting {
  TMB_MEETING_BARRIER,
  TMB_MEETING_NAMED,
  TMB_MEETING_GATHER,
  TMB_MEETING_COLL,
  TMB_MEETING_KINDS
};
#define TMB_SHARED_CPUS 16u /* words of a kind: processors so far apart share one; chosen */

/* Signature of a collective: its kind and the arguments that all members must give alike, packed
 * by tmb_coll_signature. Members compare signatures. */
struct tmb_call_signature {
  uint64_t call, bytes;
};

/* In debug jobs: the signature of one collective that a member has called. */
struct tmb_shared_call {
  uint64_t number TMB_ALIGNED(
      TMB_CACHE_LINE); /* of the collective in its team + 1; 0 while the entry is written */
  uint64_t uid;        /* of the team: rows are used again by other teams */
  struct tmb_call_signature signature;
};

/* A member's contribution to an all-gather of the library itself (making teams, not the
 * client's). There are two, used by turns: by the parity of the all-gather's number. */
struct tmb_shared_card {
  uint64_t number TMB_ALIGNED(TMB_CACHE_LINE); /* of the all-gather + 1 */
  char block[TMB_TEAM_GATHER_BYTES] TMB_ALIGNED(TMB_CACHE_LINE);
};

/* Descriptor of a chunk that a member shows to the others, with its data if they are short. Two
 * cache lines, because many processors fetch lines in pairs. */
struct tmb_shared_head {
  uint64_t number TMB_ALIGNED(2 * TMB_CACHE_LINE); /* of the chunk + 1; written last */
  struct tmb_call_signature signature; /* of the collective to which the chunk belongs */
  uint64_t met; /* arrivals at this chunk, where ranks outnumber processors: in the row of team rank
                   0, changed by all members; see coll/shared/shared_meet.h */
  char small[TMB_SHARED_SMALL] TMB_ALIGNED(16); /* data of a short chunk; aligned for any type */
};
_Static_assert(sizeof(struct tmb_shared_head) == 2 * TMB_CACHE_LINE, "two cache lines");

/* Data of a chunk longer than TMB_SHARED_SMALL. One cache line longer than the data, so that a
 * slot has an odd number of lines: slots whose size is a power of two would all begin in the same
 * set of the cache. */
struct tmb_shared_slot {
  char data[TMB_SHARED_BYTES + TMB_CACHE_LINE] TMB_ALIGNED(TMB_CACHE_LINE);
};

struct tmb_shared_row {
  struct tmb_shared_line read; /* chunks that this member has read so far; written by the member */
  struct tmb_shared_line arrive; /* arrivals of all members at all barriers so far; every member
                                   adds to that of team rank 0 */
  struct tmb_shared_line
      release;                  /* barriers complete so far; written by the last member to arrive,
                                   in the row of team rank 0 of the primordial team, else in all */
  struct tmb_shared_line named; /* arrivals at named barriers, with the combined votes; every rank
                                  changes that of job rank 0 */
  struct tmb_shared_line
      outcome; /* outcome of the last named barrier; written by the last rank to arrive */
  struct tmb_shared_line gathered; /* contributions of all members to all-gathers so far, where
                                      processors are oversubscribed; every member adds to that of
                                      team rank 0 */
  struct tmb_shared_line room;     /* members that wait for room for a chunk, where ranks outnumber
                                      processors; they change that of team rank 0 */
  struct tmb_shared_line lacks;    /* kind of room that this member waits for, 0: none; written by
                                    * it */
  struct tmb_shared_line ask;      /* number of the trip that job rank 0 begins; in its own row */
  struct tmb_shared_line answer;   /* of the trip that the last rank has answered; in this row */
  struct tmb_shared_line write;    /* time in ns to write a slot that the last rank has read */
  struct tmb_shared_line streams;  /* whether tmb_os_copy_past fills slots that the others read
                                      sooner than memcpy does; job rank 0 has measured it */
  struct tmb_shared_line reads, kernel; /* where ranks outnumber processors: times in ns to read
                                           several slots that job rank 0 has written, and in which
                                           the kernel copies as much; 0: unknown. `write` is that of
                                           as many slots there */
  struct tmb_shared_line
      handoff; /* time of a round trip in ns, 0: unknown; written by job rank 0 */
  struct tmb_shared_line
      flag[TMB_TEAM_ROUNDS_MAX]; /* [round] number of the last barrier in which the peer of that
                                    round has signalled; written by that peer */
  struct tmb_shared_card card[2];
  struct tmb_shared_call calls[TMB_SHARED_CALLS];
  struct tmb_shared_line here[TMB_MEETING_KINDS]
                             [TMB_SHARED_CPUS]; /* arrivals at meetings by processor, see
                                                   tmb_shared_last_here; all members change those
                                                   of team rank 0; not cleared for a new team */
  struct tmb_shared_head head[TMB_SHARED_HEADS];
  struct tmb_shared_slot slot[TMB_SHARED_SLOTS];
};

/* From row to row: whole pages, so that a row that is never touched costs no memory. */
#define TMB_SHARED_ROW_BYTES TMB_ALIGN_UP(sizeof(struct tmb_shared_row), (size_t)4096)

/* Ask the engine for rows; before it is open. */
void tmb_shared_ask(void);

/* Say in the primordial team whether it has shared memory; after the engine is open. */
void tmb_shared_init(void);

/* Rows of each rank. */
uint32_t tmb_shared_rows(void);

/* Time of a round trip in ns in which job rank 0 hands a cache line to the last rank and gets it
 * back, measured at start-up; 0 where that was not possible. Equal on all ranks once they are
 * initialised. */
uint64_t tmb_shared_handoff_ns(void);

/* The most time in ns in which job rank 0 writes the data of a slot that the last rank has just
 * read; 0 where that is not known, as above. The hand-off does not show it: machines with the same
 * hand-off differ in it several times. */
uint64_t tmb_shared_write_ns(void);

/* Whether data that go past the caches of job rank 0 are with the last rank sooner than others:
 * tmb_os_copy_past; false where that is not known. */
bool tmb_shared_streams(void);

/* Whether one copy by the kernel takes less time than two through shared memory, where ranks
 * outnumber processors; false where that is not known. Job ranks 0 and 1 measure with 64 KiB at
 * start-up. Of two copies, one writes data that another processor has read, one reads data that it
 * has written. The kernel looks up each page, and reads its data, whether another processor has
 * written them or not: half the time of such a read is taken for that. */
bool tmb_shared_kernel_faster(void);

/* Take a row of this process that no team uses, and clear it. Returns its index, or
 * TMB_SHARED_NONE when all are in use; give it back with tmb_shared_give. Any thread. */
uint32_t tmb_shared_take(void);
void tmb_shared_give(uint32_t row);

/*
 * Count this member, which comes to a meeting, at the processor that runs it. in number: of the
 * meeting in its team and kind; grows. Returns whether as many have come from this processor as
 * to the meeting before: then all that it runs wait, and giving it away brings nobody sooner. A
 * hint: after a member has changed its processor, and after a row has changed its team, one or two
 * answers are wrong. The team has shared memory. Cost: one locked instruction on a line that stays
 * with the processor.
 */
bool tmb_shared_last_here(const struct tmb_team *team, enum tmb_meeting kind, uint64_t number);

/* Row of a member of a team that has shared memory. */
static inline struct tmb_shared_row *tmb_shared_row(const struct tmb_team *team, uint32_t rank) {
  char *const rows = tmb_job.rows + tmb_near_of(tmb_team_jobrank(team, rank)) * tmb_job.rows_stride;
  const size_t row = team->shared_row ? team->shared_row[rank] : 0;
  return (struct tmb_shared_row *)(void *)(rows + row * TMB_SHARED_ROW_BYTES);
}

/* A member's row for the others in all-gather `number`. Those of the primordial team lie side by
 * side: every rank reads all of them, and 16 ranks share a page. */
static inline struct tmb_shared_card *tmb_shared_card(const struct tmb_team *team, uint32_t rank,
                                                      uint64_t number) {
  if (team->shared_row) return &tmb_shared_row(team, rank)->card[number & 1];
  return tmb_job.cards + 2 * tmb_near_of(tmb_team_jobrank(team, rank)) + (number & 1);
}

#endif
