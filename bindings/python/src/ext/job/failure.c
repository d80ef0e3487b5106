/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are lost: the policy of the job, what has become of a rank, teams of those that are
 * left.
 *
 * Owns nothing. Called by the package, and by operations without an event to ask for a loss. Calls:
 * gexx_Job_SetFailurePolicy, gexx_Peer_*, gexx_Lost_Take, gexx_TM_Shrink. Invariants: under the
 * policy to end the job nothing here costs more than a load; the library's callback runs no Python,
 * it only queues a message (message.c).
 */
#include "core.h"

#include <stdlib.h>

int tmbpy_failure_check(const char *what) {
  gex_Rank_t jobrank = 0;
  if (!__atomic_load_n(&tmbpy.reports, __ATOMIC_RELAXED)) return 0;
  if (gexx_Lost_Take(&jobrank) != GEXX_ERR_LOST) return 0;
  Py_XDECREF(PyObject_CallFunction(tmbpy.hooks[TMBPY_LOST], "sI", what, (unsigned)jobrank));
  return PyErr_Occurred() ? -1 : 0;
}

static void on_lost(gex_Rank_t jobrank, int state, void *unused) {
  (void)unused;
  tmbpy_message_lost(jobrank, state);
}

/* policy(report) -> whether losses are reported. None: only asks; True is collective. */
PyObject *tmbpy_failure_policy(PyObject *module, PyObject *arg) {
  (void)module;
  int code = GASNET_OK;
  if (tmbpy_check() != 0) return NULL;
  if (arg != Py_None) {
    const int report = PyObject_IsTrue(arg);
    if (report < 0) return NULL;
    gexx_Job_SetFailureCallback(on_lost, NULL);
    Py_BEGIN_ALLOW_THREADS
    code = gexx_Job_SetFailurePolicy(report ? GEXX_FAILURE_REPORT : GEXX_FAILURE_ABORT);
    Py_END_ALLOW_THREADS
    if (code == GASNET_OK) __atomic_store_n(&tmbpy.reports, (uint32_t)report, __ATOMIC_RELAXED);
  }
  if (code != GASNET_OK)
    return PyErr_Format(PyExc_RuntimeError, "gexx_Job_SetFailurePolicy failed: %s",
                        gasnet_ErrorName(code));
  return PyBool_FromLong(gexx_Job_QueryFailurePolicy() == GEXX_FAILURE_REPORT);
}

/* peer(jobrank) -> (state, lost, code, signal). */
PyObject *tmbpy_failure_peer(PyObject *module, PyObject *arg) {
  (void)module;
  gexx_Peer_Info_t info;
  const long long rank = PyLong_AsLongLong(arg);
  if (PyErr_Occurred() || tmbpy_check() != 0) return NULL;
  if (rank < 0 || rank >= tmbpy.size)
    return PyErr_Format(PyExc_IndexError, "rank %lld; the job has ranks 0 to %u", rank,
                        (unsigned)(tmbpy.size - 1));
  Py_BEGIN_ALLOW_THREADS
  gexx_Peer_QueryInfo((gex_Rank_t)rank, &info);
  Py_END_ALLOW_THREADS
  return Py_BuildValue("iiii", info.gexx_state, info.gexx_lost, info.gexx_code, info.gexx_signal);
}

/* lost() -> jobranks that are lost, in rising order. */
PyObject *tmbpy_failure_lost(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  if (tmbpy_check() != 0) return NULL;
  gex_Rank_t *ranks = calloc(tmbpy.size, sizeof *ranks);
  if (!ranks) return PyErr_NoMemory();
  const size_t count = gexx_Peer_QueryLost(GEXX_PEER_ALIVE, ranks, tmbpy.size);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *rank = PyLong_FromUnsignedLong(ranks[i]);
    if (!rank || PyList_SetItem(list, (Py_ssize_t)i, rank) != 0) Py_CLEAR(list);
  }
  free(ranks);
  return list;
}

/* shrink(team) -> the team of its members that are left; collective over those. */
PyObject *tmbpy_failure_shrink(PyObject *module, PyObject *object) {
  (void)module;
  struct tmbpy_team *team = tmbpy_team_of(object);
  gex_TM_t made = GEX_TM_INVALID;
  if (!team) return NULL;
  gex_TM_t tm = team->tm;
  Py_BEGIN_ALLOW_THREADS
  gexx_TM_Shrink(tm, &made);
  Py_END_ALLOW_THREADS
  return tmbpy_team_new(made);
}
