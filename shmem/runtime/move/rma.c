/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put, get and signals (OpenSHMEM 1.6, 9.5, 9.6 and 9.8).
 *
 * Owns nothing. Called by programs. Calls: RMA and signals of the layer below for PEs that are not
 * mapped. Invariants: towards a mapped PE a put is a copy, which is complete on return, and the PE
 * is woken if it sleeps; a signal is stored after the data (release). The routines are made from
 * the lists of types.
 */
#include "../sh.h"

#include <string.h>

/* ---- the slow path */

/* With SHMEM_DEBUG: a copy within this PE. */
static void check_overlap(const char *call, const void *dest, const void *source, size_t bytes,
                          uint32_t pe) {
  if (sh.debug && pe == sh.pe && dest != source && sh_overlap(dest, bytes, source, bytes))
    sh_fatal(call,
             "arguments dest and source are %p and %p of this PE, and their %zu bytes overlap; use "
             "memmove [TMB-2336]",
             dest, source, bytes);
}

/* Starts a put by the network. in lc: when the source may be changed. */
static void start_put(struct shmem_ctx_s *ctx, const struct sh_far *to, const void *source,
                      size_t bytes, gex_Event_t *lc) {
  if (ctx->pending.implicit) {
    ctx->pending.implied = true;
    gex_RMA_PutNBI(sh.tm, to->pe, to->owner, source, bytes, lc, 0);
  } else {
    sh_pend(ctx, gex_RMA_PutNB(sh.tm, to->pe, to->owner, source, bytes, lc, 0));
  }
}

SH_LONG static void put_long(struct shmem_ctx_s *ctx, const char *call, void *dest,
                             const void *source, size_t bytes, int pe) {
  const struct sh_far to = sh_find_plain(ctx, call, "dest", dest, bytes, pe);
  if (!bytes) return;
  if (sh.debug && !source)
    sh_fatal(call, "argument source is NULL, with %zu bytes [TMB-2313]", bytes);
  check_overlap(call, dest, source, bytes, to.pe);
  if (to.near)
    memmove(to.near, source, bytes);
  else
    start_put(ctx, &to, source, bytes, GEX_EVENT_NOW);
  if (sh.near[to.pe]) sh_wake(to.pe);
}

SH_LONG static void put_nbi_checked(struct shmem_ctx_s *ctx, const char *call, void *dest,
                                    const void *source, size_t bytes, int pe) {
  const struct sh_far to = sh_find_plain(ctx, call, "dest", dest, bytes, pe);
  if (to.near || !bytes)
    put_long(ctx, call, dest, source, bytes, pe);
  else
    start_put(ctx, &to, source, bytes, GEX_EVENT_DEFER);
}

/* The source stays as it is until quiet. Most objects are those of a PE on another host. */
SH_LONG static void put_nbi_long(struct shmem_ctx_s *ctx, const char *call, void *dest,
                                 const void *source, size_t bytes, int pe) {
  const uint64_t offset = sh_offset(dest);
  if (SH_LIKELY(ctx->pending.implicit && sh_is_plain(ctx, offset, bytes, pe))) {
    const uint32_t world = ctx->team->pe[pe];
    if (SH_LIKELY(!sh.near[world])) {
      ctx->pending.implied = true;
      gex_RMA_PutNBI(sh.tm, world, (void *)(sh.owner[world] + offset), source, bytes,
                     GEX_EVENT_DEFER, 0);
      return;
    }
  }
  put_nbi_checked(ctx, call, dest, source, bytes, pe);
}

/* Copies from memory that is mapped. Returns whether a message is needed instead. */
static bool is_far(const char *call, void *dest, const void *source, size_t bytes,
                   const struct sh_far *from) {
  if (!bytes) return false;
  if (sh.debug && !dest) sh_fatal(call, "argument dest is NULL, with %zu bytes [TMB-2312]", bytes);
  check_overlap(call, dest, source, bytes, from->pe);
  if (from->near) memmove(dest, from->near, bytes);
  return !from->near;
}

SH_LONG static void get_long(struct shmem_ctx_s *ctx, const char *call, void *dest,
                             const void *source, size_t bytes, int pe) {
  const struct sh_far from = sh_find_plain(ctx, call, "source", source, bytes, pe);
  if (is_far(call, dest, source, bytes, &from))
    gex_RMA_GetBlocking(sh.tm, dest, from.pe, from.owner, bytes, 0);
}

SH_LONG static void get_nbi_long(struct shmem_ctx_s *ctx, const char *call, void *dest,
                                 const void *source, size_t bytes, int pe) {
  const struct sh_far from = sh_find_plain(ctx, call, "source", source, bytes, pe);
  if (!is_far(call, dest, source, bytes, &from)) return;
  if (ctx->pending.implicit) {
    ctx->pending.implied = true;
    gex_RMA_GetNBI(sh.tm, dest, from.pe, from.owner, bytes, 0);
  } else {
    sh_pend(ctx, gex_RMA_GetNB(sh.tm, dest, from.pe, from.owner, bytes, 0));
  }
}

