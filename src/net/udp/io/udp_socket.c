/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagram sockets, see udp_socket.h.
 *
 * Owns struct udp_sockets. Called by the engine through its io. Calls the kernel. The common case
 * is one short packet: one call of sendto, through a line (udp_line.h) once much has been sent.
 * Several packets to one peer of one length, the last may be shorter, become one message with
 * UDP_SEGMENT; several such runs one sendmmsg. When the kernel or the interface refuses
 * segmentation it is given up. Errors of the network that belong to a peer are read from the error
 * queue. Invariant: a packet that the kernel refuses for good counts as sent, and is lost; only for
 * want of buffers is it tried again.
 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */

#include "net/udp/io/udp_socket.h"

#include "base/compiler.h"
#include "net/plugin/route.h"
#include "net/udp/io/udp_line.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h> /* after time.h: it uses struct timespec */

#ifndef UDP_SEGMENT
# define UDP_SEGMENT 103 /* fixed by Linux */
#endif
#ifndef UDP_GRO
# define UDP_GRO 104 /* fixed by Linux */
#endif

/* Chosen, not measured. */
#define BUFFER_BYTES (4 << 20) /* of a socket, each direction */
#define RUN_PACKETS  40u       /* of one message, at most */
#define RUNS_MAX     64u       /* messages of one sendmmsg */
#define TURN_CALLS   8u        /* of recv, between those that ask another rail first */
#define NS_PER_S     1000000000u

struct udp_sockets {
  int fd[UDP_RAILS_MAX]; /* [rails] for receiving, and for sending where there is no line */
  int family;
  uint32_t hot;   /* the rail that something came by last */
  uint32_t other; /* another, which is read next */
  uint32_t calls; /* of recv */
  bool segment;   /* UDP_SEGMENT works, or has not been tried */
  bool proven;    /* it has worked: a refused call was too long */
  uint32_t size, rails;
  struct udp_book book;
  uint8_t *refused;       /* [size] */
  struct udp_lines lines; /* by the number of the address */
};

static int open_one(int family, const struct udp_addr *own, uint16_t *port) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int bytes = BUFFER_BYTES;
  *port = udp_addr_bind(fd, own, family);
  if (!*port) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  udp_socket_prepare(fd, family, UDP_CUT_BY_KERNEL);
  return fd;
}

struct udp_sockets *udp_sockets_open(const struct udp_card *own, const struct udp_choice *choice,
                                     struct udp_ports *ports) {
  struct udp_sockets *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->family = choice->family;
  for (; s->rails < choice->rails; s->rails++) {
    const struct udp_addr addr = udp_card_addr(own, choice, s->rails);
    s->fd[s->rails] = open_one(s->family, &addr, &ports->datagram[s->rails]);
    if (s->fd[s->rails] >= 0) continue;
    const int error = errno;
    udp_sockets_close(s);
    errno = error;
    return NULL;
  }
  return s;
}

bool udp_sockets_join(struct udp_sockets *s, const struct udp_join *join) {
  const uint32_t size = join->rows.size;
  const enum udp_cutting cutting = join->search ? UDP_CUT_NEVER : UDP_CUT_BY_KERNEL;
  const int one = 1;
  s->segment = join->offload;
  s->size = size;
  s->refused = calloc(size, 1);
  if (!udp_book_open(&s->book, &join->rows, join->choice) || !s->refused) return false;
  if (!udp_lines_open(&s->lines, s->family, size * s->rails, cutting)) return false;
  for (uint32_t r = 0; r < s->rails; r++) {
    if (join->search) udp_socket_prepare(s->fd[r], s->family, UDP_CUT_NEVER);
    if (join->offload) (void)setsockopt(s->fd[r], IPPROTO_UDP, UDP_GRO, &one, sizeof one);
  }
  return true;
}

void udp_sockets_close(struct udp_sockets *s) {
  for (uint32_t r = 0; r < s->rails; r++) close(s->fd[r]);
  udp_lines_close(&s->lines);
  udp_book_close(&s->book);
  free(s->refused);
  free(s);
}

static uint64_t socket_now(void *io) {
  (void)io;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- errors of the network */

static socklen_t sockaddr_of(const struct udp_sockets *s, uint32_t index,
                             struct sockaddr_storage *out) {
  const struct udp_addr addr = udp_book_addr(&s->book, index);
  return udp_addr_sockaddr(&addr, s->family, out);
}

static void note_refused(struct udp_sockets *s, const struct sockaddr_storage *from) {
  for (uint32_t i = 0; i < s->size * s->rails; i++) {
    struct sockaddr_storage addr;
    const socklen_t length = sockaddr_of(s, i, &addr);
    if (!memcmp(&addr, from, length)) s->refused[i / s->rails] = 1;
  }
}

/* Whether an error is the word of the peer's host that nobody listens. That a host or a network
 * cannot be reached may pass: a cable that is out, a router that starts anew. */
static bool is_refusal(struct msghdr *m) {
  struct sock_extended_err error;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
    if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
        !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
      continue;
    memcpy(&error, CMSG_DATA(c), sizeof error);
    return error.ee_errno == ECONNREFUSED;
  }
  return false;
}

