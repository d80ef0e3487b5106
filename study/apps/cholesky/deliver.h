/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a factored block column of Cholesky reaches the ranks that need it.
 *
 * Owns: struct deliver. Called by cholesky.c. Calls: bench/lib, the public API. Of panel k (blocks
 * i > k of block column k), rank (row, col) needs the blocks i with i mod P = row, which come as
 * one packed matrix from rank (row, k mod Q), and the blocks j with j mod Q = col; those of them
 * that are not among the former come one by one, transposed. By collectives: a broadcast in the
 * row, then an all-gather of varying length in the column. By signals: each owner puts to each
 * consumer, and the last byte brings the notice; no rank waits for one from which it needs nothing.
 * Invariants: panel k uses slot k mod DELIVER_SLOTS of each buffer; nobody writes a slot before its
 * owner has said that it is done with the panel before in that slot (`done` words).
 */
#ifndef TMB_BENCH_DELIVER_H
#define TMB_BENCH_DELIVER_H

#include "apps/cholesky/local.h"
#include "lib/links_gex.h"

#define DELIVER_SLOTS 3

enum deliver_way { DELIVER_BLOCKING, DELIVER_AHEAD, DELIVER_SIGNAL, DELIVER_WAYS };

struct deliver {
  struct job *job;
  enum deliver_way way;
  int p, q, row, col; /* grid of ranks, and this rank in it */
  long nb, blocks;    /* block size; blocks a side */
  long rows;          /* local rows, in whole blocks */
  gex_TM_t row_tm, col_tm;
  gex_Event_t event;                              /* of the broadcast in progress */
  size_t panel_at, tile_at, diagonal_at, word_at; /* offsets in each segment, bytes */
  size_t panel_bytes, tile_bytes, diagonal_bytes; /* of one slot */
  uint64_t want[3][DELIVER_SLOTS]; /* notices of each kind and slot, since deliver_begin */
  double *packed, *gathered;       /* blocks for and from the all-gather */
};

/* Lay out the grid and attach the segment; collective. Ends the job if it does not fit. */
void deliver_open(struct deliver *d, struct job *job, long n, long nb);

/* First local row of block i or of the next one that is here. */
long deliver_first_row(const struct deliver *d, long i);

/* A factorisation begins, ends; collective. */
void deliver_begin(struct deliver *d);
void deliver_end(struct deliver *d);

/* In the grid column of step k: hand the diagonal block (made by one rank, [nb * nb]) to all.
 * in mine: read by its maker only. Returns it. */
const double *deliver_diagonal(struct deliver *d, long k, const double *mine);

/* Where this rank, of the grid column of step k, packs its rows of panel k; until deliver_done(k).
 */
double *deliver_pack(const struct deliver *d, long k);

/* Begin to deliver panel k, packed where it is this rank's. */
void deliver_start(struct deliver *d, long k);

/* Wait until all that this rank needs of panel k is here; then deliver_panel gives it, until
 * deliver_done. */
void deliver_wait(struct deliver *d, long k);
struct cholesky_panel deliver_panel(const struct deliver *d, long k);
void deliver_done(struct deliver *d, long k);

#endif
