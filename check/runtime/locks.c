/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What orders the threads of a rank: locks, conditions, semaphores, barriers, and pipes.
 *
 * Owns: which barriers there are. The program calls the functions below in place of those of the C
 * library, of C++ and of ours. Calls: thread.c. A function that passes something on gives to the
 * object before it does so, and one that waits takes when it has returned. Where the direction is
 * not known, both. Invariants: more order may be taken than there is, never less; the locks of the
 * allocator of memory do not count, as it may be called with chk.lock, nor do the library's pipes.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "check/runtime/chk.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h> /* tidy-allow: layers because it is the C library's, not that of tests/lib */
#include <unistd.h>

static const char pipes; /* stands for each of them */

static void give(const volatile void *object, const void *pc) {
  if (CHK_UNLIKELY(chk.each_thread) && chk_orders(pc, object != &pipes))
    chk_order_give((uintptr_t)object);
}

static void take(const volatile void *object, const void *pc) {
  if (CHK_UNLIKELY(chk.each_thread) && chk_orders(pc, object != &pipes))
    chk_order_take((uintptr_t)object);
}

#define PC() __builtin_return_address(0)

/* A function that returns SUCCESS, or EOWNERDEAD, with the object. */
#define TAKES(NAME, PARAMS, ARGS, OBJECT)              \
 LIBC_PUBLIC int NAME PARAMS {                         \
  LIBC_REAL(NAME)                                      \
  const int rc = real ARGS;                            \
  if (rc == 0 || rc == EOWNERDEAD) take(OBJECT, PC()); \
  return rc;                                           \
 }

#define GIVES(NAME, PARAMS, ARGS, OBJECT) \
 LIBC_PUBLIC int NAME PARAMS {            \
  LIBC_REAL(NAME)                         \
  give(OBJECT, PC());                     \
  return real ARGS;                       \
 }

/* A wait for a condition, which gives its lock meanwhile. */
#define WAITS(NAME, PARAMS, ARGS, OBJECT, LOCK) \
 LIBC_PUBLIC int NAME PARAMS {                  \
  LIBC_REAL(NAME)                               \
  give(LOCK, PC());                             \
  const int rc = real ARGS;                     \
  take(LOCK, PC());                             \
  take(OBJECT, PC());                           \
  return rc;                                    \
 }

typedef const struct timespec *until;

TAKES(pthread_mutex_lock, (pthread_mutex_t * m), (m), m)
TAKES(pthread_mutex_trylock, (pthread_mutex_t * m), (m), m)
TAKES(pthread_mutex_timedlock, (pthread_mutex_t * m, until t), (m, t), m)
TAKES(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t c, until t), (m, c, t), m)
GIVES(pthread_mutex_unlock, (pthread_mutex_t * m), (m), m)
TAKES(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), l)
TAKES(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), l)
TAKES(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), l)
TAKES(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), l)
TAKES(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, until t), (l, t), l)
TAKES(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, until t), (l, t), l)
TAKES(pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t c, until t), (l, c, t), l)
TAKES(pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t c, until t), (l, c, t), l)
GIVES(pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), l)
TAKES(pthread_spin_lock, (pthread_spinlock_t * l), (l), l)
TAKES(pthread_spin_trylock, (pthread_spinlock_t * l), (l), l)
GIVES(pthread_spin_unlock, (pthread_spinlock_t * l), (l), l)
WAITS(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m), c, m)
WAITS(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, until t), (c, m, t), c, m)
WAITS(pthread_cond_clockwait, (pthread_cond_t * c, pthread_mutex_t *m, clockid_t k, until t),
      (c, m, k, t), c, m)
GIVES(pthread_cond_signal, (pthread_cond_t * c), (c), c)
GIVES(pthread_cond_broadcast, (pthread_cond_t * c), (c), c)
TAKES(sem_wait, (sem_t * s), (s), s)
TAKES(sem_trywait, (sem_t * s), (s), s)
TAKES(sem_timedwait, (sem_t * s, until t), (s, t), s)
TAKES(sem_clockwait, (sem_t * s, clockid_t c, until t), (s, c, t), s)
GIVES(sem_post, (sem_t * s), (s), s)

