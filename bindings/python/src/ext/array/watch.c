/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of NumPy to arrays of the segment, of which the checker is notified.
 *
 * Owns: where the ranks' segments are mapped. Called by the package (_watch.py), under `tombolo run
 * --check races` alone. Calls: gexx_check_access. Invariant: bytes that lie in no segment are no
 * access.
 */
#include "core.h"

#include <tombolo/check_hook.h>

/* Segments of ranks of this host; made at the first access. */
struct mapped {
  uintptr_t at, owner, bytes;
};
static struct mapped *mapped; /* [tmbpy.size] */

static int find_mapped(void) {
  if (mapped) return 0;
  struct mapped *const made = calloc(tmbpy.size, sizeof *made);
  if (!made) {
    PyErr_NoMemory();
    return -1;
  }
  for (gex_Rank_t r = 0; r < tmbpy.size; r++) {
    void *owner = NULL, *here = NULL;
    uintptr_t bytes = 0;
    if (gex_Segment_QueryBound(tmbpy.tm, r, &owner, &here, &bytes) || !here) continue;
    made[r] = (struct mapped){(uintptr_t)here, (uintptr_t)owner, bytes};
  }
  mapped = made;
  return 0;
}

static void touch_bytes(const char *at, Py_ssize_t bytes, int writes) {
  for (gex_Rank_t r = 0; r < tmbpy.size; r++) {
    const uintptr_t offset = (uintptr_t)at - mapped[r].at;
    if (offset >= mapped[r].bytes) continue;
    gexx_check_access(r, (const void *)(mapped[r].owner + offset), (size_t)bytes, writes);
    return;
  }
}

/* Axes from the last one on that lie without gaps are one run of bytes. */
static void touch_box(const Py_buffer *view, int axis, const char *at, int writes) {
  Py_ssize_t bytes = view->itemsize;
  int whole = view->ndim;
  while (whole > axis && (view->strides[whole - 1] == bytes || view->shape[whole - 1] == 1))
    bytes *= view->shape[--whole];
  if (whole == axis) {
    if (bytes) touch_bytes(at, bytes, writes);
    return;
  }
  for (Py_ssize_t i = 0; i < view->shape[axis]; i++)
    touch_box(view, axis + 1, at + i * view->strides[axis], writes);
}

/* in offsets: of the elements that are accessed, in bytes, ascending. */
static void touch_each(const Py_buffer *view, const Py_buffer *offsets, int writes) {
  const int64_t *const offset = offsets->buf;
  const Py_ssize_t count = offsets->len / (Py_ssize_t)sizeof *offset;
  for (Py_ssize_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && offset[next] - offset[next - 1] == view->itemsize) next++;
    touch_bytes((const char *)view->buf + offset[i], (next - i) * view->itemsize, writes);
  }
}

PyObject *tmbpy_watch_touch(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "touch takes 3 arguments, not %zd", nargs);
  if (tmbpy_check() != 0 || find_mapped() != 0) return NULL;
  Py_buffer view, offsets;
  if (PyObject_GetBuffer(args[0], &view, PyBUF_STRIDED_RO) != 0) return NULL;
  const int writes = args[1] == Py_True;
  if (args[2] == Py_None) {
    touch_box(&view, 0, view.buf, writes);
  } else if (PyObject_GetBuffer(args[2], &offsets, PyBUF_SIMPLE) == 0) {
    touch_each(&view, &offsets, writes);
    PyBuffer_Release(&offsets);
  }
  PyBuffer_Release(&view);
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}
