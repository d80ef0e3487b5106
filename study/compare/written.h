/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of a measuring program.
 *
 * Owns nothing: free frees a buffer. Included by the programs of study/compare that send from
 * memory which they have allocated. Calls libc alone, because the compiler drivers of each peer
 * compile it, too. Invariant: every page was written, and not with zeros. Of memory that never was,
 * all pages that are only read are one page of zeros, which stays in the nearest cache; and to a
 * compiler malloc with zeros behind it is calloc.
 */
#ifndef TMB_COMPARE_WRITTEN_H
#define TMB_COMPARE_WRITTEN_H

#include <stdlib.h>
#include <string.h>

/* Memory of so many bytes, each 1; NULL: out of memory. */
static inline char *written(size_t bytes) {
  char *const p = malloc(bytes);
  if (p) memset(p, 1, bytes);
  return p;
}

#endif
