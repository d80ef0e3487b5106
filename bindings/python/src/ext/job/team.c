/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: ordered sets of ranks.
 *
 * Owns the type Team, and TeamBase, of which the package derives its class Team: it holds a Team,
 * and has those methods for which a function of Python that calls one of C takes too long. Calls:
 * gex_TM_*. A team knows where the segment of each member is, and how it is reached from here; both
 * are looked up once, when it is made, because the segment of a rank never changes. Invariants:
 * teams have no scratch memory; freeing one is collective and explicit, never left to the garbage
 * collector.
 */
#include "core.h"

#include <stddef.h>
#include <stdlib.h>
#include <structmember.h>

#define LOOK_US 5000u /* after so long a barrier is waited for as other operations are */

/* Looks up the segments of the members. Returns 0 or -1. */
static int look_up(struct tmbpy_team *team) {
  team->base = calloc(team->size, sizeof *team->base);
  team->delta = calloc(team->size, sizeof *team->delta);
  if (!team->base || !team->delta) {
    PyErr_NoMemory();
    return -1;
  }
  for (uint32_t r = 0; r < team->size; r++) {
    void *owner = NULL, *local = NULL;
    if (gex_Segment_QueryBound(team->tm, r, &owner, &local, NULL) != 0) {
      PyErr_Format(PyExc_RuntimeError, "rank %u has no segment", (unsigned)r);
      return -1;
    }
    team->base[r] = owner;
    team->delta[r] = local ? (intptr_t)((uintptr_t)local - (uintptr_t)owner) : GEXX_UNMAPPED;
  }
  return 0;
}

PyObject *tmbpy_team_new(gex_TM_t tm) {
  struct tmbpy_team *team = (struct tmbpy_team *)PyType_GenericAlloc(tmbpy.team_type, 0);
  if (!team) return NULL;
  team->tm = tm;
  team->rank = gex_TM_QueryRank(tm);
  team->size = gex_TM_QuerySize(tm);
  if (look_up(team) != 0) Py_CLEAR(team);
  return (PyObject *)team;
}

/* Whether operations of a team are possible now; else an exception is set. */
static bool usable(const struct tmbpy_team *team) {
  if (tmbpy_check() != 0) return false;
  if (team->tm) return true;
  PyErr_SetString(PyExc_ValueError, "the team has been freed");
  return false;
}

struct tmbpy_team *tmbpy_team_of(PyObject *object) {
  struct tmbpy_team *team = (struct tmbpy_team *)object;
  if (!PyObject_TypeCheck(object, tmbpy.team_type)) {
    PyErr_Format(PyExc_TypeError, "a team is needed, not %R", object);
    return NULL;
  }
  return usable(team) ? team : NULL;
}

int tmbpy_team_rank(struct tmbpy_team *team, PyObject *value, uint32_t *rank) {
  const Py_ssize_t r =
      PyLong_Check(value) ? PyLong_AsSsize_t(value) : PyNumber_AsSsize_t(value, PyExc_IndexError);
  if (r >= 0 && r < (Py_ssize_t)team->size) {
    *rank = (uint32_t)r;
    return 0;
  }
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_IndexError, "rank %zd; the team has ranks 0 to %u", r,
                 (unsigned)(team->size - 1));
  else if (PyErr_ExceptionMatches(PyExc_TypeError))
    PyErr_Format(PyExc_TypeError, "rank is %R; give an integer from 0 to %u", value,
                 (unsigned)(team->size - 1));
  return -1;
}

/* ---- methods */

/* split(color, key) -> Team, or None for a color below 0. */
static PyObject *split(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  if (!team) return NULL;
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "split takes 2 arguments, not %zd", nargs);
  const long color = PyLong_AsLong(args[0]), key = PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || color > INT32_MAX || key > INT32_MAX || key < INT32_MIN)
    return PyErr_Format(PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError)
                            ? PyExc_TypeError
                            : PyExc_ValueError,
                        "split: color is %R, key %R; give integers of 32 bits", args[0], args[1]);
  gex_TM_t made = GEX_TM_INVALID;
  Py_BEGIN_ALLOW_THREADS
  gex_TM_Split(color < 0 ? NULL : &made, team->tm, color < 0 ? 0 : (int)color, (int)key, NULL, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  Py_END_ALLOW_THREADS
  if (made == GEX_TM_INVALID) Py_RETURN_NONE;
  return tmbpy_team_new(made);
}

/* free(): ends the team; collective. */
static PyObject *free_team(PyObject *self, PyObject *unused) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  (void)unused;
  if (!team) return NULL;
  if (team->tm == tmbpy.tm) {
    PyErr_SetString(PyExc_ValueError, "the team of all ranks cannot be freed");
    return NULL;
  }
  gex_TM_t tm = team->tm;
  team->tm = GEX_TM_INVALID;
  Py_BEGIN_ALLOW_THREADS
  gex_TM_Destroy(tm, NULL, 0);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

/* barrier() -> Future. */
static PyObject *barrier(PyObject *self, PyObject *unused) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  (void)unused;
  if (!team) return NULL;
  struct tmbpy_future *future = tmbpy_future_new("barrier");
  if (future) tmbpy_future_set(future, gex_Coll_BarrierNB(team->tm, 0));
  return (PyObject *)future;
}

/* jobrank(rank) -> rank in the job. */
static PyObject *jobrank(PyObject *self, PyObject *value) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  uint32_t rank;
  if (!team || tmbpy_team_rank(team, value, &rank) != 0) return NULL;
  return PyLong_FromUnsignedLong(gex_TM_TranslateRankToJobrank(team->tm, rank));
}

