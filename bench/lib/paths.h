/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short paths of the library, run a known number of times for an instruction counter.
 *
 * Owns: nothing. Called by: the counting programs, which scripts/count_paths.py runs under
 * valgrind. Calls: bench.h, the public API. One operation of a path is one call of a function whose
 * name begins with path_; what belongs to no path, such as what the peer does meanwhile, is
 * outside. After the rounds of a path comes a call of paths_end, where the script has the counts
 * written. Rank 0 prints `path NAME ROUNDS` for each, in order. Invariant: a path finds what it
 * waits for, so that it never spins and its count is the same each time.
 */
#ifndef TMB_BENCH_PATHS_H
#define TMB_BENCH_PATHS_H

#include "lib/bench.h"

/* Handlers that the paths need, for bench_attach. out count: of them. */
gex_AM_Entry_t *paths_handlers(size_t *count);

#define PATHS_BYTES ((size_t)1 << 20) /* data bytes of the segments */

/* Run all paths; ranks 0 and 1 call alike. */
void paths_run(struct bench *b);

#endif
