/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Semaphores: counters that any rank raises and their owner takes from.
 *
 * Owns: struct gexx_sem_s and the use of this rank's shared words. Called by clients. Calls: a
 * region of the on-node engine, peer.h; wait.c's loop of waiting; deferred_put.c. A counter
 * is a shared word while there are any, else private memory; a post is one atomic operation on a
 * shared word that is mapped here, else a signal without data. Invariants: a handle holds all that
 * a post needs; freed semaphores are reused but never returned to the system, so a stale pointer is
 * named in debug clients; a BOOLEAN counter is 0 or 1, and taking it sets it to 0. An INTEGER
 * counter counts all posts, modulo 2^64, and the owner counts beside it those taken: its cache line
 * goes from the producer to the owner and back once a post, as the owner only reads it.
 */
#include "base/atomic.h"
#include "base/config.h"
#include "base/container/list.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/segment/check_range.h"
#include "core/segment/segment_table.h"
#include "notify/deferred_put.h"
#include "notify/notify.h"
#include "os/sync/lock.h"

#include <stdlib.h>

#define MAGIC_SEM 0x73656d31u
#define NO_WORD   UINT16_MAX
#define WORDS     GEXX_SEM_COUNTERS /* shared words of a rank */
#define PROBES    8

struct gexx_sem_s {
  uint32_t magic;   /* 0 when free */
  uint32_t waiters; /* counted in debug clients */
  uint64_t *count;  /* shared word, or &private_word */
  uint64_t taken;   /* of an INTEGER one; only the owner's threads use it */
  uint64_t private_word TMB_ALIGNED(TMB_CACHE_LINE);
  gexx_Sem_Handle_t handle;
  struct gexx_sem_s *next; /* free list */
};

/* Shared words of a rank, each alone in its cache line. */
struct words {
  struct tmb_near_line line[WORDS];
};

static struct tmb_lock sems_lock;
static struct {
  uint32_t words_used; /* shared words given to semaphores so far; they are never returned */
  struct gexx_sem_s *free_list;
} sems TMB_GUARDED_BY(sems_lock);

_Static_assert(sizeof(gexx_Sem_Handle_t) == 16, "a handle can be sent as 16 bytes");
_Static_assert(WORDS < NO_WORD, "an index fits the handle");
_Static_assert(sizeof(struct tmb_near_line) == GEXX_SEM_COUNTER_LINE, "as clients count them");

static uint32_t region; /* of the on-node engine */

static void ask(void) {
  region = tmb_near_region(&tmb_job.near, "semaphores", sizeof(struct words));
}

const struct tmb_layer tmb_sem_layer = {.name = "semaphores", .ask = ask};

/* A word of a rank that is reached by load and store, or NULL. */
static uint64_t *word_of(uint32_t rank, uint32_t index) {
  struct words *words = index < WORDS ? tmb_peer_region(region, rank) : NULL;
  return words ? &words->line[index].word : NULL;
}

/* A new semaphore with the next shared word; under the lock. */
TMB_REQUIRES(sems_lock) static struct gexx_sem_s *make(void) {
  struct gexx_sem_s *s = aligned_alloc(TMB_CACHE_LINE, sizeof *s);
  if (!s) return NULL;
  *s = (struct gexx_sem_s){.handle = {.gexx_rank = tmb_job.rank, .gexx_index = NO_WORD}};
  s->count = &s->private_word;
  if (sems.words_used < WORDS) {
    struct words *words = tmb_near_at(&tmb_job.near, region, tmb_near_of(tmb_job.rank));
    const uint32_t index = sems.words_used++;
    if (tmb_job.near_memory && tmb_cfg_bool(TMB_CFG_SHM_MAP))
      s->handle.gexx_index = (uint16_t)index;
    s->count = &words->line[index].word;
  }
  s->handle.gexx_addr = (uint64_t)(uintptr_t)s->count;
  return s;
}

static bool one_of(unsigned flags, unsigned a, unsigned b) {
  return !(flags & a) != !(flags & b);
}

