/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on device memory: host memory in their place, copied in before and out after.
 *
 * Owns: host buffers of collectives in flight, by event. Called by calls/start.c in processes that
 * have device segments, and when a collective completes. Calls: core's kinds.
 * Reductions combine on the host. Each member decides for itself; members with host buffers do as
 * in any collective. Invariants: the list is guarded by the lock of collectives; an event completes
 * after the last byte has reached the device; only bytes that the collective defines are written,
 * so gaps between blocks stay as they are.
 */
#include "coll/engine/device.h"

#include "base/container/list.h"
#include "base/log.h"
#include "coll/engine/engine.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"

#include <stdlib.h>

/* Bytes of a buffer that a collective reads or writes. */
enum form { NOTHING, BLOCK, BLOCKS, SENT, RECEIVED, LOCAL_BLOCK };

static const struct {
  enum form src, dst;
  bool src_root, dst_root; /* on the root only */
} forms[TMB_COLL_KINDS] = {
    [TMB_COLL_BROADCAST] = {BLOCK, BLOCK, true, false},
    [TMB_COLL_REDUCE] = {BLOCK, BLOCK, false, true},
    [TMB_COLL_ALLREDUCE] = {BLOCK, BLOCK, false, false},
    [TMB_COLL_SCATTER] = {BLOCKS, BLOCK, true, false},
    [TMB_COLL_GATHER] = {BLOCK, BLOCKS, false, true},
    [TMB_COLL_ALLGATHER] = {BLOCK, BLOCKS, false, false},
    [TMB_COLL_EXCHANGE] = {BLOCKS, BLOCKS, false, false},
    [TMB_COLL_REDUCE_SCATTER] = {BLOCKS, BLOCK, false, false},
    [TMB_COLL_SCAN] = {BLOCK, BLOCK, false, false},
    [TMB_COLL_EXSCAN] = {BLOCK, BLOCK, false, false},
    [TMB_COLL_SCATTERV] = {SENT, BLOCK, true, false},
    [TMB_COLL_GATHERV] = {BLOCK, RECEIVED, false, true},
    [TMB_COLL_ALLGATHERV] = {LOCAL_BLOCK, RECEIVED, false, false},
    [TMB_COLL_EXCHANGEV] = {SENT, RECEIVED, false, false},
};

struct piece {
  uint64_t at, bytes;
};

/* A buffer in device memory, and host memory in its place. */
struct side {
  struct gexx_mk_s *kind;
  char *device, *host; /* addresses of one byte: as the client gave it, and in host memory */
  char *memory;        /* the host memory, to be freed */
  size_t pieces;
  struct piece piece[];
};

struct tmb_coll_staged {
  struct tmb_coll_staged *next;
  const struct tmb_op *event;
  struct side *src, *dst;
};

static enum form form_of(const struct tmb_coll_call *call, bool dst) {
  const bool root = call->tm->rank == call->root;
  if (dst && call->kind == TMB_COLL_EXSCAN && call->tm->rank == 0) return NOTHING;
  if ((dst ? forms[call->kind].dst_root : forms[call->kind].src_root) && !root) return NOTHING;
  return dst ? forms[call->kind].dst : forms[call->kind].src;
}

static struct piece piece_of(const struct tmb_coll_call *call, enum form form, size_t i) {
  switch (form) {
  case BLOCK: return (struct piece){0, call->bytes};
  case BLOCKS: return (struct piece){0, call->bytes * call->tm->size};
  case LOCAL_BLOCK: return (struct piece){0, call->recv.bytes[call->tm->rank]};
  case SENT: return (struct piece){call->send.at[i], call->send.bytes[i]};
  case RECEIVED: return (struct piece){call->recv.at[i], call->recv.bytes[i]};
  default: return (struct piece){0, 0};
  }
}

_Noreturn TMB_COLD static void leaves(const struct tmb_coll_call *call, bool dst, const char *addr,
                                      size_t bytes) {
  const struct gexx_segment_s *s = tmb_segment_device_at(addr, 1);
  tmb_fatal_nopos("%s: argument %s: %zu bytes at %p leave the segment of device memory that they "
                  "begin in, which has %zu bytes at %p",
                  call->name, dst ? "dst" : "src", bytes, (const void *)addr, (size_t)s->size,
                  s->base);
}

