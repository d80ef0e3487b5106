/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Semaphores, and puts that post one (bupc_sem_t).
 *
 * Called by UPC programs. Calls: the library's semaphores. Invariants: what a bupc_sem_t points to
 * lies in the memory of the thread that made it and names the library's semaphore there; that
 * thread alone waits. Every call is a fence: a wait's stands before it, where it costs nothing
 * while there is nothing to take, and taking acquires, as a strict read does.
 */
#include "rt.h"

#include <string.h>

typedef upcr_pts_t sem_t;

struct upcr_sem {
  gexx_Sem_Handle_t handle;
  gexx_Sem_t sem; /* the owner's */
  uint64_t flags;
};

extern upcr_pts_t upc_alloc(size_t nbytes);
extern void upc_free(upcr_pts_t p);

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

/* One flag of each pair. */
static unsigned complete_flags(int flags, const char *name) {
  unsigned f = (unsigned)flags;
  if (f & ~63u) rt_fatal("%s: flags %#x are unknown", name, f);
  if (!(f & (GEXX_SEM_BOOLEAN | GEXX_SEM_INTEGER))) f |= GEXX_SEM_INTEGER;
  if (!(f & (GEXX_SEM_SPRODUCER | GEXX_SEM_MPRODUCER))) f |= GEXX_SEM_MPRODUCER;
  if (!(f & (GEXX_SEM_SCONSUMER | GEXX_SEM_MCONSUMER))) f |= GEXX_SEM_MCONSUMER;
  return f;
}

sem_t bupc_sem_alloc(int flags) {
  const sem_t s = upc_alloc(sizeof(struct upcr_sem));
  if (!s) rt_fatal("bupc_sem_alloc: no shared memory is left; raise GASNET_MAX_SEGSIZE");
  struct upcr_sem *here = (struct upcr_sem *)(void *)upcr_mapped(s);
  here->flags = complete_flags(flags, "bupc_sem_alloc");
  if (gexx_Sem_Alloc(&here->sem, (unsigned)here->flags) != GASNET_OK)
    rt_fatal("bupc_sem_alloc: no semaphore with flags %#x can be made", (unsigned)flags);
  here->handle = gexx_Sem_QueryHandle(here->sem);
  upcr_fence();
  return s;
}

/* The semaphore of this thread. */
static struct upcr_sem *own(sem_t s, const char *name) {
  if (upcr_threadof(s) != upcr_mythread)
    rt_fatal("%s: the semaphore belongs to thread %d; only that thread may wait for it or free it",
             name, upcr_threadof(s));
  if (upcr_addrfield(s) < RT_GUARD) rt_fatal("%s: null semaphore", name);
  return (struct upcr_sem *)(void *)upcr_mapped(s);
}

static gexx_Sem_Handle_t handle_of(sem_t s, const char *name) {
  gexx_Sem_Handle_t handle;
  if (upcr_addrfield(s) < RT_GUARD) rt_fatal("%s: null semaphore", name);
  upcr_getn(&handle, s, sizeof handle);
  return handle;
}

/* What comes before the post is done before it, and what follows after: on x86 the library's atomic
 * addition is a fence by itself, which the store of a BOOLEAN one is not. */
static void before_post(const gexx_Sem_Handle_t *h) {
#if defined(__x86_64__) /* tidy-allow: platform because only here the addition orders all accesses \
                         */
  if (!(h->gexx_flags & GEXX_SEM_BOOLEAN)) {
    upcr_complete();
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return;
  }
#endif
  (void)h;
  upcr_fence();
}

/* Where this process raises a counter by itself: what the library said of a handle, which it says
 * of it for ever. UPC calls are made by one thread. */
#define KNOWN 64 /* by the line of the counter and the thread; the last that was used stays */
static struct known {
  gexx_Sem_Handle_t handle;
  uint64_t *counter;
} known[KNOWN];

static inline uint64_t *counter_of(const gexx_Sem_Handle_t *h) {
  struct known *k = &known[(h->gexx_addr / 64 + h->gexx_rank) % KNOWN];
  if (__builtin_expect(memcmp(&k->handle, h, sizeof *h) != 0, 0))
    *k = (struct known){*h, gexx_sem_counter(*h)};
  return k->counter;
}

static inline void post(const gexx_Sem_Handle_t *h, size_t n) {
  uint64_t *counter = counter_of(h);
  if (counter)
    gexx_sem_raise(rt.tm, h, counter, n);
  else if (n == 1)
    gexx_Sem_Post(*h);
  else
    gexx_Sem_PostN(*h, n);
}

void bupc_sem_free(sem_t s) {
  gexx_Sem_Free(own(s, "bupc_sem_free")->sem);
  upc_free(s);
}

void bupc_sem_post(sem_t s) {
  const gexx_Sem_Handle_t h = handle_of(s, "bupc_sem_post");
  before_post(&h);
  post(&h, 1);
}

void bupc_sem_postN(sem_t s, size_t n) {
  const gexx_Sem_Handle_t h = handle_of(s, "bupc_sem_postN");
  before_post(&h);
  if (n) post(&h, n);
}

void bupc_sem_wait(sem_t s) {
  const struct upcr_sem *here = own(s, "bupc_sem_wait");
  upcr_fence();
  gexx_Sem_Wait(here->sem);
}

void bupc_sem_waitN(sem_t s, size_t n) {
  struct upcr_sem *here = own(s, "bupc_sem_waitN");
  upcr_fence();
  if (n == 1)
    gexx_Sem_Wait(here->sem);
  else if (n)
    gexx_Sem_WaitN(here->sem, n);
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

static void check_target(upcr_pts_t dst, sem_t s, const char *name) {
  if (upcr_threadof(dst) != upcr_threadof(s))
    rt_fatal("%s: the data go to thread %d, the semaphore is of thread %d", name,
             upcr_threadof(dst), upcr_threadof(s));
}

typedef void put_by_message(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                            uint64_t n);

/* Where the memory is mapped, the data are copied, and the post is ordered as one alone. */
static inline void put_signal(upcr_pts_t dst, const void *src, size_t nbytes, gexx_Sem_Handle_t h,
                              size_t n, put_by_message *far) {
  char *to = upcr_mapped(dst);
  before_post(&h);
  if (!to || !n) {
    far(h, rt_owner_addr(dst), src, nbytes, n);
    return;
  }
  if (nbytes == 8)
    memcpy(to, src, 8);
  else
    memcpy(to, src, nbytes);
  post(&h, n);
}

void bupc_memput_signal(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s, size_t n) {
  check_target(dst, s, "bupc_memput_signal");
  put_signal(dst, src, nbytes, handle_of(s, "bupc_memput_signal"), n, gexx_Sem_PutSignal);
}

void bupc_memput_signal_async(upcr_pts_t dst, const void *src, size_t nbytes, sem_t s, size_t n) {
  check_target(dst, s, "bupc_memput_signal_async");
  put_signal(dst, src, nbytes, handle_of(s, "bupc_memput_signal_async"), n,
             gexx_Sem_PutSignalAsync);
}
