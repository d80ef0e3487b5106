/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection, see udp_conn.h.
 *
 * Owns nothing but struct udp_conn. Called by udp_stream.c. Calls the kernel. Until the greeting is
 * over no more is read than its missing bytes. Invariant: the bytes to be sent begin with the rest
 * of a packet of which the kernel has taken a part, or with a whole one, and end with a whole one.
 */
#include "net/udp/stream/udp_conn.h"

#include "base/error.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Buffers of a connection in bytes. Chosen; HEAD_BYTES and PLACE_MIN save
 * a copy of long payloads. */
#define READ_BYTES   (128u << 10) /* of one call */
#define HEAD_BYTES   1024u        /* of one call, where tails are read to their places: heads fit */
#define PLACE_MIN    4096u        /* of a tail that is still to come, to be read so */
#define IN_MAX       (READ_BYTES + UDP_PACKET_MAX)
#define OUT_MAX      (4u << 20) /* twice the limit of a window */
#define SEND_BUFFER  (2 << 20)  /* of the kernel: the limit of a window */
#define PACKETS_MAX  32u        /* of one call */
#define NS_PER_S     1000000000u
#define PART_NS      1000000000u /* in which a packet comes whole */
#define SEND_OPTIONS (MSG_DONTWAIT | MSG_NOSIGNAL)

uint64_t udp_conn_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void udp_count_refused(const struct udp_conn_env *env) {
  if (env->stats) udp_count(&env->stats->refused, 1);
}

/* ---- begin and end */

static struct udp_conn *conn_new(int fd, uint32_t peer, enum udp_conn_state state) {
  struct udp_conn *c = calloc(1, sizeof *c);
  const int one = 1, bytes = SEND_BUFFER;
  if (!c) return NULL;
  c->fd = fd;
  c->peer = peer;
  c->state = (uint8_t)state;
  c->since_ns = udp_conn_now();
  if (fd < 0) return c;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  /* The kernel's own choice begins with 16 KiB, and each refill waits for this rank to be run. */
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes))
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return c;
}

static bool watch(const struct udp_conn_env *env, struct udp_conn *c, int operation, bool writing) {
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0u), .data.ptr = c};
  c->writing = writing;
  return epoll_ctl(env->epoll, operation, c->fd, &event) == 0;
}

void udp_conn_shut(const struct udp_conn_env *env, struct udp_conn *c) {
  uint8_t rest[4096];
  (void)env;
  if (c->fd < 0) return;
  /* The last bytes sent still arrive only if nothing lies here unread. */
  (void)shutdown(c->fd, SHUT_WR);
  for (int i = 0; i < 64 && recv(c->fd, rest, sizeof rest, MSG_DONTWAIT) > 0;) i++;
  close(c->fd); /* leaves epoll by itself */
  c->fd = -1;
}

void udp_conn_free(struct udp_conn *c) {
  udp_bytes_free(&c->in);
  udp_bytes_free(&c->out);
  free(c);
}

