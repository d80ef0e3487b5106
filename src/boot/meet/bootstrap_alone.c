/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bootstrap of a process that is the only rank.
 *
 * Owns: no process state. Called through its table by boot. Calls: libc. Invariants: there is no
 * other rank, so nothing waits.
 */
#include "boot/meet/bootstrap.h"

#include <string.h>

static bool alone_barrier(struct tmb_boot *b) {
  (void)b;
  return true;
}

static bool alone_gather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  (void)b;
  memcpy(all, mine, bytes);
  return true;
}

static int alone_record_exit(struct tmb_boot *b, int code) {
  (void)b;
  return code;
}

const struct tmb_bootstrap_ops tmb_bootstrap_alone = {
    .barrier = alone_barrier,
    .gather = alone_gather,
    .record_exit = alone_record_exit,
};
