/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the tools API: reader/writer locks, and the checked twins that debug clients call.
 *
 * Owns: the per-thread list of reader/writer locks held for reading by checked calls. Called by
 * clients through tombolo/tools/tools_locks.h. Calls pthreads and the fatal path. Invariants:
 * gexx_owner is the holder's thread (0: none) and changes only while the lock is held, so a thread
 * that compares it with itself gets the right answer without further synchronisation. In a
 * single-threaded client only the bookkeeping happens and no lock is taken.
 */
/* The checked twins are declared for debug clients only; the layouts do not depend on that. */
#define GASNETT_THREAD_SAFE 1
#define GASNET_DEBUG        1

#include "base/atomic.h"
#include "base/log.h"
#include "gasnet_tools.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((gasnett_mutex_t *)0)->gexx_sys), "mutex");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(((gasnett_cond_t *)0)->gexx_sys), "cond");
_Static_assert(sizeof(pthread_rwlock_t) <= sizeof(((gasnett_rwlock_t *)0)->gexx_sys), "rwlock");
_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "a thread id fits the owner field");

enum { READ_HELD_MAX = 64 };

/* Locks that this thread holds for reading. lost: how many more there are than the table holds;
 * while it is not 0 no misuse is reported. */
static _Thread_local struct {
  const gasnett_rwlock_t *lock[READ_HELD_MAX];
  int count, lost;
} read_held;

static pthread_mutex_t *mutex_of(gasnett_mutex_t *m) {
  return (pthread_mutex_t *)(void *)m->gexx_sys.bytes;
}

static pthread_rwlock_t *rwlock_of(gasnett_rwlock_t *r) {
  return (pthread_rwlock_t *)(void *)r->gexx_sys.bytes;
}

static uint64_t self(void) {
  return (uint64_t)pthread_self();
}

/* Owner fields are read by threads that do not hold the lock. */
static uint64_t owner_of(const gasnett_mutex_t *m) {
  return tmb_load_rlx(&m->gexx_owner);
}

static void set_owner(gasnett_mutex_t *m, uint64_t thread) {
  tmb_store_rlx(&m->gexx_owner, thread);
}

#define MISUSE(site, ...) tmb_fatal_at((site).func, (site).file, (site).line, __VA_ARGS__)

/* Ends the process if a pthread call failed. */
static void expect_ok(int rc, const char *call, const void *object, struct gexx_tools_site site) {
  if (rc != 0) MISUSE(site, "%s(%p) failed: %s", call, object, strerror(rc));
}

/* --- mutexes --- */

void gexx_tools_mutex_init(gasnett_mutex_t *m, struct gexx_tools_site site) {
  memset(m, 0, sizeof *m);
  expect_ok(pthread_mutex_init(mutex_of(m), NULL), "gasnett_mutex_init", m, site);
}

int gexx_tools_mutex_destroy(gasnett_mutex_t *m, int quiet, struct gexx_tools_site site) {
  if (owner_of(m) != 0) {
    if (quiet) return EBUSY;
    MISUSE(site, "gasnett_mutex_destroy(%p): the mutex is locked: unlock it first", (void *)m);
  }
  const int rc = pthread_mutex_destroy(mutex_of(m));
  if (!quiet) expect_ok(rc, "gasnett_mutex_destroy", m, site);
  return rc;
}

void gexx_tools_mutex_lock(gasnett_mutex_t *m, struct gexx_tools_site site) {
  if (owner_of(m) == self())
    MISUSE(site,
           "gasnett_mutex_lock(%p): this thread holds the mutex already, and it is not recursive",
           (void *)m);
  if (site.threaded) expect_ok(pthread_mutex_lock(mutex_of(m)), "gasnett_mutex_lock", m, site);
  set_owner(m, self());
}

int gexx_tools_mutex_trylock(gasnett_mutex_t *m, struct gexx_tools_site site) {
  if (owner_of(m) == self()) return EBUSY;
  if (site.threaded) {
    const int rc = pthread_mutex_trylock(mutex_of(m));
    if (rc == EBUSY) return rc;
    expect_ok(rc, "gasnett_mutex_trylock", m, site);
  }
  set_owner(m, self());
  return 0;
}

