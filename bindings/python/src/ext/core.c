/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extension module `tombolo._core`: the process in its job.
 *
 * Owns the start and the end of the process's part in the job, and the table of the module's
 * functions. Called by the package's Python files. Calls: every other file of this folder,
 * gexx_Client_Join, so that UPC, Fortran or C libraries may be clients beside it. Invariants: the
 * client is one of mode PAR, because Python threads may call at once; the job is started once; the
 * module serves the main interpreter only; a copy made by fork() is refused.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- start */

static void after_fork(void) {
  __atomic_store_n(&tmbpy.forked, 1, __ATOMIC_RELAXED);
}

/* A barrier without Python: what a rank does that ends in good order, so that others may still use
 * its memory. Runs before the library's own handler, which ends the job. */
static void at_exit(int code, void *unused) {
  (void)unused;
  if (__atomic_load_n(&tmbpy.forked, __ATOMIC_RELAXED)) {
    fflush(NULL);
    _exit(code); /* the library would take this for the end of the rank */
  }
  if (code == 0 && __atomic_load_n(&tmbpy.closed, __ATOMIC_RELAXED))
    gex_Coll_BarrierBlocking(tmbpy.tm, 0);
}

/* Joins the job and attaches the segment. Returns NULL, or what failed. */
static const char *join(uintptr_t heap_bytes, int *code) {
  *code = gexx_Client_Join(&tmbpy.client, &tmbpy.ep, &tmbpy.tm, "PYTHON", NULL, NULL, 0);
  if (*code != GASNET_OK) return "gexx_Client_Join";
  const uintptr_t most = gasnet_getMaxGlobalSegmentSize();
  uintptr_t bytes = heap_bytes ? heap_bytes : most;
  bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  *code = bytes > most ? GASNET_ERR_BAD_ARG : gex_Segment_Attach(&tmbpy.segment, tmbpy.tm, bytes);
  return *code == GASNET_OK ? NULL : "gex_Segment_Attach";
}

static PyObject *start(PyObject *module, PyObject *arg) {
  (void)module;
  int code = GASNET_OK;
  const unsigned long long bytes = PyLong_AsUnsignedLongLong(arg);
  if (PyErr_Occurred()) return NULL;
  if (tmbpy.started) {
    PyErr_SetString(PyExc_RuntimeError, "the job has been started before");
    return NULL;
  }
  const char *failed = NULL;
  Py_BEGIN_ALLOW_THREADS
  failed = join((uintptr_t)bytes, &code);
  Py_END_ALLOW_THREADS
  if (failed && code == GASNET_ERR_BAD_ARG) {
    PyErr_Format(
        PyExc_ValueError,
        "heap_bytes is %llu; at most %llu are possible (GASNET_MAX_SEGSIZE sets the limit)", bytes,
        (unsigned long long)gasnet_getMaxGlobalSegmentSize());
    return NULL;
  }
  if (failed) {
    /* joining fails so for want of a conduit, too */
    const bool memory = code == GASNET_ERR_RESOURCE && strcmp(failed, "gex_Segment_Attach") == 0;
    PyErr_Format(memory ? PyExc_MemoryError : PyExc_RuntimeError, "%s failed: %s (%s)", failed,
                 gasnet_ErrorName(code), gasnet_ErrorDesc(code));
    return NULL;
  }
  if (tmbpy_message_register() != 0) return NULL;
  tmbpy.rank = gex_TM_QueryRank(tmbpy.tm);
  tmbpy.size = gex_TM_QuerySize(tmbpy.tm);
  tmbpy.started = true;
  pthread_atfork(NULL, NULL, after_fork);
  on_exit(at_exit, NULL);
  return tmbpy_team_new(tmbpy.tm);
}

/* ---- end and questions */

static PyObject *closing(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  if (tmbpy.started) __atomic_store_n(&tmbpy.closed, 1, __ATOMIC_RELEASE);
  Py_RETURN_NONE;
}

