/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on many elements by one call.
 *
 * A batch is a table: ranks, places in their parts, operands, and room for old values. Its
 * operations are started together as one access region. Where a batch of integer additions has more
 * members than the parts have elements, as a histogram has, it first sums here: of N samples in M
 * elements M atomic operations are left. Sums of floating-point numbers would depend on that
 * grouping, so those are added one by one. Called by
 * the package (_batch.py). Calls: gex_AD_*. Invariants: all places are checked before the first
 * operation starts.
 */
#include "core.h"

#include <stdlib.h>

enum { RANKS, OFFSETS, FIRST, SECOND, OLD, COLUMNS };

/* The arguments of a batch: columns of `count` elements, or of one that holds for all. */
struct batch {
  struct tmbpy_array *array;
  gex_OP_t opcode;
  size_t count;
  Py_buffer views[COLUMNS];
  bool opened[COLUMNS];
  size_t step[COLUMNS]; /* 0: the column has one element */
};

static void close_batch(struct batch *b) {
  for (int i = 0; i < COLUMNS; i++)
    if (b->opened[i]) PyBuffer_Release(&b->views[i]);
}

/* Opens a column. Returns 0 or -1. */
static int open_column(struct batch *b, int i, PyObject *column, Py_ssize_t itemsize) {
  if (column == Py_None) return 0;
  const int flags = i == OLD ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
  if (PyObject_GetBuffer(column, &b->views[i], flags) != 0) return -1;
  b->opened[i] = true;
  b->step[i] = b->views[i].len == itemsize && i != OLD && i != OFFSETS ? 0 : 1;
  const size_t elements = b->step[i] ? b->count : 1;
  if (b->views[i].itemsize == itemsize && (size_t)b->views[i].len == elements * (size_t)itemsize)
    return 0;
  PyErr_Format(PyExc_ValueError, "batch: column %d has %zd bytes, not %zu of %zd", i,
               b->views[i].len, b->count, itemsize);
  return -1;
}

/* Whether all numbers of a column are below `most`; [out] bad: index of one that is not. */
static bool all_below(const struct batch *b, int column, uint64_t most, size_t *bad) {
  const int64_t *numbers = b->views[column].buf;
  const size_t count = b->step[column] ? b->count : 1;
  uint64_t above = 0;
  for (size_t i = 0; i < count; i++) above |= (uint64_t)((uint64_t)numbers[i] >= most);
  if (!above || b->count == 0) return true;
  for (*bad = 0; (uint64_t)numbers[*bad] < most;) ++*bad;
  return false;
}

/* Checks that all ranks and offsets are of the array. Returns 0 or -1. */
static int check_places(const struct batch *b) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf, *offsets = b->views[OFFSETS].buf;
  const uint64_t size = array->team->size, most = (uint64_t)(array->nbytes / array->itemsize);
  size_t bad = 0;
  if (all_below(b, OFFSETS, most, &bad) && all_below(b, RANKS, size, &bad)) return 0;
  PyErr_Format(PyExc_IndexError,
               "element %lld of rank %lld: parts have %lld elements, and ranks go from 0 to %lld",
               (long long)offsets[bad], (long long)ranks[bad * b->step[RANKS]], (long long)most,
               (long long)size - 1);
  return -1;
}

/* Starts one operation for each element of a batch. */
static void start_each(const struct batch *b) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf, *offsets = b->views[OFFSETS].buf;
  const size_t step = b->step[RANKS], step_x = b->step[FIRST], step_y = b->step[SECOND];
  switch (array->dt) {
#define CASE(S, T)                                                                  \
 case GEX_DT_##S: {                                                                 \
  const T *x = b->opened[FIRST] ? b->views[FIRST].buf : NULL;                       \
  const T *y = b->opened[SECOND] ? b->views[SECOND].buf : NULL;                     \
  T *old = b->opened[OLD] ? b->views[OLD].buf : NULL;                               \
  for (size_t i = 0; i < b->count; i++) {                                           \
   const gex_Rank_t rank = (gex_Rank_t)ranks[i * step];                             \
   gex_AD_OpNBI_##S(array->domain, old ? old + i : NULL, rank,                      \
                    array->addr[rank] + offsets[i] * (int64_t)sizeof(T), b->opcode, \
                    x ? x[i * step_x] : 0, y ? y[i * step_y] : 0, 0);               \
  }                                                                                 \
  break;                                                                            \
 }
#define GEXX_AD_INT(S, T, W)  CASE(S, T)
#define GEXX_AD_REAL(S, T, W) CASE(S, T)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
#undef CASE
  default: break;
  }
}

/* ---- sums before the operations */

