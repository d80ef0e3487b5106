/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem.h: OpenSHMEM 1.6 on Tombolo.
 *
 * Owns the types, constants and prototypes of set-up, memory, teams, contexts, ordering, barriers
 * and locks; the other families are in shmem/. Included by every OpenSHMEM program. Needs no
 * thread mode of GASNet and includes none of its headers. Invariants: handles are opaque, zero is
 * the invalid one; every routine is a function, also under the name pshmem_ (pshmem.h). Programs
 * that are compiled with optimisation have bodies of put, get and atomics inline
 * (shmem/inline.h). docs/SHMEM.md is the guide.
 */
#ifndef SHMEM_H
#define SHMEM_H

#include "shmem/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page shmem_types: types and constants of OpenSHMEM.
 * Handles are opaque. Equal handles name the same object.
 * Completion: constants; nothing runs.
 * Threads: any thread.
 * Errors: none.
 * Cost: none.
 * See: shmem_init, shmem_ctx_create, shmem_team_split_strided
 * Names: SHMEM_THREAD_*: levels of threads, shmem_init_thread;
 * SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE: options of shmem_ctx_create;
 * SHMEM_CTX_SESSION_BATCH, SHMEM_CTX_SESSION_SAME_AMO: options of shmem_ctx_session_start;
 * SHMEM_MALLOC_*: hints of shmem_malloc_with_hints;
 * SHMEM_TEAM_NUM_CONTEXTS: config.num_contexts counts;
 * shmem_ctx_t: a context;
 * shmem_team_t: a team;
 * shmem_team_config_t: what a new team needs;
 * shmem_ctx_session_config_t: hints for a session;
 * SHMEM_*_VERSION: version of the specification, 1 and 6;
 * SHMEM_MAX_NAME_LEN: bytes of a name, the end included;
 * SHMEM_VENDOR_STRING: name of the library;
 * SHMEM_CTX_SESSION_TOTAL_OPS: config.total_ops counts;
 * SHMEM_SIGNAL_SET: a signal becomes the value;
 * SHMEM_SIGNAL_ADD: the value is added to a signal;
 * SHMEM_CMP_EQ, SHMEM_CMP_NE: equal, not equal;
 * SHMEM_CMP_GT, SHMEM_CMP_GE: greater, greater or equal;
 * SHMEM_CMP_LT, SHMEM_CMP_LE: less, less or equal;
 * SHMEM_SYNC_VALUE: each element of pSync at first;
 * SHMEM_SYNC_SIZE, SHMEM_*_SYNC_SIZE: elements of pSync;
 * SHMEM_REDUCE_MIN_WRKDATA_SIZE: least elements of pWrk */

#define SHMEM_MAJOR_VERSION     1
#define SHMEM_MINOR_VERSION     6
#define SHMEM_MAX_NAME_LEN      64
#define SHMEM_VENDOR_STRING     "Tombolo OpenSHMEM"

#define SHMEM_THREAD_SINGLE     0
#define SHMEM_THREAD_FUNNELED   1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE   3

/* Handles. */
typedef struct shmem_ctx_s *shmem_ctx_t;
typedef struct shmem_team_s *shmem_team_t;
#define SHMEM_CTX_INVALID  ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT  ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD   ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED  ((shmem_team_t)2)
#define SHMEM_TEAM_NODE    ((shmem_team_t)3)

typedef struct {
  int num_contexts;
} shmem_team_config_t;
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)
typedef struct {
  size_t total_ops;
} shmem_ctx_session_config_t;
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0)
#define SHMEM_CTX_SESSION_BATCH     (1L << 0)
#define SHMEM_CTX_SESSION_SAME_AMO  (1L << 1)

#define SHMEM_CTX_SERIALIZED        (1L << 0)
#define SHMEM_CTX_PRIVATE           (1L << 1)
#define SHMEM_CTX_NOSTORE           (1L << 2)

#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE  (1L << 1)

