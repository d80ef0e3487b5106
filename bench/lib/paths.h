/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short paths of the library, run a known number of times for an instruction counter.
 *
 * Owns: nothing. Called by: the counting programs, which scripts/count_paths.py runs under
 * valgrind. Calls: bench.h, the public API. One operation of a path is one call of a function whose
 * name begins with path_; work that belongs to no path, such as the peer's, is outside. After the
 * rounds of a path comes a call of paths_end, where the script has the counts written. Rank 0
 * prints `path NAME ROUNDS` for each, in order. Invariant: the condition of a wait holds already,
 * so that a path never spins and its count does not vary.
 */
#ifndef TMB_BENCH_PATHS_H
#define TMB_BENCH_PATHS_H

#include "lib/bench.h"

/* A whole program: starts the job, runs all paths on ranks 0 and 1, and ends the job. */
_Noreturn void paths_main(const char *name, int argc, char **argv);

#endif
