/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of the on-node engine: one memory file holds the segments of all ranks of a host, mapped
 * whole by each.
 *
 * Owns: the mapping of segment_fd. Called by core, once. Calls: os/memfd, the
 * bootstrap exchange. One mapping per process whatever the number of ranks; pages cost memory only
 * when touched. Rank r's segment starts at the sum of the sizes of the ranks before it, each in
 * whole pages. Invariants: an address of r plus delta[r] is that byte in this process; nothing is
 * mapped unless every rank can map it.
 */
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "near/near.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A rank's message to the others after it tried to map: the address of its segment, 0 on failure;
 * on failure of any rank of the job, all fail. */
static int exchange(struct tmb_near *near, const char *base, uint64_t *bases) {
  return near->env.share(near->env.ctx, (uint64_t)(uintptr_t)base, bases) ? 0 : TMB_E_LIMIT;
}

/* Returns NULL and `why` if the limits of this rank refuse it. */
static char *map_all(struct tmb_near *near, uint64_t total, char *why, size_t why_bytes) {
  /* Rank 0 sets the size of the file; others may map it before that, because nobody touches it
   * before the exchange of results. */
  if (near->env.index == 0 && tmb_memfd_resize(near->env.segment_fd, total, why, why_bytes))
    return NULL;
  void *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                 near->env.segment_fd, 0);
  if (p == MAP_FAILED) {
    const char *limit = NULL;
    const int err = errno;
    const uint64_t bytes = tmb_os_mem_limit(&limit);
    snprintf(why, why_bytes,
             "%s; the limit here is %s, %llu bytes; attach smaller segments or raise the limit",
             strerror(err), limit, (unsigned long long)bytes);
    return NULL;
  }
  tmb_os_mem_skip_core(p, total);
  if (tmb_cfg_bool(TMB_CFG_USE_HUGEPAGES)) (void)madvise(p, total, MADV_HUGEPAGE);
  return p;
}

/* One rank of the host says why segments were refused: the first that failed, if any. */
static void report_refusal(const struct tmb_near *near, const uint64_t *bases, uint64_t total,
                           const char *why) {
  uint32_t first = 0;
  while (first < near->env.count && bases[first]) first++;
  if (first == near->env.index)
    tmb_print("cannot make segments of %llu bytes in all: %s", (unsigned long long)total, why);
}

/* A segment begins with a page: the host's pages may be larger than the unit of sizes. */
static uint64_t whole_pages(uint64_t bytes) {
  const uint64_t page = tmb_os_page_size();
  return bytes > UINT64_MAX - page ? UINT64_MAX : TMB_ALIGN_UP(bytes, page);
}

int tmb_near_attach(struct tmb_near *near, const uint64_t *sizes, void **base, intptr_t *delta) {
  const uint32_t size = near->env.count;
  uint64_t total = 0;
  uint64_t mine = 0;
  for (uint32_t r = 0; r < size; r++) {
    if (r == near->env.index) mine = total;
    if (__builtin_add_overflow(total, whole_pages(sizes[r]), &total)) total = UINT64_MAX;
  }
  uint64_t *const bases = (uint64_t *)near->delta; /* of the ranks, until the end */
  char why[TMB_MEMFD_WHY_BYTES] = "";
  char *map = map_all(near, total, why, sizeof why);
  const int rc = exchange(near, map ? map + mine : NULL, bases);
  if (rc) {
    report_refusal(near, bases, total, why);
    if (map) munmap(map, total);
    memset(near->delta, 0, size * sizeof *near->delta);
    return rc;
  }
  near->segments = map;
  near->segments_bytes = total;
  const char *here = map;
  for (uint32_t r = 0; r < size; r++) {
    near->delta[r] = (intptr_t)((uintptr_t)here - (uintptr_t)bases[r]);
    here += whole_pages(sizes[r]);
  }
  memcpy(delta, near->delta, size * sizeof *delta);
  *base = map + mine;
  return 0;
}
