/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --record`, `--replay` and `--chaos`: prepare the ranks, and print deviations.
 *
 * Owns: struct replay_run. Called by tools/run. Calls: tools/check, to load the runtime into the
 * ranks and to find lines. The layout of the files and of the memory that the ranks share is that
 * of replay/log.h. Invariants: a folder that holds something else than a recording is refused; the
 * memory has no name in a file system.
 */
#ifndef TMB_TOOL_REPLAY_H
#define TMB_TOOL_REPLAY_H

#include "replay/log.h"

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_EXIT      67 /* of a run that has left the recorded order */

#define REPLAY_TAKEN_MAX 4096u

/* Decisions that a run under --chaos has taken. */
struct replay_taken {
  uint32_t count, rank[REPLAY_TAKEN_MAX], number[REPLAY_TAKEN_MAX];
};

struct replay_run {
  const char *record, *replay; /* folders, at most one; NULL: none */
  const char *only;            /* N or N:COMMAND; NULL: all ranks alike */
  uint32_t only_rank;
  const char *chaos;           /* SEED, SEED:LIST or FROM..TO; NULL: none */
  unsigned long long from, to; /* of the seeds */
  struct replay_taken *taken;  /* filled at the end, NULL: nobody asks */
  uint64_t recording;          /* its name, see struct rpl_head */
  struct rpl_area *area;
  int fd;
};

/* Read the argument of --chaos. Returns 0, or the exit code of a usage error after a message. */
int replay_chaos_parse(struct replay_run *run, const char *text);

/* Read the argument of --only. Returns as above. */
int replay_only_parse(struct replay_run *run, const char *text);

/* In the child that becomes `rank`, with --only: the output of other ranks leads nowhere. Returns
 * the words before the program of this rank, such as a debugger's, and its own `argv` behind them;
 * `argv` itself if there are none; NULL if memory is short. */
char **replay_only_child(const struct replay_run *run, uint32_t rank, char **argv);

/* Run a range of seeds, each in a child, until one fails; print what it needs. in argv: the words
 * of the command, for the message. Returns true with the exit code when all is done; false: the
 * caller runs the job, because there is one seed or because it is a child. */
bool replay_chaos_loop(struct replay_run *run, char **argv, int *code);

/* Write to the folder which program is recorded, or say how another one differs. in program: its
 * file; argv: its words. */
void replay_program(const struct replay_run *run, const char *program, char **argv);

/* The hash at the begin of the file `program`, 16 digits and a zero, of the text behind it. */
#define REPLAY_SEAL_BYTES 17
uint64_t replay_program_hash(uint64_t recording, const void *text, size_t bytes);

/* Make or read the folder and the area, and set what the ranks need in the environment. in,out
 * ranks: of the job, 0: as recorded. Returns 0 or an exit code after a message. */
int replay_begin(struct replay_run *run, uint32_t *ranks);

/* Whether all files of a recording are as they were written, else prints what is wrong. in first:
 * the head of the file of rank 0. */
bool replay_is_whole(const char *folder, const struct rpl_head *first);

/* Print deviations. in code: of the job. Returns the exit code of the run. */
int replay_end(struct replay_run *run, int code);

#endif
