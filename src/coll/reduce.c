/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of the built-in reductions, see reduce.h.
 *
 * Owns: the table of loops, expanded from reduce_types.def. Called by entry points through
 * tmb_reduce_builtin, by the engine through the pointers. Calls nothing. Invariants: a loop has one
 * load, one operation and one store, and its arrays do not overlap, so that compilers vectorise it;
 * MIN and MAX choose the left operand only if it is strictly better.
 */
#include "coll/reduce.h"

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
#include "coll/reduce_types.def"
#undef TMB_REDUCE_INT
#undef TMB_REDUCE_REAL

struct row {
  gex_DT_t dt;
  gex_OP_t op;
  size_t elem;
  tmb_reduce_loop *loop;
};

#define ROW(DT, T, OP, name) {GEX_DT_##DT, GEX_OP_##OP, sizeof(T), name},
#define COMMON_ROWS(DT, T)   \
 ROW(DT, T, ADD, add_##DT)   \
 ROW(DT, T, MULT, mult_##DT) \
 ROW(DT, T, MIN, min_##DT)   \
 ROW(DT, T, MAX, max_##DT)
#define TMB_REDUCE_INT(DT, T, U) \
 COMMON_ROWS(DT, T)              \
 ROW(DT, T, AND, and_##DT)       \
 ROW(DT, T, OR, or_##DT)         \
 ROW(DT, T, XOR, xor_##DT)
#define TMB_REDUCE_REAL(DT, T) COMMON_ROWS(DT, T)
static const struct row rows[] = {
#include "coll/reduce_types.def"
};

bool tmb_reduce_builtin(gex_DT_t dt, gex_OP_t op, struct tmb_reducer *out) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    if (rows[i].dt != dt || rows[i].op != op) continue;
    *out = (struct tmb_reducer){NULL, rows[i].loop, NULL, rows[i].elem};
    return true;
  }
  return false;
}

size_t tmb_reduce_type_bytes(gex_DT_t dt) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    if (rows[i].dt == dt) return rows[i].elem;
  return 0;
}
