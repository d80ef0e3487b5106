/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations in domains (<upc_atomic.h>).
 *
 * Called by UPC programs. Calls: remote atomics of the library. Invariants: a domain is a number,
 * equal on all threads, since domains are made by all together; a program holds a pointer-to-shared
 * to it.
 */
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_types.h>

#define OP_GET      (1UL << 9)
#define OP_SET      (1UL << 10)
#define OP_CSWAP    (1UL << 11)
#define OP_SUB      (1UL << 12)
#define OP_INC      (1UL << 13)
#define OP_DEC      (1UL << 14)

#define DOMAINS_MAX 256

struct domain {
  gex_AD_t ad;
  int type;
  upc_op_t ops;
  char width; /* i u I U f d p: how operands are given to the library */
};

static struct domain domains[DOMAINS_MAX];

RT_EXPORT upcr_pts_t upc_all_atomicdomain_alloc(int type, upc_op_t ops, int hints);
RT_EXPORT void upc_all_atomicdomain_free(upcr_pts_t domain);
RT_EXPORT void upc_atomic_strict(upcr_pts_t domain, void *fetch, upc_op_t op, upcr_pts_t target,
                                 const void *op1, const void *op2);
RT_EXPORT void upc_atomic_relaxed(upcr_pts_t domain, void *fetch, upc_op_t op, upcr_pts_t target,
                                  const void *op1, const void *op2);
RT_EXPORT int upc_atomic_isfast(int type, upc_op_t ops, upcr_pts_t addr);

static char width_of(int type) {
  switch (type) {
  case UPC_INT:
  case UPC_INT32: return 'i';
  case UPC_UINT:
  case UPC_UINT32: return 'u';
  case UPC_LONG:
  case UPC_LLONG:
  case UPC_INT64: return 'I';
  case UPC_ULONG:
  case UPC_ULLONG:
  case UPC_UINT64: return 'U';
  case UPC_FLOAT: return 'f';
  case UPC_DOUBLE: return 'd';
  case UPC_PTS: return 'p';
  default: return 0;
  }
}

static gex_DT_t library_type(char width) {
  switch (width) {
  case 'i': return GEX_DT_I32;
  case 'u': return GEX_DT_U32;
  case 'I': return GEX_DT_I64;
  case 'f': return GEX_DT_FLT;
  case 'd': return GEX_DT_DBL;
  default: return GEX_DT_U64;
  }
}

/* The library's operation, which returns the old value where there is one. */
static gex_OP_t library_op(upc_op_t op) {
  switch (op) {
  case OP_GET: return GEX_OP_GET;
  case OP_SET: return GEX_OP_SWAP;
  case OP_CSWAP: return GEX_OP_FCAS;
  case UPC_ADD: return GEX_OP_FADD;
  case OP_SUB: return GEX_OP_FSUB;
  case OP_INC: return GEX_OP_FINC;
  case OP_DEC: return GEX_OP_FDEC;
  case UPC_MULT: return GEX_OP_FMULT;
  case UPC_AND: return GEX_OP_FAND;
  case UPC_OR: return GEX_OP_FOR;
  case UPC_XOR: return GEX_OP_FXOR;
  case UPC_MIN: return GEX_OP_FMIN;
  case UPC_MAX: return GEX_OP_FMAX;
  default: return 0;
  }
}

static struct domain *find(upcr_pts_t d, const char *name) {
  const uint64_t i = upcr_addrfield(d) / 8;
  if (i < 1 || i > DOMAINS_MAX || !domains[i - 1].type)
    rt_fatal("%s: this is no domain, or it was freed [TMB-2123]", name);
  return &domains[i - 1];
}

upcr_pts_t upc_all_atomicdomain_alloc(int type, upc_op_t ops, int hints) {
  (void)hints;
  size_t i = 0;
  while (i < DOMAINS_MAX && domains[i].type) i++;
  const char width = width_of(type);
  if (i == DOMAINS_MAX)
    rt_fatal("upc_all_atomicdomain_alloc: more than %d domains [TMB-2122]", DOMAINS_MAX);
  if (!width)
    rt_fatal("upc_all_atomicdomain_alloc: type %s has no atomic operations [TMB-2121]",
             rt_name_type(type));
  gex_OP_t all = GEX_OP_GET | GEX_OP_SET;
  for (upc_op_t bit = 1; bit <= OP_DEC; bit <<= 1)
    if (ops & bit) all |= library_op(bit);
  if (width == 'p') all |= GEX_OP_FCAS;
  domains[i] = (struct domain){.type = type, .ops = ops, .width = width};
  gex_AD_Create(&domains[i].ad, rt.tm, library_type(width), all, 0);
  return upcr_make(8 * (i + 1), 0, 0);
}

void upc_all_atomicdomain_free(upcr_pts_t d) {
  if (!d) return;
  struct domain *domain = find(d, "upc_all_atomicdomain_free");
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  gex_AD_Destroy(domain->ad);
  domain->type = 0;
}

