/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 04.1 to 04.4: random strided, vector and indexed puts and gets in all three forms, against
 * a model that moves one byte after the other. Every rank owns a slot in every segment and keeps a
 * copy of what must be there. Strides come in any order and sign, shapes have up to 6 levels,
 * sources overlap themselves now and then, lists have unequal boundaries and empty entries, sizes
 * go beyond one message. TMB_TEST_SEED chooses the run, TMB_TEST_ROUNDS its length.
 */
#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { SLOT = 1 << 18, LEVELS = 6, ENTRIES = 64, DST = 0, SRC = 1 };

static uint64_t rng;
static char *near_mem, *near_want; /* [SLOT] local buffer, and what must be in it */
static char *far_want, *far_now;   /* [SLOT] the slot at a target */

/* One transfer; offsets into slots. */
struct shape {
  size_t elem, count[LEVELS], levels;
  ptrdiff_t stride[2][LEVELS];
  size_t origin[2]; /* offset of index 0 */
};
struct list {
  size_t count, at[ENTRIES], len[ENTRIES];
};

static size_t below(size_t limit) {
  return (size_t)rng_below(&rng, limit);
}

static void shuffle(size_t *order, size_t n) {
  for (size_t i = 0; i < n; i++) order[i] = i;
  for (size_t i = n; i > 1; i--) {
    const size_t k = below(i), t = order[i - 1];
    order[i - 1] = order[k];
    order[k] = t;
  }
}

/* ---- random shapes */

/* Strides of one side: nested in random order with gaps, so that nothing overlaps. False: too
 * large. */
static int draw_side(struct shape *s, unsigned side) {
  size_t order[LEVELS], reach = s->elem, low = 0;
  const int overlapping = side == SRC && below(4) == 0;
  shuffle(order, s->levels);
  if (below(3) == 0)
    for (size_t i = 0; i < s->levels; i++) order[i] = i;
  for (size_t i = 0; i < s->levels; i++) {
    const size_t d = order[i];
    size_t step = reach + (below(2) ? below(3) * 4 : 0);
    if (overlapping && below(2)) step = below(2) ? 0 : 1 + below(s->elem);
    if (s->count[d] > 1) {
      if ((s->count[d] - 1) > SLOT / (step + 1)) return 0;
      reach += step * (s->count[d] - 1);
    }
    if (below(3) == 0) {
      s->stride[side][d] = -(ptrdiff_t)step;
      if (s->count[d] > 1) low += step * (s->count[d] - 1);
    } else {
      s->stride[side][d] = (ptrdiff_t)step;
    }
  }
  if (reach > SLOT) return 0;
  s->origin[side] = low + below(SLOT - reach + 1);
  return 1;
}

static void draw_shape(struct shape *s) {
  static const size_t elems[] = {1, 2, 3, 4, 5, 8, 8, 8, 12, 16, 24, 32, 40, 64, 100, 256, 3000};
  do {
    s->elem = elems[below(sizeof elems / sizeof *elems)];
    if (below(20) == 0) s->elem = below(SLOT / 2);
    s->levels = below(LEVELS + 1);
    for (size_t d = 0; d < s->levels; d++)
      s->count[d] = below(30) == 0 ? 0 : 1 + below(s->levels < 3 ? 150 : s->levels < 5 ? 20 : 6);
  } while (!draw_side(s, DST) || !draw_side(s, SRC));
}

/* Move element by element. */
static void model_shape(const struct shape *s, char *dst, const char *src) {
  size_t index[LEVELS] = {0};
  for (size_t d = 0; d < s->levels; d++)
    if (!s->count[d]) return;
  for (;;) {
    ptrdiff_t to = (ptrdiff_t)s->origin[DST], from = (ptrdiff_t)s->origin[SRC];
    for (size_t d = 0; d < s->levels; d++) {
      to += (ptrdiff_t)index[d] * s->stride[DST][d];
      from += (ptrdiff_t)index[d] * s->stride[SRC][d];
    }
    for (size_t b = 0; b < s->elem; b++) dst[to + (ptrdiff_t)b] = src[from + (ptrdiff_t)b];
    size_t d = 0;
    while (d < s->levels && ++index[d] == s->count[d]) index[d++] = 0;
    if (d == s->levels) return;
  }
}

