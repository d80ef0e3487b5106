/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Indices of arrays: from the key between brackets to a strided box of one rank's part.
 *
 * Owns nothing. Called by array.c and signal.c. Calls: the C API of Python. Understood is what
 * NumPy calls basic indexing: integers, slices with any step, and one `...`. Invariants: a region
 * lies inside the array, so the operations on it check nothing more.
 */
#include "core.h"

/* The state of a walk over the items of a key. */
struct walk {
  struct tmbpy_array *array;
  struct tmbpy_region *region;
  int axis; /* of the array, the next one to be indexed */
};

static int add_axis(struct tmbpy_region *region, Py_ssize_t length, Py_ssize_t stride) {
  region->shape[region->ndim] = length;
  region->strides[region->ndim] = stride;
  region->ndim++;
  region->count *= length;
  return 0;
}

static int take_integer(struct walk *w, PyObject *item) {
  const Py_ssize_t length = w->array->shape[w->axis];
  Py_ssize_t i = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) return -1;
  if (i < -length || i >= length) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %d with size %zd", i,
                 w->axis, length);
    return -1;
  }
  if (i < 0) i += length;
  w->region->addr += i * w->array->strides[w->axis++];
  return 0;
}

static int take_slice(struct walk *w, PyObject *item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(item, &start, &stop, &step) != 0) return -1;
  const Py_ssize_t count = PySlice_AdjustIndices(w->array->shape[w->axis], &start, &stop, step);
  const Py_ssize_t stride = w->array->strides[w->axis++];
  if (count > 0) w->region->addr += start * stride;
  return add_axis(w->region, count, step * stride);
}

static int take_rest(struct walk *w, int until) {
  while (w->axis < until) {
    const int axis = w->axis++;
    add_axis(w->region, w->array->shape[axis], w->array->strides[axis]);
  }
  return 0;
}

/* [in] after: items of the key behind this one. */
static int take(struct walk *w, PyObject *item, Py_ssize_t after) {
  const int ndim = w->array->ndim;
  if (item == Py_Ellipsis) return take_rest(w, ndim - (int)(after < ndim ? after : ndim));
  if (w->axis >= ndim) {
    PyErr_Format(PyExc_IndexError, "too many indices: the array has %d axes", ndim);
    return -1;
  }
  if (PySlice_Check(item)) return take_slice(w, item);
  if (PyIndex_Check(item) && !PyBool_Check(item)) return take_integer(w, item);
  PyErr_Format(
      PyExc_TypeError,
      "index %R for axis %d; this call takes integers, slices and ..., put and get take lists and "
      "arrays, too",
      item, w->axis);
  return -1;
}

int tmbpy_index_parse(struct tmbpy_array *array, uint32_t rank, PyObject *key, Py_ssize_t first,
                      struct tmbpy_region *region) {
  struct walk w = {array, region, 0};
  region->rank = rank;
  region->addr = array->addr[rank];
  region->ndim = 0;
  region->count = 1;
  bool dots = false;
  if (!PyTuple_Check(key)) {
    if (take(&w, key, 0) != 0) return -1;
    return take_rest(&w, array->ndim);
  }
  const Py_ssize_t n = PyTuple_Size(key);
  for (Py_ssize_t i = first; i < n; i++) {
    PyObject *item = PyTuple_GetItem(key, i);
    if (item == Py_Ellipsis && dots) {
      PyErr_SetString(PyExc_IndexError, "an index can have only one ...");
      return -1;
    }
    dots = dots || item == Py_Ellipsis;
    if (take(&w, item, n - 1 - i) != 0) return -1;
  }
  return take_rest(&w, array->ndim);
}

/* Lists, and what says that it has axes. Numbers of NumPy say that they have none. */
static bool has_axes(PyObject *item) {
  if (PyLong_Check(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None)
    return false;
  if (PyList_Check(item)) return true;
  PyObject *ndim = PyObject_GetAttrString(item, "ndim");
  const long axes = ndim && PyLong_Check(ndim) ? PyLong_AsLong(ndim) : 0;
  Py_XDECREF(ndim);
  PyErr_Clear();
  return axes > 0;
}

bool tmbpy_index_is_fancy(PyObject *key, Py_ssize_t first) {
  if (!PyTuple_Check(key)) return has_axes(key);
  for (Py_ssize_t i = first; i < PyTuple_Size(key); i++)
    if (has_axes(PyTuple_GetItem(key, i))) return true;
  return false;
}

bool tmbpy_index_contiguous(int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
                            Py_ssize_t itemsize) {
  Py_ssize_t expected = itemsize;
  for (int d = ndim - 1; d >= 0; d--) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

PyObject *tmbpy_index_tuple(int ndim, const Py_ssize_t *lengths) {
  PyObject *tuple = PyTuple_New(ndim);
  for (int d = 0; tuple && d < ndim; d++) {
    PyObject *length = PyLong_FromSsize_t(lengths[d]);
    if (!length || PyTuple_SetItem(tuple, d, length) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

PyObject *tmbpy_index_shape(const struct tmbpy_region *region) {
  return tmbpy_index_tuple(region->ndim, region->shape);
}

int tmbpy_index_broadcast(const struct tmbpy_region *region, const Py_buffer *view,
                          Py_ssize_t *strides) {
  const int extra = view->ndim - region->ndim;
  bool fits = true;
  for (int d = 0; d < extra; d++) fits = fits && view->shape[d] == 1;
  for (int d = 0; d < region->ndim; d++) {
    const int from = d + extra;
    if (from < 0 || (view->shape[from] == 1 && region->shape[d] != 1))
      strides[d] = 0;
    else
      strides[d] = view->strides[from];
    if (from >= 0 && view->shape[from] != 1 && view->shape[from] != region->shape[d]) fits = false;
  }
  if (fits) return 0;
  PyObject *have = tmbpy_index_tuple(view->ndim, view->shape), *want = tmbpy_index_shape(region);
  if (have && want)
    PyErr_Format(PyExc_ValueError, "a value of shape %R does not fit the index's shape %R", have,
                 want);
  Py_XDECREF(have);
  Py_XDECREF(want);
  return -1;
}
