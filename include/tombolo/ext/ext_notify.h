/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/ext_notify.h: the owner's side of signals, semaphores, and tagged notification.
 *
 * Included by gasnetex_ext.h. Implemented in src/notify. Invariants: every test and wait acquires
 * when it succeeds and drives progress; a wait spins, yields, then sleeps until it is signalled;
 * any number of threads may wait for one signal. Test and Try forms return GASNET_OK or
 * GASNET_ERR_NOT_READY. Unless stated otherwise: normal context, any thread.
 */
#ifndef GEXX_EXT_NOTIFY_H
#define GEXX_EXT_NOTIFY_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- signals: the owner's side */

/* Page gexx_Signal_Wait: signals, on the side of their owner.
 * A signal is an aligned uint64_t in a bound segment of its owner, who sets it to zero first.
 * Peers change it with gexx_RMA_PutSignalNB and its relatives, after their data.
 * [in] sig: a signal of this process.
 * [in] value: what the signal is compared with.
 * [in] cmp: GEXX_SIG_EQ, NE, GT, GE, LT or LE.
 * [in] n: what is taken from the signal.
 * [in] sigs: the first signal.
 * [in] count: signals in the range.
 * [in] stride: bytes from one signal to the next.
 * Completion: a wait returns when the condition holds. The data of the put that changed the signal
 * are then visible (acquire).
 * Threads: normal context, any thread; several threads may wait for one signal. All calls drive
 * progress. gexx_Signal_Reset may be called in any context.
 * Errors: GASNET_ERR_NOT_READY of the Test and Try forms. A wait for a lost peer does not end by
 * itself.
 * Cost: one load when the condition holds. A wait spins, yields, then sleeps until it is woken.
 * See: gexx_RMA_PutSignalNB, gexx_Sem_Wait, gexx_Notify_Wait */

/* Comparisons: (signal) cmp (value), unsigned. */
#define GEXX_SIG_EQ 0
#define GEXX_SIG_NE 1
#define GEXX_SIG_GT 2
#define GEXX_SIG_GE 3
#define GEXX_SIG_LT 4
#define GEXX_SIG_LE 5

/* Polls once and returns the value of a signal of this process. */
GEXX_API uint64_t gexx_Signal_Fetch(const uint64_t *sig);

/* Whether the signal compares as asked; polls once when it does not. [in] cmp: GEXX_SIG_EQ..LE. */
GEXX_API int gexx_Signal_Test(const uint64_t *sig, int cmp, uint64_t value);

/* Waits until the signal compares as asked; returns the value that did. */
GEXX_API uint64_t gexx_Signal_Wait(const uint64_t *sig, int cmp, uint64_t value);

/* Subtracts n atomically if the signal is at least n; polls once when it is not. */
GEXX_API int gexx_Signal_TryConsume(uint64_t *sig, uint64_t n);

/* Waits until the signal is at least n, then subtracts n; returns the rest. */
GEXX_API uint64_t gexx_Signal_WaitConsume(uint64_t *sig, uint64_t n);

/* Sets the signal to zero and returns its value before. Restricted context: yes. */
GEXX_API uint64_t gexx_Signal_Reset(uint64_t *sig);

/* Finds a changed signal, which is one that is not zero, among `count` signals, `stride` bytes
 * apart. [in,out] index: the search begins at *index (below count) and goes round once; on success
 * the index found, so that passing it on plus one (modulo count) serves all in turn and none
 * starves. A signal is found until it is reset or consumed; of several threads that find the same,
 * the one whose gexx_Signal_Reset returns its value has it. A signal operation that was complete
 * before the call is seen; a signal that was changed otherwise (store, put, atomic) is seen after
 * at most count / 64 + 1 vain calls. Polls once when nothing is found. Cost: up to 64 signals: a
 * load for each; more: a few loads whatever the range, by an index that a range gets at its first
 * search, which reads all signals. A process keeps 8 of them; one that was not used in 4096
 * searches goes to the next range without. Further ranges, and conduits that cannot report changed
 * signals, read all. */
GEXX_API int gexx_Signal_TestSome(const uint64_t *sigs, size_t count, size_t stride, size_t *index);

/* Waits for one; returns its value. The caller resets or consumes it. A signal that was changed
 * otherwise before the call is found, too; one that is changed otherwise during the wait may not
 * be. */
GEXX_API uint64_t gexx_Signal_WaitSome(const uint64_t *sigs, size_t count, size_t stride,
                                       size_t *index);

/* ---------------------------------------------------------------- semaphores */