/* A put and the signal after it. */
struct signal {
  uint64_t *at, value;
  int op;
};

static void change(uint64_t *at, const struct signal *signal) {
  if (signal->op == SHMEM_SIGNAL_SET)
    __atomic_store_n(at, signal->value, __ATOMIC_RELEASE);
  else
    __atomic_fetch_add(at, signal->value, __ATOMIC_RELEASE);
}

struct put {
  void *dest;
  const void *source;
  size_t bytes;
  int pe;
  gex_Event_t *lc;
};

SH_LONG static void signal_long(struct shmem_ctx_s *ctx, const char *call, const struct put *put,
                                const struct signal *signal) {
  if (signal->op != SHMEM_SIGNAL_SET && signal->op != SHMEM_SIGNAL_ADD)
    sh_fatal(call,
             "argument sig_op is %d; SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD are allowed [TMB-2311]",
             signal->op);
  const struct sh_far at =
      sh_find_plain(ctx, call, "sig_addr", signal->at, sizeof *signal->at, put->pe);
  if (at.offset % sizeof(uint64_t))
    sh_fatal(call, "argument sig_addr is %p, which is no multiple of 8 [TMB-2310]",
             (void *)signal->at);
  struct sh_far to = at;
  if (put->bytes) to = sh_find_plain(ctx, call, "dest", put->dest, put->bytes, put->pe);
  if (at.near) {
    if (put->bytes) memmove(to.near, put->source, put->bytes);
    change((uint64_t *)(void *)at.near, signal);
    sh_wake(at.pe);
    return;
  }
  sh_pend(ctx, gexx_RMA_PutSignalNB(
                   sh.tm, at.pe, to.owner, put->source, put->bytes, put->lc, at.owner,
                   signal->op == SHMEM_SIGNAL_SET ? GEXX_SIG_SET : GEXX_SIG_ADD, signal->value, 0));
}

/* ---- the fast path */

/* One word needs no call. */
SH_HOT void copy(void *to, const void *from, size_t bytes) {
  if (bytes == sizeof(uint64_t))
    memcpy(to, from, sizeof(uint64_t));
  else
    memcpy(to, from, bytes);
}

SH_HOT void put(struct shmem_ctx_s *ctx, const char *call, void *dest, const void *source,
                size_t bytes, int pe) {
  char *const to = sh_here(ctx, dest, pe);
  if (SH_UNLIKELY(!to)) {
    put_long(ctx, call, dest, source, bytes, pe);
    return;
  }
  copy(to, source, bytes);
  sh_wake_waiter(ctx, pe);
}

SH_HOT void put_nbi(struct shmem_ctx_s *ctx, const char *call, void *dest, const void *source,
                    size_t bytes, int pe) {
  char *const to = sh_here(ctx, dest, pe);
  if (SH_UNLIKELY(!to)) {
    put_nbi_long(ctx, call, dest, source, bytes, pe);
    return;
  }
  copy(to, source, bytes);
  sh_wake_waiter(ctx, pe);
}

SH_HOT void get(struct shmem_ctx_s *ctx, const char *call, void *dest, const void *source,
                size_t bytes, int pe) {
  const char *const from = sh_here(ctx, source, pe);
  if (SH_UNLIKELY(!from)) {
    get_long(ctx, call, dest, source, bytes, pe);
    return;
  }
  sh_progress();
  copy(dest, from, bytes);
}

SH_HOT void get_nbi(struct shmem_ctx_s *ctx, const char *call, void *dest, const void *source,
                    size_t bytes, int pe) {
  const char *const from = sh_here(ctx, source, pe);
  if (SH_LIKELY(from))
    copy(dest, from, bytes);
  else
    get_nbi_long(ctx, call, dest, source, bytes, pe);
}

SH_HOT void put_signal(struct shmem_ctx_s *ctx, const char *call, const struct put *put,
                       const struct signal *signal) {
  char *const to = sh_here(ctx, put->dest, put->pe);
  uint64_t *const at = (uint64_t *)(void *)sh_here(ctx, signal->at, put->pe);
  if (SH_UNLIKELY(!at || !to || (uint32_t)signal->op > SHMEM_SIGNAL_ADD)) {
    signal_long(ctx, call, put, signal);
    return;
  }
  copy(to, put->source, put->bytes);
  change(at, signal);
  sh_wake_waiter(ctx, put->pe);
}

/* ---- the routines. C: the context of the call; F: its prefix; BYTES: of an element. */

