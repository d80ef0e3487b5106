/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DLPack: arrays that libraries hand to each other without a copy.
 *
 * Owns the structures of a managed tensor. Called by the package. Calls: the C API of Python.
 * Source: the DLPack specification (dmlc.github.io/dlpack), C API and Python specification,
 * versions 0.8 and 1.0. Invariants: a tensor that is exported holds its owner until the consumer
 * deletes it, and a capsule that nobody has consumed deletes it; a tensor that is imported lives as
 * long as the capsule that import() returns.
 */
#include "core.h"

#include <stdlib.h>

struct dl_device {
  int32_t type, id;
};

struct dl_dtype {
  uint8_t code, bits;
  uint16_t lanes;
};

struct dl_tensor {
  void *data;
  struct dl_device device;
  int32_t ndim;
  struct dl_dtype dtype;
  int64_t *shape, *strides; /* strides in elements; NULL: contiguous */
  uint64_t byte_offset;
};

struct dl_managed {
  struct dl_tensor tensor;
  void *manager;
  void (*deleter)(struct dl_managed *self);
};

struct dl_versioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;
  struct dl_tensor tensor;
};

/* An exported array in both forms; a consumer gets one of them. */
struct exported {
  struct dl_managed old;
  struct dl_versioned versioned;
  PyObject *owner;
  int64_t shape[TMBPY_MAX_DIMS], strides[TMBPY_MAX_DIMS];
};

static const char old_name[] = "dltensor", versioned_name[] = "dltensor_versioned";

/* ---- export */

static void drop(struct exported *e) {
  PyGILState_STATE state = PyGILState_Ensure(); /* a consumer may call from any thread */
  Py_DECREF(e->owner);
  PyGILState_Release(state);
  free(e);
}

static void delete_old(struct dl_managed *self) {
  drop(self->manager);
}

static void delete_versioned(struct dl_versioned *self) {
  drop(self->manager);
}

/* Of a capsule that is collected: its name is another one when it was consumed. */
static void collect(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, old_name))
    delete_old(PyCapsule_GetPointer(capsule, old_name));
  else if (PyCapsule_IsValid(capsule, versioned_name))
    delete_versioned(PyCapsule_GetPointer(capsule, versioned_name));
}

static int read_lengths(PyObject *tuple, int32_t ndim, int64_t *lengths) {
  for (int32_t d = 0; d < ndim; d++) {
    PyObject *item = PySequence_GetItem(tuple, d);
    lengths[d] = item ? PyLong_AsLongLong(item) : -1;
    Py_XDECREF(item);
    if (PyErr_Occurred()) return -1;
  }
  return 0;
}

/* dlpack(owner, address, shape, strides, code, bits, device, id, versioned) -> capsule. strides in
 * elements. */
PyObject *tmbpy_dlpack_export(PyObject *module, PyObject *args) {
  PyObject *owner, *shape, *strides;
  unsigned long long addr;
  int code, bits, versioned;
  struct dl_tensor t = {0};
  (void)module;
  if (!PyArg_ParseTuple(args, "OKOOiiiip", &owner, &addr, &shape, &strides, &code, &bits,
                        &t.device.type, &t.device.id, &versioned))
    return NULL;
  const Py_ssize_t ndim = PySequence_Size(shape);
  if (ndim < 0) return NULL;
  if (ndim > TMBPY_MAX_DIMS)
    return PyErr_Format(PyExc_ValueError, "shape has %zd axes; at most %d are possible", ndim,
                        TMBPY_MAX_DIMS);
  struct exported *e = calloc(1, sizeof *e);
  if (!e) return PyErr_NoMemory();
  t.data = (void *)(uintptr_t)addr;
  t.ndim = (int32_t)ndim;
  t.dtype = (struct dl_dtype){(uint8_t)code, (uint8_t)bits, 1};
  t.shape = e->shape;
  t.strides = e->strides;
  e->old = (struct dl_managed){t, e, delete_old};
  e->versioned = (struct dl_versioned){1, 0, e, delete_versioned, 0, t};
  e->owner = owner;
  PyObject *capsule = NULL;
  if (read_lengths(shape, t.ndim, e->shape) == 0 && read_lengths(strides, t.ndim, e->strides) == 0)
    capsule = versioned ? PyCapsule_New(&e->versioned, versioned_name, collect)
                        : PyCapsule_New(&e->old, old_name, collect);
  if (capsule)
    Py_INCREF(owner);
  else
    free(e);
  return capsule;
}

/* ---- import */

static PyObject *lengths_tuple(int32_t ndim, const int64_t *lengths) {
  _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "lengths of DLPack are those of Python");
  return tmbpy_index_tuple(ndim, (const Py_ssize_t *)lengths);
}

/* undlpack(capsule) -> (address, shape, strides or None, code, bits, lanes, device, id). The tensor
 * lives as long as the capsule, which is not consumed. */
PyObject *tmbpy_dlpack_import(PyObject *module, PyObject *capsule) {
  const struct dl_tensor *t = NULL;
  (void)module;
  if (PyCapsule_IsValid(capsule, versioned_name))
    t = &((struct dl_versioned *)PyCapsule_GetPointer(capsule, versioned_name))->tensor;
  else if (PyCapsule_IsValid(capsule, old_name))
    t = &((struct dl_managed *)PyCapsule_GetPointer(capsule, old_name))->tensor;
  if (!t) return PyErr_Format(PyExc_TypeError, "%R is no capsule of DLPack", capsule);
  PyObject *shape = lengths_tuple(t->ndim, t->shape), *strides = NULL;
  if (t->strides)
    strides = lengths_tuple(t->ndim, t->strides);
  else
    Py_INCREF(strides = Py_None);
  if (!shape || !strides) {
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return NULL;
  }
  return Py_BuildValue("KNNiiiii", (unsigned long long)(uintptr_t)t->data + t->byte_offset, shape,
                       strides, (int)t->dtype.code, (int)t->dtype.bits, (int)t->dtype.lanes,
                       (int)t->device.type, (int)t->device.id);
}
