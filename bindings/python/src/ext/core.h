/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.h: what the files of the extension module `tombolo._core` share.
 *
 * Owns the declarations of the types Team, Array and Future, and of the state of the process. The
 * Python files of the package are the only callers of the module. Calls: the public headers of
 * Tombolo and the C API of Python, the limited one (3.11) except in free-threaded builds.
 * Invariants: every function that takes or returns a PyObject needs the interpreter lock (GIL);
 * those that wait release it. A function that returns -1 or NULL has set an exception.
 */
#ifndef TMBPY_CORE_H
#define TMBPY_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include "gasnet_ratomic.h"
#include "gasnet_vis.h"
#include "gasnetex.h"
#include "gasnetex_ext.h"

#define TMBPY_MAX_DIMS 16 /* most axes of an array */
#define TMBPY_HOLD_BYTES                                                  \
 (64 << 10) /* a copy of at most so many bytes keeps the interpreter lock \
             */

/* A method that takes its arguments as an array. */
#define FAST(f) ((PyCFunction)(void (*)(void))(f))

/* Defines the function of a property: VALUE is made of `self`. */
#define TMBPY_GETTER(NAME, STRUCT, VALUE)                \
 static PyObject *NAME(PyObject *object, void *unused) { \
  STRUCT *self = (STRUCT *)object;                       \
  (void)unused;                                          \
  return VALUE;                                          \
 }

