/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals: words of the owner that puts of other ranks change.
 *
 * Owns nothing. Called as methods of arrays of uint64. Calls: gexx_Signal_*, wait.c. Invariants:
 * only the owner of a signal waits for it; a wait that succeeds has seen the data of the put that
 * changed the signal.
 */
#include "core.h"

/* A wait for one signal, or for one of a range. */
struct watch {
  uint64_t *sig;
  int cmp; /* GEXX_SIG_*, or one of the following */
  uint64_t value, found;
  size_t count, stride, index;
};

enum { WATCH_CONSUME = 100, WATCH_SOME };

static bool ready(void *arg) {
  struct watch *w = arg;
  if (w->cmp == WATCH_CONSUME) {
    if (gexx_Signal_TryConsume(w->sig, w->value) != GASNET_OK) return false;
    w->found = __atomic_load_n(w->sig, __ATOMIC_RELAXED);
    return true;
  }
  if (w->cmp == WATCH_SOME) {
    if (gexx_Signal_TestSome(w->sig, w->count, w->stride, &w->index) != GASNET_OK) return false;
    w->found = gexx_Signal_Reset((uint64_t *)(void *)((char *)w->sig + w->index * w->stride));
    return w->found != 0; /* 0: another thread has taken it */
  }
  if (gexx_Signal_Test(w->sig, w->cmp, w->value) != GASNET_OK) return false;
  w->found = __atomic_load_n(w->sig, __ATOMIC_ACQUIRE);
  return true;
}

/* Reads the index of a signal of this rank. Returns 0 or -1. */
static int find(struct tmbpy_array *array, PyObject *index, struct watch *w) {
  struct tmbpy_region region;
  if (tmbpy_array_check(array) != 0) return -1;
  if (tmbpy_index_parse(array, array->team->rank, index, 0, &region) != 0) return -1;
  if (region.ndim != 0) {
    PyErr_Format(PyExc_IndexError, "signal %R: give the index of one signal", index);
    return -1;
  }
  w->sig = (uint64_t *)(void *)region.addr;
  return 0;
}

/* Waits. Returns 0, or -1 with an exception, also when the time has passed. */
static int wait_for(struct watch *w, PyObject *timeout) {
  double timeout_s;
  if (tmbpy_wait_limit(timeout, &timeout_s) != 0) return -1;
  const struct tmbpy_aim aim = {ready, w, "signal", GEX_EVENT_INVALID};
  const int found = tmbpy_wait(&aim, timeout_s);
  if (found <= 0) return found;
  PyErr_Format(PyExc_TimeoutError, "no signal within %R s", timeout);
  return -1;
}

/* _signal_wait(index, cmp, value, timeout) -> its value. */
PyObject *tmbpy_signal_wait(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct watch w = {0};
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "wait takes 4 arguments, not %zd", nargs);
  if (find((struct tmbpy_array *)self, args[0], &w) != 0) return NULL;
  w.cmp = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || tmbpy_number_word(args[2], "value", 0, &w.value) != 0 ||
      wait_for(&w, args[3]) != 0)
    return NULL;
  return PyLong_FromUnsignedLongLong(w.found);
}

/* _signal_consume(index, n, timeout) -> what is left. */
PyObject *tmbpy_signal_consume(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct watch w = {.cmp = WATCH_CONSUME};
  if (nargs != 3) return PyErr_Format(PyExc_TypeError, "consume takes 3 arguments, not %zd", nargs);
  if (find((struct tmbpy_array *)self, args[0], &w) != 0) return NULL;
  if (tmbpy_number_word(args[1], "n", 0, &w.value) != 0 || wait_for(&w, args[2]) != 0) return NULL;
  return PyLong_FromUnsignedLongLong(w.found);
}

/* _signal_some(start, timeout) -> (index, value) of a signal that is not zero, which becomes zero.
 */
PyObject *tmbpy_signal_some(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "some takes 2 arguments, not %zd", nargs);
  if (tmbpy_array_check(array) != 0) return NULL;
  if (array->ndim != 1 || array->shape[0] == 0)
    return PyErr_Format(PyExc_TypeError, "some: the signals must be an array of one axis");
  struct watch w = {.cmp = WATCH_SOME,
                    .sig = (uint64_t *)(void *)array->addr[array->team->rank],
                    .count = (size_t)array->shape[0],
                    .stride = (size_t)array->itemsize,
                    .index = PyLong_AsSize_t(args[0])};
  if (PyErr_Occurred()) return NULL;
  w.index %= w.count;
  if (wait_for(&w, args[1]) != 0) return NULL;
  return Py_BuildValue("nK", (Py_ssize_t)w.index, (unsigned long long)w.found);
}
