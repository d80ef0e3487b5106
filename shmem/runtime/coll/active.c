/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of active sets (OpenSHMEM 1.0 to 1.4).
 *
 * Owns nothing. Called by programs. Calls: puts with signals; the members alone call, so there is
 * no team below for them. Signals are added to words of pSync, and whoever waits subtracts them, so
 * that pSync holds SHMEM_SYNC_VALUE again at the end. Words 0 to 31 of it serve barriers, one a
 * round; DATA counts blocks that have arrived; CHAIN holds where the block of a PE goes. A set of
 * all PEs uses the collectives of the world. Algorithms: the barrier is by dissemination (D.
 * Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization, 1988, DOI
 * 10.1007/BF01379320), the broadcast by a binomial tree.
 */
#include "../sh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DATA  32
#define CHAIN 33

void pshmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr,
                          uint64_t signal, int sig_op, int pe);
void pshmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
void pshmem_getmem(void *dest, const void *source, size_t nelems, int pe);

/* With SHMEM_DEBUG: pSync is ready. Members that are ahead, by one call at most, have added to the
 * words of a set of some PEs, and to DATA in a broadcast to all. */
static void check_sync(const char *call, const struct sh_set *set) {
  for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
    const long value = __atomic_load_n(&set->sync[i], __ATOMIC_RELAXED);
    const bool used = set->world ? i == DATA : i <= CHAIN;
    const long most = !used ? 0 : i == CHAIN ? LONG_MAX : 2L * set->size;
    if (value < 0 || value > most)
      sh_fatal(call,
               "argument pSync is %p, whose element %d is %ld; set all elements to "
               "SHMEM_SYNC_VALUE before the first use, and use no array that another collective "
               "uses [TMB-2331]",
               (void *)set->sync, i, value);
  }
}

struct sh_set sh_set(const char *call, int start, int log_stride, int size, long *sync) {
  sh_need_start(call);
  const int64_t stride = log_stride >= 0 && log_stride < 31 ? (int64_t)1 << log_stride : 0;
  const int64_t last = start + stride * (size - 1);
  if (size < 1 || !stride || start < 0 || last >= sh.size)
    sh_fatal(call,
             "arguments PE_start, logPE_stride and PE_size are %d, %d and %d, which are not PEs of "
             "0 to %u [TMB-2325]",
             start, log_stride, size, sh.size - 1);
  const int64_t away = (int64_t)sh.pe - start;
  if (away < 0 || away % stride || away / stride >= size)
    sh_fatal(
        call,
        "this PE is not in the active set of PE_start %d, logPE_stride %d, PE_size %d [TMB-2324]",
        start, log_stride, size);
  (void)sh_find(&sh.ctx, call, "pSync", sync, SHMEM_SYNC_SIZE * sizeof *sync, (int)sh.pe);
  const struct sh_set set = {
      start, (int)stride, size, (int)(away / stride), (uint32_t)size == sh.size, sync};
  if (SH_UNLIKELY(sh.debug)) check_sync(call, &set);
  return set;
}

static int pe_of(const struct sh_set *s, int i) {
  return s->start + i * s->stride;
}

static uint64_t *word(const struct sh_set *s, int i) {
  return (uint64_t *)(void *)&s->sync[i];
}

static bool has_counted(const struct sh_cond *c, void *n) {
  return __atomic_load_n((const uint64_t *)c->ivars, __ATOMIC_ACQUIRE) >= *(const uint64_t *)n;
}

static void consume(const struct sh_set *s, int i, uint64_t n) {
  if (!n) return;
  sh_wait(&(struct sh_cond){.ivars = word(s, i), .call = "a collective of an active set"},
          has_counted, &n);
  __atomic_fetch_sub(word(s, i), n, __ATOMIC_RELAXED);
}

static void synchronise(const struct sh_set *s) {
  if (s->world) {
    sh_barrier();
    return;
  }
  for (int round = 0, away = 1; away < s->size; round++, away *= 2) {
    pshmem_signal_add(word(s, round), 1, pe_of(s, (s->rank + away) % s->size));
    consume(s, round, 1);
  }
}

/* Puts a block to member i, and counts it there. */
static void send(const struct sh_set *s, void *dest, const void *source, size_t bytes, int i) {
  pshmem_putmem_signal(dest, source, bytes, word(s, DATA), 1, SHMEM_SIGNAL_ADD, pe_of(s, i));
}

/* Sends to all members, beginning behind the caller. */
static void send_all(const struct sh_set *s, void *dest, const void *source, size_t bytes) {
  for (int k = 1; k <= s->size; k++) send(s, dest, source, bytes, (s->rank + k) % s->size);
  consume(s, DATA, (uint64_t)s->size);
}

static void broadcast(const struct sh_set *s, void *dest, const void *source, size_t bytes,
                      int root) {
  if (root < 0 || root >= s->size)
    sh_fatal("broadcast", "argument PE_root is %d; the active set has PEs 0 to %d [TMB-2323]", root,
             s->size - 1);
  const int rank = (s->rank - root + s->size) % s->size;
  if (rank) consume(s, DATA, 1);
  int away = 1;
  while (away <= rank) away *= 2;
  for (; rank + away < s->size; away *= 2)
    send(s, dest, rank ? dest : source, bytes, (rank + away + root) % s->size);
}

static void fcollect(const struct sh_set *s, void *dest, const void *source, size_t bytes) {
  if (s->world)
    sh_fcollect(&sh.world, dest, source, bytes);
  else
    send_all(s, (char *)dest + (size_t)s->rank * bytes, source, bytes);
}

