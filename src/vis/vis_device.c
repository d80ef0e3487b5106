/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous transfers that involve device memory: one put or get of core for each contiguous
 * piece.
 *
 * Owns nothing. Called by vis.c. Calls: tmb_mk_rma, which reaches memory through its kind. The
 * contiguity analysis has made the pieces as long as they can be. Invariants: only the first piece
 * of an immediate transfer may fail; the completion handler is sent when every piece has been
 * acknowledged, so an armed put waits.
 */
#include "base/error.h"
#include "core/op/lost.h"
#include "core/segment/mk.h"
#include "vis/vis.h"

/* A transfer in progress. */
struct walk {
  const struct tmb_vis *v;
  struct tmb_op *op;
  bool begun;
};

static int piece(struct walk *w, char *dst, char *src, size_t nbytes) {
  const struct tmb_vis *v = w->v;
  const bool immediate = (v->flags & GEX_FLAG_IMMEDIATE) && !w->begun;
  w->begun = true;
  return tmb_mk_rma(&(struct tmb_mk_access){.tm = v->tm,
                                            .rank = v->rank,
                                            .is_get = v->is_get,
                                            .immediate = immediate,
                                            .remote = v->is_get ? src : dst,
                                            .local = v->is_get ? dst : src,
                                            .nbytes = nbytes,
                                            .op = w->op});
}

static int walk_shape(struct walk *w) {
  const struct tmb_vis_shape *s = w->v->shape;
  size_t index[TMB_VIS_LEVELS_MAX] = {0};
  char *at[2] = {w->v->base[0], w->v->base[1]};
  for (;;) {
    uint32_t d = 0;
    if (piece(w, at[TMB_VIS_DST], at[TMB_VIS_SRC], s->elem)) return TMB_AGAIN;
    for (; d < s->levels; d++) {
      for (unsigned side = 0; side < 2; side++) at[side] += s->dim[d].stride[side];
      if (++index[d] < s->dim[d].count) break;
      for (unsigned side = 0; side < 2; side++)
        at[side] -= s->dim[d].stride[side] * (ptrdiff_t)s->dim[d].count;
      index[d] = 0;
    }
    if (d == s->levels) return 0;
  }
}

static int walk_lists(struct walk *w) {
  struct tmb_vis_cursor to = {&w->v->list[TMB_VIS_DST], 0, 0};
  struct tmb_vis_cursor from = {&w->v->list[TMB_VIS_SRC], 0, 0};
  char *dst, *src;
  size_t room, there;
  while ((room = tmb_vis_next(&to, &dst)) && (there = tmb_vis_next(&from, &src))) {
    const size_t n = TMB_MIN(room, there);
    if (piece(w, dst, src, n)) return TMB_AGAIN;
    tmb_vis_skip(&to, n);
    tmb_vis_skip(&from, n);
  }
  return 0;
}

int tmb_vis_device(const struct tmb_vis *v) {
  struct tmb_op whole = {.kind = TMB_OP_SINGLE};
  struct walk w = {v, v->completion.handler ? &whole : v->op, false};
  if (v->strided ? walk_shape(&w) : walk_lists(&w)) return TMB_AGAIN;
  if (!v->completion.handler) return 0;
  tmb_vis_wait(&whole);
  if (whole.lost_mask) tmb_op_lose(v->op, v->is_get ? TMB_CAT_GET : TMB_CAT_PUT, whole.lost);
  tmb_vis_send_completion(v);
  return 0;
}