void gexx_tools_mutex_unlock(gasnett_mutex_t *m, struct gexx_tools_site site) {
  if (owner_of(m) == 0)
    MISUSE(site, "gasnett_mutex_unlock(%p): the mutex is not locked", (void *)m);
  if (owner_of(m) != self())
    MISUSE(site,
           "gasnett_mutex_unlock(%p): another thread holds the mutex: only its holder may unlock",
           (void *)m);
  set_owner(m, 0);
  if (site.threaded) expect_ok(pthread_mutex_unlock(mutex_of(m)), "gasnett_mutex_unlock", m, site);
}

void gexx_tools_mutex_assert(gasnett_mutex_t *m, int locked, struct gexx_tools_site site) {
  const int mine = owner_of(m) == self();
  if (locked && !mine)
    MISUSE(site, "gasnett_mutex_assertlocked(%p): this thread does not hold the mutex", (void *)m);
  if (!locked && mine)
    MISUSE(site, "gasnett_mutex_assertunlocked(%p): this thread holds the mutex", (void *)m);
}

void gexx_tools_cond_wait(gasnett_cond_t *c, gasnett_mutex_t *m, struct gexx_tools_site site) {
  if (owner_of(m) != self())
    MISUSE(site, "gasnett_cond_wait(%p, %p): this thread does not hold the mutex: lock it first",
           (void *)c, (void *)m);
  if (!site.threaded)
    MISUSE(site, "gasnett_cond_wait(%p, %p): a single-threaded client would wait for ever",
           (void *)c, (void *)m);
  set_owner(m, 0);
  expect_ok(pthread_cond_wait((pthread_cond_t *)(void *)c->gexx_sys.bytes, mutex_of(m)),
            "gasnett_cond_wait", c, site);
  set_owner(m, self());
}

/* --- reader/writer locks: plain --- */

#undef gasnett_rwlock_init
#undef gasnett_rwlock_destroy
#undef gasnett_rwlock_rdlock
#undef gasnett_rwlock_wrlock
#undef gasnett_rwlock_tryrdlock
#undef gasnett_rwlock_trywrlock
#undef gasnett_rwlock_unlock

