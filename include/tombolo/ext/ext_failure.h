/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_failure.h: going on when processes are lost.
 *
 * Included by gasnetex_ext.h. Implemented in src/core/progress/failure.c, and in the supervisor,
 * which sees the processes end. Guide: docs/FAILURE.md. Invariants: under GEXX_FAILURE_ABORT, the
 * policy at start, nothing here costs anything or ever reports a loss; a peer that is lost stays
 * lost; this process is never lost to itself. Ranks here are jobranks.
 */
#ifndef GEXX_EXT_FAILURE_H
#define GEXX_EXT_FAILURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_Job_SetFailurePolicy: what happens when a process of the job ends.
 * With GEXX_FAILURE_ABORT, the policy at the start, the job ends. With GEXX_FAILURE_REPORT the
 * others continue, and get reports. The guide is docs/FAILURE.md.
 * [in] policy: GEXX_FAILURE_ABORT or GEXX_FAILURE_REPORT.
 * [in] fn: the callback; NULL: none.
 * [in] cdata: passed to the callback.
 * [out] info: what is known of the process.
 * [in] max: entries of jobranks.
 * Completion: GEXX_FAILURE_REPORT is in force on all processes when the call returns.
 * Threads: normal context. GEXX_FAILURE_REPORT is collective over the job. Queries may be called
 * by any thread. The callback runs on the thread that polls.
 * Errors: GASNET_ERR_BAD_ARG for an unknown policy, GASNET_ERR_NOT_INIT before the job is started.
 * A jobrank out of range ends the process with a message.
 * Cost: a load for each poll.
 * See: gexx_Lost_Take, gexx_TM_Shrink, gasnet_exit */

/* An operation met the loss of a peer. A return code beside GASNET_ERR_*. */
#define GEXX_ERR_LOST       10100

/* ---------------------------------------------------------------- the policy of the job */

#define GEXX_FAILURE_ABORT  0 /* when a process ends, the job ends */
#define GEXX_FAILURE_REPORT 1 /* the others continue, and get reports */

/* Chooses what happens when a process of the job ends.
 * GEXX_FAILURE_REPORT: collective over the job, with a barrier: it is in force when the call
 * returns, and was not before every rank had called. The caller has no operation, message or
 * collective outstanding, and no other thread is in the library. The processes that are left keep
 * it only while all of them want it. Attach segments before: that is not possible once a rank is
 * lost. Build persistent collectives (gexx_Coll_Init) after. GEXX_FAILURE_ABORT: not collective, at
 * once; from then on the next end of any process ends the job: with gasnet_exit after it, a process
 * ends the whole job with a code of its choice. What is lost stays lost. Returns GASNET_OK,
 * GASNET_ERR_BAD_ARG (policy), GASNET_ERR_NOT_INIT; a rank may be lost before the call returns: it
 * is reported like others. Normal context. Cost of REPORT: one load for each poll, and some
 * nanoseconds for each message and each put or get that is made of messages; puts, gets, atomics
 * and signals of mapped peers cost what they cost before; collectives of large data are copied
 * twice instead of once. */
GEXX_API int gexx_Job_SetFailurePolicy(int policy);

/* The caller's policy. */
GEXX_API int gexx_Job_QueryFailurePolicy(void);

/* ---------------------------------------------------------------- fate of a peer */

/* ALIVE: takes part. STOPPED: ended in good order, by gasnet_exit(0), exit(0) or return from main
 * with 0; lost. FAILED: ended otherwise: by a signal, with a code other than 0, by _exit; lost.
 * SUSPENDED: stopped by a signal (SIGSTOP and the like); not lost: operations towards it wait, and
 * it is ALIVE again when it continues. */
#define GEXX_PEER_ALIVE     0
#define GEXX_PEER_STOPPED   1
#define GEXX_PEER_FAILED    2
#define GEXX_PEER_SUSPENDED 3

/* State of a peer, GEXX_PEER_*. Polls once when called from normal context outside a callback. When
 * a lost peer is named the first time, here or to the callback, everything that it had sent has
 * been handled, and every operation of this process towards it is complete. A suspended peer is not
 * seen as such behind a wrapper (a shell, a debugger). Fatal when jobrank is out of range. */
GEXX_API int gexx_Peer_Query(gex_Rank_t jobrank);

/* Fate of a peer in detail. */
typedef struct {
  int gexx_state;  /* GEXX_PEER_* */
  int gexx_lost;   /* 1: operations towards it complete with an error */
  int gexx_code;   /* lost: its exit code, 128 + signal if a signal ended it */
  int gexx_signal; /* lost: the signal that ended it, else 0 */
} gexx_Peer_Info_t;
GEXX_API void gexx_Peer_QueryInfo(gex_Rank_t jobrank, gexx_Peer_Info_t *info);

/* Peers that are lost, in rising order. [in] state: GEXX_PEER_FAILED or GEXX_PEER_STOPPED: only
 * those; GEXX_PEER_ALIVE: all that are lost. [out] jobranks: the first `max` of them; may be NULL
 * with max 0. Returns how many there are. Does not poll. */
GEXX_API size_t gexx_Peer_QueryLost(int state, gex_Rank_t *jobranks, size_t max);

/* Words that differ while a poll may have a change of a peer's state to report, for clients that
 * are asked for it often: to read both costs less than a poll. [out] changes, seen: their
 * addresses, to be read as atomic words, which stay until the process ends. They are equal where
 * nothing is reported: under GEXX_FAILURE_ABORT. Losses that only the network tells of, as those of
 * other hosts, show in no word before a poll: a client polls now and then, too. Does not poll. */
