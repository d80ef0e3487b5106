/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_heap.h: debugging heap (API reference 09, section 15).
 *
 * Owns gasnett_debug_*, gasnett_getheapstats and gasnett_heapinfo_dump, which every client gets. In
 * one compiled with -DGASNET_DEBUGMALLOC=1 they are src/api/tools_heap.c, which guards each object
 * with canaries and keeps a list of all; in any other they are the C library's heap, checks do
 * nothing and there are no statistics. Included by gasnet_tools.h in every mode. With
 * GASNETT_MALLOC_USE_SRCPOS=1 the source position of each allocation is recorded and shown in
 * reports and dumps; otherwise the function's name alone. Invariant: an object from these functions
 * is released by them in source files that agree on GASNET_DEBUGMALLOC; plain malloc and free know
 * nothing of it.
 */
#ifndef GEXX_TOOLS_HEAP_H
#define GEXX_TOOLS_HEAP_H

#include "tools_annotations.h"

/* Page gasnett_debug_malloc: GASNet-Tools: a heap that finds errors.
 * With -DGASNET_DEBUGMALLOC=1 each object has guards around it and a place in a list. Otherwise
 * the calls are those of the C library, and checks do nothing.
 * [in] bytes: bytes of the object, or of each of count.
 * [in] count: number of objects.
 * [in] p: an object of this heap, or NULL.
 * [in] s: a string.
 * [in] n: most characters.
 * [out] stats: where the statistics go.
 * [in] filename: file that is written; "-" is standard output.
 * [in] show_live_objects: 1: a line for each object that lives.
 * Names: gasnett_heapstats_t: statistics of the heap;
 * GASNETT_MALLOC_USE_SRCPOS: the program may define it as 1: reports name the source line of an
 * allocation;
 * gasnett_debug_malloc: as malloc;
 * gasnett_debug_calloc: as calloc;
 * gasnett_debug_realloc: as realloc;
 * gasnett_debug_free: as free;
 * gasnett_debug_strdup: as strdup;
 * gasnett_debug_strndup: as strndup;
 * gasnett_debug_memcheck: checks one object;
 * gasnett_debug_memcheck_one: checks one object of all in turn;
 * gasnett_debug_memcheck_all: checks all objects;
 * gasnett_getheapstats: writes the statistics, returns 0, or non-zero without the debugging heap;
 * gasnett_heapinfo_dump: writes statistics to a file
 * Completion: the calls return when they are done.
 * Threads: any thread, any context but a signal handler.
 * Errors: with the debugging heap a damaged or unknown object ends the process with a message that
 * names where it was allocated and freed. Without memory the calls return NULL, with the debugging
 * heap they end the process.
 * Cost: with the debugging heap some dozens of nanoseconds and bytes for each object.
 * See: gasnett_config */

typedef struct {
  uint64_t allocated_bytes, freed_bytes, live_bytes, live_bytes_max;         /* clients' bytes */
  uint64_t allocated_objects, freed_objects, live_objects, live_objects_max; /* counts */
  uint64_t overhead_bytes; /* of headers and canaries of live objects */
} gasnett_heapstats_t;

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* in loc: constant string, "file:line" or a function's name; kept. The checks are fatal and name
 * both locations. */
GEXX_API void *gexx_heap_malloc(size_t bytes, const char *loc);
GEXX_API void *gexx_heap_calloc(size_t count, size_t bytes, const char *loc);
GEXX_API void *gexx_heap_realloc(void *p, size_t bytes, const char *loc);
GEXX_API void gexx_heap_free(void *p, const char *loc);
GEXX_API char *gexx_heap_strdup(const char *s, const char *loc);
GEXX_API char *gexx_heap_strndup(const char *s, size_t n, const char *loc);
GEXX_API void gexx_heap_memcheck(const void *p, const char *loc);
GEXX_API void gexx_heap_memcheck_one(const char *loc);
GEXX_API void gexx_heap_memcheck_all(const char *loc);
GEXX_API int gasnett_getheapstats(gasnett_heapstats_t *stats);
/* Write statistics and, if show_live_objects, one line for each live object; "-": stdout. */
GEXX_API void gasnett_heapinfo_dump(const char *filename, int show_live_objects);

/* The functions below without a debugging heap. */
static __inline__ char *gexx_heap_plain_strndup(const char *s, size_t n)
    __attribute__((__unused__));
static __inline__ char *gexx_heap_plain_strndup(const char *s, size_t n) {
  size_t len = 0;
  char *copy;
  while (len < n && s[len]) len++;
  copy = (char *)malloc(len + 1);
  if (!copy) return NULL;
  memcpy(copy, s, len);
  copy[len] = '\0';
  return copy;
}
static __inline__ int gexx_heap_plain_stats(gasnett_heapstats_t *stats) __attribute__((__unused__));
static __inline__ int gexx_heap_plain_stats(gasnett_heapstats_t *stats) {
  memset(stats, 0, sizeof *stats);
  return 1;
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#if defined(GASNET_DEBUGMALLOC) && (GASNET_DEBUGMALLOC + 0)

# if defined(GASNETT_MALLOC_USE_SRCPOS) && (GASNETT_MALLOC_USE_SRCPOS + 0)
#  define GEXX_HEAP_LOC __FILE__ ":" GEXX_PLATFORM_STR(__LINE__)
# else
#  define GEXX_HEAP_LOC GASNETT_CURRENT_FUNCTION
# endif

# define gasnett_debug_malloc(bytes)        gexx_heap_malloc((bytes), GEXX_HEAP_LOC)
# define gasnett_debug_calloc(count, bytes) gexx_heap_calloc((count), (bytes), GEXX_HEAP_LOC)
# define gasnett_debug_realloc(p, bytes)    gexx_heap_realloc((p), (bytes), GEXX_HEAP_LOC)
# define gasnett_debug_free(p)              gexx_heap_free((p), GEXX_HEAP_LOC)
# define gasnett_debug_strdup(s)            gexx_heap_strdup((s), GEXX_HEAP_LOC)
# define gasnett_debug_strndup(s, n)        gexx_heap_strndup((s), (n), GEXX_HEAP_LOC)
# define gasnett_debug_memcheck(p)          gexx_heap_memcheck((p), GEXX_HEAP_LOC)
# define gasnett_debug_memcheck_one()       gexx_heap_memcheck_one(GEXX_HEAP_LOC)
# define gasnett_debug_memcheck_all()       gexx_heap_memcheck_all(GEXX_HEAP_LOC)

#else

# define gasnett_debug_malloc(bytes)                malloc(bytes)
# define gasnett_debug_calloc(count, bytes)         calloc((count), (bytes))
# define gasnett_debug_realloc(p, bytes)            realloc((p), (bytes))
# define gasnett_debug_free(p)                      free(p)
# define gasnett_debug_strdup(s)                    gexx_heap_plain_strndup((s), SIZE_MAX)
# define gasnett_debug_strndup(s, n)                gexx_heap_plain_strndup((s), (n))
# define gasnett_debug_memcheck(p)                  ((void)(p))
# define gasnett_debug_memcheck_one()               ((void)0)
# define gasnett_debug_memcheck_all()               ((void)0)
# define gasnett_getheapstats(stats)                gexx_heap_plain_stats(stats)
# define gasnett_heapinfo_dump(filename, show_live) ((void)(filename), (void)(show_live))

#endif

#endif
