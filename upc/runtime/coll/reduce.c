/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions (UPC 1.3 library section 7.3.3) and those on values (<bupc_collectivev.h>).
 *
 * Called by UPC programs. Calls: coll.c, the all-gather of the library. Invariants: each thread
 * combines its elements in their order; the partial results are combined on all of them, in the
 * order of threads. For an operation whose operands may not change places and for prefix
 * reductions, a thread has an equal share of the elements, one after another, which it fetches
 * (ordered.c).
 */
#include "coll/coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEM_MAX 16

/* ---- operations */

#define PICK(A, B, OP, BITS)                                                               \
 switch (OP) {                                                                             \
 case UPC_ADD: (A) = (A) + (B); return;                                                    \
 case UPC_MULT: (A) = (A) * (B); return;                                                   \
 case UPC_LOGAND: (A) = (A) && (B); return;                                                \
 case UPC_LOGOR: (A) = (A) || (B); return;                                                 \
 case UPC_MIN: (A) = (B) < (A) ? (B) : (A); return;                                        \
 case UPC_MAX:                                                                             \
  (A) = (B) > (A) ? (B) : (A);                                                             \
  return;                                                                                  \
  BITS default : rt_fatal("a reduction: operation %s is unknown for this type [TMB-2108]", \
                          rt_name_operation(OP));                                          \
 }
#define BITS(A, B)                      \
 case UPC_AND: (A) = (A) & (B); return; \
 case UPC_OR: (A) = (A) | (B); return;  \
 case UPC_XOR:                          \
  (A) = (A) ^ (B);                      \
  return;

#define KIND(X, T, EXTRA)                                                          \
 static void combine_##X(void *pa, const void *pb, upc_op_t op, void (*f)(void)) { \
  T a, b;                                                                          \
  memcpy(&a, pa, sizeof a);                                                        \
  memcpy(&b, pb, sizeof b);                                                        \
  apply_##X(&a, b, op, (T(*)(T, T))f);                                             \
  memcpy(pa, &a, sizeof a);                                                        \
 }
#define APPLY(X, T, EXTRA)                                      \
 static void apply_##X(T *pa, T b, upc_op_t op, T (*f)(T, T)) { \
  T a = *pa;                                                    \
  if (op == OP_FUNC || op == OP_NONCOMM) {                      \
   *pa = f(a, b);                                               \
   return;                                                      \
  }                                                             \
  pick_##X(&a, b, op);                                          \
  *pa = a;                                                      \
 }
#define PICKS(X, T, EXTRA)                       \
 static void pick_##X(T *pa, T b, upc_op_t op) { \
  PICK(*pa, b, op, EXTRA)                        \
 }
#define TYPE_OF(X, T, EXTRA) PICKS(X, T, EXTRA) APPLY(X, T, EXTRA) KIND(X, T, EXTRA)

TYPE_OF(C, signed char, BITS(*pa, b))
TYPE_OF(UC, unsigned char, BITS(*pa, b))
TYPE_OF(S, short, BITS(*pa, b))
TYPE_OF(US, unsigned short, BITS(*pa, b))
TYPE_OF(I, int, BITS(*pa, b))
TYPE_OF(UI, unsigned, BITS(*pa, b))
TYPE_OF(L, long, BITS(*pa, b))
TYPE_OF(UL, unsigned long, BITS(*pa, b))
TYPE_OF(F, float, )
TYPE_OF(D, double, )
TYPE_OF(LD, long double, )

/* The kind of a UPC_ type code; ends the job where there is none. */
static const struct rt_kind *rt_kind_of(int type) {
  static const struct rt_kind kinds[] = {
      [UPC_CHAR] = {1, combine_C},      [UPC_UCHAR] = {1, combine_UC},
      [UPC_SHORT] = {2, combine_S},     [UPC_USHORT] = {2, combine_US},
      [UPC_INT] = {4, combine_I},       [UPC_UINT] = {4, combine_UI},
      [UPC_LONG] = {8, combine_L},      [UPC_ULONG] = {8, combine_UL},
      [UPC_LLONG] = {8, combine_L},     [UPC_ULLONG] = {8, combine_UL},
      [UPC_INT8] = {1, combine_C},      [UPC_UINT8] = {1, combine_UC},
      [UPC_INT16] = {2, combine_S},     [UPC_UINT16] = {2, combine_US},
      [UPC_INT32] = {4, combine_I},     [UPC_UINT32] = {4, combine_UI},
      [UPC_INT64] = {8, combine_L},     [UPC_UINT64] = {8, combine_UL},
      [UPC_FLOAT] = {4, combine_F},     [UPC_DOUBLE] = {8, combine_D},
      [UPC_LDOUBLE] = {16, combine_LD},
  };
  if (type < 1 || type > UPC_LDOUBLE)
    rt_fatal("a reduction: type %s cannot be combined [TMB-2107]", rt_name_type(type));
  return &kinds[type];
}

/* ---- reductions of shared arrays */

