/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarray handles: where they live, which are valid.
 *
 * Owns: the range of addresses that handles are taken from. Called by the files of this room, and
 * by all that take a handle. Calls the operating system. Invariants: a handle that was freed, or is
 * none, is found by its address, and by its own address in it. A handle of this range is used
 * again, but late, so that one that was freed is not another soon.
 */
#include "memory/memory.h"

#include <sys/mman.h>

/* Handles at once; by how much the usable part grows; how many freed ones wait. Chosen. */
enum { HANDLES_MAX = 1 << 20, CHUNK_BYTES = 1 << 20, WAIT_COUNT = 256 };
enum { HANDLE_BYTES = sizeof(struct prif_co) };

struct prif_handles prif_handles;
static struct prif_co *oldest, **newest = &oldest; /* freed ones */
static size_t freed;                               /* how many */
static size_t usable;                              /* bytes that may be touched */

/* A handle that was never used; NULL: no memory. */
static struct prif_co *fresh(void) {
  const size_t all = (size_t)HANDLES_MAX * HANDLE_BYTES, end = prif_handles.used + HANDLE_BYTES;
  if (!prif_handles.at) {
    void *const at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    prif_handles.at = at;
  }
  if (end > all) return NULL;
  if (end > usable) {
    const size_t more = all - usable < CHUNK_BYTES ? all - usable : CHUNK_BYTES;
    if (mprotect((char *)prif_handles.at + usable, more, PROT_READ | PROT_WRITE)) return NULL;
    usable += more;
  }
  prif_handles.used = end;
  return prif_handles.at + end / HANDLE_BYTES - 1;
}

static struct prif_co *take_oldest(void) {
  struct prif_co *const co = oldest;
  if (!co) return NULL;
  oldest = co->next;
  if (!oldest) newest = &oldest;
  freed--;
  return co;
}

struct prif_co *prif_handle_new(void) {
  struct prif_co *co = freed > WAIT_COUNT ? take_oldest() : fresh();
  if (!co) co = take_oldest();
  if (co) *co = (struct prif_co){.self = co};
  return co;
}

void prif_handle_free(struct prif_co *co) {
  co->self = NULL;
  co->next = NULL;
  *newest = co;
  newest = &co->next;
  freed++;
}

struct prif_co *prif_coarray_slow(const void *handle, const struct prif_status *to) {
  const char *const name = caf.statement.call;
  const uintptr_t at = (uintptr_t)handle - (uintptr_t)prif_handles.at;
  if (!handle)
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: the coarray handle is null: allocate the coarray, or create the alias, first "
              "[TMB-2216]",
              name);
  else if (at < prif_handles.used && at % HANDLE_BYTES == 0)
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: coarray handle %p: its coarray was deallocated, or the alias destroyed: use a "
              "handle before that only [TMB-2215]",
              name, handle);
  else
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: coarray handle %p is none that this image was given: pass one of "
              "prif_allocate_coarray or prif_alias_create [TMB-2214]",
              name, handle);
  return NULL;
}
