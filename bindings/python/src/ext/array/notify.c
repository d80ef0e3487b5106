/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications with tags, and semaphores.
 *
 * Owns the types Notification (a request for notifications) and Semaphore (of this rank), and the
 * names of semaphores, which are 16 bytes that any rank may post. Called by the package. Calls:
 * gexx_Notify_*, gexx_Sem_*, transfer.c, wait.c. Invariants: a request that is active when its
 * object goes is kept by the library; a semaphore is freed with its object, so the object lives as
 * long as others may post.
 */
#include "core.h"

#include <string.h>

#define ANY UINT32_MAX /* source and tag: any */

/* ---- puts and gets that notify */

static int read_tag(PyObject *value, struct tmbpy_after *after) {
  const long long tag = PyLong_AsLongLong(value);
  *after = (struct tmbpy_after){.kind = TMBPY_TAG, .value = (uint64_t)tag};
  if (tag >= 0 && tag < ANY) return 0;
  PyErr_Format(PyExc_ValueError, "tag is %R; give a number from 0 to %u", value, ANY - 1);
  return -1;
}

/* _put_notify(rank, index, value, tag) -> Future. */
PyObject *tmbpy_notify_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  struct tmbpy_after after;
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "put_notify takes 4 arguments");
  if (tmbpy_array_place(array, args, &region) != 0 || read_tag(args[3], &after) != 0) return NULL;
  return (PyObject *)tmbpy_transfer_put(array, &region, args[2], &after);
}

/* _get_notify(rank, index, out, tag) -> Future. */
PyObject *tmbpy_notify_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  struct tmbpy_after after;
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "get_notify takes 4 arguments");
  if (tmbpy_array_place(array, args, &region) != 0 || read_tag(args[3], &after) != 0) return NULL;
  return (PyObject *)tmbpy_array_get(array, &region, args[1], args[2], &after);
}

/* ---- requests for notifications */

struct notification {
  PyObject_HEAD PyObject *team; /* keeps the team of the request */
  gexx_Notify_t request;
  gexx_Notify_Status_t status;
  uint32_t active; /* started, not matched yet; atomic */
  uint32_t lock;   /* one thread tests at a time; atomic */
};

/* Notification(team, source, tag, count): source and tag -1: any. Inactive. */
static PyObject *make_notification(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *team_object;
  long long source, tag, count;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "OLLL;make requests with job.notification", &team_object, &source,
                        &tag, &count))
    return NULL;
  struct tmbpy_team *team = tmbpy_team_of(team_object);
  if (!team) return NULL;
  if (source < -1 || source >= (long long)team->size)
    return PyErr_Format(PyExc_IndexError, "source is %lld; the team has ranks 0 to %u", source,
                        (unsigned)team->size - 1);
  if (tag < -1 || tag >= ANY)
    return PyErr_Format(PyExc_ValueError, "tag is %lld; give None, or a number from 0 to %u", tag,
                        ANY - 1);
  if (count < 1 || count > ANY)
    return PyErr_Format(PyExc_ValueError, "count is %lld; give a number from 1 to %u", count, ANY);
  struct notification *made = (struct notification *)PyType_GenericAlloc(type, 0);
  if (!made) return NULL;
  const int code = gexx_Notify_Init(
      team->tm, source < 0 ? GEXX_NOTIFY_ANY_SOURCE : (gex_Rank_t)source,
      tag < 0 ? GEXX_NOTIFY_ANY_TAG : (uint32_t)tag, (uint32_t)count, &made->request);
  if (code != GASNET_OK) {
    made->request = NULL;
    Py_DECREF(made);
    return PyErr_Format(PyExc_RuntimeError, "gexx_Notify_Init failed: %s", gasnet_ErrorName(code));
  }
  Py_INCREF(team_object);
  made->team = team_object;
  return (PyObject *)made;
}

