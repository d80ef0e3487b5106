/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get with a signal where the data are in device memory; the signal is in host memory.
 *
 * Owns: handlers PUT_SIGNAL and GET_SIGNAL. Called by notify. Calls: mk_move.h, kit.h, the
 * conduit's put_signal for bare signals. When this process can access both sides of the data, it
 * copies, then signals. Otherwise parts travel as in mk_rma.c, each with all that the owner must
 * know, so they may arrive in any order: the one that completes the count changes the signal.
 * Invariants: (source, id) names a transfer until its last part; a put is counted once in its op, a
 * get once for each part; the signal follows the data in the owner's memory order (release).
 */
#include "base/error.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/mk/mk_move.h"
#include "core/op/op.h"
#include "core/progress/peer.h"
#include "core/segment/segment_table.h"
#include "notify/notify.h"

#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

/* Data for the owner: the payload of GET_SIGNAL, and the first part of that of PUT_SIGNAL. */
struct head {
  uint64_t remote, local;        /* of this part: in the owner's space, in the origin's */
  uint64_t op;                   /* op at the origin, 0: the origin does not ask for completion */
  uint64_t signal, value, total; /* total: bytes of all parts */
  uint32_t bytes, id, signal_op, category;
  uint32_t ep, ep_there; /* of the owner, of the origin */
};

#define PART_BYTES_MAX (TMB_AM_MEDIUM_BYTES_MAX - sizeof(struct head))

/* ---- the owner */

static void change(void *signal, uint32_t op, uint64_t value) {
  if (op == TMB_SIGNAL_SET)
    tmb_store_rel((uint64_t *)signal, value);
  else
    tmb_fetch_add_rel((uint64_t *)signal, value);
}

static void change_here(const struct head *h) {
  change((void *)(uintptr_t)h->signal, h->signal_op, h->value);
  tmb_up_signal((void *)(uintptr_t)h->signal);
}

/* Read the head of a message, and check that the announced data are complete. in most: bytes of
 * data. */
static struct head head_of(const struct tmb_am_in *in, size_t most) {
  struct head h;
  memcpy(&h, in->payload, sizeof h);
  if (h.bytes > most) tmb_kit_malformed(in, "length");
  (void)tmb_up_memory(in->src, h.signal, sizeof(uint64_t));
  return h;
}

static void on_put(const struct tmb_am_in *in) {
  const struct head h = head_of(in, in->nbytes - sizeof h);
  tmb_mk_move(tmb_mk_place_named(in, (int32_t)h.ep, h.remote, h.bytes),
              (struct tmb_mk_place){NULL, (char *)in->payload + sizeof h}, h.bytes);
  if (!tmb_kit_last_piece(in->src, h.id, h.total, h.bytes)) return;
  change_here(&h);
  if (h.op) tmb_kit_ack(in->src, h.op, h.category);
}

static void on_get(const struct tmb_am_in *in) {
  const struct head h = head_of(in, TMB_AM_MEDIUM_BYTES_MAX);
  int32_t args[TMB_MK_DATA_ARGS];
  tmb_kit_pack64(args, h.op);
  args[2] = (int32_t)h.category;
  tmb_kit_pack64(args + 3, h.local);
  args[5] = (int32_t)h.ep_there;
  tmb_mk_send_data(in->src, tmb_mk_place_named(in, (int32_t)h.ep, h.remote, h.bytes), h.bytes,
                   args);
  if (tmb_kit_last_piece(in->src, h.id, h.total, h.bytes)) change_here(&h);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_MK_PUT_SIGNAL, TMB_TAKES_MEDIUM, 0, sizeof(struct head), on_put},
    {TMB_KIT_MK_GET_SIGNAL, TMB_TAKES_MEDIUM, 0, sizeof(struct head), on_get},
    {0}};

const struct tmb_layer tmb_mk_signal_layer = {.name = "mk_signal", .handlers = handlers};

/* ---- the origin */