/* ---- barriers: who leaves late has not heard of those that have come again */

#define BARRIERS 64u

/* Those of this process. Guarded by chk.lock. */
static struct {
  const pthread_barrier_t *at; /* NULL: free */
  uint64_t members, arrivals;
} barriers[BARRIERS];

/* The place of a barrier, or of NULL; BARRIERS: none. */
static uint32_t barrier_place(const pthread_barrier_t *b) {
  uint32_t i = 0;
  while (i < BARRIERS && barriers[i].at != b) i++;
  return i;
}

/* in members: 0: it ends, or other processes arrive, too. */
static void barrier_known(const pthread_barrier_t *b, uint64_t members) {
  chk_guard();
  uint32_t i = barrier_place(b);
  if (i == BARRIERS && members) i = barrier_place(NULL);
  if (i < BARRIERS) {
    barriers[i].at = members ? b : NULL;
    barriers[i].members = members;
    barriers[i].arrivals = 0;
  }
  chk_unguard();
}

/* What a thread that arrives gives to, and takes from: a barrier is two objects, in turns. */
static const void *barrier_object(const pthread_barrier_t *b) {
  uint64_t turn = 0;
  chk_guard();
  const uint32_t i = barrier_place(b);
  if (i < BARRIERS) turn = barriers[i].arrivals++ / barriers[i].members;
  chk_unguard();
  return (const char *)b + turn % 2;
}

LIBC_PUBLIC int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes,
                                     unsigned members) {
  LIBC_REAL(pthread_barrier_init)
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes) (void)pthread_barrierattr_getpshared(attributes, &shared);
  const int rc = real(b, attributes, members);
  if (rc == 0) barrier_known(b, shared == PTHREAD_PROCESS_PRIVATE ? members : 0);
  return rc;
}

LIBC_PUBLIC int pthread_barrier_destroy(pthread_barrier_t *b) {
  LIBC_REAL(pthread_barrier_destroy)
  barrier_known(b, 0);
  return real(b);
}

LIBC_PUBLIC int pthread_barrier_wait(pthread_barrier_t *b) {
  LIBC_REAL(pthread_barrier_wait)
  const void *const object = barrier_object(b);
  give(object, PC());
  const int rc = real(b);
  take(object, PC());
  return rc;
}

/* Those of C11. */
TAKES(mtx_lock, (mtx_t * m), (m), m)
TAKES(mtx_trylock, (mtx_t * m), (m), m)
TAKES(mtx_timedlock, (mtx_t * m, until t), (m, t), m)
GIVES(mtx_unlock, (mtx_t * m), (m), m)
WAITS(cnd_wait, (cnd_t * c, mtx_t *m), (c, m), c, m)
WAITS(cnd_timedwait, (cnd_t * c, mtx_t *m, until t), (c, m, t), c, m)
GIVES(cnd_signal, (cnd_t * c), (c), c)
GIVES(cnd_broadcast, (cnd_t * c), (c), c)

/* ---- what is done once: who does it gives before it is known to be done */

static _Thread_local struct {
  void (*run)(void);
  const void *object, *pc;
} once;

static void run_once(void) {
  const void *const object = once.object, *const pc = once.pc;
  once.run();
  give(object, pc);
}

LIBC_PUBLIC int pthread_once(pthread_once_t *object, void (*run)(void)) {
  LIBC_REAL(pthread_once)
  once.run = run;
  once.object = object;
  once.pc = PC();
  const int rc = real(object, run_once);
  take(object, PC());
  return rc;
}

LIBC_PUBLIC void call_once(once_flag *object, void (*run)(void)) {
  LIBC_REAL(call_once)
  once.run = run;
  once.object = object;
  once.pc = PC();
  real(object, run_once);
  take(object, PC());
}

