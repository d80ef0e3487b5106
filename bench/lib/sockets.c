/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare sockets between ranks 0 and 1; see sockets.h.
 *
 * Owns: the sockets. Called by: tombolo-bench-net. Calls: sockets, bench.h. Both ranks learn all
 * addresses of both and choose alike, so that neither needs a message. Invariants: a datagram that
 * does not come within a second ends the measurement with a message, since a floor must not hang.
 */
#define _GNU_SOURCE
#include "lib/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESSES_MAX 16
#define SILENCE_NS    1000000000u
#define STREAM_HEAD   64u       /* of a datagram of a stream, before its payload */
#define STREAM_PART   65344u    /* bytes of its payload: the head, and this, are less than 64 KiB */
#define STREAM_BATCH  8u        /* datagrams of one receiving call */
#define WINDOW_MAX    32u       /* datagrams of a stream in flight */
#define BUFFER_BYTES  (4 << 20) /* of the socket that receives, if the system allows it */
#define BUFFER_PART   (96u << 10) /* of it, that a datagram takes: more than it does */

/* An address with the length of its network; IPv4 as ::ffff:a.b.c.d. */
struct place {
  uint8_t address[16];
  uint32_t bits;
};

/* Record of a rank for the other one, at the head of its segment. */
struct card {
  char machine[64]; /* boot identity and network of the rank: equal on one machine only */
  struct place places[ADDRESSES_MAX];
  uint32_t count;
  uint32_t udp_port, tcp_port;
};

static struct {
  int udp, tcp;
  char *at; /* memory of streams */
  size_t bytes;
  uint32_t window; /* datagrams of a stream in flight */
} sockets = {.udp = -1, .tcp = -1};

/* ---- addresses */

static uint32_t bits_of(const void *mask, size_t bytes) {
  const uint8_t *at = mask;
  uint32_t bits = 0;
  for (size_t i = 0; i < bytes; i++) bits += (uint32_t)__builtin_popcount(at[i]);
  return bits;
}

/* One interface's address. Returns false if it is not one to use. */
static bool read_address(const struct ifaddrs *i, struct place *place) {
  memset(place, 0, sizeof *place);
  if (!i->ifa_addr || !i->ifa_netmask || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
    return false;
  if (i->ifa_addr->sa_family == AF_INET) {
    const struct sockaddr_in *in = (const void *)i->ifa_addr, *mask = (const void *)i->ifa_netmask;
    place->address[10] = place->address[11] = 0xff;
    memcpy(place->address + 12, &in->sin_addr, 4);
    place->bits = 96 + bits_of(&mask->sin_addr, 4);
    return true;
  }
  if (i->ifa_addr->sa_family != AF_INET6) return false;
  const struct sockaddr_in6 *in = (const void *)i->ifa_addr, *mask = (const void *)i->ifa_netmask;
  memcpy(place->address, &in->sin6_addr, 16);
  place->bits = bits_of(&mask->sin6_addr, 16);
  return !IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr);
}

static void fill_card(struct bench *b, struct card *card) {
  struct ifaddrs *all = NULL;
  char boot[40] = "";
  memset(card, 0, sizeof *card);
  const ssize_t length = readlink("/proc/self/ns/net", boot, sizeof boot - 1);
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  char id[20] = "";
  if (file && !fgets(id, sizeof id, file)) id[0] = '\0';
  if (file) fclose(file);
  snprintf(card->machine, sizeof card->machine, "%s %s", length > 0 ? boot : "", id);
  if (getifaddrs(&all) != 0) bench_fail(b, "getifaddrs: %s", strerror(errno));
  for (const struct ifaddrs *i = all; i && card->count < ADDRESSES_MAX; i = i->ifa_next)
    card->count += read_address(i, &card->places[card->count]);
  freeifaddrs(all);
}

static bool same_network(const struct place *a, const struct place *b) {
  const uint32_t bits = a->bits;
  if (bits != b->bits || memcmp(a->address, b->address, bits / 8) != 0) return false;
  const uint8_t mask = (uint8_t)(0xff00 >> bits % 8);
  return bits % 8 == 0 || ((a->address[bits / 8] ^ b->address[bits / 8]) & mask) == 0;
}

