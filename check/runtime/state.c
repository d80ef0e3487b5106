/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the checker in a rank, the records of accesses in the area, and the memory for the
 * words of the program's segment.
 *
 * Owns: struct chk, struct chk_words, tombolo_check_watch, the library's functions. Used by every
 * file of this folder. Calls nothing. Invariants: start.c fills them in; a record is used for
 * another access once its turn comes again.
 */
#include "check/runtime/chk.h"

#include <string.h>
#include <sys/mman.h>

struct chk chk = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct chk_real chk_real;
_Thread_local bool chk_within;
struct chk_words chk_words;
static void join(struct chk_near *near, int leaves);
__attribute__((visibility("default"))) struct chk_watch tombolo_check_watch = {
    .size = sizeof(struct chk_watch), .join = join};

static uint16_t outside[2] = {CHK_WHOLE, CHK_WHOLE}; /* while no segment has words */
static struct chk_near *nears;                       /* guarded by chk.lock */

struct chk_access *chk_access_at(uint64_t number) {
  if (!number) return NULL;
  struct chk_access *all = chk_at(chk.area, chk.area->where_access);
  struct chk_access *const a = &all[number & (CHK_ACCESSES - 1)];
  return __atomic_load_n(&a->number, __ATOMIC_ACQUIRE) == number ? a : NULL;
}

bool chk_ordered(const struct chk_access *a) {
  if (a->accept != CHK_OPEN && chk.clock[a->accept_rank] >= a->accept) return true;
  if (a->rank == chk.rank && chk.in_order && !(a->flags & CHK_LOCAL)) return true;
  if (a->done == CHK_OPEN) return false;
  return a->rank == chk.rank || chk.clock[a->rank] >= a->done;
}

/* ---- the segment */

static size_t seen_bytes(uintptr_t bytes) {
  return sizeof(struct chk_seen) + (bytes / CHK_PAGE_BYTES + 2) * CHK_WORDS_OF_PAGE * 2;
}

/* Offset of the words of memory outside, behind those of the segment. */
static uintptr_t outside_of(uintptr_t bytes) {
  return bytes ? (bytes / CHK_PAGE_BYTES + 1) * CHK_PAGE_BYTES : 0;
}

static size_t pages_bytes(uintptr_t bytes) {
  return (bytes / CHK_PAGE_BYTES + 1) * sizeof *chk_words.pages;
}

/* Address space that costs memory only where it is written; NULL: there is none. */
static void *reserve(size_t bytes) {
  void *const at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void unmap(uintptr_t bytes) {
  for (int kind = 0; kind < 2; kind++) {
    if (chk_words.seen[kind]) munmap(chk_words.seen[kind], seen_bytes(bytes));
    chk_words.seen[kind] = NULL;
  }
  if (chk_words.pages) munmap(chk_words.pages, pages_bytes(bytes));
  chk_words.pages = NULL;
}

/* ---- where the program looks */

/* A thread that looks meanwhile finds a word, of other memory at worst. */
static void near_set(struct chk_near *n, uintptr_t bytes) {
  __atomic_store_n(&n->bytes, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&n->outside, 0, __ATOMIC_RELEASE);
  for (int kind = 0; kind < 2; kind++)
    __atomic_store_n(&n->word[kind], bytes ? chk_words.seen[kind]->word : outside,
                     __ATOMIC_RELEASE);
  __atomic_store_n(&n->outside, outside_of(bytes), __ATOMIC_RELEASE);
  __atomic_store_n(&n->base, chk.own.base, __ATOMIC_RELEASE);
  __atomic_store_n(&n->bytes, bytes ? tombolo_check_watch.own.bytes : 0, __ATOMIC_RELEASE);
}

void chk_near_own(void) {
  for (struct chk_near *n = nears; n; n = n->next) near_set(n, chk.own.bytes);
}

void chk_near_others(void) {
  const uint16_t is = tombolo_check_watch.others.bytes ? 1 : CHK_WHOLE;
  const uintptr_t index = outside_of(chk.own.bytes) / CHK_GRANULE;
  for (uintptr_t i = 0; i < 2; i++) {
    outside[i] = is;
    for (int kind = 0; kind < 2 && chk.own.bytes; kind++)
      chk_words.seen[kind]->word[index + i] = is;
  }
}

static void join(struct chk_near *near, int leaves) {
  pthread_mutex_lock(&chk.lock);
  struct chk_near **at = &nears;
  while (*at && *at != near) at = &(*at)->next;
  if (*at) *at = near->next;
  if (!leaves) {
    near->next = nears;
    nears = near;
  }
  near_set(near, leaves ? 0 : chk.own.bytes);
  pthread_mutex_unlock(&chk.lock);
}

/* ---- begin and end */

bool chk_own_begin(uintptr_t base, uintptr_t bytes) {
  struct chk_watch *const w = &tombolo_check_watch;
  const uintptr_t most = (uintptr_t)CHK_GROUPS * CHK_PAGES_OF_GROUP * CHK_PAGE_BYTES;
  if (chk.own.bytes || base % CHK_PAGE_BYTES || bytes > most) return false;
  chk_words.seen[CHK_LOAD] = reserve(seen_bytes(bytes));
  chk_words.seen[CHK_STORE] = reserve(seen_bytes(bytes));
  chk_words.pages = reserve(pages_bytes(bytes));
  if (!chk_words.seen[CHK_LOAD] || !chk_words.seen[CHK_STORE] || !chk_words.pages) {
    unmap(bytes);
    return false;
  }
  memset(chk_words.lines, 0, sizeof chk_words.lines);
  chk_words.blocks[CHK_LOAD] = chk_words.blocks[CHK_STORE] = 0;
  chk.own = (struct chk_extent){base, bytes};
  memcpy(w->seen, chk_words.seen, sizeof chk_words.seen);
  w->own.base = base;
  w->own.bytes = bytes;
  chk_near_others();
  chk_near_own();
  return true;
}

void chk_own_end(void) {
  const uintptr_t bytes = chk.own.bytes;
  tombolo_check_watch.own.bytes = 0;
  chk.own.bytes = 0;
  chk_near_own();
  unmap(bytes);
}
