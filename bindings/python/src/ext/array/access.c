/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of an array that the arguments of a method name, checked.
 *
 * Owns nothing. Called by the methods of arrays. Calls: index.c, transfer.c. Invariants: an array
 * that was freed, or whose team was, is refused.
 */
#include "core.h"

int tmbpy_array_check(struct tmbpy_array *array) {
  if (tmbpy_check() != 0) return -1;
  if (array->addr && array->team->tm) return 0;
  PyErr_SetString(PyExc_ValueError, "the array, or its team, has been freed");
  return -1;
}

int tmbpy_array_place(struct tmbpy_array *array, PyObject *const *args,
                      struct tmbpy_region *region) {
  uint32_t rank;
  if (tmbpy_array_check(array) != 0 || tmbpy_team_rank(array->team, args[0], &rank) != 0) return -1;
  PyObject *key = args[1] == Py_None ? Py_Ellipsis : args[1];
  return tmbpy_index_parse(array, rank, key, 0, region);
}

struct tmbpy_future *tmbpy_array_get(struct tmbpy_array *array, const struct tmbpy_region *region,
                                     PyObject *index, PyObject *out,
                                     const struct tmbpy_after *after) {
  struct tmbpy_future *future =
      tmbpy_transfer_get(array, region, out == Py_None ? NULL : out, after);
  if (future && out == Py_None && region->ndim == 0 && index != Py_None) {
    Py_INCREF((PyObject *)array);
    future->number_of = array;
  }
  return future;
}