#define SHMEM_SIGNAL_SET            0
#define SHMEM_SIGNAL_ADD            1

/* Comparisons. */
enum shmem_cmp {
  SHMEM_CMP_EQ = 0,
  SHMEM_CMP_NE = 1,
  SHMEM_CMP_GT = 2,
  SHMEM_CMP_GE = 3,
  SHMEM_CMP_LT = 4,
  SHMEM_CMP_LE = 5
};

/* Work arrays of collectives of active sets. */
#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               36
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Page shmem_init: start, end and queries.
 * shmem_init starts the library on all PEs; shmem_finalize ends its use. A program that returns
 * from main without shmem_finalize is ended in one order.
 * [in] requested: SHMEM_THREAD_*, the level that the program needs.
 * [out] provided: the level that it has.
 * [out] initialized, finalized: not 0, the library is in this state.
 * [in] status: exit code of the program.
 * [in] pe: a PE of the program.
 * [in] addr: an address of this process.
 * [in] team: the team that counts pe.
 * [in] dest: a symmetric object, by its local address.
 * [out] major, minor: version of the specification.
 * [out] name: [SHMEM_MAX_NAME_LEN] name of the library.
 * [in] level: for a profiling library; the library ignores it.
 * Completion: shmem_init and shmem_finalize return after all PEs have called.
 * shmem_global_exit does not return.
 * Threads: shmem_init and shmem_finalize: one thread of each PE. Queries: any thread.
 * Errors: shmem_init ends the program with the reason where the job does not start.
 * Cost: shmem_init takes some milliseconds on one machine. Queries read a word.
 * See: shmem_malloc, shmem_put, oshrun(1)
 * Names: shmem_init, shmem_finalize: start and end;
 * shmem_init_thread: start with a level of threads;
 * shmem_global_exit: ends all PEs;
 * shmem_query_thread, shmem_query_initialized, shmem_query_finalized: level and state;
 * shmem_my_pe, shmem_n_pes: number of this PE, and of all;
 * shmem_pe_accessible, shmem_addr_accessible: 1 where PE, and address, can be reached;
 * shmem_ptr, shmem_team_ptr: the address here of the object of a PE, or NULL;
 * shmem_info_get_version, shmem_info_get_name: of the library;
 * shmem_pcontrol: does nothing;
 * SHMEM_THREAD_SINGLE: one thread;
 * SHMEM_THREAD_FUNNELED: only the main thread calls;
 * SHMEM_THREAD_SERIALIZED: one thread at a time calls;
 * SHMEM_THREAD_MULTIPLE: any threads call */

void shmem_init(void);
int shmem_init_thread(int requested, int *provided);
void shmem_finalize(void);
void shmem_global_exit(int status) __attribute__((__noreturn__));
void shmem_query_thread(int *provided);
void shmem_query_initialized(int *initialized);
void shmem_query_finalized(int *finalized);
int shmem_my_pe(void);
int shmem_n_pes(void);
int shmem_pe_accessible(int pe);
int shmem_addr_accessible(const void *addr, int pe);
void *shmem_ptr(const void *dest, int pe);
void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe);
void shmem_info_get_version(int *major, int *minor);
void shmem_info_get_name(char *name);
void shmem_pcontrol(const int level, ...);

/* Page shmem_malloc: symmetric memory.
 * Each PE gets a block at its own address; the block is symmetric. Memory that is not touched
 * costs nothing. All PEs call in one order with equal arguments.
 * [in] size: bytes; 0: nothing is done.
 * [in] count: elements.
 * [in] alignment: a power of two, at least sizeof(void *).
 * [in] hints: OR of SHMEM_MALLOC_*.
 * [in,out] ptr: a block of these calls, or NULL.
 * Completion: a call that does something ends, or begins (shmem_free), with a barrier.
 * Threads: one thread of each PE at a time.
 * Errors: NULL where the symmetric heap has no room; SHMEM_SYMMETRIC_SIZE sets its size. Alignments
 * above 2 MiB may give NULL.
 * Cost: a barrier.
 * See: shmem_init, shmem_put
 * Names: shmem_malloc, shmem_malloc_with_hints: a block;
 * shmem_calloc: a block of zeros;
 * shmem_align: a block at a multiple of alignment;
 * shmem_realloc: the block with another size, and its contents;
 * shmem_free: ends a block;
 * SHMEM_MALLOC_ATOMICS_REMOTE: mostly atomics of other PEs;
 * SHMEM_MALLOC_SIGNAL_REMOTE: mostly signals of other PEs */