static PyObject *end_job(PyObject *module, PyObject *arg) {
  (void)module;
  const long code = PyLong_AsLong(arg);
  if (code == -1 && PyErr_Occurred()) return NULL;
  if (!tmbpy.started || tmbpy.forked) exit((int)code);
  gasnet_exit((int)code);
}

static PyObject *state(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  const char *name = tmbpy.forked    ? "forked"
                     : tmbpy.closed  ? "closed"
                     : tmbpy.started ? "started"
                                     : "new";
  return PyUnicode_FromString(name);
}

/* heap() -> (address, bytes) of the segment. */
static PyObject *heap(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  if (tmbpy_check() != 0) return NULL;
  return Py_BuildValue("KK", (unsigned long long)(uintptr_t)gex_Segment_QueryAddr(tmbpy.segment),
                       (unsigned long long)gex_Segment_QuerySize(tmbpy.segment));
}

/* clear(address, bytes): zeroes memory of the heap. */
static PyObject *clear(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  if (tmbpy_check() != 0) return NULL;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "clear takes 2 arguments, not %zd", nargs);
  const uintptr_t addr = (uintptr_t)PyLong_AsUnsignedLongLong(args[0]);
  const size_t bytes = PyLong_AsSize_t(args[1]);
  if (PyErr_Occurred()) return NULL;
  const uintptr_t base = (uintptr_t)gex_Segment_QueryAddr(tmbpy.segment);
  const uintptr_t size = gex_Segment_QuerySize(tmbpy.segment);
  if (addr < base || bytes > size || addr - base > size - bytes) {
    PyErr_SetString(PyExc_ValueError, "clear: the range is not in the heap");
    return NULL;
  }
  memset((void *)addr, 0, bytes);
  Py_RETURN_NONE;
}

/* place() -> (rank on this host, ranks on this host, host, hosts). */
static PyObject *place(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  gex_Rank_t here = 0, mine = 0, hosts = 0, host = 0;
  if (tmbpy_check() != 0) return NULL;
  gex_System_QueryHostInfo(NULL, &here, &mine);
  gex_System_QueryMyPosition(NULL, NULL, &hosts, &host);
  return Py_BuildValue("IIII", mine, here, host, hosts);
}

/* quiet(): all futures so far count as waited for; returns how many exist. */
static PyObject *quiet(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyLong_FromSsize_t(tmbpy_future_quiet());
}

/* trace(name): begins a region in a trace; with None ends it. */
static PyObject *trace(PyObject *module, PyObject *name) {
  (void)module;
  const char *text = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
  if (tmbpy_check() != 0 || PyErr_Occurred()) return NULL;
  if (text)
    gexx_Trace_Begin(text);
  else
    gexx_Trace_End();
  Py_RETURN_NONE;
}

/* watched(count): how many futures have callbacks that have not run. */
static PyObject *watched(PyObject *module, PyObject *count) {
  (void)module;
  const unsigned long n = PyLong_AsUnsignedLong(count);
  if (PyErr_Occurred()) return NULL;
  __atomic_store_n(&tmbpy.watched, (uint32_t)n, __ATOMIC_RELAXED);
  Py_RETURN_NONE;
}

/* hooks(functions...): what the extension calls, in the order of enum tmbpy_hook. */
static PyObject *hooks(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  if (nargs != TMBPY_HOOKS)
    return PyErr_Format(PyExc_TypeError, "hooks takes %d functions, not %zd", (int)TMBPY_HOOKS,
                        nargs);
  for (Py_ssize_t i = 0; i < nargs; i++) {
    PyObject *old = tmbpy.hooks[i];
    Py_INCREF(args[i]);
    tmbpy.hooks[i] = args[i];
    Py_XDECREF(old);
  }
  Py_RETURN_NONE;
}

/* ---- the module */

