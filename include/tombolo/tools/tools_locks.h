/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_locks.h: mutexes, condition variables, reader/writer locks (API reference 09,
 * sections 5 and 6).
 *
 * Owns gasnett_mutex_*, gasnett_cond_*, gasnett_rwlock_*. Three builds of a client: threaded
 * (pthreads), single-threaded (no-ops), and either with -DGASNET_DEBUG=1, where every call goes to
 * a checked twin in src/api/tools_locks.c that names misuse by caller, lock and thread. Included by
 * gasnet_tools.h. Invariants: layouts are the same in all builds, all-zero is the initial state;
 * owner fields are written only by the checked functions, so a lock must not be shared between
 * debug and non-debug objects.
 */
#ifndef GEXX_TOOLS_LOCKS_H
#define GEXX_TOOLS_LOCKS_H

#include "tools_annotations.h"

#include <errno.h>

/* Page gasnett_mutex_lock: GASNet-Tools: mutexes, condition variables and reader-writer locks.
 * In programs of one thread the calls do nothing. Debug programs check every call.
 * [in] m: a mutex.
 * [in] c: a condition variable.
 * [in] r: a reader-writer lock.
 * Names: gasnett_mutex_t: a mutex;
 * gasnett_cond_t: a condition variable;
 * gasnett_rwlock_t: a reader-writer lock;
 * GASNETT_*_INITIALIZER: a free object;
 * gasnett_*_init: makes a free object;
 * gasnett_mutex_destroy_ignoreerr: ends a mutex, also one that is held, returns 0 or an error
 * number;
 * gasnett_*_destroy: ends an object that nobody uses;
 * gasnett_mutex_lock: takes the mutex, waits for it;
 * gasnett_mutex_trylock: takes the mutex if it is free, returns 0, else EBUSY;
 * gasnett_mutex_unlock: releases the mutex;
 * gasnett_mutex_assertlocked: in debug programs: the caller holds the mutex;
 * gasnett_mutex_assertunlocked: in debug programs: the caller does not hold the mutex;
 * gasnett_cond_wait: releases the mutex, waits for a signal, and takes the mutex again;
 * gasnett_cond_signal: wakes one thread;
 * gasnett_cond_broadcast: wakes all threads;
 * gasnett_rwlock_rdlock: takes the lock for reading;
 * gasnett_rwlock_wrlock: takes the lock for writing;
 * gasnett_rwlock_tryrdlock, gasnett_rwlock_trywrlock: takes the lock if that is possible at once,
 * returns 0, else EBUSY;
 * gasnett_rwlock_unlock: releases the lock;
 * gasnett_rwlock_assertlocked: in debug programs: the caller holds the lock;
 * gasnett_rwlock_assertrdlocked: in debug programs: the caller holds the lock for reading;
 * gasnett_rwlock_assertwrlocked: in debug programs: the caller holds the lock for writing;
 * gasnett_rwlock_assertunlocked: in debug programs: the caller does not hold the lock
 * Completion: a lock call returns with the lock, a try call at once.
 * Threads: any thread, but no handler of active messages: use gex_HSL_Lock there. The holder
 * releases.
 * Errors: debug programs end with a message that names caller, lock and thread for misuse.
 * Cost: that of the system's locks; none in programs of one thread.
 * See: gex_HSL_Lock, gasnett_threadkey_get */

/* Room for the system's object, and the thread that holds it (debug only; 0: none). */
typedef struct {
  union {
    unsigned char bytes[64];
    uint64_t align;
  } gexx_sys;
  uint64_t gexx_owner;
} gasnett_mutex_t;
typedef struct {
  union {
    unsigned char bytes[64];
    uint64_t align;
  } gexx_sys;
} gasnett_cond_t;
typedef gasnett_mutex_t gasnett_rwlock_t;

/* clang-format off */
#define GASNETT_MUTEX_INITIALIZER  { { { 0 } }, 0 }
#define GASNETT_COND_INITIALIZER   { { { 0 } } }
#define GASNETT_RWLOCK_INITIALIZER { { { 0 } }, 0 }
/* clang-format on */

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

#if GEXX_TOOLS_DEBUG

/* Where a checked call was made, and whether the client is threaded. */
struct gexx_tools_site {
  const char *func, *file;
  int line, threaded;
};

/* --- checked twins; same contracts as below, misuse is fatal and names the site --- */
GEXX_API void gexx_tools_mutex_init(gasnett_mutex_t *m, struct gexx_tools_site site);
GEXX_API int gexx_tools_mutex_destroy(gasnett_mutex_t *m, int quiet, struct gexx_tools_site site);
GEXX_API void gexx_tools_mutex_lock(gasnett_mutex_t *m, struct gexx_tools_site site);
GEXX_API int gexx_tools_mutex_trylock(gasnett_mutex_t *m, struct gexx_tools_site site);
GEXX_API void gexx_tools_mutex_unlock(gasnett_mutex_t *m, struct gexx_tools_site site);
GEXX_API void gexx_tools_mutex_assert(gasnett_mutex_t *m, int locked, struct gexx_tools_site site);
GEXX_API void gexx_tools_cond_wait(gasnett_cond_t *c, gasnett_mutex_t *m,
                                   struct gexx_tools_site site);