struct reduction {
  upcr_pts_t dst, src;
  upc_op_t op;
  size_t count, block;
  void (*func)(void);
  int flags;
  const struct rt_kind *kind;
};

/* Partial result of a thread. */
struct partial {
  uint64_t used;
  uint64_t pad;
  char value[ELEM_MAX];
};

static void add(struct partial *to, const void *value, const struct reduction *r) {
  if (to->used)
    r->kind->combine(to->value, value, r->op, r->func);
  else
    memcpy(to->value, value, r->kind->bytes);
  to->used = 1;
}

/* Combine `n` elements that lie together on this thread. */
static void add_run(struct partial *to, upcr_pts_t p, size_t n, const struct reduction *r) {
  const char *at = rt_mapped(p);
  for (size_t i = 0; i < n; i++) add(to, at + i * r->kind->bytes, r);
}

static void add_own(struct partial *to, const struct reduction *r) {
  const size_t first = r->block ? (size_t)upcr_phaseof(r->src) : 0;
  const size_t block = r->block ? r->block : r->count;
  const size_t total = first + r->count;
  size_t b = 0, step = 1;
  if (r->block) {
    b = (size_t)((upcr_mythread - upcr_threadof(r->src) + upcr_threads) % upcr_threads);
    step = (size_t)upcr_threads;
  } else if (upcr_threadof(r->src) != upcr_mythread) {
    return;
  }
  for (; b * block < total; b += step) {
    const size_t begin = b * block < first ? first : b * block;
    const size_t end = (b + 1) * block < total ? (b + 1) * block : total;
    add_run(to, rt_element(r->src, (long)(begin - first), r->kind->bytes, r->block), end - begin,
            r);
  }
}

/* ---- shares: elements one after another */

struct share {
  size_t lo, count;
  char *values;
};

static struct share fetch_share(const struct reduction *r) {
  struct share s;
  const struct rt_array a = {r->src, r->kind->bytes, r->block};
  s.lo = rt_share_begin(r->count, (size_t)upcr_mythread);
  s.count = rt_share_begin(r->count, (size_t)upcr_mythread + 1) - s.lo;
  s.values = rt_room(s.count * r->kind->bytes, "a reduction");
  rt_array_range(&a, s.lo, s.lo + s.count, s.values, false);
  return s;
}

static void add_share(struct partial *to, const struct reduction *r) {
  const struct share s = fetch_share(r);
  for (size_t i = 0; i < s.count; i++) add(to, s.values + i * r->kind->bytes, r);
  free(s.values);
}

/* The parts of the first `threads` threads, combined, on all of them. */
static void combine_parts(struct partial *mine, const struct reduction *r, int threads) {
  struct partial *all = rt_room((size_t)upcr_threads * sizeof *all, "a reduction");
  gex_Event_Wait(gexx_Coll_AllGatherNB(rt.tm, all, mine, sizeof *mine, 0));
  mine->used = 0;
  for (int t = 0; t < threads; t++)
    if (all[t].used) add(mine, all[t].value, r);
  free(all);
}

/* UPC_FUNC and UPC_NONCOMM_FUNC call the program's function. */
static void check_function(const struct reduction *r) {
  if (!r->func && (r->op == OP_FUNC || r->op == OP_NONCOMM))
    rt_fatal(
        "a reduction: UPC_FUNC and UPC_NONCOMM_FUNC need a function, which is null [TMB-2141]");
}

static void reduce(const struct reduction *r, bool to_all) {
  struct partial mine = {0};
  check_function(r);
  rt_coll_enter(r->flags);
  if (r->op == OP_NONCOMM)
    add_share(&mine, r);
  else
    add_own(&mine, r);
  combine_parts(&mine, r, upcr_threads);
  const upcr_pts_t own = upcr_make(upcr_addrfield(r->dst), 0, (unsigned long)upcr_mythread);
  if (mine.used && to_all)
    upc_memput(own, mine.value, r->kind->bytes);
  else if (mine.used && upcr_threadof(r->dst) == upcr_mythread)
    upc_memput(r->dst, mine.value, r->kind->bytes);
  rt_coll_leave(r->flags);
}

/* Sums of the share from its beginning; the sum of the threads before is added to these. */
static void prefix_reduce(const struct reduction *r) {
  const struct rt_array dst = {r->dst, r->kind->bytes, r->block};
  struct partial sum = {0};
  check_function(r);
  rt_coll_enter(r->flags);
  const struct share s = fetch_share(r);
  for (size_t i = 0; i < s.count; i++) {
    add(&sum, s.values + i * r->kind->bytes, r);
    memcpy(s.values + i * r->kind->bytes, sum.value, r->kind->bytes);
  }
  combine_parts(&sum, r, upcr_mythread); /* all have fetched: dst may be src */
  for (size_t i = 0; sum.used && i < s.count; i++) {
    char *at = s.values + i * r->kind->bytes;
    struct partial with = sum;
    add(&with, at, r);
    memcpy(at, with.value, r->kind->bytes);
  }
  rt_array_range(&dst, s.lo, s.lo + s.count, s.values, true);
  free(s.values);
  upcr_fence();
  rt_coll_leave(r->flags);
}

