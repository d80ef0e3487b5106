/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of many pieces of one size: vector, indexed and strided puts and gets.
 *
 * Owns: the lists of pieces. Called by: tombolo-bench-vis. Calls: bench.h, floors.h, the public
 * API. The floor of each row is the loop of memcpy over these pieces, through the mapping of the
 * peer's segment, that a programmer would write instead. Pieces lie apart by their own length.
 */
#ifndef TMB_BENCH_PIECES_H
#define TMB_BENCH_PIECES_H

#include "lib/bench.h"

/* Measure 1 piece of 8 bytes, 16 of 64, 1024 of 512; ranks 0 and 1 call alike. */
void pieces_measure(struct bench *b);

#endif
