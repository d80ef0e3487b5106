/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets of lists of regions.
 *
 * Owns nothing. Called as methods of arrays, by the package, which packs the values of all regions
 * one behind the other. Calls: the vector engine (gex_VIS_Vector*), index.c, future.c. Each region
 * becomes the runs of bytes that it has without a gap. Invariants: the lists live until the
 * operation is complete, with its future; the regions are of one rank.
 */
#include "core.h"

#include <stdlib.h>

/* Where the elements of all regions lie on their rank. */
struct runs {
  uint32_t rank;
  size_t count, bytes;
  size_t room;        /* of the list; an index that changes between two looks finds no more */
  gex_Memvec_t *list; /* [room], and one more for the local side; NULL: only counted */
};

/* Axes of a region that are outside its runs, and bytes of one run. */
static int outer_axes(const struct tmbpy_region *region, Py_ssize_t itemsize, size_t *run) {
  int axes = region->ndim;
  *run = (size_t)itemsize;
  while (axes > 0 &&
         (region->shape[axes - 1] == 1 || region->strides[axes - 1] == (Py_ssize_t)*run)) {
    axes--;
    *run *= (size_t)region->shape[axes];
  }
  return axes;
}

/* Appends the runs of a region. Without a list only counts them. */
static void append(struct runs *runs, const struct tmbpy_region *region, Py_ssize_t itemsize) {
  size_t run;
  Py_ssize_t at[TMBPY_MAX_DIMS] = {0};
  if (region->count == 0) return;
  const int axes = outer_axes(region, itemsize, &run);
  for (int d = 0; d >= 0;) {
    char *addr = region->addr;
    for (int k = 0; k < axes; k++) addr += at[k] * region->strides[k];
    if (runs->list && runs->count < runs->room) runs->list[runs->count] = (gex_Memvec_t){addr, run};
    runs->count++;
    runs->bytes += run;
    for (d = axes - 1; d >= 0 && ++at[d] == region->shape[d]; d--) at[d] = 0;
  }
}

/* Walks over the indices. Returns 0 or -1. */
static int walk(struct tmbpy_array *array, PyObject *indices, struct runs *runs) {
  runs->count = runs->bytes = 0;
  const Py_ssize_t n = PyList_Size(indices);
  for (Py_ssize_t i = 0; i < n; i++) {
    struct tmbpy_region region;
    PyObject *key = PyList_GetItem(indices, i);
    if (!key) return -1;
    if (key == Py_None) key = Py_Ellipsis;
    if (tmbpy_index_parse(array, runs->rank, key, 0, &region) != 0) return -1;
    append(runs, &region, array->itemsize);
  }
  return n < 0 ? -1 : 0;
}

/* Reads (rank, indices). [out] runs, whose list is to be freed. Returns 0 or -1. */
static int read_runs(struct tmbpy_array *array, PyObject *const *args, struct runs *runs) {
  *runs = (struct runs){0};
  if (tmbpy_array_check(array) != 0) return -1;
  if (tmbpy_team_rank(array->team, args[0], &runs->rank) != 0) return -1;
  if (walk(array, args[1], runs) != 0) return -1;
  runs->room = runs->count;
  runs->list = malloc((runs->room + 1) * sizeof *runs->list);
  if (!runs->list) {
    PyErr_NoMemory();
    return -1;
  }
  if (walk(array, args[1], runs) == 0) {
    if (runs->count == runs->room) return 0;
    PyErr_SetString(PyExc_RuntimeError, "an index has changed while it was read");
  }
  free(runs->list);
  return -1;
}

/* One transfer between the runs and a buffer, which holds all of them. Returns a future, or NULL.
 */
static struct tmbpy_future *transfer(struct tmbpy_array *array, struct runs *runs, PyObject *packed,
                                     bool is_put) {
  Py_buffer view;
  struct tmbpy_future *future = NULL;
  if (PyObject_GetBuffer(packed, &view, is_put ? PyBUF_CONTIG_RO : PyBUF_CONTIG) == 0) {
    if ((size_t)view.len != runs->bytes)
      PyErr_Format(PyExc_ValueError, "the regions have %zu bytes, the packed values %zd",
                   runs->bytes, view.len);
    else
      future = tmbpy_future_new(is_put ? "put" : "get");
    if (!future) PyBuffer_Release(&view);
  }
  if (!future) {
    free(runs->list);
    return NULL;
  }
  tmbpy_future_hold(future, &view);
  future->lists = runs->list;
  gex_Memvec_t *const local = runs->list + runs->count;
  *local = (gex_Memvec_t){view.buf, runs->bytes};
  gex_TM_t tm;
  gex_Rank_t rank = runs->rank;
  tmbpy_transfer_route(array, NULL, &tm, &rank);
  gex_Event_t event = GEX_EVENT_INVALID;
  Py_BEGIN_ALLOW_THREADS
  if (runs->bytes && is_put)
    event = gex_VIS_VectorPutNB(tm, rank, runs->count, runs->list, 1, local, 0);
  else if (runs->bytes)
    event = gex_VIS_VectorGetNB(tm, 1, local, rank, runs->count, runs->list, 0);
  Py_END_ALLOW_THREADS
  tmbpy_future_set(future, event);
  return future;
}

