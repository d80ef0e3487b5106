/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of the built-in reductions, see reduce.h.
 *
 * Owns: the table of loops, expanded from reduce_types.def. Called by entry points through
 * tmb_reduce_builtin, by the engine through the pointers. Calls nothing. Invariants: a loop has one
 * load, one operation and one store, and its arrays do not overlap, so that compilers vectorise it;
 * MIN and MAX choose the left operand only if it is strictly better.
 */
#include "coll/reduce/reduce.h"

#include "base/compiler.h"

#if defined(__GNUC__) && !defined(__clang__)
# define VECTORISE   __attribute__((optimize("O3")))
# define VECTOR_LOOP _Pragma("GCC ivdep") /* out is x or y or overlaps neither */
#else
# define VECTORISE
# define VECTOR_LOOP
#endif

#define LOOP(name, T, E)                                                                \
 VECTORISE static void name(const void *px, const void *py, void *pout, size_t count) { \
  const T *x = px, *y = py;                                                             \
  T *out = pout;                                                                        \
  VECTOR_LOOP                                                                           \
  for (size_t i = 0; i < count; i++) out[i] = (T)(E(x[i], y[i]));                       \
 }

#define ADD(a, b)  ((a) + (b))
#define MULT(a, b) ((a) * (b))
#define MIN_(a, b) ((a) < (b) ? (a) : (b))
#define MAX_(a, b) ((a) > (b) ? (a) : (b))
#define AND(a, b)  ((a) & (b))
#define OR(a, b)   ((a) | (b))
#define XOR(a, b)  ((a) ^ (b))

#define COMMON(DT, T)    \
 LOOP(min_##DT, T, MIN_) \
 LOOP(max_##DT, T, MAX_)
#define TMB_REDUCE_INT(DT, T, U) \
 COMMON(DT, T)                   \
 LOOP(add_##DT, U, ADD)          \
 LOOP(mult_##DT, U, MULT)        \
 LOOP(and_##DT, U, AND)          \
 LOOP(or_##DT, U, OR)            \
 LOOP(xor_##DT, U, XOR)
#define TMB_REDUCE_REAL(DT, T) \
 COMMON(DT, T)                 \
 LOOP(add_##DT, T, ADD)        \
 LOOP(mult_##DT, T, MULT)
#include "coll/reduce/reduce_types.def"
#undef TMB_REDUCE_INT
#undef TMB_REDUCE_REAL

/* By bit numbers of type and operator. */
enum { TYPES = 6, OPS = 8 };
#define BIT(value) __builtin_ctz(value)

static const struct type {
  size_t elem;
  tmb_reduce_loop *loop[OPS];
} types[TYPES] = {
#define COMMON_OPS(DT)                                                                       \
 [BIT(GEX_OP_ADD)] = add_##DT, [BIT(GEX_OP_MULT)] = mult_##DT, [BIT(GEX_OP_MIN)] = min_##DT, \
 [BIT(GEX_OP_MAX)] = max_##DT
#define TMB_REDUCE_INT(DT, T, U)                                                                  \
 [BIT(GEX_DT_##DT)] = {sizeof(T),                                                                 \
                       {COMMON_OPS(DT), [BIT(GEX_OP_AND)] = and_##DT, [BIT(GEX_OP_OR)] = or_##DT, \
                        [BIT(GEX_OP_XOR)] = xor_##DT}},
#define TMB_REDUCE_REAL(DT, T) [BIT(GEX_DT_##DT)] = {sizeof(T), {COMMON_OPS(DT)}},
#include "coll/reduce/reduce_types.def"
};

/* The row of a type; NULL if there is none. */
static const struct type *type_of(gex_DT_t dt) {
  return dt && !(dt & (dt - 1)) && BIT(dt) < TYPES ? &types[BIT(dt)] : NULL;
}

bool tmb_reduce_builtin(gex_DT_t dt, gex_OP_t op, struct tmb_reducer *out) {
  const struct type *t = type_of(dt);
  if (!t || !op || (op & (op - 1)) || BIT(op) >= OPS || !t->loop[BIT(op)]) return false;
  *out = (struct tmb_reducer){NULL, t->loop[BIT(op)], NULL, t->elem};
  return true;
}

size_t tmb_reduce_type_bytes(gex_DT_t dt) {
  const struct type *t = type_of(dt);
  return t ? t->elem : 0;
}