/* ---- random lists */

/* Places for the lengths of a list, in random order; those of a source may overlap. */
static void draw_places(struct list *l, size_t total, int overlap) {
  size_t order[ENTRIES], at = below(64), gap = (SLOT - total - 64) / (l->count + 1);
  shuffle(order, l->count);
  for (size_t i = 0; i < l->count; i++) {
    const size_t e = order[i];
    l->at[e] = overlap ? below(SLOT - l->len[e]) : at;
    at += l->len[e] + (below(2) ? below(gap + 1) : 0);
  }
}

static void draw_vector(struct list *l, size_t total, int overlap) {
  size_t left = total;
  l->count = total ? 1 + below(ENTRIES) : below(4);
  for (size_t i = 0; i < l->count; i++) {
    size_t len = i + 1 == l->count ? left
                 : below(4) == 0   ? 0
                                   : below(2 * left / (l->count - i) + 1);
    if (len > left) len = left;
    l->len[i] = len;
    left -= len;
  }
  draw_places(l, total, overlap);
}

static void draw_indexed(struct list l[2]) {
  const size_t a = 1 + below(5), b = 1 + below(5),
               unit = below(8) == 0 ? 0 : 1 + below(below(3) ? 40 : 800);
  const size_t times = below(ENTRIES / 5 + 1);
  l[DST].count = b * times;
  l[SRC].count = a * times;
  for (unsigned side = 0; side < 2; side++) {
    for (size_t i = 0; i < l[side].count; i++) l[side].len[i] = unit * (side == DST ? a : b);
    draw_places(&l[side], unit * a * b * times, side == SRC && below(3) == 0);
  }
}

static void model_lists(const struct list l[2], char *dst, const char *src) {
  size_t i = 0, in = 0;
  for (size_t k = 0; k < l[SRC].count; k++)
    for (size_t b = 0; b < l[SRC].len[k]; b++) {
      while (in == l[DST].len[i]) {
        i++;
        in = 0;
      }
      dst[l[DST].at[i] + in++] = src[l[SRC].at[k] + b];
    }
}

/* ---- the calls, in all forms */

enum form { BLOCKING, NB, NB_LEAF, NBI, REGION, FORMS };

static void finish(gex_Event_t event, int leaf) {
  if (leaf) {
    const gex_Event_t lc = gex_Event_QueryLeaf(event, GEX_EC_LC);
    gex_Event_Wait(lc);
  }
  gex_Event_Wait(event);
}

struct call {
  enum form form;
  int get;
  gex_Rank_t peer;
  char *base[2]; /* what offsets of a side are added to */
};

static gex_Event_t run_shape(const struct call *c, const struct shape *s, gex_Flags_t flags) {
  char *dst = c->base[DST] + s->origin[DST], *src = c->base[SRC] + s->origin[SRC];
  const ptrdiff_t *ds = s->stride[DST], *ss = s->stride[SRC];
  const size_t *n = s->count, L = s->levels;
  int rc = 0;
  gex_Event_t ev = GEX_EVENT_INVALID;
  if (c->form == BLOCKING && c->get)
    rc = gex_VIS_StridedGetBlocking(job.tm, dst, ds, c->peer, src, ss, s->elem, n, L, flags);
  else if (c->form == BLOCKING)
    rc = gex_VIS_StridedPutBlocking(job.tm, c->peer, dst, ds, src, ss, s->elem, n, L, flags);
  else if (c->form <= NB_LEAF && c->get)
    ev = gex_VIS_StridedGetNB(job.tm, dst, ds, c->peer, src, ss, s->elem, n, L, flags);
  else if (c->form <= NB_LEAF)
    ev = gex_VIS_StridedPutNB(job.tm, c->peer, dst, ds, src, ss, s->elem, n, L, flags);
  else if (c->get)
    rc = gex_VIS_StridedGetNBI(job.tm, dst, ds, c->peer, src, ss, s->elem, n, L, flags);
  else
    rc = gex_VIS_StridedPutNBI(job.tm, c->peer, dst, ds, src, ss, s->elem, n, L, flags);
  CHECK_EQ(rc, 0);
  return ev;
}

