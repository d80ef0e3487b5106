/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/deprecated.h: names of OpenSHMEM 1.0 to 1.4 that 1.6 still has, for older programs.
 *
 * Owns: prototypes and constants. Included by shmem.h. Calls nothing. Invariant: each has a
 * successor, which the specification names in its list of deprecated routines.
 */
#ifndef SHMEM_DEPRECATED_H
#define SHMEM_DEPRECATED_H

#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_SYNC_SIZE               SHMEM_SYNC_SIZE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_ALLTOALLS_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE

/* Page start_pes: deprecated routines of OpenSHMEM.
 * Older programs call them; new ones call what the specification names in their place.
 * [in] npes: ignored.
 * [in] size, alignment, ptr: as shmem_malloc, shmem_align and shmem_realloc.
 * [in] source, nelems, nreduce, dst, sst: as the collectives of teams.
 * [in] cond, value, pe: as the atomics.
 * [in] ivar, cmp, cmp_value: as shmem_wait_until.
 * [in] PE_start, logPE_stride, PE_size: the active set: PE_size PEs from PE_start on, 2 to the
 * power of logPE_stride apart.
 * [in] pSync: work array of SHMEM_*_SYNC_SIZE elements, SHMEM_SYNC_VALUE at first.
 * [in] pWrk: work array; this library does not use it.
 * [in] PE_root: the root, counted in the active set.
 * Completion: as the routines in their place.
 * Threads: as the routines in their place.
 * Errors: as the routines in their place.
 * Cost: collectives of active sets send more messages than those of teams.
 * See: shmem_init, shmem_atomic_add, shmem_broadcast, shmem_wait_until
 * Names: start_pes: shmem_init;
 * _my_pe: shmem_my_pe;
 * _num_pes, num_pes: shmem_n_pes;
 * shmalloc, shrealloc, shmemalign, shfree: shmem_malloc, shmem_realloc, shmem_align, shmem_free;
 * shmem_finalized: 1 after shmem_finalize, else 0;
 * shmem_barrier, shmem_sync: a barrier of the active set, with and without shmem_quiet;
 * shmem_broadcast*, shmem_collect*, shmem_fcollect*, shmem_alltoall*: moves elements of 32 or 64
 * bits in the active set;
 * shmem_*_to_all: reductions of active sets;
 * shmem_*_cswap, shmem_*_swap, shmem_swap: exchange;
 * shmem_*_finc, shmem_*_fadd, shmem_*_inc, shmem_*_add: add;
 * shmem_*_fetch, shmem_*_set: read, write;
 * shmem_wait_until: shmem_long_wait_until;
 * shmem_*_wait, shmem_wait: waits until the word is not cmp_value;
 * shmem_*_inv, shmem_udcflush, shmem_udcflush_line: nothing; caches are coherent */

void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
int num_pes(void);
void *shmalloc(size_t size);
void *shrealloc(void *ptr, size_t size);
void *shmemalign(size_t alignment, size_t size);
void shfree(void *ptr);
int shmem_finalized(void);

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);
void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);
#define SHMEM_DECLARE_(B)                                                                          \
 void shmem_broadcast##B(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, \
                         int logPE_stride, int PE_size, long *pSync);                              \
 void shmem_collect##B(void *dest, const void *source, size_t nelems, int PE_start,                \
                       int logPE_stride, int PE_size, long *pSync);                                \
 void shmem_fcollect##B(void *dest, const void *source, size_t nelems, int PE_start,               \
                        int logPE_stride, int PE_size, long *pSync);                               \
 void shmem_alltoall##B(void *dest, const void *source, size_t nelems, int PE_start,               \
                        int logPE_stride, int PE_size, long *pSync);                               \
 void shmem_alltoalls##B(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,             \
                         size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEM_DECLARE_(32)
SHMEM_DECLARE_(64)
#undef SHMEM_DECLARE_

#define SHMEM_DECLARE_(N, T, OP)                                                     \
 void shmem_##N##_##OP##_to_all(T *dest, const T *source, int nreduce, int PE_start, \
                                int logPE_stride, int PE_size, T *pWrk, long *pSync);
#define SHMEM_DECLARE_BIT_(N, T) \
 SHMEM_DECLARE_(N, T, and)       \
 SHMEM_DECLARE_(N, T, or)        \
 SHMEM_DECLARE_(N, T, xor)
#define SHMEM_DECLARE_ORDER_(N, T) \
 SHMEM_DECLARE_(N, T, max)         \
 SHMEM_DECLARE_(N, T, min)
#define SHMEM_DECLARE_SUM_(N, T) \
 SHMEM_DECLARE_(N, T, sum)       \
 SHMEM_DECLARE_(N, T, prod)
SHMEM_TYPES_ASET_BIT_(SHMEM_DECLARE_BIT_)
SHMEM_TYPES_ASET_(SHMEM_DECLARE_ORDER_)
SHMEM_TYPES_ASET_(SHMEM_DECLARE_SUM_)
SHMEM_TYPES_COMPLEX_(SHMEM_DECLARE_SUM_)
#undef SHMEM_DECLARE_
#undef SHMEM_DECLARE_BIT_
#undef SHMEM_DECLARE_ORDER_
#undef SHMEM_DECLARE_SUM_

#define SHMEM_DECLARE_(N, T)                            \
 T shmem_##N##_cswap(T *dest, T cond, T value, int pe); \
 T shmem_##N##_finc(T *dest, int pe);                   \
 T shmem_##N##_fadd(T *dest, T value, int pe);          \
 void shmem_##N##_inc(T *dest, int pe);                 \
 void shmem_##N##_add(T *dest, T value, int pe);
SHMEM_TYPES_OLD_AMO_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_
#define SHMEM_DECLARE_(N, T)                     \
 T shmem_##N##_fetch(const T *dest, int pe);     \
 void shmem_##N##_set(T *dest, T value, int pe); \
 T shmem_##N##_swap(T *dest, T value, int pe);
SHMEM_TYPES_OLD_AMO_EXT_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_
long shmem_swap(long *dest, long value, int pe);

#define SHMEM_DECLARE_(N, T) void shmem_##N##_wait(T *ivar, T cmp_value);
SHMEM_TYPES_OLD_WAIT_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_
void shmem_wait(long *ivar, long cmp_value);
void shmem_wait_until(long *ivar, int cmp, long cmp_value);

void shmem_set_cache_inv(void);
void shmem_clear_cache_inv(void);
void shmem_udcflush(void);
void shmem_set_cache_line_inv(void *dest);
void shmem_clear_cache_line_inv(void *dest);
void shmem_udcflush_line(void *dest);

#endif
