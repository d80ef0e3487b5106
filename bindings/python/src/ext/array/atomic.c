/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on elements of arrays.
 *
 * Owns nothing; the package keeps one atomic domain for each team and element type. Called by
 * array.c and the package. Calls: gex_AD_*. Invariants: an element that is used by atomic
 * operations is changed by them only, until a barrier; operations on mapped memory are complete on
 * return and keep the GIL, others wait for their answer.
 */
#include "core.h"

/* A value of any type of the atomics. */
union operand {
  uint32_t U32;
  int32_t I32;
  uint64_t U64;
  int64_t I64;
  float FLT;
  double DBL;
};

/* One operation and its answer. */
struct operation {
  struct tmbpy_array *array;
  uint32_t rank;
  void *addr;
  gex_OP_t opcode;
  union operand a, b, old;
};

static gex_Event_t start(struct operation *o) {
  switch (o->array->dt) {
#define CASE(S)                                                                                    \
 case GEX_DT_##S:                                                                                  \
  return gex_AD_OpNB_##S(o->array->domain, &o->old.S, o->rank, o->addr, o->opcode, o->a.S, o->b.S, \
                         0);
#define GEXX_AD_INT(S, T, W)  CASE(S)
#define GEXX_AD_REAL(S, T, W) CASE(S)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
#undef CASE
  default: return GEX_EVENT_INVALID;
  }
}

/* Converts a Python number. Returns 0 or -1. */
static int read_operand(gex_DT_t dt, PyObject *value, union operand *out) {
  if (value == Py_None) return 0;
  if (dt & (GEX_DT_FLT | GEX_DT_DBL)) {
    const double number = PyFloat_AsDouble(value);
    if (dt == GEX_DT_FLT)
      out->FLT = (float)number;
    else
      out->DBL = number;
    return PyErr_Occurred() ? -1 : 0;
  }
  PyObject *integer = PyNumber_Index(value);
  if (!integer) return -1;
  const bool is_signed = dt & (GEX_DT_I32 | GEX_DT_I64);
  const long long number =
      is_signed ? PyLong_AsLongLong(integer) : (long long)PyLong_AsUnsignedLongLong(integer);
  Py_DECREF(integer);
  if (PyErr_Occurred()) return -1;
  if ((dt == GEX_DT_I32 && (number < INT32_MIN || number > INT32_MAX)) ||
      (dt == GEX_DT_U32 && (number < 0 || number > UINT32_MAX))) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit the array's type of 32 bits", value);
    return -1;
  }
  out->I64 = 0;
  if (dt & (GEX_DT_I32 | GEX_DT_U32))
    out->U32 = (uint32_t)number;
  else
    out->I64 = number;
  return 0;
}

static PyObject *answer(const struct operation *o) {
  if (o->opcode < GEX_OP_FAND) Py_RETURN_NONE;
  switch (o->array->dt) {
  case GEX_DT_I32: return PyLong_FromLong(o->old.I32);
  case GEX_DT_U32: return PyLong_FromUnsignedLong(o->old.U32);
  case GEX_DT_I64: return PyLong_FromLongLong(o->old.I64);
  case GEX_DT_U64: return PyLong_FromUnsignedLongLong(o->old.U64);
  case GEX_DT_FLT: return PyFloat_FromDouble((double)o->old.FLT);
  default: return PyFloat_FromDouble(o->old.DBL);
  }
}

static bool ready(void *arg) {
  gex_Event_t *event = arg;
  if (*event != GEX_EVENT_INVALID && gex_Event_Test(*event) == GASNET_OK)
    *event = GEX_EVENT_INVALID;
  return *event == GEX_EVENT_INVALID;
}

/* Runs an operation to its end. A signal does not end the wait, because the answer is written here:
 * its exception is raised afterwards. */
static int run(struct operation *o) {
  gex_Event_t event;
  if (o->array->team->delta[o->rank] != GEXX_UNMAPPED) {
    event = start(o);
  } else {
    Py_BEGIN_ALLOW_THREADS
    event = start(o);
    Py_END_ALLOW_THREADS
  }
  if (ready(&event)) return tmbpy_failure_check("atomic");
  const struct tmbpy_aim aim = {ready, &event, "atomic", event};
  const int failed = tmbpy_wait(&aim, -1);
  if (!failed) return tmbpy_failure_check("atomic");
  Py_BEGIN_ALLOW_THREADS
  gex_Event_Wait(event);
  Py_END_ALLOW_THREADS
  return -1;
}

static int check_domain(struct tmbpy_array *array) {
  if (tmbpy_array_check(array) != 0) return -1;
  if (array->domain != GEX_AD_INVALID) return 0;
  PyErr_Format(PyExc_TypeError,
               "no atomics on %R; they exist for int32, uint32, int64, uint64, float32 and float64",
               array->dtype);
  return -1;
}

/* Whether a rank or an index names more than one element. */
static bool is_batch(PyObject *item) {
  if (PyLong_Check(item)) return false;
  return PySlice_Check(item) || item == Py_Ellipsis || item == Py_None ||
         tmbpy_index_is_fancy(item, 0);
}

/* The package finds the elements, and calls _atomic_batch. */
static PyObject *many(PyObject *self, PyObject *const *args) {
  return PyObject_CallMethod(self, "_atomic_many", "OOOOO", args[0], args[1], args[2], args[3],
                             args[4]);
}

