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

#define REALS (GEX_DT_FLT | GEX_DT_DBL)

/* Refuses an operand that is no number of the array's type, in place of the conversion's own
 * TypeError. Returns -1. */
static int refuse_operand(const struct tmbpy_array *array, PyObject *value) {
  if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
    PyErr_Format(PyExc_TypeError, "value is %R; atomics on %R take %s", value, array->dtype,
                 array->dt & REALS ? "numbers" : "integers");
  return -1;
}

/* Converts a Python number. Returns 0 or -1. */
static int read_operand(const struct tmbpy_array *array, PyObject *value, union operand *out) {
  const gex_DT_t dt = array->dt;
  if (value == Py_None) return 0;
  if (dt & REALS) {
    const double number = PyFloat_AsDouble(value);
    if (dt == GEX_DT_FLT)
      out->FLT = (float)number;
    else
      out->DBL = number;
    return PyErr_Occurred() ? refuse_operand(array, value) : 0;
  }
  PyObject *integer = PyNumber_Index(value);
  if (!integer) return refuse_operand(array, value);
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

int tmbpy_atomic_check(struct tmbpy_array *array) {
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

/* Refuses operations that the type does not have, and operands that are missing: None is none.
 * Returns 0 or -1. */
static int check_operation(const struct operation *o, PyObject *const *args) {
  const gex_OP_t bits = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;
  const gex_OP_t steps = GEX_OP_INC | GEX_OP_DEC;
  if ((o->array->dt & REALS) && (o->opcode & (bits | GEX_OP_TO_FETCHING(bits)))) {
    PyErr_Format(PyExc_TypeError, "and, or and xor are atomics of integers, not of %R",
                 o->array->dtype);
    return -1;
  }
  if (o->opcode & (steps | GEX_OP_TO_FETCHING(steps) | GEX_OP_GET)) return 0;
  if (args[3] == Py_None || (o->opcode == GEX_OP_FCAS && args[4] == Py_None))
    return refuse_operand(o->array, Py_None);
  return 0;
}

/* _atomic(opcode, rank, index, a, b). */
PyObject *tmbpy_atomic_op(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  struct operation o = {.array = array};
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "atomics take 5 arguments, not %zd", nargs);
  if (tmbpy_atomic_check(array) != 0) return NULL;
  o.opcode = (gex_OP_t)PyLong_AsUnsignedLong(args[0]);
  if (PyErr_Occurred() || check_operation(&o, args) != 0) return NULL;
  if (is_batch(args[1]) || is_batch(args[2])) return many(self, args);
  if (tmbpy_team_rank(array->team, args[1], &o.rank) != 0) return NULL;
  if (tmbpy_index_parse(array, o.rank, args[2], 0, &region) != 0) return NULL;
  if (region.ndim != 0) return many(self, args);
  o.addr = region.addr;
  if (read_operand(array, args[3], &o.a) != 0) return NULL;
  if (read_operand(array, args[4], &o.b) != 0) return NULL;
  return run(&o) == 0 ? answer(&o) : NULL;
}

/* ---- domains */

/* All operations of a type. */
static gex_OP_t operations(gex_DT_t dt) {
  const gex_OP_t numbers =
      GEX_OP_ADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX;
  const gex_OP_t bits = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;
  const gex_OP_t plain = dt & REALS ? numbers : numbers | bits;
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
