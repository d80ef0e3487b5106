/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words on MPI's one-sided calls, see study/lib/words.h.
 *
 * Owns: a window that is locked throughout. Compiled by study/compare/apps.py. There are no
 * letters.
 */
#include "lib/words.h"

#include <mpi.h>

#include <stdlib.h>
#include <string.h>

enum { PENDING = 4096 };

static struct {
  MPI_Win window;
  uint64_t source[PENDING][3]; /* of operations that are not done: new, expected, was */
  int pending;
} words;

uint64_t *words_attach(struct job *job, size_t count) {
  uint64_t *mine;
  job_attach(job, 0);
  MPI_Win_allocate((MPI_Aint)(count * sizeof *mine), sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &mine, &words.window);
  memset(mine, 0, count * sizeof *mine);
  MPI_Win_lock_all(0, words.window);
  job_barrier(job);
  return mine;
}

void words_detach(struct job *job) {
  job_barrier(job);
  MPI_Win_unlock_all(words.window);
  MPI_Win_free(&words.window);
}

void words_get(int rank, size_t index, size_t count, uint64_t *to) {
  MPI_Get(to, (int)count, MPI_UINT64_T, rank, (MPI_Aint)index, (int)count, MPI_UINT64_T,
          words.window);
  MPI_Win_flush(rank, words.window);
}

static uint64_t *pending(void) {
  if (words.pending == PENDING) words_wait();
  return words.source[words.pending++];
}

void words_put(int rank, size_t index, uint64_t word) {
  uint64_t *const p = pending();
  p[0] = word;
  /* Two ranks may write one word, which MPI_Put must not. */
  MPI_Accumulate(p, 1, MPI_UINT64_T, rank, (MPI_Aint)index, 1, MPI_UINT64_T, MPI_REPLACE,
                 words.window);
}

void words_swap(int rank, size_t index, uint64_t expected, uint64_t word) {
  uint64_t *const p = pending();
  p[0] = word;
  p[1] = expected;
  MPI_Compare_and_swap(p, p + 1, p + 2, MPI_UINT64_T, rank, (MPI_Aint)index, words.window);
}

void words_wait(void) {
  MPI_Win_flush_all(words.window);
  MPI_Win_sync(words.window);
  words.pending = 0;
}

uint64_t words_fetch_swap(int rank, size_t index, uint64_t expected, uint64_t word) {
  uint64_t was;
  MPI_Compare_and_swap(&word, &expected, &was, MPI_UINT64_T, rank, (MPI_Aint)index, words.window);
  MPI_Win_flush(rank, words.window);
  return was;
}

uint64_t words_fetch_add(int rank, size_t index, uint64_t by) {
  uint64_t was;
  MPI_Fetch_and_op(&by, &was, MPI_UINT64_T, rank, (MPI_Aint)index, MPI_SUM, words.window);
  MPI_Win_flush(rank, words.window);
  return was;
}

bool words_letters(void) {
  return false;
}

void words_take(words_taker *taker) {
  (void)taker;
}

void words_letter(int rank, const uint64_t *letter, size_t count) {
  (void)rank;
  (void)letter;
  (void)count;
  abort(); /* words_letters says that there are none */
}

void words_progress(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
