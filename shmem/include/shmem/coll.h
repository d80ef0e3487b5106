/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/coll.h: collectives of teams (OpenSHMEM 1.6, 9.9).
 *
 * Owns: prototypes, made from the lists of types. Included by shmem.h. Calls nothing. Invariant:
 * every member of the team calls, in one order.
 */
#ifndef SHMEM_COLL_H
#define SHMEM_COLL_H

/* Page shmem_broadcast: collectives of teams.
 * Every member of the team calls with equal arguments, in one order. dest and source are
 * symmetric; they are the same array or do not overlap.
 * [in] team: the team.
 * [out] dest: where the result goes.
 * [in] source: the data of the caller.
 * [in] nelems, nreduce: elements of the caller, or for each PE of alltoall.
 * [in] dst, sst: of alltoalls, from one element to the next.
 * [in] PE_root: the PE of the team that has the data.
 * Completion: on return dest is final and source may be changed.
 * Threads: one thread at a time for one team.
 * Errors: zero is returned on success, another value where the team is SHMEM_TEAM_INVALID.
 * Cost: one step in shared memory for short data, and about log2(hosts) messages between hosts.
 * Example: examples/shmem/stencil.c shmem_sum_reduce(
 * See: shmem_team_split_strided, shmem_barrier_all
 * Names: shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem,
 * shmem_alltoallsmem: the same in bytes;
 * shmem_*_broadcast: the root's data go to all;
 * shmem_*_collect, shmem_*_fcollect: the data of all, one behind the other, on all; of different or
 * of equal lengths;
 * shmem_*_alltoall, shmem_*_alltoalls: block j of PE i becomes block i of PE j;
 * shmem_*_and_reduce, shmem_*_or_reduce, shmem_*_xor_reduce, shmem_*_max_reduce,
 * shmem_*_min_reduce, shmem_*_sum_reduce, shmem_*_prod_reduce: combined element by element;
 * shmem_*_sum_inscan, shmem_*_sum_exscan: sums over the PEs up to, or below, the caller */

#define SHMEM_DECLARE_(N, T, E)                                                          \
 int shmem_##N##broadcast##E(shmem_team_t team, T *dest, const T *source, size_t nelems, \
                             int PE_root);                                               \
 int shmem_##N##collect##E(shmem_team_t team, T *dest, const T *source, size_t nelems);  \
 int shmem_##N##fcollect##E(shmem_team_t team, T *dest, const T *source, size_t nelems); \
 int shmem_##N##alltoall##E(shmem_team_t team, T *dest, const T *source, size_t nelems); \
 int shmem_##N##alltoalls##E(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, \
                             ptrdiff_t sst, size_t nelems);
#define SHMEM_DECLARE_TYPE_(N, T) SHMEM_DECLARE_(N##_, T, )
SHMEM_TYPES_RMA_(SHMEM_DECLARE_TYPE_)
SHMEM_DECLARE_(, void, mem)
#undef SHMEM_DECLARE_TYPE_
#undef SHMEM_DECLARE_

#define SHMEM_DECLARE_(N, T, OP) \
 int shmem_##N##_##OP(shmem_team_t team, T *dest, const T *source, size_t nreduce);
#define SHMEM_DECLARE_BIT_(N, T)  \
 SHMEM_DECLARE_(N, T, and_reduce) \
 SHMEM_DECLARE_(N, T, or_reduce)  \
 SHMEM_DECLARE_(N, T, xor_reduce)
#define SHMEM_DECLARE_ORDER_(N, T) \
 SHMEM_DECLARE_(N, T, max_reduce)  \
 SHMEM_DECLARE_(N, T, min_reduce)
#define SHMEM_DECLARE_SUM_(N, T)   \
 SHMEM_DECLARE_(N, T, sum_reduce)  \
 SHMEM_DECLARE_(N, T, prod_reduce) \
 SHMEM_DECLARE_(N, T, sum_inscan)  \
 SHMEM_DECLARE_(N, T, sum_exscan)
SHMEM_TYPES_REDUCE_BIT_(SHMEM_DECLARE_BIT_)
SHMEM_TYPES_REDUCE_(SHMEM_DECLARE_ORDER_)
SHMEM_TYPES_REDUCE_(SHMEM_DECLARE_SUM_)
SHMEM_TYPES_COMPLEX_(SHMEM_DECLARE_SUM_)
#undef SHMEM_DECLARE_
#undef SHMEM_DECLARE_BIT_
#undef SHMEM_DECLARE_ORDER_
#undef SHMEM_DECLARE_SUM_

#endif
