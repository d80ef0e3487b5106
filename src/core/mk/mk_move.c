/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between places that this process reaches, see mk_move.h.
 *
 * Owns nothing. Called by mk_rma.c, mk_signal.c, and by coll through mk.h. Calls: plug-ins,
 * mk_peer.h. Reached are: memory of this process, host memory of others that is mapped, and
 * attached device memory of peers. Between devices that cannot copy to each other data pass
 * through host memory, a piece at a time. Invariants: a copy is complete on return; one that fails
 * ends the process with the plug-in's reason.
 */
#include "core/mk/mk_move.h"

#include "base/log.h"
#include "core/am/kit.h"
#include "core/segment/mk_peer.h"
#include "core/segment/segment_table.h"
#include "net/up.h"

#include <stdlib.h>
#include <string.h>
#include <tombolo/mk_plugin.h>

/* Bytes of host memory between two devices. Chosen, not measured. */
#define STAGE_BYTES (1u << 20)

struct tmb_mk_place tmb_mk_place_of(int32_t ep, void *addr) {
  return (struct tmb_mk_place){tmb_mk_device(tmb_job.eps[ep]->segment), addr};
}

struct tmb_mk_place tmb_mk_place_named(const struct tmb_am_in *in, int32_t ep, uint64_t addr,
                                       uint64_t nbytes) {
  if (ep < 0 || ep >= GASNET_MAXEPS || !tmb_job.eps[ep]) tmb_kit_malformed(in, "endpoint");
  const struct tmb_mk_place place = tmb_mk_place_of(ep, (void *)(uintptr_t)addr);
  if (!place.kind) return (struct tmb_mk_place){NULL, tmb_up_memory(in->src, addr, nbytes)};
  const struct gexx_segment_s *s = tmb_job.eps[ep]->segment;
  const uint64_t offset = addr - (uint64_t)(uintptr_t)s->base;
  if (offset > s->size || nbytes > s->size - offset) tmb_kit_malformed(in, "device address");
  return place;
}

_Noreturn TMB_COLD static void fail(const struct gexx_mk_s *kind, const struct tmb_mk_place *to,
                                    const struct tmb_mk_place *from, size_t nbytes) {
  tmb_fatal("the memory kind %s failed to copy %zu bytes from %p to %p: %s", kind->ops.name, nbytes,
            from->addr, to->addr, tmb_mk_reason(kind->plugin));
}

/* Copy between two devices that cannot copy to each other, through host memory. */
static void move_staged(struct tmb_mk_place to, struct tmb_mk_place from, size_t nbytes) {
  const size_t most = TMB_MIN(nbytes, (size_t)STAGE_BYTES);
  char *stage = malloc(most);
  if (!stage) tmb_fatal("out of memory for a copy of %zu bytes of device memory", nbytes);
  for (size_t at = 0, n; at < nbytes; at += n) {
    n = TMB_MIN(nbytes - at, most);
    if (from.kind->plugin->copy_out(from.kind->device, stage, (char *)from.addr + at, n))
      fail(from.kind, &to, &from, nbytes);
    if (to.kind->plugin->copy_in(to.kind->device, (char *)to.addr + at, stage, n))
      fail(to.kind, &to, &from, nbytes);
  }
  free(stage);
}

void tmb_mk_move(struct tmb_mk_place to, struct tmb_mk_place from, size_t nbytes) {
  int rc = GASNET_OK;
  if (!to.kind && !from.kind)
    memcpy(to.addr, from.addr, nbytes);
  else if (!from.kind)
    rc = to.kind->plugin->copy_in(to.kind->device, to.addr, from.addr, nbytes);
  else if (!to.kind)
    rc = from.kind->plugin->copy_out(from.kind->device, to.addr, from.addr, nbytes);
  else if (to.kind == from.kind)
    rc = to.kind->plugin->copy(to.kind->device, to.addr, from.addr, nbytes);
  else if (to.kind->plugin == from.kind->plugin && to.kind->plugin->copy_across)
    rc = to.kind->plugin->copy_across(to.kind->device, to.addr, from.kind->device, from.addr,
                                      nbytes);
  else
    move_staged(to, from, nbytes);
  if (rc != GASNET_OK) fail(to.kind ? to.kind : from.kind, &to, &from, nbytes);
}

void tmb_mk_copy_in(struct gexx_mk_s *kind, void *dest, void *host_src, size_t nbytes) {
  tmb_mk_move((struct tmb_mk_place){kind, dest}, (struct tmb_mk_place){NULL, host_src}, nbytes);
}

void tmb_mk_copy_out(struct gexx_mk_s *kind, void *host_dest, void *src, size_t nbytes) {
  tmb_mk_move((struct tmb_mk_place){NULL, host_dest}, (struct tmb_mk_place){kind, src}, nbytes);
}

bool tmb_mk_map_remote(const struct tmb_mk_access *a, struct tmb_mk_place *far) {
  const uint32_t jobrank = tmb_jobrank(a->tm, a->rank);
  const gex_EP_Index_t ep = tmb_ep_index(a->tm, a->rank);
  if (jobrank == tmb_job.rank) {
    *far = tmb_mk_place_of(ep, a->remote);
    return true;
  }
  if (tmb_mk_remote(a->tm, a->rank))
    return tmb_mk_peer_map(
        &(struct tmb_mk_far){jobrank, ep, a->remote, tmb_mk_device(a->tm->ep->segment)}, &far->kind,
        &far->addr);
  const gex_TM_t host = &tmb_job.ep.pair[ep];
  const intptr_t delta = tmb_segtab_delta_of(host, jobrank);
  if (delta == GEXX_UNMAPPED || !tmb_segtab_maps(host, jobrank, a->remote, a->nbytes)) return false;
  *far = (struct tmb_mk_place){NULL, gexx_rma_local(delta, a->remote)};
  return true;
}
