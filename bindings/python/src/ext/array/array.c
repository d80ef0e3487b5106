/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays that every rank of a team has a part of, in memory that the others put into and get from.
 *
 * Owns the type Array: the part of one rank by the buffer protocol, without a copy, and puts and
 * gets by index: a[rank, i:j] = value. Called by the package, whose class Array derives from it.
 * Calls: index.c, transfer.c, atomic.c, signal.c. Invariants: all parts have one shape and type; an
 * array is not freed while NumPy arrays show its memory.
 */
#include "core.h"

#include <stdlib.h>

/* ---- making one */

/* Arguments of Array(team, addresses, shape, itemsize, format, kind, dtype, block, domain, dt,
 * device). device: None: host memory. */
struct recipe {
  PyObject *team, *addresses, *shape, *dtype, *block, *device;
  Py_ssize_t itemsize;
  const char *format, *kind;
  unsigned long long domain;
  unsigned dt;
};

static int set_shape(struct tmbpy_array *array, PyObject *shape) {
  const Py_ssize_t ndim = PyTuple_Size(shape);
  if (ndim < 0) return -1;
  if (ndim > TMBPY_MAX_DIMS) {
    PyErr_Format(PyExc_ValueError, "shape has %zd axes; at most %d are possible", ndim,
                 TMBPY_MAX_DIMS);
    return -1;
  }
  array->ndim = (int)ndim;
  for (int d = 0; d < array->ndim; d++) {
    array->shape[d] = PyLong_AsSsize_t(PyTuple_GetItem(shape, d));
    if (PyErr_Occurred()) return -1;
  }
  Py_ssize_t stride = array->itemsize;
  for (int d = array->ndim - 1; d >= 0; d--) {
    array->strides[d] = stride;
    stride *= array->shape[d];
  }
  array->nbytes = stride;
  return 0;
}

static int set_addresses(struct tmbpy_array *array, PyObject *list) {
  const uint32_t size = array->team->size;
  if (PyList_Size(list) != (Py_ssize_t)size) {
    PyErr_SetString(PyExc_ValueError, "addresses must be a list with one entry a rank");
    return -1;
  }
  array->addr = calloc(size, sizeof *array->addr);
  if (!array->addr) {
    PyErr_NoMemory();
    return -1;
  }
  for (uint32_t r = 0; r < size; r++)
    array->addr[r] = PyLong_AsVoidPtr(PyList_GetItem(list, (Py_ssize_t)r));
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject *share(PyObject *object) {
  Py_INCREF(object);
  return object;
}

static int fill(struct tmbpy_array *array, const struct recipe *r) {
  struct tmbpy_team *team = tmbpy_team_of(r->team);
  if (!team) return -1;
  Py_INCREF((PyObject *)team);
  array->team = team;
  array->itemsize = r->itemsize;
  array->kind = r->kind[0];
  array->view_rank = team->rank;
  if (r->device != Py_None) array->device = (struct tmbpy_device *)share(r->device);
  array->domain = (gex_AD_t)(uintptr_t)r->domain;
  array->dt = r->dt;
  array->block = share(r->block);
  array->dtype = share(r->dtype);
  array->shape_object = share(r->shape);
  array->format = strdup(r->format);
  if (!array->format) {
    PyErr_NoMemory();
    return -1;
  }
  return set_shape(array, r->shape) != 0 ? -1 : set_addresses(array, r->addresses);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  struct recipe r;
  if (kwargs && PyDict_Size(kwargs))
    return PyErr_Format(PyExc_TypeError, "make arrays with job.zeros or job.empty");
  r.device = Py_None;
  if (!PyArg_ParseTuple(args, "OOO!nssOOKI|O;make arrays with job.zeros or job.empty", &r.team,
                        &r.addresses, &PyTuple_Type, &r.shape, &r.itemsize, &r.format, &r.kind,
                        &r.dtype, &r.block, &r.domain, &r.dt, &r.device))
    return NULL;
  if (r.device != Py_None && !PyObject_TypeCheck(r.device, tmbpy.device_type))
    return PyErr_Format(PyExc_TypeError, "device must be a Device, not %R", r.device);
  struct tmbpy_array *array = (struct tmbpy_array *)PyType_GenericAlloc(type, 0);
  if (array && fill(array, &r) != 0) Py_CLEAR(array);
  return (PyObject *)array;
}

static void dealloc(PyObject *self) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  PyTypeObject *type = Py_TYPE(self);
  free(array->addr);
  free(array->format);
  Py_XDECREF((PyObject *)array->team);
  Py_XDECREF(array->dtype);
  Py_XDECREF(array->shape_object);
  Py_XDECREF(array->block);
  Py_XDECREF((PyObject *)array->device);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* ---- the buffer protocol */

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  view->obj = NULL;
  if (!array->addr) {
    PyErr_SetString(PyExc_BufferError, "the array has been freed");
    return -1;
  }
  if (array->device) {
    PyErr_SetString(PyExc_BufferError,
                    "the array is in device memory; a.local has DLPack, a.get(rank) copies");
    return -1;
  }
  const uint32_t rank = array->view_rank;
  if (array->team->delta[rank] == GEXX_UNMAPPED) {
    PyErr_Format(PyExc_BufferError, "the memory of rank %u is on another host", (unsigned)rank);
    return -1;
  }
  memset(view, 0, sizeof *view);
  view->buf = (void *)((uintptr_t)array->addr[rank] + (uintptr_t)array->team->delta[rank]);
  view->len = array->nbytes;
  view->itemsize = array->itemsize;
  view->format = (flags & PyBUF_FORMAT) ? array->format : NULL;
  view->ndim = array->ndim;
  view->shape = (flags & PyBUF_ND) ? array->shape : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->strides : NULL;
  view->obj = share(self);
  __atomic_fetch_add(&array->exports, 1, __ATOMIC_RELAXED);
  return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view) {
  (void)view;
  __atomic_fetch_sub(&((struct tmbpy_array *)self)->exports, 1, __ATOMIC_RELAXED);
}