struct udp_conn *udp_conn_made(const struct udp_conn_env *env, uint32_t peer,
                               const struct udp_addr *addr) {
  struct sockaddr_storage to;
  const socklen_t bytes = udp_addr_sockaddr(addr, env->family, &to);
  const int fd = socket(env->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct udp_conn *c = conn_new(fd, peer, UDP_CONN_BEGUN);
  if (!c) {
    if (fd >= 0) close(fd);
    return NULL;
  }
  if (fd < 0) return c;
  const bool begun = connect(fd, (struct sockaddr *)&to, bytes) == 0 || errno == EINPROGRESS;
  c->refused = !begun && errno == ECONNREFUSED;
  if (!begun || !watch(env, c, EPOLL_CTL_ADD, false)) udp_conn_shut(env, c);
  return c;
}

struct udp_conn *udp_conn_accepted(const struct udp_conn_env *env, int fd) {
  struct udp_conn *c = conn_new(fd, UDP_CONN_UNKNOWN, UDP_CONN_ASKED);
  if (!c) {
    close(fd);
    return NULL;
  }
  if (udp_challenge_make(&c->challenge) && watch(env, c, EPOLL_CTL_ADD, false) &&
      send(fd, &c->challenge, sizeof c->challenge, SEND_OPTIONS) == (ssize_t)sizeof c->challenge)
    return c;
  udp_conn_shut(env, c);
  udp_conn_free(c);
  return NULL;
}

/* ---- greeting */

/* Read until `bytes` bytes of a greeting are there. Returns 1 when they are, 0: not yet, -1: never.
 */
static int greeting(struct udp_conn *c, size_t bytes) {
  if (!udp_bytes_room(&c->in, bytes, IN_MAX)) return -1;
  const size_t held = c->in.end - c->in.start;
  const ssize_t n = recv(c->fd, c->in.data + c->in.end, bytes - held, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n <= 0) {
    c->refused = n < 0 && errno == ECONNREFUSED;
    return -1;
  }
  c->in.end += (size_t)n;
  return c->in.end - c->in.start == bytes;
}

static void take_greeting(struct udp_conn *c, void *out, size_t bytes) {
  memcpy(out, c->in.data + c->in.start, bytes);
  c->in.start = c->in.end = 0;
}

static bool send_greeting(const struct udp_conn *c, const void *what, size_t bytes) {
  return send(c->fd, what, bytes, SEND_OPTIONS) == (ssize_t)bytes;
}

static bool greet_begun(const struct udp_conn_env *env, struct udp_conn *c) {
  const int come = greeting(c, sizeof c->challenge);
  if (come <= 0) return come == 0;
  take_greeting(c, &c->challenge, sizeof c->challenge);
  c->state = UDP_CONN_GREETED;
  return udp_hello_make(&env->greeter, c->peer, &c->challenge, &c->hello) &&
         send_greeting(c, &c->hello, sizeof c->hello);
}

static bool greet_greeted(const struct udp_conn_env *env, struct udp_conn *c) {
  struct udp_welcome welcome;
  const int come = greeting(c, sizeof welcome);
  if (come <= 0) return come == 0;
  take_greeting(c, &welcome, sizeof welcome);
  if (!udp_welcome_check(&env->greeter, &c->challenge, &c->hello, &welcome)) {
    udp_count_refused(env);
    return false;
  }
  c->state = UDP_CONN_UP;
  return true;
}

static bool greet_asked(const struct udp_conn_env *env, struct udp_conn *c) {
  struct udp_welcome welcome;
  const int come = greeting(c, sizeof c->hello);
  if (come <= 0) return come == 0;
  take_greeting(c, &c->hello, sizeof c->hello);
  if (!udp_hello_check(&env->greeter, &c->challenge, &c->hello, &welcome)) {
    udp_count_refused(env);
    return false;
  }
  c->peer = c->hello.src;
  c->state = UDP_CONN_UP;
  return send_greeting(c, &welcome, sizeof welcome);
}

/* ---- packets */

static bool is_passing(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS ||
         error == ENOMEM;
}

static bool flush(const struct udp_conn_env *env, struct udp_conn *c) {
  struct udp_bytes *b = &c->out;
  while (b->start < b->end) {
    const ssize_t n = send(c->fd, b->data + b->start, b->end - b->start, SEND_OPTIONS);
    if (n < 0 && !is_passing(errno)) return false;
    if (n < 0) break;
    b->start += (size_t)n;
  }
  if (b->start == b->end) b->start = b->end = 0;
  const bool waits = b->end > 0;
  return waits == c->writing || watch(env, c, EPOLL_CTL_MOD, waits);
}

/* ---- tails that are read straight to where they belong */

/* Where the rest of the tail belongs. Asked for each time: the packet may have come by another
 * path, and its place may have been written since. */
static uint8_t *tail_place(const struct udp_conn_env *env, const struct udp_conn_tail *t) {
  uint8_t *place = env->in->place(env->in->placer, t->head, t->head_bytes);
  return place ? place + t->come : NULL;
}

/* Begin with the packet of which a part has been read, if its tail has a place. */
static void tail_begin(const struct udp_conn_env *env, struct udp_conn *c) {
  const uint8_t *from = c->in.data + c->in.start;
  const size_t held = c->in.end - c->in.start;
  struct udp_conn_tail *t = &c->tail;
  struct udp_header h;
  if (!env->in || !env->in->place || held < sizeof h) return;
  memcpy(&h, from, sizeof h);
  const uint32_t head = udp_tail_at(UDP_HEADER_BYTES + h.control);
  if (head > sizeof t->head || held < head || h.bytes < held + PLACE_MIN) return;
  memcpy(t->head, from, head);
  t->head_bytes = head;
  t->bytes = h.bytes - head;
  t->come = 0;
  t->dropped = false;
  uint8_t *place = tail_place(env, t);
  if (!place) {
    t->head_bytes = 0;
    return;
  }
  t->come = (uint32_t)held - head;
  memcpy(place, from + head, t->come);
  c->in.start = c->in.end = 0;
  c->places = true;
}

/* Read on in the tail, and behind it. Returns the result of recv. */
static ssize_t tail_read(const struct udp_conn_env *env, struct udp_conn *c) {
  struct udp_conn_tail *t = &c->tail;
  uint8_t *place = t->dropped ? NULL : tail_place(env, t);
  const size_t left = t->bytes - t->come;
  if (!place) t->dropped = true;
  struct iovec iov[2] = {{place, left}, {c->in.data, HEAD_BYTES}};
  if (t->dropped) iov[0] = (struct iovec){c->in.data, TMB_MIN(left, (size_t)HEAD_BYTES)};
  struct msghdr m = {.msg_iov = iov, .msg_iovlen = t->dropped ? 1 : 2};
  const ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT);
  if (n <= 0) return n;
  const size_t come = TMB_MIN((size_t)n, left);
  t->come += (uint32_t)come;
  c->in.end = (size_t)n - come;
  if (t->dropped && t->come == t->bytes) t->head_bytes = 0;
  return n;
}

