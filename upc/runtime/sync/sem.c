/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Semaphores, and puts that post one (bupc_sem_t).
 *
 * Called by UPC programs. Calls: the library's semaphores. Invariants: the memory behind a
 * bupc_sem_t lies at the thread that made it and names the library's semaphore there; that thread
 * alone waits. That memory stays a semaphore for good: one that is freed waits here for the next
 * bupc_sem_alloc with equal flags. So the memory behind a bupc_sem_t never changes, and a thread to
 * which it is far fetches it once. Every call is a fence: a wait's stands before it, where it costs
 * nothing while there is nothing to take, and taking acquires, as a strict read does.
 */
#include "rt.h"

#include <stddef.h>
#include <string.h>

typedef upcr_pts_t sem_t;

struct upcr_sem {
  gexx_Sem_Handle_t handle;
  uint64_t freed; /* 1: by any thread; 0: in use */
  uint64_t flags;
  gexx_Sem_t sem;        /* the owner's, as the next fields */
  struct upcr_sem *next; /* in the circle of its semaphores */
  sem_t name;
};

enum {
  LOOKS = 8,   /* at semaphores that may be free, in one bupc_sem_alloc */
  CACHED = 256 /* far semaphores whose handles are remembered, a power of two */
};

static struct upcr_sem *circle; /* one of the semaphores of this thread, NULL: there are none */
static struct {
  sem_t name;
  gexx_Sem_Handle_t handle;
} cache[CACHED];

extern upcr_pts_t upc_alloc(size_t nbytes);

RT_EXPORT sem_t bupc_sem_alloc(int flags);
RT_EXPORT void bupc_sem_free(sem_t s);
RT_EXPORT void bupc_sem_post(sem_t s);
RT_EXPORT void bupc_sem_postN(sem_t s, size_t n);
RT_EXPORT void bupc_sem_wait(sem_t s);
RT_EXPORT void bupc_sem_waitN(sem_t s, size_t n);
RT_EXPORT int bupc_sem_try(sem_t s);
RT_EXPORT int bupc_sem_tryN(sem_t s, size_t n);
RT_EXPORT void bupc_memput_signal(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s,
                                  size_t n);
RT_EXPORT void bupc_memput_signal_async(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s,
                                        size_t n);

/* One flag of each pair. Whatever was asked for, a single thread takes: the owner. */
static unsigned complete_flags(int flags, const char *name) {
  unsigned f = (unsigned)flags;
  if (f & ~63u) rt_fatal("%s: flags %#x are unknown [TMB-2134]", name, f);
  if (!(f & (GEXX_SEM_BOOLEAN | GEXX_SEM_INTEGER))) f |= GEXX_SEM_INTEGER;
  if (!(f & (GEXX_SEM_SPRODUCER | GEXX_SEM_MPRODUCER))) f |= GEXX_SEM_MPRODUCER;
  if ((f & GEXX_SEM_SCONSUMER) && (f & GEXX_SEM_MCONSUMER)) return f; /* refused */
  return (f & ~(unsigned)GEXX_SEM_MCONSUMER) | GEXX_SEM_SCONSUMER;
}

/* A semaphore of this thread that was freed, emptied; NULL: none is found. Where many are in use,
 * a free one may be found later: each call checks a few, and the next call goes on behind them. */
static struct upcr_sem *take_freed(uint64_t flags) {
  for (int i = 0; circle && i < LOOKS; i++) {
    circle = circle->next;
    if (circle->flags != flags || !__atomic_load_n(&circle->freed, __ATOMIC_ACQUIRE)) continue;
    while (gexx_Sem_Try(circle->sem) == GASNET_OK) continue;
    __atomic_store_n(&circle->freed, 0, __ATOMIC_RELAXED);
    return circle;
  }
  return NULL;
}