/* ---- puts and gets by index */

/* Reads a plain integer from 0 to below `limit`. Returns whether the item is one. */
static inline bool small_index(PyObject *item, Py_ssize_t limit, Py_ssize_t *number) {
  if (!PyLong_CheckExact(item)) return false;
  *number = PyLong_AsSsize_t(item);
  return *number >= 0 && *number < limit;
}

/* The element that a[rank, i, j] names by plain integers, one for each axis. Of Python only what an
 * element needs is called. Returns whether *region is set; without an exception. */
static bool find_element(struct tmbpy_array *array, PyObject *key, struct tmbpy_region *region) {
  Py_ssize_t rank, i;
  if (!PyTuple_CheckExact(key) || Py_SIZE(key) != array->ndim + 1) return false;
  bool found = small_index(PyTuple_GetItem(key, 0), (Py_ssize_t)array->team->size, &rank);
  char *addr = found ? array->addr[rank] : NULL;
  for (int d = 0; found && d < array->ndim; d++) {
    found = small_index(PyTuple_GetItem(key, d + 1), array->shape[d], &i);
    if (found) addr += i * array->strides[d];
  }
  if (!found) {
    PyErr_Clear(); /* the general way takes it, or names what is wrong */
    return false;
  }
  region->rank = (uint32_t)rank;
  region->addr = addr;
  region->ndim = 0;
  region->count = 1;
  return true;
}

/* Splits a[rank, ...] without lists or arrays. Returns 0: *region is set; -1: an exception. */
static int locate(struct tmbpy_array *array, PyObject *key, struct tmbpy_region *region) {
  const bool tuple = PyTuple_Check(key);
  uint32_t rank;
  if (tuple && PyTuple_Size(key) == 0) {
    PyErr_SetString(PyExc_IndexError, "an index begins with the rank: a[rank] or a[rank, i]");
    return -1;
  }
  if (tmbpy_team_rank(array->team, tuple ? PyTuple_GetItem(key, 0) : key, &rank) != 0) return -1;
  return tmbpy_index_parse(array, rank, tuple ? key : Py_Ellipsis, 1, region);
}

/* Splits a[rank, ...] with lists or arrays in the index. [out] rank, rest: new references. Returns
 * 0 or -1. */
static int split(PyObject *key, PyObject **rank, PyObject **rest) {
  *rank = PySequence_GetItem(key, 0);
  *rest = PyTuple_Size(key) == 2 ? PySequence_GetItem(key, 1)
                                 : PyTuple_GetSlice(key, 1, PyTuple_Size(key));
  if (*rank && *rest) return 0;
  Py_XDECREF(*rank);
  Py_XDECREF(*rest);
  return -1;
}

/* Calls a method of the package that returns a future. [in] value: NULL: none. */
static struct tmbpy_future *by_package(PyObject *self, const char *method, PyObject *rank,
                                       PyObject *index, PyObject *value) {
  PyObject *future = PyObject_CallMethod(self, method, value ? "OOO" : "OO", rank, index, value);
  if (!future || Py_TYPE(future) == tmbpy.future_type) return (struct tmbpy_future *)future;
  Py_DECREF(future);
  PyErr_Format(PyExc_TypeError, "%s returned no future", method);
  return NULL;
}