static ssize_t read_plain(struct udp_conn *c) {
  const size_t most = c->places ? HEAD_BYTES : c->in.capacity - c->in.end;
  const ssize_t n = recv(c->fd, c->in.data + c->in.end, most, MSG_DONTWAIT);
  if (n <= 0) return n;
  c->in.end += (size_t)n;
  c->places = false;
  return n;
}

/* Whether the packet that is coming will come whole. Its length is used before anything of it is
 * authentic, so one that somebody has changed would make the connection wait for bytes that nobody
 * sends, while the peer goes on to send again. */
static bool part_comes(const struct udp_conn_env *env, struct udp_conn *c, int next) {
  const bool part = !next && (c->in.end > c->in.start || c->tail.head_bytes);
  if (!part) {
    c->part_ns = 0;
    return true;
  }
  const uint64_t now = udp_conn_now();
  if (!c->part_ns) c->part_ns = now;
  if (now - c->part_ns <= PART_NS) return true;
  udp_count_refused(env);
  return false;
}

static bool read_some(const struct udp_conn_env *env, struct udp_conn *c) {
  if (udp_conn_next(env, c) > 0) return true; /* first the buffered packets */
  if (!udp_bytes_room(&c->in, READ_BYTES, IN_MAX)) return false;
  if (!c->tail.head_bytes) tail_begin(env, c);
  const ssize_t n = c->tail.head_bytes ? tail_read(env, c) : read_plain(c);
  if (n == 0 || (n < 0 && !is_passing(errno))) return false;
  const int next = udp_conn_next(env, c);
  if (!next && !c->tail.head_bytes) tail_begin(env, c);
  if (next >= 0) return part_comes(env, c, udp_conn_next(env, c));
  udp_count_refused(env);
  return false;
}

bool udp_conn_serve(const struct udp_conn_env *env, struct udp_conn *c, uint32_t events) {
  switch (c->state) {
  case UDP_CONN_BEGUN: return greet_begun(env, c);
  case UDP_CONN_GREETED: return greet_greeted(env, c);
  case UDP_CONN_ASKED: return greet_asked(env, c);
  default: break;
  }
  if (events & EPOLLOUT && !flush(env, c)) return false;
  return !(events & (EPOLLIN | EPOLLERR | EPOLLHUP)) || read_some(env, c);
}

/* Keep a packet, of which the first `skip` bytes are out. A whole one that is too much is dropped.
 * Returns false if the rest of one cannot be kept. */
