/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get (gasnet_vis.h).
 *
 * Owns nothing. These are calls of the library. Each piece at the peer is recorded, as one access;
 * the local side of a call that lasts is recorded, too. A put with a peer completion handler is
 * ordered for that handler. Invariants as in rma.c.
 */
#include "check/runtime/vis.h"

/* Record a piece: the first one makes the access. */
static void piece(uint64_t *number, const struct chk_range *range, uint32_t site, bool lasts) {
  if (!*number)
    *number = chk_touch(range, site, lasts);
  else
    chk_touch_more(*number, range);
}

static void strided(const struct shape *s, const struct side *side, struct chk_range range,
                    uint64_t *number, uint32_t site) {
  size_t total = 1;
  for (size_t d = 0; d < s->levels; d++) total *= s->counts[d];
  for (size_t i = 0; i < total; i++) {
    const char *at = side->strided;
    size_t rest = i;
    for (size_t d = 0; d < s->levels; d++) {
      at += (ptrdiff_t)(rest % s->counts[d]) * side->strides[d];
      rest /= s->counts[d];
    }
    range.addr = (uintptr_t)at;
    range.bytes = side->bytes;
    piece(number, &range, site, true);
  }
}

/* Record all pieces of a side. Returns the number of the access. */
static uint64_t touch(const struct shape *s, const struct side *side, uint32_t owner,
                      uint32_t flags, uint32_t site) {
  struct chk_range range = {.owner = owner, .flags = flags | CHK_TRANSFER};
  uint64_t number = 0;
  if (side->strided) {
    strided(s, side, range, &number, site);
    return number;
  }
  for (size_t i = 0; i < side->count; i++) {
    range.addr = (uintptr_t)(side->vector ? side->vector[i].gex_addr : side->indexed[i]);
    range.bytes = side->vector ? side->vector[i].gex_len : side->bytes;
    piece(&number, &range, site, true);
  }
  return number;
}

/* Whether a strided call moves nothing: team, rank and addresses may then be anything, and so may
 * the counts where an element has no bytes. */
static bool moves_nothing(const struct shape *s) {
  if (s->remote.vector || s->remote.indexed) return false;
  for (size_t d = 0; s->remote.bytes && d < s->levels; d++)
    if (s->counts[d] == 0) return true;
  return s->remote.bytes == 0;
}

/* The handler that the next put of this thread runs at its peer; 0: none. */
static _Thread_local struct {
  gex_AM_Index_t handler;
  size_t nbytes;
} armed;

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr,
                                      size_t nbytes, gex_Flags_t flags) {
  armed.handler = handler;
  armed.nbytes = nbytes;
  chk_real.gex_VIS_SetPeerCompletionHandler(handler, source_addr, nbytes, flags);
}

struct chk_pending chk_vis_begin(const struct shape *s, const char *call, const void *pc) {
  struct chk_pending p = {.category = s->is_get ? GEX_EC_GET : GEX_EC_PUT};
  chk_enter();
  p.site = chk_site(call, pc);
  if (!moves_nothing(s)) {
    p.remote = touch(s, &s->remote, chk_jobrank(s->tm, s->rank), s->is_get ? 0 : CHK_WRITE, p.site);
    p.local = touch(s, &s->local, chk.rank, (s->is_get ? CHK_WRITE : 0) | CHK_LOCAL, p.site);
  }
  chk_local_open(p.local);
  if (armed.handler && !s->is_get)
    chk_send_note(chk_jobrank(s->tm, s->rank), armed.handler, armed.nbytes, p.site, p.remote);
  if (!s->is_get) armed.handler = 0;
  chk_exit();
  return p;
}

/* The kinds of a call: suffix, result, how it ends. */
#define KINDS(CALL, SHAPE)              \
 CALL(SHAPE, Blocking, int, BLOCKING)   \
 CALL(SHAPE, NBI, int, CHK_STARTED_NBI) \
 CALL(SHAPE, NB, gex_Event_t, CHK_STARTED)

#define BLOCKING(call)                                            \
 const int rc = call;                                             \
 (void)chk_started(&p, rc ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID); \
 return rc

/* A shape: parameters and arguments of a side, those behind both, and struct side and counts. */
#define SIDE_Vector(L)  size_t L##count, gex_Memvec_t const L##list[]
#define GIVEN_Vector(L) L##count, L##list
#define MORE_Vector
#define MORE_GIVEN_Vector
#define AS_Vector(L)     VECTOR(L##list, L##count)
#define COUNTS_Vector    NULL, 0

#define SIDE_Indexed(L)  size_t L##count, void *const L##list[], size_t L##len
#define GIVEN_Indexed(L) L##count, L##list, L##len
#define MORE_Indexed
#define MORE_GIVEN_Indexed
#define AS_Indexed(L)      INDEXED(L##list, L##count, L##len)
#define COUNTS_Indexed     NULL, 0

#define SIDE_Strided(L)    void *L##addr, const ptrdiff_t L##strides[]
#define GIVEN_Strided(L)   L##addr, L##strides
#define MORE_Strided       , size_t elemsz, const size_t count[], size_t stridelevels
#define MORE_GIVEN_Strided , elemsz, count, stridelevels
#define AS_Strided(L) \
 { .strided = L##addr, .strides = L##strides, .bytes = elemsz }
#define COUNTS_Strided count, stridelevels

#define PUT(SHAPE, KIND, RESULT, END)                                                             \
 CHK_DEFINE(RESULT, gex_VIS_##SHAPE##Put##KIND,                                                   \
            (gex_TM_t tm, gex_Rank_t dstrank, SIDE_##SHAPE(dst), SIDE_##SHAPE(src) MORE_##SHAPE,  \
             gex_Flags_t flags),                                                                  \
            (tm, dstrank, GIVEN_##SHAPE(dst), GIVEN_##SHAPE(src) MORE_GIVEN_##SHAPE, flags), END, \
            BEGIN("gex_VIS_" #SHAPE "Put" #KIND, tm, dstrank, false, AS_##SHAPE(dst),             \
                  AS_##SHAPE(src), COUNTS_##SHAPE))
#define GET(SHAPE, KIND, RESULT, END)                                                             \
 CHK_DEFINE(RESULT, gex_VIS_##SHAPE##Get##KIND,                                                   \
            (gex_TM_t tm, SIDE_##SHAPE(dst), gex_Rank_t srcrank, SIDE_##SHAPE(src) MORE_##SHAPE,  \
             gex_Flags_t flags),                                                                  \
            (tm, GIVEN_##SHAPE(dst), srcrank, GIVEN_##SHAPE(src) MORE_GIVEN_##SHAPE, flags), END, \
            BEGIN("gex_VIS_" #SHAPE "Get" #KIND, tm, srcrank, true, AS_##SHAPE(src),              \
                  AS_##SHAPE(dst), COUNTS_##SHAPE))

KINDS(PUT, Vector)
KINDS(GET, Vector)
KINDS(PUT, Indexed)
KINDS(GET, Indexed)
KINDS(PUT, Strided)
KINDS(GET, Strided)
