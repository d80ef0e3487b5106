/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a rank.
 *
 * Owns: the list of threads that the program has made, each with its log. Called by the program,
 * which makes threads, and by order.c. Calls: log.c. The ID of a thread is made of that of its
 * maker and of how many that one had made before, so it is the same in both runs. Invariants:
 * threads of our libraries are not followed; a thread's log is made with its first event, and
 * closed by itself; an entry of the list lasts, because later events may name it.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "replay/runtime/rpl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h> /* tidy-allow: layers because it is the C library's, not that of tests/lib */

#define OURS  "tombolo" /* in the name of each library of ours */
#define TURNS 3u

struct rpl_thread *rpl_threads;

static pthread_key_t at_end; /* its destructor ends the thread's log */
static bool has_key;

/* What a thread begins with. */
struct beginning {
  void *(*run)(void *); /* or, of C11: */
  thrd_start_t run_c11;
  void *arg;
  struct rpl_thread *thread;
};

struct rpl_thread *rpl_thread_of(uint32_t id) {
  struct rpl_thread *t = rpl_threads;
  while (t && t->id != id) t = t->next;
  return t;
}

void rpl_threads_call(const struct rpl_thread *t) {
  static const struct rpl_thread *last;
  static uint32_t turns; /* the first is that of a thread that calls alone, one may be its end */
  if (!rpl.python || rpl.mode != RPL_RECORDS || t == last) return;
  if (last && !last->ended && ++turns == TURNS) rpl_log_no_order();
  last = t;
}

bool rpl_threads_made(void) {
  return __atomic_load_n(&rpl_threads, __ATOMIC_ACQUIRE) != NULL;
}

static uint32_t id_of(uint32_t maker, uint32_t number) {
  uint32_t h = (maker * UINT32_C(0x01000193) ^ number) * UINT32_C(0x85ebca6b);
  h ^= h >> 15;
  return h > RPL_ID_HANDLERS ? h : h + RPL_ID_HANDLERS + 1;
}

/* Find the events of a thread; without any its calls have no order. */
static void open_log(struct rpl_thread *t) {
  if (rpl.mode == RPL_REPLAYS && !rpl_log_open_at(&t->log, "rank", t->id)) t->log.head = NULL;
}

static void end(void *arg) {
  struct rpl_thread *const t = arg;
  rpl_lock();
  t->ended = true;
  if (rpl.mode == RPL_RECORDS) rpl_log_close(&t->log);
  rpl_unlock();
  rpl_own = NULL;
}

static struct beginning take(void *arg) {
  const struct beginning b = *(struct beginning *)arg;
  free(arg);
  rpl_own = b.thread;
  if (has_key) (void)pthread_setspecific(at_end, b.thread);
  return b;
}
static void *begin(void *arg) {
  const struct beginning b = take(arg);
  return b.run(b.arg);
}
static int begin_c11(void *arg) {
  const struct beginning b = take(arg);
  return b.run_c11(b.arg);
}

/* The entry of a thread that the calling one makes. */
static struct rpl_thread *make(void) {
  struct rpl_thread *const t = calloc(1, sizeof *t);
  if (!t) return NULL;
  struct rpl_thread *const maker = rpl_own ? rpl_own : &rpl_first;
  rpl_lock();
  if (!has_key) has_key = pthread_key_create(&at_end, end) == 0;
  t->id = id_of(maker->id, maker->children++);
  t->left = true;
  open_log(t);
  t->next = rpl_threads;
  __atomic_store_n(&rpl_threads, t, __ATOMIC_RELEASE);
  rpl_unlock();
  return t;
}

/* The first thread does not compute while it waits for another one. */
LIBC_PUBLIC int pthread_join(pthread_t thread, void **result) {
  LIBC_REAL(pthread_join)
  const bool waits = rpl_wait_begin();
  const int rc = real(thread, result);
  rpl_wait_end(waits);
  return rc;
}

LIBC_PUBLIC int thrd_join(thrd_t thread, int *result) {
  LIBC_REAL(thrd_join)
  const bool waits = rpl_wait_begin();
  const int rc = real(thread, result);
  rpl_wait_end(waits);
  return rc;
}

/* Whether a thread is of the program. in pc: who makes it. */
static bool is_followed(const void *pc) {
  Dl_info info;
  const char *const name = dladdr(pc, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : "";
  return !strstr(name ? name : "", OURS);
}

/* What the thread that the calling one makes begins with; NULL: it is not followed. */
static struct beginning *new_thread(const struct beginning *b, const void *pc) {
  struct beginning *const own = is_followed(pc) ? malloc(sizeof *own) : NULL;
  if (!own) return NULL;
  *own = *b;
  own->thread = make();
  if (own->thread) return own;
  free(own);
  return NULL;
}

static int has_made(int rc, struct beginning *b) {
  if (!rc) return rc;
  b->thread->ended = true;
  free(b);
  return rc;
}

LIBC_PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                               void *arg) {
  LIBC_REAL(pthread_create)
  struct beginning *const b =
      new_thread(&(struct beginning){.run = run, .arg = arg}, __builtin_return_address(0));
  return b ? has_made(real(thread, attr, begin, b), b) : real(thread, attr, run, arg);
}

LIBC_PUBLIC int thrd_create(thrd_t *thread, thrd_start_t run, void *arg) {
  LIBC_REAL(thrd_create)
  struct beginning *const b =
      new_thread(&(struct beginning){.run_c11 = run, .arg = arg}, __builtin_return_address(0));
  return b ? has_made(real(thread, begin_c11, b), b) : real(thread, run, arg);
}

void rpl_threads_start(void) {
  if (rpl_own) rpl_own->ended = true; /* it is the first one now */
  rpl_own = &rpl_first;
  rpl_lock();
  for (struct rpl_thread *t = rpl_threads; t; t = t->next) open_log(t);
  rpl_unlock();
}

void rpl_threads_end(void) {
  rpl_lock();
  for (struct rpl_thread *t = rpl_threads; t; t = t->next)
    if (!t->ended) rpl_log_close(&t->log);
  rpl_unlock();
}
