/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_types.h>: operations, types and flags of UPC's libraries (UPC 1.3 library section 7.3).
 *
 * Included by the other headers of UPC, and by plain C. The values are those that other
 * implementations have, since programs store them in files and tables.
 */
#ifndef UPC_TYPES_H
#define UPC_TYPES_H

/* Page upc_op_t: operations, types and flags of UPC's libraries.
 * A flag of UPC_IN_ and one of UPC_OUT_ are joined by |. Without one of them the call acts as
 * with ALLSYNC.
 * Names: UPC_CHAR, UPC_UCHAR, UPC_SHORT, UPC_USHORT, UPC_INT, UPC_UINT, UPC_LONG, UPC_ULONG,
 * UPC_LLONG, UPC_ULLONG, UPC_FLOAT, UPC_DOUBLE, UPC_LDOUBLE: the type of C with this name;
 * UPC_INT8, UPC_INT16, UPC_INT32, UPC_INT64, UPC_UINT8, UPC_UINT16, UPC_UINT32, UPC_UINT64: the
 * integer of so many bits; UPC_PTS: a pointer-to-shared
 * Example: examples/upc/library.upc UPC_IN_ALLSYNC
 * See: upc_atomic_strict, upc_all_reduceI, upc_all_broadcast */
typedef unsigned long upc_op_t; /* an operation, or several joined by | */
#define UPC_ADD    (1UL << 0)   /* sum */
#define UPC_MULT   (1UL << 1)   /* product */
#define UPC_AND    (1UL << 2)   /* and, bit by bit */
#define UPC_OR     (1UL << 3)   /* or, bit by bit */
#define UPC_XOR    (1UL << 4)   /* exclusive or, bit by bit */
#define UPC_LOGAND (1UL << 5)   /* 1 if all are other than 0, else 0 */
#define UPC_LOGOR  (1UL << 6)   /* 1 if any is other than 0, else 0 */
#define UPC_MIN    (1UL << 7)   /* the least */
#define UPC_MAX    (1UL << 8)   /* the greatest */

typedef int upc_type_t; /* a type */
#define UPC_CHAR    1
#define UPC_UCHAR   2
#define UPC_SHORT   3
#define UPC_USHORT  4
#define UPC_INT     5
#define UPC_UINT    6
#define UPC_LONG    7
#define UPC_ULONG   8
#define UPC_LLONG   9
#define UPC_ULLONG  10
#define UPC_INT8    11
#define UPC_UINT8   12
#define UPC_INT16   13
#define UPC_UINT16  14
#define UPC_INT32   15
#define UPC_UINT32  16
#define UPC_INT64   17
#define UPC_UINT64  18
#define UPC_FLOAT   19
#define UPC_DOUBLE  20
#define UPC_LDOUBLE 21
#define UPC_PTS     22

typedef int upc_flag_t;    /* flags of a collective operation */
#define UPC_IN_ALLSYNC  1  /* no data are read before all threads have called */
#define UPC_IN_MYSYNC   2  /* only data of threads that have called are read or written */
#define UPC_IN_NOSYNC   4  /* data may be read and written as soon as one thread has called */
#define UPC_OUT_ALLSYNC 8  /* no thread returns before all data have been read and written */
#define UPC_OUT_MYSYNC  16 /* no thread returns before its own data have been moved */
#define UPC_OUT_NOSYNC  32 /* a thread may return at any time; a later barrier is needed */

#endif
