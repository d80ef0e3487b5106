/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of shared arrays in the order of their elements: for reductions whose operands may not
 * change places, prefix reductions (UPC 1.3 library section 7.3.3) and sort.
 *
 * Called by reduce.c and sort.c. Calls: access.c. Invariants: of a range, the elements of one
 * thread lie together in its memory, so that a range costs one transfer for each thread.
 */
#include "coll/coll.h"

#include <stdlib.h>
#include <string.h>

size_t rt_share_begin(size_t count, size_t thread) {
  const size_t threads = (size_t)upcr_threads, rest = count % threads;
  return count / threads * thread + (thread < rest ? thread : rest);
}

void *rt_room(size_t bytes, const char *what) {
  void *p = malloc(bytes ? bytes : 1);
  if (!p) rt_fatal("%s: out of memory for %zu bytes [TMB-0001]", what, bytes);
  return p;
}

static void move(upcr_pts_t p, char *buffer, size_t bytes, bool store) {
  if (store)
    upc_memput(p, buffer, bytes);
  else
    upc_memget(buffer, p, bytes);
}

/* A range of blocks of one thread: elements, counted from the beginning of the first block. */
struct blocks {
  size_t first, step, last; /* numbers of blocks */
  size_t from, to;          /* the range */
  size_t block;
};

static size_t begin_of(const struct blocks *b, size_t i) {
  return i * b->block < b->from ? b->from : i * b->block;
}

static size_t end_of(const struct blocks *b, size_t i) {
  return (i + 1) * b->block > b->to ? b->to : (i + 1) * b->block;
}

/* Between the elements of one thread, which lie together in `packed`, and their places in order. */
static size_t deal(const struct blocks *b, size_t elem_bytes, char *packed, char *ordered,
                   bool store) {
  size_t at = 0;
  for (size_t i = b->first; i <= b->last; i += b->step) {
    const size_t n = (end_of(b, i) - begin_of(b, i)) * elem_bytes;
    char *place = ordered + (begin_of(b, i) - b->from) * elem_bytes;
    if (packed) memcpy(store ? packed + at : place, store ? place : packed + at, n);
    at += n;
  }
  return at;
}

void rt_array_range(const struct rt_array *a, size_t lo, size_t hi, void *buffer, bool store) {
  if (lo >= hi) return;
  if (a->block == 0) {
    move(upcr_add0(a->p, (long)(lo * a->elem_bytes)), buffer, (hi - lo) * a->elem_bytes, store);
    return;
  }
  const size_t phase = upcr_phaseof(a->p), threads = (size_t)upcr_threads;
  struct blocks b = {.step = threads, .from = lo + phase, .to = hi + phase, .block = a->block};
  const size_t first = b.from / a->block;
  b.last = (b.to - 1) / a->block;
  for (b.first = first; b.first <= b.last && b.first < first + threads; b.first++) {
    const size_t bytes = deal(&b, a->elem_bytes, NULL, buffer, store);
    const upcr_pts_t p =
        rt_element(a->p, (long)(begin_of(&b, b.first) - phase), a->elem_bytes, a->block);
    char *packed = rt_room(bytes, "a collective");
    if (!store) move(p, packed, bytes, false);
    deal(&b, a->elem_bytes, packed, buffer, store);
    if (store) move(p, packed, bytes, true);
    free(packed);
  }
}
