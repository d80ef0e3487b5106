/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the words of the program's segment, and where the program looks.
 *
 * Owns: tombolo_check_watch, struct chk_near of each part of the program, and what each thread has
 * in place of its runs. Called by segment.c and
 * seen.c, under chk.lock, and by check/client when a part of the program begins or leaves. Calls:
 * order.c. Invariant: address space is reserved, and costs memory where it is used.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EIGHTS 8u /* of a segment whose flags are looked at before each operation */

static void join(struct chk_near *near, int leaves);
__attribute__((visibility("default"))) struct chk_watch tombolo_check_watch = {
    .size = sizeof(struct chk_watch), .layout = CHK_LAYOUT, .join = join};

struct chk_near *chk_nears;

/* ---- the segment */

static size_t seen_bytes(uintptr_t bytes) {
  return sizeof(struct chk_seen) + (bytes / CHK_PAGE_BYTES + 2) * CHK_WORDS_OF_PAGE * 2;
}

static size_t pages_bytes(uintptr_t bytes) {
  return (bytes / CHK_PAGE_BYTES + 2) * sizeof *chk.pages;
}

static void release(void *at, size_t bytes) {
  if (at) munmap(at, bytes);
}

/* Words of a segment of some bytes, with the lines of the words that were before. */
static struct chk_seen *seen_new(const struct chk_seen *before, uintptr_t bytes) {
  struct chk_seen *const s = chk_reserve(seen_bytes(bytes));
  if (s && before) memcpy(s, before, offsetof(struct chk_seen, group));
  return s;
}

struct chk_words *chk_words_new(void) {
  struct chk_words *const w = chk_reserve(sizeof *w);
  for (int kind = 0; w && kind < 2; kind++) w->seen[kind] = seen_new(NULL, chk.own.bytes);
  if (w && w->seen[CHK_LOAD] && w->seen[CHK_STORE]) return w;
  for (int kind = 0; w && kind < 2; kind++) release(w->seen[kind], seen_bytes(chk.own.bytes));
  release(w, sizeof *w);
  return NULL;
}

/* ---- runs of a thread */

/* The runs of a part of the program, once more. */
struct chk_copy {
  struct chk_copy *next;
  const struct chk_near *near;
  intptr_t *delta; /* of the thread, which reads it */
  struct chk_run *runs;
  size_t bytes;
};

bool chk_copy_new(const struct chk_near *near, intptr_t *delta) {
  const size_t count = (size_t)(near->runs_end - near->runs);
  struct chk_copy *const c = malloc(sizeof *c);
  struct chk_run *const runs = c ? chk_reserve(count * sizeof *runs) : NULL;
  if (!runs) {
    free(c);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    runs[i].how = near->runs[i].how;
    runs[i].tries = CHK_RUN_TRIES;
  }
  *delta = (intptr_t)((uintptr_t)runs - (uintptr_t)near->runs);
  *c = (struct chk_copy){chk.self->copies, near, delta, runs, count * sizeof *runs};
  chk.self->copies = c;
  return true;
}

void chk_copies_end(struct chk_thread *t) {
  t->runs = NULL;
  while (t->copies) {
    struct chk_copy *const c = t->copies;
    t->copies = c->next;
    *c->delta = 0;
    release(c->runs, c->bytes);
    free(c);
  }
}

/* The runs of a copy are in no list any more. */
static void unlist(struct chk_run **at, const struct chk_copy *c) {
  while (*at)
    if ((uintptr_t)*at - (uintptr_t)c->runs < c->bytes)
      *at = (*at)->more;
    else
      at = &(*at)->more;
}

/* A part of the program leaves. At the end of the program other threads may still be in it, so that
 * their copies stay where they are. */
static void forget_copies(const struct chk_near *near) {
  struct chk_thread *t;
  for (uint32_t i = 0; (t = chk_thread_at(i)); i++)
    for (struct chk_copy **at = &t->copies, *c; (c = *at);) {
      if (c->near != near) {
        at = &c->next;
        continue;
      }
      *at = c->next;
      unlist(&t->runs, c);
      free(c);
    }
}

/* ---- where the program looks */

