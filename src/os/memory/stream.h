/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy to memory that another processor has read and will read next.
 *
 * Owns nothing. Included by core/shared.c, which measures it, and by coll/shared. Calls nothing.
 * Invariants: where the processor has stores that go past its caches, the copy uses them, and ends
 * with a fence: so a release store that follows publishes the data, as after memcpy. An ordinary
 * store to such a line first takes the line from the other processor's cache; on some machines
 * that takes longer than the copy. On others the reader then finds the data farther away: so who
 * uses this copy measures it first.
 */
#ifndef TMB_OS_MEMORY_STREAM_H
#define TMB_OS_MEMORY_STREAM_H

#include "base/compiler.h"

#include <string.h>

#if defined(__SSE2__)
# include <emmintrin.h>

/* [out] to, [in] from: [bytes], which do not overlap. Returns `to`, as memcpy. */
static inline void *tmb_os_copy_streaming(void *to, const void *from, size_t bytes) {
  enum { PART = sizeof(__m128i) };
  char *at = to;
  const char *next = from;
  const size_t before = TMB_MIN((size_t)(-(uintptr_t)to % PART), bytes);
  memcpy(at, next, before);
  for (at += before, next += before, bytes -= before; bytes >= PART; bytes -= PART) {
    _mm_stream_si128((__m128i *)(void *)at, _mm_loadu_si128((const __m128i *)(const void *)next));
    at += PART;
    next += PART;
  }
  memcpy(at, next, bytes);
  _mm_sfence();
  return to;
}
#else
static inline void *tmb_os_copy_streaming(void *to, const void *from, size_t bytes) {
  return memcpy(to, from, bytes);
}
#endif

#endif