/* Page gexx_Sem_Wait: semaphores that any process may post.
 * A semaphore belongs to the process that has made it, which alone may wait. Other processes post
 * it by a handle of 16 bytes that may be sent.
 * Names: GEXX_SEM_BOOLEAN: full or empty;
 * GEXX_SEM_INTEGER: a count up to 2^64 - 1;
 * GEXX_SEM_SPRODUCER: at most one thread posts at a time;
 * GEXX_SEM_MPRODUCER: several threads may post at a time;
 * GEXX_SEM_SCONSUMER: at most one thread waits at a time;
 * GEXX_SEM_MCONSUMER: several threads may wait at a time
 * [in] sem: the semaphore of the caller, or the handle of one.
 * [out] sem_p: where the semaphore goes.
 * [in] n: how much is posted or taken.
 * [in] dest: address in the bound segment of the owner's primordial endpoint.
 * Completion: a post returns when it is sent, not when it has arrived. A wait returns when it has
 * taken its count.
 * Threads: normal context, any thread as the flags of the semaphore allow. Waits drive progress.
 * Errors: GASNET_ERR_BAD_ARG of gexx_Sem_Alloc for flags that are not one of each pair,
 * GASNET_ERR_RESOURCE without memory. PostN, WaitN and TryN on a BOOLEAN semaphore end the process
 * with a message in debug clients.
 * Cost: a post to a mapped owner is one atomic instruction, else one Short message.
 * See: gexx_Signal_Wait, gexx_RMA_PutSignalNB */

/* One of each pair is given at allocation. Counts: BOOLEAN is full or empty, a post to a full one
 * changes nothing; INTEGER counts to 2^64 - 1. Promises: S.. at most one thread posts (waits) at a
 * time. */
#define GEXX_SEM_BOOLEAN   0x01u
#define GEXX_SEM_INTEGER   0x02u
#define GEXX_SEM_SPRODUCER 0x04u
#define GEXX_SEM_MPRODUCER 0x08u
#define GEXX_SEM_SCONSUMER 0x10u
#define GEXX_SEM_MCONSUMER 0x20u

/* A semaphore as its owner sees it. */
typedef struct gexx_sem_s *gexx_Sem_t;

/* Name of a semaphore on any rank: 16 bytes that may be copied and sent. Fields: the library's. */
typedef struct {
  uint64_t gexx_addr;
  uint32_t gexx_rank;
  uint16_t gexx_index;
  uint16_t gexx_flags;
} gexx_Sem_Handle_t;

/* Makes an empty semaphore. [out] sem_p; [in] flags: one GEXX_SEM_ flag of each pair. Works before
 * and after attach; not collective. Returns GASNET_OK, GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE. */
GEXX_API int gexx_Sem_Alloc(gexx_Sem_t *sem_p, unsigned flags);

/* Ends a semaphore: nobody posts or waits any more. Owner. */
GEXX_API void gexx_Sem_Free(gexx_Sem_t sem);

/* Name of a semaphore. Owner. Restricted context: yes. */
GEXX_API gexx_Sem_Handle_t gexx_Sem_QueryHandle(gexx_Sem_t sem);

/* Adds 1, or n, on any rank; all earlier accesses of the calling thread to memory, and its complete
 * puts, are visible to the wait that takes them (release). PostN on a BOOLEAN semaphore is misuse.
 * May poll. Does not wait for the owner: a post that finds no room for its message goes later, and
 * posts of one semaphore that wait are one (with 256 others waiting, it waits for one to go). */
GEXX_API void gexx_Sem_Post(gexx_Sem_Handle_t sem);
GEXX_API void gexx_Sem_PostN(gexx_Sem_Handle_t sem, uint64_t n);

/* Waits for, and takes, 1 or n (acquire). Owner. */
GEXX_API void gexx_Sem_Wait(gexx_Sem_t sem);
GEXX_API void gexx_Sem_WaitN(gexx_Sem_t sem, uint64_t n);

/* Takes 1 or n if they are there (acquire); polls once when not. Owner. */
GEXX_API int gexx_Sem_Try(gexx_Sem_t sem);
GEXX_API int gexx_Sem_TryN(gexx_Sem_t sem, uint64_t n);

/* Puts nbytes from local src to dest in the bound segment of the owner's primordial endpoint, and
 * posts n when they have arrived. [in] n: 1 for BOOLEAN. PutSignal returns when src may be reused.
 * The Async form may return earlier and gives no event: src is the library's until the consumer
 * notifies the producer that data have arrived. Where dest is mapped it copies at once, as
 * PutSignal does; otherwise it sends what there is room for, and the rest goes from the progress of
 * this process. At most 256 such puts wait; a further one waits, polling, until one of them is
 * sent. Puts and posts that wait are lost when the process ends. */
GEXX_API void gexx_Sem_PutSignal(gexx_Sem_Handle_t sem, void *dest, const void *src, size_t nbytes,
                                 uint64_t n);
GEXX_API void gexx_Sem_PutSignalAsync(gexx_Sem_Handle_t sem, void *dest, const void *src,
                                      size_t nbytes, uint64_t n);

/* ---------------------------------------------------------------- tagged notification */

