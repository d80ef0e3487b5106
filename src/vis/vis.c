/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serving a non-contiguous put or get: copies when the peer is mapped, else messages.
 *
 * Owns: the armed completion handler of each thread. Called by calls.c and legacy_vis.c. Calls:
 * shape.c, copy.c, list.c, vis_send.c, vis_check.c, op.h, progress. Invariants: local completion is
 * reached on return, because the source has been read; the completion handler is armed for one put
 * that started; a debug client's complete NB operation still yields a live root event.
 */
#include "vis/vis.h"

#include "base/error.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"

#include <gasnet_vis.h>
#include <gasnetex_ext.h>

/* The remote side may lie outside the bound segment. */
#define ANYWHERE (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)

_Thread_local struct tmb_vis_completion tmb_vis_armed __attribute__((tls_model("initial-exec")));

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr,
                                      size_t nbytes, gex_Flags_t flags) {
  const char *call = "gex_VIS_SetPeerCompletionHandler";
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at(call);
    tmb_check_flags(call, flags, 0);
    if (handler && handler < TMB_HANDLER_FIRST)
      tmb_fatal_nopos("%s: argument handler is %u; registered indices are %d..255, 0 disarms", call,
                      handler, TMB_HANDLER_FIRST);
    if (handler && nbytes > GEX_VIS_MAX_PEERCOMPLETION)
      tmb_fatal_nopos("%s: argument nbytes is %zu, the limit is %zu (GEX_VIS_MAX_PEERCOMPLETION)",
                      call, nbytes, GEX_VIS_MAX_PEERCOMPLETION);
    if (handler && nbytes && !source_addr)
      tmb_fatal_nopos("%s: argument source_addr is NULL with nbytes %zu", call, nbytes);
  }
  tmb_vis_armed = (struct tmb_vis_completion){handler, source_addr, nbytes};
}

/* Turn offsets into segments into addresses. */
static void resolve(struct tmb_vis *v) {
  const unsigned remote = tmb_vis_remote(v);
  uintptr_t shift[2] = {0, 0};
  if (v->flags & GEX_FLAG_PEER_SEG_OFFSET)
    shift[remote] = (uintptr_t)tmb_segtab_offset(v->tm, v->rank, NULL);
  if (v->flags & GEX_FLAG_SELF_SEG_OFFSET)
    shift[!remote] = (uintptr_t)tmb_segtab_self_offset(v->tm->ep, NULL);
  for (unsigned side = 0; side < 2; side++) {
    v->list[side].shift = shift[side];
    if (v->strided)
      v->base[side] =
          (char *)((uintptr_t)v->base[side] + shift[side] + (uintptr_t)v->shape->first[side]);
  }
}

/* Measure the transfer. out shape: used by strided calls. */
static void measure(struct tmb_vis *v, struct tmb_vis_shape *shape) {
  if (v->strided) {
    if (tmb_vis_shape_make(shape, &v->stride) < 0)
      tmb_fatal_nopos("%s: argument count: the elements of %zu bytes do not fit the address space",
                      v->call, v->stride.elemsz);
    v->shape = shape;
    v->bytes = shape->bytes;
    return;
  }
  if (TMB_LIKELY(!tmb_job.debug) && (!v->list[0].count || !v->list[1].count)) {
    v->bytes = 0;
    return;
  }
  size_t bytes[2] = {0, 0};
  for (unsigned side = 0; side < 2; side++)
    if (!tmb_vis_list_bytes(&v->list[side], &bytes[side]))
      tmb_fatal_nopos("%s: argument %s: its bytes do not fit the address space", v->call,
                      side == TMB_VIS_DST ? "dstlist" : "srclist");
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_vis_check_totals(v, bytes[TMB_VIS_DST], bytes[TMB_VIS_SRC]);
  v->bytes = TMB_MIN(bytes[0], bytes[1]);
}

/* Whether the remote side can be reached by load and store. */
static bool direct(const struct tmb_vis *v, intptr_t delta) {
  if (delta == GEXX_UNMAPPED) return false;
  if (TMB_LIKELY(!(v->flags & ANYWHERE))) return true;
  const unsigned remote = tmb_vis_remote(v);
  if (v->strided) {
    ptrdiff_t low;
    size_t extent;
    tmb_vis_shape_hull(v->shape, remote, &low, &extent);
    return tmb_segtab_maps(v->tm, v->rank, v->base[remote] + low, extent);
  }
  const struct tmb_vis_list *list = &v->list[remote];
  for (size_t i = 0; i < list->count; i++)
    if (tmb_vis_len(list, i) &&
        !tmb_segtab_maps(v->tm, v->rank, tmb_vis_addr(list, i), tmb_vis_len(list, i)))
      return false;
  return true;
}

