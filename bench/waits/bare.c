/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of C as a function of Python that does nothing else: what a call from Python takes at
 * least.
 *
 * Owns: the module bare. Called by waits_of_python.py. Calls: pair.h. Invariant: the interpreter's
 * lock is kept, no signal is looked at, no message is served: a binding cannot do so, this is the
 * floor of one.
 */
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "pair.h"

static PyObject *bare_barrier(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  pair_barrier();
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"barrier", bare_barrier, METH_NOARGS, "barrier()"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bare", NULL, 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_bare(void);
PyMODINIT_FUNC PyInit_bare(void) {
  return PyModule_Create(&definition);
}