/* Variables of a function in C++, which the first call makes. */
int __cxa_guard_acquire(void *guard);
void __cxa_guard_release(void *guard);
LIBC_PUBLIC int __cxa_guard_acquire(void *guard) {
  LIBC_REAL(__cxa_guard_acquire)
  const int rc = real(guard);
  take(guard, PC());
  return rc;
}
LIBC_PUBLIC void __cxa_guard_release(void *guard) {
  LIBC_REAL(__cxa_guard_release)
  give(guard, PC());
  real(guard);
}

/* ---- ours */

/* The calling thread has a lock, or frees it. */
static void holds(const gex_HSL_t *hsl, const char *call, const void *pc) {
  take(hsl, pc);
  if (chk.leaks) chk_made(hsl, "lock that was never released", call, pc);
}
static void frees(const gex_HSL_t *hsl, const void *pc) {
  give(hsl, pc);
  if (chk.leaks) chk_ended(hsl);
}

void gexx_hsl_lock(gex_HSL_t *hsl) {
  chk_find_late();
  chk_real.gexx_hsl_lock(hsl);
  holds(hsl, "gex_HSL_Lock", PC());
}

int gexx_hsl_trylock(gex_HSL_t *hsl) {
  chk_find_late();
  const int rc = chk_real.gexx_hsl_trylock(hsl);
  if (rc == GASNET_OK) holds(hsl, "gex_HSL_Trylock", PC());
  return rc;
}

void gexx_hsl_unlock(gex_HSL_t *hsl) {
  chk_find_late();
  frees(hsl, PC());
  chk_real.gexx_hsl_unlock(hsl);
}

/* What handlers have done in other threads is before what follows. */
#define POLLS(TYPE, NAME, PARAMS, ARGS)                         \
 TYPE NAME PARAMS {                                             \
  const TYPE rc = chk_real.NAME ARGS;                           \
  if (CHK_UNLIKELY(chk.each_thread)) chk_order_take(CHK_FENCE); \
  return rc;                                                    \
 }
POLLS(int, gasnet_AMPoll, (void), ())
POLLS(int, gasnetc_AMPoll, (void), ())
POLLS(int, gexx_Poll, (uint64_t timeout_us), (timeout_us))

void gexx_Wait_Until(const gexx_WaitCond_t *cond) {
  chk_real.gexx_Wait_Until(cond);
  if (CHK_UNLIKELY(chk.each_thread)) chk_order_take(CHK_FENCE);
}

/* ---- pipes and sockets are one object: who writes is before who reads later, or waits for it */

#define READS(TYPE, NAME, PARAMS, ARGS) \
 LIBC_PUBLIC TYPE NAME PARAMS {         \
  LIBC_REAL(NAME)                       \
  const TYPE rc = real ARGS;            \
  const int failure = errno;            \
  if (rc > 0) take(&pipes, PC());       \
  errno = failure;                      \
  return rc;                            \
 }
#define WRITES(TYPE, NAME, PARAMS, ARGS) \
 LIBC_PUBLIC TYPE NAME PARAMS {          \
  LIBC_REAL(NAME)                        \
  give(&pipes, PC());                    \
  return real ARGS;                      \
 }

READS(ssize_t, read, (int fd, void *at, size_t n), (fd, at, n))
READS(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))
READS(ssize_t, recv, (int fd, void *at, size_t n, int flags), (fd, at, n, flags))
READS(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
READS(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
READS(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))
READS(int, epoll_wait, (int fd, struct epoll_event *events, int n, int ms), (fd, events, n, ms))
WRITES(ssize_t, write, (int fd, const void *at, size_t n), (fd, at, n))
WRITES(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
WRITES(ssize_t, send, (int fd, const void *at, size_t n, int flags), (fd, at, n, flags))
WRITES(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