static void collect(const struct sh_set *s, void *dest, const void *source, size_t bytes) {
  if (s->world) {
    sh_collect(&sh.world, dest, source, bytes);
    return;
  }
  uint64_t at = 0;
  if (s->rank) {
    consume(s, CHAIN, 1);
    at = __atomic_exchange_n(word(s, CHAIN), 0, __ATOMIC_ACQUIRE);
  }
  if (s->rank + 1 < s->size)
    pshmem_signal_add(word(s, CHAIN), at + bytes + 1, pe_of(s, s->rank + 1));
  send_all(s, (char *)dest + at, source, bytes);
}

static void alltoall(const struct sh_set *s, void *dest, const void *source, size_t bytes) {
  if (s->world) {
    sh_alltoall(&sh.world, dest, source, bytes);
    return;
  }
  for (int k = 1; k <= s->size; k++) {
    const int i = (s->rank + k) % s->size;
    send(s, (char *)dest + (size_t)s->rank * bytes, (const char *)source + (size_t)i * bytes, bytes,
         i);
  }
  consume(s, DATA, (uint64_t)s->size);
}

/* Blocks of strided elements, packed by the sender and unpacked by the receiver, which gets them
 * from the sender's source: strides may differ between the sides. */
static void alltoalls(const struct sh_set *s, void *dest, const void *source,
                      const struct sh_strides *e) {
  if (s->world) {
    sh_alltoalls(&sh.world, dest, source, e);
    return;
  }
  const size_t dst = (size_t)e->dst * e->bytes, sst = (size_t)e->sst * e->bytes;
  synchronise(s); /* all sources are ready */
  for (int k = 1; k <= s->size; k++) {
    const int i = (s->rank + k) % s->size;
    const char *from = (const char *)source + (size_t)s->rank * e->count * sst;
    char *to = (char *)dest + (size_t)i * e->count * dst;
    for (size_t n = 0; n < e->count; n++)
      pshmem_getmem(to + n * dst, from + n * sst, e->bytes, pe_of(s, i));
  }
  synchronise(s); /* all sources were read */
}

/* Each member combines a slice of all sources, and puts it to all. */
void sh_set_reduce(const struct sh_set *s, void *dest, const void *source, size_t count,
                   const struct sh_op *op) {
  if (s->world) {
    sh_reduce(&sh.world, dest, source, count, op);
    return;
  }
  const size_t size = (size_t)s->size, rank = (size_t)s->rank;
  const size_t begin = count * rank / size, n = count * (rank + 1) / size - begin;
  const size_t bytes = n * op->bytes, at = begin * op->bytes;
  char *room = malloc(2 * bytes + 1), *sum = room, *next = room + bytes;
  if (!room) sh_fatal("to_all", "out of memory for %zu bytes [TMB-0001]", 2 * bytes);
  synchronise(s); /* all sources are ready */
  for (int i = 0; i < s->size; i++) {
    pshmem_getmem(next, (const char *)source + at, bytes, pe_of(s, i));
    if (i && n) op->fn(sum, next, n, NULL);
    char *const done = next;
    next = sum;
    sum = done;
  }
  synchronise(s); /* dest may be source */
  send_all(s, (char *)dest + at, sum, bytes);
  free(room);
}

/* ---- the routines */

SH_DEF(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync)) {
  const struct sh_set set = sh_set("sync", PE_start, logPE_stride, PE_size, pSync);
  synchronise(&set);
}

SH_DEF(void, barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync)) {
  const struct sh_set set = sh_set("barrier", PE_start, logPE_stride, PE_size, pSync);
  sh_quiet(&sh.ctx);
  synchronise(&set);
}

#define SET_ARGS  int PE_start, int logPE_stride, int PE_size, long *pSync
#define SET(NAME) const struct sh_set set = sh_set(NAME, PE_start, logPE_stride, PE_size, pSync)
#define DEFINE(B)                                                                                  \
 SH_DEF(void, broadcast##B,                                                                        \
        (void *dest, const void *source, size_t nelems, int PE_root, SET_ARGS)) {                  \
  SET("broadcast" #B);                                                                             \
  broadcast(&set, dest, source, nelems *(B / 8), PE_root);                                         \
 }                                                                                                 \
 SH_DEF(void, collect##B, (void *dest, const void *source, size_t nelems, SET_ARGS)) {             \
  SET("collect" #B);                                                                               \
  collect(&set, dest, source, nelems *(B / 8));                                                    \
 }                                                                                                 \
 SH_DEF(void, fcollect##B, (void *dest, const void *source, size_t nelems, SET_ARGS)) {            \
  SET("fcollect" #B);                                                                              \
  fcollect(&set, dest, source, nelems *(B / 8));                                                   \
 }                                                                                                 \
 SH_DEF(void, alltoall##B, (void *dest, const void *source, size_t nelems, SET_ARGS)) {            \
  SET("alltoall" #B);                                                                              \
  alltoall(&set, dest, source, nelems *(B / 8));                                                   \
 }                                                                                                 \
 SH_DEF(void, alltoalls##B,                                                                        \
        (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, SET_ARGS)) { \
  SET("alltoalls" #B);                                                                             \
  alltoalls(&set, dest, source, &(struct sh_strides){dst, sst, nelems, B / 8});                    \
 }
DEFINE(32)
DEFINE(64)
