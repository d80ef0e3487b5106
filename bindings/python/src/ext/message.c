/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages with Python handlers.
 *
 * Owns the queue of messages that have arrived, and the parts of those that are longer than one
 * active message. Called by the waits and polls of this folder, and by the package to send. Calls:
 * active messages (Medium), which bring pieces of at most their limit; the package's dispatcher.
 * Invariants: the handler of the active messages runs no Python and takes only the lock of the
 * queue; handlers of messages of one source begin in the order in which they were sent; handlers of
 * the program run on one thread at a time, where a further one may run while one waits.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>

#define HANDLER_INDEX GEX_AM_INDEX_BASE
#define NARGS         7  /* kind, id (2), bytes (2), offset (2) */
#define DEPTH_MAX     64 /* handlers of the program that wait inside each other */

/* Kinds of messages; the package has the same numbers. */
enum { KIND_SEND, KIND_CALL, KIND_ANSWER, KIND_ERROR, KIND_ENDED, KIND_LOST };

struct message {
  struct message *next;
  uint64_t id;
  size_t bytes, arrived;
  uint32_t source, kind;
  char payload[];
};

static struct {
  pthread_mutex_t lock;
  struct message *first, **end;           /* complete, in the order of arrival; under the lock */
  struct message *answers, **end_answers; /* the same of KIND_ANSWER and above */
  struct message *parts;                  /* incomplete; under the lock */
  uint32_t count, answer_count;           /* of the lists; atomic, written under the lock */
  uint64_t runner;  /* thread that runs handlers of the program, 0: none; atomic */
  uint32_t depth;   /* how many it runs; that thread */
  uint64_t dropped; /* came after the end of the program */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &queue.first, .end_answers = &queue.answers};

static uint64_t join64(gex_AM_Arg_t low, gex_AM_Arg_t high) {
  return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void append(struct message *message) {
  message->next = NULL;
  if (message->kind >= KIND_ANSWER) {
    *queue.end_answers = message;
    queue.end_answers = &message->next;
    __atomic_fetch_add(&queue.answer_count, 1, __ATOMIC_RELEASE);
  } else {
    *queue.end = message;
    queue.end = &message->next;
    __atomic_fetch_add(&queue.count, 1, __ATOMIC_RELEASE);
  }
}

/* The message that a piece belongs to; made with its first piece. Under the lock. */
static struct message *find(uint32_t source, uint32_t kind, uint64_t id, size_t bytes) {
  for (struct message **p = &queue.parts; *p; p = &(*p)->next) {
    struct message *found = *p;
    if (found->source == source && found->id == id && found->kind == kind) {
      *p = found->next;
      return found;
    }
  }
  struct message *made = malloc(sizeof *made + bytes);
  if (!made) return NULL;
  made->source = source;
  made->kind = kind;
  made->id = id;
  made->bytes = bytes;
  made->arrived = 0;
  return made;
}

/* A piece has arrived. After the end of the program a call is answered with KIND_ENDED. */
/* tidy-allow: params because a handler gets its arguments one by one (API 02.1) */
static void on_piece(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t kind,
                     gex_AM_Arg_t id0, gex_AM_Arg_t id1, gex_AM_Arg_t bytes0, gex_AM_Arg_t bytes1,
                     gex_AM_Arg_t offset0, gex_AM_Arg_t offset1) {
  gex_Token_Info_t info;
  const uint64_t id = join64(id0, id1);
  const size_t bytes = join64(bytes0, bytes1), offset = join64(offset0, offset1);
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  if (__atomic_load_n(&tmbpy.closed, __ATOMIC_ACQUIRE)) {
    if (kind == KIND_CALL && offset == 0)
      gex_AM_ReplyMedium(token, HANDLER_INDEX, NULL, 0, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)KIND_ENDED,
                         id0, id1, 0, 0, 0, 0);
    else if (kind == KIND_SEND)
      __atomic_fetch_add(&queue.dropped, 1, __ATOMIC_RELAXED);
    return;
  }
  pthread_mutex_lock(&queue.lock);
  struct message *message = find(info.gex_srcrank, (uint32_t)kind, id, bytes);
  if (!message || offset > message->bytes || nbytes > message->bytes - offset) {
    fprintf(stderr, "tombolo: rank %u: no memory for a message of %zu bytes from rank %u\n",
            (unsigned)tmbpy.rank, bytes, (unsigned)info.gex_srcrank);
    gasnet_exit(1);
  }
  if (nbytes) memcpy(message->payload + offset, payload, nbytes);
  message->arrived += nbytes;
  if (message->arrived >= message->bytes) {
    append(message);
  } else {
    message->next = queue.parts;
    queue.parts = message;
  }
  pthread_mutex_unlock(&queue.lock);
}

