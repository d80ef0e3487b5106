/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: PAR */
/* debug: yes */
/*
 * Misuse of locks in a client compiled with GASNET_DEBUG (API reference 09, sections 5 and 6): each
 * must end the process with a message that names the call; correct use must pass.
 */
#include <errno.h>
#include <gasnet_tools.h>
#include <signal.h>

#include "threads.h"
#include "tools_child.h"

static gasnett_mutex_t m = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t c = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t r = GASNETT_RWLOCK_INITIALIZER;

/* Takes the locks, and never releases them. */
static void lock_all(int id) {
  (void)id;
  gasnett_mutex_lock(&m);
  gasnett_rwlock_wrlock(&r);
}

static void mutex_recursion(void) {
  gasnett_mutex_lock(&m);
  gasnett_mutex_lock(&m);
}
static void mutex_unlock_free(void) {
  gasnett_mutex_unlock(&m);
}
static void mutex_unlock_foreign(void) {
  run_threads(1, lock_all); /* another thread has them */
  gasnett_mutex_unlock(&m);
}
static void mutex_assertlocked(void) {
  gasnett_mutex_assertlocked(&m);
}
static void mutex_assertlocked_foreign(void) {
  run_threads(1, lock_all); /* another thread has them */
  gasnett_mutex_assertlocked(&m);
}
static void mutex_assertunlocked(void) {
  gasnett_mutex_lock(&m);
  gasnett_mutex_assertunlocked(&m);
}
static void mutex_destroy_locked(void) {
  gasnett_mutex_lock(&m);
  gasnett_mutex_destroy(&m);
}
static void cond_without_lock(void) {
  gasnett_cond_wait(&c, &m);
}
static void rwlock_write_write(void) {
  gasnett_rwlock_wrlock(&r);
  gasnett_rwlock_wrlock(&r);
}
static void rwlock_read_read(void) {
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_rdlock(&r);
}
static void rwlock_upgrade(void) {
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_wrlock(&r);
}
static void rwlock_unlock_free(void) {
  gasnett_rwlock_unlock(&r);
}
static void rwlock_unlock_foreign(void) {
  run_threads(1, lock_all); /* another thread has them */
  gasnett_rwlock_unlock(&r);
}
static void rwlock_assertrd(void) {
  gasnett_rwlock_wrlock(&r);
  gasnett_rwlock_assertrdlocked(&r);
}
static void rwlock_assertwr(void) {
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_assertwrlocked(&r);
}
static void rwlock_assertlocked(void) {
  gasnett_rwlock_assertlocked(&r);
}
static void rwlock_assertunlocked(void) {
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_assertunlocked(&r);
}

static void test_misuse(void) {
  CHECK_FATAL(mutex_recursion, "gasnett_mutex_lock(0x", "not recursive", "tools_locks_debug.c",
              "mutex_recursion");
  CHECK_FATAL(mutex_unlock_free, "gasnett_mutex_unlock(0x", "not locked");
  CHECK_FATAL(mutex_unlock_foreign, "gasnett_mutex_unlock(0x", "another thread");
  CHECK_FATAL(mutex_assertlocked, "gasnett_mutex_assertlocked(0x");
  CHECK_FATAL(mutex_assertlocked_foreign, "gasnett_mutex_assertlocked(0x");
  CHECK_FATAL(mutex_assertunlocked, "gasnett_mutex_assertunlocked(0x");
  CHECK_FATAL(mutex_destroy_locked, "gasnett_mutex_destroy(0x", "unlock it first");
  CHECK_FATAL(cond_without_lock, "gasnett_cond_wait(0x", "lock it first");
  CHECK_FATAL(rwlock_write_write, "gasnett_rwlock_wrlock(0x", "writing");
  CHECK_FATAL(rwlock_read_read, "gasnett_rwlock_rdlock(0x", "reading");
  CHECK_FATAL(rwlock_upgrade, "gasnett_rwlock_wrlock(0x", "reading");
  CHECK_FATAL(rwlock_unlock_free, "gasnett_rwlock_unlock(0x");
  CHECK_FATAL(rwlock_unlock_foreign, "gasnett_rwlock_unlock(0x");
  CHECK_FATAL(rwlock_assertrd, "gasnett_rwlock_assertrdlocked(0x");
  CHECK_FATAL(rwlock_assertwr, "gasnett_rwlock_assertwrlocked(0x");
  CHECK_FATAL(rwlock_assertlocked, "gasnett_rwlock_assertlocked(0x");
  CHECK_FATAL(rwlock_assertunlocked, "gasnett_rwlock_assertunlocked(0x");
}

static int rounds;

static void *signaller(void *arg) {
  gasnett_mutex_lock(&m);
  rounds = 1;
  gasnett_cond_signal(&c);
  gasnett_mutex_unlock(&m);
  return arg;
}

static void test_correct_use(void) {
  pthread_t thread;
  gasnett_mutex_init(&m);
  gasnett_cond_init(&c);
  gasnett_rwlock_init(&r);
  gasnett_mutex_assertunlocked(&m);
  gasnett_mutex_lock(&m);
  gasnett_mutex_assertlocked(&m);
  CHECK_EQ(gasnett_mutex_trylock(&m), EBUSY);
  CHECK_EQ(gasnett_mutex_destroy_ignoreerr(&m), EBUSY);
  REQUIRE(pthread_create(&thread, NULL, signaller, NULL) == 0);
  while (!rounds) gasnett_cond_wait(&c, &m);
  gasnett_mutex_assertlocked(&m);
  gasnett_mutex_unlock(&m);
  pthread_join(thread, NULL);
  CHECK_EQ(gasnett_mutex_trylock(&m), 0);
  gasnett_mutex_unlock(&m);
  gasnett_rwlock_rdlock(&r);
  gasnett_rwlock_assertrdlocked(&r);
  gasnett_rwlock_assertlocked(&r);
  CHECK_EQ(gasnett_rwlock_trywrlock(&r), EBUSY);
  gasnett_rwlock_unlock(&r);
  CHECK_EQ(gasnett_rwlock_trywrlock(&r), 0);
  gasnett_rwlock_assertwrlocked(&r);
  CHECK_EQ(gasnett_rwlock_tryrdlock(&r), EBUSY);
  gasnett_rwlock_unlock(&r);
  gasnett_rwlock_assertunlocked(&r);
  gasnett_mutex_destroy(&m);
  gasnett_cond_destroy(&c);
  gasnett_rwlock_destroy(&r);
}

int main(void) {
  test_misuse();
  test_correct_use();
  return check_done();
}
