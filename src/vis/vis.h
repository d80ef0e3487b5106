/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-contiguous put and get inside the library.
 *
 * Owns: struct tmb_vis, one call. Included by src/vis and src/api/legacy_vis.c. calls.c and the
 * GASNet-1 layer fill one and hand it to tmb_vis_blocking, _nbi or _nb (vis.c), which checks it
 * (vis_check.c) and serves it by copies (copy.c, list.c) when the peer is mapped, else by messages
 * (vis_send.c). Invariants: sides are TMB_VIS_DST and TMB_VIS_SRC; the remote side is the
 * destination of a put and the source of a get; a struct tmb_vis lives on the stack of the call.
 */
#ifndef TMB_VIS_VIS_H
#define TMB_VIS_VIS_H

#include "core/job.h"
#include "core/layer.h"
#include "core/op/op.h"
#include "core/op/status.h"
#include "core/progress/wait.h"
#include "vis/list.h"
#include "vis/shape.h"

/* A peer completion handler that a put takes along. */
struct tmb_vis_completion {
  gex_AM_Index_t handler; /* 0: none */
  const void *payload;
  size_t nbytes;
};

/* The completion handler that the next put of this thread takes along; set by
 * gex_VIS_SetPeerCompletionHandler. */
extern _Thread_local struct tmb_vis_completion tmb_vis_armed
    __attribute__((tls_model("initial-exec")));

/* vis_send.c, vis_serve.c */
extern const struct tmb_layer tmb_vis_layer, tmb_vis_serve_layer;

struct tmb_vis {
  const char *call; /* for messages: name of the public function */
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get;
  bool strided;
  gex_Flags_t flags;
  struct tmb_vis_list list[2];       /* vector and indexed, by side */
  struct tmb_vis_strided stride;     /* strided: as the caller gave it */
  char *base[2];                     /* strided: address of index 0, then of element 0; by side */
  const struct tmb_vis_shape *shape; /* strided: set by vis.c */
  size_t bytes;                      /* total; set by vis.c */
  struct tmb_vis_completion completion; /* set by vis.c */
  struct tmb_op *op;                    /* where parts are counted; set by vis.c */
};

static inline unsigned tmb_vis_remote(const struct tmb_vis *v) {
  return v->is_get ? TMB_VIS_SRC : TMB_VIS_DST;
}

/* ---- the short method: a check, then the copy */

/* Flags that make no difference where everything is complete on return. */
#define TMB_VIS_SHORT_FLAGS (GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC)

/* The other side of a call. */
struct tmb_vis_peer {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get;
  gex_Flags_t flags;
};

/* Offset from an address of a mapped peer to ours; GEXX_UNMAPPED: vis.c has to decide. */
static TMB_ALWAYS_INLINE intptr_t tmb_vis_delta(struct tmb_vis_peer peer) {
  if (TMB_UNLIKELY(tmb_job.debug || tmb_vis_armed.handler || (peer.flags & ~TMB_VIS_SHORT_FLAGS) ||
                   peer.rank >= peer.tm->size))
    return GEXX_UNMAPPED;
  return tmb_load_rlx(&peer.tm->delta[peer.rank]);
}

/* Serve a vector call if that takes no more than copies. Returns whether it is done. */
static TMB_ALWAYS_INLINE bool tmb_vis_vector_now(struct tmb_vis_peer peer, struct tmb_vis_list dst,
                                                 struct tmb_vis_list src) {
  if (TMB_UNLIKELY(!dst.count || !src.count)) return false; /* an empty call may be given any tm */
  const intptr_t delta = tmb_vis_delta(peer);
  if (TMB_UNLIKELY(delta == GEXX_UNMAPPED)) return false;
  tmb_vis_vector_copy(dst.vec, dst.count, src.vec, src.count, peer.is_get ? 0 : (uintptr_t)delta,
                      peer.is_get ? (uintptr_t)delta : 0);
  return true;
}

/* Serve an indexed call if that takes no more than copies. Returns whether it is done. */
static TMB_ALWAYS_INLINE bool tmb_vis_indexed_now(struct tmb_vis_peer peer, struct tmb_vis_list dst,
                                                  struct tmb_vis_list src) {
  if (TMB_UNLIKELY(!dst.count || !src.count)) return false;
  const intptr_t delta = tmb_vis_delta(peer);
  if (TMB_UNLIKELY(delta == GEXX_UNMAPPED)) return false;
  *(peer.is_get ? &src.shift : &dst.shift) = (uintptr_t)delta;
  if (dst.count == 1 && src.count == 1) {
    tmb_fence_compiler();
    tmb_vis_bytes(tmb_vis_addr(&dst, 0), tmb_vis_addr(&src, 0), TMB_MIN(dst.len, src.len));
    tmb_fence_compiler();
  } else {
    tmb_vis_list_copy(&dst, &src);
  }
  return true;
}