/* _atomic(opcode, rank, index, a, b). */
PyObject *tmbpy_atomic_op(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  struct operation o = {.array = array};
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "atomics take 5 arguments, not %zd", nargs);
  if (check_domain(array) != 0) return NULL;
  if (is_batch(args[1]) || is_batch(args[2])) return many(self, args);
  o.opcode = (gex_OP_t)PyLong_AsUnsignedLong(args[0]);
  if (PyErr_Occurred() || tmbpy_team_rank(array->team, args[1], &o.rank) != 0) return NULL;
  if (tmbpy_index_parse(array, o.rank, args[2], 0, &region) != 0) return NULL;
  if (region.ndim != 0) return many(self, args);
  o.addr = region.addr;
  if (read_operand(array->dt, args[3], &o.a) != 0) return NULL;
  if (read_operand(array->dt, args[4], &o.b) != 0) return NULL;
  return run(&o) == 0 ? answer(&o) : NULL;
}

/* ---- many elements */

enum { RANKS, OFFSETS, FIRST, SECOND, OLD, COLUMNS };

/* The arguments of a batch: columns of `count` elements, or NULL where there is none. */
struct batch {
  struct tmbpy_array *array;
  gex_OP_t opcode;
  size_t count;
  Py_buffer views[COLUMNS];
  bool opened[COLUMNS];
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
  if (b->views[i].itemsize == itemsize && (size_t)b->views[i].len == b->count * (size_t)itemsize)
    return 0;
  PyErr_Format(PyExc_ValueError, "batch: column %d has %zd bytes, not %zu of %zd", i,
               b->views[i].len, b->count, itemsize);
  return -1;
}

/* Checks that all ranks and offsets are of the array. Returns 0 or -1. */
static int check_places(const struct batch *b) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf, *offsets = b->views[OFFSETS].buf;
  const int64_t size = array->team->size, most = array->nbytes / array->itemsize;
  for (size_t i = 0; i < b->count; i++)
    if (ranks[i] < 0 || ranks[i] >= size || offsets[i] < 0 || offsets[i] >= most) {
      PyErr_Format(
          PyExc_IndexError,
          "element %lld of rank %lld: parts have %lld elements, and ranks go from 0 to %lld",
          (long long)offsets[i], (long long)ranks[i], (long long)most, (long long)size - 1);
      return -1;
    }
  return 0;
}

/* Starts all operations of a batch, as one access region. */
static gex_Event_t start_batch(const struct batch *b) {
  const struct tmbpy_array *array = b->array;
  const int64_t *ranks = b->views[RANKS].buf, *offsets = b->views[OFFSETS].buf;
  gex_NBI_BeginAccessRegion(0);
  switch (array->dt) {
#define CASE(S, T)                                                                      \
 case GEX_DT_##S: {                                                                     \
  const T *x = b->opened[FIRST] ? b->views[FIRST].buf : NULL;                           \
  const T *y = b->opened[SECOND] ? b->views[SECOND].buf : NULL;                         \
  T *old = b->opened[OLD] ? b->views[OLD].buf : NULL;                                   \
  for (size_t i = 0; i < b->count; i++)                                                 \
   gex_AD_OpNBI_##S(array->domain, old ? old + i : NULL, (gex_Rank_t)ranks[i],          \
                    array->addr[ranks[i]] + offsets[i] * (int64_t)sizeof(T), b->opcode, \
                    x ? x[i] : 0, y ? y[i] : 0, 0);                                     \
  break;                                                                                \
 }
#define GEXX_AD_INT(S, T, W)  CASE(S, T)
#define GEXX_AD_REAL(S, T, W) CASE(S, T)
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
#undef CASE
  default: break;
  }
  return gex_NBI_EndAccessRegion(0);
}

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
 * offsets are int64 arrays, the others arrays of the element type, or None. */
PyObject *tmbpy_atomic_batch(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct batch b = {.array = (struct tmbpy_array *)self};
  if (nargs != 6) return PyErr_Format(PyExc_TypeError, "batches take 6 arguments, not %zd", nargs);
  if (check_domain(b.array) != 0) return NULL;
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

/* All operations of a type. */
static gex_OP_t operations(gex_DT_t dt) {
  const gex_OP_t numbers =
      GEX_OP_ADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX;
  const gex_OP_t bits = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;
  const gex_OP_t plain = dt & (GEX_DT_FLT | GEX_DT_DBL) ? numbers : numbers | bits;
  return plain | GEX_OP_TO_FETCHING(plain) | GEX_OP_SET | GEX_OP_CAS | GEX_OP_SWAP | GEX_OP_FCAS |
         GEX_OP_GET;
}

PyObject *tmbpy_atomic_domain(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "domain takes 2 arguments, not %zd", nargs);
  struct tmbpy_team *team = tmbpy_team_of(args[0]);
  if (!team) return NULL;
  const gex_DT_t dt = (gex_DT_t)PyLong_AsUnsignedLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  gex_AD_t domain = GEX_AD_INVALID;
  Py_BEGIN_ALLOW_THREADS
  gex_AD_Create(&domain, team->tm, dt, operations(dt), 0);
  Py_END_ALLOW_THREADS
  return PyLong_FromVoidPtr(domain);
}
