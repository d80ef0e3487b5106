/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of peers that can be accessed by the provider, see ofi_rma.h.
 *
 * Owns: the regions of each peer, in struct ofi_peer. Called by ofi_rma.c and ofi_receive.c;
 * ofi_segment_freed by core. Calls: ofi_memory.c, ofi_send.c. A rank learns a key when it needs it:
 * the first access to memory that it does not know goes by messages, and the owner is asked
 * meanwhile for the segment around the address. A peer's last few regions are kept. When a segment
 * is destroyed its owner notifies those that have asked. Invariant: at most one question to a peer
 * is in progress, so one answer is enough room.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_rma.h"

#include <string.h>

/* Accesses to memory that cannot be registered, before its owner is asked again. Chosen. */
#define QUIET_ACCESSES 64

static bool holds(const struct ofi_region *r, uint64_t addr, uint64_t bytes) {
  return addr - r->base < r->bytes && bytes <= r->bytes - (addr - r->base);
}

/* Ask a peer for the memory around an address. */
static void ask(struct tmb_net *net, uint32_t peer, struct ofi_peer *p, uint64_t addr) {
  if (p->asking || p->broken) return;
  if (p->quiet) {
    p->quiet--;
    return;
  }
  const struct ofi_region question = {.asked = addr};
  p->asking = ofi_send_own(net, peer, OFI_ASK, &question, sizeof question) == 0;
}

const struct ofi_region *ofi_region_find(struct tmb_net *net, uint32_t peer, uint64_t addr,
                                         uint64_t bytes) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  for (uint32_t i = 0; i < p->regions; i++)
    if (holds(&p->region[i], addr, bytes)) return &p->region[i];
  ask(net, peer, p, addr);
  return NULL;
}

/* Description for a peer of the memory around an address of this rank; bytes 0: it is not
 * registered, and cannot be. */
static struct ofi_region describe(struct tmb_net *net, uint64_t addr) {
  const struct ofi_memory *m = ofi_memory_segment(net, addr);
  struct ofi_region region = {.asked = addr};
  if (!m) return region;
  region.base = m->base;
  region.bytes = m->bytes;
  for (uint32_t r = 0; r < net->rails; r++) {
    if (!m->mr[r]) continue;
    region.key[r] = fi_mr_key(m->mr[r]);
    region.rails |= UINT64_C(1) << r;
  }
  region.from = net->mr_mode & FI_MR_VIRT_ADDR ? m->base : 0;
  return region;
}

static void answer(struct tmb_net *net, uint32_t peer, uint64_t addr) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  p->answer = describe(net, addr);
  p->informed = p->informed || p->answer.bytes;
  p->answer_due = true;
  ofi_send_later(net, peer);
}

static void learn(struct ofi_peer *p, const struct ofi_region *region) {
  p->asking = false;
  if (region->asked == p->needed) p->refused = !region->bytes;
  if (!region->bytes) {
    p->quiet = QUIET_ACCESSES;
    return;
  }
  const uint32_t at = p->regions < OFI_REGIONS ? p->regions++ : p->oldest++ % OFI_REGIONS;
  p->region[at] = *region;
}

const struct ofi_region *ofi_region_need(struct tmb_net *net, uint32_t peer, uint64_t addr,
                                         uint64_t bytes, bool *refused) {
  struct ofi_peer *p = ofi_peer_of(net, peer);
  *refused = false;
  for (uint32_t i = 0; i < p->regions; i++)
    if (holds(&p->region[i], addr, bytes)) return &p->region[i];
  if (p->needed == addr && p->refused) {
    *refused = true;
    return NULL;
  }
  p->needed = addr;
  p->refused = false;
  p->quiet = 0;
  if (peer != net->env.rank) {
    ask(net, peer, p, addr);
    return NULL;
  }
  const struct ofi_region own = describe(net, addr);
  p->informed = p->informed || own.bytes;
  learn(p, &own);
  *refused = p->refused;
  return own.bytes
             ? &p->region[(p->regions == OFI_REGIONS ? p->oldest + OFI_REGIONS : p->regions) - 1]
             : NULL;
}

static void forget(struct ofi_peer *p, const struct ofi_region *freed) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->regions; i++) {
    const struct ofi_region *r = &p->region[i];
    if (r->base + r->bytes <= freed->base || freed->base + freed->bytes <= r->base)
      p->region[kept++] = *r;
  }
  p->regions = kept;
}

void ofi_region_doubt(struct tmb_net *net, uint32_t peer, uint64_t addr) {
  forget(ofi_peer_of(net, peer), &(struct ofi_region){.base = addr, .bytes = 1});
}

void ofi_region_message(struct tmb_net *net, const struct ofi_head *head, const void *payload) {
  struct ofi_region region;
  struct ofi_peer *p = ofi_peer_of(net, head->src);
  if (head->kind != OFI_ASK && head->kind != OFI_REGION && head->kind != OFI_FREED) return;
  memcpy(&region, payload, sizeof region);
  if (region.base + region.bytes < region.base) return;
  switch (head->kind) {
  case OFI_ASK: answer(net, head->src, region.asked); break;
  case OFI_REGION: learn(p, &region); break;
  default: forget(p, &region);
  }
}

/* Notify a peer that memory is freed; several pieces become one that covers them. */
static void report_freed(struct tmb_net *net, uint32_t peer, uint64_t base, uint64_t bytes) {
  struct ofi_peer *p = net->peers.of[peer];
  const uint64_t end = base + bytes;
  if (p->freed.bytes) {
    const uint64_t other = p->freed.base + p->freed.bytes;
    p->freed.base = TMB_MIN(p->freed.base, base);
    p->freed.bytes = TMB_MAX(other, end) - p->freed.base;
  } else {
    p->freed = (struct ofi_region){.base = base, .bytes = bytes};
  }
  ofi_send_later(net, peer);
}

void ofi_segment_freed(struct tmb_net *net, void *base, size_t bytes) {
  tmb_lock_acquire_shared(&net->lock);
  if (ofi_memory_forget(net, base, bytes)) {
    for (uint32_t i = 0; i < net->env.size; i++)
      if (net->peers.of[i] && net->peers.of[i]->informed)
        report_freed(net, i, (uintptr_t)base, bytes);
    (void)ofi_send_rest(net);
  }
  tmb_lock_release(&net->lock);
}
