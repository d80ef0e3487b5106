/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of devices: a segment of a memory kind with an endpoint of its own.
 *
 * Owns the types Device and Memory. Called by the package (_device.py) and by transfer.c. Calls:
 * gex_MK_*, gex_Segment_Create, gex_EP_*. A Device is this rank's segment in memory of one device;
 * publish() tells the members of a team of each other's. A Memory names a part of it: it holds a
 * NumPy array that has the addresses of the device, so that NumPy computes shapes, strides and
 * slices. Invariants: nobody reads or writes the elements of that array; it never leaves the
 * package. Devices live until the job ends: the library has no call that ends an endpoint.
 */
#include "core.h"

#include "gasnet_mk.h"

#include <stdlib.h>

/* ---- Device */

/* Makes kind, segment and endpoint. Returns NULL, or what failed. */
static const char *open_device(struct tmbpy_device *d, int ordinal, void *addr, size_t bytes,
                               int *code) {
  gex_MK_Create_args_t args;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = ordinal;
  *code = gex_MK_Create(&d->kind, tmbpy.client, &args, 0);
  if (*code != GASNET_OK) return "gex_MK_Create";
  *code = gex_Segment_Create(&segment, tmbpy.client, addr, bytes, d->kind, 0);
  if (*code == GASNET_OK) {
    *code = gex_EP_Create(&d->ep, tmbpy.client, GEX_EP_CAPABILITY_RMA, 0);
    if (*code == GASNET_OK) *code = gex_EP_BindSegment(d->ep, segment, 0);
    if (*code == GASNET_OK) {
      d->addr = gex_Segment_QueryAddr(segment);
      return NULL;
    }
    gex_Segment_Destroy(segment, 0);
  }
  gex_MK_Destroy(d->kind, 0);
  return "the segment in device memory";
}

/* Device(ordinal, address, bytes): address 0: new memory, else that of a library in this process.
 * Local. */
static PyObject *device_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  int ordinal, code = GASNET_OK;
  unsigned long long addr, bytes;
  if (kwargs && PyDict_Size(kwargs))
    return PyErr_Format(PyExc_TypeError, "make devices with job.device");
  if (!PyArg_ParseTuple(args, "iKK;make devices with job.device", &ordinal, &addr, &bytes) ||
      tmbpy_check() != 0)
    return NULL;
  struct tmbpy_device *made = (struct tmbpy_device *)PyType_GenericAlloc(type, 0);
  if (!made) return NULL;
  const char *failed = NULL;
  Py_BEGIN_ALLOW_THREADS
  failed = open_device(made, ordinal, (void *)(uintptr_t)addr, (size_t)bytes, &code);
  Py_END_ALLOW_THREADS
  if (!failed) return (PyObject *)made;
  PyErr_Format(PyExc_RuntimeError, "device %d, %llu bytes: %s failed: %s (%s)", ordinal, bytes,
               failed, gasnet_ErrorName(code), gasnet_ErrorDesc(code));
  Py_DECREF(made);
  return NULL;
}

static void device_dealloc(PyObject *self) {
  struct tmbpy_device *d = (struct tmbpy_device *)self;
  PyTypeObject *type = Py_TYPE(self);
  free(d->index);
  Py_XDECREF((PyObject *)d->team);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Reads where each member has its segment. Returns the addresses as a list, or NULL. */
static PyObject *look_up(const struct tmbpy_device *d, struct tmbpy_team *team) {
  PyObject *list = PyList_New((Py_ssize_t)team->size);
  for (uint32_t r = 0; list && r < team->size; r++) {
    void *owner = NULL;
    const gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(team->tm, r);
    if (gex_Segment_QueryBound(gex_TM_Pair(tmbpy.ep, d->index[r]), jobrank, &owner, NULL, NULL)) {
      PyErr_Format(PyExc_RuntimeError, "rank %u has no segment in device memory", (unsigned)r);
      Py_CLEAR(list);
      break;
    }
    PyObject *addr = PyLong_FromVoidPtr(owner);
    if (!addr || PyList_SetItem(list, (Py_ssize_t)r, addr) != 0) Py_CLEAR(list);
  }
  return list;
}

/* publish(team, indices) -> addresses of the members' segments. indices: of their endpoints.
 * Collective. */
static PyObject *device_publish(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_device *d = (struct tmbpy_device *)self;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "publish takes 2 arguments, not %zd", nargs);
  struct tmbpy_team *team = tmbpy_team_of(args[0]);
  if (!team) return NULL;
  if (d->team) return PyErr_Format(PyExc_ValueError, "the device has been published before");
  d->index = calloc(team->size, sizeof *d->index);
  if (!d->index) return PyErr_NoMemory();
  for (uint32_t r = 0; r < team->size; r++) {
    PyObject *index = PySequence_GetItem(args[1], (Py_ssize_t)r);
    const long number = index ? PyLong_AsLong(index) : -1;
    Py_XDECREF(index);
    if (PyErr_Occurred()) return NULL;
    d->index[r] = (gex_EP_Index_t)number;
  }
  Py_INCREF(args[0]);
  d->team = team;
  Py_BEGIN_ALLOW_THREADS
  gex_EP_PublishBoundSegment(team->tm, &d->ep, 1, 0);
  Py_END_ALLOW_THREADS
  return look_up(d, team);
}

