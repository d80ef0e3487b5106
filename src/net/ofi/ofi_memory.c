/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of this rank that the provider knows, see ofi_rma.h.
 *
 * Owns: the list net->memory.list. Called by ofi_region.c and ofi_rma.c. Calls: libfabric by its
 * table, env->up->segment. Segments are registered whole, when the first peer asks for one, or the
 * first access of this rank uses one, and stay so. Other buffers are registered for as long as an
 * access uses them: nobody says when a client frees or maps them anew, and providers that pin
 * memory have a cache that notices. So is memory that a peer writes, for as long as the operation
 * for which it is exposed. Invariants: the lock is held; at most MEMORIES_MAX buffers are
 * registered at once; a provider that does not ask for local registration sees segments only;
 * memory of devices is registered on the first rail only.
 */
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "net/ofi/ofi_rma.h"

#include <stdlib.h>

/* Pieces of memory that are registered at a time: chosen. A page: fixed, the smallest
 * one. */
#define MEMORIES_MAX 128
#define PAGE_BYTES   ((uintptr_t)4096)

struct range {
  uintptr_t base;
  size_t bytes;
  struct tmb_net_memory memory;
};

/* libfabric's name for the memory of a device. */
static enum fi_hmem_iface interface_of(const struct tmb_net_memory *memory) {
  switch (memory->interface) {
  case TMB_NET_MEMORY_CUDA: return FI_HMEM_CUDA;
  case TMB_NET_MEMORY_ROCR: return FI_HMEM_ROCR;
  case TMB_NET_MEMORY_ZE: return FI_HMEM_ZE;
  default: return FI_HMEM_SYSTEM;
  }
}

static int register_range(struct tmb_net *net, const struct ofi_rail *rail, const struct range *r,
                          uint64_t access, struct fid_mr **mr) {
  const struct iovec range = {(void *)r->base, r->bytes};
  const struct fi_mr_attr attr = {.mr_iov = &range,
                                  .iov_count = 1,
                                  .access = access,
                                  .requested_key = ++net->memory.next_key,
                                  .iface = interface_of(&r->memory),
                                  .device.reserved = r->memory.number};
  int rc = net->calls->mr_reg(rail->domain, &attr, mr);
  if (rc || !(net->mr_mode & FI_MR_ENDPOINT)) return rc;
  rc = net->calls->mr_enable(*mr, rail->ep);
  if (rc) (void)net->calls->close(&(*mr)->fid);
  if (rc) *mr = NULL;
  return rc;
}

/* Enter registered memory into the list, or NULL. */
static struct ofi_memory *enter(struct tmb_net *net, const struct range *r, bool lasting) {
  const uint64_t local = FI_READ | FI_WRITE | FI_SEND | FI_RECV;
  struct ofi_memory *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  *m = (struct ofi_memory){.base = r->base, .bytes = r->bytes, .lasting = lasting};
  const uint64_t access = lasting ? local | FI_REMOTE_READ | FI_REMOTE_WRITE : local;
  if (register_range(net, &net->rail[0], r, access, &m->mr[0])) {
    free(m);
    return NULL;
  }
  for (uint32_t i = 1; i < net->rails && interface_of(&r->memory) == FI_HMEM_SYSTEM; i++)
    if (net->rail[i].ep && register_range(net, &net->rail[i], r, access, &m->mr[i]))
      m->mr[i] = NULL;
  TMB_LIST_PUSH(&net->memory.list, m);
  return m;
}

/* The entry that holds a range for accesses of this rank, or NULL. out count: of the buffers in the
 * list. */
static struct ofi_memory *find(struct tmb_net *net, uintptr_t at, size_t bytes, bool lasting,
                               uint32_t *count) {
  *count = 0;
  for (struct ofi_memory *m = net->memory.list; m; m = m->next) {
    if (m->exposed) continue;
    if (at - m->base < m->bytes && bytes <= m->bytes - (at - m->base) && (m->lasting || !lasting))
      return m;
    if (!m->lasting) ++*count;
  }
  return NULL;
}

