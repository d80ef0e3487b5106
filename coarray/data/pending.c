/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to images whose memory is not mapped: many are in progress, and keep the order of the
 * program.
 *
 * Owns: the list of ranges (pending.h), and the memory that puts in progress read from. Called by
 * the transfers and by image control. Calls: the implicit handles of the layer. Invariants: the
 * list is short; a put that continues the one before it extends its range, so a loop over an array
 * needs one entry. When the list or the memory is full, all is waited for: rare, and never wrong.
 */
#include "data/pending.h"

#include <gasnet_tools.h>
#include <sched.h>
#include <stdlib.h>
#include <tombolo/check_hook.h>

enum { RANGES_MAX = 64 };
/* Polls before the processor is offered first, and then between offers. They become more while no
 * other process takes the processor, which shows in the time of a call: two switches take longer. A
 * call costs as much as some hundred polls. */
enum { LOOKS_FIRST = 1024, LOOKS_BETWEEN = 64, LOOKS_MOST = 1 << 14, OFFER_NS = 1000 };
#define MEMORY_MAX ((size_t)8 << 20) /* bytes of copies that puts in progress read from */

struct range {
  uint32_t rank;
  uintptr_t low, high;
};

struct copy {
  struct copy *next;
  size_t pad; /* the data behind it are aligned to 16 bytes */
};

/* Puts in progress of the program, and of the serving thread. */
static struct pending {
  struct range range[RANGES_MAX];
  uint32_t count;
  struct copy *copies;
  size_t bytes; /* of the copies */
} of_program, of_server;

static struct pending *pending_here(void) {
  return caf_is_server ? &of_server : &of_program;
}

static struct {
  const void *where;
  int64_t found;
  uint32_t left, between; /* looks to the next offer; from one offer to the next */
} looked = {.between = LOOKS_BETWEEN};

static __attribute__((cold)) void offer_processor(void) {
  const gasnett_tick_t begin = gasnett_ticks_now();
  (void)sched_yield();
  if (gasnett_ticks_to_ns(gasnett_ticks_now() - begin) >= OFFER_NS)
    looked.between = LOOKS_BETWEEN;
  else if (looked.between < LOOKS_MOST)
    looked.between *= 2;
  looked.left = looked.between;
}

void caf_looked(const void *where, int64_t found) {
  if (where != looked.where || found != looked.found) {
    looked.where = where;
    looked.found = found;
    looked.left = LOOKS_FIRST;
    return;
  }
  if (--looked.left == 0) offer_processor();
}

/* Memory of another image is mapped. Accessors of gfortran 15 and newer, which are of the program,
 * go there. */
static void note_mapped(uint32_t rank, const void *here, const void *there, uintptr_t bytes) {
  caf.delta[rank] = (const char *)here - (const char *)there;
  if (caf.shown) gexx_check_alias(rank, here, bytes, there);
}

bool caf_is_near_slow(uint32_t rank) {
  void *here = NULL, *there = NULL;
  uintptr_t bytes = 0;
  const int none = gex_Segment_QueryBound(caf.tm, rank, &there, &here, &bytes);
  const bool near = rank == caf.rank || (!none && here && !caf.ordered);
  if (rank != caf.rank && near) note_mapped(rank, here, there, bytes);
  if (near && !caf.delta[rank] && bytes > CAF_BOUND_BLOCK)
    caf.bound[rank] = (struct caf_bound){(uintptr_t)there, bytes - CAF_BOUND_BLOCK};
  caf.reach[rank] = !near ? CAF_FAR : caf.shown || caf.ordered ? CAF_SHOWN : CAF_NEAR;
  if (!near) caf_serves(CAF_BY_MESSAGE);
  return near;
}

uintptr_t caf_place_slow(const struct caf_token *t, uint32_t rank) {
  if (rank >= t->ranks || !t->addr[rank] || !t->bytes || caf.reach[rank] != CAF_NEAR) return 0;
  return t->here[rank] = t->addr[rank] + (uintptr_t)caf.delta[rank];
}

enum { COUNT_BETWEEN_POLLS = 256 }; /* of scalars, or statements of loops that wait */

void caf_serve_slow(void) {
  caf.until_serve = caf.pending & CAF_BY_MESSAGE ? 0 : COUNT_BETWEEN_POLLS - 1;
  caf_poll();
}

void caf_poll_counted(void) {
  const bool serves = caf.pending & CAF_SERVES;
  caf.until_poll = serves ? COUNT_BETWEEN_POLLS - 1 : INT32_MAX;
  if (serves) caf_poll();
}

void caf_complete_slow(void) {
  struct pending *p = pending_here();
  gex_NBI_Wait(GEX_EC_ALL, 0);
  caf_async_complete();
  while (p->copies) {
    struct copy *done = p->copies;
    p->copies = done->next;
    free(done);
  }
  p->bytes = 0;
  p->count = 0;
  caf.pending &= ~CAF_UNDER_WAY;
}

uint32_t caf_pending_hide(void) {
  const uint32_t bits = caf.pending;
  caf.pending &= ~CAF_UNDER_WAY;
  return bits;
}

void caf_pending_show(uint32_t bits) {
  caf_complete();
  caf.pending |= bits;
}

void caf_await_slow(uint32_t rank, const void *low, size_t bytes) {
  struct pending *p = pending_here();
  const uintptr_t begin = (uintptr_t)low, end = begin + bytes;
  for (uint32_t i = 0; i < p->count; i++) {
    const struct range *r = &p->range[i];
    if (r->rank != rank || r->low >= end || r->high <= begin) continue;
    caf_complete();
    return;
  }
}

void caf_pending_add(uint32_t rank, const void *low, size_t bytes) {
  struct pending *p = pending_here();
  const uintptr_t begin = (uintptr_t)low, end = begin + bytes;
  caf.pending |= CAF_UNDER_WAY;
  for (uint32_t i = p->count; i-- > 0;) {
    struct range *r = &p->range[i];
    if (r->rank != rank || begin > r->high || end < r->low) continue;
    if (begin < r->low) r->low = begin;
    if (end > r->high) r->high = end;
    return;
  }
  if (p->count == RANGES_MAX) {
    caf_complete();
    return;
  }
  p->range[p->count++] = (struct range){rank, begin, end};
}

void *caf_pending_memory(size_t bytes) {
  struct pending *p = pending_here();
  if (p->bytes + bytes > MEMORY_MAX) caf_complete();
  struct copy *copy = malloc(sizeof *copy + bytes + 1);
  if (!copy) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR, "out of memory: %zu bytes for a transfer [TMB-0001]", bytes);
  }
  copy->next = p->copies;
  p->copies = copy;
  p->bytes += bytes;
  caf.pending |= CAF_UNDER_WAY;
  return copy + 1;
}