void *shmem_malloc(size_t size);
void *shmem_calloc(size_t count, size_t size);
void *shmem_align(size_t alignment, size_t size);
void *shmem_malloc_with_hints(size_t size, long hints);
void *shmem_realloc(void *ptr, size_t size);
void shmem_free(void *ptr);

/* Page shmem_team_split_strided: teams.
 * A team is an ordered set of PEs. Contexts and collectives use it.
 * [in] team, parent_team, src_team, dest_team: a team.
 * [in] start, stride, size: the members: PEs start, start + stride, ... of the parent.
 * [in] xrange: PEs of a row.
 * [in] config, xaxis_config, yaxis_config, config_mask, xaxis_mask, yaxis_mask: what the new team
 * needs; the mask says which members count.
 * [out] new_team, xaxis_team, yaxis_team: the team, or SHMEM_TEAM_INVALID.
 * [in] src_pe: a PE of src_team.
 * Completion: shmem_team_split_* return when the team may be used.
 * Threads: collective calls: one thread of each PE at a time for a parent.
 * Errors: the splits return 0, or another value where no team is made.
 * Cost: about log2(members) messages; queries read a word.
 * See: shmem_ctx_create, shmem_broadcast
 * Names: shmem_team_my_pe, shmem_team_n_pes: number of this PE in the team, and of members; -1
 * without; shmem_team_get_config: with what the team was made; shmem_team_translate_pe: number of a
 * PE in another team, or -1; shmem_team_split_strided: a team of members at equal distances;
 * shmem_team_split_2d: a team for the row and one for the column of each PE;
 * shmem_team_destroy: ends a team;
 * SHMEM_TEAM_WORLD: all PEs;
 * SHMEM_TEAM_SHARED: the PEs for which shmem_ptr gives an address;
 * SHMEM_TEAM_NODE: the PEs of the host;
 * SHMEM_TEAM_INVALID: no team;
 * SHMEM_TEAM_NUM_CONTEXTS: config.num_contexts counts */

int shmem_team_my_pe(shmem_team_t team);
int shmem_team_n_pes(shmem_team_t team);
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask,
                             shmem_team_t *new_team);
int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
                        const shmem_team_config_t *xaxis_config, long xaxis_mask,
                        shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                        long yaxis_mask, shmem_team_t *yaxis_team);
void shmem_team_destroy(shmem_team_t team);

/* Page shmem_ctx_create: contexts, sessions, order and completion.
 * A context is a set of operations that shmem_ctx_fence orders and shmem_ctx_quiet completes.
 * Threads that have contexts of their own share no lock.
 * [in] options: OR of SHMEM_CTX_*, or of SHMEM_CTX_SESSION_*.
 * [in] team: the PEs that the context reaches.
 * [in,out] ctx: the context; [out]: SHMEM_CTX_INVALID where none is made.
 * [in] config, config_mask: hints for a session.
 * [in] target_pe: the PE, in the team of the context.
 * Completion: shmem_fence orders operations of the context to each PE; shmem_quiet completes all.
 * shmem_ctx_destroy completes those of the context.
 * Threads: any thread; a context with SHMEM_CTX_PRIVATE only the one that made it.
 * Errors: shmem_ctx_create returns 0, or another value where no context is made.
 * Cost: a fence of memory where all PEs share it, else a wait for what is outstanding.
 * See: shmem_put, shmem_team_split_strided
 * Names: shmem_ctx_create, shmem_team_create_ctx: a context of all PEs, or of a team;
 * shmem_ctx_destroy: completes and ends a context;
 * shmem_ctx_get_team: its team;
 * shmem_ctx_session_start, shmem_ctx_session_stop: a session, which is a hint;
 * shmem_fence, shmem_ctx_fence: order;
 * shmem_quiet, shmem_ctx_quiet: completion;
 * shmem_pe_quiet, shmem_ctx_pe_quiet: completion at one PE;
 * SHMEM_CTX_DEFAULT: the context of routines without one;
 * SHMEM_CTX_INVALID: no context;
 * SHMEM_CTX_SERIALIZED: one thread at a time;
 * SHMEM_CTX_PRIVATE: one thread;
 * SHMEM_CTX_NOSTORE: stores are not ordered;
 * SHMEM_CTX_SESSION_BATCH: many small operations follow;
 * SHMEM_CTX_SESSION_SAME_AMO: one atomic operation on one type follows, many times */