/* start(): from now on notifications are matched, also those that came before. */
static PyObject *start_notification(PyObject *self, PyObject *unused) {
  struct notification *n = (struct notification *)self;
  (void)unused;
  if (tmbpy_check() != 0) return NULL;
  if (__atomic_exchange_n(&n->active, 1, __ATOMIC_ACQ_REL)) {
    PyErr_SetString(PyExc_RuntimeError, "the request has been started; wait for it first");
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  gexx_Notify_Start(n->request);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static bool matched(void *arg) {
  struct notification *n = arg;
  if (!__atomic_load_n(&n->active, __ATOMIC_ACQUIRE)) return true;
  if (__atomic_exchange_n(&n->lock, 1, __ATOMIC_ACQUIRE)) return false;
  if (n->active && gexx_Notify_Test(n->request, &n->status) == GASNET_OK)
    __atomic_store_n(&n->active, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&n->lock, 0, __ATOMIC_RELEASE);
  return !__atomic_load_n(&n->active, __ATOMIC_ACQUIRE);
}

/* wait(timeout) -> (source, tag, bytes) of the last notification that was matched. */
static PyObject *wait_notification(PyObject *self, PyObject *timeout) {
  struct notification *n = (struct notification *)self;
  double timeout_s;
  if (tmbpy_wait_limit(timeout, &timeout_s) != 0 || tmbpy_check() != 0) return NULL;
  const struct tmbpy_aim aim = {matched, n, "notification", GEX_EVENT_INVALID};
  const int found = tmbpy_wait(&aim, timeout_s);
  if (found > 0) PyErr_Format(PyExc_TimeoutError, "no notification within %R s", timeout);
  if (found != 0) return NULL;
  return Py_BuildValue("IIn", (unsigned)n->status.gexx_source, n->status.gexx_tag,
                       (Py_ssize_t)n->status.gexx_nbytes);
}

static void end_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static bool alive(void) {
  return !__atomic_load_n(&tmbpy.closed, __ATOMIC_RELAXED) &&
         !__atomic_load_n(&tmbpy.forked, __ATOMIC_RELAXED);
}

static void dealloc_notification(PyObject *self) {
  struct notification *n = (struct notification *)self;
  if (n->request && !n->active && alive()) gexx_Notify_Free(n->request);
  Py_XDECREF(n->team);
  end_object(self);
}

/* ---- semaphores */

struct semaphore {
  PyObject_HEAD gexx_Sem_t sem;
};

/* Semaphore(flags): an empty one of this rank. */
static PyObject *make_semaphore(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  unsigned flags;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "I;make semaphores with job.semaphore", &flags)) return NULL;
  if (tmbpy_check() != 0) return NULL;
  struct semaphore *made = (struct semaphore *)PyType_GenericAlloc(type, 0);
  if (!made) return NULL;
  const int code = gexx_Sem_Alloc(&made->sem, flags);
  if (code == GASNET_OK) return (PyObject *)made;
  made->sem = NULL;
  Py_DECREF(made);
  return PyErr_Format(PyExc_RuntimeError, "gexx_Sem_Alloc failed: %s", gasnet_ErrorName(code));
}

/* A wait for n. */
struct taking {
  gexx_Sem_t sem;
  uint64_t n;
};

static bool taken(void *arg) {
  const struct taking *t = arg;
  return gexx_Sem_TryN(t->sem, t->n) == GASNET_OK;
}

/* wait(n, timeout): takes n; TimeoutError when the time has passed. */
static PyObject *wait_semaphore(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "wait takes 2 arguments, not %zd", nargs);
  struct taking t = {.sem = ((struct semaphore *)self)->sem};
  double timeout_s;
  if (tmbpy_number_word(args[0], "n", 1, &t.n) != 0 || tmbpy_wait_limit(args[1], &timeout_s) != 0 ||
      tmbpy_check() != 0)
    return NULL;
  const struct tmbpy_aim aim = {taken, &t, "semaphore", GEX_EVENT_INVALID};
  const int found = tmbpy_wait(&aim, timeout_s);
  if (found > 0) PyErr_Format(PyExc_TimeoutError, "no post within %R s", args[1]);
  if (found != 0) return NULL;
  Py_RETURN_NONE;
}

