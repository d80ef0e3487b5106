/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines, see udp_line.h.
 *
 * Owns the sockets. Called by udp_socket.c. Calls the kernel. For each address a byte: the number
 * of calls so far below CALLS, then CALLS + the number of its line, or NEVER. Invariant: a line is
 * open from the call that makes it until the end.
 */
#include "net/udp/io/udp_line.h"

#include "base/compiler.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

/* Chosen, not measured. */
#define CALLS        64u /* sends to a peer, before it gets a socket of its own */
#define NEVER        UINT8_MAX
#define BUFFER_BYTES (4 << 20) /* of its socket, each direction */

_Static_assert(CALLS + UDP_LINES < NEVER, "a line's number fits into its byte");

bool udp_lines_open(struct udp_lines *lines, int family, uint32_t addresses,
                    enum udp_cutting cutting) {
  lines->family = family;
  lines->cutting = cutting;
  lines->count = 0;
  lines->of = calloc(addresses, 1);
  return lines->of != NULL;
}

void udp_lines_close(struct udp_lines *lines) {
  for (uint32_t i = 0; i < lines->count; i++) close(lines->fd[i]);
  lines->count = 0;
  free(lines->of);
  lines->of = NULL;
}

static void set_cutting(int fd, int family, enum udp_cutting cutting) {
  const int one = 1, discovery = IP_PMTUDISC_PROBE, discovery6 = IPV6_PMTUDISC_PROBE;
  if (cutting == UDP_CUT_BY_KERNEL) return;
  if (family != AF_INET6) {
    (void)setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discovery, sizeof discovery);
    return;
  }
  (void)setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discovery6, sizeof discovery6);
  (void)setsockopt(fd, IPPROTO_IPV6, IPV6_DONTFRAG, &one, sizeof one);
}

void udp_socket_prepare(int fd, int family, enum udp_cutting cutting) {
  set_cutting(fd, family, cutting);
  const int one = 1, bytes = BUFFER_BYTES;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  if (family == AF_INET6)
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &one, sizeof one);
  else
    (void)setsockopt(fd, IPPROTO_IP, IP_RECVERR, &one, sizeof one);
}

static int open_line(const struct udp_lines *lines, const struct udp_addr *addr) {
  const int family = lines->family;
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int least = 0;
  struct sockaddr_storage to;
  const socklen_t length = udp_addr_sockaddr(addr, family, &to);
  udp_socket_prepare(fd, family, lines->cutting);
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof least); /* nothing is received */
  if (!connect(fd, (struct sockaddr *)&to, length)) return fd;
  close(fd);
  return -1;
}

int udp_line_look(const struct udp_lines *lines, uint32_t index) {
  const uint8_t of = lines->of[index];
  return of >= CALLS && of != NEVER ? lines->fd[of - CALLS] : -1;
}

int udp_line_get(struct udp_lines *lines, uint32_t index, const struct udp_addr *addr) {
  const uint8_t of = lines->of[index];
  if (TMB_LIKELY(of >= CALLS)) return of == NEVER ? -1 : lines->fd[of - CALLS];
  if (++lines->of[index] < CALLS) return -1;
  lines->of[index] = NEVER;
  const int fd = lines->count < UDP_LINES ? open_line(lines, addr) : -1;
  if (fd < 0) return -1;
  lines->of[index] = (uint8_t)(CALLS + lines->count);
  lines->fd[lines->count++] = fd;
  return fd;
}
