/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the arrays of a call with SHMEM_DEBUG.
 *
 * Owns nothing. Called by collectives and by puts. Calls: find.c, messages. Invariants: nothing is
 * checked without SHMEM_DEBUG.
 */
#include "../sh.h"

bool sh_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  return a_bytes && b_bytes && (uintptr_t)a < (uintptr_t)b + b_bytes &&
         (uintptr_t)b < (uintptr_t)a + a_bytes;
}

void sh_arrays_check(const char *call, const struct sh_arrays *a) {
  if (a->dest_bytes) (void)sh_find(&sh.ctx, call, "dest", a->dest, a->dest_bytes, (int)sh.pe);
  if (a->source_bytes)
    (void)sh_find(&sh.ctx, call, "source", a->source, a->source_bytes, (int)sh.pe);
  if (a->same && a->dest == a->source) return;
  if (sh_overlap(a->dest, a->dest_bytes, a->source, a->source_bytes))
    sh_fatal(call,
             "arguments dest and source are %p and %p, with %zu and %zu bytes, which overlap; use "
             "%s [TMB-2332]",
             a->dest, a->source, a->dest_bytes, a->source_bytes,
             a->same ? "one array, or two that do not overlap" : "arrays that do not overlap");
}
