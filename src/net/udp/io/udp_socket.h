/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagram sockets as the engine's io.
 *
 * Owns the sockets of this rank and the table of the peers' addresses. Called by udp.c and by
 * tests. Calls the kernel. One socket for each rail, bound to its address, serves all peers. Runs
 * of packets to one peer leave in one call, cut by the kernel (UDP_SEGMENT), and arrive joined
 * (UDP_GRO), where it can; else one by one, many in a call. Invariant: nothing here blocks.
 */
#ifndef TMB_UDP_SOCKET_H
#define TMB_UDP_SOCKET_H

#include "net/udp/io/udp_addr.h"
#include "net/udp/io/udp_io.h"

struct udp_sockets;

/* Open a socket for each rail of the choice, bound to this rank's address. in own: its card. out
 * ports: of datagrams. Returns NULL, with the reason in errno. */
struct udp_sockets *udp_sockets_open(const struct udp_card *own, const struct udp_choice *choice,
                                     struct udp_ports *ports);

struct udp_join {
  struct udp_book_rows rows;
  const struct udp_choice *choice;
  bool offload; /* try UDP_SEGMENT and UDP_GRO */
  bool search;  /* the engine finds the longest packet, so the kernel must not divide them */
};

/* The cards and ports of all ranks are there: keep the addresses. Returns false without memory. */
bool udp_sockets_join(struct udp_sockets *s, const struct udp_join *join);

/* Whether the system has a route to one of a peer's addresses. Returns 0, or the errno that says
 * that there is none; other errors are left to the senders. Nothing is sent. */
int udp_sockets_route(const struct udp_sockets *s, uint32_t peer);

/* The addresses that packets go to; lives as long as the sockets. */
const struct udp_book *udp_sockets_book(const struct udp_sockets *s);

/* The io; closing it closes the sockets. */
struct udp_io udp_sockets_io(struct udp_sockets *s);

void udp_sockets_close(struct udp_sockets *s);

#endif