/* Read the network's errors about packets of ours. */
static void read_errors(struct udp_sockets *s, int fd) {
  for (;;) {
    struct sockaddr_storage to = {0};
    char control[512], data[1];
    struct iovec iov = {data, sizeof data};
    struct msghdr m = {.msg_name = &to,
                       .msg_namelen = sizeof to,
                       .msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    if (is_refusal(&m)) note_refused(s, &to);
  }
}

static bool is_network_error(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EHOSTDOWN || error == ENETDOWN || error == EMSGSIZE;
}

static bool socket_refused(void *io, uint32_t peer) {
  struct udp_sockets *s = io;
  for (uint32_t r = 0; r < s->rails; r++) {
    read_errors(s, s->fd[r]);
    const int line = udp_line_look(&s->lines, peer * s->rails + r);
    if (line >= 0) read_errors(s, line);
  }
  const bool refused = s->refused[peer];
  s->refused[peer] = 0;
  return refused;
}

/* ---- sending */

static uint32_t rail_of(const struct udp_sockets *s, const struct udp_out *out) {
  return s->rails > 1 ? out->rail % s->rails : 0;
}

/* Number of the address that a packet goes to. */
static uint32_t index_of(const struct udp_sockets *s, const struct udp_out *out) {
  return out->peer * s->rails + rail_of(s, out);
}

static int line_of(struct udp_sockets *s, const struct udp_out *out) {
  const uint32_t index = index_of(s, out);
  const int line = udp_line_look(&s->lines, index);
  if (TMB_LIKELY(line >= 0)) return line;
  const struct udp_addr addr = udp_book_addr(&s->book, index);
  return udp_line_get(&s->lines, index, &addr);
}

/* The socket of a packet that has no line. */
static int common_of(const struct udp_sockets *s, const struct udp_out *out) {
  return s->fd[rail_of(s, out)];
}

/* A message of one or several packets. */
struct run {
  struct sockaddr_storage addr;
  struct iovec iov[2 * RUN_PACKETS];
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
  } control;
};

static uint32_t out_bytes(const struct udp_out *out) {
  return out->head_bytes + out->tail_bytes;
}

/* Number of packets from out[0] on that make one message. */
static uint32_t run_length(const struct udp_sockets *s, const struct udp_out *out, uint32_t count) {
  if (!s->segment || out->mode != UDP_SEND_WHOLE) return 1;
  const uint32_t bytes = out_bytes(out);
  const uint32_t to = index_of(s, out);
  uint32_t n = 1, sum = bytes;
  while (n < count && n < RUN_PACKETS) {
    const uint32_t more = out_bytes(&out[n]);
    if (index_of(s, &out[n]) != to || more > bytes || sum + more > UDP_RUN_BYTES ||
        out[n].mode != UDP_SEND_WHOLE)
      break;
    sum += more;
    n++;
    if (more < bytes) break; /* only the last may be shorter */
  }
  return n;
}

/* in connected: the message needs no address. */
static void fill_run(const struct udp_sockets *s, const struct udp_out *out, uint32_t count,
                     bool connected, struct run *run, struct msghdr *m) {
  uint32_t iovs = 0;
  for (uint32_t i = 0; i < count; i++) {
    run->iov[iovs++] = (struct iovec){(void *)(uintptr_t)out[i].head, out[i].head_bytes};
    if (out[i].tail_bytes)
      run->iov[iovs++] = (struct iovec){(void *)(uintptr_t)out[i].tail, out[i].tail_bytes};
  }
  *m = (struct msghdr){.msg_iov = run->iov, .msg_iovlen = iovs};
  if (!connected) {
    m->msg_name = &run->addr;
    m->msg_namelen = sockaddr_of(s, index_of(s, out), &run->addr);
  }
  if (count == 1) return;
  const uint16_t bytes = (uint16_t)out_bytes(out);
  memset(&run->control, 0, sizeof run->control); /* its end is padding */
  m->msg_control = &run->control;
  m->msg_controllen = sizeof run->control;
  struct cmsghdr *c = CMSG_FIRSTHDR(m);
  c->cmsg_level = IPPROTO_UDP;
  c->cmsg_type = UDP_SEGMENT;
  c->cmsg_len = CMSG_LEN(sizeof bytes);
  memcpy(CMSG_DATA(c), &bytes, sizeof bytes);
}

