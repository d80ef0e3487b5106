/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending messages, which Python handlers serve.
 *
 * Owns nothing. Called by the package. Calls: active messages (Medium), in pieces of at most their
 * limit. Invariants: a wait for room serves the messages that arrive meanwhile.
 */
#include "message.h"

/* A message to be sent. */
struct sending {
  uint32_t rank, kind;
  uint64_t id;
  const char *payload;
  size_t bytes, offset, most; /* in all, sent, and of one piece */
  bool begun;
};

/* Sends what there is room for. Returns whether that was all. Runs without the GIL. */
static bool send_pieces(void *arg) {
  struct sending *s = arg;
  while (!s->begun || s->offset < s->bytes) {
    const size_t left = s->bytes - s->offset, piece = left < s->most ? left : s->most;
    const int busy = gex_AM_RequestMedium(
        tmbpy.tm, s->rank, TMBPY_MESSAGE_INDEX, s->payload + s->offset, piece, GEX_EVENT_NOW,
        GEX_FLAG_IMMEDIATE, (gex_AM_Arg_t)s->kind, (gex_AM_Arg_t)s->id, (gex_AM_Arg_t)(s->id >> 32),
        (gex_AM_Arg_t)s->bytes, (gex_AM_Arg_t)((uint64_t)s->bytes >> 32), (gex_AM_Arg_t)s->offset,
        (gex_AM_Arg_t)((uint64_t)s->offset >> 32));
    if (busy) return false;
    s->begun = true;
    s->offset += piece;
  }
  return true;
}

PyObject *tmbpy_message_send(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
  (void)module;
  Py_buffer view;
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "send takes 4 arguments, not %zd", nargs);
  if (tmbpy_check() != 0) return NULL;
  struct sending s = {.kind = (uint32_t)PyLong_AsUnsignedLong(args[1]),
                      .id = PyLong_AsUnsignedLongLong(args[2])};
  const long long rank = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  if (rank < 0 || rank >= tmbpy.size)
    return PyErr_Format(PyExc_IndexError, "rank %lld; the job has ranks 0 to %u", rank,
                        (unsigned)(tmbpy.size - 1));
  if (PyObject_GetBuffer(args[3], &view, PyBUF_SIMPLE) != 0) return NULL;
  s.rank = (uint32_t)rank;
  s.payload = view.buf;
  s.bytes = (size_t)view.len;
  s.most = gex_AM_MaxRequestMedium(tmbpy.tm, s.rank, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE,
                                   TMBPY_MESSAGE_NARGS);
  const struct tmbpy_aim aim = {send_pieces, &s, "send", GEX_EVENT_INVALID};
  const int failed = tmbpy_wait(&aim, -1);
  PyBuffer_Release(&view);
  if (failed) return NULL;
  Py_RETURN_NONE;
}
