/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api.h: measurements of api.c for tombolo-bench-upc, in ns per operation.
 *
 * Included by api.c and tombolo-bench-upc.upc. Calls: nothing. Invariants: see api.c; both threads
 * call a function that takes `first`, with 1 on the one that begins.
 */
#ifndef BENCH_UPC_API_H
#define BENCH_UPC_API_H

/* Collective: takes shared memory. */
void api_start(void);
double api_now_ns(void);
double api_put_ns(int count);
double api_get_ns(int count);
double api_put_n_ns(int count); /* of a size that the compiler does not know, as the next one */
double api_get_n_ns(int count);
double api_handoff_ns(int first, int count);    /* a round trip */
double api_put_signal_ns(int first, int count); /* one way */

#endif