static bool is_ipv4(const uint8_t *address) {
  static const uint8_t head[12] = {[10] = 0xff, [11] = 0xff};
  return memcmp(address, head, sizeof head) == 0;
}

/* Addresses of ranks 0 and 1 that reach each other. in cards: of ranks 0 and 1. */
static void choose(struct bench *b, const struct card *cards, const uint8_t **out) {
  static const uint8_t loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
  out[0] = out[1] = loopback;
  if (strcmp(cards[0].machine, cards[1].machine) == 0) return;
  for (uint32_t i = 0; i < cards[0].count; i++) {
    for (uint32_t k = 0; k < cards[1].count; k++) {
      if (!same_network(&cards[0].places[i], &cards[1].places[k])) continue;
      out[0] = cards[0].places[i].address;
      out[1] = cards[1].places[k].address;
      return;
    }
  }
  bench_fail(b, "ranks 0 and 1 have no addresses of one network");
}

/* ---- connections */

static void require(struct bench *b, bool ok, const char *what) {
  if (!ok) bench_fail(b, "%s: %s", what, strerror(errno));
}

union any_address {
  struct sockaddr plain;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* The kernel's form of an address. Returns its length. */
static socklen_t fill_address(union any_address *out, const uint8_t *address, uint32_t port) {
  memset(out, 0, sizeof *out);
  if (is_ipv4(address)) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons((uint16_t)port);
    memcpy(&out->v4.sin_addr, address + 12, 4);
    return sizeof out->v4;
  }
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons((uint16_t)port);
  memcpy(&out->v6.sin6_addr, address, 16);
  return sizeof out->v6;
}

/* A socket bound to an address. out port: chosen by the kernel. */
static int bound(struct bench *b, int type, const uint8_t *address, uint32_t *port) {
  union any_address name;
  socklen_t length = fill_address(&name, address, 0);
  const int fd = socket(name.plain.sa_family, type | SOCK_CLOEXEC, 0);
  require(b, fd >= 0, "socket");
  require(b, bind(fd, &name.plain, length) == 0, "bind");
  require(b, getsockname(fd, &name.plain, &length) == 0, "getsockname");
  *port = ntohs(is_ipv4(address) ? name.v4.sin_port : name.v6.sin6_port);
  return fd;
}

static void connect_to(struct bench *b, int fd, const uint8_t *address, uint32_t port) {
  union any_address name;
  const socklen_t length = fill_address(&name, address, port);
  require(b, connect(fd, &name.plain, length) == 0, "connect");
}

/* Show my card at the head of my segment and read the peer's, between two barriers. */
static void swap_cards(struct bench *b, struct card *mine, struct card *theirs) {
  memcpy(b->mine - BENCH_CONTROL_BYTES, mine, sizeof *mine);
  bench_barrier(b);
  if (b->rank < 2)
    gex_RMA_GetBlocking(b->tm, theirs, b->peer, b->theirs_at - BENCH_CONTROL_BYTES, sizeof *theirs,
                        0);
  bench_barrier(b);
}

/* BENCH_TCP_CONGESTION: how the stream shares links, instead of the system's default. */
static void choose_congestion(struct bench *b, int fd) {
  const char *name = getenv("BENCH_TCP_CONGESTION");
  if (name && b->rank == 0)
    require(b, setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0,
            name);
}