sem_t bupc_sem_alloc(int flags) {
  const uint64_t all = complete_flags(flags, "bupc_sem_alloc");
  struct upcr_sem *here = take_freed(all);
  if (here) {
    gexx_check_allocated((gex_Rank_t)upcr_mythread, upcr_addrfield(here->name));
    return here->name;
  }
  const sem_t s = upc_alloc(sizeof(struct upcr_sem));
  if (!s) rt_fatal("bupc_sem_alloc: no shared memory is left; raise GASNET_MAX_SEGSIZE [TMB-2133]");
  here = (struct upcr_sem *)(void *)rt_mapped(s);
  *here = (struct upcr_sem){.flags = all, .name = s};
  if (gexx_Sem_Alloc(&here->sem, (unsigned)all) != GASNET_OK)
    rt_fatal("bupc_sem_alloc: no semaphore with flags %#x can be made [TMB-2132]", (unsigned)flags);
  here->handle = gexx_Sem_QueryHandle(here->sem);
  here->next = circle ? circle->next : here;
  if (circle) circle->next = here;
  circle = here;
  upcr_fence();
  return s;
}

/* The semaphore of this thread. */
static struct upcr_sem *own(sem_t s, const char *name) {
  if (upcr_threadof(s) != upcr_mythread)
    rt_fatal("%s: the semaphore belongs to thread %d; only that thread may wait for it [TMB-2131]",
             name, upcr_threadof(s));
  if (upcr_addrfield(s) < RT_GUARD) rt_fatal("%s: null semaphore [TMB-2130]", name);
  return (struct upcr_sem *)(void *)rt_mapped(s);
}

static gexx_Sem_Handle_t handle_of(sem_t s, const char *name) {
  gexx_Sem_Handle_t handle;
  if (upcr_addrfield(s) < RT_GUARD) rt_fatal("%s: null semaphore [TMB-2130]", name);
  const size_t at = (upcr_addrfield(s) / RT_ALIGN + (size_t)upcr_threadof(s) * 31) % CACHED;
  if (cache[at].name == s) return cache[at].handle;
  upcr_getn(&handle, s, sizeof handle);
  cache[at].name = s;
  cache[at].handle = handle;
  return handle;
}

/* Accesses before the post are done before it, and later ones after: on x86 the library's atomic
 * addition is a fence by itself, which the store of a BOOLEAN one is not. */
static inline void before_post(bool boolean) {
#if defined(__x86_64__) /* tidy-allow: platform because only here the addition orders all accesses \
                         */
  if (__builtin_expect(!boolean, 1)) {
    upcr_complete();
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return;
  }
#endif
  (void)boolean;
  upcr_fence();
}

/* Address of the counter of s where this process raises it by itself, and its handle; NULL
 * otherwise. Two loads that depend on each other lead to it: the post waits for them. */
static inline uint64_t *counter_of(sem_t s, gexx_Sem_Handle_t *handle) {
  char *const counters = rt.counters[upcr_threadof(s)];
  if (!counters || upcr_addrfield(s) < RT_GUARD) return NULL;
  *handle = ((const struct upcr_sem *)(const void *)rt_mapped(s))->handle;
  if (handle->gexx_index >= GEXX_SEM_COUNTERS) return NULL;
  return (uint64_t *)(void *)(counters + (size_t)GEXX_SEM_COUNTER_LINE * handle->gexx_index);
}

static __attribute__((noinline)) void post_by_library(sem_t s, size_t n, const char *name) {
  const gexx_Sem_Handle_t h = handle_of(s, name);
  before_post(h.gexx_flags & GEXX_SEM_BOOLEAN);
  if (n == 1)
    gexx_Sem_Post(h);
  else if (n)
    gexx_Sem_PostN(h, n);
}

static inline void post(sem_t s, size_t n, const char *name) {
  gexx_Sem_Handle_t h;
  uint64_t *const counter = counter_of(s, &h);
  if (__builtin_expect(!counter || !n, 0)) {
    post_by_library(s, n, name);
    return;
  }
  before_post(h.gexx_flags & GEXX_SEM_BOOLEAN);
  gexx_sem_raise(rt.tm, &h, counter, n);
}

/* By any thread; the owner takes it again. */
void bupc_sem_free(sem_t s) {
  uint64_t freed = 0;
  if (upcr_addrfield(s) < RT_GUARD) rt_fatal("bupc_sem_free: null semaphore [TMB-2129]");
  const upcr_pts_t at = upcr_make(upcr_addrfield(s) + offsetof(struct upcr_sem, freed), 0,
                                  (unsigned long)upcr_threadof(s));
  upcr_getns(&freed, at, sizeof freed);
  if (freed) rt_fatal("bupc_sem_free: the semaphore was freed before [TMB-2128]");
  freed = 1;
  gexx_check_freed((gex_Rank_t)upcr_threadof(s), upcr_addrfield(s));
  upcr_putns(at, &freed, sizeof freed);
}

