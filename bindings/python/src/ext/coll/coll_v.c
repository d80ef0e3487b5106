/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives whose blocks have different lengths.
 *
 * Owns nothing. Called by the package, which has exchanged the lengths and made the buffers. Calls:
 * the V forms of gexx_Coll_*, future.c. Invariant: lengths and places are read before the call
 * returns, so only the two buffers are held.
 */
#include "core.h"

/* Kinds; the package has the same numbers. */
enum { V_SCATTER, V_GATHER, V_ALLGATHER, V_EXCHANGE, V_KINDS };

static const char *const names[V_KINDS] = {"scatterv", "gatherv", "allgatherv", "alltoallv"};

/* The arguments of one call. */
struct call {
  struct tmbpy_team *team;
  int kind;
  gex_Rank_t root;
  void *dst;
  const void *src;
  const size_t *dst_bytes, *dst_displs, *src_bytes, *src_displs; /* [size] */
};

static gex_Event_t start(const struct call *c) {
  gex_TM_t tm = c->team->tm;
  const uint32_t me = c->team->rank;
  switch (c->kind) {
  case V_SCATTER:
    return gexx_Coll_ScatterVNB(tm, c->root, c->dst, c->dst_bytes[me], c->src, c->src_bytes,
                                c->src_displs, 0);
  case V_GATHER:
    return gexx_Coll_GatherVNB(tm, c->root, c->dst, c->dst_bytes, c->dst_displs, c->src,
                               c->src_bytes[me], 0);
  case V_ALLGATHER:
    return gexx_Coll_AllGatherVNB(tm, c->dst, c->dst_bytes, c->dst_displs, c->src, 0);
  default:
    return gexx_Coll_ExchangeVNB(tm, c->dst, c->dst_bytes, c->dst_displs, c->src, c->src_bytes,
                                 c->src_displs, 0);
  }
}

/* Starts the call with its lengths: four rows of `size` numbers. Returns 0 or -1. */
static int run(struct call *c, PyObject *lengths, struct tmbpy_future *future) {
  Py_buffer view;
  gex_Event_t event;
  const size_t size = c->team->size;
  if (PyObject_GetBuffer(lengths, &view, PyBUF_CONTIG_RO) != 0) return -1;
  if ((size_t)view.len != 4 * size * sizeof(size_t)) {
    PyBuffer_Release(&view);
    PyErr_SetString(PyExc_ValueError, "lengths must be four rows with one number a rank");
    return -1;
  }
  c->dst_bytes = view.buf;
  c->dst_displs = c->dst_bytes + size;
  c->src_bytes = c->dst_displs + size;
  c->src_displs = c->src_bytes + size;
  Py_BEGIN_ALLOW_THREADS
  event = start(c);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&view);
  tmbpy_future_set(future, event);
  return 0;
}

PyObject *tmbpy_coll_v_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  void *src = NULL;
  if (nargs != 6) return PyErr_Format(PyExc_TypeError, "collective_v takes 6 arguments");
  struct call c = {.team = tmbpy_team_of(args[0]), .kind = (int)PyLong_AsLong(args[1])};
  if (!c.team || PyErr_Occurred() || tmbpy_team_rank(c.team, args[2], &c.root) != 0) return NULL;
  if (c.kind < 0 || c.kind >= V_KINDS)
    return PyErr_Format(PyExc_ValueError, "collective_v: kind is %d", c.kind);
  struct tmbpy_future *future = tmbpy_future_new(names[c.kind]);
  if (!future) return NULL;
  Py_INCREF(args[3]);
  future->result = args[3];
  int failed = tmbpy_coll_open(args[3], PyBUF_CONTIG, future, &c.dst);
  if (!failed) failed = tmbpy_coll_open(args[4], PyBUF_CONTIG_RO, future, &src);
  c.src = src;
  if (!failed) failed = run(&c, args[5], future);
  if (!failed) return (PyObject *)future;
  tmbpy_future_discard(future);
  return NULL;
}