int shmem_ctx_create(long options, shmem_ctx_t *ctx);
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);
void shmem_ctx_destroy(shmem_ctx_t ctx);
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);
void shmem_ctx_session_start(shmem_ctx_t ctx, long options,
                             const shmem_ctx_session_config_t *config, long config_mask);
void shmem_ctx_session_stop(shmem_ctx_t ctx);
void shmem_fence(void);
void shmem_quiet(void);
void shmem_pe_quiet(int target_pe);
void shmem_ctx_fence(shmem_ctx_t ctx);
void shmem_ctx_quiet(shmem_ctx_t ctx);
void shmem_ctx_pe_quiet(shmem_ctx_t ctx, int target_pe);

/* Page shmem_barrier_all: barriers and locks.
 * A lock is a symmetric long, zero at first. PEs get it in the order in which they ask.
 * [in] team: the team.
 * [in,out] lock: the lock.
 * Completion: a barrier returns after all PEs have entered it; shmem_barrier_all completes the
 * operations of the default context first. shmem_set_lock returns with the lock.
 * Threads: one thread of each PE at a time for one team. A lock may be used by all threads of a PE.
 * Errors: shmem_test_lock returns 0 with the lock, 1 without.
 * Cost: a barrier takes one step in shared memory. A lock takes one atomic operation where it is
 * free; waiting PEs sleep.
 * See: shmem_quiet, shmem_team_split_strided
 * Names: shmem_barrier_all: completes, and waits for all PEs;
 * shmem_sync_all, shmem_team_sync: waits for all PEs, or those of the team;
 * shmem_set_lock, shmem_test_lock: get the lock, or get it if it is free;
 * shmem_clear_lock: completes the default context, and gives the lock to the next PE */

void shmem_barrier_all(void);
void shmem_sync_all(void);
int shmem_team_sync(shmem_team_t team);
void shmem_set_lock(long *lock);
void shmem_clear_lock(long *lock);
int shmem_test_lock(long *lock);

/* The first argument of forms without a context, and with one. */
#define SHMEM_NO_CTX_
#define SHMEM_CTX_ARG_ shmem_ctx_t ctx,

#include "shmem/atomic.h"
#include "shmem/coll.h"
#include "shmem/deprecated.h"
#include "shmem/rma.h"
#include "shmem/wait.h"
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(SHMEM_NO_INLINE) && \
    !defined(SHMEM_NO_GENERIC_)
# include "shmem/inline.h"
#endif

#ifdef __cplusplus
}
#endif

#if !defined(SHMEM_NO_GENERIC_) && !defined(__cplusplus) && defined(__STDC_VERSION__) && \
    __STDC_VERSION__ >= 201112L
# include "shmem/generic.h"
#elif defined(__cplusplus) && __cplusplus >= 201103L && !defined(SHMEM_NO_GENERIC_) && \
    !defined(SHMEM_NO_OVERLOAD)
# include "shmem/overload.h"
#endif

#endif
