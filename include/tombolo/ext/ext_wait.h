/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_wait.h: descriptions of waits by a run-time library above, for `tombolo why`,
 * `tombolo ps` and the watchdog.
 *
 * Included by gasnetex_ext.h. Implemented in src/api/wait_info.c. The Coarray Fortran and UPC
 * run-time libraries are its users. Invariants: a description is a hint for people and changes
 * nothing that the library does; it is read when a thread has waited for some time, so a wait that
 * is short costs a few stores. Guide: docs/HANGS.md.
 */
#ifndef GEXX_EXT_WAIT_H
#define GEXX_EXT_WAIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_WaitInfo_Begin: what a thread waits for, for tombolo why and tombolo ps.
 * Run-time libraries of languages say what their waits are called. What is said is a hint for
 * people and changes nothing else.
 * [in] name: the name.
 * Completion: the calls return at once.
 * Threads: normal context. What is said belongs to the calling thread.
 * Errors: GASNET_ERR_BAD_ARG of gexx_TM_SetName for a NULL name.
 * Cost: a few stores.
 * See: tombolo-why(1), tombolo-ps(1) */

/* Processes that must act before a wait can end. */
#define GEXX_WAIT_AS_SHOWN   0 /* as the library sees it: by `event`, or the call that sleeps */
#define GEXX_WAIT_PEER       1 /* the process `peer` */
#define GEXX_WAIT_HOLDER     2 /* the process that holds `object_id`, see gexx_WaitInfo_Held */
#define GEXX_WAIT_ANY        3 /* any other process */

/* Objects that a process can show as held. */
#define GEXX_WAIT_HELD_COUNT 16

/* A wait of the calling thread. Strings are constant or live until gexx_WaitInfo_End, and may be
 * cut: call after 31 bytes, object after 63. */
typedef struct gexx_waitinfo {
  const char *call;   /* words of the programmer, as "SYNC IMAGES" */
  const char *object; /* the awaited object, as "coarray ready"; NULL: unknown */
  unsigned needs;     /* GEXX_WAIT_* */
  int polls;          /* 1: the caller waits in a loop of its own, and polls the peers in it */
  gex_Rank_t peer;    /* jobrank; GEX_RANK_INVALID: unknown. May change during the wait */
  gex_Rank_t home;    /* jobrank that a loop polls; GEX_RANK_INVALID: none */
  uint64_t object_id; /* equal in all processes; 0: none */
  uint64_t number;    /* of the call, from 1; 0: not counted */
  const void *caller; /* return address of the call in the program; NULL: unknown */
  gex_Event_t event;  /* event that the caller tests; GEX_EVENT_INVALID: nothing */
  /* NULL, or called once by the waiting thread when the wait has lasted for about 0.2 s. It may
   * change `object` and `peer`, and must not communicate. */
  void (*detail)(struct gexx_waitinfo *self);
} gexx_WaitInfo_t;

/* Describes the calling thread's wait until gexx_WaitInfo_End. [in] info: read until then by this
 * thread. A second call replaces the first. With info->polls the thread is shown as waiting at
 * once; else when the library sleeps for it. Normal context. Cost: a few stores; with polls about
 * 0.1 us. */
GEXX_API void gexx_WaitInfo_Begin(gexx_WaitInfo_t *info);

/* The wait is over. Normal context. */
GEXX_API void gexx_WaitInfo_End(void);

/* Numbers (object_id) of the objects that this process holds, such as locks: the caller writes
 * them, 0 is a free entry. Returns [GEXX_WAIT_HELD_COUNT]; valid until the job ends. Normal
 * context, after the start. */
GEXX_API uint64_t *gexx_WaitInfo_Held(void);

/* Gives the processes of the job their name in this language, for messages about the job. [in]
 * name: "image", "thread"; at most 11 bytes; [in] first: the number that jobrank 0 has. The first
 * call counts. Normal context, after the start. */
GEXX_API void gexx_WaitInfo_SetMembers(const char *name, unsigned first);

/* Gives a team a name for messages about the job. [in] tm: a team of this process, not a pair;
 * [in] name: copied; cut after 23 bytes. Local: each member names its handle by itself. Returns
 * GASNET_OK or GASNET_ERR_BAD_ARG (name is NULL). Normal context. */
GEXX_API int gexx_TM_SetName(gex_TM_t tm, const char *name);

/* Page gexx_Wait_Until: waits for memory that peers change by plain stores.
 * For run-time libraries whose puts are inline code: a peer that stores need not call the library
 * where nobody sleeps.
 * [in] cond: read during the call.
 * Completion: the call returns when cond->ready says so.
 * Threads: normal context. Several threads of a process may wait, for different conditions.
 * Errors: none.
 * Cost: one call of ready where it holds. A wait spins, yields, then sleeps.
 * Example: examples/stores.c gexx_Wait_Until(
 * See: gexx_Signal_Wait, gexx_WaitInfo_Begin */

/* The purpose of a wait. */
typedef struct {
  /* Whether the wait is over. Called often, by the waiting thread, also after it has said so. It
   * reads memory, and must not change what it reads, nor communicate. */
  int (*ready)(void *arg);
  void *arg;
  /* NULL, or a word in memory that peers reach: it counts threads that may sleep. A peer stores,
   * then reads this word, with no fence between, and calls gexx_signal_wake if it is not 0. With
   * NULL a peer calls gexx_signal_wake after each store. */
  uint32_t *sleepers;
  /* Longest sleep in ns, for stores that nobody announces: such a store is seen after this time,
   * or after about twice the time for which the wait has lasted. UINT64_MAX: there are none. */
  uint64_t blind_ns;
  /* NULL, or called after this thread has changed *sleepers, by which peers may go in another form.
   * It must not communicate. */
  void (*counted)(void *arg);
} gexx_WaitCond_t;

/* Waits until the condition holds. On return what the peer wrote before its store is visible. */
GEXX_API void gexx_Wait_Until(const gexx_WaitCond_t *cond);

#ifdef __cplusplus
}
#endif

#endif
