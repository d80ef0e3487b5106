/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record and replay in a rank.
 *
 * Owns: struct rpl, the state of this process. tombolo-replay.so is loaded before the program
 * (LD_PRELOAD) and defines the calls of the API in which the order of the job can be seen. A rank
 * is a sequence of such calls. What it sees of others is an event at a position in this sequence:
 * a handler that ran, a test that was true, a value that was read. A recording writes the events.
 * A replay makes them happen at the same positions: a handler that comes too early is held back, a
 * test is false until its turn, and at its turn the call waits until it is true. No wait can be in
 * vain: an event depends only on events that were before it in the recording. A rank has one such
 * sequence for each thread that the program has made. Handlers have one order in the rank: each has
 * a position of the first thread, which has started the job, and one of the thread that ran it.
 * Invariant: calls inside a call and in handlers have no position of their own.
 */
#ifndef TMB_RPL_H
#define TMB_RPL_H

#include "check/local.h"
#include "replay/log.h"

#include <gasnet.h>
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <stdbool.h>

#define RPL_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The calls: a constant RPL_CALL_NAME and a pointer to the library's function for each. */
enum rpl_call {
  RPL_NO_CALL,
#define RPL_POINT(n, ret, name, ...) RPL_CALL_##name,
#define RPL_OTHER(name)              RPL_CALL_##name,
#include "replay/runtime/points.def"
#undef RPL_POINT
#undef RPL_OTHER
  RPL_CALLS
};

struct rpl_real {
#define RPL_POINT(n, ret, name, ...) __typeof__(&name) name;
#define RPL_OTHER(name)              __typeof__(&name) name;
#include "replay/runtime/points.def"
#undef RPL_POINT
#undef RPL_OTHER
};
extern struct rpl_real rpl_real;

enum rpl_mode { RPL_OFF, RPL_RECORDS, RPL_REPLAYS, RPL_CHAOS };

struct rpl {
  enum rpl_mode mode;
  bool python; /* its threads have no order */
  uint32_t rank, ranks;
  struct rpl_area *area;
  const char *folder; /* of the files, NULL under chaos alone */
  struct {            /* the program's function for losses, and those that have come too early */
    gexx_Failure_Fn_t fn;
    void *cdata;
    uint8_t *early; /* [ranks] state, 0: none; owned */
  } loss;
};
extern struct rpl rpl;

/* A file of events that is written or read. */
struct rpl_log {
  struct rpl_head *head;    /* NULL: there is none */
  struct rpl_event *events; /* recording: the group; replay: all */
  uint64_t count;           /* of events in the file */
  uint64_t next;            /* of the group, or to be replayed */
  uint64_t *sums;           /* recording: of the group */
  uint64_t before, hash;    /* recording: of the last block without its last event, and with it */
  uint32_t newer;           /* recording: which count of the head is the newer one */
  int fd;
};

struct rpl_seen; /* words.c */

/* A thread of this rank. */
struct rpl_thread {
  uint32_t id, children; /* RPL_ID_FIRST, or made of the way from the main thread */
  bool ended;
  struct rpl_thread *next; /* of rpl_threads */
  struct rpl_log log;
  /* The position: the call that has begun last. */
  uint32_t run, repeat;
  enum rpl_call call;
  const void *pc; /* its return address */
  bool inside;    /* a call is in progress */
  bool left;      /* the call of the position has ended */
  bool stepping;  /* in a step of a wait for a condition, which has no position */
  bool locked;    /* it has taken a lock since the call of the position */
  struct {        /* the call of the position, during a step */
    enum rpl_call call;
    const void *pc;
  } before;
  gex_EC_t nbi; /* of implicit handles that were started and not found complete */
  struct {      /* of an event whose loop is over: it comes in any one; numbers are from 1 */
    uint64_t number, looked, since_ns;
  } late;
  struct rpl_seen *seen; /* owned */
};

extern struct rpl_thread rpl_first;    /* the thread that has started the job */
extern struct rpl_thread *rpl_threads; /* the others, newest first; under the lock */
/* The calling thread, NULL: not followed, as are threads of a library of ours. */
extern _Thread_local struct rpl_thread *rpl_own;

static inline bool rpl_on(void) {
  return RPL_UNLIKELY(rpl.mode != RPL_OFF) && rpl_own;
}

/* Rank in the job of one in a team, or of a pair. */
static inline uint32_t rpl_jobrank(gex_TM_t tm, gex_Rank_t rank) {
  return tm->jobrank ? tm->jobrank[rank] : rank;
}

/* The lock of positions and logs. Other threads than the first one note messages that come to them,
 * and wait for the turn of these. */
