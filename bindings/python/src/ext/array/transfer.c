/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets of regions of arrays.
 *
 * Owns nothing. Called by array.c. Calls: gex_RMA_*, gexx_RMA_PutSignal*, the strided engine
 * (gex_VIS_Strided*), future.c. A region and a buffer that are both contiguous are one transfer;
 * all else goes to the strided engine with the strides of both, zero strides where a value is
 * repeated. Invariants: transfers of at most TMBPY_HOLD_BYTES to a mapped peer keep the GIL, others
 * release it; the buffer of an operation in progress is held by its future.
 */
#include "core.h"

/* A local buffer: of the host, or in memory of a device. */
struct local {
  Py_buffer view;
  const struct tmbpy_device *device; /* NULL: host */
};

/* A transfer between a region and a local buffer. */
struct transfer {
  gex_TM_t tm;
  gex_Rank_t rank; /* in tm */
  const struct tmbpy_region *region;
  char *local;
  Py_ssize_t itemsize;
  bool contiguous, near;
  Py_ssize_t strides[TMBPY_MAX_DIMS]; /* of the local side */
  size_t count[TMBPY_MAX_DIMS];
  size_t bytes;
};

/* ---- elements as Python numbers */

int tmbpy_transfer_put_scalar(struct tmbpy_array *array, uint32_t rank, char *addr,
                              PyObject *value) {
  uint64_t word;
  if (tmbpy_array_delta(array, rank) == GEXX_UNMAPPED) return 0;
  const int packed = tmbpy_number_pack(array->kind, array->itemsize, value, &word);
  if (packed > 0 &&
      gex_RMA_PutBlocking(array->team->tm, rank, addr, &word, sizeof word, 0) != GASNET_OK)
    return tmbpy_failure_check("put") == 0 ? packed : -1;
  return packed;
}

PyObject *tmbpy_transfer_get_scalar(struct tmbpy_array *array, uint32_t rank, char *addr) {
  uint64_t small = 0;
  if (tmbpy_array_delta(array, rank) != GEXX_UNMAPPED && array->itemsize == 8) {
    gex_RMA_GetBlocking(array->team->tm, &small, rank, addr, sizeof small, 0);
    return tmbpy_number_unpack(array, &small);
  }
  struct tmbpy_region region = {.rank = rank, .addr = addr, .ndim = 0, .count = 1};
  PyObject *got = tmbpy_future_take(tmbpy_transfer_get(array, &region, NULL, NULL));
  if (!got) return NULL;
  PyObject *number = tmbpy_number_of(array, got);
  Py_DECREF(got);
  return number;
}

/* ---- buffers */

char tmbpy_transfer_kind(const char *format) {
  if (!format || !format[0]) return 'u';
  if (format[0] == '@' || format[0] == '=') format++;
  if (format[1]) return format[0] == 'Z' && !format[2] ? 'c' : 0;
  if (strchr("bhilqn", format[0])) return 'i';
  if (strchr("BHILQN", format[0])) return 'u';
  if (strchr("efdg", format[0])) return 'f';
  return format[0] == '?' ? 'b' : 0;
}

static bool same_type(struct tmbpy_array *array, const Py_buffer *view) {
  if (view->itemsize != array->itemsize) return false;
  const char kind = tmbpy_transfer_kind(view->format);
  if (kind) return kind == array->kind;
  return view->format && strcmp(view->format, array->format) == 0;
}

/* Opens memory of a device: the addresses are in the buffer of its array, which nobody reads. */
static int open_memory(struct tmbpy_array *array, PyObject *value, int flags, struct local *local) {
  const struct tmbpy_memory *memory = (const struct tmbpy_memory *)value;
  if (PyObject_GetBuffer(memory->array, &local->view, flags) != 0) return -1;
  local->device = memory->device;
  if (same_type(array, &local->view)) return 0;
  PyBuffer_Release(&local->view);
  PyErr_Format(PyExc_TypeError, "the value in device memory must have type %R", array->dtype);
  return -1;
}

