/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits and tests for symmetric words (OpenSHMEM 1.6, 9.10).
 *
 * Owns nothing. Called by programs and locks. Calls: the wait of the layer below, which spins,
 * yields, then sleeps; peers wake it after puts, atomics and signals. Invariants: a wait that ends
 * acquires; of an array, the search for any begins behind the element that was found last, so that
 * none starves.
 */
#include "../sh.h"

#include <gasnet_tools.h>

/* Reads before the wait of the layer below, with a pause after each: some 100 ns longer than a
 * round trip between two processors. Without the pause the processor reads ahead, and begins anew
 * when the peer takes the line. */
#define SPINS    32
/* Readings of the layer below for each run of its progress. In a job on several hosts there is one
 * reading, and no spinning before: what other hosts write arrives by progress. */
#define PROBES   8
/* Longest sleep: a store through a pointer of shmem_ptr wakes nobody. */
#define BLIND_NS UINT64_C(20000000)

/* Counts the elements that satisfy the condition, up to `most`. in start: index of the first that
 * is tested. out indices: [most] indices of these elements, or NULL. */
static size_t search(const struct sh_cond *c, size_t start, size_t most, size_t *indices) {
  size_t found = 0;
  for (size_t k = 0; k < c->count && found < most; k++) {
    const size_t i = start + k < c->count ? start + k : start + k - c->count;
    if (c->status && c->status[i]) continue;
    if (!c->holds(c, i)) continue;
    if (indices) indices[found] = i;
    found++;
  }
  return found;
}

/* Elements that count. */
static size_t members(const struct sh_cond *c) {
  size_t n = 0;
  for (size_t i = 0; i < c->count; i++) n += !c->status || !c->status[i];
  return n;
}

/* A wait, or a test, for `enough` elements. */
struct quest {
  size_t enough, most, start;
  size_t *indices;
  size_t found;
};

static bool try(const struct sh_cond *c, void *arg) {
  struct quest *q = arg;
  q->found = search(c, q->start, q->most, q->indices);
  return q->found >= q->enough;
}

/* A wait, for the layer below. */
struct asked {
  const struct sh_cond *cond;
  bool (*enough)(const struct sh_cond *, void *);
  void *arg;
};

static int ask(void *arg) {
  const struct asked *a = arg;
  for (int i = 1; !sh.far && i < PROBES; i++) {
    if (a->enough(a->cond, a->arg)) return 1;
    gasnett_spinloop_hint();
  }
  return a->enough(a->cond, a->arg);
}

/* A wait or test has ended: it has taken what puts to these words gave. in index: that of the one
 * word that was found; SIZE_MAX: all, since a test may also say that a word has changed by failing.
 */
SH_COLD static void tell_checker(const struct sh_cond *c, size_t index) {
  for (size_t i = 0; i < (c->count ? c->count : 1); i++)
    if (index == SIZE_MAX ? !c->status || !c->status[i] : i == index)
      gexx_check_word(sh.pe, (const char *)c->ivars + i * c->size, GEXX_CHECK_TAKE);
}

/* With SHMEM_DEBUG: no PE can write other words, so the wait would not end. */
SH_COLD static void check_words(const struct sh_cond *c) {
  sh_need_start(c->call + sizeof "shmem_" - 1);
  if (c->count && sh_offset(c->ivars) == SH_NOWHERE)
    sh_fatal(
        c->call + sizeof "shmem_" - 1,
        "argument ivars is %p, which is no symmetric address; use memory of shmem_malloc, or a "
        "global or static variable [TMB-2339]",
        c->ivars);
}