int gexx_Sem_Alloc(gexx_Sem_t *sem_p, unsigned flags) {
  if (tmb_job.debug) tmb_check_context_at("gexx_Sem_Alloc");
  if (!sem_p || flags > 0x3f || !one_of(flags, GEXX_SEM_BOOLEAN, GEXX_SEM_INTEGER) ||
      !one_of(flags, GEXX_SEM_SPRODUCER, GEXX_SEM_MPRODUCER) ||
      !one_of(flags, GEXX_SEM_SCONSUMER, GEXX_SEM_MCONSUMER))
    return GASNET_ERR_BAD_ARG;
  tmb_lock_acquire(&sems_lock);
  struct gexx_sem_s *s = TMB_LIST_POP(&sems.free_list);
  if (!s) s = make();
  tmb_lock_release(&sems_lock);
  if (!s) return GASNET_ERR_RESOURCE;
  s->handle.gexx_flags = (uint16_t)flags;
  tmb_store_rel(s->count, 0);
  s->taken = 0;
  s->waiters = 0;
  s->magic = MAGIC_SEM;
  *sem_p = s;
  return GASNET_OK;
}

static void check_sem(const char *call, gexx_Sem_t sem) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_check_ready_at(call);
  if (!sem || sem->magic != MAGIC_SEM)
    tmb_fatal_nopos(
        "%s: argument sem (%p) is not a semaphore of this rank; it is NULL, or was freed", call,
        (void *)sem);
}

void gexx_Sem_Free(gexx_Sem_t sem) {
  check_sem("gexx_Sem_Free", sem);
  TMB_CHECK(!tmb_load_rlx(&sem->waiters), "gexx_Sem_Free: %u threads wait for the semaphore %p",
            sem->waiters, (void *)sem);
  sem->magic = 0;
  tmb_lock_acquire(&sems_lock);
  TMB_LIST_PUSH(&sems.free_list, sem);
  tmb_lock_release(&sems_lock);
}

gexx_Sem_Handle_t gexx_Sem_QueryHandle(gexx_Sem_t sem) {
  check_sem("gexx_Sem_QueryHandle", sem);
  return sem->handle;
}

/* ---- producers */

static void check_post(const char *call, const gexx_Sem_Handle_t *h, uint64_t n, bool many) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_check_context_at(call);
  if (h->gexx_rank >= tmb_job.size || !h->gexx_addr || !h->gexx_flags || h->gexx_flags > 0x3f)
    tmb_fatal_nopos("%s: argument sem is not the handle of a semaphore (rank %u, flags 0x%x)", call,
                    h->gexx_rank, h->gexx_flags);
  if ((h->gexx_flags & GEXX_SEM_BOOLEAN) && (many || n != 1))
    tmb_fatal_nopos("%s: argument sem is a BOOLEAN semaphore, argument n is %llu; a BOOLEAN one is "
                    "posted by gexx_Sem_Post, or with n = 1 by gexx_Sem_PutSignal",
                    call, (unsigned long long)n);
}

/* Address in this process of the counter of a semaphore; NULL when it is not mapped here, so
 * that only messages reach it. */
static uint64_t *counter_of(const gexx_Sem_Handle_t *h) {
  if (h->gexx_rank == tmb_job.rank) return (uint64_t *)(uintptr_t)h->gexx_addr;
  return word_of(h->gexx_rank, h->gexx_index);
}

char *gexx_sem_counters(gex_Rank_t rank) {
  const bool by_library = tmb_job.debug || tmb_job.counted || !tmb_cfg_bool(TMB_CFG_SHM_MAP);
  return by_library ? NULL : (char *)word_of(rank, 0);
}

static void record(uint64_t begun, const gexx_Sem_Handle_t *h, uint64_t n, size_t nbytes) {
  const struct tmb_trace_event like = {.what = TMB_WHAT_PUT_SIGNAL,
                                       .peer = h->gexx_rank,
                                       .bytes = nbytes,
                                       .object = h->gexx_addr,
                                       .value = n};
  tmb_record_signal(begun, &like, NULL, counter_of(h) != NULL);
}

static void add_posts(const gexx_Sem_Handle_t *h, uint64_t *count, uint64_t n, size_t nbytes) {
  const uint64_t begun = tmb_record_clock();
  if (h->gexx_flags & GEXX_SEM_BOOLEAN)
    tmb_store_rel(count, 1);
  else
    tmb_fetch_add_rel(count, n);
  tmb_count(GEXX_STATS_PUT_SIGNAL, h->gexx_rank, nbytes);
  record(begun, h, n, nbytes);
  gexx_signal_wake(&tmb_job.tm, h->gexx_rank);
}