TMBPY_GETTER(device_index, struct tmbpy_device, PyLong_FromLong((long)gex_EP_QueryIndex(self->ep)))
TMBPY_GETTER(device_address, struct tmbpy_device, PyLong_FromVoidPtr(self->addr))

static PyMethodDef device_methods[] = {
    {"publish", FAST(device_publish), METH_FASTCALL, "publish(team, indices): collective"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef device_properties[] = {
    {"index", device_index, NULL, "Number of the endpoint.", NULL},
    {"address", device_address, NULL, "Where the segment begins.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

TMBPY_TYPE(tmbpy_device_spec, "Device", struct tmbpy_device, 0,
           "A segment of this rank in memory of a device.", {Py_tp_new, (void *)device_make},
           {Py_tp_dealloc, (void *)device_dealloc}, {Py_tp_methods, device_methods},
           {Py_tp_getset, device_properties});

/* ---- Memory */

/* Memory(device, array): array has addresses of the device. */
static PyObject *memory_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *device, *array;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O!O;see DeviceArray.local", tmbpy.device_type, &device, &array))
    return NULL;
  struct tmbpy_memory *made = (struct tmbpy_memory *)PyType_GenericAlloc(type, 0);
  if (!made) return NULL;
  Py_INCREF(device);
  Py_INCREF(array);
  made->device = (struct tmbpy_device *)device;
  made->array = array;
  return (PyObject *)made;
}

static void memory_dealloc(PyObject *self) {
  struct tmbpy_memory *m = (struct tmbpy_memory *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF((PyObject *)m->device);
  Py_XDECREF(m->array);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *memory_array(PyObject *self, void *unused) {
  PyObject *array = ((struct tmbpy_memory *)self)->array;
  (void)unused;
  Py_INCREF(array);
  return array;
}

static PyObject *memory_device(PyObject *self, void *unused) {
  PyObject *device = (PyObject *)((struct tmbpy_memory *)self)->device;
  (void)unused;
  Py_INCREF(device);
  return device;
}

/* Copies between the device, which has the first buffer, and the host. */
static void copy(const struct tmbpy_device *d, const Py_buffer *there, const Py_buffer *host,
                 bool to_device) {
  size_t count[TMBPY_MAX_DIMS];
  const gex_TM_t tm = gex_TM_Pair(tmbpy.ep, gex_EP_QueryIndex(d->ep));
  for (int i = 0; i < there->ndim; i++) count[i] = (size_t)there->shape[i];
  if (to_device)
    gex_VIS_StridedPutBlocking(tm, tmbpy.rank, there->buf, there->strides, host->buf, host->strides,
                               (size_t)there->itemsize, count, (size_t)there->ndim, 0);
  else
    gex_VIS_StridedGetBlocking(tm, host->buf, host->strides, tmbpy.rank, there->buf, there->strides,
                               (size_t)there->itemsize, count, (size_t)there->ndim, 0);
}

/* _copy(host, to_device): copies all elements; host has the same shape and type, contiguous. */
static PyObject *memory_copy(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_memory *m = (struct tmbpy_memory *)self;
  Py_buffer there, host;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "_copy takes 2 arguments, not %zd", nargs);
  const int to_device = PyObject_IsTrue(args[1]);
  if (to_device < 0 || tmbpy_check() != 0) return NULL;
  if (PyObject_GetBuffer(m->array, &there, PyBUF_STRIDES) != 0) return NULL;
  if (PyObject_GetBuffer(args[0], &host, PyBUF_STRIDES) != 0) {
    PyBuffer_Release(&there);
    return NULL;
  }
  const bool fits = there.len == host.len && there.ndim == host.ndim;
  if (fits && there.len) {
    Py_BEGIN_ALLOW_THREADS
    copy(m->device, &there, &host, to_device);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&host);
  PyBuffer_Release(&there);
  if (!fits) return PyErr_Format(PyExc_ValueError, "_copy: the arrays differ in shape");
  Py_RETURN_NONE;
}

static PyMethodDef memory_methods[] = {
    {"_copy", FAST(memory_copy), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef memory_properties[] = {
    {"_device", memory_device, NULL, NULL, NULL},
    {"_array", memory_array, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

TMBPY_TYPE(tmbpy_memory_spec, "Memory", struct tmbpy_memory, Py_TPFLAGS_BASETYPE,
           "A part of a segment in memory of a device.", {Py_tp_new, (void *)memory_make},
           {Py_tp_dealloc, (void *)memory_dealloc}, {Py_tp_methods, memory_methods},
           {Py_tp_getset, memory_properties});