#define NONE
#define DEFINE_BLOCK(F, CTX, C, T, E, BYTES)                                                \
 SH_DEF(void, F##put##E, (CTX T * dest, const T *source, size_t nelems, int pe)) {          \
  put(C, #F "put" #E, dest, source, nelems *(BYTES), pe);                                   \
 }                                                                                          \
 SH_DEF(void, F##get##E, (CTX T * dest, const T *source, size_t nelems, int pe)) {          \
  get(C, #F "get" #E, dest, source, nelems *(BYTES), pe);                                   \
 }                                                                                          \
 SH_DEF(void, F##put##E##_nbi, (CTX T * dest, const T *source, size_t nelems, int pe)) {    \
  put_nbi(C, #F "put" #E "_nbi", dest, source, nelems *(BYTES), pe);                        \
 }                                                                                          \
 SH_DEF(void, F##get##E##_nbi, (CTX T * dest, const T *source, size_t nelems, int pe)) {    \
  get_nbi(C, #F "get" #E "_nbi", dest, source, nelems *(BYTES), pe);                        \
 }                                                                                          \
 SH_DEF(void, F##put##E##_signal,                                                           \
        (CTX T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, \
         int sig_op, int pe)) {                                                             \
  put_signal(C, #F "put" #E "_signal",                                                      \
             &(const struct put){dest, source, nelems * (BYTES), pe, GEX_EVENT_NOW},        \
             &(const struct signal){sig_addr, signal, sig_op});                             \
 }                                                                                          \
 SH_DEF(void, F##put##E##_signal_nbi,                                                       \
        (CTX T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, \
         int sig_op, int pe)) {                                                             \
  put_signal(C, #F "put" #E "_signal_nbi",                                                  \
             &(const struct put){dest, source, nelems * (BYTES), pe, GEX_EVENT_DEFER},      \
             &(const struct signal){sig_addr, signal, sig_op});                             \
 }

#define DEFINE_VALUE(F, CTX, C, T)                     \
 SH_DEF(void, F##p, (CTX T * dest, T value, int pe)) { \
  put(C, #F "p", dest, &value, sizeof value, pe);      \
 }                                                     \
 SH_DEF(T, F##g, (CTX const T *source, int pe)) {      \
  T value;                                             \
  get(C, #F "g", &value, source, sizeof value, pe);    \
  return value;                                        \
 }

#define DEFINE(N, T)                                                   \
 DEFINE_BLOCK(N##_, NONE, &sh.ctx, T, , sizeof(T))                     \
 DEFINE_BLOCK(ctx_##N##_, SHMEM_CTX_ARG_, sh_ctx(ctx), T, , sizeof(T)) \
 DEFINE_VALUE(N##_, NONE, &sh.ctx, T)                                  \
 DEFINE_VALUE(ctx_##N##_, SHMEM_CTX_ARG_, sh_ctx(ctx), T)
SHMEM_TYPES_RMA_(DEFINE)
#undef DEFINE

#define DEFINE(BITS, BYTES)                       \
 DEFINE_BLOCK(, NONE, &sh.ctx, void, BITS, BYTES) \
 DEFINE_BLOCK(ctx_, SHMEM_CTX_ARG_, sh_ctx(ctx), void, BITS, BYTES)
SHMEM_SIZES_(DEFINE)
DEFINE(mem, 1)

/* ---- signals alone */

static void signal_only(struct shmem_ctx_s *ctx, const char *call, const struct signal *signal,
                        int pe) {
  uint64_t *const at = (uint64_t *)(void *)sh_here(ctx, signal->at, pe);
  if (SH_UNLIKELY(!at)) {
    signal_long(ctx, call, &(const struct put){NULL, NULL, 0, pe, GEX_EVENT_NOW}, signal);
    return;
  }
  change(at, signal);
  sh_wake_waiter(ctx, pe);
}

SH_DEF(void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe)) {
  signal_only(&sh.ctx, "signal_set", &(struct signal){sig_addr, signal, SHMEM_SIGNAL_SET}, pe);
}

SH_DEF(void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe)) {
  signal_only(&sh.ctx, "signal_add", &(struct signal){sig_addr, signal, SHMEM_SIGNAL_ADD}, pe);
}

SH_DEF(void, ctx_signal_set, (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)) {
  signal_only(sh_ctx(ctx), "ctx_signal_set", &(struct signal){sig_addr, signal, SHMEM_SIGNAL_SET},
              pe);
}

SH_DEF(void, ctx_signal_add, (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)) {
  signal_only(sh_ctx(ctx), "ctx_signal_add", &(struct signal){sig_addr, signal, SHMEM_SIGNAL_ADD},
              pe);
}

SH_DEF(uint64_t, signal_fetch, (const uint64_t *sig_addr)) {
  return gexx_Signal_Fetch(sig_addr);
}