/* Defines the specification of a type of the module; behind DOC its slots. */
#define TMBPY_TYPE(SPEC, NAME, STRUCT, FLAGS, DOC, ...)                                      \
 static PyType_Slot SPEC##_slots[] = {{Py_tp_doc, DOC}, __VA_ARGS__, {0, NULL}};             \
 PyType_Spec SPEC = {"tombolo._core." NAME, sizeof(STRUCT), 0, Py_TPFLAGS_DEFAULT | (FLAGS), \
                     SPEC##_slots}

/* ---- state.c: the process */

/* The state of this process in its job; written by start and end, read under the GIL. */
struct tmbpy_process {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  uint32_t rank, size;
  bool started;     /* tombolo.init has succeeded */
  uint32_t closed;  /* the program is over; atomic: message handlers read it */
  uint32_t forked;  /* this process is a copy that fork() made */
  uint32_t reports; /* the failure policy is to report; atomic */
  uint64_t quiet;   /* futures of generations below this count as waited for; atomic */
  PyTypeObject *team_type, *array_type, *future_type, *semaphore_type, *notify_type;
  PyTypeObject *device_type, *memory_type, *team_base_type;
  uint32_t watched;   /* futures have callbacks that have not run; atomic */
  PyObject *hooks[9]; /* functions of the package, by enum tmbpy_hook */
};
extern struct tmbpy_process tmbpy;

/* Functions of the package that the extension calls. */
enum tmbpy_hook {
  TMBPY_EMPTY,     /* (shape, dtype) -> new array */
  TMBPY_COERCE,    /* (value, dtype) -> array of that dtype */
  TMBPY_DISPATCH,  /* (kind, source, id, payload): runs the handler of a message */
  TMBPY_FORGOTTEN, /* (what, done): reports a future that nobody has waited for */
  TMBPY_AWAIT,     /* (future) -> iterator for `await` */
  TMBPY_SCALAR,    /* (memory, dtype) -> NumPy scalar */
  TMBPY_PLACE,     /* () -> file and line of the program that calls the package */
  TMBPY_WATCH,     /* (future, function): calls it when the future is complete; (): looks */
  TMBPY_LOST,      /* (what, jobrank): raises the exception of an operation that met a loss */
  TMBPY_HOOKS
};

/* Whether operations are possible now. Returns 0, or -1 with an exception that says why not. */
int tmbpy_check(void);

/* ---- wait.c: waits that serve messages and signals of the interpreter */

/* Whether what is waited for has happened. Runs without the GIL; may be called again after true. */
typedef bool (*tmbpy_ready_fn)(void *arg);

/* The condition that a wait ends with. */
struct tmbpy_aim {
  tmbpy_ready_fn ready;
  void *arg;
  const char *what;  /* for people: the call that waits; constant */
  gex_Event_t event; /* that ready() tests, GEX_EVENT_INVALID: another condition */
};

/* Waits until aim->ready(aim->arg). [in] timeout_s: seconds, negative: no limit. Runs progress,
 * handlers of messages, and the interpreter's signal handlers; releases the GIL. `tombolo why`
 * names the call and the line of the program. Returns 0: ready; 1: the time has passed; -1: a
 * handler has raised, as KeyboardInterrupt. */
int tmbpy_wait(const struct tmbpy_aim *aim, double timeout_s);

/* Reads the argument `timeout` of a wait. [out] timeout_s: negative: None, no limit. Returns 0, or
 * -1 with an exception that names it. */
int tmbpy_wait_limit(PyObject *timeout, double *timeout_s);

/* One poll, and the handlers of messages that are here. Returns 0 or -1. */
int tmbpy_poll(void);

/* Runs the callbacks of futures that are complete. Returns 0 or -1. */
int tmbpy_wait_callbacks(void);

/* Before a wait: serves what has come. Returns 0 or -1. */
int tmbpy_wait_serve(void);

/* Method poll(timeout_s). */
PyObject *tmbpy_wait_poll(PyObject *module, PyObject *arg);

/* ---- inbox.c, message.c: messages with Python handlers */

/* Registers the handler of messages with the endpoint. Returns 0 or -1. */
int tmbpy_message_register(void);

/* Whether a message waits whose handler may run now, on this thread. Any thread, without the GIL.
 */
bool tmbpy_message_waits(void);

/* Runs the handlers of messages that wait. Returns 0 or -1. */
int tmbpy_message_serve(void);

/* Tells the package of a lost rank, as a message of that rank. Normal context, without the GIL. */
void tmbpy_message_lost(gex_Rank_t jobrank, int state);

/* Method send(rank, kind, id, payload). */
PyObject *tmbpy_message_send(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* ---- future.c */

/* A reduction by a Python function; lives until the operation is complete. */
struct tmbpy_operator {
  PyObject *function;
  PyObject *raised; /* the first exception, NULL: none */
  Py_ssize_t itemsize;
};

/* An operation in progress. Its memory is held until it is complete. */
struct tmbpy_future {
  PyObject_HEAD gex_Event_t event;
  uint32_t lock;   /* one thread tests the event at a time; atomic */
  uint32_t done;   /* atomic */
  bool by_message; /* completed by resolve(), not by an event */
  bool seen;       /* waited for, or found done */
  bool lost;       /* has met a lost rank; written under the lock */
  gex_Rank_t lost_rank;
  uint64_t generation; /* against tmbpy.quiet */
  int nviews;
  Py_buffer views[2];
  PyObject *result;                /* what wait() returns, NULL: None */
  struct tmbpy_array *number_of;   /* result has one element of it: wait() returns the number */
  PyObject *error;                 /* what wait() raises instead */
  struct tmbpy_operator *operator; /* NULL: none */
  void *lists;                     /* of malloc: what the operation reads until it is complete */
  const char *what;                /* the call that has made it; constant text */
};

/* A future of no event yet. [in] what: the call that makes it. Returns a new reference. */
struct tmbpy_future *tmbpy_future_new(const char *what);

/* Moves a view into a future, which releases it when it is complete. */
void tmbpy_future_hold(struct tmbpy_future *future, Py_buffer *view);

/* Gives a future its event. */
void tmbpy_future_set(struct tmbpy_future *future, gex_Event_t event);

/* Drops a future whose operation was not started. */
void tmbpy_future_discard(struct tmbpy_future *future);

/* Waits for a future of this extension. Returns 0 or -1. */
int tmbpy_future_finish(struct tmbpy_future *future);

/* Waits for a future and drops it. Returns its result as a new reference, or NULL. */
PyObject *tmbpy_future_take(struct tmbpy_future *future);

/* All futures so far count as waited for. Returns how many were not. */
Py_ssize_t tmbpy_future_quiet(void);

extern PyType_Spec tmbpy_future_spec;

/* ---- orphan.c: operations that outlive their future */

/* Releases the memory of operations that nobody waits for any more and that are complete. */
void tmbpy_orphan_reap(void);

/* Keeps what the operation of a future uses that is freed. Without memory for that, it waits. */
void tmbpy_orphan_adopt(struct tmbpy_future *future);

/* Releases the buffers of an operation that is complete; *count becomes 0. */
void tmbpy_orphan_release(Py_buffer *views, int *count);
void tmbpy_orphan_free_operator(struct tmbpy_operator *operator);

/* ---- team.c */

struct tmbpy_team {
  PyObject_HEAD gex_TM_t tm;
  uint32_t rank, size;
  intptr_t *delta; /* [size] what to add to an address of that rank; GEXX_UNMAPPED: far */
  char **base;     /* [size] address of the segment of that rank, in its space */
};

/* The team object of a team. Returns a new reference. */
PyObject *tmbpy_team_new(gex_TM_t tm);

/* Reads a rank of a team. [in] call: name for the message. Returns 0 or -1. */
int tmbpy_team_rank(struct tmbpy_team *team, PyObject *value, uint32_t *rank);

/* A team argument: the team, or NULL with an exception. */
struct tmbpy_team *tmbpy_team_of(PyObject *object);

extern PyType_Spec tmbpy_team_spec, tmbpy_team_base_spec;

/* ---- device.c: memory of devices */

/* A segment of this rank in memory of a device, and where the members of a team have theirs. */
struct tmbpy_device {
  PyObject_HEAD gex_MK_t kind;
  gex_EP_t ep; /* of this rank, bound to the segment */
  void *addr;  /* of the segment */
  struct tmbpy_team *team;
  gex_EP_Index_t *index; /* [team->size] of the members' endpoints; NULL: not published */
};

/* A part of such a segment of this rank. */
struct tmbpy_memory {
  PyObject_HEAD struct tmbpy_device *device;
  PyObject *array; /* a NumPy array with addresses of the device */
};

extern PyType_Spec tmbpy_device_spec, tmbpy_memory_spec;

/* ---- dlpack.c */

/* Methods dlpack(owner, address, shape, strides, code, bits, device, id, versioned) and
 * undlpack(capsule). */
PyObject *tmbpy_dlpack_export(PyObject *module, PyObject *args);
PyObject *tmbpy_dlpack_import(PyObject *module, PyObject *capsule);

/* ---- array.c */

struct tmbpy_array {
  PyObject_HEAD struct tmbpy_team *team;
  struct tmbpy_device *device; /* whose memory the parts are in, NULL: host */
  char **addr; /* [size] where each rank has its part, in its own space; NULL: freed */
  PyObject *block, *dtype, *shape_object;
  char *format; /* of the buffer protocol */
  char kind;    /* of NumPy: b i u f c V ... */
  int ndim;
  uint32_t view_rank; /* whose part the buffer protocol gives */
  Py_ssize_t itemsize, exports, nbytes;
  Py_ssize_t shape[TMBPY_MAX_DIMS], strides[TMBPY_MAX_DIMS];
  gex_AD_t domain; /* of the atomics of this type, or GEX_AD_INVALID */
  gex_DT_t dt;     /* its type, 0: none */
};

extern PyType_Spec tmbpy_array_spec;

/* The offset that turns an address of a part into one of this process; GEXX_UNMAPPED: by operations
 * only. */
static inline intptr_t tmbpy_array_delta(const struct tmbpy_array *array, uint32_t rank) {
  return array->device ? GEXX_UNMAPPED : array->team->delta[rank];
}

/* ---- index.c */

/* A part of an array on one rank: a strided box. */
struct tmbpy_region {
  uint32_t rank;
  char *addr; /* of its first element, in the space of the owner */
  int ndim;
  Py_ssize_t count; /* elements */
  Py_ssize_t shape[TMBPY_MAX_DIMS], strides[TMBPY_MAX_DIMS];
};

/* Reads `key`, an index as of NumPy (integers, slices, ...), from item `first` on if it is a tuple.
 * [in] rank: checked. [out] region. Returns 0 or -1. */
int tmbpy_index_parse(struct tmbpy_array *array, uint32_t rank, PyObject *key, Py_ssize_t first,
                      struct tmbpy_region *region);

/* Whether an index, or an item of a tuple from `first` on, is a list or an array with axes. */
bool tmbpy_index_is_fancy(PyObject *key, Py_ssize_t first);

/* Whether a box is contiguous in C order. */
bool tmbpy_index_contiguous(int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
                            Py_ssize_t itemsize);

/* Stretches the strides of a buffer to the shape of a region, as NumPy broadcasts. [out] strides.
 * Returns 0, or -1 with an exception that names both shapes. */
int tmbpy_index_broadcast(const struct tmbpy_region *region, const Py_buffer *view,
                          Py_ssize_t *strides);

/* The shape of a region as a tuple. */
PyObject *tmbpy_index_shape(const struct tmbpy_region *region);

/* A tuple of lengths: a new reference, or NULL. */
PyObject *tmbpy_index_tuple(int ndim, const Py_ssize_t *lengths);

/* ---- transfer.c: puts and gets of regions */

/* The action after a put or get, once the data are there. */
enum tmbpy_after_kind { TMBPY_SIGNAL, TMBPY_TAG, TMBPY_POST };

/* A signal that changes, a notification with a tag, or a post of a semaphore of that rank. */
struct tmbpy_after {
  enum tmbpy_after_kind kind;
  uint64_t *addr;        /* TMBPY_SIGNAL: the word */
  int op;                /* TMBPY_SIGNAL: GEXX_SIG_SET or ADD */
  uint64_t value;        /* of the signal, the tag, or how often to post */
  gexx_Sem_Handle_t sem; /* TMBPY_POST */
};

/* How an operation reaches a part: [in] local: device of the local buffer, NULL: host; [in,out]
 * rank: in the array's team, then in *tm, which is the team or a pair of endpoints. */
void tmbpy_transfer_route(const struct tmbpy_array *array, const struct tmbpy_device *local,
                          gex_TM_t *tm, gex_Rank_t *rank);

/* NumPy's letter for the kind of a native format of the buffer protocol; 0: none of b i u f c. */
char tmbpy_transfer_kind(const char *format);

/* Starts a put of `value` into a region. [in] after: NULL: nothing follows. Returns a future, or
 * NULL. */
struct tmbpy_future *tmbpy_transfer_put(struct tmbpy_array *array,
                                        const struct tmbpy_region *region, PyObject *value,
                                        const struct tmbpy_after *after);

/* Puts one element of a built-in type, and returns when it is there. Returns 1: done; 0: the value
 * needs the general way; -1: an exception. */
int tmbpy_transfer_put_scalar(struct tmbpy_array *array, uint32_t rank, char *addr,
                              PyObject *value);

/* Starts a get of a region into `out`, or into a new array if that is NULL. [in] after: NULL, or of
 * kind TMBPY_TAG. Returns a future with the array as its result. */
struct tmbpy_future *tmbpy_transfer_get(struct tmbpy_array *array,
                                        const struct tmbpy_region *region, PyObject *out,
                                        const struct tmbpy_after *after);

/* Gets one element. Returns a Python number, or a NumPy scalar. */
PyObject *tmbpy_transfer_get_scalar(struct tmbpy_array *array, uint32_t rank, char *addr);

/* ---- access.c: the part of an array that arguments name */

/* Raises if the array was freed. Returns 0 or -1. */
int tmbpy_array_check(struct tmbpy_array *array);

/* Reads (rank, index), the first two arguments of a method. An index of None is the whole part.
 * Returns 0 or -1. */
int tmbpy_array_place(struct tmbpy_array *array, PyObject *const *args,
                      struct tmbpy_region *region);

/* Gets a region that tmbpy_array_place has found. in index: as of the call; with None a part
 * without dimensions is an array, else a number. in out: the array to fill, or None. in after: or
 * NULL. */
struct tmbpy_future *tmbpy_array_get(struct tmbpy_array *array, const struct tmbpy_region *region,
                                     PyObject *index, PyObject *out,
                                     const struct tmbpy_after *after);

/* ---- number.c: elements as Python numbers */

/* Whether elements of that kind and size become plain Python numbers. [in] value; [out] word: the
 * element's bytes. Returns 1: stored; 0: the value needs the general way; -1: an exception. */
int tmbpy_number_pack(char kind, Py_ssize_t itemsize, PyObject *value, void *word);

/* The number in a result of tmbpy_transfer_get that has one element. Returns a new reference. */
PyObject *tmbpy_number_of(struct tmbpy_array *array, PyObject *got);

/* Reads an integer of 64 bits without a sign, of at least `least`. [in] name: of the argument, for
 * people. Returns 0, or -1 with an exception that names it. */
int tmbpy_number_word(PyObject *value, const char *name, uint64_t least, uint64_t *word);

/* The Python number of an element. */
PyObject *tmbpy_number_unpack(struct tmbpy_array *array, const void *word);

/* ---- lists.c */

/* Methods of arrays: puts and gets of lists of regions of one rank. */
PyObject *tmbpy_lists_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_lists_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* Methods of arrays: puts and gets of elements of one rank, by their numbers in its part. */
PyObject *tmbpy_lists_put_elements(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_lists_get_elements(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* ---- notify.c */

/* Methods of arrays: puts and gets that end in a notification or in a post. */
PyObject *tmbpy_notify_put(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_notify_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_notify_put_post(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* Method post(name, n): posts a semaphore of any rank. */
PyObject *tmbpy_notify_post(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* ---- watch.c: module function touch */
PyObject *tmbpy_watch_touch(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

extern PyType_Spec tmbpy_semaphore_spec, tmbpy_notify_spec;

/* ---- failure.c */

/* Raises when an operation of this thread that has no event met a loss. Returns 0 or -1. */
int tmbpy_failure_check(const char *what);

/* Methods of the module: policy(report), peer(jobrank), lost(), shrink(team). */
PyObject *tmbpy_failure_policy(PyObject *module, PyObject *arg);
PyObject *tmbpy_failure_peer(PyObject *module, PyObject *arg);
PyObject *tmbpy_failure_lost(PyObject *module, PyObject *unused);
PyObject *tmbpy_failure_shrink(PyObject *module, PyObject *team);

/* ---- atomic.c */

/* Methods of arrays: operations on one element of a rank. */
PyObject *tmbpy_atomic_op(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* Whether the array has atomic operations. Returns 0, or -1 with a TypeError. */
int tmbpy_atomic_check(struct tmbpy_array *array);

/* Method domain(team, dt): makes an atomic domain; collective. Returns its address as a number. */
PyObject *tmbpy_atomic_domain(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* ---- batch.c */

/* Method of arrays: one operation on each of many elements, on any ranks. */
PyObject *tmbpy_atomic_batch(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* ---- signal.c */

/* Methods of arrays of uint64: waits of the owner. */
PyObject *tmbpy_signal_wait(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_signal_consume(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tmbpy_signal_some(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

/* ---- coll.c, coll_v.c */

/* Opens a buffer that may be None, and lets the future hold it. [out] address: NULL for None.
 * Returns 0 or -1. */
int tmbpy_coll_open(PyObject *object, int flags, struct tmbpy_future *future, void **address);

/* Method collective(team, kind, root, dst, src, nbytes, dt, count, op, function): starts one.
 * Returns a future with dst as its result. */
PyObject *tmbpy_coll_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Method collective_v(team, kind, root, dst, src, lengths): starts one whose blocks have different
 * lengths. Returns a future with dst as its result. */
PyObject *tmbpy_coll_v_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Method allreduce(team, dst, src, op): the whole call, for two contiguous arrays of one type that
 * the library knows. Returns dst, or NotImplemented for anything else. */
PyObject *tmbpy_coll_allreduce(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

#endif