/* Put the data (if any) and raise the counter by message. in deferred: the caller keeps the source
 * until the counter is raised, so it need not have been read when this returns. */
static void send(const gexx_Sem_Handle_t *h, const struct gexx_signal_op *put, uint64_t n,
                 bool deferred) {
  const struct tmb_rma rma = {.peer = h->gexx_rank,
                              .remote = put ? put->remote : NULL,
                              .local = put ? put->local : NULL,
                              .nbytes = put ? put->nbytes : 0};
  const struct tmb_signal signal = {(void *)(uintptr_t)h->gexx_addr, n,
                                    h->gexx_flags & GEXX_SEM_BOOLEAN ? TMB_SIGNAL_SET
                                                                     : TMB_SIGNAL_ADD};
  const uint64_t begun = tmb_record_clock();
  if (deferred)
    tmb_deferred_put(&rma, &signal);
  else
    (void)tmb_peer_put_signal(&rma, &signal);
  record(begun, h, n, rma.nbytes);
}

/* Raise the counter by n. in nbytes: length of the data that were put before, for the
 * statistics. */
static void post(const gexx_Sem_Handle_t *h, uint64_t n, size_t nbytes) {
  uint64_t *count = counter_of(h);
  if (tmb_peer_lost(h->gexx_rank)) (void)tmb_lost_record(h->gexx_rank);
  if (TMB_LIKELY(count != NULL))
    add_posts(h, count, n, nbytes);
  else
    send(h, NULL, n, true);
}

void gexx_Sem_Post(gexx_Sem_Handle_t sem) {
  check_post("gexx_Sem_Post", &sem, 1, false);
  post(&sem, 1, 0);
}

void gexx_Sem_PostN(gexx_Sem_Handle_t sem, uint64_t n) {
  check_post("gexx_Sem_PostN", &sem, n, true);
  post(&sem, n, 0);
}

static void put_post(const char *call, const gexx_Sem_Handle_t *h, const struct gexx_signal_op *put,
                     bool deferred) {
  check_post(call, h, put->value, false);
  if (TMB_UNLIKELY(tmb_job.debug) && put->nbytes) {
    tmb_check_remote(call, "dest", put->tm, put->rank, put->remote, put->nbytes);
    tmb_check_local(call, "src", put->local, put->nbytes, 0);
  }
  const intptr_t delta = tmb_segtab_delta_of(put->tm, put->rank);
  if (put->nbytes && delta == GEXX_UNMAPPED) {
    send(h, put, put->value, deferred);
    return;
  }
  if (put->nbytes) gexx_rma_copy(gexx_rma_local(delta, put->remote), put->local, put->nbytes);
  post(h, put->value, put->nbytes);
}

/* A team whose tables say where a peer's memory at dest is: that memory may be the segment of any
 * endpoint. */
static gex_TM_t team_for(uint32_t rank, const void *dest, size_t nbytes) {
  const int endpoint = nbytes ? tmb_segtab_endpoint(rank, dest, nbytes) : 0;
  return TMB_LIKELY(endpoint <= 0) ? &tmb_job.tm : &tmb_job.ep.pair[endpoint];
}

static TMB_ALWAYS_INLINE struct gexx_signal_op put_to(uint32_t rank, void *dest, const void *src,
                                                      size_t nbytes, uint64_t n) {
  return (struct gexx_signal_op){.tm = team_for(rank, dest, nbytes),
                                 .rank = rank,
                                 .remote = dest,
                                 .local = (void *)(uintptr_t)src,
                                 .nbytes = nbytes,
                                 .value = n};
}

void gexx_Sem_PutSignal(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                        uint64_t n) {
  const struct gexx_signal_op put = put_to(sem.gexx_rank, dest, src, nbytes, n);
  put_post("gexx_Sem_PutSignal", &sem, &put, false);
}

/* The asynchronous form differs only where the data travel by message; mapped data are copied at
 * once. */
void gexx_Sem_PutSignalAsync(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                             uint64_t n) {
  const struct gexx_signal_op put = put_to(sem.gexx_rank, dest, src, nbytes, n);
  put_post("gexx_Sem_PutSignalAsync", &sem, &put, true);
}