GEXX_API void gasnett_rwlock_init(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_destroy(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_rdlock(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_wrlock(gasnett_rwlock_t *r);
GEXX_API int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *r);
GEXX_API int gasnett_rwlock_trywrlock(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_unlock(gasnett_rwlock_t *r);

void gasnett_rwlock_init(gasnett_rwlock_t *r) {
  memset(r, 0, sizeof *r);
  const int rc = pthread_rwlock_init(rwlock_of(r), NULL);
  if (rc != 0) tmb_fatal("gasnett_rwlock_init(%p) failed: %s", (void *)r, strerror(rc));
}

void gasnett_rwlock_destroy(gasnett_rwlock_t *r) {
  (void)pthread_rwlock_destroy(rwlock_of(r));
}

/* The number of readers of a lock is limited by the system; wait until one has left. */
static int wait_rdlock(gasnett_rwlock_t *r) {
  int rc;
  while ((rc = pthread_rwlock_rdlock(rwlock_of(r))) == EAGAIN) (void)gasnett_nsleep(1000);
  return rc;
}

void gasnett_rwlock_rdlock(gasnett_rwlock_t *r) {
  const int rc = wait_rdlock(r);
  if (rc != 0) tmb_fatal("gasnett_rwlock_rdlock(%p) failed: %s", (void *)r, strerror(rc));
}

void gasnett_rwlock_wrlock(gasnett_rwlock_t *r) {
  const int rc = pthread_rwlock_wrlock(rwlock_of(r));
  if (rc != 0) tmb_fatal("gasnett_rwlock_wrlock(%p) failed: %s", (void *)r, strerror(rc));
}

int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *r) {
  return pthread_rwlock_tryrdlock(rwlock_of(r));
}

int gasnett_rwlock_trywrlock(gasnett_rwlock_t *r) {
  return pthread_rwlock_trywrlock(rwlock_of(r));
}

void gasnett_rwlock_unlock(gasnett_rwlock_t *r) {
  (void)pthread_rwlock_unlock(rwlock_of(r));
}

/* --- reader/writer locks: checked --- */

/* Index in read_held, -1 if this thread does not hold it for reading (as far as the table knows).
 */
static int read_index(const gasnett_rwlock_t *r) {
  for (int i = read_held.count - 1; i >= 0; i--)
    if (read_held.lock[i] == r) return i;
  return -1;
}

static void read_add(const gasnett_rwlock_t *r) {
  if (read_held.count < READ_HELD_MAX)
    read_held.lock[read_held.count++] = r;
  else
    read_held.lost++;
}

void gexx_tools_rwlock_init(gasnett_rwlock_t *r, struct gexx_tools_site site) {
  memset(r, 0, sizeof *r);
  expect_ok(pthread_rwlock_init(rwlock_of(r), NULL), "gasnett_rwlock_init", r, site);
}

void gexx_tools_rwlock_destroy(gasnett_rwlock_t *r, struct gexx_tools_site site) {
  if (owner_of(r) != 0 || read_index(r) >= 0)
    MISUSE(site, "gasnett_rwlock_destroy(%p): the lock is held: unlock it first", (void *)r);
  expect_ok(pthread_rwlock_destroy(rwlock_of(r)), "gasnett_rwlock_destroy", r, site);
}

/* The pthread call for one kind of locking. */
static int take(gasnett_rwlock_t *r, int write, int wait) {
  if (write)
    return wait ? pthread_rwlock_wrlock(rwlock_of(r)) : pthread_rwlock_trywrlock(rwlock_of(r));
  return wait ? wait_rdlock(r) : pthread_rwlock_tryrdlock(rwlock_of(r));
}

int gexx_tools_rwlock_lock(gasnett_rwlock_t *r, int write, int wait, struct gexx_tools_site site) {
  const char *const name = write ? (wait ? "gasnett_rwlock_wrlock" : "gasnett_rwlock_trywrlock")
                                 : (wait ? "gasnett_rwlock_rdlock" : "gasnett_rwlock_tryrdlock");
  const int mine = owner_of(r) == self(), reading = read_index(r) >= 0;
  if (mine || reading) {
    if (!wait && (mine || write)) return EBUSY;
    MISUSE(site, "%s(%p): this thread holds the lock for %s already, and it is not recursive", name,
           (void *)r, mine ? "writing" : "reading");
  }
  const int rc = site.threaded ? take(r, write, wait) : 0;
  if (!wait && (rc == EBUSY || rc == EAGAIN)) return rc;
  expect_ok(rc, name, r, site);
  if (write)
    set_owner(r, self());
  else
    read_add(r);
  return 0;
}

void gexx_tools_rwlock_unlock(gasnett_rwlock_t *r, struct gexx_tools_site site) {
  const int i = read_index(r);
  if (owner_of(r) == self()) {
    set_owner(r, 0);
  } else if (i >= 0) {
    read_held.lock[i] = read_held.lock[--read_held.count];
  } else if (read_held.lost > 0) {
    read_held.lost--;
  } else {
    MISUSE(site, "gasnett_rwlock_unlock(%p): this thread does not hold the lock", (void *)r);
  }
  if (site.threaded)
    expect_ok(pthread_rwlock_unlock(rwlock_of(r)), "gasnett_rwlock_unlock", r, site);
}

void gexx_tools_rwlock_assert(gasnett_rwlock_t *r, int want, struct gexx_tools_site site) {
  static const char *const name[] = {
      "gasnett_rwlock_assertunlocked", "gasnett_rwlock_assertrdlocked",
      "gasnett_rwlock_assertwrlocked", "gasnett_rwlock_assertlocked"};
  static const char *const state_name[] = {"does not hold it", "holds it for reading",
                                           "holds it for writing"};
  const int state = owner_of(r) == self() ? 2 : read_index(r) >= 0 ? 1 : 0;
  if (state == 0 && read_held.lost > 0) return;
  if (want == 3 ? state == 0 : state != want)
    MISUSE(site, "%s(%p): this thread %s", name[want], (void *)r, state_name[state]);
}
