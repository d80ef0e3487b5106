/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debugging heap of the tools API: gasnett_debug_*, heap statistics and dumps.
 *
 * Owns: the ring of all live objects and the statistics, under one lock. Called by clients compiled
 * with -DGASNET_DEBUGMALLOC=1 through tombolo/tools/tools_heap.h. Calls malloc, settings, the fatal
 * path. Layout of an object: header (with a canary as its last field), the client's bytes, a canary
 * of 8 bytes. Invariants: an object is in the ring from allocation to release; its canaries are
 * derived from its address, so a copied header is noticed; freed objects keep the `dead` canary
 * until malloc reuses them, so most double frees are named.
 */
#define GASNETT_THREAD_SAFE 1
#define GASNET_DEBUGMALLOC  1

#include "base/config.h"
#include "base/log.h"
#include "gasnet_tools.h"

#include <errno.h>
#include <pthread.h>

struct object {
  struct object *next, *prev; /* ring; under heap.lock */
  const char *loc;            /* who allocated it; constant string */
  size_t bytes;               /* the client's */
  uint64_t serial;            /* order of allocation, from 1 */
  uint64_t canary; /* LIVE or DEAD mixed with the address; directly before the client's bytes */
};
_Static_assert(sizeof(struct object) % 16 == 0, "clients' bytes are aligned like malloc's");

static const uint64_t LIVE = UINT64_C(0x6c6976652d6f626a);
static const uint64_t DEAD = UINT64_C(0x646561642d6f626a);
enum { TAIL_BYTES = 8, OVERHEAD_BYTES = sizeof(struct object) + TAIL_BYTES };

static struct {
  pthread_mutex_t lock;
  struct object ring;    /* sentinel */
  struct object *cursor; /* next for memcheck_one */
  gasnett_heapstats_t stats;
  uint64_t serial;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .ring = {.next = &heap.ring, .prev = &heap.ring},
          .cursor = &heap.ring};

static void heap_lock(void) {
  pthread_mutex_lock(&heap.lock);
}
static void heap_unlock(void) {
  pthread_mutex_unlock(&heap.lock);
}

static uint64_t head_mark(const struct object *o, uint64_t kind) {
  return kind ^ (uint64_t)(uintptr_t)o;
}

static uint64_t tail_mark(const struct object *o) {
  return ~head_mark(o, LIVE);
}

static void *data_of(struct object *o) {
  return o + 1;
}
static const struct object *object_of(const void *p) {
  return (const struct object *)p - 1;
}

/* Ends the process unless both canaries of an object are whole. The caller may hold the lock. */
static void check(const struct object *o, const char *call, const char *loc) {
  if (o->canary == head_mark(o, DEAD))
    tmb_fatal_nopos("%s at %s: object %p was freed already (allocated at %s)", call, loc,
                    (const void *)(o + 1), o->loc);
  if (o->canary != head_mark(o, LIVE))
    tmb_fatal_nopos(
        "%s at %s: %p is not an object of this heap, or the bytes before it were overwritten", call,
        loc, (const void *)(o + 1));
  uint64_t tail;
  memcpy(&tail, (const char *)(o + 1) + o->bytes, sizeof tail);
  if (tail != tail_mark(o))
    tmb_fatal_nopos(
        "%s at %s: the bytes after object %p of %zu bytes, allocated at %s, were overwritten", call,
        loc, (const void *)(o + 1), o->bytes, o->loc);
}

/* Byte to fill memory with, -1: none. GASNET_MALLOC_<which> switches it on, ..VAL is the byte. */
static int fill_byte(const char *name, const char *value_name) {
  if (!tmb_env_bool(name, false)) return -1;
  const char *const text = tmb_env_get(value_name);
  if (!text || strcmp(text, "NAN") == 0 || strcmp(text, "nan") == 0) return 0xff;
  return (int)(gasnett_parse_int(text, 0) & 0xff);
}

static struct {
  pthread_once_t once;
  int init, clobber; /* fill bytes, -1: none */
  bool leak_all;     /* never release */
} options = {.once = PTHREAD_ONCE_INIT, .init = -1, .clobber = -1};

