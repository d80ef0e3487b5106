/* SPDX-License-Identifier: BSD-3-Clause */
/* With a fixed number of threads THREADS is a constant like others. */
/* threads: 4 */
#include <upc.h>

#if THREADS != 4
# error THREADS is not a macro
#endif
shared int no_threads[10];
shared int square[THREADS][THREADS];
shared int sum[10 + THREADS];
shared [THREADS] int layout[THREADS * 10];
shared [*] int star[10];
shared [-THREADS] int negative[THREADS];  /* error: the block size is negative */
char size[sizeof(square) == 64 ? 1 : -1];
char block[upc_blocksizeof(star) == 3 ? 1 : -1];
