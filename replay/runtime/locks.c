/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the threads of a rank get locks.
 *
 * Owns: the file `locks.N`. The program calls the functions below in place of those of the C
 * library, of OpenMP and of ours. One order holds for all locks of a rank. A replay gives locks in
 * this order. A wait for a condition gets its lock again when its turn comes, and the C library is
 * not asked: a wait may end at any time, and what it waits for holds as it did in the recording.
 * Invariants: only calls from the program itself and the C++ library count; a wait for a turn polls
 * nothing, because the caller may hold locks.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "replay/runtime/rpl.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h> /* tidy-allow: layers because it is the C library's, not that of tests/lib */

#define RANGES 2u

static struct rpl_turns locks = {.file = "locks", .what = "lock"};
static struct { uintptr_t from, to; } ranges[RANGES]; /* of the program, and of the C++ library */

/* ---- who calls */

static int find_range(struct dl_phdr_info *info, size_t bytes, void *arg) {
  (void)bytes;
  unsigned *const seen = arg;
  const unsigned at = (*seen)++ == 0 ? 0 : strstr(info->dlpi_name, "/libstdc++.so") ? 1 : RANGES;
  for (unsigned i = 0; at < RANGES && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *const h = &info->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
    ranges[at].from = info->dlpi_addr + h->p_vaddr;
    ranges[at].to = ranges[at].from + h->p_memsz;
  }
  return 0;
}

static bool is_program(const void *pc) {
  const uintptr_t at = (uintptr_t)pc;
  for (unsigned i = 0; i < RANGES; i++)
    if (at >= ranges[i].from && at < ranges[i].to) return true;
  return false;
}

/* Whether a call has a place in the order. */
static bool ordered(const void *pc) {
  return rpl_turns_on(&locks) && is_program(pc);
}

bool rpl_locks_open(void) {
  unsigned seen = 0;
  (void)dl_iterate_phdr(find_range, &seen);
  return rpl_turns_open(&locks);
}

void rpl_locks_close(void) {
  rpl_turns_close(&locks);
}

/* The calling thread has got a lock, or not. */
static void has_noted(int failure) {
  rpl_turn_note(&locks, failure);
  rpl_has_locked();
}
static void has_taken(void) {
  rpl_turn_taken(&locks);
  rpl_has_locked();
}

/* ---- the functions that get a lock */

/* Defines a function that returns 0 with the lock. In a replay its try does not fail. */
#define GETS(NAME, PARAMS, ARGS)                                     \
 LIBC_PUBLIC int NAME PARAMS {                                       \
  LIBC_REAL(NAME)                                                    \
  if (!ordered(__builtin_return_address(0))) return real ARGS;       \
  const bool waits = rpl_wait_begin();                               \
  int rc = rpl.mode == RPL_REPLAYS ? rpl_turn(&locks) : RPL_NO_TURN; \
  if (rc == RPL_NO_TURN) {                                           \
   rc = real ARGS;                                                   \
   if (rpl.mode == RPL_RECORDS) has_noted(rc);                       \
  } else {                                                           \
   while (rc == 0 && real ARGS != 0) (void)sched_yield();            \
   has_taken();                                                      \
  }                                                                  \
  rpl_wait_end(waits);                                               \
  return rc;                                                         \
 }

#define GETS_VOID(NAME, PARAMS, ARGS)                                                 \
 LIBC_PUBLIC void NAME PARAMS {                                                       \
  LIBC_REAL(NAME)                                                                     \
  const bool counts = ordered(__builtin_return_address(0)), waits = rpl_wait_begin(); \
  const int rc = counts && rpl.mode == RPL_REPLAYS ? rpl_turn(&locks) : RPL_NO_TURN;  \
  real ARGS;                                                                          \
  rpl_wait_end(waits);                                                                \
  if (rc != RPL_NO_TURN)                                                              \
   has_taken();                                                                       \
  else if (counts && rpl.mode == RPL_RECORDS)                                         \
   has_noted(0);                                                                      \
 }

