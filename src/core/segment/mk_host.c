/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind of memory that a host has: GEX_MK_HOST.
 *
 * Owns: the table of functions of that kind. Called by mk.c and segment_create.c through it. Calls:
 * os memory mapping. Memory that the library allocates is shared with the neighbourhood, which maps
 * it when it is published; memory of the client is private to the process, and peers reach it by
 * messages. Invariant: memory of the client is never touched.
 */
#include "core/check.h"
#include "core/segment/mk.h"
#include "core/segment/segment.h"
#include "os/memory/memfd_peer.h"

#include <sys/mman.h>

/* Memory that peers can map, if there are peers and the system allows it. */
static void *alloc_shared(struct gexx_segment_s *s) {
  int fd;
  void *p = tmb_job.nbrhd.size > 1 ? tmb_memfd_map_new(s->size, &fd) : NULL;
  if (p) s->share = fd + 1;
  return p;
}

static int host_alloc(struct gexx_segment_s *s) {
  s->size = TMB_ALIGN_UP(s->size, (uintptr_t)GASNET_PAGESIZE);
  s->base = alloc_shared(s);
  if (s->base) return GASNET_OK;
  /* shared, as the attached segment is: clients map their pages a second time (OpenSHMEM) */
  void *p = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (p == MAP_FAILED) return GASNET_ERR_RESOURCE;
  s->base = p;
  return GASNET_OK;
}

static void host_free(struct gexx_segment_s *s) {
  if (s->share)
    tmb_memfd_unmap_local(s->base, s->size, s->share - 1);
  else
    munmap(s->base, s->size);
}

static int host_import(struct gexx_segment_s *s) {
  return (uintptr_t)s->base + s->size < s->size ? GASNET_ERR_BAD_ARG : GASNET_OK;
}

const struct tmb_mk_ops tmb_mk_host = {.name = "host",
                                       .host_memory = true,
                                       .alloc = host_alloc,
                                       .free = host_free,
                                       .import = host_import};
