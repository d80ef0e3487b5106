/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of this rank: who they are, and when they begin and end.
 *
 * Owns: which modules' calls order nothing. Called in place of the C library's functions that make
 * threads and wait for them, and by locks.c. Calls: order.c, sync.c, seen.c, segment.c. Threads get
 * clocks with the first one that a file compiled with `--check` makes: then lines have no runs, and
 * each thread has words of its own (check/local.h). Threads that others make (OpenMP, the library)
 * have no clock. Invariant: a thread's place is used again when it was joined, or has ended
 * detached.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#include <link.h>
#include <stdlib.h>
#include <threads.h> /* tidy-allow: layers because it is the C library's, not that of tests/lib */

static pthread_key_t at_end; /* its destructor ends the thread */
static bool has_key;

/* The modules where memory is allocated, and of the library. */
struct range {
  uintptr_t from, to;
};
static struct range allocator, library;

static bool is_in(const struct range *r, const void *pc) {
  return (uintptr_t)pc - r->from < r->to - r->from;
}

bool chk_orders(const void *pc, bool of_library) {
  return chk.each_thread && !chk_locked && !is_in(&allocator, pc) &&
         (of_library || !is_in(&library, pc));
}

/* ---- from the first thread on */

/* The module of arg->from. */
static int find_range(struct dl_phdr_info *info, size_t bytes, void *arg) {
  (void)bytes;
  struct range *const r = arg;
  const uintptr_t at = r->from - info->dlpi_addr;
  uintptr_t from = UINTPTR_MAX, to = 0;
  bool has = false;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *const h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD) continue;
    has = has || at - h->p_vaddr < h->p_memsz;
    if (h->p_vaddr < from) from = h->p_vaddr;
    if (h->p_vaddr + h->p_memsz > to) to = h->p_vaddr + h->p_memsz;
  }
  if (!has) return 0;
  r->from = info->dlpi_addr + from;
  r->to = info->dlpi_addr + to;
  return 1;
}

/* The range of the module that has a function, unless it is the program's. */
static void leave_out(struct range *r, const void *function) {
  r->from = (uintptr_t)function;
  r->to = r->from;
  if (function && !chk_files_have(function)) (void)dl_iterate_phdr(find_range, r);
}

/* The calling thread ends. */
static void ends(void *thread) {
  struct chk_thread *const t = thread;
  chk_guard();
  chk_enter_own();
  chk_copies_end(t);
  t->state = t->state == CHK_DETACHED ? CHK_FREE : CHK_ENDED;
  chk_unguard();
}

/* Threads get clocks. Under chk.lock. Returns whether they have them. */
static bool begin_clocks(void) {
  if (chk.each_thread) return true;
  if (!has_key) has_key = pthread_key_create(&at_end, ends) == 0;
  if (!has_key || (chk.area && !chk.races)) return false;
  void *init;
  memcpy(&init, &chk_real.gexx_client_init, sizeof init);
  leave_out(&allocator, dlsym(RTLD_DEFAULT, "malloc"));
  leave_out(&library, init);
  chk_enter_seen();
  chk_local_start();
  if (!chk_clocks_begin()) return false;
  tombolo_check_watch.threads = 1;
  if (chk.own.bytes) chk_watch_each();
  if (chk.area) gexx_gate_set(chk_gate);
  return true;
}

/* A thread that the acting one makes. */
static struct chk_thread *thread_new(bool detached) {
  if (!begin_clocks()) return NULL;
  chk_enter_own();
  struct chk_thread *const t = chk_thread_new();
  if (t) t->state = detached ? CHK_DETACHED : CHK_RUNS;
  return t;
}

static int joined(int rc, pthread_t id) {
  if (rc || !chk.each_thread) return rc;
  chk_guard();
  struct chk_thread *const t = chk_thread_find(id, CHK_ENDED);
  chk_enter_own();
  if (t) {
    chk_thread_joined(t);
    t->state = CHK_FREE;
  }
  chk_unguard();
  return rc;
}

/* ---- the C library's functions */

/* What a thread begins with. */
struct beginning {
  void *(*run)(void *); /* or, of C11: */
  thrd_start_t run_c11;
  void *arg;
  struct chk_thread *thread;
  uint32_t number;
};

