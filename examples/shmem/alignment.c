/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alignment.c: the best local alignment of two sequences (Smith and Waterman), as in SSCA 1.
 *
 * Shows: a pipeline. Each PE has some columns of the score table. It works a row at a time, and
 * sends its last score to the right with a signal that says how many rows are there.
 * Compile: oshcc -O2 alignment.c -o alignment
 * Run:     oshrun -np 4 ./alignment
 */
/* ranks: 1 3 4 */
#include <shmem.h>
#include <stdio.h>

#define LENGTH 600
enum { MATCH = 5, MISMATCH = -3, GAP = -4 };

static int from_left[LENGTH + 1]; /* scores of the column before ours, written by the left PE */
static uint64_t rows;             /* how many of them are there */
static int best, best_of_all;

static int max(int a, int b) {
  return a > b ? a : b;
}

/* Letter i of the sequences. The second repeats a part of the first, with some changes. */
static char first(unsigned i) {
  return "ACGT"[(i * i * 7 + i * 13 + (i >> 3)) % 31 % 4];
}
static char second(unsigned i) {
  return i > 200 && i < 320 && i % 19 ? first(i - 150) : "ACGT"[(i * 11 + (i >> 2)) % 23 % 4];
}

/* Columns begin to end - 1 of the table. right: the PE that needs the last one, or -1. Returns the
 * best score. */
static int align(unsigned begin, unsigned end, int right) {
  int above[LENGTH + 1] = {0}, found = 0; /* scores of the row above */
  for (unsigned i = 1; i <= LENGTH; i++) {
    if (begin > 1) shmem_signal_wait_until(&rows, SHMEM_CMP_GE, i);
    int diagonal = begin > 1 ? from_left[i - 1] : 0, score = begin > 1 ? from_left[i] : 0;
    for (unsigned j = begin; j < end; j++) {
      const int pair = diagonal + (first(i) == second(j) ? MATCH : MISMATCH);
      score = max(max(0, pair), max(above[j], score) + GAP);
      found = max(found, score);
      diagonal = above[j];
      above[j] = score;
    }
    if (right < 0) continue;
    shmem_fence(); /* rows arrive in their order */
    shmem_put_signal(&from_left[i], &above[end - 1], 1, &rows, i, SHMEM_SIGNAL_SET, right);
  }
  return found;
}

int main(void) {
  shmem_init();
  const unsigned me = (unsigned)shmem_my_pe(), n = (unsigned)shmem_n_pes();
  const unsigned begin = 1 + LENGTH * me / n, end = 1 + LENGTH * (me + 1) / n;
  best = align(begin, end, me + 1 < n ? (int)me + 1 : -1);
  shmem_max_reduce(SHMEM_TEAM_WORLD, &best_of_all, &best, 1);
  const int expected = align(1, LENGTH + 1, -1); /* all columns */
  if (me == 0) printf("best score %d\n", best_of_all);
  shmem_finalize();
  return best_of_all == expected && best_of_all > 50 * MATCH ? 0 : 1;
}
