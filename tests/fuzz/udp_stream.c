/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: what comes through a connection of the stream mode: from somebody who does not know the
 * secret, who never gets past the greeting; and, behind a right greeting, packets in any pieces. */
#include "base/error.h"
#include "net/udp/udp_conn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define JOB UINT64_C(0x1234567890abcdef)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t secret[TMB_NET_SECRET_BYTES] = "a secret of thirty-two bytes...";
static struct tmb_net_stats stats;
static struct udp_conn_env env;

static void put(int fd, const void *data, size_t bytes) {
  if (bytes && send(fd, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

/* Take packets out as the stream mode does. Each lies in what came and has a length that fits. */
static void take(const struct udp_conn_env *e, struct udp_conn *c) {
  for (int bytes; (bytes = udp_conn_next(e, c)) > 0;) {
    struct udp_header h;
    if ((size_t)bytes > c->in.end - c->in.start || bytes > (int)UDP_PACKET_MAX) abort();
    memcpy(&h, c->in.data + c->in.start, sizeof h);
    if (h.bytes != bytes || h.src != c->peer) abort();
    c->in.start += (size_t)bytes;
  }
}

/* The right greeting of rank 1. */
static bool greet(int fd, struct udp_conn *c) {
  const struct udp_greeter g = {secret, JOB, 1, 4};
  struct udp_challenge challenge;
  struct udp_hello hello;
  struct udp_welcome welcome;
  if (recv(fd, &challenge, sizeof challenge, MSG_DONTWAIT) != (ssize_t)sizeof challenge)
    return false;
  if (!udp_hello_make(&g, 0, &challenge, &hello)) return false;
  put(fd, &hello, sizeof hello);
  if (!udp_conn_serve(&env, c, EPOLLIN) || !udp_conn_is_up(c)) abort();
  if (recv(fd, &welcome, sizeof welcome, MSG_DONTWAIT) != (ssize_t)sizeof welcome) return false;
  if (!udp_welcome_check(&g, &challenge, &hello, &welcome)) abort();
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  if (size < 2) return 0;
  if (!env.stats)
    env = (struct udp_conn_env){{secret, JOB, 0, 4}, AF_UNIX, epoll_create1(EPOLL_CLOEXEC), &stats};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)) return 0;
  struct udp_conn *c = udp_conn_accepted(&env, ends[0]);
  if (!c) abort();
  const bool known = data[0] & 1;
  const size_t piece = 1u + data[0] / 2u * 8u;
  bool good = !known || greet(ends[1], c);
  data++;
  size--;
  while (size && good) {
    const size_t n = TMB_MIN(piece, size);
    put(ends[1], data, n);
    data += n;
    size -= n;
    good = udp_conn_serve(&env, c, EPOLLIN);
    if (!known && udp_conn_is_up(c)) abort();
    if (known && good) take(&env, c);
  }
  udp_conn_shut(&env, c);
  udp_conn_free(c);
  close(ends[1]);
  return 0;
}