/* Opens a value as a buffer of the array's type; converts it with NumPy where it is none. */
static int open_value(struct tmbpy_array *array, PyObject *value, struct local *local) {
  Py_buffer *const view = &local->view;
  local->device = NULL;
  if (PyObject_TypeCheck(value, tmbpy.memory_type))
    return open_memory(array, value, PyBUF_STRIDES | PyBUF_FORMAT, local);
  if (PyObject_CheckBuffer(value)) {
    if (PyObject_GetBuffer(value, view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
      if (same_type(array, view)) return 0;
      PyBuffer_Release(view);
    } else {
      PyErr_Clear(); /* NumPy will say what is wrong, or copy */
    }
  }
  PyObject *made =
      PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_COERCE], value, array->dtype, NULL);
  if (!made) return -1;
  const int failed = PyObject_TypeCheck(made, tmbpy.memory_type)
                         ? open_memory(array, made, PyBUF_STRIDES | PyBUF_FORMAT, local)
                         : PyObject_GetBuffer(made, view, PyBUF_STRIDES | PyBUF_FORMAT);
  Py_DECREF(made);
  return failed;
}

void tmbpy_transfer_route(const struct tmbpy_array *array, const struct tmbpy_device *local,
                          gex_TM_t *tm, gex_Rank_t *rank) {
  *tm = array->team->tm;
  if (!local && !array->device) return;
  const gex_EP_Index_t there = array->device ? array->device->index[*rank] : 0;
  *rank = gex_TM_TranslateRankToJobrank(*tm, *rank);
  *tm = gex_TM_Pair(local ? local->ep : tmbpy.ep, there);
}

/* Fills a transfer from both sides. */
static int prepare(struct transfer *t, struct tmbpy_array *array, const struct tmbpy_region *region,
                   const struct local *open, const struct tmbpy_after *after) {
  const Py_buffer *const view = &open->view;
  if (tmbpy_index_broadcast(region, view, t->strides) != 0) return -1;
  if (after && after->kind != TMBPY_SIGNAL && (array->device || open->device)) {
    PyErr_SetString(PyExc_TypeError,
                    "tags and posts do not go with device memory; use put_signal, with signals of "
                    "the team");
    return -1;
  }
  t->rank = region->rank;
  tmbpy_transfer_route(array, open->device, &t->tm, &t->rank);
  t->region = region;
  t->local = view->buf;
  t->itemsize = array->itemsize;
  t->bytes = (size_t)(region->count * array->itemsize);
  t->near = tmbpy_array_delta(array, region->rank) != GEXX_UNMAPPED && !open->device;
  t->contiguous =
      tmbpy_index_contiguous(region->ndim, region->shape, region->strides, array->itemsize) &&
      tmbpy_index_contiguous(region->ndim, region->shape, t->strides, array->itemsize);
  for (int d = 0; d < region->ndim; d++) t->count[d] = (size_t)region->shape[d];
  return 0;
}

/* ---- put */

/* A strided put is made first, and complete before the rest begins. */
static gex_Event_t put_after(const struct transfer *t, const struct tmbpy_after *s) {
  const struct tmbpy_region *r = t->region;
  const size_t bytes = t->contiguous ? t->bytes : 0;
  if (!t->contiguous && t->bytes)
    gex_VIS_StridedPutBlocking(t->tm, t->rank, r->addr, r->strides, t->local, t->strides,
                               (size_t)t->itemsize, t->count, (size_t)r->ndim, 0);
  if (s->kind == TMBPY_SIGNAL)
    return gexx_RMA_PutSignalNB(t->tm, t->rank, r->addr, t->local, bytes, GEX_EVENT_DEFER, s->addr,
                                s->op, s->value, 0);
  if (s->kind == TMBPY_TAG)
    return gexx_RMA_PutNotifyNB(t->tm, t->rank, r->addr, t->local, bytes, GEX_EVENT_DEFER,
                                (uint32_t)s->value, 0);
  gexx_Sem_PutSignal(s->sem, r->addr, t->local, bytes, s->value);
  return GEX_EVENT_INVALID;
}

static gex_Event_t put(const struct transfer *t, const struct tmbpy_after *after) {
  const struct tmbpy_region *r = t->region;
  if (after) return put_after(t, after);
  if (t->bytes == 0) return GEX_EVENT_INVALID;
  if (t->contiguous)
    return gex_RMA_PutNB(t->tm, t->rank, r->addr, t->local, t->bytes, GEX_EVENT_DEFER, 0);
  return gex_VIS_StridedPutNB(t->tm, t->rank, r->addr, r->strides, t->local, t->strides,
                              (size_t)t->itemsize, t->count, (size_t)r->ndim, 0);
}

/* Begin a transfer, with the interpreter's lock only where it is a short copy. The future holds the
 * local buffer. */
