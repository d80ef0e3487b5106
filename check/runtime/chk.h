/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checker in a rank: races and leaks of a program that `tombolo run --check` has started.
 *
 * Owns: the declarations that state.h, shadow.h and others have not. libtombolo_check.so is loaded
 * before the program (LD_PRELOAD) and defines the calls of the API that synchronise or access
 * memory; each does its part here and calls the library's. A rank has a vector clock. A release
 * gives a copy of it to a synchronisation object, an acquire takes the maximum. An access is
 * recorded in the shadow of the memory; it is ordered before another one when the clock of the
 * later rank covers its completion, or the acceptance of its signal. This is FastTrack's test (C.
 * Flanagan and S. N. Freund, PLDI 2009, doi 10.1145/1542476.1542490) for accesses that last from
 * their start to their completion. Invariants: all of it is guarded by chk.lock, which is never
 * held while the library is called.
 */
#ifndef TMB_CHK_H
#define TMB_CHK_H

#include "check/runtime/shadow.h"
#include "check/runtime/site.h"

/* ---- report.c */
void chk_race(const struct chk_access *before, uint32_t flags, const struct chk_access *now,
              uintptr_t addr);
void chk_leak(const char *what, uint32_t site);

/* ---- segment.c: attached segments of all ranks, [ranks]; NULL before attach */
gasnet_seginfo_t *chk_segments(void);
void chk_segments_set(gasnet_seginfo_t *all);
/* A segment of this process begins, or ends; whether an address is in one. */
void chk_segment_add(uintptr_t base, uintptr_t bytes);
void chk_segment_remove(uintptr_t base);
bool chk_segment_has_any(const void *at);

static inline bool chk_segment_has(const void *at) {
  if ((uintptr_t)at - chk.own.base < chk.own.bytes) return true;
  return CHK_UNLIKELY(chk.more) && chk_segment_has_any(at);
}

/* ---- pending.c: what ends with an event, or with a wait for implicit operations */
struct chk_pending {
  uint64_t remote, local; /* accesses, 0: none */
  uint64_t acquire;       /* key that the end acquires, 0: none */
  uintptr_t word;         /* address of a word that it acquires, 0: none */
  uint32_t owner;         /* of the word */
  uint32_t members;       /* of a collective, which the caller leaves; 0: none */
  bool acquires;
  gex_EC_t category;
  uint32_t site;
};
/* Note the begin of an operation that ends with this event. GEX_EVENT_INVALID: it has ended. */
void chk_pend(gex_Event_t event, const struct chk_pending *p);
void chk_end(const struct chk_pending *p);
/* The newest operation that the library does not know, in a process of one thread: most are waited
 * for at once. */
struct chk_newest {
  gex_Event_t event, spare; /* of it, GEX_EVENT_INVALID: none; one that was waited for */
  const uint64_t *given;    /* to its word */
  uint64_t epoch; /* its word of the shadow, while it has no record: it ends with the clock there,
                   * if nothing else is called before; 0: it has a record */
  const void *result; /* where it is written to, while nothing else knows; NULL: nowhere, or it is
                       * known by op.local */
  size_t bytes;       /* of the result */
  struct chk_pending op;
};
extern struct chk_newest chk_newest;
/* Its event, once the caller has filled in chk_newest.given and op. */
gex_Event_t chk_pend_newest_any(void);
static inline gex_Event_t chk_pend_newest(void) {
  const gex_Event_t event = chk_newest.spare;
  if (CHK_UNLIKELY(event == GEX_EVENT_INVALID || chk.threads)) return chk_pend_newest_any();
  chk_newest.spare = GEX_EVENT_INVALID;
  return chk_newest.event = event;
}
/* Another call comes before its end: it gets a record that lasts. And its result is known. */
void chk_record_newest(void);
void chk_know_result(void);
/* A newest operation from before gets a place among the others. */
void chk_keep_newest(void);
/* A call has started an operation, or GEX_EVENT_NO_OP, refused: it was refused. Takes the lock.
 * Returns the second argument. */
gex_Event_t chk_started(const struct chk_pending *p, gex_Event_t event);
int chk_started_nbi(const struct chk_pending *p, int refused);
/* Defines a call: the library's own, unless it is to be checked; then between the records of its
 * begin and its end. ARGS, GIVEN: parameters and arguments, in parentheses. END: CHK_STARTED,
 * CHK_STARTED_NBI or a macro like them, which may use p. BEGUN: the operation, a struct
 * chk_pending. */
#define CHK_DEFINE(...) CHK_DEFINE_IF(chk_on(), __VA_ARGS__)
#define CHK_DEFINE_IF(CHECKED, RESULT, NAME, ARGS, GIVEN, END, BEGUN) \
 RESULT NAME ARGS {                                                   \
  if (!(CHECKED)) return chk_real.NAME GIVEN;                         \
  const struct chk_pending p = BEGUN;                                 \
  END(chk_real.NAME GIVEN);                                           \
 }
#define CHK_STARTED(call)     return chk_started(&p, call)
#define CHK_STARTED_NBI(call) return chk_started_nbi(&p, call)
/* Note the begin of the local side of a transfer. */
void chk_local_open(uint64_t number);
/* As chk_local_side, for the result of an operation on a word; and its end. Returns 0: it is for
 * chk_local_side. */
