/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of the extension.
 *
 * Owns nothing. Called by every blocking operation of this folder. Calls: gexx_wait_step, which
 * spins, yields and sleeps, inbox.c and orphan.c. A wait tests its condition, then checks for
 * messages, then at the clock: every LOOK_NS it asks the interpreter for signals, so that Ctrl-C
 * ends it. Invariants: the GIL is released while the library polls or sleeps; handlers of messages
 * and of signals run with it.
 */
#include "core.h"

#include <time.h>

#define LOOK_NS    5000000u /* between two checks for signals of the interpreter */
#define LOOK_STEPS 16       /* between two reads of the clock; a step lasts at most 2 ms */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One wait. */
struct waiting {
  const struct tmbpy_aim *aim;
  gexx_WaitInfo_t info;
  char place[64];         /* file:line, once the wait has lasted for LOOK_NS */
  uint64_t looked, until; /* times in ns; until: UINT64_MAX: no limit */
  unsigned steps;
};

enum outcome { GO_ON, READY, LATE, SERVE };

/* One step without the GIL: whether the caller has to do something with it. */
static enum outcome step(struct waiting *w, struct gexx_wait *wait) {
  if (w->aim->ready(w->aim->arg)) return READY;
  if (tmbpy_message_waits()) return w->aim->ready(w->aim->arg) ? READY : SERVE;
  if (w->steps++ % LOOK_STEPS == 0) {
    const uint64_t now = now_ns();
    if (now >= w->until) return LATE;
    if (now - w->looked >= LOOK_NS) {
      w->looked = now;
      return SERVE;
    }
  }
  gexx_wait_step(wait);
  return GO_ON;
}

/* Says what this thread waits for, and where; `tombolo why` shows it. A wait inside a handler that
 * ran meanwhile has replaced it, so this is set again at each check. */
static void tell(struct waiting *w) {
  PyObject *text =
      w->place[0] ? NULL : PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_PLACE], NULL);
  const char *place = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (place) snprintf(w->place, sizeof w->place, "%s", place);
  PyErr_Clear();
  Py_XDECREF(text);
  w->info = (gexx_WaitInfo_t){.call = w->aim->what,
                              .object = w->place,
                              .needs = w->aim->event ? GEXX_WAIT_AS_SHOWN : GEXX_WAIT_ANY,
                              .peer = GEX_RANK_INVALID,
                              .home = GEX_RANK_INVALID,
                              .event = w->aim->event};
  gexx_WaitInfo_Begin(&w->info);
}

int tmbpy_wait_callbacks(void) {
  if (!__atomic_load_n(&tmbpy.watched, __ATOMIC_RELAXED)) return 0;
  PyObject *done = PyObject_CallFunctionObjArgs(tmbpy.hooks[TMBPY_WATCH], NULL);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

static int serve(void) {
  tmbpy_orphan_reap();
  if (PyErr_CheckSignals() != 0) return -1;
  if (tmbpy_message_serve() != 0) return -1;
  return tmbpy_wait_callbacks();
}

int tmbpy_wait_serve(void) {
  const bool idle = !tmbpy_message_waits() && !__atomic_load_n(&tmbpy.watched, __ATOMIC_RELAXED);
  return idle ? 0 : serve();
}

/* Waits to the end. Returns as tmbpy_wait. */
static int wait_on(struct waiting *w) {
  const uint64_t begun = w->looked;
  for (;;) {
    enum outcome found = GO_ON;
    Py_BEGIN_ALLOW_THREADS
    struct gexx_wait wait;
    gexx_wait_begin(&wait);
    while (found == GO_ON) found = step(w, &wait);
    Py_END_ALLOW_THREADS
    if (found == READY) return 0;
    if (found == LATE) return 1;
    if (serve() != 0) return -1;
    if (w->looked != begun) tell(w);
  }
}

int tmbpy_wait(const struct tmbpy_aim *aim, double timeout_s) {
  if (aim->ready(aim->arg)) return 0;
  const uint64_t now = now_ns();
  struct waiting w = {.aim = aim, .looked = now, .until = UINT64_MAX, .steps = 1};
  if (timeout_s >= 0 && timeout_s < 1e9) w.until = now + (uint64_t)(timeout_s * 1e9);
  const int outcome = wait_on(&w);
  if (w.info.call) gexx_WaitInfo_End();
  return outcome;
}

int tmbpy_wait_limit(PyObject *timeout, double *timeout_s) {
  *timeout_s = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
  if (timeout == Py_None || (!PyErr_Occurred() && *timeout_s >= 0)) return 0;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Format(PyErr_Occurred() ? PyExc_TypeError : PyExc_ValueError,
               "timeout is %R; give None, or seconds from 0", timeout);
  return -1;
}

int tmbpy_poll(void) {
  Py_BEGIN_ALLOW_THREADS
  gasnet_AMPoll();
  Py_END_ALLOW_THREADS
  return serve();
}

/* Whether gexx_Poll has found something; messages end the wait, too. */
PyObject *tmbpy_wait_poll(PyObject *module, PyObject *arg) {
  (void)module;
  const double timeout_s = PyFloat_AsDouble(arg);
  if (PyErr_Occurred())
    return PyErr_Format(PyExc_TypeError, "poll: seconds is %R; give a number", arg);
  if (tmbpy_check() != 0) return NULL;
  const uint64_t until = now_ns() + (uint64_t)((timeout_s > 0 ? timeout_s : 0) * 1e9);
  int found = 0;
  do {
    const uint64_t now = now_ns();
    const uint64_t left_us = until > now ? (until - now) / 1000 : 0;
    const uint64_t slice_us = left_us < LOOK_NS / 1000 ? left_us : LOOK_NS / 1000;
    Py_BEGIN_ALLOW_THREADS
    found = gexx_Poll(slice_us);
    Py_END_ALLOW_THREADS
    const bool message = tmbpy_message_waits();
    if (serve() != 0) return NULL;
    found = found || message;
  } while (!found && now_ns() < until);
  return PyBool_FromLong(found);
}