/* Operands of one operation. */
struct call {
  void *fetch;
  gex_OP_t op;
  gex_Rank_t rank;
  void *target;
  const void *op1, *op2;
};

#define DO(S, T)                                                                    \
 static void do_##S(const struct domain *d, const struct call *c) {                 \
  T old = 0, a = 0, b = 0;                                                          \
  if (c->op1) memcpy(&a, c->op1, sizeof a);                                         \
  if (c->op2) memcpy(&b, c->op2, sizeof b);                                         \
  gex_Event_Wait(gex_AD_OpNB_##S(d->ad, &old, c->rank, c->target, c->op, a, b, 0)); \
  if (c->fetch) memcpy(c->fetch, &old, sizeof old);                                 \
 }
DO(I32, int32_t)
DO(U32, uint32_t)
DO(I64, int64_t)
DO(U64, uint64_t)
DO(FLT, float)
DO(DBL, double)

#ifdef UPCR_WIDE
/* The target's thread lets one operation on pointers-to-shared go on at a time. */
static void guard(gex_Rank_t thread, bool take) {
  void *word = (char *)rt.owner_base[thread] + RT_GUARD + offsetof(struct upcr_root, pts_lock);
  uint64_t old = 1;
  for (unsigned tries = 0;; tries++) {
    gex_Event_Wait(gex_AD_OpNB_U64(rt.ad64, &old, thread, word, GEX_OP_FCAS, !take, take, 0));
    if (old == !take) return;
    rt_pause(tries);
  }
}

static void operate_pts(const struct domain *d, const struct call *c, upc_op_t op) {
  (void)d;
  const upcr_pts_t target = upcr_make((uintptr_t)c->target - rt.owner_base[c->rank], 0, c->rank);
  upcr_pts_t old, expected = 0, next = 0;
  if (c->op1) memcpy(&expected, c->op1, sizeof expected);
  if (c->op2) memcpy(&next, c->op2, sizeof next);
  guard(c->rank, true);
  old = upcr_getps(target);
  if (op == OP_SET) upcr_putps(target, expected);
  if (op == OP_CSWAP && upcr_eq(old, expected)) upcr_putps(target, next);
  guard(c->rank, false);
  if (c->fetch) memcpy(c->fetch, &old, sizeof old);
}
#else
/* Pointers-to-shared that differ in the phase alone are equal. */
static void swap_pts(const struct domain *d, const struct call *c) {
  uint64_t expected, seen, next;
  memcpy(&expected, c->op1, sizeof expected);
  memcpy(&next, c->op2, sizeof next);
  for (;;) {
    gex_Event_Wait(gex_AD_OpNB_U64(d->ad, &seen, c->rank, c->target, GEX_OP_GET, 0, 0, 0));
    if (!upcr_eq(seen, expected)) break;
    uint64_t old = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(d->ad, &old, c->rank, c->target, GEX_OP_FCAS, seen, next, 0));
    if (old == seen) break;
  }
  if (c->fetch) memcpy(c->fetch, &seen, sizeof seen);
}

static void operate_pts(const struct domain *d, const struct call *c, upc_op_t op) {
  if (op == OP_CSWAP)
    swap_pts(d, c);
  else
    do_U64(d, c);
}
#endif

void upc_atomic_relaxed(upcr_pts_t handle, void *fetch, upc_op_t op, upcr_pts_t target,
                        const void *op1, const void *op2) {
  const struct domain *d = find(handle, "upc_atomic");
  if (!(d->ops & op))
    rt_fatal("upc_atomic: operation %s is not one of the domain's: name it in "
             "upc_all_atomicdomain_alloc [TMB-2120]",
             rt_name_operation(op));
  RT_SITE("upc_atomic_relaxed");
  rt_check_pointer(target, "upc_atomic");
  upcr_serve();
  upcr_complete();
  const struct call c = {
      fetch, library_op(op), (gex_Rank_t)upcr_threadof(target), rt_owner_addr(target), op1, op2};
  switch (d->width) {
  case 'i': do_I32(d, &c); break;
  case 'u': do_U32(d, &c); break;
  case 'I': do_I64(d, &c); break;
  case 'f': do_FLT(d, &c); break;
  case 'd': do_DBL(d, &c); break;
  case 'p': operate_pts(d, &c, op); break;
  default: do_U64(d, &c);
  }
}

void upc_atomic_strict(upcr_pts_t handle, void *fetch, upc_op_t op, upcr_pts_t target,
                       const void *op1, const void *op2) {
  RT_SITE("upc_atomic_strict");
  upcr_fence();
  upc_atomic_relaxed(handle, fetch, op, target, op1, op2);
  upcr_fence();
}

int upc_atomic_isfast(int type, upc_op_t ops, upcr_pts_t addr) {
  (void)ops;
  return width_of(type) != 0 && rt.mapped[upcr_threadof(addr)] != NULL;
}