uint64_t chk_result_begin(const void *at, size_t bytes, uint32_t site);
bool chk_result_end(uint64_t number);
/* Record the local side of a transfer, if others may reach it or it lasts. in remote: the other
 * side, as long; at: NULL: a value; write: CHK_WRITE or 0. Returns its number if it lasts. */
uint64_t chk_local_side(const struct chk_range *remote, const void *at, uint32_t write,
                        uint32_t site, bool lasts);
/* Whether the source of a put may not be changed when the call returns. */
static inline bool chk_source_lasts(const gex_Event_t *lc) {
  return lc != GEX_EVENT_NOW;
}
void chk_pending_leaks(void);

/* ---- coll.c: a barrier that was notified and not waited for */
void chk_barrier_leak(void);

/* ---- near.c: what to add to an address of a rank of a team, or of a domain's team, where the
 * checker is to access it; GEXX_UNMAPPED: the library does. Under chk.lock. */
intptr_t chk_near_of(int kind, const void *team, gex_Rank_t rank);
enum { CHK_TEAM, CHK_DOMAIN };
extern struct chk_last {
  const void *team;       /* or domain; NULL: none */
  const intptr_t *deltas; /* NULL: the library does each access */
} chk_last[2];

static inline intptr_t chk_near(int kind, const void *team, gex_Rank_t rank) {
  const struct chk_last *const l = &chk_last[kind];
  if (CHK_UNLIKELY(l->team != team || !l->deltas)) return chk_near_of(kind, team, rank);
  return __atomic_load_n(&l->deltas[rank], __ATOMIC_RELAXED);
}

/* A team, a domain or a segment has begun, or ends. */
void chk_near_forget(void);

/* ---- objects.c */
uint64_t chk_team_key(gex_TM_t tm);
static inline uint32_t chk_jobrank(gex_TM_t tm, gex_Rank_t rank) {
  return tm->jobrank ? tm->jobrank[rank] : rank;
}

/* A team has come into being; each member hears of it after the same teams. */
void chk_team_made(gex_TM_t tm);
/* An object that is to be ended, and its end. in what, call: literals. */
void chk_made(const void *object, const char *what, const char *call, const void *pc);
void chk_ended(const void *object);
void chk_objects_leaks(void);

/* ---- segment.c: memory whose loads and stores are seen */
/* A buffer outside of segments that a transfer uses; all of them are free again. */
void chk_watch_buffer(uintptr_t base, size_t bytes);
/* As chk_watch_buffer, where races are looked for, and the buffer is in no segment. */
void chk_watch_result(uintptr_t base, size_t bytes);
void chk_watch_no_buffer(void);
/* A thread of this rank begins or ends strict accesses: each load and store comes until then. */
void chk_watch_strict(bool begins);
/* Each load and store of the segment that has words comes from now on, if there is a reason. */
void chk_watch_each(void);
/* The address in the segment of memory that is at a second place, too; others stay. */
uintptr_t chk_resolve_any(uintptr_t addr);
/* The rank whose memory an address of this process is; and the address as that rank has it. */
uint32_t chk_owner_any(uintptr_t *addr);

static inline uintptr_t chk_resolve(uintptr_t addr) {
  return CHK_UNLIKELY(chk.more) ? chk_resolve_any(addr) : addr;
}

static inline uint32_t chk_owner_of(uintptr_t *addr) {
  return CHK_UNLIKELY(chk.more) ? chk_owner_any(addr) : chk.rank;
}

/* ---- seen.c: loads and stores of the segment that has words */
/* A load or store, of bytes of that segment. */
void chk_see(uintptr_t addr, size_t bytes, int kind, const void *pc);
/* Whether words of the calling thread settle an access, where each thread has its own. */
int chk_settles(uintptr_t addr, size_t bytes, int kind, const void *pc);
/* As chk_see, for an access that does not make the run of its line longer. */
void chk_run(const struct chk_place *place);
/* As chk_run, of a thread of several, see struct chk_watch. */
int chk_run_in_copy(const struct chk_near *near, intptr_t *copy, const struct chk_place *place);
/* Ends all runs, for good. */
void chk_runs_end(void);
void chk_runs_never(void);
bool chk_files_have(const void *pc);
uint32_t chk_site_of(int kind, const void *pc);

static inline uint32_t chk_flags_of(int kind) {
  return kind == CHK_STORE ? CHK_WRITE | CHK_LOCAL : CHK_LOCAL;
}

/* ---- local.c: from now on the program's loads and stores come here */
void chk_local_start(void);
/* Whether this thread's accesses are a strict one of UPC; and its word, after the access is entered
 * under chk.lock. in put: number of a put, or 0. */
extern _Thread_local CHK_FAST int chk_strict_how;

static inline bool chk_strict(void) {
  return chk_strict_how != 0;
}

void chk_strict_word(uint32_t owner, uintptr_t addr, uint32_t site, uint64_t put);

/* ---- start.c: the library's calls */
struct chk_real {
#define CHK_CALL(name) __typeof__(name) *name;
#include "check/runtime/calls.def"
#undef CHK_CALL
};
extern struct chk_real chk_real;
/* Looks for them again, if they were not there. */
void chk_find_late(void);

/* ---- am.c */
void chk_handler(gex_Rank_t from, int reply, const struct gexx_am_msg *m);
void chk_prepared_leaks(void);
/* A put will run a handler at its peer, as a reply. Under chk.lock. */
void chk_send_note(uint32_t to, uint8_t handler, size_t nbytes, uint32_t site, uint64_t put);

#endif