/* name() -> 16 bytes. */
static PyObject *name_semaphore(PyObject *self, PyObject *unused) {
  (void)unused;
  if (tmbpy_check() != 0) return NULL;
  const gexx_Sem_Handle_t handle = gexx_Sem_QueryHandle(((struct semaphore *)self)->sem);
  return PyBytes_FromStringAndSize((const char *)&handle, sizeof handle);
}

static void dealloc_semaphore(PyObject *self) {
  struct semaphore *s = (struct semaphore *)self;
  if (s->sem && alive()) gexx_Sem_Free(s->sem);
  end_object(self);
}

/* Reads a name and a number of posts. Returns 0 or -1. */
static int read_post(PyObject *name, PyObject *number, struct tmbpy_after *after) {
  *after = (struct tmbpy_after){.kind = TMBPY_POST};
  if (tmbpy_number_word(number, "n", 1, &after->value) != 0) return -1;
  if (!PyBytes_Check(name) || PyBytes_Size(name) != (Py_ssize_t)sizeof after->sem) {
    PyErr_SetString(PyExc_TypeError, "name is not the name of a semaphore");
    return -1;
  }
  memcpy(&after->sem, PyBytes_AsString(name), sizeof after->sem);
  if (after->sem.gexx_rank < tmbpy.size) return 0;
  PyErr_SetString(PyExc_ValueError, "name is the name of a semaphore of another job");
  return -1;
}

/* post(name, n). */
PyObject *tmbpy_notify_post(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_after after;
  (void)module;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "post takes 2 arguments, not %zd", nargs);
  if (tmbpy_check() != 0 || read_post(args[0], args[1], &after) != 0) return NULL;
  Py_BEGIN_ALLOW_THREADS
  gexx_Sem_PostN(after.sem, after.value);
  Py_END_ALLOW_THREADS
  if (tmbpy_failure_check("post") != 0) return NULL;
  Py_RETURN_NONE;
}

/* _put_post(rank, index, value, name, n) -> Future: puts, then posts a semaphore of that rank. */
PyObject *tmbpy_notify_put_post(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_array *array = (struct tmbpy_array *)self;
  struct tmbpy_region region;
  struct tmbpy_after after;
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "put_post takes 5 arguments");
  if (tmbpy_array_place(array, args, &region) != 0) return NULL;
  if (read_post(args[3], args[4], &after) != 0) return NULL;
  const gex_Rank_t owner = gex_TM_TranslateRankToJobrank(array->team->tm, region.rank);
  if (owner != after.sem.gexx_rank)
    return PyErr_Format(PyExc_ValueError,
                        "the semaphore is of rank %u of the job, the put goes to rank %u of it; "
                        "give a semaphore of the target",
                        (unsigned)after.sem.gexx_rank, (unsigned)owner);
  return (PyObject *)tmbpy_transfer_put(array, &region, args[2], &after);
}

/* ---- the types */

static PyMethodDef notification_methods[] = {
    {"start", start_notification, METH_NOARGS, "start()"},
    {"wait", wait_notification, METH_O, "wait(timeout) -> (source, tag, bytes)"},
    {NULL, NULL, 0, NULL},
};

TMBPY_TYPE(tmbpy_notify_spec, "Notification", struct notification, 0,
           "A request for notifications.", {Py_tp_new, (void *)make_notification},
           {Py_tp_dealloc, (void *)dealloc_notification}, {Py_tp_methods, notification_methods});

static PyMethodDef semaphore_methods[] = {
    {"wait", FAST(wait_semaphore), METH_FASTCALL, "wait(n, timeout)"},
    {"name", name_semaphore, METH_NOARGS, "name() -> bytes"},
    {NULL, NULL, 0, NULL},
};

TMBPY_TYPE(tmbpy_semaphore_spec, "Semaphore", struct semaphore, 0, "A semaphore of this rank.",
           {Py_tp_new, (void *)make_semaphore}, {Py_tp_dealloc, (void *)dealloc_semaphore},
           {Py_tp_methods, semaphore_methods});
