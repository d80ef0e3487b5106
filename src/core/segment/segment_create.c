/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments beside the attached one: gex_Segment_Create, gex_Segment_Destroy (API 01.4).
 *
 * Owns: the list of created segments. Called by clients. Calls: the table of the segment's kind of
 * memory (mk.h), that of GEX_MK_HOST in mk_host.c. Invariants: that the library allocates is shared
 * with the neighbourhood, which maps it when it is published; memory of the client is private to
 * the process, and peers reach it by messages. Invariants: memory that the library allocated is
 * returned to the system by Destroy, memory of the client is never touched; a destroyed handle has
 * a dead magic number until its memory is reused.
 */
#include "base/container/list.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "net/net.h"
#include "os/sync/lock.h"

#include <stdlib.h>

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.segments.lock) static inline struct tmb_segments *made(void) {
  return &tmb_job.segments;
}

static void enlist(struct gexx_segment_s *s) {
  tmb_lock_acquire_shared(&tmb_job.segments.lock);
  TMB_LIST_PUSH(&made()->first, s);
  tmb_lock_release(&tmb_job.segments.lock);
}

static void delist(struct gexx_segment_s *s) {
  tmb_lock_acquire_shared(&tmb_job.segments.lock);
  (void)TMB_LIST_REMOVE(&made()->first, s);
  if (tmb_job.debug) TMB_LIST_PUSH(&made()->dead, s);
  tmb_lock_release(&tmb_job.segments.lock);
}

static bool holds(const struct gexx_segment_s *s, const void *addr, size_t nbytes) {
  const uintptr_t offset = (uintptr_t)addr - (uintptr_t)s->base;
  return offset < s->size && nbytes <= s->size - offset;
}

bool tmb_segment_holds(const void *addr, size_t nbytes) {
  if (holds(&tmb_job.segment, addr, nbytes)) return true;
  tmb_lock_acquire_shared(&tmb_job.segments.lock);
  const struct gexx_segment_s *s = made()->first;
  while (s && !holds(s, addr, nbytes)) s = s->next;
  tmb_lock_release(&tmb_job.segments.lock);
  return s != NULL;
}

/* Whether a segment holds `addr` and counts, see tmb_segment_around. */
static bool is_around(const struct gexx_segment_s *s, const void *addr,
                      struct tmb_net_memory *memory) {
  if (!holds(s, addr, 1)) return false;
  const struct gexx_mk_s *kind = tmb_mk_device(s);
  if (kind) return memory && tmb_mk_network(kind, memory);
  if (memory) *memory = (struct tmb_net_memory){0};
  return true;
}

bool tmb_segment_around(const void *addr, void **base, size_t *nbytes,
                        struct tmb_net_memory *memory) {
  const bool attached = is_around(&tmb_job.segment, addr, memory);
  tmb_lock_acquire_shared(&tmb_job.segments.lock);
  const struct gexx_segment_s *s = attached ? &tmb_job.segment : made()->first;
  while (s && !attached && !is_around(s, addr, memory)) s = s->next;
  if (s) {
    *base = s->base;
    *nbytes = s->size;
  }
  tmb_lock_release(&tmb_job.segments.lock);
  return s != NULL;
}

const struct gexx_segment_s *tmb_segment_device_at(const void *addr, size_t nbytes) {
  tmb_lock_acquire_shared(&tmb_job.segments.lock);
  const struct gexx_segment_s *s = made()->first;
  while (s && !(tmb_mk_device(s) && holds(s, addr, nbytes))) s = s->next;
  tmb_lock_release(&tmb_job.segments.lock);
  return s;
}

static void check_create(const gex_Segment_t *segment_p, gex_Client_t client, uintptr_t length,
                         gex_MK_t kind, gex_Flags_t flags) {
  const char *call = "gex_Segment_Create";
  tmb_check_context_mild(call);
  if (!segment_p) tmb_fatal_nopos("%s: argument segment_p is NULL", call);
  tmb_check_client(call, client);
  if (!length) tmb_fatal_nopos("%s: argument length is 0", call);
  if (kind == GEX_MK_INVALID) tmb_fatal_nopos("%s: argument kind is GEX_MK_INVALID", call);
  tmb_check_flags(call, flags, 0);
}

int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                       uintptr_t length, gex_MK_t kind, gex_Flags_t flags) {
  const char *call = "gex_Segment_Create";
  if (TMB_UNLIKELY(tmb_job.debug)) check_create(segment_p, client, length, kind, flags);
  const struct tmb_mk_ops *ops = tmb_mk_ops_of(kind);
  if (!segment_p || !client || !ops || !length || flags)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                      "argument segment_p is %p, client is %p, length is %zu, kind is %p, flags is "
                      "0x%x; none but flags may be 0, which must be",
                      (void *)segment_p, (void *)client, (size_t)length, (void *)kind, flags);
  if (!address && ops->host_memory && length > tmb_job.segment_bytes_max)
    return tmb_refuse(call, GASNET_ERR_RESOURCE,
                      "argument length is %zu, more than gasnet_getMaxLocalSegmentSize(), %zu",
                      (size_t)length, (size_t)tmb_job.segment_bytes_max);
  struct gexx_segment_s *s = malloc(sizeof *s);
  if (!s) return tmb_refuse(call, GASNET_ERR_RESOURCE, "out of memory for a segment's handle");
  *s = (struct gexx_segment_s){.magic = TMB_MAGIC_SEGMENT,
                               .client = client,
                               .base = address,
                               .size = length,
                               .mk = ops,
                               .owned = !address};
  const int rc = address ? ops->import(s) : ops->alloc(s);
  if (rc != GASNET_OK) {
    free(s);
    return tmb_refuse(call, rc, "cannot provide %zu bytes of memory%s", (size_t)length,
                      address ? " at the client's address" : "");
  }
  enlist(s);
  *segment_p = s;
  return GASNET_OK;
}

void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = "gex_Segment_Destroy";
    tmb_check_context_mild(call);
    tmb_check_segment(call, segment);
    tmb_check_flags(call, flags, 0);
    if (segment == &tmb_job.segment)
      tmb_fatal_nopos("%s: argument segment (%p) is the attached one, which lives as long as the "
                      "job",
                      call, (void *)segment);
  }
  (void)flags;
  delist(segment);
  if (tmb_job.net && tmb_job.net->segment_freed)
    tmb_job.net->segment_freed(tmb_job.net_state, segment->base, segment->size);
  if (segment->owned)
    segment->mk->free(segment);
  else if (segment->mk->release)
    segment->mk->release(segment);
  segment->magic = 0;
  if (!tmb_job.debug) free(segment);
}
