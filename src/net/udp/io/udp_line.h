/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines: connected sockets that only send, to the addresses that much is sent to.
 *
 * Owns these sockets. Called by udp_socket.c. Calls the kernel. The kernel looks for the path to an
 * address with each packet, unless the socket is connected: a tenth of a short round trip. A line
 * has a port of its own; nothing is received by it, because peers know a sender by the packet, and
 * answer to the port that its card names. Invariant: at most UDP_LINES sockets; who finds none free
 * sends through the common socket.
 */
#ifndef TMB_UDP_LINE_H
#define TMB_UDP_LINE_H

#include "net/udp/io/udp_addr.h"

#include <stdbool.h>
#include <stdint.h>

/* Peers with sockets of their own, at most. Chosen, not measured. */
#define UDP_LINES 16u

/* Treatment of a packet that is longer than a link of the path. */
enum udp_cutting {
  UDP_CUT_BY_KERNEL, /* as the kernel knows the path */
  UDP_CUT_NEVER,     /* it is dropped, and the sender finds out */
};

struct udp_lines {
  int family;
  enum udp_cutting cutting;
  uint32_t count;
  int fd[UDP_LINES];
  uint8_t *of; /* [addresses] calls so far, or number of the line, see udp_line.c */
};

/* Returns false without memory. */
bool udp_lines_open(struct udp_lines *lines, int family, uint32_t addresses,
                    enum udp_cutting cutting);
void udp_lines_close(struct udp_lines *lines);

/* The line to address number `index`, opened when it is asked for often. in addr: that address.
 * Returns a socket, or -1: there is none. */
int udp_line_get(struct udp_lines *lines, uint32_t index, const struct udp_addr *addr);

/* The line if it is open; does not count. */
int udp_line_look(const struct udp_lines *lines, uint32_t index);

/* Set the options of every socket that sends: its buffer, and that errors of the network are
 * queued. */
void udp_socket_prepare(int fd, int family, enum udp_cutting cutting);

#endif