/* ---- the owner */

struct take {
  gexx_Sem_t sem;
  uint64_t n;
  bool taken; /* done: tmb_signal_wait may call again after success, and n must be taken once */
};

static bool take_boolean(uint64_t *count) {
  uint64_t found = tmb_load_rlx(count);
  return found != 0 && tmb_cas_acq(count, &found, 0);
}

/* The count of taken posts, which only grows, is read before the posts: where it has not changed
 * when it is updated, the posts that were found are there to be taken. */
static bool take_integer(gexx_Sem_t sem, uint64_t n) {
  uint64_t taken = tmb_load_acq(&sem->taken);
  while (tmb_load_acq(sem->count) - taken >= n) {
    if (sem->handle.gexx_flags & GEXX_SEM_SCONSUMER) {
      tmb_store_rlx(&sem->taken, taken + n);
      return true;
    }
    if (tmb_cas_acq(&sem->taken, &taken, taken + n)) return true;
  }
  return false;
}

static bool take_once(struct take *t) {
  if (!t->taken)
    t->taken = t->sem->handle.gexx_flags & GEXX_SEM_BOOLEAN ? take_boolean(t->sem->count)
                                                            : take_integer(t->sem, t->n);
  return t->taken;
}

static bool take_ready(void *arg) {
  for (int i = 1; i < PROBES; i++) {
    if (take_once(arg)) return true;
    tmb_cpu_pause();
  }
  return take_once(arg);
}

static void check_take(const char *call, gexx_Sem_t sem, bool many) {
  if (TMB_LIKELY(!tmb_job.debug)) return;
  tmb_check_context_at(call);
  check_sem(call, sem);
  if (many && (sem->handle.gexx_flags & GEXX_SEM_BOOLEAN))
    tmb_fatal_nopos(
        "%s: argument sem is a BOOLEAN semaphore, which holds at most one; take it with "
        "gexx_Sem_Wait or gexx_Sem_Try",
        call);
}

static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct take *t = arg;
  out->kind = TMB_WAIT_SEMAPHORE;
  out->addr = (uintptr_t)t->sem->count;
  out->value = t->n;
  out->number = tmb_load_rlx(&t->sem->taken);
  out->found = tmb_load_rlx(t->sem->count) - out->number;
}

/* Debug clients count waiting threads, for two checks; others go without two atomic operations. */
static void wait_counted(const char *call, struct take *t) {
  const uint32_t others = tmb_fetch_add_rlx(&t->sem->waiters, 1);
  TMB_CHECK(!others || !(t->sem->handle.gexx_flags & GEXX_SEM_SCONSUMER),
            "%s: %u threads wait for a semaphore that was allocated with GEXX_SEM_SCONSUMER; "
            "allocate it with GEXX_SEM_MCONSUMER",
            call, others + 1);
  tmb_signal_wait(take_ready, t, describe);
  tmb_fetch_sub_rel(&t->sem->waiters, 1);
}

static void wait_for(const char *call, gexx_Sem_t sem, uint64_t n) {
  struct take t = {sem, n, false};
  if (TMB_LIKELY(!tmb_job.debug))
    tmb_signal_wait(take_ready, &t, describe);
  else if (!take_once(&t))
    wait_counted(call, &t);
}

void gexx_Sem_Wait(gexx_Sem_t sem) {
  check_take("gexx_Sem_Wait", sem, false);
  wait_for("gexx_Sem_Wait", sem, 1);
}

void gexx_Sem_WaitN(gexx_Sem_t sem, uint64_t n) {
  check_take("gexx_Sem_WaitN", sem, true);
  wait_for("gexx_Sem_WaitN", sem, n);
}

static int try(gexx_Sem_t sem, uint64_t n) {
  struct take t = {sem, n, false};
  if (take_once(&t)) return GASNET_OK;
  tmb_poll();
  return take_once(&t) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

int gexx_Sem_Try(gexx_Sem_t sem) {
  check_take("gexx_Sem_Try", sem, false);
  return try(sem, 1);
}

int gexx_Sem_TryN(gexx_Sem_t sem, uint64_t n) {
  check_take("gexx_Sem_TryN", sem, true);
  return try(sem, n);
}
