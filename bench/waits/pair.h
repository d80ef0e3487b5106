/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of a language beside those of C in the same processes.
 *
 * Owns nothing. Included by the programs of this folder in C, C++ and UPC; the others declare the
 * functions themselves. Calls nothing. Invariants: all ranks call the functions in one order.
 */
#ifndef BENCH_WAITS_PAIR_H
#define BENCH_WAITS_PAIR_H

#ifdef __cplusplus
extern "C" {
#endif

/* A barrier; a signal to and from both neighbours; a signal that goes around the ranks; a lock that
 * all ranks want; a sum over all ranks. */
enum pair_kind { PAIR_BARRIER, PAIR_NEIGHBOURS, PAIR_RING, PAIR_LOCK, PAIR_SUM };

/* Joins the job; after the language has started. */
void pair_begin(void);

/* Samples of a row, and operations of each. */
int pair_samples(void);
int pair_count(void);

/* Measures the C calls of a kind for one sample. */
void pair_measure(int kind);

/* One barrier of C, for a language that makes the C calls of a sample itself, since its own calls
 * take time: pair_start, as many barriers as pair_count says, pair_measured. */
void pair_barrier(void);
void pair_measured(void);

/* Begins and ends the language's operations of the sample. */
void pair_start(void);
void pair_stop(void);

/* Rank 0 prints the row: medians in us, and median, least and most of the ratios of the pairs. */
void pair_report(const char *name);

#ifdef __cplusplus
}
#endif

#endif