static gex_Event_t run_vector(const struct call *c, const struct list l[2], gex_Flags_t flags) {
  static gex_Memvec_t v[2][ENTRIES];
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = 0; i < l[side].count; i++)
      v[side][i] =
          (gex_Memvec_t){l[side].len[i] ? c->base[side] + l[side].at[i] : NULL, l[side].len[i]};
  const gex_Memvec_t *d = l[DST].count ? v[DST] : NULL, *s = l[SRC].count ? v[SRC] : NULL;
  const size_t nd = l[DST].count, ns = l[SRC].count;
  int rc = 0;
  gex_Event_t ev = GEX_EVENT_INVALID;
  if (c->form == BLOCKING && c->get)
    rc = gex_VIS_VectorGetBlocking(job.tm, nd, d, c->peer, ns, s, flags);
  else if (c->form == BLOCKING)
    rc = gex_VIS_VectorPutBlocking(job.tm, c->peer, nd, d, ns, s, flags);
  else if (c->form <= NB_LEAF && c->get)
    ev = gex_VIS_VectorGetNB(job.tm, nd, d, c->peer, ns, s, flags);
  else if (c->form <= NB_LEAF)
    ev = gex_VIS_VectorPutNB(job.tm, c->peer, nd, d, ns, s, flags);
  else if (c->get)
    rc = gex_VIS_VectorGetNBI(job.tm, nd, d, c->peer, ns, s, flags);
  else
    rc = gex_VIS_VectorPutNBI(job.tm, c->peer, nd, d, ns, s, flags);
  CHECK_EQ(rc, 0);
  return ev;
}

static gex_Event_t run_indexed(const struct call *c, const struct list l[2], gex_Flags_t flags) {
  static void *v[2][ENTRIES];
  size_t len[2], n[2];
  for (unsigned side = 0; side < 2; side++) {
    n[side] = l[side].count;
    len[side] = n[side] ? l[side].len[0] : 7;
    for (size_t i = 0; i < n[side]; i++) v[side][i] = c->base[side] + l[side].at[i];
  }
  void *const *d = n[DST] ? v[DST] : NULL, *const *s = n[SRC] ? v[SRC] : NULL;
  int rc = 0;
  gex_Event_t ev = GEX_EVENT_INVALID;
  if (c->form == BLOCKING && c->get)
    rc = gex_VIS_IndexedGetBlocking(job.tm, n[DST], d, len[DST], c->peer, n[SRC], s, len[SRC],
                                    flags);
  else if (c->form == BLOCKING)
    rc = gex_VIS_IndexedPutBlocking(job.tm, c->peer, n[DST], d, len[DST], n[SRC], s, len[SRC],
                                    flags);
  else if (c->form <= NB_LEAF && c->get)
    ev = gex_VIS_IndexedGetNB(job.tm, n[DST], d, len[DST], c->peer, n[SRC], s, len[SRC], flags);
  else if (c->form <= NB_LEAF)
    ev = gex_VIS_IndexedPutNB(job.tm, c->peer, n[DST], d, len[DST], n[SRC], s, len[SRC], flags);
  else if (c->get)
    rc = gex_VIS_IndexedGetNBI(job.tm, n[DST], d, len[DST], c->peer, n[SRC], s, len[SRC], flags);
  else
    rc = gex_VIS_IndexedPutNBI(job.tm, c->peer, n[DST], d, len[DST], n[SRC], s, len[SRC], flags);
  CHECK_EQ(rc, 0);
  return ev;
}

/* ---- rounds */

static size_t differs(const char *a, const char *b) {
  size_t i = 0;
  while (i < SLOT && a[i] == b[i]) i++;
  return i;
}

