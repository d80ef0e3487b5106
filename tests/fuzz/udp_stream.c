/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: what comes through a connection of the stream mode: from somebody who does not know the
 * secret, who never gets past the greeting; and, behind a right greeting, packets in any pieces. */
#include "base/error.h"
#include "net/udp/stream/udp_conn.h"

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

static uint8_t *room; /* of the tail that is read to its place: no byte more */
static uint32_t room_seq, room_bytes;

/* Where a tail belongs. By two bits of the packet's number: nowhere, or nowhere each third time. */
static uint8_t *place(void *placer, const uint8_t *head, uint32_t bytes) {
  struct udp_header h;
  uint32_t *calls = placer;
  memcpy(&h, head, sizeof h);
  if (h.bytes <= bytes || bytes < UDP_HEADER_BYTES + h.control || bytes % 16) abort();
  if (h.seq & 1 || (h.seq & 2 && ++*calls % 3 == 0)) return NULL;
  if (room && room_seq == h.seq && room_bytes == h.bytes - bytes) return room;
  free(room);
  room_bytes = h.bytes - bytes;
  room = malloc(room_bytes);
  if (!room) abort();
  room_seq = h.seq;
  return room;
}

/* Take packets out as the stream mode does. Each has a length that fits. */
static void take(const struct udp_conn_env *e, struct udp_conn *c) {
  static uint8_t packet[UDP_PACKET_MAX];
  for (int bytes; (bytes = udp_conn_next(e, c)) > 0;) {
    struct udp_header h;
    if (bytes > (int)UDP_PACKET_MAX) abort();
    const bool placed = udp_conn_take(c, packet, (uint32_t)bytes);
    memcpy(&h, packet, sizeof h);
    if (placed ? h.bytes <= bytes || !room : h.bytes != bytes) abort();
    if (h.src != c->peer) abort();
    free(placed ? room : NULL);
    if (placed) room = NULL;
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
    env = (struct udp_conn_env){
        {secret, JOB, 0, 4}, AF_UNIX, epoll_create1(EPOLL_CLOEXEC), &stats, NULL};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)) return 0;
  struct udp_conn *c = udp_conn_accepted(&env, ends[0]);
  if (!c) abort();
  const bool known = data[0] & 1;
  const size_t piece = 1u + data[0] / 4u * 256u;
  uint32_t calls = 0;
  const struct udp_datagrams in = {.place = place, .placer = &calls};
  env.in = data[0] & 2 ? &in : NULL;
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
  free(room);
  room = NULL;
  return 0;
}
