/* SPDX-License-Identifier: BSD-3-Clause */
/* All of FT's communication: the only file pair of ft that calls the library. Ranks, memory that
 * others may write, puts, and synchronisation of the whole job or of a row or column of the process
 * grid. A put's target is named by rank and byte offset in that rank's segment; segments have the
 * same layout everywhere. Called by one thread (GASNET_SEQ).
 */
#ifndef FT_COMM_H
#define FT_COMM_H

#include "problem.h"

#include <stdbool.h>
#include <stdint.h>

enum ft_team_id { FT_ROW, FT_COLUMN, FT_TEAMS };
#define FT_PARTS 8 /* words of a team that puts with signal count in */

/* Ranks first, first + stride, ...: one row or column of the process grid. */
struct ft_team {
  enum ft_team_id id;
  int size, me;               /* members; own index */
  int first, stride;          /* job rank of member i is first + i * stride */
  uint32_t rounds;            /* synchronisations so far */
  uint64_t signals[FT_PARTS]; /* puts with signal that have been waited for, by word */
};

/* Joins the job; argc and argv as for gex_Client_Init. Ends the process with a message on failure.
 */
void comm_init(int *argc, char ***argv);
int comm_rank(void);
int comm_size(void);

/* Largest segment that every rank can have, in bytes. */
uint64_t comm_segment_limit(void);

/* Makes this rank's segment of at least `bytes` (rounded up to pages). Collective, once. Returns
 * its address. */
void *comm_attach(size_t bytes);

/* Describes one of this rank's teams; collective before comm_attach. */
void comm_team_init(struct ft_team *team, enum ft_team_id id);

/* Starts a put; src must stay unchanged until comm_put_wait returns, which is when all started puts
 * are complete at their targets. comm_put is complete on return. */
void comm_put_start(int rank, size_t offset, const void *src, size_t bytes);
bool comm_puts_done(void); /* whether comm_put_wait would return at once; does not wait */
void comm_put_wait(void);
void comm_put(int rank, size_t offset, const void *src, size_t bytes);

/* Starts a put; when the data are there, the target's word number `part` of the team rises by one.
 * src must stay unchanged until comm_flight is 0. May wait where very many are in flight. */
void comm_put_signal(const struct ft_team *team, int rank, size_t offset, const void *src,
                     size_t bytes, int part);

/* Bytes of such puts that are in flight; poll: after progress, else of the last call and since. */
size_t comm_flight(bool poll);

/* Whether word `part` has risen by `puts` since it last did so for this call; wait: until it has.
 */
bool comm_signals_come(struct ft_team *team, int part, uint64_t puts, bool wait);

/* Sleeps until something arrives or is acknowledged, a millisecond at most. */
void comm_rest(void);

/* Starts an exchange of the team: `bytes` of src go to each member, dst gets as much from each,
 * both [team size] in member order. Collective over the team; all members start theirs in the same
 * order. comm_exchange_wait: all that were started are done. */
void comm_exchange_start(const struct ft_team *team, void *dst, const void *src, size_t bytes);
void comm_exchange_wait(void);

/* Marks what happens from here to the matching end, for `tombolo run --trace`; they may nest. name:
 * a constant. */
void comm_region(const char *name);
void comm_region_end(void);

/* Whether all ranks of the job share memory: then puts are copies, complete when they return. */
bool comm_all_near(void);

/* Returns when every member of the team has called it as often as this rank has; completed puts of
 * the members before their call are then visible here. */
void comm_team_sync(struct ft_team *team);

/* A barrier of the whole job. */
void comm_barrier(void);

/* Sum over all ranks in rank order, the same on every rank. Also synchronises the job. */
struct cplx comm_sum(struct cplx mine);

/* Collects `count` doubles of each rank on rank 0 (all: [size][count], ignored elsewhere), by way
 * of the first comm_gather_bytes(count) bytes of rank 0's segment. Collective. */
size_t comm_gather_bytes(int count);
void comm_gather(const double *mine, int count, double *all);

/* Ends the job with an exit code that all ranks agree on, after all have arrived here. */
_Noreturn void comm_exit(int code);

/* Ends the job at once with a message, code 1. */
_Noreturn void comm_fail(const char *problem, const char *remedy);

#endif
