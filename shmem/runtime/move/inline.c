/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data and functions that the inline bodies of put, get and atomics in programs use, see
 * shmem/inline.h.
 *
 * Owns: the table shmem_inline_table_. Called by start.c, and by programs. Calls: wake-ups.
 * Invariant: the table is empty where a call must reach the library, or a tool in front of it.
 */
#include "../sh.h"

_Static_assert(offsetof(struct shmem_ctx_s, reach) == 0, "programs read the first field");

SH_EXPORT struct shmem_inline_ shmem_inline_table_;

SH_EXPORT void shmem_inline_wake_(shmem_ctx_t ctx, int pe) {
  sh_wake(sh_world_pe(sh_ctx(ctx), pe));
}

void sh_inline_start(void) {
  if (!sh.inlined) return;
  shmem_inline_table_ = (struct shmem_inline_){.world = sh.ctx.reach, .base = (uintptr_t)sh.base};
  if (!sh.ranges || sh.range[0].offset) return;
  shmem_inline_table_.statics = sh.range[0].begin;
  shmem_inline_table_.statics_bytes = sh.range[0].bytes;
}