/* As sh_wait, but the checker does not hear of it. */
static inline void wait_for(const struct sh_cond *c, bool (*enough)(const struct sh_cond *, void *),
                            void *arg) {
  if (SH_UNLIKELY(sh.debug)) check_words(c);
  for (int i = 0; i < (sh.far ? 1 : SPINS); i++) {
    if (enough(c, arg)) {
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      return;
    }
    gasnett_spinloop_hint();
  }
  gexx_WaitInfo_t info = {.call = c->call,
                          .needs = GEXX_WAIT_ANY,
                          .peer = GEX_RANK_INVALID,
                          .home = GEX_RANK_INVALID,
                          .event = GEX_EVENT_INVALID,
                          .caller = c->caller};
  gexx_WaitInfo_Begin(&info);
  struct asked asked = {c, enough, arg};
  gexx_Wait_Until(&(gexx_WaitCond_t){.ready = ask,
                                     .arg = &asked,
                                     .sleepers = &SHMEM_GATE_(sh.base)->waiters,
                                     .counted = sh_gate_settle,
                                     .blind_ns = BLIND_NS});
  gexx_WaitInfo_End();
}

void sh_wait(const struct sh_cond *c, bool (*enough)(const struct sh_cond *, void *), void *arg) {
  wait_for(c, enough, arg);
  if (SH_UNLIKELY(sh.traced)) tell_checker(c, SIZE_MAX);
}

/* in index: as of tell_checker, once it has ended. */
static int test(const struct sh_cond *c, struct quest *q, const size_t *index) {
  const bool enough = try(c, q) || (gasnet_AMPoll(), try(c, q));
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (SH_UNLIKELY(sh.traced)) tell_checker(c, index ? *index : SIZE_MAX);
  return enough;
}

static size_t next_start(size_t count) {
  static _Thread_local size_t turn;
  return count ? turn++ % count : 0;
}

static size_t any(const struct sh_cond *c, bool waits) {
  size_t index = SIZE_MAX;
  struct quest q = {1, 1, next_start(c->count), &index, 0};
  if (!members(c)) return SIZE_MAX;
  if (!waits) return test(c, &q, &index) ? index : SIZE_MAX;
  wait_for(c, try, &q);
  if (SH_UNLIKELY(sh.traced)) tell_checker(c, index);
  return index;
}

static size_t some(const struct sh_cond *c, size_t *indices, bool waits) {
  struct quest q = {1, SIZE_MAX, 0, indices, 0};
  if (!members(c)) return 0;
  if (waits)
    sh_wait(c, try, &q);
  else
    test(c, &q, NULL);
  return q.found;
}

static int all(const struct sh_cond *c, bool waits) {
  const size_t n = members(c);
  struct quest q = {n, n, 0, NULL, 0};
  if (!n) return 1;
  if (!waits) return test(c, &q, NULL);
  sh_wait(c, try, &q);
  return 1;
}

/* ---- the routines */

#define COND(N, VALUES, STATUS, COUNT, VECTOR, CALL)                                         \
 &(const struct sh_cond) {                                                                   \
  holds_##N, ivars, VALUES, STATUS, COUNT, sizeof *ivars, cmp, VECTOR, "shmem_" #N "_" CALL, \
      __builtin_return_address(0)                                                            \
 }
