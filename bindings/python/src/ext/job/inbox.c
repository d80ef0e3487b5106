/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that have arrived, and the handlers of the program that they run.
 *
 * Owns the queue of messages that have arrived, and the parts of those that are longer than one
 * active message. Called by the waits and polls of this folder. Calls: active messages
 * (Medium), which bring pieces of at most their limit; the package's dispatcher.
 * Invariants: the handler of the active messages runs no Python and takes only the lock of the
 * queue; handlers of messages of one source begin in the order in which they were sent; handlers of
 * the program run on one thread at a time, where a further one may run while one waits.
 */
#include "message.h"

#include <pthread.h>
#include <stdlib.h>

#define DEPTH_MAX 64 /* handlers of the program that wait inside each other */

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
  struct message *answers, **end_answers; /* the same of TMBPY_KIND_ANSWER and above */
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
  if (message->kind >= TMBPY_KIND_ANSWER) {
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

/* A piece has arrived. After the end of the program a call is answered with TMBPY_KIND_ENDED. */
/* tidy-allow: params because a handler gets its arguments one by one (API 02.1) */
static void on_piece(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t kind,
                     gex_AM_Arg_t id0, gex_AM_Arg_t id1, gex_AM_Arg_t bytes0, gex_AM_Arg_t bytes1,
                     gex_AM_Arg_t offset0, gex_AM_Arg_t offset1) {
  gex_Token_Info_t info;
  const uint64_t id = join64(id0, id1);
  const size_t bytes = join64(bytes0, bytes1), offset = join64(offset0, offset1);
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  if (__atomic_load_n(&tmbpy.closed, __ATOMIC_ACQUIRE)) {
    if (kind == TMBPY_KIND_CALL && offset == 0)
      gex_AM_ReplyMedium(token, TMBPY_MESSAGE_INDEX, NULL, 0, GEX_EVENT_NOW, 0,
                         (gex_AM_Arg_t)TMBPY_KIND_ENDED, id0, id1, 0, 0, 0, 0);
    else if (kind == TMBPY_KIND_SEND)
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
  message->kind = TMBPY_KIND_LOST;
  message->id = (uint64_t)state;
  pthread_mutex_lock(&queue.lock);
  append(message);
  pthread_mutex_unlock(&queue.lock);
}

int tmbpy_message_register(void) {
  gex_AM_Entry_t entry = {TMBPY_MESSAGE_INDEX,
                          (gex_AM_Fn_t)on_piece,
                          GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP,
                          TMBPY_MESSAGE_NARGS,
                          NULL,
                          "python message"};
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