void rpl_lock(void);
void rpl_unlock(void);
/* A lock of one word, 0: free. */
void rpl_word_lock(uint32_t *word);
void rpl_word_unlock(uint32_t *word);

/* ---- threads.c */

/* Number the threads that exist; the calling one is the first. */
void rpl_threads_start(void);
void rpl_threads_end(void);
/* The thread with this ID, NULL: it has not been made. Under the lock. */
struct rpl_thread *rpl_thread_of(uint32_t id);
/* A call begins. Says once of a recording that its calls come from several threads in turns, where
 * these have no order. Under the lock. */
void rpl_threads_call(const struct rpl_thread *t);
/* Whether the program has made a thread. */
bool rpl_threads_made(void);

/* ---- turns.c */

/* The order of what threads do one after the other. */
struct rpl_turns {
  const char *file, *what; /* name of the file; for messages */
  bool polls;              /* a wait for a turn polls */
  bool given_up, said;
  uint32_t mutex; /* of rpl_turn_begin and rpl_turn_end */
  struct rpl_log log;
  uint64_t next;  /* of the events, in a replay */
  uint32_t taken; /* of the turns of that event */
};
#define RPL_NO_TURN (-1)
bool rpl_turns_open(struct rpl_turns *o);
void rpl_turns_close(struct rpl_turns *o);
/* Whether what the calling thread does now has an order. */
bool rpl_turns_on(const struct rpl_turns *o);
/* Recording: it was the calling thread's turn. in failure: of a try; 0: none. */
void rpl_turn_note(struct rpl_turns *o, int failure);
/* Replay: wait for the turn of the calling thread. Returns 0, the recorded failure, or RPL_NO_TURN;
 * but for the last the caller is to call rpl_turn_taken. */
int rpl_turn(struct rpl_turns *o);
void rpl_turn_taken(struct rpl_turns *o);

/* Around a call whose success is an event, which threads make one at a time. in outer: it counts;
 * rc: of the call, GASNET_OK: success. The first returns what the second needs, the second rc. */
int rpl_turn_begin(struct rpl_turns *o, bool outer);
int rpl_turn_end(struct rpl_turns *o, int turn, int rc);

/* ---- locks.c, sends.c, signals.c */

bool rpl_locks_open(void);
void rpl_locks_close(void);
bool rpl_sends_open(void);
void rpl_sends_close(void);
bool rpl_takes_open(void);
void rpl_takes_close(void);

/* ---- order.c: positions, and handlers in their turn */

/* A call begins. In a replay first runs the handlers that ran before it. Returns whether it has a
 * position. in pc: return address of the wrapper. */
bool rpl_enter(enum rpl_call call, const void *pc);
/* A step of a wait for a condition begins, and ends. A loop that waits makes any number of steps,
 * also none, so they have no position: their handlers run between the call before and the next one,
 * and in a replay in a loop of the same line. Returns whether they are followed. */
bool rpl_step_begin(const void *pc);
void rpl_step_end(void);
/* The calling thread has taken a lock, outside of handlers, which is a position, too: the condition
 * of such a wait may take it, and handlers that run in the step. */
void rpl_has_locked(void);
/* A call ends. In a replay first runs the handlers that ran in it. in outer: result of rpl_enter.
 */
void rpl_leave(bool outer);

/* Run all handlers that chaos has held back; before the end of the job. */
void rpl_flush(void);

static inline enum rpl_kind rpl_kind_of(const struct rpl_event *e) {
  return (enum rpl_kind)(e->kind & ~RPL_BETWEEN);
}

/* Whether the calling thread runs a handler. */
bool rpl_in_handler(void);

/* Note an event that may be between two calls of the first thread: a handler, or a loss. */
void rpl_note_between(enum rpl_kind kind, uint32_t from, uint8_t detail);
/* Run the handlers of the calling thread whose turn has come. */
void rpl_run_handlers(void);
/* One step of a wait in a replay: polls. in,out steps: 0 at the begin. in what: for messages. */
void rpl_wait_step(uint64_t *steps, const char *what);
/* Called by the library before a handler of a client runs, and behind it with msg NULL; a
 * gexx_gate_fn. */
int rpl_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg, uint32_t number);

/* ---- cut.c: replay of a rank that was killed */

/* Whether the recording of the calling thread breaks off in the call of its position, or before;
 * then what follows has no order. */
bool rpl_cut_pass(void);
/* The same in a poll of the first thread, which waits: once nothing else moves. */
void rpl_cut_poll(void);

/* ---- position.c: whether the turn of an event has come */

