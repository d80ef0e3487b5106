/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of 64 bits in the memory of every rank, and letters: what irregular applications share.
 *
 * Owns: the memory, one per process. Called by study/apps/<name>. Implemented twice: by words.c on
 * the public API, and by study/compare/words_mpi.c on MPI's one-sided calls, so that the same
 * application is measured on both. Invariants: an index names a word from 0 of a rank's memory;
 * words are changed by others only through these calls while a program runs.
 */
#ifndef TMB_BENCH_WORDS_H
#define TMB_BENCH_WORDS_H

#include "lib/links.h"

#define LETTER_WORDS 64 /* of a letter, at most */

/* Memory of `count` words on each rank, zero; collective. Returns this rank's. Ends the job with
 * the reason if there is not so much. */
uint64_t *words_attach(struct job *job, size_t count);

/* Give the memory back; collective. */
void words_detach(struct job *job);

/* Read `count` words. */
void words_get(int rank, size_t index, size_t count, uint64_t *to);

/* Write a word; change one that is `expected`. Done after words_wait. */
void words_put(int rank, size_t index, uint64_t word);
void words_swap(int rank, size_t index, uint64_t expected, uint64_t word);
void words_wait(void);

/* Change a word that is `expected`; add to a word. Returns what it was. */
uint64_t words_fetch_swap(int rank, size_t index, uint64_t expected, uint64_t word);
uint64_t words_fetch_add(int rank, size_t index, uint64_t by);

/* Whether there are letters. A letter is taken by the function given, on the rank that it is sent
 * to, in words_progress or another call of this file; the function must not send any. */
typedef void words_taker(const uint64_t *words, size_t count);
bool words_letters(void);
void words_take(words_taker *taker);
void words_letter(int rank, const uint64_t *words, size_t count);
void words_progress(void);

#endif
