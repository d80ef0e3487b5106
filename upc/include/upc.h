/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc.h>: the core library of UPC (UPC 1.3 section 7.2).
 *
 * Included by UPC programs. Functions: libtombolo-upc. Every one that takes a pointer-to-shared
 * takes any; allocation returns null where there is no room.
 */
#ifndef UPC_H
#define UPC_H

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include <upc_types.h>

/* Page upc_barrier: statements, operators and constants of the language UPC.
 * The compiler `tombolo upcc` knows these words; no header declares them.
 * Synopsis: `shared [BLOCK] TYPE NAME[SIZE * THREADS];` `strict shared TYPE NAME;` `relaxed
 * shared TYPE NAME;` `upc_forall (INIT; CONDITION; STEP; AFFINITY) STATEMENT` `upc_barrier
 * [VALUE];` `upc_notify [VALUE];` `upc_wait [VALUE];` `upc_fence;` `upc_localsizeof(OBJECT or
 * TYPE)` `upc_blocksizeof(OBJECT or TYPE)` `upc_elemsizeof(OBJECT or TYPE)`
 * Names: MYTHREAD: number of the calling thread, from 0; THREADS: number of threads;
 * UPC_MAX_BLOCK_SIZE: largest block of a layout, in elements; shared: qualifier of an object
 * that all threads reach; strict, relaxed: order of accesses to a shared object; upc_forall: a
 * loop whose iterations the threads share, by the affinity of an address or a number;
 * upc_barrier: waits until all threads have come, with the same value; upc_notify: first half of
 * a barrier; upc_wait: second half of a barrier; upc_fence: earlier accesses of this thread are
 * complete before later ones; upc_localsizeof: bytes of a shared object on one thread;
 * upc_blocksizeof: elements of a block; upc_elemsizeof: bytes of an element
 * Completion: after upc_barrier, and after upc_wait, all threads see earlier accesses of all.
 * Threads: upc_barrier, upc_notify, upc_wait and upc_forall are collective.
 * Errors: different values of a barrier end the job, and so does upc_wait without upc_notify.
 * Cost: that of the team's barrier; upc_fence waits for the calling thread's puts alone.
 * Example: examples/upc/matmul.upc upc_forall (int
 * See: upc_lock, upc_memput, tombolo-upcc(1) */

/* Page upc_global_exit: end a UPC job.
 * Completion: the program's output is flushed; shared memory is unmapped.
 * Threads: any one thread; not collective.
 * Errors: none; the job ends with status.
 * Cost: a message to each thread.
 * Example: examples/upc/library.upc upc_global_exit
 * See: tombolo-upcc(1) */
/* Ends all threads. [in] status: exit code of the job. Does not return. UPC 1.3, 7.2.1. */
void upc_global_exit(int status) __attribute__((__noreturn__));

/* Page upc_alloc: allocate shared memory in UPC.
 * [in] nblocks: blocks that are spread over all threads, the first on thread 0. [in] nbytes: of
 * a block; of upc_alloc: of the whole object. [in] ptr: a result of an allocation, or null:
 * nothing happens.
 * Completion: an allocation is usable at once; freed memory may be allocated again at once.
 * Threads: upc_all_alloc and upc_all_free are collective, the others are called by one thread.
 * Errors: no room: the result is null. A pointer that no allocation gave ends the job.
 * Cost: a search in a heap; upc_global_alloc asks thread 0, by a message between hosts.
 * See: upc_threadof, upc_memput */
/* Allocates one object, shared [nbytes] char[nblocks * nbytes]. Each call gives another object. */
shared void *upc_global_alloc(size_t nblocks, size_t nbytes);
/* Allocates such an object by all threads together. Every thread gets the same pointer, none before
 * all have called. */