static PyObject *start(PyObject *self, PyObject *const *args, Py_ssize_t nargs, bool is_put) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct runs runs;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "lists take 3 arguments, not %zd", nargs);
  if (read_runs(array, args, &runs) != 0) return NULL;
  return (PyObject *)transfer(array, &runs, args[2], is_put);
}

/* Reads (rank, offsets): places of elements of a part. [out] list: of malloc, one place more than
 * offsets. Returns how many, or -1. */
static Py_ssize_t read_elements(struct tmbpy_array *array, PyObject *const *args, uint32_t *rank,
                                void ***list) {
  Py_buffer view;
  if (tmbpy_array_check(array) != 0) return -1;
  if (tmbpy_team_rank(array->team, args[0], rank) != 0) return -1;
  if (PyObject_GetBuffer(args[1], &view, PyBUF_CONTIG_RO) != 0) return -1;
  const int64_t *offsets = view.buf;
  Py_ssize_t n = view.len / (Py_ssize_t)sizeof *offsets;
  *list = malloc(((size_t)n + 1) * sizeof **list);
  if (!*list) PyErr_NoMemory();
  for (Py_ssize_t i = 0; *list && i < n; i++) {
    const Py_ssize_t at = (Py_ssize_t)offsets[i] * array->itemsize;
    if (at < 0 || at >= array->nbytes) {
      PyErr_Format(PyExc_IndexError, "element %lld: the part has %zd", (long long)offsets[i],
                   array->nbytes / array->itemsize);
      free(*list);
      *list = NULL;
    } else {
      (*list)[i] = array->addr[*rank] + at;
    }
  }
  PyBuffer_Release(&view);
  return *list ? n : -1;
}

/* One indexed transfer between elements of a part and `packed`, which holds them in order. */
static PyObject *elements(PyObject *self, PyObject *const *args, Py_ssize_t nargs, bool is_put) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  uint32_t rank;
  void **list;
  Py_buffer view;
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "elements take 3 arguments, not %zd", nargs);
  const Py_ssize_t n = read_elements(array, args, &rank, &list);
  if (n < 0) return NULL;
  struct tmbpy_future *future = NULL;
  if (PyObject_GetBuffer(args[2], &view, is_put ? PyBUF_CONTIG_RO : PyBUF_CONTIG) == 0) {
    if (view.len != n * array->itemsize)
      PyErr_Format(PyExc_ValueError, "%zd elements, but values of %zd bytes", n, view.len);
    else
      future = tmbpy_future_new(is_put ? "put" : "get");
    if (!future) PyBuffer_Release(&view);
  }
  if (!future) {
    free(list);
    return NULL;
  }
  tmbpy_future_hold(future, &view);
  future->lists = list;
  list[n] = view.buf;
  if (!is_put) {
    Py_INCREF(args[2]);
    future->result = args[2];
  }
  gex_TM_t tm;
  gex_Rank_t to = rank;
  tmbpy_transfer_route(array, NULL, &tm, &to);
  const size_t one = (size_t)array->itemsize, all = (size_t)view.len;
  gex_Event_t event = GEX_EVENT_INVALID;
  Py_BEGIN_ALLOW_THREADS
  if (n > 0 && is_put)
    event = gex_VIS_IndexedPutNB(tm, to, (size_t)n, list, one, 1, list + n, all, 0);
  else if (n > 0)
    event = gex_VIS_IndexedGetNB(tm, 1, list + n, all, to, (size_t)n, list, one, 0);
  Py_END_ALLOW_THREADS
  tmbpy_future_set(future, event);
  return (PyObject *)future;
}

/* _put_elements(rank, offsets, packed) -> Future. */
PyObject *tmbpy_lists_put_elements(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return elements(self, args, nargs, true);
}

/* _get_elements(rank, offsets, packed) -> Future with `packed` as its result. */
PyObject *tmbpy_lists_get_elements(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return elements(self, args, nargs, false);
}

/* _put_list(rank, indices, packed) -> Future. */
PyObject *tmbpy_lists_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return start(self, args, nargs, true);
}

/* _get_list(rank, indices, packed) -> Future, whose result is the package's matter. */
PyObject *tmbpy_lists_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  return start(self, args, nargs, false);
}