static bool keep(struct udp_conn *c, const struct udp_out *out, size_t skip) {
  const size_t bytes = (size_t)out->head_bytes + out->tail_bytes - skip;
  if (!udp_bytes_room(&c->out, bytes, OUT_MAX)) return skip == 0;
  uint8_t *to = c->out.data + c->out.end;
  const size_t head = skip < out->head_bytes ? out->head_bytes - skip : 0;
  const size_t tail_skip = skip > out->head_bytes ? skip - out->head_bytes : 0;
  if (head) memcpy(to, (const uint8_t *)out->head + skip, head);
  if (out->tail_bytes > tail_skip)
    memcpy(to + head, (const uint8_t *)out->tail + tail_skip, out->tail_bytes - tail_skip);
  c->out.end += bytes;
  return true;
}

/* Hand packets to the kernel. Returns how many bytes it took, or -1 if the connection is broken. */
static ssize_t write_some(const struct udp_conn *c, const struct udp_out *out, uint32_t count) {
  struct iovec iov[2 * PACKETS_MAX];
  uint32_t iovs = 0;
  for (uint32_t i = 0; i < count; i++) {
    iov[iovs++] = (struct iovec){(void *)(uintptr_t)out[i].head, out[i].head_bytes};
    if (out[i].tail_bytes)
      iov[iovs++] = (struct iovec){(void *)(uintptr_t)out[i].tail, out[i].tail_bytes};
  }
  const struct msghdr m = {.msg_iov = iov, .msg_iovlen = iovs};
  const ssize_t n = sendmsg(c->fd, &m, SEND_OPTIONS);
  if (n >= 0) return n;
  return is_passing(errno) ? 0 : -1;
}

bool udp_conn_send(const struct udp_conn_env *env, struct udp_conn *c, const struct udp_out *out,
                   uint32_t count) {
  for (uint32_t i = 0; i < count;) {
    const uint32_t n = TMB_MIN(count - i, PACKETS_MAX);
    const bool direct = udp_conn_is_up(c) && c->out.start == c->out.end;
    const ssize_t taken = direct ? write_some(c, out + i, n) : 0;
    if (taken < 0) return false;
    size_t left = (size_t)taken;
    for (uint32_t k = i; k < i + n; k++) {
      const size_t bytes = (size_t)out[k].head_bytes + out[k].tail_bytes;
      const size_t skip = TMB_MIN(left, bytes);
      left -= skip;
      if (skip < bytes && !keep(c, &out[k], skip)) return false;
    }
    i += n;
  }
  if (!udp_conn_is_up(c) || c->out.start == c->out.end || c->writing) return true;
  return watch(env, c, EPOLL_CTL_MOD, true);
}

void udp_conn_move(struct udp_conn *from, struct udp_conn *to) {
  const struct udp_out rest = {.head = from->out.data + from->out.start,
                               .head_bytes = (uint32_t)(from->out.end - from->out.start)};
  if (rest.head_bytes) (void)keep(to, &rest, 0);
  from->out.start = from->out.end = 0;
}

int udp_conn_next(const struct udp_conn_env *env, const struct udp_conn *c) {
  const struct udp_conn_tail *t = &c->tail;
  if (t->head_bytes) return !t->dropped && t->come == t->bytes ? (int)t->head_bytes : 0;
  return udp_frame_next(&c->in, env->greeter.job_id, c->peer);
}

bool udp_conn_take(struct udp_conn *c, uint8_t *memory, uint32_t bytes) {
  struct udp_conn_tail *t = &c->tail;
  const bool placed = t->head_bytes != 0;
  memcpy(memory, placed ? t->head : c->in.data + c->in.start, bytes);
  if (!placed) c->in.start += bytes;
  t->head_bytes = 0;
  c->part_ns = 0;
  return placed;
}

uint8_t *udp_conn_packet(const struct udp_conn *c) {
  uint8_t *packet = c->in.data + c->in.start;
  return c->tail.head_bytes || (uintptr_t)packet % 16 ? NULL : packet;
}

void udp_conn_skip(struct udp_conn *c, uint32_t bytes) {
  c->in.start += bytes;
  c->part_ns = 0;
}
