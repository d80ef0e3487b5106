/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on buffers.
 *
 * Owns the operators that the library lacks: those of small integers, complex numbers, and Python
 * functions. Called by the package, which has made both buffers contiguous and of one type. Calls:
 * gex_Coll_*, gexx_Coll_*, future.c. Invariants: a Python operator runs under the GIL, from the
 * progress of a thread that waits; the first exception it raises is what the wait of the future
 * raises, and the result is undefined then.
 */
#include "core.h"

#include <complex.h>
#include <stdlib.h>

/* Kinds of collectives; the package has the same numbers. */
enum {
  COLL_BROADCAST,
  COLL_REDUCE,
  COLL_ALLREDUCE,
  COLL_SCATTER,
  COLL_GATHER,
  COLL_ALLGATHER,
  COLL_EXCHANGE,
  COLL_REDUCE_SCATTER,
  COLL_SCAN,
  COLL_EXSCAN,
  COLL_KINDS
};

static const char *const names[COLL_KINDS] = {"bcast",  "reduce",    "allreduce", "scatter",
                                              "gather", "allgather", "alltoall",  "reduce_scatter",
                                              "scan",   "exscan"};

/* The arguments of one call. */
struct call {
  struct tmbpy_team *team;
  int kind;
  gex_Rank_t root;
  void *dst;
  const void *src;
  size_t nbytes; /* of a block; of an element where values are combined */
  gex_DT_t dt;
  size_t count;
  gex_OP_t op;
  gex_Coll_ReduceFn_t function;
  void *cdata;
};

static gex_Event_t combine(const struct call *c) {
  gex_TM_t tm = c->team->tm;
  switch (c->kind) {
  case COLL_REDUCE:
    return gex_Coll_ReduceToOneNB(tm, c->root, c->dst, c->src, c->dt, c->nbytes, c->count, c->op,
                                  c->function, c->cdata, 0);
  case COLL_ALLREDUCE:
    return gex_Coll_ReduceToAllNB(tm, c->dst, c->src, c->dt, c->nbytes, c->count, c->op,
                                  c->function, c->cdata, 0);
  case COLL_REDUCE_SCATTER:
    return gexx_Coll_ReduceScatterNB(tm, c->dst, c->src, c->dt, c->nbytes, c->count, c->op,
                                     c->function, c->cdata, 0);
  case COLL_SCAN:
    return gexx_Coll_ScanNB(tm, c->dst, c->src, c->dt, c->nbytes, c->count, c->op, c->function,
                            c->cdata, 0);
  default:
    return gexx_Coll_ExScanNB(tm, c->dst, c->src, c->dt, c->nbytes, c->count, c->op, c->function,
                              c->cdata, 0);
  }
}

static gex_Event_t start(const struct call *c) {
  gex_TM_t tm = c->team->tm;
  switch (c->kind) {
  case COLL_BROADCAST: return gex_Coll_BroadcastNB(tm, c->root, c->dst, c->src, c->nbytes, 0);
  case COLL_SCATTER: return gexx_Coll_ScatterNB(tm, c->root, c->dst, c->src, c->nbytes, 0);
  case COLL_GATHER: return gexx_Coll_GatherNB(tm, c->root, c->dst, c->src, c->nbytes, 0);
  case COLL_ALLGATHER: return gexx_Coll_AllGatherNB(tm, c->dst, c->src, c->nbytes, 0);
  case COLL_EXCHANGE: return gexx_Coll_ExchangeNB(tm, c->dst, c->src, c->nbytes, 0);
  default: return combine(c);
  }
}

/* ---- operators of types that the library does not know */

#define COMBINE(NAME, T, EXPRESSION)                                                \
 static void NAME(const void *left, void *right, size_t count, const void *cdata) { \
  const T *x = left;                                                                \
  T *y = right;                                                                     \
  (void)cdata;                                                                      \
  for (size_t i = 0; i < count; i++) y[i] = (T)(EXPRESSION);                        \
 }