/* The segment that holds an address; of a device only if the provider reaches devices. */
static bool segment_at(struct tmb_net *net, const void *addr, struct range *r) {
  void *base;
  *r = (struct range){0};
  if (!net->env.up->segment(addr, &base, &r->bytes, net->hmem ? &r->memory : NULL)) return false;
  r->base = (uintptr_t)base;
  return true;
}

struct ofi_memory *ofi_memory_segment(struct tmb_net *net, uint64_t addr) {
  uint32_t count;
  struct range r;
  struct ofi_memory *m = find(net, (uintptr_t)addr, 1, true, &count);
  if (m || !segment_at(net, (void *)(uintptr_t)addr, &r)) return m;
  return enter(net, &r, true);
}

struct ofi_memory *ofi_memory_use(struct tmb_net *net, const void *addr, size_t bytes) {
  const uintptr_t at = (uintptr_t)addr;
  uint32_t count;
  struct range r;
  struct ofi_memory *m = find(net, at, bytes, false, &count);
  if (!m && segment_at(net, addr, &r) && at + bytes <= r.base + r.bytes) {
    m = enter(net, &r, true);
  } else if (!m && count < MEMORIES_MAX) {
    const uintptr_t first = TMB_ALIGN_DOWN(at, PAGE_BYTES);
    r = (struct range){.base = first, .bytes = TMB_ALIGN_UP(at + bytes, PAGE_BYTES) - first};
    m = enter(net, &r, false);
  }
  if (m) m->users++;
  return m;
}

static void drop(struct tmb_net *net, struct ofi_memory *memory) {
  (void)TMB_LIST_REMOVE(&net->memory.list, memory);
  for (uint32_t r = 0; r < net->rails; r++)
    if (memory->mr[r]) (void)net->calls->close(&memory->mr[r]->fid);
  free(memory);
}

void ofi_memory_unuse(struct tmb_net *net, struct ofi_memory *memory) {
  if (memory && --memory->users == 0 && !memory->lasting) drop(net, memory);
}

struct ofi_memory *ofi_memory_expose(struct tmb_net *net, void *base, size_t bytes) {
  const struct range r = {.base = (uintptr_t)base, .bytes = bytes};
  struct ofi_memory *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  *m = (struct ofi_memory){.base = r.base, .bytes = bytes, .exposed = true};
  if (register_range(net, &net->rail[0], &r, FI_REMOTE_WRITE, &m->mr[0])) {
    free(m);
    return NULL;
  }
  TMB_LIST_PUSH(&net->memory.list, m);
  return m;
}

void ofi_memory_conceal(struct tmb_net *net, uint64_t key) {
  struct ofi_memory *m = net->memory.list;
  while (m && !(m->exposed && fi_mr_key(m->mr[0]) == key)) m = m->next;
  if (m) drop(net, m);
}

bool ofi_memory_forget(struct tmb_net *net, const void *base, size_t bytes) {
  const uintptr_t at = (uintptr_t)base;
  bool found = false;
  for (struct ofi_memory *m = net->memory.list, *next; m; m = next) {
    next = m->next;
    if (!m->lasting || m->base + m->bytes <= at || at + bytes <= m->base) continue;
    found = true;
    m->lasting = false;
    if (!m->users) drop(net, m);
  }
  return found;
}

int ofi_memory_pool(struct tmb_net *net, struct ofi_pool *pool) {
  if (!(net->mr_mode & FI_MR_LOCAL) || !pool->count) return 0;
  const struct range r = {.base = (uintptr_t)pool->memory, .bytes = pool->count * pool->stride};
  const int rc = register_range(net, &net->rail[0], &r, FI_SEND | FI_RECV, &pool->mr);
  if (rc == 0) pool->desc = fi_mr_desc(pool->mr);
  return rc;
}

void ofi_memory_close(struct tmb_net *net) {
  while (net->memory.list) drop(net, net->memory.list);
}
