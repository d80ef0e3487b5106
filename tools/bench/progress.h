/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of a long command that measures: one line on the terminal, with the time left.
 *
 * Owns: struct bench_progress. Called by `tombolo bench` and `tombolo tune`. Calls: the clock.
 * Invariants: the line is written to standard error, only where that is a terminal, and is erased
 * when something else is printed there or the command ends; in a pipe there is nothing.
 */
#ifndef TMB_TOOL_BENCH_PROGRESS_H
#define TMB_TOOL_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_progress {
  const char *command; /* "bench" */
  uint32_t all, done;  /* parts of the work */
  uint64_t begun_ns;
  bool shown; /* there is a terminal */
};

/* Begin. in all: parts. */
void bench_progress_begin(struct bench_progress *p, const char *command, uint32_t all);

/* The next part begins. in what: it, in words. */
void bench_progress_next(struct bench_progress *p, const char *what);

/* No part goes on: the line is cleared. */
void bench_progress_end(struct bench_progress *p);

#endif