static void read_options(void) {
  options.init = fill_byte("GASNET_MALLOC_INIT", "GASNET_MALLOC_INITVAL");
  options.clobber = fill_byte("GASNET_MALLOC_CLOBBER", "GASNET_MALLOC_CLOBBERVAL");
  options.leak_all = tmb_env_bool("GASNET_MALLOC_LEAKALL", false);
}

/* Counts and links a fresh object. */
static void adopt(struct object *o) {
  gasnett_heapstats_t *const s = &heap.stats;
  heap_lock();
  o->serial = ++heap.serial;
  o->next = &heap.ring;
  o->prev = heap.ring.prev;
  o->prev->next = o;
  heap.ring.prev = o;
  s->allocated_bytes += o->bytes;
  s->allocated_objects++;
  s->live_bytes += o->bytes;
  s->live_objects++;
  if (s->live_bytes > s->live_bytes_max) s->live_bytes_max = s->live_bytes;
  if (s->live_objects > s->live_objects_max) s->live_objects_max = s->live_objects;
  s->overhead_bytes += OVERHEAD_BYTES;
  heap_unlock();
}

/* Checks and unlinks an object, marks it dead. */
static void retire(struct object *o, const char *call, const char *loc) {
  gasnett_heapstats_t *const s = &heap.stats;
  heap_lock();
  check(o, call, loc);
  if (heap.cursor == o) heap.cursor = o->next;
  o->prev->next = o->next;
  o->next->prev = o->prev;
  s->freed_bytes += o->bytes;
  s->freed_objects++;
  s->live_bytes -= o->bytes;
  s->live_objects--;
  s->overhead_bytes -= OVERHEAD_BYTES;
  o->canary = head_mark(o, DEAD);
  heap_unlock();
}

void *gexx_heap_malloc(size_t bytes, const char *loc) {
  pthread_once(&options.once, read_options);
  struct object *const o =
      bytes <= SIZE_MAX - OVERHEAD_BYTES ? malloc(bytes + OVERHEAD_BYTES) : NULL;
  if (!o) tmb_fatal_nopos("gasnett_debug_malloc(%zu) at %s: out of memory", bytes, loc);
  o->loc = loc;
  o->bytes = bytes;
  o->canary = head_mark(o, LIVE);
  if (options.init >= 0) memset(data_of(o), options.init, bytes);
  const uint64_t tail = tail_mark(o);
  memcpy((char *)data_of(o) + bytes, &tail, sizeof tail);
  adopt(o);
  return data_of(o);
}

void *gexx_heap_calloc(size_t count, size_t bytes, const char *loc) {
  if (bytes != 0 && count > SIZE_MAX / bytes)
    tmb_fatal_nopos("gasnett_debug_calloc(%zu, %zu) at %s: out of memory", count, bytes, loc);
  void *const p = gexx_heap_malloc(count * bytes, loc);
  memset(p, 0, count * bytes);
  return p;
}

void gexx_heap_free(void *p, const char *loc) {
  if (!p) return;
  struct object *const o = (struct object *)p - 1;
  retire(o, "gasnett_debug_free", loc);
  if (options.clobber >= 0) memset(p, options.clobber, o->bytes);
  if (!options.leak_all) free(o);
}

void *gexx_heap_realloc(void *p, size_t bytes, const char *loc) {
  if (!p) return gexx_heap_malloc(bytes, loc);
  check(object_of(p), "gasnett_debug_realloc", loc);
  void *const q = gexx_heap_malloc(bytes, loc);
  const size_t old = object_of(p)->bytes;
  memcpy(q, p, old < bytes ? old : bytes);
  gexx_heap_free(p, loc);
  return q;
}

char *gexx_heap_strndup(const char *s, size_t n, const char *loc) {
  const size_t len = strnlen(s, n);
  char *const copy = gexx_heap_malloc(len + 1, loc);
  memcpy(copy, s, len);
  copy[len] = '\0';
  return copy;
}

char *gexx_heap_strdup(const char *s, const char *loc) {
  return gexx_heap_strndup(s, strlen(s), loc);
}

void gexx_heap_memcheck(const void *p, const char *loc) {
  if (!p) tmb_fatal_nopos("gasnett_debug_memcheck(NULL) at %s: not an object", loc);
  check(object_of(p), "gasnett_debug_memcheck", loc);
}