/* The src or dst of a call, with host memory to use instead; NULL when it is in host memory. */
static struct side *side_new(const struct tmb_coll_call *call, bool dst) {
  const enum form form = form_of(call, dst);
  const size_t pieces = form == SENT || form == RECEIVED ? call->tm->size : 1;
  char *const given = dst ? call->dst : (char *)(uintptr_t)call->src;
  uint64_t low = UINT64_MAX, high = 0;
  for (size_t i = 0; i < pieces; i++) {
    const struct piece p = piece_of(call, form, i);
    if (p.bytes && p.at < low) low = p.at;
    if (p.bytes) high = TMB_MAX(high, p.at + p.bytes);
  }
  if (!high || !tmb_segment_device_at(given + low, 1)) return NULL;
  const struct gexx_segment_s *s = tmb_segment_device_at(given + low, high - low);
  if (!s) leaves(call, dst, given + low, high - low);
  struct side *side = malloc(sizeof *side + pieces * sizeof side->piece[0]);
  char *memory = side ? aligned_alloc(64, TMB_ALIGN_UP(high - low, (size_t)64)) : NULL;
  if (!memory)
    tmb_fatal("%s: out of memory for %zu bytes in place of device memory", call->name,
              (size_t)(high - low));
  *side = (struct side){.kind = tmb_mk_device(s),
                        .device = given,
                        .host = memory - low,
                        .memory = memory,
                        .pieces = pieces};
  for (size_t i = 0; i < pieces; i++) side->piece[i] = piece_of(call, form, i);
  return side;
}

static void copy_in(const struct side *s) {
  for (size_t i = 0; i < s->pieces; i++)
    if (s->piece[i].bytes)
      tmb_mk_copy_out(s->kind, s->host + s->piece[i].at, s->device + s->piece[i].at,
                      s->piece[i].bytes);
}

static void copy_out(const struct side *s) {
  for (size_t i = 0; i < s->pieces; i++)
    if (s->piece[i].bytes)
      tmb_mk_copy_in(s->kind, s->device + s->piece[i].at, s->host + s->piece[i].at,
                     s->piece[i].bytes);
}

static void side_free(struct side *s) {
  if (s) free(s->memory);
  free(s);
}

static void finish(struct tmb_coll_staged *staged) {
  if (staged->dst) copy_out(staged->dst);
  side_free(staged->src);
  side_free(staged->dst);
  free(staged);
}

void tmb_coll_device_finish(const struct tmb_op *event) {
  struct tmb_coll_staged **p = &tmb_colls.staged;
  while (*p && (*p)->event != event) p = &(*p)->next;
  struct tmb_coll_staged *staged = TMB_LIST_POP(p);
  if (staged) finish(staged);
}

struct tmb_coll_staged *tmb_coll_device_stage(struct tmb_coll_call *host) {
  struct side *src = side_new(host, false), *dst = side_new(host, true);
  if (!src && !dst) return NULL;
  struct tmb_coll_staged *staged = malloc(sizeof *staged);
  if (!staged) tmb_fatal("%s: out of memory", host->name);
  *staged = (struct tmb_coll_staged){NULL, NULL, src, dst};
  if (src) {
    copy_in(src);
    host->src = src->host;
  }
  if (dst) host->dst = dst->host;
  return staged;
}

void tmb_coll_device_keep(struct tmb_coll_staged *staged, gex_Event_t event) {
  const struct tmb_op *op = (const struct tmb_op *)(const void *)event;
  tmb_coll_lock();
  /* The collective may have completed before it was entered in the list: then do here the work of
   * its completion. */
  const bool done = event == GEX_EVENT_INVALID || tmb_op_done(op, GEX_EC_ALL);
  staged->event = op;
  if (!done) TMB_LIST_PUSH(&tmb_colls.staged, staged);
  tmb_coll_unlock();
  if (done) finish(staged);
}