static PyMethodDef methods[] = {
    {"start", start, METH_O, "start(heap_bytes): joins the job; returns the team of all."},
    {"closing", closing, METH_NOARGS, "closing(): the program of this rank is over."},
    {"end_job", end_job, METH_O, "end_job(code): ends the whole job; does not return."},
    {"state", state, METH_NOARGS, "state(): new, started, closed or forked."},
    {"heap", heap, METH_NOARGS, "heap(): address and bytes of this rank's segment."},
    {"clear", FAST(clear), METH_FASTCALL, "clear(address, bytes): zeroes memory of the heap."},
    {"place", place, METH_NOARGS, "place(): rank here, ranks here, host, hosts."},
    {"quiet", quiet, METH_NOARGS, "quiet(): futures so far count as waited for."},
    {"watched", watched, METH_O, "watched(count): futures whose callbacks have not run."},
    {"trace", trace, METH_O, "trace(name): a region begins in a trace; None: it ends."},
    {"hooks", FAST(hooks), METH_FASTCALL, "hooks(functions...): what the extension calls."},
    {"poll", tmbpy_wait_poll, METH_O, "poll(seconds): runs progress and handlers."},
    {"send", FAST(tmbpy_message_send), METH_FASTCALL, "send(rank, kind, id, payload)"},
    {"domain", FAST(tmbpy_atomic_domain), METH_FASTCALL, "domain(team, dt): collective."},
    {"collective", FAST(tmbpy_coll_start), METH_FASTCALL,
     "collective(team, kind, root, dst, src, nbytes, dt, count, op, function)"},
    {"collective_v", FAST(tmbpy_coll_v_start), METH_FASTCALL,
     "collective_v(team, kind, root, dst, src, lengths)"},
    {"touch", FAST(tmbpy_watch_touch), METH_FASTCALL,
     "touch(array, writes, offsets): notifies the checker of an access."},
    {"post", FAST(tmbpy_notify_post), METH_FASTCALL, "post(name, n): posts a semaphore."},
    {"policy", tmbpy_failure_policy, METH_O, "policy(report): sets it, None: only asks."},
    {"peer", tmbpy_failure_peer, METH_O, "peer(jobrank): state, lost, code, signal."},
    {"lost", tmbpy_failure_lost, METH_NOARGS, "lost(): jobranks that are lost."},
    {"shrink", tmbpy_failure_shrink, METH_O, "shrink(team): the members that are left."},
    {"dlpack", tmbpy_dlpack_export, METH_VARARGS,
     "dlpack(owner, address, shape, strides, code, bits, device, id, versioned): a capsule."},
    {"undlpack", tmbpy_dlpack_import, METH_O, "undlpack(capsule): what it holds."},
    {"allreduce", FAST(tmbpy_coll_allreduce), METH_FASTCALL, "allreduce(team, dst, src, op)"},
    {NULL, NULL, 0, NULL},
};

/* Makes a type at the first import; a further one, after a reload, gets the same type. */
static int add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec, const char *name) {
  if (!*type) *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
  return *type ? PyModule_AddObjectRef(module, name, (PyObject *)*type) : -1;
}

static int execute(PyObject *module) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "tombolo serves the main interpreter of a process only; import it there");
    return -1;
  }
  if (add_type(module, &tmbpy.team_type, &tmbpy_team_spec, "Team") != 0) return -1;
  if (add_type(module, &tmbpy.team_base_type, &tmbpy_team_base_spec, "TeamBase") != 0) return -1;
  if (add_type(module, &tmbpy.array_type, &tmbpy_array_spec, "Array") != 0) return -1;
  if (add_type(module, &tmbpy.future_type, &tmbpy_future_spec, "Future") != 0) return -1;
  if (add_type(module, &tmbpy.device_type, &tmbpy_device_spec, "Device") != 0) return -1;
  if (add_type(module, &tmbpy.memory_type, &tmbpy_memory_spec, "Memory") != 0) return -1;
  if (add_type(module, &tmbpy.notify_type, &tmbpy_notify_spec, "Notification") != 0) return -1;
  return add_type(module, &tmbpy.semaphore_type, &tmbpy_semaphore_spec, "Semaphore");
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "tombolo._core",
    "The part of tombolo that is written in C.",
    0,
    methods,
    slots,
    NULL,
    NULL,
    NULL,
};

/* The entry point that Python looks for. Returns the definition. */
PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  return PyModuleDef_Init(&definition);
}