shared void *upc_all_alloc(size_t nblocks, size_t nbytes);
/* Allocates nbytes with affinity to the calling thread. */
shared void *upc_alloc(size_t nbytes);
/* Allocates nblocks times nbytes with affinity to the calling thread; of UPC 1.1. */
shared void *upc_local_alloc(size_t nblocks, size_t nbytes);
/* Frees an object, which any thread may do once. */
void upc_free(shared void *ptr);
/* Frees an object once all threads have called this. */
void upc_all_free(shared void *ptr);

/* Page upc_threadof: parts of a pointer-to-shared.
 * [in] ptr: a pointer-to-shared.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none.
 * Cost: a few instructions, inline.
 * See: upc_alloc, upc_cast */
/* Returns the thread that the object has affinity to. */
size_t upc_threadof(shared void *ptr);
/* Returns the place in the block, from 0. */
size_t upc_phaseof(shared void *ptr);
/* Returns the offset in the shared memory of the thread. */
size_t upc_addrfield(shared void *ptr);
/* Returns the same pointer with phase 0. */
shared void *upc_resetphase(shared void *ptr);
/* Returns how many bytes of an object of totalsize bytes in blocks of nbytes lie on a thread. [in]
 * totalsize: bytes of the object. [in] nbytes: of a block, 0: all on thread 0. [in] threadid: the
 * thread. */
size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid);

/* Page upc_lock: locks of UPC.
 * [in] ptr: a lock.
 * Completion: accesses before upc_unlock are seen by the thread that takes the lock next.
 * Threads: the calls with all in their name are collective, the others are called by one thread.
 * Errors: a null lock, and upc_unlock of a lock that no thread holds, end the job with a
 * message. A thread that locks a lock it holds waits for ever; `tombolo why` says so.
 * Cost: a free lock on the same host: one atomic operation; on another host a round trip.
 * Threads get it in the order in which they ask.
 * See: upc_atomic_strict, bupc_sem_wait, tombolo-why(1) */
typedef shared struct upcr_lock upc_lock_t; /* a lock */
/* Makes a lock, free, for the calling thread alone. */
upc_lock_t *upc_global_lock_alloc(void);
/* Makes one lock for all threads; a collective call. */
upc_lock_t *upc_all_lock_alloc(void);
/* Takes the lock; waits for it. */
void upc_lock(upc_lock_t *ptr);
/* Takes the lock if it is free. Returns 1 if it did, else 0. */
int upc_lock_attempt(upc_lock_t *ptr);
/* Gives the lock back; the next thread that waits gets it. */
void upc_unlock(upc_lock_t *ptr);
/* Frees the lock. A null lock is ignored. */
void upc_lock_free(upc_lock_t *ptr);
/* Frees the lock once all threads have called this. */
void upc_all_lock_free(upc_lock_t *ptr);
/* Does nothing: a lock is free when it is made; of UPC 1.0. */
void upc_lock_init(upc_lock_t *ptr);

/* Page upc_memput: copies between shared and private memory.
 * [in] dst: where the bytes go; they do not overlap src. [in] src: where they come from. [in] n:
 * bytes. [in] c: the byte that is written.
 * Completion: when a call returns, private memory may be used again; shared memory of another
 * host is written by the next upc_fence, upc_barrier, strict access or upc_unlock.
 * Threads: the calling thread alone.
 * Errors: a pointer-to-shared that points to no shared memory ends the job with a message.
 * Cost: on the same host a memcpy; between hosts a put or a get of the network.
 * See: upc_memput_nb, bupc_memput_signal */
/* Copies n bytes between two places in shared memory. */
void upc_memcpy(shared void *restrict dst, shared const void *restrict src, size_t n);
/* Copies n bytes of shared memory to private memory. */
void upc_memget(void *restrict dst, shared const void *restrict src, size_t n);
/* Copies n bytes of private memory to shared memory. */
void upc_memput(shared void *restrict dst, const void *restrict src, size_t n);
/* Sets n bytes of shared memory to c. */
void upc_memset(shared void *dst, int c, size_t n);

#ifndef BUPC_DISABLE_EXTENSIONS
# include <bupc_extensions.h>
#endif

#endif
