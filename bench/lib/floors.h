/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floors: abilities of the machine without Tombolo, as functions that bench_measure samples.
 *
 * Owns: nothing. Called by: the measuring programs. Calls: libc and the kernel, never the library.
 * Invariants: each returns ns per operation on rank 0. Two-sided ones are called by ranks 0 and 1.
 */
#ifndef TMB_BENCH_FLOORS_H
#define TMB_BENCH_FLOORS_H

#include "lib/bench.h"

/* Round trip of a hand-off: rank 0 writes one cache line, rank 1 sees it and writes another. */
bench_fn floor_handoff;

/* The hand-off with both ranks on one core, yielding to each other: two context switches. */
bench_fn floor_switch;

/* Lock-prefixed add: rank 0 alone; ranks 0 and 1 at once on one word (ns per add of one rank). */
bench_fn floor_add_alone;
bench_fn floor_add_contended;

/* Copies of 8 bytes, written out in the loop: test of a word in memory, then the copy, put or get
 * way. */
bench_fn floor_copy8_put;
bench_fn floor_copy8_get;

/* Loops that copy by a call of memcpy, for a size that the compiler does not know. */
bench_fn floor_copy_any_put;
bench_fn floor_copy_any_get;

#define FLOOR_WORDS 4 /* operations in each turn of the 8-byte loops, here and in the figures */

/* Where the 64 words of the next sample begin in their page: elsewhere each time, because a word
 * whose address agrees with that of an unrelated one in the low 12 bits is slow on many processors.
 */
size_t floor_word_offset(void);

/* memcpy between private memory and the peer's segment, through its mapping: the very bytes that
 * the put (out) or get (in) beside it copies, so in the same cache level and the same physical
 * pages. */
bench_fn floor_memcpy_put;
bench_fn floor_memcpy_get;
bench_fn floor_memcpy_private; /* both ends in private memory */

/* memcpy between the same memories, each copy from and to other addresses of windows of
 * FLOOR_COLD_BYTES. */
bench_fn floor_memcpy_put_cold;
bench_fn floor_memcpy_get_cold;

/* A message and its answer by hand: rank 0 copies from private to shared memory and writes a word;
 * rank 1 sees it, does the same, and rank 0 sees that. In a return rank 1 copies from the data that
 * rank 0 has written; in an echo, rank 0 copies the answer out, too. Once: rank 1 only answers. */
bench_fn floor_payload_once;
bench_fn floor_payload;
bench_fn floor_payload_return;
bench_fn floor_payload_echo;

/* Payload one way by hand: rank 0 copies into buffers in turn, rank 1 copies each out. */
bench_fn floor_payload_flood;
/* Payload both ways by hand: each rank by turns copies into a buffer, and the peer's out. */
bench_fn floor_payload_both;

/* Round trip of futex wake-ups between sleeping ranks. Rank 0 rests for FLOOR_REST_NS before, so
 * that both sleep in the kernel; n is taken as 1. */
bench_fn floor_futex;

#define FLOOR_COLD_BYTES ((size_t)32 << 20)
#define FLOOR_WARM_BYTES ((size_t)4 << 20) /* largest warm copy */
#define FLOOR_REST_NS    6000000 /* longer than any spinning: the peer is asleep for sure */

/* Private memory of 2 * FLOOR_COLD_BYTES, touched: source and destination of copies. */
char *floor_private(struct bench *b);

/* Sleep on rank 0 until rank 1 has been idle for FLOOR_REST_NS. */
void floor_rest(void);

/* Offset, in a window of FLOOR_COLD_BYTES, of the next copy of a cold walk: each line is used
 * once before any is used again. in bytes: a power of two. */
size_t floor_cold_next(size_t bytes);

#endif
