/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data and functions that the inline bodies of put and get in programs use, see shmem/inline.h.
 *
 * Owns: the table shmem_inline_. Called by start.c, and by programs. Calls: wake-ups. Invariant:
 * the table is empty where a call must reach the library, or a library in front of it: a profiling
 * library defines a routine shmem_X, so that the address of shmem_X is not that of pshmem_X.
 */
#include "../sh.h"

#define SHMEM_INLINE_TABLE_ONLY_ 1
#include "shmem/inline.h"

_Static_assert(offsetof(struct shmem_ctx_s, here) == offsetof(struct shmem_reach_, here) &&
                   offsetof(struct shmem_ctx_s, size) == offsetof(struct shmem_reach_, size),
               "programs read the first fields of a context");

SH_EXPORT struct shmem_inline_ shmem_inline_;

SH_EXPORT void shmem_inline_wake_(shmem_ctx_t ctx, int pe) {
  sh_wake(sh_world_pe(sh_ctx(ctx), pe));
}

/* Each routine with an inline body, and the routine of the library. */
#define BLOCK(F, E)     ROW(F##put##E) ROW(F##get##E) ROW(F##put##E##_nbi) ROW(F##get##E##_nbi)
#define TYPED(N)        BLOCK(N##_, ) ROW(N##_p) ROW(N##_g)
#define PAIRS(N, T)     TYPED(N) TYPED(ctx_##N)
#define SIZED(B, BYTES) BLOCK(, B) BLOCK(ctx_, B)
#define ROWS            SHMEM_TYPES_RMA_(PAIRS) SHMEM_SIZES_(SIZED) SIZED(mem, 1)

typedef void (*routine)(void);
#define ROW(NAME) SH_HIDDEN void sh_at_##NAME(void);
ROWS
#undef ROW
#define ROW(NAME) {(routine)shmem_##NAME, sh_at_##NAME},
    static const struct {
  routine called, ours;
} routines[] = {ROWS};

static bool interposed(void) {
  for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
    if (routines[i].called != routines[i].ours) return true;
  return false;
}

void sh_inline_start(void) {
  if (sh_long_way() || interposed()) return;
  shmem_inline_ = (struct shmem_inline_){.world = {sh.ctx.here, sh.ctx.size},
                                         .base = (uintptr_t)sh.base,
                                         .bytes = sh.bytes,
                                         .waiters = sh.own + offsetof(struct sh_own, waiters),
                                         .polls = sh.far};
  if (!sh.ranges || sh.range[0].offset) return;
  shmem_inline_.statics = sh.range[0].begin;
  shmem_inline_.statics_bytes = sh.range[0].bytes;
}
