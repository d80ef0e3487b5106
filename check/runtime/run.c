/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the program that load and store, and their runs.
 *
 * Owns: each thread's lines, and the list of the threads that have runs. Called by local.c, and by
 * chk_enter before anything that orders. Calls: access.c, shadow.c, segment.c. A line that makes
 * some accesses in order begins a run: the client (check/client) makes it longer without a call of
 * the checker. It is entered as one range when the line leaves it, or before the next
 * synchronisation or transfer of any thread of this rank. Invariants: a run begins, and is entered,
 * under chk.lock, so it has the clock of its accesses; only its length changes without the lock, by
 * its own thread. What a thread has done before it synchronised with another one, in any way, is in
 * the length that the other one reads.
 */
#include "check/runtime/chk.h"

#define LONG 256u /* bytes of a run after which the next one begins sooner */

enum { NEW, LISTED, ENDED };

struct thread {
  struct chk_line *line; /* chk_thread_lines of the thread */
  struct thread *next;
  int state;
  uint32_t runs;
  uint16_t run[CHK_LINES]; /* lines that have a run, oldest first */
};

_Thread_local CHK_FAST struct chk_line chk_thread_lines[CHK_LINES];
static _Thread_local CHK_FAST struct thread mine;
static struct thread *threads; /* listed; guarded by chk.lock */

static const char *const names[] = {[CHK_LOAD] = "load", [CHK_STORE] = "store"};

uint32_t chk_site_of(int kind, const void *pc) {
  return chk_site(names[kind], pc);
}

/* ---- runs */

/* Enter a run in the shadow; the line has none then. */
static void enter_run(struct chk_line *l) {
  const struct chk_watch *const w = &tombolo_check_watch;
  uintptr_t addr = __atomic_load_n(&l->base, __ATOMIC_RELAXED);
  const uintptr_t bytes = __atomic_load_n(&l->bytes, __ATOMIC_RELAXED);
  const uintptr_t left = w->own.bytes - (addr - w->own.base);
  const int kind = (int)(l->key & 1);
  struct chk_access *const a = chk_access_at(l->number);
  __atomic_store_n(&l->base, CHK_NO_RUN, __ATOMIC_RELAXED);
  __atomic_store_n(&l->bytes, 0, __ATOMIC_RELAXED);
  if (!a || addr - w->own.base >= w->own.bytes) return;
  for (const uintptr_t end = addr + (bytes < left ? bytes : left); addr < end;) {
    const uintptr_t next = (addr / CHK_PAGE_BYTES + 1) * CHK_PAGE_BYTES;
    const size_t part = (next < end ? next : end) - addr;
    if (!chk_all_seen(addr, part, kind)) {
      chk_mark_run(a, addr, part);
      chk_seen(addr, part, kind, w->now);
    }
    addr += part;
  }
}

static void enter_runs_of(struct thread *t) {
  for (uint32_t i = 0; i < t->runs; i++) {
    struct chk_line *const l = &t->line[t->run[i]];
    enter_run(l);
    l->is_listed = 0;
  }
  chk.runs -= t->runs;
  t->runs = 0;
}

void chk_enter_runs(void) {
  for (struct thread *t = threads; t; t = t->next) enter_runs_of(t);
}

/* ---- threads */

static pthread_key_t at_end;
static int key_error;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *arg) {
  struct thread *const ended = arg;
  chk_enter();
  struct thread **at = &threads;
  while (*at != ended) at = &(*at)->next;
  *at = ended->next;
  ended->state = ENDED;
  chk_exit();
}

static void make_key(void) {
  key_error = pthread_key_create(&at_end, thread_ends);
}

/* List this thread. Returns whether it may have runs. */
static bool list_thread(void) {
  if (mine.state != NEW) return mine.state == LISTED;
  mine.state = ENDED;
  (void)pthread_once(&key_once, make_key);
  if (key_error || pthread_setspecific(at_end, &mine) != 0) return false;
  mine.state = LISTED;
  mine.line = chk_thread_lines;
  mine.next = threads;
  threads = &mine;
  return true;
}

/* ---- lines */

void chk_run_begin(struct chk_line *l, uintptr_t addr) {
  pthread_mutex_lock(&chk.lock);
  if (l->clock == chk.clock[chk.rank] && list_thread()) {
    if (!l->is_listed) {
      mine.run[mine.runs++] = (uint16_t)(l - chk_thread_lines);
      chk.runs++;
    }
    l->is_listed = 1;
    __atomic_store_n(&l->bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&l->base, addr, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&chk.lock);
}

/* Make the record of a line. */
static void make_line(struct chk_line *l, const struct chk_range *range, int kind,
                      const void *pc) {
  const uintptr_t key = chk_line_key(pc, kind);
  struct chk_access *const a = chk_shared(chk_site_of(kind, pc), range->flags);
  if (!a->bytes) {
    a->addr = range->addr;
    a->bytes = range->bytes;
    a->owner = range->owner;
  }
  if (l->key != key) l->next = l->in_order = 0;
  l->key = key;
  l->clock = chk.clock[chk.rank];
  l->number = a->number;
  l->access = a;
}

void chk_line_renew(struct chk_line *l, const struct chk_range *range, int kind, const void *pc) {
  pthread_mutex_lock(&chk.lock);
  if (l->base > CHK_NO_RUN) {
    l->in_order = l->bytes >= LONG ? CHK_IN_ORDER : 0;
    enter_run(l);
  }
  __atomic_store_n(&l->base, CHK_NO_RUN, __ATOMIC_RELAXED);
  if (!chk_line_holds(l, chk_line_key(pc, kind))) make_line(l, range, kind, pc);
  pthread_mutex_unlock(&chk.lock);
}
