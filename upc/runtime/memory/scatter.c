/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between pieces that do not lie together: lists and strided regions (bupc_mem*_vlist,
 * _ilist, _fstrided, _strided and their _async forms).
 *
 * Called by UPC programs. Calls: access.c for each piece. Invariants: both sides are walked as
 * sequences of pieces; the overlap of two pieces is copied until one side ends; a transfer is
 * complete on return, so that its handle is the complete one.
 */
#include "rt.h"

#include <string.h>

extern void upc_memcpy(upcr_pts_t dst, upcr_pts_t src, size_t n);
extern void upc_memput(upcr_pts_t dst, const void *src, size_t n);
extern void upc_memget(void *dst, upcr_pts_t src, size_t n);

/* Location of bytes: in shared memory or private. */
struct place {
  bool shared;
  upcr_pts_t p;
  char *local;
};

struct svec {
  upcr_pts_t addr;
  size_t len;
};
struct pvec {
  void *addr;
  size_t len;
};

/* A sequence of pieces: of one of three forms. */
struct walk {
  bool shared;
  const void *list; /* vlist: struct svec or pvec; ilist: addresses; NULL: fstrided */
  size_t length;    /* of a piece; 0: in the list */
  size_t count, next, stride;
  struct place base; /* fstrided */
  struct place at;   /* the rest of the current piece */
  size_t left;
};

static struct place add(struct place a, size_t bytes) {
  if (a.shared)
    a.p = upcr_add0(a.p, (long)bytes);
  else
    a.local += bytes;
  return a;
}

static void copy(struct place d, struct place s, size_t n) {
  if (d.shared && s.shared)
    upc_memcpy(d.p, s.p, n);
  else if (d.shared)
    upc_memput(d.p, s.local, n);
  else if (s.shared)
    upc_memget(d.local, s.p, n);
  else
    memmove(d.local, s.local, n);
}

static struct place item(const struct walk *w, size_t i, size_t *length) {
  struct place a = {.shared = w->shared};
  *length = w->length;
  if (!w->list) return add(w->base, i * w->stride);
  if (w->length) {
    if (w->shared)
      a.p = ((const upcr_pts_t *)w->list)[i];
    else
      a.local = ((char *const *)w->list)[i];
  } else if (w->shared) {
    a.p = ((const struct svec *)w->list)[i].addr;
    *length = ((const struct svec *)w->list)[i].len;
  } else {
    a.local = ((const struct pvec *)w->list)[i].addr;
    *length = ((const struct pvec *)w->list)[i].len;
  }
  return a;
}

/* Makes the next piece with bytes the current one; false at the end. */
static bool advance(struct walk *w) {
  while (w->left == 0) {
    if (w->next == w->count) return false;
    w->at = item(w, w->next++, &w->left);
  }
  return true;
}

static void transfer(struct walk d, struct walk s) {
  while (advance(&d) && advance(&s)) {
    const size_t n = d.left < s.left ? d.left : s.left;
    copy(d.at, s.at, n);
    d.at = add(d.at, n);
    s.at = add(s.at, n);
    d.left -= n;
    s.left -= n;
  }
}

static struct place shared_place(upcr_pts_t p) {
  return (struct place){.shared = true, .p = p};
}

static struct place private_place(const void *p) {
  return (struct place){.local = (char *)(uintptr_t)p};
}

static void strided(struct place d, const size_t *ds, struct place s, const size_t *ss,
                    const size_t *count, size_t levels) {
  if (levels == 0) {
    copy(d, s, count[0]);
    return;
  }
  for (size_t i = 0; i < count[levels]; i++)
    strided(add(d, i * ds[levels - 1]), ds, add(s, i * ss[levels - 1]), ss, count, levels - 1);
}

/* K: name; DT and ST: type of an address; DS and SS: 1 shared; DP and SP: make a place. */
#define FORMS(RESULT, RETURN, SUFFIX, K, DT, ST, DS, SS, DP, SP)                                   \
 RT_EXPORT RESULT bupc_mem##K##_vlist##SUFFIX(size_t nd, const void *d, size_t ns, const void *s); \
 RESULT bupc_mem##K##_vlist##SUFFIX(size_t nd, const void *d, size_t ns, const void *s) {          \
  RT_SITE("bupc_mem" #K "_vlist" #SUFFIX);                                                         \
  transfer((struct walk){.shared = DS, .list = d, .count = nd},                                    \
           (struct walk){.shared = SS, .list = s, .count = ns});                                   \
  RETURN;                                                                                          \
 }                                                                                                 \
 RT_EXPORT RESULT bupc_mem##K##_ilist##SUFFIX(size_t nd, const void *d, size_t dlen, size_t ns,    \
                                              const void *s, size_t slen);                         \
 RESULT bupc_mem##K##_ilist##SUFFIX(size_t nd, const void *d, size_t dlen, size_t ns,              \
                                    const void *s, size_t slen) {                                  \
  RT_SITE("bupc_mem" #K "_ilist" #SUFFIX);                                                         \
  if (dlen && slen)                                                                                \
   transfer((struct walk){.shared = DS, .list = d, .count = nd, .length = dlen},                   \
            (struct walk){.shared = SS, .list = s, .count = ns, .length = slen});                  \
  RETURN;                                                                                          \
 }                                                                                                 \
 /* tidy-allow: params because the interface has eight */                                          \
 RT_EXPORT RESULT bupc_mem##K##_fstrided##SUFFIX(DT d, size_t dlen, size_t dstride, size_t dcount, \
                                                 ST s, size_t slen, size_t sstride,                \
                                                 size_t scount);                                   \
 RESULT bupc_mem##K##_fstrided##SUFFIX(DT d, size_t dlen, size_t dstride, size_t dcount, ST s,     \
                                       size_t slen, size_t sstride, size_t scount) {               \
  RT_SITE("bupc_mem" #K "_fstrided" #SUFFIX);                                                      \
  if (dlen && slen)                                                                                \
   transfer((struct walk){.count = dcount, .length = dlen, .stride = dstride, .base = DP(d)},      \
            (struct walk){.count = scount, .length = slen, .stride = sstride, .base = SP(s)});     \
  RETURN;                                                                                          \
 }                                                                                                 \
 RT_EXPORT RESULT bupc_mem##K##_strided##SUFFIX(DT d, const size_t ds[], ST s, const size_t ss[],  \
                                                const size_t count[], size_t levels);              \
 RESULT bupc_mem##K##_strided##SUFFIX(DT d, const size_t ds[], ST s, const size_t ss[],            \
                                      const size_t count[], size_t levels) {                       \
  RT_SITE("bupc_mem" #K "_strided" #SUFFIX);                                                       \
  strided(DP(d), ds, SP(s), ss, count, levels);                                                    \
  RETURN;                                                                                          \
 }
#define BOTH_FORMS(K, DT, ST, DS, SS, DP, SP)     \
 FORMS(void, return, , K, DT, ST, DS, SS, DP, SP) \
 FORMS(gex_Event_t, return GEX_EVENT_INVALID, _async, K, DT, ST, DS, SS, DP, SP)

BOTH_FORMS(cpy, upcr_pts_t, upcr_pts_t, true, true, shared_place, shared_place)
BOTH_FORMS(put, upcr_pts_t, const void *, true, false, shared_place, private_place)
BOTH_FORMS(get, void *, upcr_pts_t, false, true, private_place, shared_place)
