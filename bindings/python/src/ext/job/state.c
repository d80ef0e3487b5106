/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the process in its job, and the check that operations are possible.
 *
 * Owns struct tmbpy_process. Used by every file of this module. Calls nothing. Invariants: core.c
 * writes the state at the start and the end.
 */
#include "core.h"

struct tmbpy_process tmbpy;

int tmbpy_check(void) {
  if (__atomic_load_n(&tmbpy.forked, __ATOMIC_RELAXED)) {
    PyErr_Format(PyExc_RuntimeError,
                 "this process is a fork of rank %u and no part of the job; start helpers with "
                 "multiprocessing's method \"spawn\", or with subprocess",
                 (unsigned)tmbpy.rank);
    return -1;
  }
  if (!tmbpy.started) {
    PyErr_SetString(PyExc_RuntimeError, "the job has not been started; call tombolo.init() first");
    return -1;
  }
  if (__atomic_load_n(&tmbpy.closed, __ATOMIC_RELAXED)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the program of this rank is over; do not communicate while Python exits");
    return -1;
  }
  return 0;
}