void tmb_mk_check_signal(const char *call, gex_TM_t tm, gex_Rank_t rank, const uint64_t *sig) {
  if (tmb_segtab_endpoint(tmb_jobrank(tm, rank), sig, sizeof *sig) < 0)
    tmb_fatal_nopos("%s: argument sig_addr (%p) is in no host memory that rank %u has attached or "
                    "published; data may be in device memory, but a signal must be in a host "
                    "segment: give the address of a word there",
                    call, (const void *)sig, rank);
}

/* Change the signal, after all earlier copies of this thread. */
static int signal_only(const struct tmb_mk_access *a) {
  const uint32_t jobrank = tmb_jobrank(a->tm, a->rank);
  uint64_t *const sig = a->signal->addr;
  const gex_TM_t pair_tm = &tmb_job.ep.pair[tmb_segtab_endpoint(jobrank, sig, sizeof *sig)];
  const intptr_t delta = jobrank == tmb_job.rank ? 0 : tmb_segtab_delta_of(pair_tm, jobrank);
  if (delta != GEXX_UNMAPPED) {
    change((char *)sig + delta, a->signal->op, a->signal->value);
    gexx_signal_changed(pair_tm, jobrank, sig);
  } else {
    const struct tmb_rma bare = {.peer = jobrank,
                                 .op = a->is_get ? NULL : a->op,
                                 .category = TMB_CAT_PUT,
                                 .immediate = a->immediate};
    return tmb_peer_put_signal(&bare, a->signal);
  }
  return 0;
}

static int send_part(const struct tmb_mk_access *a, const struct head *h, bool first) {
  const struct tmb_mk_place from = tmb_mk_place_of(a->tm->ep->index, (void *)(uintptr_t)h->local);
  const size_t data = a->is_get ? 0 : h->bytes;
  char *stage = tmb_mk_stage_take(from.kind);
  memcpy(stage, h, sizeof *h);
  if (data) tmb_mk_move((struct tmb_mk_place){NULL, stage + sizeof *h}, from, data);
  tmb_mk_stage_filled();
  struct tmb_am_out out = {.peer = tmb_jobrank(a->tm, a->rank),
                           .category = TMB_AM_MEDIUM,
                           .handler = a->is_get ? TMB_KIT_MK_GET_SIGNAL : TMB_KIT_MK_PUT_SIGNAL,
                           .immediate = first && a->immediate,
                           .staged = -1,
                           .src = stage,
                           .nbytes = sizeof *h + data};
  const int rc = tmb_kit_send_part(&out, a->is_get || first ? a->op : NULL, h->category);
  tmb_mk_stage_put(stage);
  return rc;
}

/* Send all parts: a get is answered part by part, a put is acknowledged once, after its last
 * part. */
static int send_all(const struct tmb_mk_access *a) {
  struct head h = {.op = (uint64_t)(uintptr_t)a->op,
                   .signal = (uint64_t)(uintptr_t)a->signal->addr,
                   .value = a->signal->value,
                   .total = a->nbytes,
                   .id = tmb_kit_next_id(),
                   .signal_op = a->signal->op,
                   .category = a->is_get ? TMB_CAT_GET : TMB_CAT_PUT,
                   .ep = tmb_ep_index(a->tm, a->rank),
                   .ep_there = a->tm->ep->index};
  for (size_t at = 0; at < a->nbytes; at += h.bytes) {
    h.bytes = (uint32_t)TMB_MIN(a->nbytes - at, PART_BYTES_MAX);
    h.remote = (uint64_t)(uintptr_t)a->remote + at;
    h.local = (uint64_t)(uintptr_t)a->local + at;
    if (send_part(a, &h, at == 0)) return TMB_AGAIN;
  }
  return 0;
}

int tmb_mk_rma_signal(const struct tmb_mk_access *a) {
  struct tmb_mk_place far;
  if (a->nbytes && !tmb_mk_map_remote(a, &far)) return send_all(a);
  if (a->nbytes) {
    const struct tmb_mk_place near = tmb_mk_place_of(a->tm->ep->index, a->local);
    tmb_mk_move(a->is_get ? near : far, a->is_get ? far : near, a->nbytes);
  }
  return signal_only(a);
}
