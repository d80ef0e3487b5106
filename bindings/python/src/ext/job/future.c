/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Futures: operations in progress.
 *
 * Owns the type Future. Called by every operation of this folder that does not wait, and by the
 * package for calls of functions on other ranks. Calls: wait.c. Invariants: the memory that an
 * operation reads or writes is held until it is complete, whatever becomes of its future; one
 * thread at a time tests an event; a future that nobody has waited for is reported when it is
 * dropped (TMBPY_FORGOTTEN).
 */
#include "core.h"

#include <stdlib.h>

static Py_ssize_t unseen; /* futures that nobody has waited for, since quiet; atomic */

static bool is_quiet(const struct tmbpy_future *future) {
  return future->generation < __atomic_load_n(&tmbpy.quiet, __ATOMIC_RELAXED);
}

Py_ssize_t tmbpy_future_quiet(void) {
  __atomic_fetch_add(&tmbpy.quiet, 1, __ATOMIC_RELAXED);
  return __atomic_exchange_n(&unseen, 0, __ATOMIC_RELAXED);
}

static void mark_seen(struct tmbpy_future *future) {
  if (__atomic_exchange_n(&future->seen, true, __ATOMIC_RELAXED)) return;
  if (!is_quiet(future)) __atomic_fetch_sub(&unseen, 1, __ATOMIC_RELAXED);
}

/* ---- making one */

struct tmbpy_future *tmbpy_future_new(const char *what) {
  struct tmbpy_future *made = (struct tmbpy_future *)PyType_GenericAlloc(tmbpy.future_type, 0);
  if (!made) return NULL;
  made->what = what;
  made->generation = __atomic_load_n(&tmbpy.quiet, __ATOMIC_RELAXED);
  made->event = GEX_EVENT_INVALID;
  made->done = 1;
  __atomic_fetch_add(&unseen, 1, __ATOMIC_RELAXED);
  return made;
}

void tmbpy_future_hold(struct tmbpy_future *future, Py_buffer *view) {
  future->views[future->nviews++] = *view;
}

void tmbpy_future_set(struct tmbpy_future *future, gex_Event_t event) {
  future->event = event;
  future->done = event == GEX_EVENT_INVALID;
  if (future->done && __atomic_load_n(&tmbpy.reports, __ATOMIC_RELAXED))
    future->lost = gexx_Lost_Take(&future->lost_rank) == GEXX_ERR_LOST;
  if (future->done) tmbpy_orphan_release(future->views, &future->nviews);
}

void tmbpy_future_discard(struct tmbpy_future *future) {
  mark_seen(future);
  Py_DECREF(future);
}

/* Future(what): completed by resolve(). */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)type;
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "", names)) return NULL;
  struct tmbpy_future *made = tmbpy_future_new("call");
  if (!made) return NULL;
  made->by_message = true;
  made->done = 0;
  return (PyObject *)made;
}

/* ---- completion */

/* Tests the event, under the lock. Under the policy to report, a loss that it met is kept. */
static bool test(struct tmbpy_future *future) {
  if (!__atomic_load_n(&tmbpy.reports, __ATOMIC_RELAXED))
    return gex_Event_Test(future->event) == GASNET_OK;
  const int status = gexx_Event_Status(future->event);
  if (status == GASNET_ERR_NOT_READY) return false;
  gex_Event_Wait(future->event);
  if (status == GEXX_ERR_LOST) future->lost = gexx_Lost_Take(&future->lost_rank) == GEXX_ERR_LOST;
  return true;
}

static bool ready(void *arg) {
  struct tmbpy_future *future = arg;
  if (__atomic_load_n(&future->done, __ATOMIC_ACQUIRE)) return true;
  if (future->by_message || __atomic_exchange_n(&future->lock, 1, __ATOMIC_ACQUIRE)) return false;
  if (!future->done && test(future)) {
    future->event = GEX_EVENT_INVALID;
    __atomic_store_n(&future->done, 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&future->lock, 0, __ATOMIC_RELEASE);
  return __atomic_load_n(&future->done, __ATOMIC_ACQUIRE);
}

static int wait_for(struct tmbpy_future *future, double timeout_s) {
  const struct tmbpy_aim aim = {ready, future, future->what, future->event};
  return tmbpy_wait(&aim, timeout_s);
}

static PyObject *outcome(struct tmbpy_future *future) {
  if (future->lost)
    return PyObject_CallFunction(tmbpy.hooks[TMBPY_LOST], "sI", future->what,
                                 (unsigned)future->lost_rank);
  if (future->error) {
    PyErr_SetObject((PyObject *)Py_TYPE(future->error), future->error);
    return NULL;
  }
  if (future->operator&& future->operator->raised) {
    PyObject *raised = future->operator->raised;
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    return NULL;
  }
  if (future->number_of) return tmbpy_number_of(future->number_of, future->result);
  PyObject *result = future->result ? future->result : Py_None;
  Py_INCREF(result);
  return result;
}

int tmbpy_future_finish(struct tmbpy_future *future) {
  const int failed = wait_for(future, -1);
  mark_seen(future);
  if (failed) return -1;
  tmbpy_orphan_release(future->views, &future->nviews);
  if (!future->lost) return 0;
  Py_XDECREF(outcome(future));
  return -1;
}

PyObject *tmbpy_future_take(struct tmbpy_future *future) {
  if (!future) return NULL;
  PyObject *result = tmbpy_future_finish(future) == 0 ? outcome(future) : NULL;
  Py_DECREF(future);
  return result;
}

/* ---- methods */

/* add_done_callback(function): the package keeps it, and looks when a wait or poll serves. */
static PyObject *callback_method(PyObject *self, PyObject *function) {
  if (!PyCallable_Check(function))
    return PyErr_Format(PyExc_TypeError, "add_done_callback: %R cannot be called", function);
  return PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_WATCH], self, function, NULL);
}

