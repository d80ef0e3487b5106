/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up and memory by the names of OpenSHMEM 1.0 to 1.1, and the cache routines of 1.0 to 1.2.
 *
 * Owns nothing. Called by older programs. Calls: the routines in their place. Invariant: caches are
 * coherent, so that those routines have nothing to do.
 */
#include "../sh.h"

void pshmem_init(void);
void *pshmem_malloc(size_t size);
void *pshmem_realloc(void *ptr, size_t size);
void *pshmem_align(size_t alignment, size_t size);
void pshmem_free(void *ptr);

SH_EXPORT void start_pes(int npes) {
  (void)npes;
  if (!sh.joined) pshmem_init();
}

SH_EXPORT int _my_pe(void) {
  return (int)sh.pe;
}

SH_EXPORT int _num_pes(void) {
  return (int)sh.size;
}

SH_EXPORT int num_pes(void) {
  return (int)sh.size;
}

SH_EXPORT void *shmalloc(size_t size) {
  return pshmem_malloc(size);
}

SH_EXPORT void *shrealloc(void *ptr, size_t size) {
  return pshmem_realloc(ptr, size);
}

SH_EXPORT void *shmemalign(size_t alignment, size_t size) {
  return pshmem_align(alignment, size);
}

SH_EXPORT void shfree(void *ptr) {
  pshmem_free(ptr);
}

SH_DEF(int, finalized, (void)) {
  return sh.joined && sh.inits == 0;
}

SH_DEF(void, set_cache_inv, (void)) {}
SH_DEF(void, clear_cache_inv, (void)) {}
SH_DEF(void, udcflush, (void)) {}
SH_DEF(void, set_cache_line_inv, (void *dest)) {
  (void)dest;
}
SH_DEF(void, clear_cache_line_inv, (void *dest)) {
  (void)dest;
}
SH_DEF(void, udcflush_line, (void *dest)) {
  (void)dest;
}