/* near(rank): whether its memory is mapped here. */
static PyObject *near(PyObject *self, PyObject *value) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  uint32_t rank;
  if (!team || tmbpy_team_rank(team, value, &rank) != 0) return NULL;
  return PyBool_FromLong(team->delta[rank] != GEXX_UNMAPPED);
}

/* bases() -> addresses of the members' segments. */
static PyObject *bases(PyObject *self, PyObject *unused) {
  struct tmbpy_team *team = tmbpy_team_of(self);
  (void)unused;
  if (!team) return NULL;
  PyObject *list = PyList_New((Py_ssize_t)team->size);
  for (uint32_t r = 0; list && r < team->size; r++) {
    PyObject *base = PyLong_FromVoidPtr(team->base[r]);
    if (!base || PyList_SetItem(list, (Py_ssize_t)r, base) != 0) Py_CLEAR(list);
  }
  return list;
}

TMBPY_GETTER(get_rank, struct tmbpy_team, PyLong_FromUnsignedLong(self->rank))
TMBPY_GETTER(get_handle, struct tmbpy_team, PyLong_FromVoidPtr(self->tm))
TMBPY_GETTER(get_size, struct tmbpy_team, PyLong_FromUnsignedLong(self->size))

static void dealloc(PyObject *self) {
  struct tmbpy_team *team = (struct tmbpy_team *)self;
  PyTypeObject *type = Py_TYPE(self);
  free(team->base);
  free(team->delta);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"split", FAST(split), METH_FASTCALL, "split(color, key)"},
    {"free", free_team, METH_NOARGS, "free(): collective"},
    {"barrier", barrier, METH_NOARGS, "barrier() -> Future"},
    {"jobrank", jobrank, METH_O, "jobrank(rank)"},
    {"near", near, METH_O, "near(rank)"},
    {"bases", bases, METH_NOARGS, "bases()"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"rank", get_rank, NULL, "This process's number in the team.", NULL},
    {"size", get_size, NULL, "Members of the team.", NULL},
    {"handle", get_handle, NULL, "The gex_TM_t, as a number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

TMBPY_TYPE(tmbpy_team_spec, "Team", struct tmbpy_team, Py_TPFLAGS_DISALLOW_INSTANTIATION,
           "A team, as the library knows it.", {Py_tp_dealloc, (void *)dealloc},
           {Py_tp_methods, methods}, {Py_tp_getset, properties});

/* ---- the base of the package's class */

struct team_base {
  PyObject_HEAD struct tmbpy_team *core;
};

/* TeamBase(core, ...): what follows is for the class that is derived. */
static PyObject *make_base(PyTypeObject *type, PyObject *args, PyObject *names) {
  (void)names;
  PyObject *core = PyTuple_Size(args) ? PyTuple_GetItem(args, 0) : Py_None;
  if (!core) return NULL;
  if (!PyObject_TypeCheck(core, tmbpy.team_type))
    return PyErr_Format(PyExc_TypeError, "teams are made by tombolo.init and split, not of %R",
                        core);
  struct team_base *base = (struct team_base *)PyType_GenericAlloc(type, 0);
  if (!base) return NULL;
  Py_INCREF(core);
  base->core = (struct tmbpy_team *)core;
  return (PyObject *)base;
}

static int message_waits(void *unused) {
  (void)unused;
  return tmbpy_message_waits();
}

/* Waits for an event as C does, for a short time, until a message comes. Returns whether it was
 * complete, and is synchronised. */
static bool wait_briefly(gex_Event_t event) {
  int failed;
  Py_BEGIN_ALLOW_THREADS
  failed = gexx_Event_WaitUntil(event, message_waits, NULL, LOOK_US);
  Py_END_ALLOW_THREADS
  return !failed;
}

/* barrier(): without a future where the others soon come. Where losses are reported, the future
 * finds them. What has come is served before: a message that waits once all are here may be of a
 * rank that is ahead already, and need what this one makes next. */
static PyObject *barrier_and_wait(PyObject *self, PyObject *unused) {
  struct tmbpy_team *team = ((struct team_base *)self)->core;
  (void)unused;
  if (!usable(team) || tmbpy_wait_serve() != 0) return NULL;
  const gex_Event_t event = gex_Coll_BarrierNB(team->tm, 0);
  if (!__atomic_load_n(&tmbpy.reports, __ATOMIC_RELAXED) &&
      (event == GEX_EVENT_INVALID || wait_briefly(event)))
    Py_RETURN_NONE;
  struct tmbpy_future *future = tmbpy_future_new("barrier");
  if (!future) return NULL;
  tmbpy_future_set(future, event);
  PyObject *none = tmbpy_future_take(future);
  if (none && tmbpy_wait_callbacks() != 0) Py_CLEAR(none);
  return none;
}

static void free_base(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_DECREF((PyObject *)((struct team_base *)self)->core);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef base_methods[] = {
    {"barrier", barrier_and_wait, METH_NOARGS,
     "barrier($self)\n--\n\nWaits until all members are here; collective. Handlers of messages run "
     "meanwhile."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef base_members[] = {
    {"_core", T_OBJECT_EX, offsetof(struct team_base, core), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

TMBPY_TYPE(tmbpy_team_base_spec, "TeamBase", struct team_base, Py_TPFLAGS_BASETYPE,
           "What the package's teams are derived from.", {Py_tp_new, (void *)make_base},
           {Py_tp_dealloc, (void *)free_base}, {Py_tp_methods, base_methods},
           {Py_tp_members, base_members});