void gexx_heap_memcheck_one(const char *loc) {
  heap_lock();
  if (heap.cursor == &heap.ring) heap.cursor = heap.ring.next;
  if (heap.cursor != &heap.ring) {
    check(heap.cursor, "gasnett_debug_memcheck_one", loc);
    heap.cursor = heap.cursor->next;
  }
  heap_unlock();
}

void gexx_heap_memcheck_all(const char *loc) {
  heap_lock();
  for (const struct object *o = heap.ring.next; o != &heap.ring; o = o->next)
    check(o, "gasnett_debug_memcheck_all", loc);
  heap_unlock();
}

int gasnett_getheapstats(gasnett_heapstats_t *stats) {
  heap_lock();
  *stats = heap.stats;
  heap_unlock();
  return 0;
}

/* Opens the dump's file; "-" and "stdout" are stdout, "stderr" is stderr. */
static FILE *dump_open(const char *filename) {
  if (strcmp(filename, "-") == 0 || strcmp(filename, "stdout") == 0) return stdout;
  if (strcmp(filename, "stderr") == 0) return stderr;
  FILE *const out = fopen(filename, "a");
  if (!out) tmb_warn("gasnett_heapinfo_dump: cannot write %s: %s", filename, strerror(errno));
  return out;
}

void gasnett_heapinfo_dump(const char *filename, int show_live_objects) {
  FILE *const out = dump_open(filename);
  if (!out) return;
  heap_lock();
  const gasnett_heapstats_t s = heap.stats;
  fprintf(out,
          "heap: allocated %" PRIu64 " bytes in %" PRIu64 " objects, freed %" PRIu64 " in %" PRIu64
          "\n",
          s.allocated_bytes, s.allocated_objects, s.freed_bytes, s.freed_objects);
  fprintf(out,
          "heap: live %" PRIu64 " bytes in %" PRIu64 " objects, at most %" PRIu64 " in %" PRIu64
          ", overhead %" PRIu64 " bytes\n",
          s.live_bytes, s.live_objects, s.live_bytes_max, s.live_objects_max, s.overhead_bytes);
  if (show_live_objects)
    for (const struct object *o = heap.ring.next; o != &heap.ring; o = o->next)
      fprintf(out, "heap: object %" PRIu64 " at %p: %zu bytes, from %s\n", o->serial,
              (const void *)(o + 1), o->bytes, o->loc);
  heap_unlock();
  if (out == stdout || out == stderr)
    fflush(out);
  else if (fclose(out) != 0)
    tmb_warn("gasnett_heapinfo_dump: writing %s failed: %s", filename, strerror(errno));
}

/* --- the public names as functions, for other languages --- */

#undef gasnett_debug_malloc
#undef gasnett_debug_calloc
#undef gasnett_debug_realloc
#undef gasnett_debug_free
#undef gasnett_debug_strdup
#undef gasnett_debug_strndup
#undef gasnett_debug_memcheck
#undef gasnett_debug_memcheck_one
#undef gasnett_debug_memcheck_all

static const char elsewhere[] = "(unknown)";

GEXX_API void *gasnett_debug_malloc(size_t bytes) {
  return gexx_heap_malloc(bytes, elsewhere);
}
GEXX_API void *gasnett_debug_calloc(size_t count, size_t bytes) {
  return gexx_heap_calloc(count, bytes, elsewhere);
}
GEXX_API void *gasnett_debug_realloc(void *p, size_t bytes) {
  return gexx_heap_realloc(p, bytes, elsewhere);
}
GEXX_API void gasnett_debug_free(void *p) {
  gexx_heap_free(p, elsewhere);
}
GEXX_API char *gasnett_debug_strdup(const char *s) {
  return gexx_heap_strdup(s, elsewhere);
}
GEXX_API char *gasnett_debug_strndup(const char *s, size_t n) {
  return gexx_heap_strndup(s, n, elsewhere);
}
GEXX_API void gasnett_debug_memcheck(const void *p) {
  gexx_heap_memcheck(p, elsewhere);
}
GEXX_API void gasnett_debug_memcheck_one(void) {
  gexx_heap_memcheck_one(elsewhere);
}
GEXX_API void gasnett_debug_memcheck_all(void) {
  gexx_heap_memcheck_all(elsewhere);
}
