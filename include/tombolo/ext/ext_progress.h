/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_progress.h: progress with a time limit, counts of the library's operations, and
 * marked regions in a trace.
 *
 * Included by gasnetex_ext.h. Implemented in src/notify. Invariants: what is off costs nothing: a
 * run without TOMBOLO_STATS uses the conduit's own table, one without TOMBOLO_TEST_TRACE_FILE tests
 * a pointer for each mark.
 */
#ifndef GEXX_EXT_PROGRESS_H
#define GEXX_EXT_PROGRESS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_Poll: progress with a time limit.
 * Completion: returns when something was done, the process was woken or the time has passed.
 * Threads: normal context, any thread.
 * Errors: none.
 * Cost: as gasnet_AMPoll when something has arrived; otherwise the process sleeps and uses no
 * processor time.
 * See: gasnet_AMPoll, gexx_Signal_Wait */

/* Runs progress; when nothing had arrived, spins, then sleeps until something arrives, a peer
 * signals, or the time has passed. [in] timeout_us: 0: one poll; UINT64_MAX: no limit. Returns
 * non-zero when something was done or this process was woken, 0 when the time passed. A signal that
 * came before the call and was not read does not end it: wait for signals with
 * gexx_Signal_Wait. Normal context; any thread. */
GEXX_API int gexx_Poll(uint64_t timeout_us);

/* Page gexx_Event_WaitUntil: a wait that other things may end.
 * Completion: returns when the event is complete, the condition holds or the time has passed.
 * Threads: normal context, any thread. The condition is called on the calling thread, often, also
 * where the library prepares to sleep: it reads variables, and calls nothing of the library.
 * Errors: GASNET_ERR_NOT_READY.
 * Cost: that of gex_Event_Wait.
 * See: gex_Event_Wait, gex_Event_Test, gexx_Poll */

/* Waits for an event as gex_Event_Wait does, until it is complete, until(arg) is not 0, or the time
 * has passed. For run-time libraries, whose waits also end when a peer is lost or a request has
 * come. [in] event: synchronised when it is complete; GEX_EVENT_NO_OP: none, the condition alone
 * counts; GEX_EVENT_INVALID: complete. [in] until: holds when a handler or a function for lost
 * peers has made it so on any thread; what a peer stores without a signal is found within 2 ms
 * where there is no event, else when something else wakes this process; NULL: none. [in] arg:
 * passed to it. [in] timeout_us: UINT64_MAX: no limit. Returns GASNET_OK when the event is
 * complete; GASNET_ERR_NOT_READY otherwise. */
GEXX_API int gexx_Event_WaitUntil(gex_Event_t event, int (*until)(void *arg), void *arg,
                                  uint64_t timeout_us);

/* ---------------------------------------------------------------- counts */

/* Page gexx_Stats_Query: counts of operations.
 * Completion: the calls return at once.
 * Threads: any thread, any context.
 * Errors: GASNET_ERR_NOT_READY without TOMBOLO_STATS, GASNET_ERR_BAD_ARG for an unknown kind.
 * Cost: a query reads a word, or one for each process with GEX_RANK_INVALID. Counting costs the
 * inline path of each operation.
 * See: tombolo-settings(7), gexx_Trace_Begin */

/* Counters with TOMBOLO_STATS=1: every operation that this process starts, also to itself. A
 * strided, vector or indexed transfer to a mapped peer is one put or get. The data of a
 * tagged notification are a put or get. PUT_SIGNAL counts puts with a signal and posts of
 * semaphores, ATOMIC operations on atomic domains, WAKE the checks whether a mapped peer must be
 * woken. What is made of messages, by a conduit that has nothing better, is counted with them.
 * Operations that are otherwise done inline call the library then. */
#define GEXX_STATS_AM_SHORT   0
#define GEXX_STATS_AM_MEDIUM  1
#define GEXX_STATS_AM_LONG    2
#define GEXX_STATS_PUT        3
#define GEXX_STATS_GET        4
#define GEXX_STATS_PUT_SIGNAL 5
#define GEXX_STATS_GET_SIGNAL 6
#define GEXX_STATS_WAKE       7
#define GEXX_STATS_ATOMIC     8
#define GEXX_STATS_KINDS      9

/* Operations of one kind that this process has started towards a process, and their payload bytes.
 * [in] kind: GEXX_STATS_*; [in] jobrank: or GEX_RANK_INVALID: all together. [out] count, bytes:
 * each may be NULL. Returns GASNET_OK; GASNET_ERR_NOT_READY when nothing is counted (TOMBOLO_STATS
 * is not set); GASNET_ERR_BAD_ARG. Restricted context: yes. */
GEXX_API int gexx_Stats_Query(int kind, gex_Rank_t jobrank, uint64_t *count, uint64_t *bytes);

/* Name of a kind, "unknown" for others; constant. Restricted context: yes. */
GEXX_API const char *gexx_Stats_Name(int kind);

/* Counts from now on. */
GEXX_API void gexx_Stats_Reset(void);

/* ---------------------------------------------------------------- traces */

/* Page gexx_Trace_Begin: regions of a program in a trace.
 * Completion: the calls return at once.
 * Threads: any thread, any context. Regions of a thread nest.
 * Errors: none; a file that cannot be written is reported once.
 * Cost: without a trace the test of a pointer.
 * See: gexx_Stats_Query, tombolo-settings(7) */

/* Marks the begin and end of a region of the calling thread; regions nest. [in] name: copied. With
 * TOMBOLO_TEST_TRACE_FILE set, each rank writes the marks to that file, % in its name being the
 * rank, as an array that trace viewers open; otherwise nothing happens. Restricted context: yes. */
GEXX_API void gexx_Trace_Begin(const char *name);
GEXX_API void gexx_Trace_End(void);

/* Marks a moment. */
GEXX_API void gexx_Trace_Mark(const char *name);

/* For run-time libraries: says where they note which statement of the program runs. While events
 * are recorded (TOMBOLO_TRACE) each one names the statement (`call`) and its place in the program
 * (`caller`). [in] statement: read by this process until the job ends; NULL: no more. Returns 1
 * while events are recorded or operations counted, else 0: a run-time library that reaches memory
 * of other processes by load and store calls gex_RMA_* instead, so that these are seen. Restricted
 * context: yes. */
struct gexx_waitinfo;
GEXX_API int gexx_Trace_Follow(const struct gexx_waitinfo *statement);

#ifdef __cplusplus
}
#endif

#endif
