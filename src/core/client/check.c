/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls by which run-time libraries name to the checker what it cannot see.
 *
 * Owns nothing. Called by the run-time libraries, but in short paths only while a check is on, and
 * by programs of UPC that are compiled with `--check`. Calls: nothing. Invariant: these do nothing;
 * the checker, which is loaded before the library, defines them as well.
 */
#include "core/gex.h"

#include "tombolo/check_hook.h"

void gexx_check_word(gex_Rank_t rank, const void *word, int how) {
  (void)rank;
  (void)word;
  (void)how;
}

void gexx_check_words(void) {}

void gexx_check_alias(gex_Rank_t rank, const void *at, size_t bytes, const void *memory) {
  (void)rank;
  (void)at;
  (void)bytes;
  (void)memory;
}

void gexx_check_access(gex_Rank_t rank, const void *memory, size_t bytes, int writes) {
  (void)rank;
  (void)memory;
  (void)bytes;
  (void)writes;
}

void gexx_check_strict(int how) {
  (void)how;
}

void gexx_check_made(gex_Rank_t rank, const void *object, const char *what) {
  (void)rank;
  (void)object;
  (void)what;
}

void gexx_check_ended(gex_Rank_t rank, const void *object) {
  (void)rank;
  (void)object;
}

void gexx_check_allocated(gex_Rank_t rank, uintptr_t block) {
  (void)rank;
  (void)block;
}

void gexx_check_freed(gex_Rank_t rank, uintptr_t block) {
  (void)rank;
  (void)block;
}