/* Copy between mapped memories. */
static void copy(struct tmb_vis *v, uintptr_t delta) {
  const unsigned remote = tmb_vis_remote(v);
  if (v->strided) {
    char *base[2] = {v->base[0], v->base[1]};
    base[remote] = (char *)((uintptr_t)base[remote] + delta);
    tmb_vis_copy(v->shape, base[TMB_VIS_DST], base[TMB_VIS_SRC]);
  } else {
    v->list[remote].shift += delta;
    tmb_vis_list_copy(&v->list[TMB_VIS_DST], &v->list[TMB_VIS_SRC]);
  }
}

static uint32_t leaves_of(const struct tmb_vis *v) {
  return v->flags & GEX_FLAG_ENABLE_LEAF_LC ? GEX_EC_LC : 0;
}

static void record(uint64_t begun, const struct tmb_vis *v) {
  if (TMB_LIKELY(!begun)) return;
  tmb_record_operation(begun, v->is_get ? TMB_WHAT_GET_STRIDED : TMB_WHAT_PUT_STRIDED,
                       tmb_jobrank(v->tm, v->rank), v->bytes, v->base[tmb_vis_remote(v)], v->op);
}

/* Serve a call; parts that remain are counted in v->op, which is made here when it is NULL and
 * needed. Returns 0, or TMB_AGAIN for an immediate call without resources. */
static int start(struct tmb_vis *v, bool blocking) {
  struct tmb_vis_shape shape;
  const uint64_t begun = tmb_record_clock();
  v->completion = tmb_vis_armed;
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_vis_check_call(v, blocking);
  measure(v, &shape);
  if (!v->bytes && !v->completion.handler) return 0;
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_tm_rank(v->call, v->tm, v->rank);
  if (v->bytes) {
    resolve(v);
    if (TMB_UNLIKELY(tmb_job.debug)) tmb_vis_check_ranges(v);
    const intptr_t delta = tmb_segtab_delta_of(v->tm, v->rank);
    if (TMB_UNLIKELY(!direct(v, delta))) {
      if (!(v->flags & ANYWHERE))
        tmb_check_attached(v->call, v->is_get ? "src" : "dst", v->tm, v->rank,
                           v->base[tmb_vis_remote(v)]);
      if (!v->op) v->op = tmb_op_new(TMB_OP_SINGLE, leaves_of(v));
      const int rc = tmb_mk_involved(v->tm, v->rank) ? tmb_vis_device(v) : tmb_vis_send(v);
      if (rc) return tmb_poll_refused(rc);
      tmb_vis_armed.handler = 0;
      record(begun, v);
      return 0;
    }
    copy(v, (uintptr_t)delta);
    tmb_count(v->is_get ? GEXX_STATS_GET : GEXX_STATS_PUT, tmb_jobrank(v->tm, v->rank), v->bytes);
    record(begun, v);
  }
  if (TMB_UNLIKELY(v->completion.handler != 0)) {
    tmb_vis_armed.handler = 0;
    tmb_vis_send_completion(v);
  }
  return 0;
}

int tmb_vis_blocking(struct tmb_vis *v) {
  struct tmb_op op = {.kind = TMB_OP_SINGLE};
  v->op = &op;
  if (start(v, true)) return 1;
  tmb_vis_wait(&op);
  return tmb_op_sync(&op, GEX_EC_ALL);
}

int tmb_vis_nbi(struct tmb_vis *v) {
  v->op = tmb_thread_iop(tmb_thread());
  return start(v, false) ? 1 : 0;
}

gex_Event_t tmb_vis_nb(struct tmb_vis *v) {
  v->op = NULL;
  if (start(v, false)) {
    tmb_op_free(v->op);
    return GEX_EVENT_NO_OP;
  }
  if (TMB_UNLIKELY(tmb_job.live_events) && !v->op) v->op = tmb_op_new(TMB_OP_SINGLE, leaves_of(v));
  return v->op ? tmb_op_event(v->op) : GEX_EVENT_INVALID;
}
