/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round trips of a datagram over loopback by different calls of the kernel, in alternation.
 *
 * Owns nothing. Run by hand: cc -O2 study/compare/udp_trials.c -o trials && ./trials [rounds].
 * Calls the kernel only. Two processes, bound to processors 0 and 1, send 64 bytes there and back.
 * Ways: `poll` recvfrom until something is there, sendto (what the conduit udp does at best);
 * `connected` the same with connected sockets; `busy` SO_BUSY_POLL and a blocking recv; `block` a
 * blocking recv alone; `uring` io_uring, send and recv linked and submitted
 * by one call, then a busy loop of calls; `uring-sleep` the same, asleep in that call. Prints for
 * each way the least and the median of the rounds' means, over all rounds, and its ratio to `poll`.
 * Also prints which calls the kernel permits. Invariant: both sides change the way together.
 */
#define _GNU_SOURCE
#include "uring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  POLL,
  CONNECTED,
  BUSY,
  BLOCK,
  URING,
  URING_SLEEP,
  WAYS,
  TRIPS = 300,
  BYTES = 64,
  ENTRIES = 8
};

static const char *const names[WAYS] = {"poll",  "connected", "busy",
                                        "block", "uring",     "uring-sleep"};

struct side {
  int loose, joined; /* sockets: unconnected, connected */
  struct sockaddr_in peer;
  struct rings ring;
  char data[BYTES];
};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void ring_add(struct rings *r, int op, int fd, void *data, int link) {
  const unsigned tail = *r->sq_tail, at = tail & *r->sq_mask;
  r->sqes[at] = (struct io_uring_sqe){.opcode = (uint8_t)op,
                                      .flags = link ? IOSQE_IO_LINK : 0,
                                      .fd = fd,
                                      .addr = (uint64_t)(uintptr_t)data,
                                      .len = BYTES};
  r->sq_array[at] = at;
  __atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Submit `count` entries and wait for their ends: asleep in the kernel, or in a busy loop of
 * calls, without which this kernel completes nothing before the next tick. */
static void ring_run(struct rings *r, unsigned count, int sleeps) {
  const unsigned waits = sleeps ? count : 0, flags = sleeps ? IORING_ENTER_GETEVENTS : 0;
  if (syscall(SYS_io_uring_enter, r->fd, count, waits, flags, NULL, 0) < 0) exit(2);
  while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) - *r->cq_head < count)
    (void)syscall(SYS_io_uring_enter, r->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
  __atomic_store_n(r->cq_head, *r->cq_head + count, __ATOMIC_RELEASE);
}

static void receive(struct side *s, int way) {
  if (way >= URING) {
    ring_add(&s->ring, IORING_OP_RECV, s->joined, s->data, 0);
    ring_run(&s->ring, 1, way == URING_SLEEP);
  } else {
    const int fd = way == POLL ? s->loose : s->joined;
    const int flags = way == POLL || way == CONNECTED ? MSG_DONTWAIT : 0;
    while (recv(fd, s->data, BYTES, flags) < 0) continue;
  }
}

static void transmit(struct side *s, int way) {
  if (way == POLL)
    (void)!sendto(s->loose, s->data, BYTES, 0, (struct sockaddr *)&s->peer, sizeof s->peer);
  else
    (void)!send(s->joined, s->data, BYTES, 0);
}

/* Send, and wait for the answer. */
static void exchange(struct side *s, int way) {
  if (way < URING) {
    transmit(s, way);
    receive(s, way);
    return;
  }
  ring_add(&s->ring, IORING_OP_SEND, s->joined, s->data, 1);
  ring_add(&s->ring, IORING_OP_RECV, s->joined, s->data, 0);
  ring_run(&s->ring, 2, way == URING_SLEEP);
}

static void run(struct side *s, int way, int first, double *mean) {
  const int microseconds = way == BUSY ? 100 : 0;
  (void)setsockopt(s->joined, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof microseconds);
  if (!first) {
    receive(s, way);
    for (int i = 1; i < TRIPS; i++) exchange(s, way);
    transmit(s, way >= URING ? CONNECTED : way);
    return;
  }
  const double from = now_ns();
  for (int i = 0; i < TRIPS; i++) exchange(s, way);
  *mean = (now_ns() - from) / TRIPS;
}

static int make(struct sockaddr_in *name) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  socklen_t bytes = sizeof *name;
  *name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0 || bind(fd, (struct sockaddr *)name, sizeof *name)) exit(2);
  if (getsockname(fd, (struct sockaddr *)name, &bytes)) exit(2);
  return fd;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void permitted(void) {
  const int xdp = socket(44 /* AF_XDP */, SOCK_RAW, 0);
  printf("AF_XDP: %s\n", xdp < 0 ? strerror(errno) : "permitted");
  if (xdp >= 0) close(xdp);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;
  printf("SO_ZEROCOPY: %s\n",
         setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) ? strerror(errno) : "permitted");
  printf("SO_BUSY_POLL: %s\n", setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &one, sizeof one)
                                   ? strerror(errno)
                                   : "permitted");
  close(fd);
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  struct side side[2];
  struct sockaddr_in loose[2], joined[2];
  memset(side, 0, sizeof side);
  permitted();
  for (int i = 0; i < 2; i++) {
    side[i].loose = make(&loose[i]);
    side[i].joined = make(&joined[i]);
  }
  for (int i = 0; i < 2; i++) {
    side[i].peer = loose[!i];
    if (connect(side[i].joined, (struct sockaddr *)&joined[!i], sizeof joined[!i])) return 2;
  }
  double *mean = calloc((size_t)rounds * WAYS, sizeof *mean);
  if (!mean) return 2;
  const pid_t child = fork();
  const int me = child == 0;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(me, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
  const int rc = rings_open(&side[me].ring, ENTRIES, 0), ways = rc ? URING : WAYS;
  if (!me) printf("io_uring: %s\n", rc ? strerror(-rc) : "permitted");
  for (int r = 0; r < rounds; r++)
    for (int w = 0; w < ways; w++) run(&side[me], w, !me, &mean[w * rounds + r]);
  if (me) _exit(0);
  waitpid(child, NULL, 0);
  double floor[2] = {1, 1};
  for (int w = 0; w < ways; w++) {
    double *list = mean + w * rounds;
    qsort(list, (size_t)rounds, sizeof *list, compare);
    const double figure[2] = {list[0], list[rounds / 2]};
    if (w == POLL) memcpy(floor, figure, sizeof floor);
    printf("%-10s least %8.2f us (%.2f)   median %8.2f us (%.2f)\n", names[w], figure[0] / 1000,
           figure[0] / floor[0], figure[1] / 1000, figure[1] / floor[1]);
  }
  free(mean);
  return 0;
}