/* Text of an event, for messages. */
void rpl_describe(const struct rpl_event *e, char *text, size_t bytes);
/* Whether the turn of the next event of a thread has come. */
bool rpl_turn_of(const struct rpl_thread *t, const struct rpl_event *e);
/* Whether an event comes to this rank in any call: a handler, or the report of a loss. */
bool rpl_is_handler(const struct rpl_event *e);
/* Whether an event's position is before that of a thread (below 0), at it, or behind it. */
int rpl_compare(const struct rpl_thread *t, const struct rpl_event *e);
/* End the job: this rank has left the order. in t: the thread; e: its event that does not happen,
 * NULL: the end of the recording; found: what happens instead. The second: of the calling thread.
 */
void rpl_deviate_from(const struct rpl_thread *t, const struct rpl_event *e, const char *found);
void rpl_deviate(const char *found) __attribute__((noreturn));

/* ---- events.c: events that the calling thread notes or takes */

/* Note an event at this position. */
void rpl_note(enum rpl_kind kind, uint32_t arg);
void rpl_note_value(uint64_t value, uint8_t detail);
/* Replay: the next event, if it is of this kind and its turn has come, and NULL otherwise. Handlers
 * before it run first. Reports a deviation if another event's turn has come. */
const struct rpl_event *rpl_due(enum rpl_kind kind);
/* Replay: whether there is an event of this kind at this position, behind those of handlers. */
bool rpl_is_here(enum rpl_kind kind);
/* Replay: whether an event of a rank that has come is the next one, or behind the end; takes it. */
bool rpl_comes(enum rpl_kind kind, uint32_t from);
/* Take the event that rpl_due has returned. */
void rpl_take(void);
/* The value of an event of kind RPL_VALUE, which is taken. out detail: NULL: not asked for. */
uint64_t rpl_take_value(uint8_t *detail);
/* Take the next event if it is of this kind, which always follows another one. */
bool rpl_take_more(enum rpl_kind kind, uint32_t *arg);

/* ---- words.c: values of words */

/* The value of a word that others change, which `read` gives: noted if it is another one than that
 * of the last read of this word. A replay waits until the word has the recorded value. in rank,
 * addr: name of the word; read, arg: reads it now. */
uint64_t rpl_see(uint32_t rank, const void *addr, uint64_t (*read)(void *arg), void *arg);
/* An atomic operation of the program. The first only reads. The second has a turn among those that
 * change a word, if it does, else it is a value that is read. in pc: the line; read: returns the
 * value; change: does it, and returns the value before, out after: and behind. */
uint64_t rpl_look(const void *pc, uint64_t (*read)(void *arg), void *arg);
uint64_t rpl_change(const void *pc, uint64_t (*change)(void *arg, uint64_t *after), void *arg,
                    uint64_t (*read)(void *arg));
/* A call writes a word of a rank of the job and is complete when it returns: around it. */
struct rpl_bucket *rpl_write_begin(uint32_t rank, const void *addr);
void rpl_write_end(struct rpl_bucket *bucket);
/* This rank has changed a word of its own. */
void rpl_written(const void *addr);

