/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways below and beside UDP's two calls a message, over a veth pair of two namespaces of its own.
 *
 * Owns the namespaces and the pair, which end with it. Run by hand, as root: cc -O2
 * study/compare/udp_below.c -o below && ./below [rounds]. Calls the kernel, and `ip`. Two
 * processes, bound to processors 0 and 1. Round trips of 64 bytes: `udp`, connected sockets and a
 * loop of recv; `uring`, io_uring with a multishot receive into a ring of buffers, and a send in
 * the call that looks for completions; `xdp`, Ethernet frames by AF_XDP in copy mode, received by a
 * look at memory. Bulk, 1 MiB until the receiver has all: `gso`, UDP_SEGMENT in calls of 62 KB;
 * `zerocopy`, the same with MSG_ZEROCOPY and its notices. Prints the least and the median of the
 * rounds' means, ratios, and system calls of a side for one trip. Both sides change the way
 * together; XDP's program is attached during its rounds only.
 */
#define _GNU_SOURCE
#include "uring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/errqueue.h>
#include <linux/if_xdp.h>
#include <linux/io_uring.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UDP, URING, XDP, GSO, ZEROCOPY, WAYS };
enum {
  TRIPS = 300,
  BULKS = 8,
  BYTES = 64,
  MIB = 1 << 20,
  PACKET = 1408,
  FRAMES = 64,
  FRAME = 2048
};
enum { RING = 32, HALF = FRAMES / 2, PORT = 4242, ETHERTYPE = 0x88b5 };

static const char *const names[WAYS] = {"udp", "uring", "xdp", "gso", "zerocopy"};
static uint64_t calls; /* of this process, in the way that runs */

struct queue {
  uint32_t *producer, *consumer;
  void *ring;
};

struct xsk {
  int fd, link, prog;
  char *umem;
  struct queue fill, completion, rx, tx;
  uint32_t sent;
};

struct uring {
  struct rings rings;
  int armed;
  struct io_uring_buf_ring *buffers;
  char *memory;
  uint16_t tail;
};

struct side {
  int me, fd;
  const char *device;
  struct xsk xsk;
  struct uring uring;
  char data[BYTES], *bulk;
};

static void must(long ok, const char *what) {
  if (ok >= 0) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(2);
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---- AF_XDP */

static long bpf(int command, union bpf_attr *attr) {
  return syscall(SYS_bpf, command, attr, sizeof *attr);
}

#define INSN(c, d, s, o, i)                                           \
 (struct bpf_insn) {                                                  \
  .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
 }

/* Frames of our type go to the socket of their queue, others to the kernel. */
static int xdp_program(int map) {
  const struct bpf_insn code[] = {INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
                                  INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 6, 0, 0),
                                  INSN(BPF_LDX | BPF_MEM | BPF_W, 3, 6, 4, 0),
                                  INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0),
                                  INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 14),
                                  INSN(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 8, 0),
                                  INSN(BPF_LDX | BPF_MEM | BPF_H, 5, 2, 12, 0),
                                  INSN(BPF_JMP | BPF_JNE | BPF_K, 5, 0, 6, htons(ETHERTYPE)),
                                  INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 6, 16, 0),
                                  INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
                                  INSN(0, 0, 0, 0, 0),
                                  INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS),
                                  INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
                                  INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
                                  INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS),
                                  INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  static char log[4096];
  union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_XDP,
                         .insn_cnt = sizeof code / sizeof *code,
                         .insns = (uintptr_t)code,
                         .license = (uintptr_t) "GPL",
                         .log_level = 1,
                         .log_size = sizeof log,
                         .log_buf = (uintptr_t)log};
  const long fd = bpf(BPF_PROG_LOAD, &attr);
  if (fd < 0) fprintf(stderr, "%s", log);
  must(fd, "the XDP program");
  return (int)fd;
}

static void queue_map(struct queue *q, int fd, const struct xdp_ring_offset *o, size_t entry,
                      off_t at) {
  char *const p =
      mmap(NULL, o->desc + RING * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, at);
  must(p == MAP_FAILED ? -1 : 0, "a ring of AF_XDP");
  *q = (struct queue){(uint32_t *)(void *)(p + o->producer), (uint32_t *)(void *)(p + o->consumer),
                      p + o->desc};
}

static void xdp_fill(struct xsk *x, uint64_t address) {
  const uint32_t at = *x->fill.producer;
  ((uint64_t *)x->fill.ring)[at % RING] = address;
  __atomic_store_n(x->fill.producer, at + 1, __ATOMIC_RELEASE);
}

