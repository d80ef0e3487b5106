/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages through bare TCP sockets of this machine, for study/compare/ops.py: the layer below.
 *
 * Owns: one connection between two processes (loopback, without Nagle's algorithm). Compiled by
 * ops.py; run without a launcher: it forks rank 1. Calls: sockets, ops_loop.h. Bytes are written
 * and read by blocking calls; an answer of one byte says that all have come.
 */
#define _GNU_SOURCE
#include "ops_loop.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, wire;
static char data[OPS_BYTES_MAX];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void write_all(size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = write(wire, data + done, bytes - done);
    if (n <= 0) fail("write");
    done += (size_t)n;
  }
}

static void read_all(size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = read(wire, data + done, bytes - done);
    if (n <= 0) fail("read");
    done += (size_t)n;
  }
}

static void barrier(void) {
  write_all(1);
  read_all(1);
}

static void prepare(int op, int n, size_t bytes) {
  (void)op, (void)n, (void)bytes;
}

static void start(int op, size_t bytes) {
  (void)op;
  write_all(bytes);
}

static void complete(int op) {
  (void)op;
  read_all(1);
}

static void serve(int op, int n, size_t bytes) {
  (void)op;
  for (int i = 0; i < n; i++) read_all(bytes);
  write_all(1);
}

static void bounce(int op, int n, size_t bytes) {
  (void)op;
  for (int i = 0; i < n; i++) {
    if (rank == 0) write_all(bytes);
    read_all(bytes);
    if (rank == 1) write_all(bytes);
  }
}

static void join(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&at, &length))
    fail("listen");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  rank = child == 0;
  if (rank == 0) {
    wire = accept(listener, NULL, NULL);
  } else {
    wire = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(wire, (struct sockaddr *)&at, sizeof at)) fail("connect");
  }
  if (wire < 0 || setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) fail("socket");
}

int main(void) {
  memset(data, 1, sizeof data); /* see written.h */
  join();
  const struct side s = {.rank = rank, .has = {false, false, true}, .few = true, OPS_CALLS};
  ops_main(&s);
  if (rank == 0) (void)wait(NULL);
  return 0;
}
