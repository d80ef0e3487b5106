/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of collectives that came early.
 *
 * Owns: kept messages and their free list (state.h).
 * Called by the engine. Calls: libc.
 * Invariants: kept messages of one number are in order of arrival; unasked data are at most the
 * eager limit for each of the collectives that a member may be ahead (engine.c), so the memory is
 * bounded.
 */
#include "base/container/list.h"
#include "base/log.h"
#include "coll/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 256u /* most payload of messages on the free list, in bytes; chosen */

static struct tmb_stash *stash_new(size_t bytes) {
  struct tmb_stash *m = bytes <= SMALL_BYTES ? TMB_LIST_POP(&tmb_colls.spare) : NULL;
  if (m) return m;
  const size_t capacity = TMB_MAX(bytes, (size_t)SMALL_BYTES);
  m = aligned_alloc(16, TMB_ALIGN_UP(sizeof *m + capacity, (size_t)16));
  if (!m) tmb_fatal("out of memory for an early message of a collective (%zu bytes)", bytes);
  m->capacity = capacity;
  return m;
}

void tmb_stash_free(struct tmb_stash *m) {
  if (m->capacity > SMALL_BYTES) {
    free(m);
    return;
  }
  TMB_LIST_PUSH(&tmb_colls.spare, m);
}

struct tmb_stash *tmb_stash_add(struct tmb_coll_team *ct, const struct tmb_stash *like,
                                size_t bytes) {
  struct tmb_stash *m = stash_new(bytes);
  const uint32_t bucket = like->seq % TMB_COLL_BUCKETS;
  const size_t capacity = m->capacity;
  *m = *like;
  m->capacity = capacity;
  m->bytes = bytes;
  TMB_LIST_EXTEND(&ct->stash_end[bucket], m);
  return m;
}

void tmb_stash_put(struct tmb_coll_team *ct, const struct tmb_am_in *in) {
  struct tmb_stash like = {.seq = (uint32_t)in->args[2],
                           .src = (uint32_t)in->args[4],
                           .tag = (uint32_t)in->args[5],
                           .kind = in->handler,
                           .at = tmb_kit_unpack64(in->args + 6)};
  if (in->handler == TMB_KIT_COLL_OFFER) {
    like.pid = in->args[8];
    like.address = tmb_kit_unpack64(in->args + 9);
  } else if (in->handler == TMB_KIT_COLL_PLACE) {
    like.kind = TMB_KIT_COLL_READY;
    const uint64_t address = tmb_kit_unpack64(in->args + 9);
    like.place = (struct tmb_coll_target){
        address, in->args[8] != 0, {address, tmb_kit_unpack64(in->args + 11)}};
  }
  struct tmb_stash *m = tmb_stash_add(ct, &like, in->nbytes);
  if (in->nbytes) memcpy(m->payload, in->payload, in->nbytes);
}

struct tmb_stash *tmb_stash_offer(struct tmb_coll_team *ct, struct tmb_coll_op *op,
                                  bool (*fits)(struct tmb_coll_op *op, const struct tmb_stash *m)) {
  struct tmb_stash *m = ct->stash[op->seq % TMB_COLL_BUCKETS];
  while (m && (m->kind != TMB_KIT_COLL_OFFER || m->seq != op->seq || !fits(op, m))) m = m->next;
  return m;
}

struct tmb_stash *tmb_stash_take(struct tmb_coll_team *ct, const struct tmb_stash *like) {
  const uint32_t bucket = like->seq % TMB_COLL_BUCKETS;
  for (struct tmb_stash **p = &ct->stash[bucket], *m; (m = *p) != NULL; p = &m->next) {
    if (m->seq != like->seq || m->src != like->src || m->tag != like->tag || m->kind != like->kind)
      continue;
    (void)TMB_LIST_POP(p);
    if (!*p) ct->stash_end[bucket] = p;
    return m;
  }
  return NULL;
}