GEXX_API void gexx_Peer_QueryWords(const uint32_t **changes, const uint32_t **seen);

/* Called once for each lost peer and process. [in] state: GEXX_PEER_STOPPED or FAILED. Runs from
 * polls, in normal context, on the thread that polls: it may call whatever a client may call,
 * waits included; a wait of that thread further up goes on afterwards. */
typedef void (*gexx_Failure_Fn_t)(gex_Rank_t jobrank, int state, void *cdata);

/* Sets the callback, or none (NULL). Peers that are lost already are not named again. Not while
 * another thread may be polling. */
GEXX_API void gexx_Job_SetFailureCallback(gexx_Failure_Fn_t fn, void *cdata);

/* ---------------------------------------------------------------- operations that met a loss
 *
 * What is outstanding towards a lost peer, or is started later, completes: events, implicit
 * operations and blocking calls end as if all were well, and leave a mark. Data may or may not have
 * moved; where the memory of a lost peer is still mapped here, puts and gets still move them, so a
 * get returns what the peer left. Messages to it are dropped; the reply to a client's message may
 * never come. Barriers, collectives and the making of teams, domains and the like complete
 * likewise, with undefined results, in every team that has lost a member. Waits for words of this
 * process (signals, semaphores, GASNET_BLOCKUNTIL) and requests for notifications from any source
 * are not ended by a loss: let the callback make their condition true. */

/* Page gexx_Lost_Take: operations that met the loss of a peer.
 * Operations towards a lost peer complete as if all were well, and leave a mark that these calls
 * read.
 * Completion: the calls return at once. All operations towards a lost peer complete.
 * Threads: normal context. The mark belongs to the thread that started or synchronised the
 * operation.
 * Errors: GEXX_ERR_LOST says that a loss was met; data may or may not have moved.
 * Cost: one load when nothing was lost.
 * See: gexx_Job_SetFailurePolicy, gexx_TM_Shrink, gex_Event_Wait */

/* Whether an operation of the calling thread has met a loss since this was last asked: one that was
 * started without an event, or synchronised, by any call. [out] jobrank_p: a lost peer that was
 * met; may be NULL. Returns GASNET_OK or GEXX_ERR_LOST, and forgets. May poll. Calls that return
 * int and are blocking return GEXX_ERR_LOST themselves, too: gex_RMA_PutBlocking and GetBlocking,
 * their Val form, VIS blocking forms, gexx_RMA_PutSignalBlocking, PutNotify, GetNotify,
 * gasnet_barrier_wait and try; gex_TM_Split, Dup and Create return 0 and GEX_TM_INVALID, and
 * gex_AD_Create gives GEX_AD_INVALID. */
GEXX_API int gexx_Lost_Take(gex_Rank_t *jobrank_p);

/* State of a root or leaf event that was not synchronised yet: GASNET_ERR_NOT_READY, or, when it is
 * complete, GASNET_OK or GEXX_ERR_LOST. The event stays alive. Does not poll. */
GEXX_API int gexx_Event_Status(gex_Event_t event);

/* Messages of this process to lost peers that were dropped; those that were in progress when the
 * peer was lost are not known. Restricted context: yes. */
GEXX_API uint64_t gexx_Lost_QueryDropped(void);

/* ---------------------------------------------------------------- a team of the survivors */

/* Page gexx_TM_Shrink: a team of the members that are left.
 * Completion: returns when the members that are left agree on the new team.
 * Threads: normal context. All members that are left call it. Calls of different threads for one
 * team do not overlap.
 * Errors: none; more members may be lost meanwhile.
 * Cost: two messages for each member.
 * See: gexx_TM_Abandon, gexx_Job_SetFailurePolicy, gexx_Lost_Take, gex_TM_Split */

/* Makes a team of those members of a team that are not lost, in the order of their ranks in it.
 * Collective over the members that are left: each of them calls, as often as the others. All of
 * them get the same team, also if further members are lost while they agree: then either all of
 * them see a lost member in the new team, and may shrink that, or none. A member that is lost
 * before it has called is not in the new team. [in] tm: any team, with or without lost members; it
 * stays as it is. [out] new_tm_p: the new team, without scratch memory. Also without
 * GEXX_FAILURE_REPORT. Blocks, polls and runs handlers; normal context; calls by different threads
 * for one team are not at once. What it meets of losses leaves no mark for gexx_Lost_Take. Returns
 * GASNET_OK. Cost: two messages for each member; more for each coordinator (the lowest member that
 * is left) lost meanwhile. Uses a little memory until the process ends. */
GEXX_API int gexx_TM_Shrink(gex_TM_t tm, gex_TM_t *new_tm_p);

/* Ends the barriers and collectives of a team, in this process alone. A runtime calls it when a
 * member is not lost, but takes no part any more. Those in flight complete as if the member were
 * lost: gexx_Lost_Take gives its jobrank, results are undefined, and what other members send later
 * touches no memory of the client. Those that are started later complete likewise, at once.
 * Messages, puts, gets and other teams are as before. [in] tm: any team. [in] rank: the member, in
 * tm. Not collective; normal context; any thread. If a thread is in the function of a reduction,
 * that reduction completes after the function returns. Without GEXX_FAILURE_REPORT members may
 * still write to the buffers of large collectives. Returns GASNET_OK; a rank out of range ends the
 * process with a message. Cost: a step for each collective in flight. */
GEXX_API int gexx_TM_Abandon(gex_TM_t tm, gex_Rank_t rank);

#ifdef __cplusplus
}
#endif

#endif
