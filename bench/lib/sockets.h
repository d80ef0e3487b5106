/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floors of a network: bare sockets between ranks 0 and 1, through the interfaces that the library
 * uses.
 *
 * Owns: one UDP and one TCP socket of this rank, connected to the other one. Called by:
 * tombolo-bench-net. Calls: libc and the kernel; to exchange addresses, the public API.
 * Invariants: only ranks 0 and 1 have sockets; they are bound to one address each, the first pair
 * of addresses of one network, or loopback where both ranks are on one machine.
 */
#ifndef TMB_BENCH_SOCKETS_H
#define TMB_BENCH_SOCKETS_H

#include "lib/bench.h"

#define SOCKETS_DATAGRAM_BYTES 64 /* of the round trip and of the bare send call */

/* Connect ranks 0 and 1; all ranks call it after bench_attach, once. in at, bytes: memory that
 * streams read and write: block after block of it at rank 1, its first block at rank 0. */
void sockets_open(struct bench *b, char *at, size_t bytes);

/* Round trip of a datagram, both ranks in busy loops around the receiving call. */
bench_fn floor_udp_rtt;

/* One call that sends a datagram; rank 1 receives. */
bench_fn floor_udp_send;

/* n * bytes bytes through TCP, until rank 1 has said that it has them all; ns for `bytes`. */
bench_fn floor_tcp_stream;

/* The same by datagrams of up to 64 KiB, which rank 1 reads into other memory and copies to their
 * place from there, as whoever checks them before must. Both ranks in busy loops around their
 * calls, a window of datagrams in flight; none may be lost. */
bench_fn floor_udp_stream;

#endif
