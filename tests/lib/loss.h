/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests in which processes of the job die and the others go on (ext_failure.h). On top of job.h:
 * start, methods to die, waiting for the report, a barrier of those that are left, and the end.
 */
#ifndef TMB_TEST_LOSS_H
#define TMB_TEST_LOSS_H

#include "job.h"

#include <gasnetex_ext.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LOSS_RANKS_MAX = 64, LOSS_SEGMENT = 1 << 20 };

/* Calls of the failure callback so far, by rank, and the state that it got. */
extern volatile int loss_reported[LOSS_RANKS_MAX], loss_state[LOSS_RANKS_MAX];

/* Job with segments of LOSS_SEGMENT bytes, `table` and a handler of ours registered, the callback
 * set and GEXX_FAILURE_REPORT in force. Prints `ready RANK PID`. */
void loss_start(int *argc, char ***argv, gex_AM_Entry_t *table, size_t entries);

/* Dies at once as `how` says: kill, abort, segv, uexit (_exit(0), a failure with exit code 0),
 * exit3, end (in good order). */
void loss_die(const char *how);

/* Dies in the middle of whatever this process does, after so many microseconds of work of its own,
 * system calls apart. */
void loss_die_soon(const char *how, unsigned us);

/* Polls until `rank` is lost. Sleeps in between when `asleep`. */
void loss_await(gex_Rank_t rank, int asleep);

/* Polls until cond(arg); a failed check after 20 seconds. Returns whether it became true. */
int loss_until(int (*cond)(void *arg), void *arg);

/* Barrier of those that are not lost, by messages. Everybody must have the same view. */
void loss_meet(void);

/* Whether an operation met a loss since the last call, and that it was `rank`. */
void loss_expect(gex_Rank_t rank, const char *file, int line);
#define LOSS_EXPECT(rank) loss_expect((rank), __FILE__, __LINE__)
#define LOSS_NONE()       CHECK_EQ(gexx_Lost_Take(NULL), GASNET_OK)

/* A part of a test program: its name is the first argument. */
struct loss_scenario {
  const char *name;
  void (*run)(void);
};

/* A scenario sets it to 1 when the ranks cannot meet after it. */
extern int loss_apart;

/* What the arguments chose: the rank that dies, the last one by default, and how (loss_die). */
extern gex_Rank_t loss_victim;
extern const char *loss_how;

/* After loss_start: runs the scenario that argv names (SCENARIO [HOW [VICTIM]]), and ends this
 * process. Returns 1 with a message if there is none of that name. */
int loss_play(const struct loss_scenario *scenarios, size_t count, int argc, char **argv);

/* Prints `survived RANK` if all checks passed; ends this process: 0, else 1. */
void loss_finish(void);

#ifdef __cplusplus
}
#endif

#endif
