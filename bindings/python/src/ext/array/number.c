/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of arrays as Python numbers.
 *
 * Owns nothing. Called by the transfers, the atomics and the futures. Calls: the package's hook for
 * types that Python has no number of. Invariants: real numbers and integers of 8 bytes go without
 * that hook.
 */
#include "core.h"

int tmbpy_number_pack(char kind, Py_ssize_t itemsize, PyObject *value, void *word) {
  if (kind == 'f' && itemsize == 8) {
    if (!PyFloat_Check(value) && !PyLong_Check(value)) return 0;
    const double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) return -1;
    memcpy(word, &number, sizeof number);
    return 1;
  }
  if ((kind != 'i' && kind != 'u') || itemsize != 8 || !PyLong_Check(value)) return 0;
  const uint64_t number =
      kind == 'i' ? (uint64_t)PyLong_AsLongLong(value) : (uint64_t)PyLong_AsUnsignedLongLong(value);
  if (number == UINT64_MAX && PyErr_Occurred()) return -1;
  memcpy(word, &number, sizeof number);
  return 1;
}

int tmbpy_number_word(PyObject *value, const char *name, uint64_t least, uint64_t *word) {
  *word = PyLong_AsUnsignedLongLong(value);
  if (!PyErr_Occurred() && *word >= least) return 0;
  PyErr_Format(PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError,
               "%s is %R; give an integer of 64 bits from %u", name, value, (unsigned)least);
  return -1;
}

PyObject *tmbpy_number_unpack(struct tmbpy_array *array, const void *word) {
  if (array->itemsize == 8 && array->kind != 'c') {
    double real;
    long long number;
    memcpy(&real, word, sizeof real);
    memcpy(&number, word, sizeof number);
    if (array->kind == 'f') return PyFloat_FromDouble(real);
    if (array->kind == 'i') return PyLong_FromLongLong(number);
    if (array->kind == 'u') return PyLong_FromUnsignedLongLong((unsigned long long)number);
  }
  return PyObject_CallFunction(tmbpy.hooks[TMBPY_SCALAR], "y#O", (const char *)word,
                               array->itemsize, array->dtype);
}

PyObject *tmbpy_number_of(struct tmbpy_array *array, PyObject *got) {
  Py_buffer view;
  if (PyObject_GetBuffer(got, &view, PyBUF_SIMPLE) != 0) return NULL;
  PyObject *number = tmbpy_number_unpack(array, view.buf);
  PyBuffer_Release(&view);
  return number;
}