enum kind { STRIDED, VECTOR, INDEXED, KINDS };

/* Start one transfer and complete it. */
static void run(enum kind kind, const struct call *c, const struct shape *s,
                const struct list l[2]) {
  const int leaf = !c->get && (c->form == NB_LEAF || (c->form == NBI && below(2)));
  const gex_Flags_t flags = leaf ? GEX_FLAG_ENABLE_LEAF_LC : 0;
  gex_Event_t ev;
  if (c->form == REGION) gex_NBI_BeginAccessRegion(0);
  if (kind == STRIDED)
    ev = run_shape(c, s, flags);
  else
    ev = kind == VECTOR ? run_vector(c, l, flags) : run_indexed(c, l, flags);
  if (c->form == REGION) ev = gex_NBI_EndAccessRegion(0);
  if (c->form == NBI && leaf) gex_NBI_Wait(GEX_EC_LC, 0);
  if (c->form == NBI) gex_NBI_Wait(c->get ? GEX_EC_GET : GEX_EC_PUT, 0);
  finish(ev, leaf && c->form == NB_LEAF);
}

/* Do the transfer, and compare both sides with the model. */
static void transfer(enum kind kind, struct call *c, const struct shape *s,
                     const struct list l[2]) {
  char *remote = job.peer[c->peer] + (size_t)job.rank * SLOT;
  c->base[DST] = c->get ? near_mem : remote;
  c->base[SRC] = c->get ? remote : near_mem;
  char *model_dst = c->get ? near_want : far_want, *model_src = c->get ? far_want : near_want;
  run(kind, c, s, l);
  if (kind == STRIDED)
    model_shape(s, model_dst, model_src);
  else
    model_lists(l, model_dst, model_src);
  gex_RMA_GetBlocking(job.tm, far_now, c->peer, remote, SLOT, 0);
  CHECK_EQ(differs(near_mem, near_want), SLOT);
  CHECK_EQ(differs(far_now, far_want), SLOT);
}

static void round_trip(uint64_t round) {
  static struct list l[2];
  struct shape s = {0};
  const enum kind kind = (enum kind)below(KINDS);
  struct call c = {
      .form = (enum form)below(FORMS), .get = (int)below(2), .peer = (gex_Rank_t)below(job.size)};
  pattern_fill(near_want, SLOT, test_seed() + round);
  memcpy(near_mem, near_want, SLOT);
  gex_RMA_GetBlocking(job.tm, far_want, c.peer, job.peer[c.peer] + (size_t)job.rank * SLOT, SLOT,
                      0);
  if (kind == STRIDED) {
    draw_shape(&s);
  } else if (kind == VECTOR) {
    const size_t total = below(8) == 0 ? 0 : below(below(2) ? 2000 : SLOT / 2);
    draw_vector(&l[DST], total, 0);
    draw_vector(&l[SRC], total, below(3) == 0);
  } else {
    draw_indexed(l);
  }
  const uint64_t before = check_failures();
  transfer(kind, &c, &s, l);
  if (check_failures() != before)
    check_fail(__FILE__, __LINE__, "round %llu: kind %u form %d get %d peer %u elem %zu levels %zu",
               (unsigned long long)round, (unsigned)kind, (int)c.form, c.get, c.peer, s.elem,
               s.levels);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)job.size * SLOT);
  rng = mix64(test_seed()) + job.rank * 1000003u;
  near_mem = malloc(SLOT);
  near_want = malloc(SLOT);
  far_want = malloc(SLOT);
  far_now = malloc(SLOT);
  REQUIRE(near_mem && near_want && far_want && far_now);
  pattern_fill(job.base, (size_t)job.size * SLOT, 17 + job.rank);
  job_barrier();
  const uint64_t rounds = (uint64_t)env_number("TMB_TEST_ROUNDS", job.size > 4 ? 40 : 150);
  for (uint64_t i = 0; i < rounds; i++) round_trip(i);
  job_barrier();
  return job_finish();
}