GEXX_API void gexx_tools_rwlock_init(gasnett_rwlock_t *r, struct gexx_tools_site site);
GEXX_API void gexx_tools_rwlock_destroy(gasnett_rwlock_t *r, struct gexx_tools_site site);
GEXX_API int gexx_tools_rwlock_lock(gasnett_rwlock_t *r, int write, int wait,
                                    struct gexx_tools_site site);
GEXX_API void gexx_tools_rwlock_unlock(gasnett_rwlock_t *r, struct gexx_tools_site site);
/* in want: 0 unlocked, 1 locked for reading, 2 for writing, 3 either. */
GEXX_API void gexx_tools_rwlock_assert(gasnett_rwlock_t *r, int want, struct gexx_tools_site site);

/* The site of the macro that calls it. */
GASNETT_INLINE(gexx_tools_here)
struct gexx_tools_site gexx_tools_here(const char *func, const char *file, int line) {
  struct gexx_tools_site site;
  site.func = func;
  site.file = file;
  site.line = line;
  site.threaded = GEXX_TOOLS_TRUE_MUTEXES;
  return site;
}
# define GEXX_HERE                          gexx_tools_here(__func__, __FILE__, __LINE__)

# define gasnett_mutex_init(m)              gexx_tools_mutex_init((m), GEXX_HERE)
# define gasnett_mutex_destroy(m)           ((void)gexx_tools_mutex_destroy((m), 0, GEXX_HERE))
# define gasnett_mutex_destroy_ignoreerr(m) gexx_tools_mutex_destroy((m), 1, GEXX_HERE)
# define gasnett_mutex_lock(m)              gexx_tools_mutex_lock((m), GEXX_HERE)
# define gasnett_mutex_trylock(m)           gexx_tools_mutex_trylock((m), GEXX_HERE)
# define gasnett_mutex_unlock(m)            gexx_tools_mutex_unlock((m), GEXX_HERE)
# define gasnett_mutex_assertlocked(m)      gexx_tools_mutex_assert((m), 1, GEXX_HERE)
# define gasnett_mutex_assertunlocked(m)    gexx_tools_mutex_assert((m), 0, GEXX_HERE)
# define gasnett_cond_wait(c, m)            gexx_tools_cond_wait((c), (m), GEXX_HERE)

# define gasnett_rwlock_init(r)             gexx_tools_rwlock_init((r), GEXX_HERE)
# define gasnett_rwlock_destroy(r)          gexx_tools_rwlock_destroy((r), GEXX_HERE)
# define gasnett_rwlock_rdlock(r)           ((void)gexx_tools_rwlock_lock((r), 0, 1, GEXX_HERE))
# define gasnett_rwlock_wrlock(r)           ((void)gexx_tools_rwlock_lock((r), 1, 1, GEXX_HERE))
# define gasnett_rwlock_tryrdlock(r)        gexx_tools_rwlock_lock((r), 0, 0, GEXX_HERE)
# define gasnett_rwlock_trywrlock(r)        gexx_tools_rwlock_lock((r), 1, 0, GEXX_HERE)
# define gasnett_rwlock_unlock(r)           gexx_tools_rwlock_unlock((r), GEXX_HERE)
# define gasnett_rwlock_assertunlocked(r)   gexx_tools_rwlock_assert((r), 0, GEXX_HERE)
# define gasnett_rwlock_assertrdlocked(r)   gexx_tools_rwlock_assert((r), 1, GEXX_HERE)
# define gasnett_rwlock_assertwrlocked(r)   gexx_tools_rwlock_assert((r), 2, GEXX_HERE)
# define gasnett_rwlock_assertlocked(r)     gexx_tools_rwlock_assert((r), 3, GEXX_HERE)

#else /* not debug */

# if GEXX_TOOLS_TRUE_MUTEXES
#  define GEXX_TOOLS_SYS(type, object) ((type *)(void *)(object)->gexx_sys.bytes)
/* Expands to the pthread call in threaded builds, to 0 otherwise. */
#  define GEXX_TOOLS_PTHREAD(call)     (call)
# else
#  define GEXX_TOOLS_PTHREAD(call) 0
# endif

/* Initialise, destroy (unlocked) a mutex. destroy_ignoreerr returns the system's error code, 0 if
 * fine. */