/* Cells of a table of sums, 0: the batch is not of the kind that is summed first. */
static size_t table_cells(const struct batch *b) {
  const struct tmbpy_array *array = b->array;
  const gex_DT_t integers = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64;
  const size_t parts = b->step[RANKS] ? array->team->size : 1;
  const size_t part = (size_t)(array->nbytes / array->itemsize);
  if (b->opcode != GEX_OP_ADD || b->opened[OLD] || !b->opened[FIRST]) return 0;
  return array->dt & integers && part <= b->count / parts ? part * parts : 0;
}

/* Sums what the batch adds to each cell. table: zeros; sums are modulo 2^64. */
static void sum_cells(const struct batch *b, uint64_t *table) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf, *offsets = b->views[OFFSETS].buf;
  const int64_t part = (int64_t)(array->nbytes / array->itemsize);
  const bool several = b->step[RANKS];
  const size_t step = b->step[FIRST];
  switch (array->dt) {
#define CASE(S, T)                                                                 \
 case GEX_DT_##S: {                                                                \
  const T *x = b->views[FIRST].buf;                                                \
  for (size_t i = 0; i < b->count; i++)                                            \
   table[(several ? ranks[i] * part : 0) + offsets[i]] += (uint64_t)(x[i * step]); \
  break;                                                                           \
 }
#define GEXX_AD_INT(S, T, W) CASE(S, T)
#define GEXX_AD_REAL(S, T, W)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
#undef CASE
  default: break;
  }
}

/* Starts one addition for each cell whose sum is not zero. */
static void start_cells(const struct batch *b, const uint64_t *table, size_t cells) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf;
  const size_t part = (size_t)(array->nbytes / array->itemsize);
  for (size_t cell = 0; cell < cells; cell++) {
    if (!table[cell]) continue;
    const gex_Rank_t rank = (gex_Rank_t)(b->step[RANKS] ? (int64_t)(cell / part) : ranks[0]);
    char *addr = array->addr[rank] + cell % part * (size_t)array->itemsize;
    switch (array->dt) {
#define GEXX_AD_INT(S, T, W)                                                           \
 case GEX_DT_##S:                                                                      \
  gex_AD_OpNBI_##S(array->domain, NULL, rank, addr, GEX_OP_ADD, (T)table[cell], 0, 0); \
  break;
#define GEXX_AD_REAL(S, T, W)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
    default: break;
    }
  }
}

/* Starts all operations of a batch, as one access region. */
static gex_Event_t start_batch(const struct batch *b) {
  const size_t cells = table_cells(b);
  uint64_t *table = cells ? calloc(cells, sizeof *table) : NULL;
  gex_NBI_BeginAccessRegion(0);
  if (table) {
    sum_cells(b, table);
    start_cells(b, table, cells);
  } else {
    start_each(b);
  }
  free(table);
  return gex_NBI_EndAccessRegion(0);
}

/* ---- the call */

static int open_batch(struct batch *b, PyObject *const *args) {
  const Py_ssize_t itemsize = b->array->itemsize;
  const Py_ssize_t n = PyObject_Size(args[OFFSETS + 1]);
  if (n < 0) return -1;
  b->count = (size_t)n;
  for (int i = 0; i < COLUMNS; i++)
    if (open_column(b, i, args[i + 1], i < FIRST ? (Py_ssize_t)sizeof(int64_t) : itemsize) != 0)
      return -1;
  return check_places(b);
}

/* _atomic_batch(opcode, ranks, offsets, a, b, old) -> Future with `old` as its result. Ranks and
 * offsets are int64 arrays, the others arrays of the element type, or None. All but offsets and old
 * may have one element, which holds for all. */
PyObject *tmbpy_atomic_batch(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct batch b = {.array = (struct tmbpy_array *)self};
  if (nargs != 6) return PyErr_Format(PyExc_TypeError, "batches take 6 arguments, not %zd", nargs);
  if (tmbpy_atomic_check(b.array) != 0) return NULL;
  b.opcode = (gex_OP_t)PyLong_AsUnsignedLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  struct tmbpy_future *future = open_batch(&b, args) == 0 ? tmbpy_future_new("atomics") : NULL;
  if (future) {
    gex_Event_t event;
    if (b.opened[OLD]) {
      Py_INCREF(args[OLD + 1]);
      future->result = args[OLD + 1];
      tmbpy_future_hold(future, &b.views[OLD]);
    }
    Py_BEGIN_ALLOW_THREADS
    event = start_batch(&b);
    Py_END_ALLOW_THREADS
    b.opened[OLD] = false; /* the future's */
    tmbpy_future_set(future, event);
  }
  close_batch(&b);
  return (PyObject *)future;
}