void tmbpy_message_lost(gex_Rank_t jobrank, int state) {
  struct message *message = calloc(1, sizeof *message);
  if (!message || __atomic_load_n(&tmbpy.closed, __ATOMIC_ACQUIRE)) {
    free(message);
    return;
  }
  message->source = jobrank;
  message->kind = KIND_LOST;
  message->id = (uint64_t)state;
  pthread_mutex_lock(&queue.lock);
  append(message);
  pthread_mutex_unlock(&queue.lock);
}

int tmbpy_message_register(void) {
  gex_AM_Entry_t entry = {
      HANDLER_INDEX, (gex_AM_Fn_t)on_piece, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP, NARGS,
      NULL,          "python message"};
  const int code = gex_EP_RegisterHandlers(tmbpy.ep, &entry, 1);
  if (code == GASNET_OK) return 0;
  PyErr_Format(PyExc_RuntimeError, "gex_EP_RegisterHandlers failed: %s", gasnet_ErrorName(code));
  return -1;
}

/* ---- serving */

/* A number of the calling thread, not 0. */
static uint64_t self(void) {
  static __thread char mark;
  return (uint64_t)(uintptr_t)&mark;
}

/* Whether this thread may run a handler of the program now: none runs, or one of its own waits. */
static bool may_run(void) {
  const uint64_t runner = __atomic_load_n(&queue.runner, __ATOMIC_RELAXED);
  return runner == 0 || (runner == self() && queue.depth < DEPTH_MAX);
}

/* Takes the right to run one. Returns whether it was free, or this thread's already. */
static bool begin_run(void) {
  uint64_t runner = 0;
  if (!may_run()) return false;
  if (!__atomic_compare_exchange_n(&queue.runner, &runner, self(), false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED) &&
      runner != self())
    return false;
  queue.depth++;
  return true;
}

static void end_run(void) {
  if (--queue.depth == 0) __atomic_store_n(&queue.runner, 0, __ATOMIC_RELEASE);
}

bool tmbpy_message_waits(void) {
  if (__atomic_load_n(&queue.answer_count, __ATOMIC_ACQUIRE)) return true;
  return __atomic_load_n(&queue.count, __ATOMIC_ACQUIRE) && may_run();
}

static struct message *take(bool answer) {
  struct message **first = answer ? &queue.answers : &queue.first;
  pthread_mutex_lock(&queue.lock);
  struct message *taken = *first;
  if (taken) {
    *first = taken->next;
    if (!*first && answer) queue.end_answers = first;
    if (!*first && !answer) queue.end = first;
    __atomic_fetch_sub(answer ? &queue.answer_count : &queue.count, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&queue.lock);
  return taken;
}

/* Calls the package's dispatcher. The message is freed. Returns 0 or -1. */
static int dispatch(struct message *message) {
  PyObject *done = PyObject_CallFunction(tmbpy.hooks[TMBPY_DISPATCH], "IIKy#", message->kind,
                                         message->source, (unsigned long long)message->id,
                                         message->payload, (Py_ssize_t)message->bytes);
  free(message);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

int tmbpy_message_serve(void) {
  struct message *message;
  while ((message = take(true)) != NULL)
    if (dispatch(message) != 0) return -1;
  while (__atomic_load_n(&queue.count, __ATOMIC_ACQUIRE)) {
    if (!begin_run()) return 0;
    message = take(false);
    const int failed = message ? dispatch(message) : 0;
    end_run();
    if (failed) return -1;
  }
  return 0;
}

/* ---- sending */

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
        tmbpy.tm, s->rank, HANDLER_INDEX, s->payload + s->offset, piece, GEX_EVENT_NOW,
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
  s.most = gex_AM_MaxRequestMedium(tmbpy.tm, s.rank, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, NARGS);
  const struct tmbpy_aim aim = {send_pieces, &s, "send", GEX_EVENT_INVALID};
  const int failed = tmbpy_wait(&aim, -1);
  PyBuffer_Release(&view);
  if (failed) return NULL;
  Py_RETURN_NONE;
}