static void xdp_open(struct side *s) {
  struct xsk *const x = &s->xsk;
  struct xdp_mmap_offsets offsets;
  socklen_t bytes = sizeof offsets;
  const int size = RING, index = (int)if_nametoindex(s->device);
  x->umem = mmap(NULL, FRAMES * FRAME, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  must(x->fd = socket(AF_XDP, SOCK_RAW, 0), "AF_XDP");
  const struct xdp_umem_reg memory = {
      .addr = (uintptr_t)x->umem, .len = FRAMES * FRAME, .chunk_size = FRAME};
  must(setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory), "memory of AF_XDP");
  static const int kinds[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING,
                              XDP_TX_RING};
  for (int i = 0; i < 4; i++)
    must(setsockopt(x->fd, SOL_XDP, kinds[i], &size, sizeof size), "rings of AF_XDP");
  must(getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &bytes), "offsets of AF_XDP");
  queue_map(&x->fill, x->fd, &offsets.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
  queue_map(&x->completion, x->fd, &offsets.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING);
  queue_map(&x->rx, x->fd, &offsets.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
  queue_map(&x->tx, x->fd, &offsets.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
  for (uint64_t i = 0; i < HALF; i++) xdp_fill(x, i * FRAME);
  struct sockaddr_xdp name = {
      .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = (uint32_t)index};
  must(bind(x->fd, (struct sockaddr *)&name, sizeof name), "AF_XDP on the device");
  union bpf_attr attr = {
      .map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1};
  const int map = (int)bpf(BPF_MAP_CREATE, &attr);
  must(map, "the map of AF_XDP");
  const uint32_t key = 0;
  attr = (union bpf_attr){.map_fd = (uint32_t)map,
                          .key = (uintptr_t)&key,
                          .value = (uintptr_t)&x->fd,
                          .flags = BPF_ANY};
  must(bpf(BPF_MAP_UPDATE_ELEM, &attr), "the socket in the map");
  x->prog = xdp_program(map);
}

static void xdp_attach(struct side *s) {
  union bpf_attr attr = {0};
  attr.link_create.prog_fd = (uint32_t)s->xsk.prog;
  attr.link_create.target_ifindex = if_nametoindex(s->device);
  attr.link_create.attach_type = BPF_XDP;
  must(s->xsk.link = (int)bpf(BPF_LINK_CREATE, &attr), "attaching the XDP program");
}

static void xdp_send(struct xsk *x) {
  const uint32_t at = *x->tx.producer, frame = HALF + x->sent++ % HALF;
  char *const p = x->umem + (size_t)frame * FRAME;
  memset(p, 0xff, 12);
  p[12] = (char)(ETHERTYPE >> 8);
  p[13] = (char)(ETHERTYPE & 0xff);
  ((struct xdp_desc *)x->tx.ring)[at % RING] =
      (struct xdp_desc){.addr = (uint64_t)frame * FRAME, .len = 14 + BYTES};
  __atomic_store_n(x->tx.producer, at + 1, __ATOMIC_RELEASE);
  calls++;
  (void)sendto(x->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
  const uint32_t done = __atomic_load_n(x->completion.producer, __ATOMIC_ACQUIRE);
  __atomic_store_n(x->completion.consumer, done, __ATOMIC_RELEASE);
}

static void xdp_receive(struct xsk *x) {
  const uint32_t at = *x->rx.consumer;
  while (__atomic_load_n(x->rx.producer, __ATOMIC_ACQUIRE) == at) continue;
  const uint64_t address = ((struct xdp_desc *)x->rx.ring)[at % RING].addr;
  __atomic_store_n(x->rx.consumer, at + 1, __ATOMIC_RELEASE);
  xdp_fill(x, address / FRAME * FRAME);
}

/* ---- io_uring */

static void uring_open(struct uring *r) {
  must(rings_open(&r->rings, RING, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
       "io_uring");
  const int how = PROT_READ | PROT_WRITE;
  r->buffers = mmap(NULL, 4096, how, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  r->memory = calloc(RING, FRAME);
  if (!r->memory) exit(2);
  const struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)r->buffers, .ring_entries = RING};
  must(syscall(SYS_io_uring_register, r->rings.fd, IORING_REGISTER_PBUF_RING, &reg, 1),
       "buffers of io_uring");
}

static void uring_give(struct uring *r, uint16_t id) {
  r->buffers->bufs[r->tail % RING] = (struct io_uring_buf){
      .addr = (uintptr_t)r->memory + (size_t)id * FRAME, .len = FRAME, .bid = id};
  __atomic_store_n(&r->buffers->tail, ++r->tail, __ATOMIC_RELEASE);
}

static void uring_add(struct uring *r, const struct io_uring_sqe *sqe) {
  const unsigned tail = *r->rings.sq_tail, at = tail & *r->rings.sq_mask;
  r->rings.sqes[at] = *sqe;
  r->rings.sq_array[at] = at;
  __atomic_store_n(r->rings.sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Submit what was added, then look until something has been received. */
static void uring_trip(struct side *s, int sends, int receives) {
  struct uring *const r = &s->uring;
  unsigned adds = 0;
  if (!r->armed) {
    uring_add(r, &(struct io_uring_sqe){.opcode = IORING_OP_RECV,
                                        .ioprio = IORING_RECV_MULTISHOT,
                                        .flags = IOSQE_BUFFER_SELECT,
                                        .fd = s->fd,
                                        .user_data = 1});
    r->armed = 1;
    adds++;
  }
  if (sends) {
    uring_add(r, &(struct io_uring_sqe){.opcode = IORING_OP_SEND,
                                        .flags = IOSQE_CQE_SKIP_SUCCESS,
                                        .fd = s->fd,
                                        .addr = (uintptr_t)s->data,
                                        .len = BYTES});
    adds++;
  }
  do {
    calls++;
    must(syscall(SYS_io_uring_enter, r->rings.fd, adds, 0, IORING_ENTER_GETEVENTS, NULL, 0),
         "io_uring");
    adds = 0;
    const unsigned head = *r->rings.cq_head;
    if (!receives || __atomic_load_n(r->rings.cq_tail, __ATOMIC_ACQUIRE) == head) continue;
    const struct io_uring_cqe cqe = r->rings.cqes[head & *r->rings.cq_mask];
    __atomic_store_n(r->rings.cq_head, head + 1, __ATOMIC_RELEASE);
    if (cqe.flags & IORING_CQE_F_BUFFER) uring_give(r, (uint16_t)(cqe.flags >> 16));
    if (!(cqe.flags & IORING_CQE_F_MORE)) r->armed = 0;
    receives = 0;
  } while (receives);
}

/* ---- trips */

static void send_one(struct side *s, int way) {
  if (way == XDP) {
    xdp_send(&s->xsk);
  } else if (way == URING) {
    uring_trip(s, 1, 0);
  } else {
    calls++;
    (void)!send(s->fd, s->data, BYTES, 0);
  }
}

static void receive_one(struct side *s, int way) {
  if (way == XDP)
    xdp_receive(&s->xsk);
  else if (way == URING)
    uring_trip(s, 0, 1);
  else
    do calls++;
    while (recv(s->fd, s->data, BYTES, MSG_DONTWAIT) < 0);
}

static void exchange(struct side *s, int way) {
  if (way == URING) {
    uring_trip(s, 1, 1);
    return;
  }
  send_one(s, way);
  receive_one(s, way);
}

/* Take the notices of sends without a copy; returns how many sends they are of. */
static uint32_t notices(int fd) {
  char control[256];
  struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};
  calls++;
  if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return 0;
  const struct sock_extended_err *e = (void *)CMSG_DATA(CMSG_FIRSTHDR(&m));
  return e->ee_data - e->ee_info + 1;
}

/* One MiB, in windows that the socket's buffer holds, each answered by a datagram. */
static void bulk_send(struct side *s, int way) {
  enum { CALL = 44 * PACKET, WINDOW = 2 };
  uint32_t open = 0;
  const int one = way == ZEROCOPY, segment = PACKET;
  must(setsockopt(s->fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof segment), "UDP_SEGMENT");
  must(setsockopt(s->fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one), "SO_ZEROCOPY");
  for (int at = 0, n = 1; at + CALL <= MIB; at += CALL, n++) {
    calls++;
    must(send(s->fd, s->bulk + at, CALL, way == ZEROCOPY ? MSG_ZEROCOPY : 0), "send");
    open += way == ZEROCOPY;
    if (n % WINDOW == 0) receive_one(s, UDP);
  }
  const int none = 0;
  must(setsockopt(s->fd, SOL_UDP, UDP_SEGMENT, &none, sizeof none), "UDP_SEGMENT");
  while (open) open -= notices(s->fd);
}

static void bulk_receive(struct side *s) {
  enum { CALL = 44 * PACKET, WINDOW = 2 };
  const int windows = MIB / CALL / WINDOW;
  for (int w = 0; w < windows; w++) {
    for (int got = 0; got < WINDOW * CALL;) {
      calls++;
      const ssize_t n = recv(s->fd, s->bulk + got, MIB - got, MSG_DONTWAIT);
      if (n > 0) got += (int)n;
    }
    send_one(s, UDP);
  }
}

/* Returns the mean of a trip in ns on the first side. */
static double run(struct side *s, int way) {
  if (way == XDP) {
    xdp_attach(s);
    usleep(50000); /* the other side attaches, too */
  }
  calls = 0;
  const double from = now_ns();
  const int trips = way < GSO ? TRIPS : BULKS;
  for (int i = 0; i < trips; i++) {
    if (way >= GSO && s->me)
      bulk_receive(s);
    else if (way >= GSO)
      bulk_send(s, way);
    else if (!s->me)
      exchange(s, way);
    else if (!i)
      receive_one(s, way);
    else
      exchange(s, way);
  }
  if (way < GSO && s->me) send_one(s, way);
  const double mean = (now_ns() - from) / trips;
  if (way == XDP) {
    usleep(20000);
    close(s->xsk.link);
  }
  if (way == URING) { /* the receive would take what other ways wait for */
    uring_add(&s->uring, &(struct io_uring_sqe){.opcode = IORING_OP_ASYNC_CANCEL, .addr = 1});
    syscall(SYS_io_uring_enter, s->uring.rings.fd, 1, 2, IORING_ENTER_GETEVENTS, NULL, 0);
    *s->uring.rings.cq_head = *s->uring.rings.cq_tail;
    s->uring.armed = 0;
  }
  return mean;
}

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...) {
  char line[256];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  must(system(line) ? -1 : 0, line);
}

static void side_open(struct side *s, int me) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(me, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
  *s = (struct side){.me = me, .device = me ? "v1" : "v0"};
  shell("ip addr add 10.9.0.%d/24 dev v%d && ip link set v%d up", me + 1, me, me);
  s->bulk = malloc(MIB);
  if (!s->bulk) exit(2);
  memset(s->bulk, 1, MIB);
  must(s->fd = socket(AF_INET, SOCK_DGRAM, 0), "socket");
  const int room = 4 << 20, on = 1;
  (void)setsockopt(s->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  (void)setsockopt(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  must(setsockopt(s->fd, SOL_UDP, UDP_GRO, &on, sizeof on), "UDP_GRO");
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  must(bind(s->fd, (struct sockaddr *)&name, sizeof name), "bind");
  inet_pton(AF_INET, me ? "10.9.0.1" : "10.9.0.2", &name.sin_addr);
  must(connect(s->fd, (struct sockaddr *)&name, sizeof name), "connect");
  xdp_open(s);
  uring_open(&s->uring);
  for (uint16_t i = 0; i < RING; i++) uring_give(&s->uring, i);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void meet(const int *to, const int *from) {
  char c = 0;
  if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1) exit(2);
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  int there[2], back[2];
  must(unshare(CLONE_NEWNET), "a namespace (root is needed)");
  must(pipe(there) | pipe(back), "pipe");
  shell("ip link add v0 type veth peer name v1");
  const pid_t child = fork();
  must(child, "fork");
  const int me = child == 0;
  const int *const to = me ? back : there, *const from = me ? there : back;
  if (me) must(unshare(CLONE_NEWNET), "a namespace");
  meet(to, from);
  if (!me) shell("ip link set v1 netns %d", (int)child);
  meet(to, from);
  static struct side side;
  side_open(&side, me);
  double *const mean = calloc((size_t)rounds * WAYS, sizeof *mean);
  if (!mean) exit(2);
  double count[WAYS] = {0};
  sleep(1);
  for (int r = 0; r < rounds; r++)
    for (int w = 0; w < WAYS; w++) {
      meet(to, from);
      mean[w * rounds + r] = run(&side, w);
      count[w] += (double)calls / (w < GSO ? TRIPS : BULKS) / rounds;
    }
  if (me) _exit(0);
  waitpid(child, NULL, 0);
  for (int w = 0; w < WAYS; w++) {
    const int floor = w < GSO ? UDP : GSO;
    double *list = mean + w * rounds, *base = mean + floor * rounds;
    qsort(list, (size_t)rounds, sizeof *list, compare);
    printf("%-9s least %8.2f us (%.2f)  median %8.2f us (%.2f)  calls of a side %.1f\n", names[w],
           list[0] / 1000, list[0] / base[0], list[rounds / 2] / 1000,
           list[rounds / 2] / base[rounds / 2], count[w]);
  }
  free(mean);
  return 0;
}