#define ARRAY(T) T *ivars, size_t nelems
#define DEFINE_ARRAYS(N, T, POST, VALUE, VALUES, VECTOR)                                        \
 SH_DEF(void, N##_wait_until_all##POST, (ARRAY(T), const int *status, int cmp, T VALUE)) {      \
  all(COND(N, VALUES, status, nelems, VECTOR, "wait_until_all" #POST), true);                   \
 }                                                                                              \
 SH_DEF(size_t, N##_wait_until_any##POST, (ARRAY(T), const int *status, int cmp, T VALUE)) {    \
  return any(COND(N, VALUES, status, nelems, VECTOR, "wait_until_any" #POST), true);            \
 }                                                                                              \
 SH_DEF(size_t, N##_wait_until_some##POST,                                                      \
        (ARRAY(T), size_t * indices, const int *status, int cmp, T VALUE)) {                    \
  return some(COND(N, VALUES, status, nelems, VECTOR, "wait_until_some" #POST), indices, true); \
 }                                                                                              \
 SH_DEF(int, N##_test_all##POST, (ARRAY(T), const int *status, int cmp, T VALUE)) {             \
  return all(COND(N, VALUES, status, nelems, VECTOR, "test_all" #POST), false);                 \
 }                                                                                              \
 SH_DEF(size_t, N##_test_any##POST, (ARRAY(T), const int *status, int cmp, T VALUE)) {          \
  return any(COND(N, VALUES, status, nelems, VECTOR, "test_any" #POST), false);                 \
 }                                                                                              \
 SH_DEF(size_t, N##_test_some##POST,                                                            \
        (ARRAY(T), size_t * indices, const int *status, int cmp, T VALUE)) {                    \
  return some(COND(N, VALUES, status, nelems, VECTOR, "test_some" #POST), indices, false);      \
 }
#define DEFINE(N, T)                                                                        \
 static bool holds_##N(const struct sh_cond *c, size_t i) {                                 \
  const T value = __atomic_load_n((const T *)c->ivars + i, __ATOMIC_RELAXED);               \
  const T with = ((const T *)c->values)[c->vector ? i : 0];                                 \
  switch (c->cmp) {                                                                         \
  case SHMEM_CMP_EQ: return value == with;                                                  \
  case SHMEM_CMP_NE: return value != with;                                                  \
  case SHMEM_CMP_GT: return value > with;                                                   \
  case SHMEM_CMP_GE: return value >= with;                                                  \
  case SHMEM_CMP_LT: return value < with;                                                   \
  case SHMEM_CMP_LE: return value <= with;                                                  \
  default:                                                                                  \
   sh_fatal(c->call + sizeof "shmem_" - 1,                                                  \
            "argument cmp is %d; SHMEM_CMP_EQ, NE, GT, GE, LT and LE are allowed", c->cmp); \
  }                                                                                         \
 }                                                                                          \
 SH_DEF(void, N##_wait_until, (T * ivars, int cmp, T cmp_value)) {                          \
  all(COND(N, &cmp_value, NULL, 1, false, "wait_until"), true);                             \
 }                                                                                          \
 SH_DEF(int, N##_test, (T * ivars, int cmp, T cmp_value)) {                                 \
  return all(COND(N, &cmp_value, NULL, 1, false, "test"), false);                           \
 }                                                                                          \
 DEFINE_ARRAYS(N, T, , cmp_value, &cmp_value, false)                                        \
 DEFINE_ARRAYS(N, T, _vector, const *cmp_values, cmp_values, true)
SHMEM_TYPES_WAIT_(DEFINE)

/* Of one word. out arg: the value that was compared. */
static bool try_signal(const struct sh_cond *c, void *arg) {
  uint64_t *const seen = arg;
  *seen = __atomic_load_n((const uint64_t *)c->ivars, __ATOMIC_ACQUIRE);
  struct sh_cond of_copy = *c;
  of_copy.ivars = seen;
  return of_copy.holds(&of_copy, 0);
}

SH_DEF(uint64_t, signal_wait_until, (uint64_t * ivars, int cmp, uint64_t cmp_value)) {
  uint64_t seen = 0;
  const struct sh_cond c = {.holds = holds_uint64,
                            .ivars = ivars,
                            .values = &cmp_value,
                            .count = 1,
                            .size = sizeof *ivars,
                            .cmp = cmp,
                            .call = "shmem_signal_wait_until",
                            .caller = __builtin_return_address(0)};
  sh_wait(&c, try_signal, &seen);
  return seen;
}

/* ---- names of OpenSHMEM 1.0 to 1.3 */

#define OLD(N, T)                                          \
 SH_DEF(void, N##_wait, (T * ivars, T cmp_value)) {        \
  pshmem_##N##_wait_until(ivars, SHMEM_CMP_NE, cmp_value); \
 }
SHMEM_TYPES_OLD_WAIT_(OLD)
SH_DEF(void, wait, (long *ivar, long cmp_value)) {
  pshmem_long_wait_until(ivar, SHMEM_CMP_NE, cmp_value);
}
SH_DEF(void, wait_until, (long *ivar, int cmp, long cmp_value)) {
  pshmem_long_wait_until(ivar, cmp, cmp_value);
}