static struct beginning begin(void *arg) {
  const struct beginning b = *(struct beginning *)arg;
  free(arg);
  chk_me = b.thread;
  (void)pthread_setspecific(at_end, b.thread);
  chk_guard();
  b.thread->id = pthread_self();
  chk_unguard();
  return b;
}

static void *begin_posix(void *arg) {
  const struct beginning b = begin(arg);
  return b.run(b.arg);
}

static int begin_c11(void *arg) {
  const struct beginning b = begin(arg);
  return b.run_c11(b.arg);
}

/* Whether threads that this function makes are the program's: its order is seen. */
static bool makes_known(const void *pc) {
  Dl_info info;
  if (!tombolo_check_watch.files || !dladdr(pc, &info)) return false;
  return chk_files_have(pc) || strstr(info.dli_fname, "/libstdc++.so") ||
         strstr(info.dli_fname, "/libc++.so");
}

/* What a new thread begins with; NULL: it has no clock. */
static struct beginning *new_thread(struct beginning b, bool detached, const void *pc) {
  chk_runs_never();
  struct beginning *const own = makes_known(pc) ? malloc(sizeof *own) : NULL;
  if (!own) return NULL;
  chk_guard();
  b.thread = thread_new(detached);
  b.number = b.thread ? b.thread->number : 0;
  chk_unguard();
  *own = b;
  if (b.thread) return own;
  free(own);
  return NULL;
}

/* The thread that `b` was for began, or did not: it may have ended since. */
static int begun(int rc, const struct beginning *b, pthread_t id) {
  chk_guard();
  if (b->thread->number == b->number) {
    if (rc)
      b->thread->state = CHK_FREE;
    else
      b->thread->id = id;
  }
  chk_unguard();
  return rc;
}

LIBC_PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                               void *(*run)(void *), void *arg) {
  LIBC_REAL(pthread_create)
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes) (void)pthread_attr_getdetachstate(attributes, &state);
  struct beginning *const b =
      new_thread((struct beginning){.run = run, .arg = arg}, state == PTHREAD_CREATE_DETACHED,
                 __builtin_return_address(0));
  if (!b) return real(thread, attributes, run, arg);
  const struct beginning copy = *b;
  const int rc = real(thread, attributes, begin_posix, b);
  if (rc) free(b);
  return begun(rc, &copy, *thread);
}

LIBC_PUBLIC int thrd_create(thrd_t *thread, thrd_start_t run, void *arg) {
  LIBC_REAL(thrd_create)
  struct beginning *const b = new_thread((struct beginning){.run_c11 = run, .arg = arg}, false,
                                         __builtin_return_address(0));
  if (!b) return real(thread, run, arg);
  const struct beginning copy = *b;
  const int rc = real(thread, begin_c11, b);
  if (rc != thrd_success) free(b);
  return begun(rc, &copy, *thread);
}

#define JOINS(NAME, PARAMS, ARGS)   \
 LIBC_PUBLIC int NAME PARAMS {      \
  LIBC_REAL(NAME)                   \
  return joined(real ARGS, thread); \
 }
JOINS(pthread_join, (pthread_t thread, void **result), (thread, result))
JOINS(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
JOINS(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
      (thread, result, until))
JOINS(pthread_clockjoin_np,
      (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
      (thread, result, clock, until))
JOINS(thrd_join, (thrd_t thread, int *result), (thread, result))

static int detached(int rc, pthread_t id) {
  if (rc || !chk.each_thread) return rc;
  chk_guard();
  struct chk_thread *const running = chk_thread_find(id, CHK_RUNS), *const ended = chk_thread_find(
                                                                        id, CHK_ENDED);
  if (running)
    running->state = CHK_DETACHED;
  else if (ended)
    ended->state = CHK_FREE;
  chk_unguard();
  return rc;
}

#define DETACHES(NAME, TYPE)             \
 LIBC_PUBLIC int NAME(TYPE thread) {     \
  LIBC_REAL(NAME)                        \
  return detached(real(thread), thread); \
 }
DETACHES(pthread_detach, pthread_t)
DETACHES(thrd_detach, thrd_t)
