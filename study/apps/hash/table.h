/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed hash table of study/apps/hash, and of its peer on MPI.
 *
 * Owns nothing. Called by hash.c and study/compare/hash_mpi.c. Calls nothing. A table of
 * `slots` entries a rank, open addressing with linear probing within the rank; a key's rank and
 * first slot come from its bits. A key is never 0: a slot with key 0 is free.
 */
#ifndef TMB_BENCH_TABLE_H
#define TMB_BENCH_TABLE_H

#include "lib/mix.h"

#include <stdint.h>

struct entry {
  uint64_t key, value;
};

/* The n-th key of a rank, and what it maps to. */
static inline uint64_t table_key(uint64_t rank, uint64_t n) {
  const uint64_t x = mix_next(rank << 40 | n);
  return x ? x : 1;
}

static inline uint64_t table_value(uint64_t key) {
  return key * 3 + 1;
}

static inline int table_rank(uint64_t key, int ranks) {
  return (int)((key >> 32) % (uint64_t)ranks);
}

/* Slots a rank for `inserts` of each rank: a power of two, at most half full in the mean. */
static inline uint64_t table_slots(uint64_t inserts) {
  uint64_t slots = 64;
  while (slots < 2 * inserts) slots *= 2;
  return slots;
}

static inline uint64_t table_slot(uint64_t key, uint64_t slots) {
  return key & (slots - 1);
}

#endif