/* Equal in all threads, whose variables of modules that are loaded at start lie alike. */
static intptr_t mine_offset(void) {
#if defined __x86_64__ && defined __LP64__
  const char *self;
  __asm__("movq %%fs:0, %0" : "=r"(self));
  return (const char *)&chk_mine - self;
#else
  return 0;
#endif
}

static void near_set(struct chk_near *n, bool leaves) {
  const struct chk_watch *const w = &tombolo_check_watch;
  n->mine = leaves || !chk.each_thread ? 0 : mine_offset();
  __atomic_store_n(&n->others, !leaves && w->others.bytes, __ATOMIC_RELEASE);
  const uintptr_t bytes = leaves ? 0 : w->own.bytes;
  if (n->bytes == bytes) return;
  __atomic_store_n(&n->bytes, 0, __ATOMIC_RELEASE);
  for (int kind = 0; kind < 2 && bytes; kind++)
    __atomic_store_n(&n->word[kind], chk_words.seen[kind]->word, __ATOMIC_RELEASE);
  __atomic_store_n(&n->base, w->own.base, __ATOMIC_RELEASE);
  __atomic_store_n(&n->bytes, bytes, __ATOMIC_RELEASE);
}

void chk_near_all(void) {
  for (struct chk_near *n = chk_nears; n; n = n->next) near_set(n, false);
}

bool chk_files_have(const void *pc) {
  Dl_info info, ours;
  if (!dladdr(pc, &info)) return false;
  for (const struct chk_near *n = chk_nears; n; n = n->next)
    if (dladdr(n, &ours) && ours.dli_fbase == info.dli_fbase) return true;
  return false;
}

static void join(struct chk_near *near, int leaves) {
  chk_guard();
  struct chk_near **at = &chk_nears;
  while (*at && *at != near) at = &(*at)->next;
  if (*at) *at = near->next;
  if (!leaves) {
    near->next = chk_nears;
    chk_nears = near;
  } else {
    forget_copies(near);
  }
  near_set(near, leaves != 0);
  chk_unguard();
}

/* ---- begin and end */

bool chk_own_begin(uintptr_t base, uintptr_t bytes) {
  struct chk_watch *const w = &tombolo_check_watch;
  const uintptr_t most = (uintptr_t)CHK_GROUPS * CHK_PAGES_OF_GROUP * CHK_PAGE_BYTES;
  if (chk.own.bytes || (chk.each_thread && chk_words.seen_bytes)) return false;
  if (base % CHK_PAGE_BYTES || bytes > most) return false;
  struct chk_page **const pages = chk_reserve(pages_bytes(bytes));
  struct chk_seen *seen[2];
  for (int kind = 0; kind < 2; kind++) seen[kind] = seen_new(chk_words.seen[kind], bytes);
  if (!pages || !seen[CHK_LOAD] || !seen[CHK_STORE]) {
    release(pages, pages_bytes(bytes));
    for (int kind = 0; kind < 2; kind++) release(seen[kind], seen_bytes(bytes));
    return false;
  }
  for (int kind = 0; kind < 2; kind++) {
    release(chk_words.seen[kind], chk_words.seen_bytes);
    chk_words.seen[kind] = seen[kind];
  }
  chk_words.seen_bytes = seen_bytes(bytes);
  chk.pages = pages;
  chk.own = (struct chk_extent){base, bytes};
  const uintptr_t eights = bytes / CHK_PAGE_BYTES / CHK_PAGES_OF_GROUP / 8 + 1;
  chk.eights = eights > EIGHTS ? 0 : (uint32_t)eights;
  memcpy(w->seen, chk_words.seen, sizeof chk_words.seen);
  w->own.base = base;
  w->own.bytes = bytes;
  chk_near_all();
  return true;
}

void chk_own_end(void) {
  const uintptr_t bytes = chk.own.bytes;
  tombolo_check_watch.own.bytes = 0;
  chk.own.bytes = 0;
  chk.eights = 0;
  chk_near_all();
  release(chk.pages, pages_bytes(bytes));
  chk.pages = NULL;
  const size_t lines = offsetof(struct chk_seen, group); /* which do not change */
  for (int kind = 0; kind < 2; kind++)
    (void)madvise((char *)chk_words.seen[kind] + lines, chk_words.seen_bytes - lines,
                  MADV_DONTNEED);
}