/* A wait for a condition, which returns with its mutex. */
#define WAITS(NAME, PARAMS, ARGS, UNLOCK, LOCK, MUTEX)         \
 LIBC_PUBLIC int NAME PARAMS {                                 \
  LIBC_REAL(NAME)                                              \
  if (!ordered(__builtin_return_address(0))) return real ARGS; \
  const bool waits = rpl_wait_begin();                         \
  int rc = 0;                                                  \
  if (rpl.mode == RPL_REPLAYS) {                               \
   (void)UNLOCK(MUTEX);                                        \
   rc = rpl_turn(&locks);                                      \
   (void)LOCK(MUTEX); /* not ordered: not the program's */     \
   if (rc != RPL_NO_TURN) has_taken();                         \
   if (rc == RPL_NO_TURN) rc = 0;                              \
  } else {                                                     \
   rc = real ARGS;                                             \
   if (rpl.mode == RPL_RECORDS) has_noted(rc);                 \
  }                                                            \
  rpl_wait_end(waits);                                         \
  return rc;                                                   \
 }

GETS(pthread_mutex_lock, (pthread_mutex_t * m), (m))
GETS(pthread_mutex_trylock, (pthread_mutex_t * m), (m))
GETS(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
GETS(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
GETS(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l))
GETS(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l))
GETS(pthread_spin_lock, (pthread_spinlock_t * l), (l))
GETS(pthread_spin_trylock, (pthread_spinlock_t * l), (l))
GETS(gexx_hsl_trylock, (gex_HSL_t * hsl), (hsl))
GETS_VOID(gexx_hsl_lock, (gex_HSL_t * hsl), (hsl))

/* Semaphores: a failure is in errno. */
#define GETS_SEM(NAME, PARAMS, ARGS)                                      \
 LIBC_PUBLIC int NAME PARAMS {                                            \
  LIBC_REAL(NAME)                                                         \
  if (!ordered(__builtin_return_address(0))) return real ARGS;            \
  const bool waits = rpl_wait_begin();                                    \
  int failure = rpl.mode == RPL_REPLAYS ? rpl_turn(&locks) : RPL_NO_TURN; \
  if (failure == RPL_NO_TURN) {                                           \
   failure = real ARGS ? errno : 0;                                       \
   if (rpl.mode == RPL_RECORDS) has_noted(failure);                       \
  } else {                                                                \
   while (failure == 0 && real ARGS != 0) (void)sched_yield();            \
   has_taken();                                                           \
  }                                                                       \
  rpl_wait_end(waits);                                                    \
  if (failure) errno = failure;                                           \
  return failure ? -1 : 0;                                                \
 }
GETS_SEM(sem_wait, (sem_t * s), (s))
GETS_SEM(sem_trywait, (sem_t * s), (s))
GETS_SEM(sem_timedwait, (sem_t * s, const struct timespec *t), (s, t))
GETS_SEM(sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *t), (s, clock, t))

#define MUTEX_OF(m)                       pthread_mutex_unlock, pthread_mutex_lock, m
#define MTX_OF(m)                         mtx_unlock, mtx_lock, m
#define WAITS_OF(NAME, PARAMS, ARGS, ...) WAITS(NAME, PARAMS, ARGS, __VA_ARGS__)
WAITS_OF(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m), MUTEX_OF(m))
WAITS_OF(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t),
         (c, m, t), MUTEX_OF(m))
WAITS_OF(pthread_cond_clockwait,
         (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *t),
         (c, m, clock, t), MUTEX_OF(m))

/* Those of C11. */
GETS(mtx_lock, (mtx_t * m), (m))
GETS(mtx_trylock, (mtx_t * m), (m))
GETS(mtx_timedlock, (mtx_t * m, const struct timespec *t), (m, t))
WAITS_OF(cnd_wait, (cnd_t * c, mtx_t *m), (c, m), MTX_OF(m))
WAITS_OF(cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *t), (c, m, t), MTX_OF(m))

/* Those of gcc's OpenMP. */
void GOMP_critical_start(void);
void GOMP_critical_name_start(void **name);
void omp_set_lock(void *lock);
GETS_VOID(GOMP_critical_start, (void), ())
GETS_VOID(GOMP_critical_name_start, (void **name), (name))
GETS_VOID(omp_set_lock, (void *lock), (lock))