/* A wrapper begins: it is a position until the function returns, wherever that is. */
static inline void rpl_end(const bool *outer) {
  if (*outer) rpl_leave(true);
}
#define RPL_ENTER(name)                               \
 const bool outer __attribute__((cleanup(rpl_end))) = \
     rpl_enter(RPL_CALL_##name, __builtin_return_address(0))

/* The result of a call, which a recording notes and chaos makes late, if it `may`. */
#define RPL_RESULT_NOW(may, fn, not_yet, args)                                       \
 const int rc = (may) && rpl_chaos_late() ? (not_yet) : fn args;                     \
 if (rpl.mode == RPL_RECORDS && rc != (not_yet)) rpl_note(RPL_RESULT, (uint32_t)rc); \
 return rc

/* The rest of a wrapper whose call may report "not yet"; in fn: does the call; not_yet: the result
 * that is not noted; args: of the call, in parentheses. */
#define RPL_RESULT_IF(may, name, fn, not_yet, args)                         \
 RPL_ENTER(name);                                                           \
 if (!outer) return rpl_real.name args;                                     \
 if (rpl.mode != RPL_REPLAYS) {                                             \
  RPL_RESULT_NOW(may, fn, not_yet, args);                                   \
 }                                                                          \
 const struct rpl_event *const e = rpl_due(RPL_RESULT);                     \
 if (!e) return rpl_log_knows() ? (not_yet) : fn args;                      \
 const int rc = (int)e->arg;                                                \
 uint64_t steps = 0;                                                        \
 while (fn args == (not_yet)) rpl_wait_step(&steps, "waiting for its end"); \
 rpl_take();                                                                \
 return rc
#define RPL_RESULT_OF(name, not_yet, args) RPL_RESULT_IF(true, name, rpl_real.name, not_yet, args)

/* ---- results.c: calls that may be refused (GEX_FLAG_IMMEDIATE) */

/* Whether a call is refused here, at its position, and the library is not asked: in a replay, where
 * it was in the recording, and by chaos. in,out flags: of the call; one that was not refused in the
 * recording is done to its end. */
bool rpl_refused(gex_Flags_t *flags);
/* The library has done such a call, or refused it. in flags: before rpl_refused. */
void rpl_answered(gex_Flags_t flags, bool is_done);
/* The flags of a reply: those of handlers have no position, so they are not refused. */
gex_Flags_t rpl_reply_flags(gex_Flags_t flags);

/* ---- still.c */

/* Whether other ranks wait, too, and have not moved for a time: asked again and again in a wait. */
bool rpl_still(void);
uint64_t rpl_now_ns(void);

/* This rank has moved, or has made a step of a loop that waits; its first thread is in a call. */
static inline void rpl_moved(void) {
  __atomic_fetch_add(&rpl.area->rank[rpl.rank].stand.moves, 1, __ATOMIC_RELAXED);
}
static inline void rpl_stepped(void) {
  __atomic_fetch_add(&rpl.area->rank[rpl.rank].stand.steps, 1, __ATOMIC_RELAXED);
}
static inline void rpl_is_inside(bool inside) {
  __atomic_store_n(&rpl.area->rank[rpl.rank].stand.inside, inside, __ATOMIC_RELAXED);
}

/* The calling thread waits for others, outside of calls: if it is the first one, the rank does not
 * compute. Returns what the second needs. */
static inline bool rpl_wait_begin(void) {
  const bool waits = rpl_on() && rpl_own == &rpl_first && !rpl_own->inside;
  if (waits) rpl_is_inside(true);
  return waits;
}
static inline void rpl_wait_end(bool waits) {
  if (waits) rpl_is_inside(false);
}

/* ---- chaos.c */

/* Read SEED or SEED:LIST. */
void rpl_chaos_start(const char *text);
bool rpl_chaos_on(void);
/* Delay this call, or not. */
void rpl_chaos_delay(void);
/* For how many polls a message is held back, which has just come. in series: of [ranks][2], the
 * sender and whether it is a reply; number: in the series, from 0. */
uint32_t rpl_chaos_hold(uint32_t series, uint32_t number);
/* Whether the result of this call is "not yet". */
bool rpl_chaos_late(void);

/* ---- log.c: the file of this rank */

/* Open the files of the rank in rpl.folder, and those of further logs. in name: "rank.%u.%x" or the
 * like; id: for it. Return false with errno, or 0 if the file is damaged. */
bool rpl_log_create(void);
bool rpl_log_open(void);
bool rpl_log_create_at(struct rpl_log *l, const char *name, uint32_t id);
bool rpl_log_open_at(struct rpl_log *l, const char *name, uint32_t id);
/* Append to a log; the second to one whose file is made if there is none. */
void rpl_log_append_to(struct rpl_log *l, const struct rpl_event *event);
/* Tell `--replay` that calls have no order. */
void rpl_log_no_order(void);
/* The last event of the group comes once more in a row. */
void rpl_log_repeat(struct rpl_log *l);
void rpl_log_append(struct rpl_thread *t, const struct rpl_event *event);
/* Recording: the thread is at its position. */
void rpl_log_reach(struct rpl_thread *t);
void rpl_log_close(struct rpl_log *l);
/* Replay: the next event of a thread, NULL at the end; its number; and one step on. */
const struct rpl_event *rpl_log_next_of(const struct rpl_thread *t);
uint64_t rpl_log_number_of(const struct rpl_thread *t);
void rpl_log_step_of(struct rpl_thread *t);
/* Of the calling thread. */
static inline const struct rpl_event *rpl_log_next(void) {
  return rpl_log_next_of(rpl_own);
}
static inline uint64_t rpl_log_number(void) {
  return rpl_log_number_of(rpl_own);
}
static inline void rpl_log_step(void) {
  rpl_log_step_of(rpl_own);
}
/* Whether the recorded rank has come to its end, so that all its calls are before that. */
bool rpl_log_has_end(void);
/* Whether the recording tells what a call of the calling thread has seen. */
static inline bool rpl_log_knows(void) {
  return rpl_log_has_end() || rpl_log_next();
}
/* The number of the call at the position of a thread, in a recording. */
uint16_t rpl_log_site(const struct rpl_thread *t);
/* Where a call of the recording is, in a replay; and where the call at the position is. */
void rpl_log_place(uint16_t site, struct rpl_place *out);
void rpl_here(const struct rpl_thread *t, struct rpl_place *out);
/* Name of a call. */
const char *rpl_call_name(enum rpl_call call);

#endif
