/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans (OpenSHMEM 1.6, 9.9), also those of active sets.
 *
 * Owns the operators. Called by programs. Calls: reductions and scans of the layer below, whose own
 * operators serve integers and reals of 4 and 8 bytes; the others are here. Invariant: dest and
 * source are one array or do not overlap.
 */
#include "../sh.h"

#include <stdlib.h>
#include <string.h>

/* The team of a call, whose arrays are checked. */
static struct shmem_team_s *team_of(const char *call, shmem_team_t team, const void *dest,
                                    const void *source, size_t bytes) {
  struct shmem_team_s *const t = sh_member(call, team);
  sh_arrays(call, &(struct sh_arrays){dest, source, bytes, bytes, true});
  return t;
}

/* in exclusive: without the element of the caller; PE 0 gets zeros. */
static int scan(struct shmem_team_s *t, void *dest, const void *source, size_t count,
                const struct sh_op *op, bool exclusive) {
  if (!t) return 1;
  if (!count) return 0;
  const size_t bytes = count * op->bytes;
  void *copy = NULL;
  if (dest == source) {
    copy = malloc(bytes);
    if (!copy) sh_fatal("sum_inscan", "out of memory for %zu bytes [TMB-0001]", bytes);
    source = memcpy(copy, source, bytes);
  }
  const bool user = op->dt == GEX_DT_USER;
  const gex_OP_t gex = user ? GEX_OP_USER : op->op;
  const gex_Coll_ReduceFn_t fn = user ? op->fn : NULL;
  sh_complete(
      exclusive
          ? gexx_Coll_ExScanNB(t->tm, dest, source, op->dt, op->bytes, count, gex, fn, NULL, 0)
          : gexx_Coll_ScanNB(t->tm, dest, source, op->dt, op->bytes, count, gex, fn, NULL, 0));
  if (exclusive && t->rank == 0) memset(dest, 0, bytes);
  free(copy);
  return 0;
}

/* The type of the layer below. */
#define DT(T)                              \
 _Generic((T)0, int                        \
          : GEX_DT_I32, unsigned           \
          : GEX_DT_U32, long               \
          : GEX_DT_I64, unsigned long      \
          : GEX_DT_U64, long long          \
          : GEX_DT_I64, unsigned long long \
          : GEX_DT_U64, float              \
          : GEX_DT_FLT, double             \
          : GEX_DT_DBL, default            \
          : GEX_DT_USER)
#define OPERATOR(N, T, NAME, OP, NEW)                                                     \
 static void N##_##NAME(const void *arg1, void *arg2, size_t count, const void *unused) { \
  const T *x = arg1;                                                                      \
  T *y = arg2;                                                                            \
  (void)unused;                                                                           \
  for (size_t i = 0; i < count; i++) y[i] = (T)(NEW);                                     \
 }                                                                                        \
 static const struct sh_op N##_##NAME##_op = {DT(T), sizeof(T), OP, N##_##NAME};
#define DEFINE(N, T, NAME, OP, NEW)                                                                \
 OPERATOR(N, T, NAME, OP, NEW)                                                                     \
 SH_DEF(int, N##_##NAME##_reduce,                                                                  \
        (shmem_team_t team, T * dest, const T *source, size_t nreduce)) {                          \
  return sh_reduce(team_of(#N "_" #NAME "_reduce", team, dest, source, nreduce * sizeof(T)), dest, \
                   source, nreduce, &N##_##NAME##_op);                                             \
 }
#define DEFINE_BIT(N, T)                    \
 DEFINE(N, T, and, GEX_OP_AND, x[i] & y[i]) \
 DEFINE(N, T, or, GEX_OP_OR, x[i] | y[i])   \
 DEFINE(N, T, xor, GEX_OP_XOR, x[i] ^ y[i])
#define DEFINE_ORDER(N, T)                                \
 DEFINE(N, T, max, GEX_OP_MAX, x[i] > y[i] ? x[i] : y[i]) \
 DEFINE(N, T, min, GEX_OP_MIN, x[i] < y[i] ? x[i] : y[i])
#define DEFINE_SUM(N, T)                                                                       \
 DEFINE(N, T, sum, GEX_OP_ADD, x[i] + y[i])                                                    \
 DEFINE(N, T, prod, GEX_OP_MULT, x[i] * y[i])                                                  \
 SH_DEF(int, N##_sum_inscan, (shmem_team_t team, T * dest, const T *source, size_t nelems)) {  \
  return scan(team_of(#N "_sum_inscan", team, dest, source, nelems * sizeof(T)), dest, source, \
              nelems, &N##_sum_op, false);                                                     \
 }                                                                                             \
 SH_DEF(int, N##_sum_exscan, (shmem_team_t team, T * dest, const T *source, size_t nelems)) {  \
  return scan(team_of(#N "_sum_exscan", team, dest, source, nelems * sizeof(T)), dest, source, \
              nelems, &N##_sum_op, true);                                                      \
 }
SHMEM_TYPES_REDUCE_BIT_(DEFINE_BIT)
SHMEM_TYPES_REDUCE_(DEFINE_ORDER)
SHMEM_TYPES_REDUCE_(DEFINE_SUM)
SHMEM_TYPES_COMPLEX_(DEFINE_SUM)

/* ---- reductions of active sets */

/* Bitwise ones of signed types have no form for teams. */
#define BIT_OPERATORS(N, T)                   \
 OPERATOR(N, T, and, GEX_OP_AND, x[i] & y[i]) \
 OPERATOR(N, T, or, GEX_OP_OR, x[i] | y[i])   \
 OPERATOR(N, T, xor, GEX_OP_XOR, x[i] ^ y[i])
SHMEM_TYPES_ASET_BIT_(BIT_OPERATORS)

#define OLD(N, T, NAME)                                                                       \
 SH_DEF(void, N##_##NAME##_to_all,                                                            \
        (T * dest, const T *source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
         T *pWrk, long *pSync)) {                                                             \
  (void)pWrk;                                                                                 \
  const struct sh_set set =                                                                   \
      sh_set(#N "_" #NAME "_to_all", PE_start, logPE_stride, PE_size, pSync);                 \
  sh_set_reduce(&set, dest, source, nreduce > 0 ? (size_t)nreduce : 0, &N##_##NAME##_op);     \
 }
#define OLD_BIT(N, T)   OLD(N, T, and) OLD(N, T, or) OLD(N, T, xor)
#define OLD_ORDER(N, T) OLD(N, T, max) OLD(N, T, min)
#define OLD_SUM(N, T)   OLD(N, T, sum) OLD(N, T, prod)
SHMEM_TYPES_ASET_BIT_(OLD_BIT)
SHMEM_TYPES_ASET_(OLD_ORDER)
SHMEM_TYPES_ASET_(OLD_SUM)
SHMEM_TYPES_COMPLEX_(OLD_SUM)
