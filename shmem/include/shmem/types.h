/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/types.h: the types of each family of OpenSHMEM routines, one list for each.
 *
 * Owns: lists of X(TYPENAME, TYPE), from which declarations, definitions and generic selections are
 * made. Included by shmem.h. Calls nothing. Invariant: the lists are the tables of OpenSHMEM 1.6.
 */
#ifndef SHMEM_TYPES_H
#define SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Complex numbers; in C++ an extension of the compilers. A std::complex of them looks alike. */
__extension__ typedef float _Complex shmem_complexf_;
__extension__ typedef double _Complex shmem_complexd_;

/* Parts of the lists. */
#define SHMEM_TYPES_SIGNED_(X) X(int, int) X(long, long) X(longlong, long long)
#define SHMEM_TYPES_UNSIGNED_(X) \
 X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define SHMEM_TYPES_FIXED_(X) \
 X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define SHMEM_TYPES_SMALL_(X) \
 X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)

/* Integers that each table has. */
#define SHMEM_TYPES_WORD_(X) \
 SHMEM_TYPES_SIGNED_(X)      \
 SHMEM_TYPES_UNSIGNED_(X)    \
 SHMEM_TYPES_FIXED_(X)       \
 X(size, size_t)             \
 X(ptrdiff, ptrdiff_t)

/* Put, get and the collectives that move data. */
#define SHMEM_TYPES_RMA_(X) \
 SHMEM_TYPES_WORD_(X)       \
 SHMEM_TYPES_SMALL_(X)      \
 X(float, float)            \
 X(double, double)          \
 X(longdouble, long double) \
 X(char, char)              \
 X(schar, signed char)      \
 X(short, short)            \
 X(uchar, unsigned char)    \
 X(ushort, unsigned short)

/* Atomics: compare_swap, inc, add and their relatives; fetch, set and swap; bitwise ones. */
#define SHMEM_TYPES_AMO_(X)     SHMEM_TYPES_WORD_(X)
#define SHMEM_TYPES_AMO_EXT_(X) SHMEM_TYPES_WORD_(X) X(float, float) X(double, double)
#define SHMEM_TYPES_AMO_BIT_(X) SHMEM_TYPES_UNSIGNED_(X) SHMEM_TYPES_FIXED_(X)

/* Waits and tests. */
#define SHMEM_TYPES_WAIT_(X)    SHMEM_TYPES_WORD_(X) X(short, short) X(ushort, unsigned short)

/* Reductions of teams: AND, OR, XOR; MAX, MIN; SUM, PROD and scans (complex types apart). */
#define SHMEM_TYPES_REDUCE_BIT_(X) \
 SHMEM_TYPES_UNSIGNED_(X)          \
 SHMEM_TYPES_FIXED_(X)             \
 SHMEM_TYPES_SMALL_(X)             \
 X(uchar, unsigned char)           \
 X(ushort, unsigned short)         \
 X(size, size_t)
#define SHMEM_TYPES_REDUCE_(X)   SHMEM_TYPES_RMA_(X)
#define SHMEM_TYPES_COMPLEX_(X)  X(complexf, shmem_complexf_) X(complexd, shmem_complexd_)

/* Reductions of active sets. */
#define SHMEM_TYPES_ASET_BIT_(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define SHMEM_TYPES_ASET_(X) \
 SHMEM_TYPES_ASET_BIT_(X) X(float, float) X(double, double) X(longdouble, long double)

/* Deprecated atomics and waits of 1.0 to 1.3. */
#define SHMEM_TYPES_OLD_AMO_(X)     SHMEM_TYPES_SIGNED_(X)
#define SHMEM_TYPES_OLD_AMO_EXT_(X) SHMEM_TYPES_OLD_AMO_(X) X(float, float) X(double, double)
#define SHMEM_TYPES_OLD_WAIT_(X)    SHMEM_TYPES_OLD_AMO_(X) X(short, short)

/* The plain type of int64_t, for generic selection. */
#if defined(__INT64_TYPE__) && __SIZEOF_LONG__ == 8
# define SHMEM_INT64_PLAIN_ long
#else
# define SHMEM_INT64_PLAIN_ long long
#endif

/* Sizes of elements: bits, bytes. */
#define SHMEM_SIZES_(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

#endif