static struct tmbpy_future *by_key(PyObject *self, const char *method, PyObject *key,
                                   PyObject *value) {
  PyObject *rank, *rest;
  if (split(key, &rank, &rest) != 0) return NULL;
  struct tmbpy_future *future = by_package(self, method, rank, rest, value);
  Py_DECREF(rank);
  Py_DECREF(rest);
  return future;
}

static bool is_fancy(PyObject *key) {
  return PyTuple_Check(key) && PyTuple_Size(key) > 1 && tmbpy_index_is_fancy(key, 1);
}

static PyObject *get_item(PyObject *self, PyObject *key) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  if (tmbpy_array_check(array) != 0) return NULL;
  if (!find_element(array, key, &region)) {
    if (is_fancy(key)) return tmbpy_future_take(by_key(self, "_get_elements_of", key, NULL));
    if (locate(array, key, &region) != 0) return NULL;
    if (region.ndim > 0 || !PyTuple_Check(key))
      return tmbpy_future_take(tmbpy_transfer_get(array, &region, NULL, NULL));
  }
  return tmbpy_transfer_get_scalar(array, region.rank, region.addr);
}

static int wait_for_put(struct tmbpy_future *future) {
  if (!future) return -1;
  const int failed = tmbpy_future_finish(future);
  Py_DECREF(future);
  return failed;
}

static int set_item(PyObject *self, PyObject *key, PyObject *value) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
    return -1;
  }
  if (tmbpy_array_check(array) != 0) return -1;
  if (!find_element(array, key, &region)) {
    if (is_fancy(key)) return wait_for_put(by_key(self, "_put_elements_of", key, value));
    if (locate(array, key, &region) != 0) return -1;
  }
  const int put =
      region.ndim == 0 ? tmbpy_transfer_put_scalar(array, region.rank, region.addr, value) : 0;
  if (put) return put > 0 ? 0 : -1;
  return wait_for_put(tmbpy_transfer_put(array, &region, value, NULL));
}

/* ---- methods */

/* _put(rank, index, value) -> Future. */
static PyObject *put_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "put takes 3 arguments, not %zd", nargs);
  if (tmbpy_index_is_fancy(args[1], 0))
    return (PyObject *)by_package(self, "_put_elements_of", args[0], args[1], args[2]);
  if (tmbpy_array_place(array, args, &region) != 0) return NULL;
  return (PyObject *)tmbpy_transfer_put(array, &region, args[2], NULL);
}

/* _get(rank, index, out) -> Future. */
static PyObject *get_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "get takes 3 arguments, not %zd", nargs);
  if (tmbpy_index_is_fancy(args[1], 0))
    return (PyObject *)by_package(self, "_get_elements_of", args[0], args[1], args[2]);
  if (tmbpy_array_place(array, args, &region) != 0) return NULL;
  return (PyObject *)tmbpy_array_get(array, &region, args[1], args[2], NULL);
}

/* _put_signal(rank, index, value, signals, i, op, number) -> Future. */
static PyObject *put_signal_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self, *signals;
  struct tmbpy_region region, word;
  if (nargs != 7)
    return PyErr_Format(PyExc_TypeError, "put_signal takes 7 arguments, not %zd", nargs);
  if (tmbpy_array_place(array, args, &region) != 0) return NULL;
  signals = (struct tmbpy_array *)args[3];
  if (!PyObject_TypeCheck(args[3], tmbpy.array_type) || signals->team != array->team ||
      signals->device || signals->kind != 'u' || signals->itemsize != 8)
    return PyErr_Format(PyExc_TypeError, "signals must come from signals() of the same team");
  if (tmbpy_array_check(signals) != 0) return NULL;
  if (tmbpy_index_parse(signals, region.rank, args[4], 0, &word) != 0) return NULL;
  if (word.ndim != 0)
    return PyErr_Format(PyExc_IndexError, "signal %R: give the index of one signal", args[4]);
  struct tmbpy_after signal = {.kind = TMBPY_SIGNAL,
                               .addr = (uint64_t *)(void *)word.addr,
                               .op = (int)PyLong_AsLong(args[5])};
  if (PyErr_Occurred() ||
      tmbpy_number_word(args[6], "the change of a signal", 0, &signal.value) != 0)
    return NULL;
  return (PyObject *)tmbpy_transfer_put(array, &region, args[2], &signal);
}