/* Serve a strided call if that takes no more than copies. in dst, src: addresses of index 0.
 * Returns whether it is done. */
static TMB_ALWAYS_INLINE bool tmb_vis_strided_now(struct tmb_vis_peer peer, char *dst,
                                                  const char *src, struct tmb_vis_strided in) {
  bool any = in.elemsz != 0;
  for (size_t d = 0; any && d < in.levels; d++) any = in.count[d] != 0;
  if (TMB_UNLIKELY(!any)) return false; /* an empty call may be given any tm */
  const intptr_t delta = tmb_vis_delta(peer);
  if (TMB_UNLIKELY(delta == GEXX_UNMAPPED)) return false;
  if (peer.is_get)
    src += delta;
  else
    dst += delta;
  return tmb_vis_strided_copy(dst, src, &in);
}

/* Begin of every description. */
static inline struct tmb_vis tmb_vis_of(const char *call, struct tmb_vis_peer peer) {
  return (struct tmb_vis){
      .call = call, .tm = peer.tm, .rank = peer.rank, .is_get = peer.is_get, .flags = peer.flags};
}

/* Serve a call at once, or else describe it in *v for vis.c. Return whether it is done.
 * in call: name of the public function, for messages; now: tmb_vis_vector_now or _indexed_now. */
static TMB_ALWAYS_INLINE bool
tmb_vis_lists(struct tmb_vis *v, const char *call, struct tmb_vis_peer peer,
              struct tmb_vis_list dst, struct tmb_vis_list src,
              bool (*now)(struct tmb_vis_peer, struct tmb_vis_list, struct tmb_vis_list)) {
  if (TMB_LIKELY(now(peer, dst, src))) return true;
  *v = tmb_vis_of(call, peer);
  v->list[TMB_VIS_DST] = dst;
  v->list[TMB_VIS_SRC] = src;
  return false;
}

static TMB_ALWAYS_INLINE bool tmb_vis_strides(struct tmb_vis *v, const char *call,
                                              struct tmb_vis_peer peer, void *dst, void *src,
                                              struct tmb_vis_strided in) {
  if (TMB_LIKELY(tmb_vis_strided_now(peer, dst, src, in))) return true;
  *v = tmb_vis_of(call, peer);
  v->strided = true;
  v->base[TMB_VIS_DST] = dst;
  v->base[TMB_VIS_SRC] = src;
  v->stride = in;
  return false;
}

/* ---- vis.c */

int tmb_vis_blocking(struct tmb_vis *v);
int tmb_vis_nbi(struct tmb_vis *v);
gex_Event_t tmb_vis_nb(struct tmb_vis *v);

/* Wait until nothing of op is pending. */
static inline void tmb_vis_wait(const struct tmb_op *op) {
  if (tmb_op_done(op, GEX_EC_ALL)) return;
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  while (!tmb_op_done(op, GEX_EC_ALL)) tmb_wait_step(&wait, tmb_why_op(op));
}

/* ---- vis_check.c: debug clients; addresses, not offsets. Fatal on misuse. */

/* Fatal unless the context, the flags and the armed completion handler are valid. in blocking:
 * the form of the call has no leaf event. */
void tmb_vis_check_call(const struct tmb_vis *v, bool blocking);
/* Fatal unless both lists have equal numbers of bytes; before they are used. */
void tmb_vis_check_totals(const struct tmb_vis *v, size_t dst, size_t src);
/* Fatal when an address lies outside its segment or source and destination overlap; after
 * offsets have become addresses. */
void tmb_vis_check_ranges(const struct tmb_vis *v);

/* ---- vis_send.c */

/* Serve by messages; parts are counted in v->op. Returns 0, or TMB_AGAIN for an immediate call that
 * found no resources. */
int tmb_vis_send(const struct tmb_vis *v);

/* ---- vis_device.c: serve a call where one side is device memory, with the completion handler;
 * returns as tmb_vis_send. */
int tmb_vis_device(const struct tmb_vis *v);

/* ---- vis_send.c: have the target run the completion handler of a put whose data are in place. */
void tmb_vis_send_completion(const struct tmb_vis *v);

#endif