/* Whether a run was refused that single packets replace: they pass, or are cut by the kernel. */
static bool run_refused(const struct udp_sockets *s, int error) {
  if (error == EMSGSIZE) return s->lines.cutting == UDP_CUT_BY_KERNEL;
  if (!s->proven) return !is_network_error(error);
  /* EIO: a route without checksums by device; EINVAL: what newer kernels call EMSGSIZE */
  return error == EIO || error == EINVAL;
}

/* Meaning of a failed call: -1: call again at once, 0: later, 1: the packet is lost. in first: no
 * call for it has failed before; segmented: it is a run. */
static int after_error(struct udp_sockets *s, int fd, bool first, bool segmented) {
  const int error = errno;
  if (error == EINTR) return -1;
  if (error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM) return 0;
  if (is_network_error(error)) read_errors(s, fd);
  /* The error may be of an earlier packet; this one was not sent then. */
  if (error == EMSGSIZE && first) return -1;
  if (!segmented || !run_refused(s, error)) return 1;
  s->segment = false;
  return -1;
}

static uint32_t send_run(struct udp_sockets *s, const struct udp_out *out, uint32_t count) {
  struct run run;
  struct msghdr m;
  bool first = true;
  const int line = line_of(s, out), fd = line < 0 ? common_of(s, out) : line;
  fill_run(s, out, count, line >= 0, &run, &m);
  while (sendmsg(fd, &m, MSG_DONTWAIT) < 0) {
    const int verdict = after_error(s, fd, first, count > 1);
    if (verdict >= 0) return verdict ? count : 0;
    if (count > 1 && !s->segment) return 0; /* again, one by one */
    first = false;
  }
  if (count > 1) s->proven = true;
  return count;
}

/* Receive and send one datagram. libc's calls are cancellation points: where a process has threads
 * they mark themselves with two locked instructions, at each look of a wait. */
static ssize_t call_recv(int fd, void *data, size_t bytes) {
  return syscall(SYS_recvfrom, fd, data, bytes, MSG_DONTWAIT, NULL, NULL);
}

static ssize_t call_send(int fd, const struct udp_out *out, const struct sockaddr *to,
                         socklen_t length) {
  return syscall(SYS_sendto, fd, out->head, (size_t)out->head_bytes, MSG_DONTWAIT, to, length);
}

/* One short packet in one piece. */
static uint32_t send_one(struct udp_sockets *s, const struct udp_out *out) {
  struct sockaddr_storage addr;
  bool first = true;
  const int line = line_of(s, out), fd = line < 0 ? common_of(s, out) : line;
  const socklen_t length = line < 0 ? sockaddr_of(s, index_of(s, out), &addr) : 0;
  const struct sockaddr *to = line < 0 ? (const struct sockaddr *)&addr : NULL;
  while (call_send(fd, out, to, length) < 0) {
    const int verdict = after_error(s, fd, first, false);
    if (verdict >= 0) return verdict ? 1 : 0;
    first = false;
  }
  return 1;
}

/* Packets of different peers or lengths, none longer than its head: many in a call. */
static uint32_t send_many(struct udp_sockets *s, const struct udp_out *out, uint32_t count) {
  struct mmsghdr m[RUNS_MAX];
  struct sockaddr_storage addr[RUNS_MAX];
  struct iovec iov[RUNS_MAX];
  for (uint32_t i = 0; i < count; i++) {
    iov[i] = (struct iovec){(void *)(uintptr_t)out[i].head, out[i].head_bytes};
    m[i].msg_hdr = (struct msghdr){.msg_name = &addr[i], .msg_iov = &iov[i], .msg_iovlen = 1};
    m[i].msg_hdr.msg_namelen = sockaddr_of(s, index_of(s, &out[i]), &addr[i]);
  }
  const int fd = s->fd[rail_of(s, out)], sent = sendmmsg(fd, m, count, MSG_DONTWAIT);
  if (sent > 0) return (uint32_t)sent;
  return after_error(s, fd, true, false) > 0 ? 1 : 0;
}

/* Number of packets from out[0] on that have no tail and make no run. */
static uint32_t many_length(const struct udp_sockets *s, const struct udp_out *out,
                            uint32_t count) {
  uint32_t n = 0;
  while (n < count && n < RUNS_MAX && !out[n].tail_bytes &&
         rail_of(s, &out[n]) == rail_of(s, out) && run_length(s, out + n, count - n) == 1)
    n++;
  return n;
}

