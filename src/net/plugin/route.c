/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the kernel has a route to an address: see route.h. A datagram socket looks its route up
 * when it is connected.
 *
 * Owns nothing. Called by udp and ofi. Calls: socket, connect.
 */
#include "net/plugin/route.h"

#include <errno.h>
#include <unistd.h>

int tmb_route_check(const struct sockaddr *addr, socklen_t bytes) {
  const int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  const int error = connect(fd, addr, bytes) == 0 ? 0 : errno;
  close(fd);
  return error == ENETUNREACH || error == EHOSTUNREACH || error == ENETDOWN ? error : 0;
}
