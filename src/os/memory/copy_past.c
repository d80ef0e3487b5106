/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies past the caches: see os.h.
 *
 * Owns nothing. Called by collectives for blocks that do not fit into the cache. Calls: the stores
 * of the processor that write whole lines to memory. An ordinary store first reads the line that it
 * changes; where the line is not in a cache, that is a third of the traffic of a copy. Invariants:
 * the stores are ordered before the return, as ordinary ones are.
 */
#include "os/os.h"

#include <string.h>

#ifdef __SSE2__
# include <emmintrin.h>

enum { LINE = 64 };

void tmb_os_copy_past(void *to, const void *from, size_t bytes) {
  char *d = to;
  const char *s = from;
  const size_t head = TMB_MIN(-(uintptr_t)d % LINE, bytes);
  memcpy(d, s, head);
  d += head, s += head, bytes -= head;
  for (; bytes >= LINE; d += LINE, s += LINE, bytes -= LINE) {
    const __m128i *const in = (const __m128i *)(const void *)s;
    __m128i *const out = (__m128i *)(void *)d;
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  e = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, e);
  }
  _mm_sfence();
  memcpy(d, s, bytes);
}
#else
void tmb_os_copy_past(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
#endif