#define CALL(NAME, X, T, TYPE, CALLS)                                                            \
 RT_EXPORT void NAME##X(upcr_pts_t dst, upcr_pts_t src, upc_op_t op, size_t count, size_t block, \
                        T (*func)(T, T), int flags);                                             \
 /* tidy-allow: params because the interface has seven */                                        \
 void NAME##X(upcr_pts_t dst, upcr_pts_t src, upc_op_t op, size_t count, size_t block,           \
              T (*func)(T, T), int flags) {                                                      \
  const struct reduction r = {                                                                   \
      dst, src, op, count, block, (void (*)(void))func, flags, rt_kind_of(TYPE)};                \
  CALLS;                                                                                         \
 }
#define CALLS(X, T, TYPE)                                \
 CALL(upc_all_reduce, X, T, TYPE, reduce(&r, false))     \
 CALL(bupc_all_reduce_all, X, T, TYPE, reduce(&r, true)) \
 CALL(upc_all_prefix_reduce, X, T, TYPE, prefix_reduce(&r))

CALLS(C, signed char, UPC_CHAR)
CALLS(UC, unsigned char, UPC_UCHAR)
CALLS(S, short, UPC_SHORT)
CALLS(US, unsigned short, UPC_USHORT)
CALLS(I, int, UPC_INT)
CALLS(UI, unsigned, UPC_UINT)
CALLS(L, long, UPC_LONG)
CALLS(UL, unsigned long, UPC_ULONG)
CALLS(F, float, UPC_FLOAT)
CALLS(D, double, UPC_DOUBLE)
CALLS(LD, long double, UPC_LDOUBLE)

/* ---- values of private memory */

RT_EXPORT void upcr_allv_reduce(void *result, const void *value, int type, int root, upc_op_t op);
RT_EXPORT void upcr_allv_prefix(void *result, const void *value, int type, upc_op_t op);
RT_EXPORT void upcr_allv_broadcast(void *result, const void *value, size_t bytes, int root);
RT_EXPORT void upcr_allv_scatter(void *result, const void *src, size_t bytes, int root);
RT_EXPORT void upcr_allv_gather(void *dst, const void *value, size_t bytes, int root);
RT_EXPORT void upcr_allv_permute(void *result, const void *value, size_t bytes, int to);

/* The values of threads 0 to last, combined. */
static void allv(void *result, const void *value, int type, upc_op_t op, int last) {
  const struct rt_kind *kind = rt_kind_of(type);
  char *all = malloc((size_t)upcr_threads * kind->bytes);
  if (!all) rt_fatal("a reduction: out of memory for %d threads [TMB-0001]", upcr_threads);
  gex_Event_Wait(gexx_Coll_AllGatherNB(rt.tm, all, value, kind->bytes, 0));
  memcpy(result, all, kind->bytes);
  for (int t = 1; t <= last; t++) kind->combine(result, all + (size_t)t * kind->bytes, op, NULL);
  free(all);
}

void upcr_allv_reduce(void *result, const void *value, int type, int root, upc_op_t op) {
  (void)root; /* the result on all threads is right on one */
  allv(result, value, type, op, upcr_threads - 1);
}

void upcr_allv_prefix(void *result, const void *value, int type, upc_op_t op) {
  allv(result, value, type, op, upcr_mythread);
}

void upcr_allv_broadcast(void *result, const void *value, size_t bytes, int root) {
  gex_Event_Wait(gex_Coll_BroadcastNB(rt.tm, (gex_Rank_t)root, result, value, bytes, 0));
}

void upcr_allv_scatter(void *result, const void *src, size_t bytes, int root) {
  gex_Event_Wait(gexx_Coll_ScatterNB(rt.tm, (gex_Rank_t)root, result, src, bytes, 0));
}

void upcr_allv_gather(void *dst, const void *value, size_t bytes, int root) {
  if (root < 0)
    gex_Event_Wait(gexx_Coll_AllGatherNB(rt.tm, dst, value, bytes, 0));
  else
    gex_Event_Wait(gexx_Coll_GatherNB(rt.tm, (gex_Rank_t)root, dst, value, bytes, 0));
}

void upcr_allv_permute(void *result, const void *value, size_t bytes, int to) {
  const size_t each = sizeof(int64_t) + bytes, n = (size_t)upcr_threads;
  char *all = malloc(n * each), *own = malloc(each);
  if (!all || !own)
    rt_fatal("bupc_allv_permute: out of memory for %d threads [TMB-0001]", upcr_threads);
  const int64_t target = to;
  memcpy(own, &target, sizeof target);
  memcpy(own + sizeof target, value, bytes);
  gex_Event_Wait(gexx_Coll_AllGatherNB(rt.tm, all, own, each, 0));
  for (size_t t = 0; t < n; t++) {
    int64_t given;
    memcpy(&given, all + t * each, sizeof given);
    if (given == upcr_mythread) memcpy(result, all + t * each + sizeof given, bytes);
  }
  free(all);
  free(own);
}