static struct tmbpy_future *begin(struct tmbpy_future *future, struct local *local,
                                  const struct transfer *t, const struct tmbpy_after *after,
                                  gex_Event_t (*move)(const struct transfer *t,
                                                      const struct tmbpy_after *after)) {
  gex_Event_t event;
  tmbpy_future_hold(future, &local->view);
  if (t->near && t->bytes <= TMBPY_HOLD_BYTES) {
    event = move(t, after);
  } else {
    Py_BEGIN_ALLOW_THREADS
    event = move(t, after);
    Py_END_ALLOW_THREADS
  }
  tmbpy_future_set(future, event);
  return future;
}

struct tmbpy_future *tmbpy_transfer_put(struct tmbpy_array *array,
                                        const struct tmbpy_region *region, PyObject *value,
                                        const struct tmbpy_after *after) {
  struct local local;
  struct transfer t;
  if (open_value(array, value, &local) != 0) return NULL;
  struct tmbpy_future *future = NULL;
  if (prepare(&t, array, region, &local, after) == 0) future = tmbpy_future_new("put");
  if (!future) {
    PyBuffer_Release(&local.view);
    return NULL;
  }
  return begin(future, &local, &t, after, put);
}

/* ---- get */

/* A strided get is made first, and complete before its owner is notified. */
static gex_Event_t get_after(const struct transfer *t, const struct tmbpy_after *after) {
  const struct tmbpy_region *r = t->region;
  const size_t bytes = t->contiguous ? t->bytes : 0;
  if (!t->contiguous && t->bytes)
    gex_VIS_StridedGetBlocking(t->tm, t->local, t->strides, t->rank, r->addr, r->strides,
                               (size_t)t->itemsize, t->count, (size_t)r->ndim, 0);
  return gexx_RMA_GetNotifyNB(t->tm, t->local, t->rank, r->addr, bytes, (uint32_t)after->value, 0);
}

static gex_Event_t get(const struct transfer *t, const struct tmbpy_after *after) {
  const struct tmbpy_region *r = t->region;
  if (after) return get_after(t, after);
  if (t->bytes == 0) return GEX_EVENT_INVALID;
  if (t->contiguous) return gex_RMA_GetNB(t->tm, t->local, t->rank, r->addr, t->bytes, 0);
  return gex_VIS_StridedGetNB(t->tm, t->local, t->strides, t->rank, r->addr, r->strides,
                              (size_t)t->itemsize, t->count, (size_t)r->ndim, 0);
}

/* The array that a get fills. Returns a new reference. */
static PyObject *destination(struct tmbpy_array *array, const struct tmbpy_region *region,
                             PyObject *out) {
  if (out) {
    Py_INCREF(out);
    return out;
  }
  PyObject *shape = tmbpy_index_shape(region);
  if (!shape) return NULL;
  PyObject *made =
      PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_EMPTY], shape, array->dtype, NULL);
  Py_DECREF(shape);
  return made;
}

/* Opens it as a buffer: writable, of the region's shape and the array's type. */
static int open_destination(struct tmbpy_array *array, const struct tmbpy_region *region,
                            PyObject *out, struct local *local) {
  Py_buffer *const view = &local->view;
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE;
  local->device = NULL;
  if (PyObject_TypeCheck(out, tmbpy.memory_type)) {
    if (open_memory(array, out, flags, local) != 0) return -1;
  } else if (PyObject_GetBuffer(out, view, flags) != 0) {
    return -1;
  }
  bool fits = view->ndim == region->ndim;
  for (int d = 0; fits && d < view->ndim; d++) fits = view->shape[d] == region->shape[d];
  const bool same = same_type(array, view);
  if (fits && same) return 0;
  PyBuffer_Release(view);
  PyObject *shape = tmbpy_index_shape(region);
  PyObject *given = PyObject_GetAttrString(out, same ? "shape" : "dtype");
  PyErr_Clear();
  if (shape)
    PyErr_Format(PyExc_ValueError, "out has %s %R; give an array of shape %R and type %R",
                 same ? "shape" : "type", given ? given : out, shape, array->dtype);
  Py_XDECREF(given);
  Py_XDECREF(shape);
  return -1;
}

struct tmbpy_future *tmbpy_transfer_get(struct tmbpy_array *array,
                                        const struct tmbpy_region *region, PyObject *out,
                                        const struct tmbpy_after *after) {
  struct local local;
  struct transfer t;
  struct tmbpy_future *future = NULL;
  out = destination(array, region, out);
  if (!out) return NULL;
  if (open_destination(array, region, out, &local) == 0) {
    if (prepare(&t, array, region, &local, after) == 0) future = tmbpy_future_new("get");
    if (!future) PyBuffer_Release(&local.view);
  }
  if (!future) {
    Py_DECREF(out);
    return NULL;
  }
  future->result = out;
  return begin(future, &local, &t, after, get);
}