/* Page gexx_RMA_PutNotifyNB: put and get that notify with a tag.
 * A notification is matched by a request of the target, by source and tag, in the order of
 * arrival.
 * Names: GEXX_NOTIFY_ANY_SOURCE: a request matches every source;
 * GEXX_NOTIFY_ANY_TAG: a request matches every tag
 * [in] tag: the tag, not GEXX_NOTIFY_ANY_TAG; of a request also that.
 * [in] source: rank in the team, or GEXX_NOTIFY_ANY_SOURCE.
 * [in] expected_count: notifications that complete the request, at least 1.
 * [out] req_p: where the request goes.
 * [in] req: a request that gexx_Notify_Init has made.
 * [out] status: source, tag and bytes of the last match; may be NULL.
 * [out] stats: where the counts go.
 * Completion: transfers complete as gex_RMA_PutNB and gex_RMA_GetNB. A request completes when its
 * count has been matched; the data of those puts are then visible.
 * Threads: normal context, any thread; polls. One thread at a time uses a request.
 * Errors: GASNET_ERR_NOT_READY of gexx_Notify_Test. GASNET_ERR_RESOURCE without memory.
 * GEXX_ERR_LOST of the blocking forms when the peer is lost.
 * Cost: the transfer and a Short message for a mapped peer; else the notification travels with the
 * data.
 * See: gexx_Signal_Wait, gex_RMA_PutNB */

#define GEXX_NOTIFY_ANY_SOURCE GEX_RANK_INVALID
#define GEXX_NOTIFY_ANY_TAG    UINT32_MAX

/* A persistent request for notifications. */
typedef struct gexx_notify_s *gexx_Notify_t;

/* The last notification that a request has matched. */
typedef struct {
  gex_Rank_t gexx_source; /* rank in the team */
  uint32_t gexx_tag;
  size_t gexx_nbytes;
} gexx_Notify_Status_t;

/* Puts as gex_RMA_Put, then notifies (tm, rank) with a tag (not ANY_TAG). tm is a team, not a
 * TM-pair. The first form is blocking: it returns at local completion; nbytes may be 0.
 * Notifications of one process for another arrive in order. At most TOMBOLO_NOTIFY_CREDITS of them
 * are unmatched or in flight: a further one waits, polling, until the target matches some (with
 * GEX_FLAG_IMMEDIATE: returns non-zero, or GEX_EVENT_NO_OP, and nothing was done); half as many
 * never wait. What nobody has awaited when the target's member of tm is destroyed is dropped. NBI:
 * category GEX_EC_PUT; NB: root event of remote completion of the data. [in] lc_opt, flags: as
 * gex_RMA_PutNBI and PutNB. Host memory on both sides. Normal context; polls; any thread. */
GEXX_API int gexx_RMA_PutNotify(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                size_t nbytes, uint32_t tag, gex_Flags_t flags);
GEXX_API int gexx_RMA_PutNotifyNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                   size_t nbytes, gex_Event_t *lc_opt, uint32_t tag,
                                   gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_RMA_PutNotifyNB(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                                           const void *src, size_t nbytes,
                                                           gex_Event_t *lc_opt, uint32_t tag,
                                                           gex_Flags_t flags);

/* Gets as gex_RMA_GetBlocking, GetNBI and GetNB, and notifies the owner once its data have been
 * read and may be overwritten, which may be before they are here. The status names the bytes that
 * were read; nbytes may be 0. Category GEX_EC_GET; the event says that the data are here. All else
 * as the puts. Cost: mapped: a copy and a Short message; else a message and its answer for each 64
 * KiB, and none for the notification. */
GEXX_API int gexx_RMA_GetNotify(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                                uint32_t tag, gex_Flags_t flags);
GEXX_API int gexx_RMA_GetNotifyNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                   size_t nbytes, uint32_t tag, gex_Flags_t flags);
GEXX_API GEXX_WARN_UNUSED gex_Event_t gexx_RMA_GetNotifyNB(gex_TM_t tm, void *dest, gex_Rank_t rank,
                                                           void *src, size_t nbytes, uint32_t tag,
                                                           gex_Flags_t flags);

/* Makes an inactive request for `expected_count` (at least 1) notifications through team tm from
 * `source`, or any, with `tag`, or any. [out] req_p. Returns GASNET_OK, GASNET_ERR_RESOURCE. */
GEXX_API int gexx_Notify_Init(gex_TM_t tm, gex_Rank_t source, uint32_t tag, uint32_t expected_count,
                              gexx_Notify_t *req_p);

/* Activates it: kept notifications are matched oldest first, then new ones as they arrive; of
 * several requests that match, the one started first gets it. */
GEXX_API void gexx_Notify_Start(gexx_Notify_t req);

/* Whether an active request has got its count, after which it is inactive; polls once when not.
 * [out] status: may be NULL. */
GEXX_API int gexx_Notify_Test(gexx_Notify_t req, gexx_Notify_Status_t *status);
GEXX_API void gexx_Notify_Wait(gexx_Notify_t req, gexx_Notify_Status_t *status);

/* Ends an inactive request. */
GEXX_API void gexx_Notify_Free(gexx_Notify_t req);

/* Kept notifications of this process: now, the most ever, all that were ever kept, and matched at
 * once; sends that had to wait for credit; dropped, because their team has ended. Restricted
 * context: yes. */
typedef struct {
  uint64_t gexx_kept, gexx_kept_max, gexx_kept_total, gexx_matched, gexx_stalls, gexx_credits;
  uint64_t gexx_dropped;
} gexx_Notify_Stats_t;
GEXX_API void gexx_Notify_QueryStats(gexx_Notify_Stats_t *stats);

#ifdef __cplusplus
}
#endif

#endif