GEXX_TOOLS_INLINE void gasnett_mutex_init(gasnett_mutex_t *m) {
  memset(m, 0, sizeof *m);
  (void)GEXX_TOOLS_PTHREAD(pthread_mutex_init(GEXX_TOOLS_SYS(pthread_mutex_t, m), NULL));
}
GEXX_TOOLS_INLINE int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t *m) {
  (void)m;
  return GEXX_TOOLS_PTHREAD(pthread_mutex_destroy(GEXX_TOOLS_SYS(pthread_mutex_t, m)));
}
GEXX_TOOLS_INLINE void gasnett_mutex_destroy(gasnett_mutex_t *m) {
  (void)gasnett_mutex_destroy_ignoreerr(m);
}

/* Lock, unlock; not recursive. trylock returns 0 if it took the lock, EBUSY otherwise. */
GEXX_TOOLS_INLINE void gasnett_mutex_lock(gasnett_mutex_t *m) {
  (void)m;
  (void)GEXX_TOOLS_PTHREAD(pthread_mutex_lock(GEXX_TOOLS_SYS(pthread_mutex_t, m)));
}
GEXX_TOOLS_INLINE int gasnett_mutex_trylock(gasnett_mutex_t *m) {
  (void)m;
  return GEXX_TOOLS_PTHREAD(pthread_mutex_trylock(GEXX_TOOLS_SYS(pthread_mutex_t, m)));
}
GEXX_TOOLS_INLINE void gasnett_mutex_unlock(gasnett_mutex_t *m) {
  (void)m;
  (void)GEXX_TOOLS_PTHREAD(pthread_mutex_unlock(GEXX_TOOLS_SYS(pthread_mutex_t, m)));
}

/* Checks that the caller holds, does not hold, the lock; debug builds only. */
GEXX_TOOLS_INLINE void gasnett_mutex_assertlocked(gasnett_mutex_t *m) {
  (void)m;
}
GEXX_TOOLS_INLINE void gasnett_mutex_assertunlocked(gasnett_mutex_t *m) {
  (void)m;
}

/* Release the mutex, sleep until signalled (or spuriously woken), take the mutex again. */
GEXX_TOOLS_INLINE void gasnett_cond_wait(gasnett_cond_t *c, gasnett_mutex_t *m) {
  (void)c;
  (void)m;
  (void)GEXX_TOOLS_PTHREAD(
      pthread_cond_wait(GEXX_TOOLS_SYS(pthread_cond_t, c), GEXX_TOOLS_SYS(pthread_mutex_t, m)));
}

/* Reader/writer lock: any number of readers or one writer, not recursive, no upgrade. try: 0, EBUSY
 * or EAGAIN. */
# if GEXX_TOOLS_TRUE_MUTEXES
GEXX_API void gasnett_rwlock_init(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_destroy(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_rdlock(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_wrlock(gasnett_rwlock_t *r);
GEXX_API int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *r);
GEXX_API int gasnett_rwlock_trywrlock(gasnett_rwlock_t *r);
GEXX_API void gasnett_rwlock_unlock(gasnett_rwlock_t *r);
# else
GEXX_TOOLS_INLINE void gasnett_rwlock_init(gasnett_rwlock_t *r) {
  memset(r, 0, sizeof *r);
}
GEXX_TOOLS_INLINE void gasnett_rwlock_destroy(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_rdlock(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_wrlock(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *r) {
  (void)r;
  return 0;
}
GEXX_TOOLS_INLINE int gasnett_rwlock_trywrlock(gasnett_rwlock_t *r) {
  (void)r;
  return 0;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_unlock(gasnett_rwlock_t *r) {
  (void)r;
}
# endif
GEXX_TOOLS_INLINE void gasnett_rwlock_assertlocked(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_assertrdlocked(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_assertwrlocked(gasnett_rwlock_t *r) {
  (void)r;
}
GEXX_TOOLS_INLINE void gasnett_rwlock_assertunlocked(gasnett_rwlock_t *r) {
  (void)r;
}

#endif /* debug */

/* Condition variable; signal and broadcast while holding the mutex of the waiters. */
#if GEXX_TOOLS_TRUE_MUTEXES
# define GEXX_TOOLS_COND(call, c) ((void)call((pthread_cond_t *)(void *)(c)->gexx_sys.bytes))
#else
# define GEXX_TOOLS_COND(call, c) ((void)(c))
#endif
GEXX_TOOLS_INLINE void gasnett_cond_init(gasnett_cond_t *c) {
  memset(c, 0, sizeof *c);
}
GEXX_TOOLS_INLINE void gasnett_cond_destroy(gasnett_cond_t *c) {
  GEXX_TOOLS_COND(pthread_cond_destroy, c);
}
GEXX_TOOLS_INLINE void gasnett_cond_signal(gasnett_cond_t *c) {
  GEXX_TOOLS_COND(pthread_cond_signal, c);
}
GEXX_TOOLS_INLINE void gasnett_cond_broadcast(gasnett_cond_t *c) {
  GEXX_TOOLS_COND(pthread_cond_broadcast, c);
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
