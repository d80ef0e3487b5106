/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: ranks in one process, each with an on-node engine of its own on one arena.
 *
 * Owns: rank_of. Included by x_test.c behind cmocka.h; RANKS says how many ranks there are. Calls:
 * near.h. Invariants: the bootstrap services agree at once, as all ranks are here.
 */
#ifndef TMB_NEAR_RIG_TEST_H
#define TMB_NEAR_RIG_TEST_H

#include "near/near.h"
#include "os/memory/memfd.h"

#include <stdlib.h>
#include <string.h>

#include "base/unit_test.h"

static struct tmb_near *rank_of[RANKS];

static bool rig_agree(void *ctx, bool ok) {
  (void)ctx;
  return ok;
}

/* Every rank contributes the same word. */
static bool rig_share(void *ctx, uint64_t mine, uint64_t *all) {
  (void)ctx;
  for (size_t r = 0; r < RANKS; r++) all[r] = mine;
  return mine != 0;
}

/* Open the engines of all ranks. */
static void rig_open(void) {
  const int fd = tmb_memfd_create("test-arena", false);
  assert_cmp(fd, >=, 0);
  for (uint32_t r = 0; r < RANKS; r++) {
    const struct tmb_near_env env = {.rank = r,
                                     .index = r,
                                     .count = RANKS,
                                     .arena_fd = fd,
                                     .agree = rig_agree,
                                     .share = rig_share};
    rank_of[r] = aligned_alloc(TMB_CACHE_LINE, TMB_ALIGN_UP(sizeof **rank_of, TMB_CACHE_LINE));
    assert_non_null(rank_of[r]);
    memset(rank_of[r], 0, sizeof **rank_of);
    assert_int_equal(tmb_near_open(rank_of[r], &env), 0);
  }
}

/* The teardown of a test: close and free them. */
static int rig_close(void **state) {
  (void)state;
  for (uint32_t r = 0; r < RANKS; r++) {
    tmb_near_close(rank_of[r]);
    free(rank_of[r]);
  }
  return 0;
}

#endif
