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

#include "core/op.h"
#include "vis/list.h"
#include "vis/shape.h"

/* A peer completion handler that a put takes along. */
struct tmb_vis_note {
  gex_AM_Index_t handler; /* 0: none */
  const void *payload;
  size_t nbytes;
};

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
  struct tmb_vis_note note;          /* set by vis.c */
  struct tmb_op *op;                 /* where parts are counted; set by vis.c */
};

static inline unsigned tmb_vis_remote(const struct tmb_vis *v) {
  return v->is_get ? TMB_VIS_SRC : TMB_VIS_DST;
}

/* ---- vis.c */

int tmb_vis_blocking(struct tmb_vis *v);
int tmb_vis_nbi(struct tmb_vis *v);
gex_Event_t tmb_vis_nb(struct tmb_vis *v);

/* Wait until nothing of op is pending. */
void tmb_vis_wait(const struct tmb_op *op);

/* ---- vis_check.c: debug clients; addresses, not offsets. Fatal on misuse. */

/* Context, flags, and what is armed. in blocking: the form has no leaf. */
void tmb_vis_check_call(const struct tmb_vis *v, bool blocking);
/* Totals of lists, before they are used. */
void tmb_vis_check_totals(const struct tmb_vis *v, size_t dst, size_t src);
/* Bounds and overlap; after offsets have become addresses. */
void tmb_vis_check_ranges(const struct tmb_vis *v);

/* ---- vis_send.c */

/* Serve by messages; parts are counted in v->op. Returns 0, or TMB_AGAIN for an immediate call that
 * found no resources. */
int tmb_vis_send(const struct tmb_vis *v);

/* ---- vis_device.c: the same where one side is device memory; sends the completion handler too. */
int tmb_vis_device(const struct tmb_vis *v);

/* ---- vis_send.c: only the completion handler; the data are in place. */
void tmb_vis_send_note(const struct tmb_vis *v);

#endif