/* _peer(rank): an array whose buffer shows the part of that rank. */
static PyObject *peer_method(PyObject *self, PyObject *value) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  uint32_t rank;
  if (tmbpy_array_check(array) != 0 || tmbpy_team_rank(array->team, value, &rank) != 0) return NULL;
  PyObject *addresses = PyList_New((Py_ssize_t)array->team->size);
  for (uint32_t r = 0; addresses && r < array->team->size; r++) {
    PyObject *addr = PyLong_FromVoidPtr(array->addr[r]);
    if (!addr || PyList_SetItem(addresses, (Py_ssize_t)r, addr) != 0) Py_CLEAR(addresses);
  }
  if (!addresses) return NULL;
  const char kind[2] = {array->kind, 0};
  PyObject *made = PyObject_CallFunction(
      (PyObject *)tmbpy.array_type, "OOOnssOOKIO", (PyObject *)array->team, addresses,
      array->shape_object, array->itemsize, array->format, kind, array->dtype, array->block,
      (unsigned long long)(uintptr_t)array->domain, (unsigned)array->dt,
      array->device ? (PyObject *)array->device : Py_None);
  Py_DECREF(addresses);
  if (made) ((struct tmbpy_array *)made)->view_rank = rank;
  return made;
}

/* _release(): forgets the addresses; BufferError while NumPy arrays show the memory. */
static PyObject *release_method(PyObject *self, PyObject *unused) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  (void)unused;
  if (array->exports > 0)
    return PyErr_Format(PyExc_BufferError,
                        "free: %zd NumPy arrays show the memory of this array; delete them first",
                        array->exports);
  free(array->addr);
  array->addr = NULL;
  Py_RETURN_NONE;
}

TMBPY_GETTER(get_shape, struct tmbpy_array, share(self->shape_object))
TMBPY_GETTER(get_dtype, struct tmbpy_array, share(self->dtype))
TMBPY_GETTER(get_nbytes, struct tmbpy_array, PyLong_FromSsize_t(self->nbytes))
TMBPY_GETTER(get_block, struct tmbpy_array, share(self->block))
TMBPY_GETTER(get_freed, struct tmbpy_array, PyBool_FromLong(!self->addr))

static PyMethodDef methods[] = {
    {"_put", FAST(put_method), METH_FASTCALL, NULL},
    {"_get", FAST(get_method), METH_FASTCALL, NULL},
    {"_put_signal", FAST(put_signal_method), METH_FASTCALL, NULL},
    {"_peer", peer_method, METH_O, NULL},
    {"_release", release_method, METH_NOARGS, NULL},
    {"_put_list", FAST(tmbpy_lists_put), METH_FASTCALL, NULL},
    {"_get_list", FAST(tmbpy_lists_get), METH_FASTCALL, NULL},
    {"_put_notify", FAST(tmbpy_notify_put), METH_FASTCALL, NULL},
    {"_get_notify", FAST(tmbpy_notify_get), METH_FASTCALL, NULL},
    {"_put_post", FAST(tmbpy_notify_put_post), METH_FASTCALL, NULL},
    {"_put_elements", FAST(tmbpy_lists_put_elements), METH_FASTCALL, NULL},
    {"_get_elements", FAST(tmbpy_lists_get_elements), METH_FASTCALL, NULL},
    {"_atomic", FAST(tmbpy_atomic_op), METH_FASTCALL, NULL},
    {"_atomic_batch", FAST(tmbpy_atomic_batch), METH_FASTCALL, NULL},
    {"_signal_wait", FAST(tmbpy_signal_wait), METH_FASTCALL, NULL},
    {"_signal_consume", FAST(tmbpy_signal_consume), METH_FASTCALL, NULL},
    {"_signal_some", FAST(tmbpy_signal_some), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "Shape of each rank's part.", NULL},
    {"dtype", get_dtype, NULL, "NumPy type of the elements.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of each rank's part.", NULL},
    {"freed", get_freed, NULL, "Whether free() was called.", NULL},
    {"_block", get_block, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

TMBPY_TYPE(tmbpy_array_spec, "Array", struct tmbpy_array, Py_TPFLAGS_BASETYPE,
           "An array that every rank of a team has a part of.", {Py_tp_new, (void *)make},
           {Py_tp_dealloc, (void *)dealloc}, {Py_tp_methods, methods}, {Py_tp_getset, properties},
           {Py_bf_getbuffer, (void *)get_buffer}, {Py_bf_releasebuffer, (void *)release_buffer},
           {Py_mp_subscript, (void *)get_item}, {Py_mp_ass_subscript, (void *)set_item});
