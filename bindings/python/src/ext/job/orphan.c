/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that outlive their future.
 *
 * Owns their list. Called by future.c, which adds to it, and by the waits, which free what is
 * complete. Calls: gex_Event_Test. Invariants: the memory that an operation reads or writes is held
 * until it is complete.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>

/* An operation that outlives its future. */
struct orphan {
  struct orphan *next;
  gex_Event_t event;
  int nviews;
  Py_buffer views[2];
  struct tmbpy_operator *operator;
  void *lists;
};

static pthread_mutex_t orphans_lock = PTHREAD_MUTEX_INITIALIZER;
static struct orphan *orphans; /* under its lock */

/* Two threads may come here for one future; one of them gets the views. */
void tmbpy_orphan_release(Py_buffer *views, int *count) {
  for (int n = __atomic_exchange_n(count, 0, __ATOMIC_ACQ_REL); n > 0;)
    PyBuffer_Release(&views[--n]);
}

void tmbpy_orphan_free_operator(struct tmbpy_operator *operator) {
  if (!operator) return;
  Py_XDECREF(operator->function);
  Py_XDECREF(operator->raised);
  free(operator);
}

static void push(struct orphan *o) {
  pthread_mutex_lock(&orphans_lock);
  o->next = orphans;
  orphans = o;
  pthread_mutex_unlock(&orphans_lock);
}

/* Releasing a view may run Python code that makes further orphans, so the list is taken whole. */
void tmbpy_orphan_reap(void) {
  if (!__atomic_load_n(&orphans, __ATOMIC_RELAXED)) return;
  pthread_mutex_lock(&orphans_lock);
  struct orphan *o = orphans, *next;
  orphans = NULL;
  pthread_mutex_unlock(&orphans_lock);
  for (; o; o = next) {
    next = o->next;
    if (gex_Event_Test(o->event) != GASNET_OK) {
      push(o);
    } else {
      tmbpy_orphan_release(o->views, &o->nviews);
      tmbpy_orphan_free_operator(o->operator);
      free(o->lists);
      free(o);
    }
  }
  if (__atomic_load_n(&tmbpy.reports, __ATOMIC_RELAXED)) gexx_Lost_Take(NULL);
}

/* Keeps what an operation in progress uses. Without memory for that, the process waits. */
void tmbpy_orphan_adopt(struct tmbpy_future *future) {
  struct orphan *o = malloc(sizeof *o);
  if (!o) {
    Py_BEGIN_ALLOW_THREADS
    gex_Event_Wait(future->event);
    Py_END_ALLOW_THREADS
    tmbpy_orphan_release(future->views, &future->nviews);
    return;
  }
  o->event = future->event;
  o->nviews = future->nviews;
  memcpy(o->views, future->views, sizeof o->views);
  o->operator= future->operator;
  o->lists = future->lists;
  future->operator= NULL;
  future->lists = NULL;
  push(o);
}