#define COMBINE_SMALL(S, T)                     \
 COMBINE(sum_##S, T, x[i] + y[i])               \
 COMBINE(prod_##S, T, x[i] * y[i])              \
 COMBINE(min_##S, T, x[i] < y[i] ? x[i] : y[i]) \
 COMBINE(max_##S, T, x[i] > y[i] ? x[i] : y[i]) \
 COMBINE(and_##S, T, x[i] & y[i])               \
 COMBINE(or_##S, T, x[i] | y[i])                \
 COMBINE(xor_##S, T, x[i] ^ y[i])
COMBINE_SMALL(i1, int8_t)
COMBINE_SMALL(u1, uint8_t)
COMBINE_SMALL(i2, int16_t)
COMBINE_SMALL(u2, uint16_t)
COMBINE(sum_c8, float _Complex, x[i] + y[i])
COMBINE(prod_c8, float _Complex, x[i] * y[i])
COMBINE(sum_c16, double _Complex, x[i] + y[i])
COMBINE(prod_c16, double _Complex, x[i] * y[i])

#define ROW_SMALL(S)                                             \
 {                                                               \
#  S, {                                                          \
   sum_##S, prod_##S, min_##S, max_##S, and_##S, or_##S, xor_##S \
  }                                                              \
 }
static const gex_OP_t order[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX,
                                 GEX_OP_AND, GEX_OP_OR,   GEX_OP_XOR};
static const struct {
  const char *type;
  gex_Coll_ReduceFn_t functions[7];
} operators[] = {
    ROW_SMALL(i1),
    ROW_SMALL(u1),
    ROW_SMALL(i2),
    ROW_SMALL(u2),
    {"c8", {sum_c8, prod_c8, NULL, NULL, NULL, NULL, NULL}},
    {"c16", {sum_c16, prod_c16, NULL, NULL, NULL, NULL, NULL}},
};

static gex_Coll_ReduceFn_t find_operator(const char *type, gex_OP_t op) {
  for (size_t t = 0; t < sizeof operators / sizeof operators[0]; t++)
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
      if (strcmp(operators[t].type, type) == 0 && order[k] == op) return operators[t].functions[k];
  return NULL;
}

/* ---- operators in Python */

/* Calls function(left, right) with two memories, of which the second receives the result. */
static void call_python(const void *left, void *right, size_t count, const void *cdata) {
  struct tmbpy_operator *o = (struct tmbpy_operator *)(uintptr_t)cdata;
  const Py_ssize_t bytes = (Py_ssize_t)count * o->itemsize;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *x = PyMemoryView_FromMemory((char *)(uintptr_t)left, bytes, PyBUF_READ);
  PyObject *y = PyMemoryView_FromMemory(right, bytes, PyBUF_WRITE);
  PyObject *done = x && y ? PyObject_CallFunctionObjArgs(o->function, x, y, NULL) : NULL;
  if (!done && !o->raised) {
    PyObject *type, *trace;
    PyErr_Fetch(&type, &o->raised, &trace);
    PyErr_NormalizeException(&type, &o->raised, &trace);
    if (trace) PyException_SetTraceback(o->raised, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
  }
  PyErr_Clear();
  Py_XDECREF(done);
  Py_XDECREF(x);
  Py_XDECREF(y);
  PyGILState_Release(gil);
}

/* Chooses how values are combined: `function` is None, the name of a type, or a Python function. */
static int set_operator(struct call *c, PyObject *function, struct tmbpy_future *future) {
  if (function == Py_None) return 0;
  c->dt = GEX_DT_USER;
  if (PyUnicode_Check(function)) {
    const char *type = PyUnicode_AsUTF8AndSize(function, NULL);
    c->function = type ? find_operator(type, c->op) : NULL;
    c->op = GEX_OP_USER;
    if (c->function) return 0;
    if (type) PyErr_Format(PyExc_TypeError, "values of type %s cannot be combined so", type);
    return -1;
  }
  struct tmbpy_operator *o = calloc(1, sizeof *o);
  if (!o) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(function);
  o->function = function;
  o->itemsize = (Py_ssize_t)c->nbytes;
  future->operator= o;
  c->op = GEX_OP_USER_NC;
  c->function = call_python;
  c->cdata = o;
  return 0;
}

/* ---- the call */

int tmbpy_coll_open(PyObject *object, int flags, struct tmbpy_future *future, void **address) {
  Py_buffer view;
  *address = NULL;
  if (object == Py_None) return 0;
  if (PyObject_GetBuffer(object, &view, flags) != 0) return -1;
  *address = view.buf;
  tmbpy_future_hold(future, &view);
  return 0;
}

static int read_call(struct call *c, PyObject *const *args, struct tmbpy_future *future) {
  void *src = NULL;
  c->kind = (int)PyLong_AsLong(args[1]);
  c->nbytes = PyLong_AsSize_t(args[5]);
  c->dt = (gex_DT_t)PyLong_AsUnsignedLong(args[6]);
  c->count = PyLong_AsSize_t(args[7]);
  c->op = (gex_OP_t)PyLong_AsUnsignedLong(args[8]);
  if (PyErr_Occurred()) return -1;
  if (c->kind < 0 || c->kind >= COLL_KINDS) {
    PyErr_Format(PyExc_ValueError, "collective: kind is %d", c->kind);
    return -1;
  }
  if (tmbpy_team_rank(c->team, args[2], &c->root) != 0) return -1;
  if (tmbpy_coll_open(args[3], PyBUF_CONTIG, future, &c->dst) != 0) return -1;
  if (tmbpy_coll_open(args[4], PyBUF_CONTIG_RO, future, &src) != 0) return -1;
  c->src = src;
  return set_operator(c, args[9], future);
}

PyObject *tmbpy_coll_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  if (nargs != 10)
    return PyErr_Format(PyExc_TypeError, "collective takes 10 arguments, not %zd", nargs);
  struct call c = {.team = tmbpy_team_of(args[0])};
  if (!c.team) return NULL;
  struct tmbpy_future *future = tmbpy_future_new("collective");
  if (!future) return NULL;
  if (read_call(&c, args, future) != 0) {
    tmbpy_future_discard(future);
    return NULL;
  }
  Py_INCREF(args[3]);
  future->result = args[3];
  future->what = names[c.kind];
  gex_Event_t event;
  Py_BEGIN_ALLOW_THREADS
  event = start(&c);
  Py_END_ALLOW_THREADS
  tmbpy_future_set(future, event);
  return (PyObject *)future;
}

/* ---- the short method of an all-reduce */

/* The library's type of a buffer's elements, 0: none. */
static gex_DT_t data_type(const Py_buffer *view) {
  const bool wide = view->itemsize == 8;
  if (!wide && view->itemsize != 4) return 0;
  switch (tmbpy_transfer_kind(view->format)) {
  case 'i': return wide ? GEX_DT_I64 : GEX_DT_I32;
  case 'u': return wide ? GEX_DT_U64 : GEX_DT_U32;
  case 'f': return wide ? GEX_DT_DBL : GEX_DT_FLT;
  default: return 0;
  }
}

/* Whether both views have one type that the library knows, one shape, and elements. */
static bool alike(const Py_buffer *dst, const Py_buffer *src) {
  const gex_DT_t dt = data_type(src);
  if (!dt || data_type(dst) != dt || dst->ndim != src->ndim || src->len == 0) return false;
  for (int d = 0; d < src->ndim; d++)
    if (dst->shape[d] != src->shape[d]) return false;
  return true;
}

PyObject *tmbpy_coll_allreduce(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  Py_buffer dst, src;
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "allreduce takes 4 arguments");
  struct tmbpy_team *team = tmbpy_team_of(args[0]);
  const gex_OP_t op = team ? (gex_OP_t)PyLong_AsUnsignedLong(args[3]) : 0;
  if (!team || PyErr_Occurred()) return NULL;
  if (PyObject_GetBuffer(args[1], &dst, PyBUF_CONTIG | PyBUF_FORMAT) != 0) goto other;
  if (PyObject_GetBuffer(args[2], &src, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) goto release_dst;
  if (!alike(&dst, &src)) goto release_src;
  struct tmbpy_future *future = tmbpy_future_new("allreduce");
  if (!future) goto release_src;
  const struct call c = {.team = team,
                         .kind = COLL_ALLREDUCE,
                         .dst = dst.buf,
                         .src = src.buf,
                         .nbytes = (size_t)src.itemsize,
                         .dt = data_type(&src),
                         .op = op,
                         .count = (size_t)(src.len / src.itemsize)};
  tmbpy_future_hold(future, &dst);
  tmbpy_future_hold(future, &src);
  Py_INCREF(args[1]);
  future->result = args[1];
  gex_Event_t event;
  Py_BEGIN_ALLOW_THREADS
  event = start(&c);
  Py_END_ALLOW_THREADS
  tmbpy_future_set(future, event);
  return tmbpy_future_take(future);
release_src:
  PyBuffer_Release(&src);
release_dst:
  PyBuffer_Release(&dst);
other:
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}
