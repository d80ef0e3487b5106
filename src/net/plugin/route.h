/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the kernel knows a way to an address.
 *
 * Owns nothing. Called by the conduits that use sockets, udp and ofi. Calls: socket, connect.
 * Invariant: nothing is sent.
 */
#ifndef TMB_NET_PLUGIN_ROUTE_H
#define TMB_NET_PLUGIN_ROUTE_H

#include <sys/socket.h>

/*
 * Ask the kernel for a route.
 * in addr, bytes: of a peer, IPv4 or IPv6, with a port that is not 0.
 * Returns 0 if there is one, or if that is not known; else an errno: ENETUNREACH, EHOSTUNREACH or
 * ENETDOWN. Threads: any. Cost: three system calls.
 */
int tmb_route_check(const struct sockaddr *addr, socklen_t bytes);

#endif