/* Room for datagrams of a stream. */
static void open_window(struct bench *b) {
  int bytes = BUFFER_BYTES;
  socklen_t length = sizeof bytes;
  if (setsockopt(sockets.udp, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
    (void)setsockopt(sockets.udp, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  require(b, getsockopt(sockets.udp, SOL_SOCKET, SO_RCVBUF, &bytes, &length) == 0, "SO_RCVBUF");
  sockets.window = (uint32_t)bytes / BUFFER_PART;
  if (sockets.window > WINDOW_MAX) sockets.window = WINDOW_MAX;
  if (sockets.window < 2) sockets.window = 2;
}

void sockets_open(struct bench *b, char *at, size_t bytes) {
  struct card cards[2], peer;
  sockets.at = at;
  sockets.bytes = bytes;
  const uint8_t *address[2] = {NULL, NULL};
  const int yes = 1;
  const uint32_t me = b->rank & 1, other = me ^ 1;
  fill_card(b, &cards[me]);
  swap_cards(b, &cards[me], &cards[other]);
  if (b->rank < 2) {
    choose(b, cards, address);
    sockets.udp = bound(b, SOCK_DGRAM, address[me], &cards[me].udp_port);
    open_window(b);
    sockets.tcp = bound(b, SOCK_STREAM, address[me], &cards[me].tcp_port);
    if (me == 1) require(b, listen(sockets.tcp, 1) == 0, "listen");
  }
  swap_cards(b, &cards[me], &peer);
  if (b->rank >= 2) return;
  choose_congestion(b, sockets.tcp);
  connect_to(b, sockets.udp, address[other], peer.udp_port);
  if (me == 0) {
    connect_to(b, sockets.tcp, address[other], peer.tcp_port);
  } else {
    const int listening = sockets.tcp;
    sockets.tcp = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    require(b, sockets.tcp >= 0, "accept");
    close(listening);
  }
  require(b, setsockopt(sockets.tcp, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0,
          "TCP_NODELAY");
}

/* ---- floors */

/* Take a datagram, in a busy loop. */
static void take(struct bench *b) {
  char data[SOCKETS_DATAGRAM_BYTES];
  for (uint64_t spins = 0, limit = 0;; spins++) {
    if (recv(sockets.udp, data, sizeof data, MSG_DONTWAIT) >= 0) return;
    if (errno != EAGAIN) bench_fail(b, "UDP floor: %s", strerror(errno));
    if (spins % 1024) continue;
    const uint64_t now = bench_now_ns();
    if (!limit) limit = now + SILENCE_NS;
    if (now > limit) bench_fail(b, "UDP floor: a datagram is lost; use --mode loss on such a link");
  }
}

double floor_udp_rtt(struct bench *b, size_t n, size_t bytes) {
  static const char data[SOCKETS_DATAGRAM_BYTES];
  uint64_t start = 0;
  (void)bytes;
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    if (i == BENCH_WARM_OPS) start = bench_now_ns();
    if (b->rank == 1) take(b);
    if (send(sockets.udp, data, sizeof data, 0) < 0)
      bench_fail(b, "UDP floor: %s", strerror(errno));
    if (b->rank == 0) take(b);
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

/* Rank 1 takes datagrams until rank 0 says through TCP that there are no more. */
static void drain(void) {
  char data[SOCKETS_DATAGRAM_BYTES], last;
  while (recv(sockets.tcp, &last, 1, MSG_DONTWAIT) < 0)
    for (int i = 0; i < 64 && recv(sockets.udp, data, sizeof data, MSG_DONTWAIT) >= 0; i++) {}
  while (recv(sockets.udp, data, sizeof data, MSG_DONTWAIT) >= 0) {}
  (void)!write(sockets.tcp, &last, 1);
}

double floor_udp_send(struct bench *b, size_t n, size_t bytes) {
  static const char data[SOCKETS_DATAGRAM_BYTES];
  char last = 0;
  (void)bytes;
  if (b->rank == 1) {
    drain();
    return 0;
  }
  const uint64_t start = bench_now_ns();
  for (size_t i = 0; i < n; i++)
    if (send(sockets.udp, data, sizeof data, 0) < 0)
      bench_fail(b, "UDP floor: %s", strerror(errno));
  const uint64_t end = bench_now_ns();
  if (write(sockets.tcp, &last, 1) != 1 || read(sockets.tcp, &last, 1) != 1)
    bench_fail(b, "UDP floor: %s", strerror(errno));
  return (double)(end - start) / (double)n;
}

/* Where block i of a stream lies. */
static char *place_of(const struct bench *b, size_t i, size_t bytes) {
  return b->rank == 0 ? sockets.at : sockets.at + i % (sockets.bytes / bytes) * bytes;
}

double floor_tcp_stream(struct bench *b, size_t n, size_t bytes) {
  char last = 0;
  const uint64_t start = bench_now_ns();
  for (size_t i = 0; i < n; i++) {
    char *const place = place_of(b, i, bytes);
    for (size_t at = 0; at < bytes;) {
      const ssize_t moved = b->rank == 0 ? write(sockets.tcp, place + at, bytes - at)
                                         : read(sockets.tcp, place + at, bytes - at);
      if (moved <= 0) bench_fail(b, "TCP floor: %s", strerror(errno));
      at += (size_t)moved;
    }
  }
  const ssize_t moved = b->rank == 0 ? read(sockets.tcp, &last, 1) : write(sockets.tcp, &last, 1);
  if (moved != 1) bench_fail(b, "TCP floor: %s", strerror(errno));
  return (double)(bench_now_ns() - start) / (double)n;
}

/* Datagrams in which a stream travels, block by block. */
static size_t parts_of(size_t n, size_t bytes) {
  return n * ((bytes + STREAM_PART - 1) / STREAM_PART);
}

/* Part number `part` of a stream. out bytes: of it. */
static char *part_at(const struct bench *b, size_t part, size_t block, size_t *bytes) {
  const size_t each = parts_of(1, block), at = part % each * STREAM_PART;
  *bytes = block - at < STREAM_PART ? block - at : STREAM_PART;
  return place_of(b, part / each, block) + at;
}

static void send_part(struct bench *b, size_t part, size_t block) {
  static char head[STREAM_HEAD];
  size_t bytes;
  char *const data = part_at(b, part, block, &bytes);
  struct iovec iov[2] = {{head, sizeof head}, {data, bytes}};
  const struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
  while (sendmsg(sockets.udp, &m, MSG_DONTWAIT) < 0)
    if (errno != EAGAIN && errno != ENOBUFS) bench_fail(b, "UDP floor: %s", strerror(errno));
}

/* Take what has come of a stream, from part `part` on. Returns how many parts. */
static size_t take_parts(struct bench *b, size_t part, size_t block) {
  static char memory[STREAM_BATCH][1 << 16];
  struct mmsghdr m[STREAM_BATCH];
  struct iovec iov[STREAM_BATCH];
  for (uint32_t i = 0; i < STREAM_BATCH; i++) {
    iov[i] = (struct iovec){memory[i], sizeof memory[i]};
    m[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
  }
  const int count = recvmmsg(sockets.udp, m, STREAM_BATCH, MSG_DONTWAIT, NULL);
  if (count < 0 && errno != EAGAIN) bench_fail(b, "UDP floor: %s", strerror(errno));
  for (int i = 0; i < count; i++) {
    size_t bytes;
    char *const place = part_at(b, part + (size_t)i, block, &bytes);
    memcpy(place, memory[i] + STREAM_HEAD, bytes);
  }
  return count < 0 ? 0 : (size_t)count;
}

double floor_udp_stream(struct bench *b, size_t n, size_t bytes) {
  const size_t parts = parts_of(n, bytes), unit = sockets.window / 2;
  const uint64_t start = bench_now_ns();
  for (size_t part = 0, heard = 0, answered = 0; b->rank == 0 ? heard < parts : part < parts;) {
    if (b->rank == 0 && part < parts && part < heard + sockets.window) {
      send_part(b, part++, bytes);
    } else if (b->rank == 0) {
      take(b);
      heard = heard + unit < parts ? heard + unit : parts;
    } else {
      part += take_parts(b, part, bytes);
      for (; answered + unit <= part || (part == parts && answered < parts); answered += unit)
        if (send(sockets.udp, "", 1, 0) != 1) bench_fail(b, "UDP floor: %s", strerror(errno));
    }
  }
  return (double)(bench_now_ns() - start) / (double)n;
}
