/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distance of elements of an array, where the descriptor's span cannot be taken as it is.
 *
 * Owns nothing. Called for every section whose span is not the length of an element. Calls nothing.
 * Invariants: gfortran 12 does not set the span of an allocatable array that an assignment of a
 * function's result allocates (`a = pack(b, c)`): the field is uninitialised. A pointer to
 * components of structures, parts of complex numbers or substrings has a true one. The value and
 * the block of memory distinguish the two: the former lies in one of malloc as large as its
 * elements side by side, in which they would not fit with the span.
 */
#include "section.h"

#include <sys/uio.h>
#include <unistd.h>

enum {
  WORD = sizeof(size_t),
  ROUND = 2 * WORD,
  PAGE = 4096, /* the smallest that a system has */
  LEAST = 2 * ROUND
};

/* Sizes of types are below. */
#define MOST_SPAN ((ptrdiff_t)1 << 32)

/* Whether a type of that size may have a component, or part, of that length and alignment. */
static bool plausible(const struct caf_desc *desc) {
  const ptrdiff_t len = (ptrdiff_t)desc->dtype.elem_len;
  if (desc->span < len || desc->span > MOST_SPAN) return false;
  if (desc->dtype.type == CAF_CHARACTER || desc->dtype.type == CAF_DERIVED) return true;
  const ptrdiff_t part = desc->dtype.type == CAF_COMPLEX ? len / 2 : len;
  const ptrdiff_t align = part & -part;
  return desc->span % (align > 16 ? 16 : align) == 0;
}

/* The word before an address; 0 where there is none: the page before may not be there. */
__attribute__((no_sanitize("address"))) static size_t word_before(uintptr_t at) {
  const size_t *before = (const size_t *)at - 1;
  if (at % PAGE) return *before;
  size_t word = 0;
  struct iovec here = {&word, sizeof word}, there = {(void *)(uintptr_t)before, sizeof word};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof word ? word : 0;
}

/* Whether the array begins a block of glibc's malloc that was asked for as many bytes as its
 * elements take side by side, and has no room for them with the span. The word before a block is
 * its size, and three bits, of which the second one says that it has pages of its own. */
static bool fills_block(const struct caf_desc *desc, size_t elements) {
  enum { OWN_PAGES = 2, BITS = 7 };
  const uintptr_t at = (uintptr_t)desc->base;
  if (at % ROUND) return false;
  const size_t word = word_before(at), size = word & ~(size_t)BITS;
  const size_t bytes = elements * desc->dtype.elem_len;
  const size_t spread = (elements - 1) * (size_t)desc->span + desc->dtype.elem_len;
  if (word & OWN_PAGES) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return size == (bytes + ROUND + page - 1) / page * page && spread > size - ROUND;
  }
  size_t least = (bytes + WORD + ROUND - 1) / ROUND * ROUND;
  if (least < LEAST) least = LEAST;
  return size >= least && size <= least + ROUND && spread > size - WORD;
}

ptrdiff_t caf_unit_slow(const struct caf_desc *desc, const void *base) {
  const ptrdiff_t len = (ptrdiff_t)desc->dtype.elem_len;
  if (!plausible(desc)) return len;
  if (base != desc->base || !base) return desc->span; /* memory of another image */
  ptrdiff_t elements = 1;
  for (int d = 0; d < desc->dtype.rank; d++) {
    const struct caf_dim *dim = &desc->dim[d];
    if (dim->ub < dim->lb || dim->stride != elements) return desc->span; /* no whole array */
    elements *= dim->ub - dim->lb + 1;
  }
  return elements > 1 && fills_block(desc, (size_t)elements) ? len : desc->span;
}