void bupc_sem_post(sem_t s) {
  post(s, 1, "bupc_sem_post");
}

void bupc_sem_postN(sem_t s, size_t n) {
  post(s, n, "bupc_sem_postN");
}

void bupc_sem_wait(sem_t s) {
  const struct upcr_sem *here = own(s, "bupc_sem_wait");
  upcr_fence();
  if (gexx_Sem_Try(here->sem) == GASNET_OK) return;
  gexx_WaitInfo_t info = RT_WAIT("bupc_sem_wait", GEXX_WAIT_ANY);
  gexx_WaitInfo_Begin(&info);
  gexx_Sem_Wait(here->sem);
  gexx_WaitInfo_End();
}

void bupc_sem_waitN(sem_t s, size_t n) {
  struct upcr_sem *here = own(s, "bupc_sem_waitN");
  upcr_fence();
  if (n == 0) return;
  gexx_WaitInfo_t info = RT_WAIT("bupc_sem_waitN", GEXX_WAIT_ANY);
  gexx_WaitInfo_Begin(&info);
  if (n == 1)
    gexx_Sem_Wait(here->sem);
  else
    gexx_Sem_WaitN(here->sem, n);
  gexx_WaitInfo_End();
}

int bupc_sem_try(sem_t s) {
  const struct upcr_sem *here = own(s, "bupc_sem_try");
  upcr_fence();
  return gexx_Sem_Try(here->sem) == GASNET_OK;
}

int bupc_sem_tryN(sem_t s, size_t n) {
  struct upcr_sem *here = own(s, "bupc_sem_tryN");
  upcr_fence();
  if (n == 0) return 1;
  return (n == 1 ? gexx_Sem_Try(here->sem) : gexx_Sem_TryN(here->sem, n)) == GASNET_OK;
}

static inline void check_target(upcr_pts_t dst, sem_t s, const char *name) {
  if (upcr_threadof(dst) != upcr_threadof(s))
    rt_fatal("%s: the data go to thread %d, the semaphore is of thread %d [TMB-2127]", name,
             upcr_threadof(dst), upcr_threadof(s));
}

struct put {
  upcr_pts_t dst;
  const void *src;
  size_t nbytes;
  sem_t sem;
  size_t posts;
  bool async;
};

static const char *name_of(const struct put *p) {
  return p->async ? "bupc_memput_signal_async" : "bupc_memput_signal";
}

static __attribute__((noinline)) void put_by_library(const struct put *p) {
  const gexx_Sem_Handle_t h = handle_of(p->sem, name_of(p));
  before_post(h.gexx_flags & GEXX_SEM_BOOLEAN);
  (p->async ? gexx_Sem_PutSignalAsync : gexx_Sem_PutSignal)(h, rt_owner_addr(p->dst), p->src,
                                                            p->nbytes, p->posts);
}

/* Where the memory is mapped, the data are copied, and the post is ordered as one alone. */
static inline void put_signal(const struct put *p) {
  gexx_Sem_Handle_t h;
  check_target(p->dst, p->sem, name_of(p));
  char *const to = upcr_mapped(p->dst);
  uint64_t *const counter = to ? counter_of(p->sem, &h) : NULL;
  if (__builtin_expect(!counter || !p->posts, 0)) {
    put_by_library(p);
    return;
  }
  before_post(h.gexx_flags & GEXX_SEM_BOOLEAN);
  if (p->nbytes == 8)
    memcpy(to, p->src, 8);
  else
    memcpy(to, p->src, p->nbytes);
  gexx_sem_raise(rt.tm, &h, counter, p->posts);
}

void bupc_memput_signal(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s, size_t n) {
  RT_SITE("bupc_memput_signal");
  put_signal(&(const struct put){dst, src, nbytes, s, n, false});
}

void bupc_memput_signal_async(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s, size_t n) {
  RT_SITE("bupc_memput_signal_async");
  put_signal(&(const struct put){dst, src, nbytes, s, n, true});
}
