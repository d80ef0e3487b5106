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
# define VECTORISE __attribute__((optimize("O3")))
#else
# define VECTORISE
#endif

#define LOOP(name, T, expr)                                                              \
 VECTORISE static void name(const void *px, void *py, size_t count, const void *cdata) { \
  const T *restrict x = px;                                                              \
  T *restrict y = py;                                                                    \
  (void)cdata;                                                                           \
  for (size_t i = 0; i < count; i++) y[i] = (T)(expr);                                   \
 }
/* Both orders of operands. */
#define LOOPS(name, T, E)            \
 LOOP(name##_left, T, E(x[i], y[i])) \
 LOOP(name##_right, T, E(y[i], x[i]))

#define ADD(a, b)  ((a) + (b))
#define MULT(a, b) ((a) * (b))
#define MIN_(a, b) ((a) < (b) ? (a) : (b))
#define MAX_(a, b) ((a) > (b) ? (a) : (b))
#define AND(a, b)  ((a) & (b))
#define OR(a, b)   ((a) | (b))
#define XOR(a, b)  ((a) ^ (b))

#define COMMON(DT, T)     \
 LOOPS(min_##DT, T, MIN_) \
 LOOPS(max_##DT, T, MAX_)
#define TMB_REDUCE_INT(DT, T, U) \
 COMMON(DT, T)                   \
 LOOPS(add_##DT, U, ADD)         \
 LOOPS(mult_##DT, U, MULT)       \
 LOOPS(and_##DT, U, AND)         \
 LOOPS(or_##DT, U, OR)           \
 LOOPS(xor_##DT, U, XOR)
#define TMB_REDUCE_REAL(DT, T) \
 COMMON(DT, T)                 \
 LOOPS(add_##DT, T, ADD)       \
 LOOPS(mult_##DT, T, MULT)
#include "coll/reduce_types.def"
#undef TMB_REDUCE_INT
#undef TMB_REDUCE_REAL

struct row {
  gex_DT_t dt;
  gex_OP_t op;
  size_t elem;
  tmb_reduce_fn *left, *right;
};

#define ROW(DT, T, OP, name) {GEX_DT_##DT, GEX_OP_##OP, sizeof(T), name##_left, name##_right},
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
    *out = (struct tmb_reducer){rows[i].left, rows[i].right, NULL, rows[i].elem};
    return true;
  }
  return false;
}

size_t tmb_reduce_type_bytes(gex_DT_t dt) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    if (rows[i].dt == dt) return rows[i].elem;
  return 0;
}