static uint32_t socket_send(void *io, const struct udp_out *out, uint32_t count) {
  struct udp_sockets *s = io;
  if (TMB_LIKELY(count == 1 && !out->tail_bytes)) return send_one(s, out);
  uint32_t done = 0;
  while (done < count) {
    const uint32_t many = many_length(s, out + done, count - done);
    uint32_t taken;
    if (many > 1) {
      taken = send_many(s, out + done, many);
    } else {
      const bool segment = s->segment;
      taken = send_run(s, out + done, run_length(s, out + done, count - done));
      if (!taken && segment && !s->segment) continue; /* segmentation was refused */
    }
    if (!taken) break;
    done += taken;
  }
  return done;
}

/* ---- receiving */

static void recv_one(struct udp_sockets *s, int fd, struct udp_datagrams *in) {
  const ssize_t bytes = call_recv(fd, in->memory, UDP_DATAGRAM_MAX);
  if (bytes < 0) {
    if (is_network_error(errno)) read_errors(s, fd);
    return;
  }
  in->bytes[0] = (uint32_t)bytes;
  in->count = 1;
}

static void recv_many(struct udp_sockets *s, int fd, struct udp_datagrams *in) {
  struct mmsghdr m[UDP_BATCH];
  struct iovec iov[UDP_BATCH];
  for (uint32_t i = 0; i < UDP_BATCH; i++) {
    iov[i] = (struct iovec){in->memory + (size_t)i * UDP_DATAGRAM_MAX, UDP_DATAGRAM_MAX};
    m[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
  }
  const int count = recvmmsg(fd, m, UDP_BATCH, MSG_DONTWAIT, NULL);
  if (count < 0) {
    if (is_network_error(errno)) read_errors(s, fd);
    return;
  }
  in->count = (uint32_t)count;
  for (int i = 0; i < count; i++) in->bytes[i] = m[i].msg_len;
}

static bool recv_rail(struct udp_sockets *s, uint32_t rail, struct udp_datagrams *in, bool many) {
  if (many)
    recv_many(s, s->fd[rail], in);
  else
    recv_one(s, s->fd[rail], in);
  return in->count > 0;
}

/* The rail that something came by last, and one of the others, which has its turn first at times.
 */
static void recv_rails(struct udp_sockets *s, struct udp_datagrams *in, bool many) {
  const bool turn = ++s->calls % TURN_CALLS == 0;
  s->other = (s->other + 1) % s->rails;
  if (s->other == s->hot) s->other = (s->other + 1) % s->rails;
  const uint32_t first = turn ? s->other : s->hot, second = turn ? s->hot : s->other;
  if (!recv_rail(s, first, in, many) && recv_rail(s, second, in, many)) s->hot = second;
}

static void socket_recv(void *io, struct udp_datagrams *in, bool many) {
  struct udp_sockets *s = io;
  in->count = 0;
  if (TMB_LIKELY(s->rails == 1))
    (void)recv_rail(s, 0, in, many);
  else
    recv_rails(s, in, many);
}

static uint32_t socket_fds(void *io, struct pollfd *fds, uint32_t max) {
  const struct udp_sockets *s = io;
  const uint32_t count = TMB_MIN(max, s->rails);
  for (uint32_t r = 0; r < count; r++) fds[r] = (struct pollfd){.fd = s->fd[r], .events = POLLIN};
  return count;
}

static uint32_t socket_waiting(void *io, uint32_t peer, uint32_t rail) {
  struct udp_sockets *s = io;
  const struct udp_out to = {.peer = peer, .rail = rail};
  const int line = udp_line_look(&s->lines, index_of(s, &to));
  int bytes = 0;
  if (ioctl(line < 0 ? s->fd[rail_of(s, &to)] : line, SIOCOUTQ, &bytes) || bytes < 0) return 0;
  return (uint32_t)bytes;
}

static void socket_close(void *io) {
  udp_sockets_close(io);
}

int udp_sockets_route(const struct udp_sockets *s, uint32_t peer) {
  int error = 0;
  for (uint32_t rail = 0; rail < s->rails; rail++) {
    struct sockaddr_storage addr;
    const socklen_t length = sockaddr_of(s, peer * s->rails + rail, &addr);
    error = tmb_route_check((const struct sockaddr *)&addr, length);
    if (!error) return 0;
  }
  return error;
}

const struct udp_book *udp_sockets_book(const struct udp_sockets *s) {
  return &s->book;
}

struct udp_io udp_sockets_io(struct udp_sockets *s) {
  static const struct udp_io_ops ops = {UDP_IO_MANDATORY(socket), .waiting = socket_waiting};
  return (struct udp_io){.ops = &ops, .state = s, .rails = s->rails};
}
