/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare UDP between two processes of this machine, for study/compare/cells.py.
 *
 * Owns: a connected socket on the loopback interface in each process. Compiled by cells.py; not
 * part of the build; run without a launcher: it forks rank 1. Calls: net_loop.h. A round trip is
 * one send and one receive of each side, as long as the shortest message of the conduit udp; both
 * look for datagrams without sleeping. Invariant: a datagram that does not come ends the program by
 * SIGALRM.
 */
#define _GNU_SOURCE
#include "net_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE = 64, LIMIT_S = 60 };

static int rank, sock[2];

static void tell(void) {
  static const char text[MESSAGE];
  if (send(sock[rank], text, sizeof text, 0) == MESSAGE) return;
  perror("net_udp: send");
  exit(1);
}

static void hear(void) {
  char text[MESSAGE];
  while (recv(sock[rank], text, sizeof text, MSG_DONTWAIT) < 0) continue;
}

static void barrier(void) {
  tell();
  hear();
}

static void round_trip(int n) {
  for (int i = 0; i < n; i++) {
    if (rank == 0) tell();
    hear();
    if (rank == 1) tell();
  }
}

/* Both sockets, before the fork: each knows where the other one is. */
static int open_pair(void) {
  struct sockaddr_in at[2];
  for (int i = 0; i < 2; i++) {
    socklen_t bytes = sizeof at[i];
    at[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sock[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock[i] < 0 || bind(sock[i], (struct sockaddr *)&at[i], bytes) ||
        getsockname(sock[i], (struct sockaddr *)&at[i], &bytes))
      return -1;
  }
  for (int i = 0; i < 2; i++)
    if (connect(sock[i], (struct sockaddr *)&at[!i], sizeof at[!i])) return -1;
  return 0;
}

int main(void) {
  int status = 0;
  if (open_pair()) {
    perror("net_udp");
    return 1;
  }
  const pid_t child = fork();
  if (child < 0) return 1;
  rank = child == 0;
  alarm(LIMIT_S);
  barrier();
  const struct side s = {.round_trip = round_trip, .barrier = barrier, .rank = rank};
  loop_trips(&s);
  barrier();
  if (rank == 1) _exit(0);
  waitpid(child, &status, 0);
  return status != 0;
}