/* _abandon(): nobody will wait for it, and that is no mistake. */
static PyObject *abandon_method(PyObject *self, PyObject *unused) {
  (void)unused;
  mark_seen((struct tmbpy_future *)self);
  Py_RETURN_NONE;
}

/* _give(value): what wait returns in place of the operation's own result. */
static PyObject *give_method(PyObject *self, PyObject *value) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  PyObject *old = future->result;
  Py_INCREF(value);
  future->result = value;
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

/* Reads the arguments of wait(timeout=None). [out] timeout_s: negative: none. Returns the argument,
 * or NULL with an exception. */
static PyObject *read_timeout(PyObject *const *args, Py_ssize_t nargs, PyObject *names,
                              double *timeout_s) {
  const Py_ssize_t nnames = names ? PyTuple_Size(names) : 0;
  const bool known =
      nnames == 0 ||
      (nnames == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "timeout") == 0);
  *timeout_s = -1;
  if (nargs + nnames > 1 || !known)
    return PyErr_Format(PyExc_TypeError, "wait takes one argument, timeout");
  if (nargs + nnames == 0) return Py_None;
  return tmbpy_wait_limit(args[0], timeout_s) == 0 ? args[0] : NULL;
}

/* wait(timeout=None): the result; TimeoutError when the time has passed. */
static PyObject *wait_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *names) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  double timeout_s;
  PyObject *timeout = read_timeout(args, nargs, names, &timeout_s);
  if (!timeout) return NULL;
  if (!future->done && tmbpy_check() != 0) return NULL;
  const int found = wait_for(future, timeout_s);
  mark_seen(future);
  if (found < 0) return NULL;
  if (found > 0)
    return PyErr_Format(PyExc_TimeoutError, "%s is not complete after %R s", future->what, timeout);
  tmbpy_orphan_release(future->views, &future->nviews);
  if (tmbpy_wait_callbacks() != 0) return NULL;
  return outcome(future);
}

/* done(): whether the operation is complete; polls once when not. */
static PyObject *done_method(PyObject *self, PyObject *unused) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  (void)unused;
  if (!ready(future)) {
    if (tmbpy_check() != 0 || tmbpy_poll() != 0) return NULL;
    if (!ready(future)) Py_RETURN_FALSE;
  }
  mark_seen(future);
  tmbpy_orphan_release(future->views, &future->nviews);
  Py_RETURN_TRUE;
}

/* resolve(value, error): completes a future that waits for a message. */
static PyObject *resolve_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  if (nargs != 2 || !future->by_message || future->done)
    return PyErr_Format(PyExc_TypeError, "resolve(value, error): not possible for this future");
  Py_INCREF(args[0]);
  future->result = args[0];
  if (args[1] != Py_None) {
    Py_INCREF(args[1]);
    future->error = args[1];
  }
  __atomic_store_n(&future->done, 1, __ATOMIC_RELEASE);
  if (tmbpy_wait_callbacks() != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject *await_method(PyObject *self) {
  return PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_AWAIT], self, NULL);
}

static PyObject *repr(PyObject *self) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  return PyUnicode_FromFormat("<tombolo.Future of %s, %s>", future->what,
                              future->done ? "complete" : "in progress");
}

/* ---- the end */

static void report(struct tmbpy_future *future) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *called = PyObject_CallFunction(tmbpy.hooks[TMBPY_FORGOTTEN], "sO", future->what,
                                           future->done ? Py_True : Py_False);
  if (!called) PyErr_WriteUnraisable(NULL);
  Py_XDECREF(called);
  PyErr_Restore(type, value, trace);
}

static void dealloc(PyObject *self) {
  struct tmbpy_future *future = (struct tmbpy_future *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (!future->seen) {
    mark_seen(future);
    if (!is_quiet(future) && tmbpy.hooks[TMBPY_FORGOTTEN]) report(future);
  }
  if (!future->done && !future->by_message && !tmbpy.forked && !ready(future))
    tmbpy_orphan_adopt(future);
  else
    tmbpy_orphan_release(future->views, &future->nviews);
  Py_XDECREF(future->result);
  Py_XDECREF((PyObject *)future->number_of);
  Py_XDECREF(future->error);
  tmbpy_orphan_free_operator(future->operator);
  free(future->lists);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"wait", FAST(wait_method), METH_FASTCALL | METH_KEYWORDS,
     "wait(timeout=None)\n--\n\nWaits for the operation and returns its result."},
    {"done", done_method, METH_NOARGS,
     "done()\n--\n\nWhether the operation is complete; polls once when it is not."},
    {"add_done_callback", callback_method, METH_O,
     "add_done_callback(function)\n--\n\nCalls function(future) once it is complete, from a wait "
     "or poll."},
    {"_resolve", FAST(resolve_method), METH_FASTCALL, NULL},
    {"_give", give_method, METH_O, NULL},
    {"_abandon", abandon_method, METH_NOARGS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS,
     "Future[T]: T is what wait returns."},
    {NULL, NULL, 0, NULL},
};

TMBPY_TYPE(tmbpy_future_spec, "Future", struct tmbpy_future, 0,
           "An operation in progress: wait(), done(), or await it.", {Py_tp_new, (void *)make},
           {Py_tp_dealloc, (void *)dealloc}, {Py_tp_repr, (void *)repr}, {Py_tp_methods, methods},
           {Py_am_await, (void *)await_method});
