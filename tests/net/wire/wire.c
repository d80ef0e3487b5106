/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire: a link of several hosts in user space, with delay, rate, loss and worse, by seed.
 *
 *   wire ports=N [seed=S] [NAME=VALUE...]      names and values: wire_setting in model.h
 *
 * Makes TAP devices wire0, wire1, ...; the caller moves each into the network namespace of a host.
 * Says "wire: ready seed=S ...", then obeys lines of standard input, each with one line of answer:
 * `set [PORT] NAME=VALUE...`, `cut PORT`, `join PORT`, `stats`; ends at its end. A frame goes to
 * the port whose hardware address it names, else to all. Runs with real-time priority where it may,
 * because ranks that busy-poll would make every frame late. Calls: model.h. Invariants: frames are
 * delivered in the order of their arrival times; standard output has nothing but answers.
 */
#define _GNU_SOURCE
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FRAME_BYTES 65600
#define BATCH       64 /* frames read from a port before others are looked at */
#define MAC_BYTES   6

/* A frame in flight. */
struct frame {
  uint64_t at_ns, order;
  uint32_t to;
  size_t bytes;
  uint8_t data[];
};

static struct {
  struct wire_model model;
  int fds[WIRE_PORTS_MAX];
  uint8_t macs[WIRE_PORTS_MAX][MAC_BYTES]; /* of the host behind each port; zero: not seen yet */
  struct frame **heap;                     /* [room], the first `waiting` used; soonest at 0 */
  size_t waiting, room;
  uint64_t order; /* frames so far */
  char line[512]; /* what of a command has come */
  size_t line_bytes;
} wire;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- frames in flight: a binary heap */

static bool sooner(const struct frame *a, const struct frame *b) {
  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void swap(size_t i, size_t j) {
  struct frame *f = wire.heap[i];
  wire.heap[i] = wire.heap[j];
  wire.heap[j] = f;
}

static void push(struct frame *f) {
  if (wire.waiting == wire.room) {
    wire.room = wire.room ? 2 * wire.room : 1024;
    wire.heap = realloc(wire.heap, wire.room * sizeof *wire.heap);
    if (!wire.heap) fail("no memory");
  }
  size_t i = wire.waiting++;
  wire.heap[i] = f;
  for (; i && sooner(wire.heap[i], wire.heap[(i - 1) / 2]); i = (i - 1) / 2) swap(i, (i - 1) / 2);
}

static struct frame *pop(void) {
  struct frame *first = wire.heap[0];
  wire.heap[0] = wire.heap[--wire.waiting];
  for (size_t i = 0, child; (child = 2 * i + 1) < wire.waiting; i = child) {
    if (child + 1 < wire.waiting && sooner(wire.heap[child + 1], wire.heap[child])) child++;
    if (!sooner(wire.heap[child], wire.heap[i])) break;
    swap(i, child);
  }
  return first;
}

/* ---- ports */

static int open_tap(uint32_t port) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) fail("/dev/net/tun");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  snprintf(request.ifr_name, sizeof request.ifr_name, "wire%u", port);
  if (ioctl(fd, TUNSETIFF, &request) != 0) fail(request.ifr_name);
  return fd;
}

/* The ports that a frame is for, as bits. */
static uint32_t destinations(uint32_t from, const uint8_t *mac) {
  for (uint32_t i = 0; i < wire.model.count; i++)
    if (i != from && memcmp(wire.macs[i], mac, MAC_BYTES) == 0) return 1u << i;
  return (uint32_t)(((uint64_t)1 << wire.model.count) - 1) & ~(1u << from);
}

static void accept_frame(uint32_t from, const uint8_t *data, size_t bytes) {
  struct wire_fate fate;
  memcpy(wire.macs[from], data + MAC_BYTES, MAC_BYTES);
  fate.datagram = wire_is_datagram(data, bytes);
  fate.payload = wire_has_payload(data, bytes);
  wire_model_pass(&wire.model, from, destinations(from, data), now_ns(), bytes, &fate);
  for (uint32_t to = 0; to < wire.model.count; to++) {
    for (uint32_t i = 0; i < fate.counts[to]; i++) {
      const struct wire_copy *copy = &fate.copies[to][i];
      struct frame *f = malloc(sizeof *f + bytes);
      if (!f) fail("no memory");
      *f = (struct frame){.at_ns = copy->at_ns, .order = wire.order++, .to = to, .bytes = bytes};
      memcpy(f->data, data, bytes);
      if (copy->corrupt) wire_corrupt(f->data, bytes, copy->random);
      if (copy->forged) wire_forge(f->data, bytes, copy->random);
      push(f);
    }
  }
}

static void read_port(uint32_t port) {
  static uint8_t data[FRAME_BYTES];
  for (int i = 0; i < BATCH; i++) {
    const ssize_t got = read(wire.fds[port], data, sizeof data);
    if (got < 2 * MAC_BYTES) return; /* nothing more, or the interface is removed */
    accept_frame(port, data, (size_t)got);
  }
}

/* Hand over what is due. A host that is lost or has no room loses its frames. */
static void deliver_due(void) {
  while (wire.waiting && wire.heap[0]->at_ns <= now_ns()) {
    struct frame *f = pop();
    if (!wire.model.ports[f->to].cut && write(wire.fds[f->to], f->data, f->bytes) < 0 &&
        errno != EAGAIN && errno != EIO && errno != EINVAL && errno != ENOBUFS && errno != EBADFD)
      fail("write to a port");
    free(f);
  }
}

/* ---- commands */

static void print_counts(void) {
  struct wire_counts t = {0};
  for (uint32_t i = 0; i < wire.model.count; i++) {
    const struct wire_counts *c = &wire.model.ports[i].counts;
    t.frames += c->frames;
    t.bytes += c->bytes;
    t.delivered += c->delivered;
    t.lost += c->lost;
    t.overflowed += c->overflowed;
    t.unplugged += c->unplugged;
    t.duplicated += c->duplicated;
    t.reordered += c->reordered;
    t.corrupted += c->corrupted;
    t.forged += c->forged;
  }
  printf("stats frames=%llu bytes=%llu delivered=%llu lost=%llu overflowed=%llu unplugged=%llu "
         "duplicated=%llu reordered=%llu corrupted=%llu forged=%llu\n",
         (unsigned long long)t.frames, (unsigned long long)t.bytes, (unsigned long long)t.delivered,
         (unsigned long long)t.lost, (unsigned long long)t.overflowed,
         (unsigned long long)t.unplugged, (unsigned long long)t.duplicated,
         (unsigned long long)t.reordered, (unsigned long long)t.corrupted,
         (unsigned long long)t.forged);
}

/* A port by its number; -1: there is none. */
static int parse_port(const char *text) {
  char *end;
  const long port = text ? strtol(text, &end, 10) : -1;
  return port >= 0 && port < (long)wire.model.count && end != text && !*end ? (int)port : -1;
}

/* `set [PORT] NAME=VALUE...`: all words are right, or nothing changes. */
static bool change(char *save) {
  char *word = strtok_r(NULL, " ", &save);
  const int only = word && !strchr(word, '=') ? parse_port(word) : -1;
  if (!word || (!strchr(word, '=') && only < 0)) return false;
  if (only >= 0) word = strtok_r(NULL, " ", &save);
  struct wire_model next = wire.model;
  for (; word; word = strtok_r(NULL, " ", &save))
    for (uint32_t i = 0; i < next.count; i++)
      if ((only < 0 || (uint32_t)only == i) && !wire_setting(&next.ports[i].settings, word))
        return false;
  wire.model = next;
  return true;
}

static void obey(char *line) {
  char *save = NULL;
  const char *verb = strtok_r(line, " ", &save);
  bool ok = false;
  if (verb && strcmp(verb, "stats") == 0) {
    print_counts();
    return;
  }
  if (verb && strcmp(verb, "set") == 0) ok = change(save);
  if (verb && (strcmp(verb, "cut") == 0 || strcmp(verb, "join") == 0)) {
    const int port = parse_port(strtok_r(NULL, " ", &save));
    ok = port >= 0;
    if (ok) wire.model.ports[port].cut = verb[0] == 'c';
  }
  puts(ok ? "ok" : "error: give set [PORT] NAME=VALUE..., cut PORT, join PORT or stats");
}

/* Returns false at the end of standard input. */
static bool read_commands(void) {
  const ssize_t got = read(0, wire.line + wire.line_bytes, sizeof wire.line - 1 - wire.line_bytes);
  if (got <= 0) return false;
  wire.line_bytes += (size_t)got;
  wire.line[wire.line_bytes] = '\0';
  for (char *end; (end = strchr(wire.line, '\n'));) {
    *end = '\0';
    obey(wire.line);
    wire.line_bytes -= (size_t)(end + 1 - wire.line);
    memmove(wire.line, end + 1, wire.line_bytes + 1);
  }
  fflush(stdout);
  return wire.line_bytes < sizeof wire.line - 1;
}

/* ---- start */

static void start(int argc, char **argv) {
  struct wire_settings settings = {.queue_bytes = 1 << 20, .hold_ns = 1000000};
  uint64_t seed = now_ns() % 1000000;
  uint32_t ports = 2;
  for (int i = 1; i < argc; i++) {
    unsigned long long number;
    char rest;
    if (sscanf(argv[i], "seed=%llu%c", &number, &rest) == 1)
      seed = number;
    else if (sscanf(argv[i], "ports=%llu%c", &number, &rest) == 1 && number >= 2 &&
             number <= WIRE_PORTS_MAX)
      ports = (uint32_t)number;
    else if (!wire_setting(&settings, argv[i])) {
      fprintf(stderr,
              "wire: '%s': give ports=2..%d, seed=N, delay= jitter= hold= (times), rate= (1gbit), "
              "queue= (bytes), loss= duplicate= reorder= corrupt= forge= (probabilities)\n",
              argv[i], WIRE_PORTS_MAX);
      exit(2);
    }
  }
  wire_model_init(&wire.model, ports, seed, &settings);
  for (uint32_t i = 0; i < ports; i++) wire.fds[i] = open_tap(i);
  const struct sched_param priority = {.sched_priority = 1};
  const bool prompt = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
  printf("wire: ready seed=%llu ports=%u%s", (unsigned long long)seed, ports,
         prompt ? "" : " (without real-time priority)");
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "seed=", 5) != 0 && strncmp(argv[i], "ports=", 6) != 0)
      printf(" %s", argv[i]);
  putchar('\n');
  fflush(stdout);
}

/* Sleep until a frame comes or one is due, or a command. */
static void wait_for_work(struct pollfd *polled) {
  struct timespec left = {0};
  if (wire.waiting) {
    const uint64_t now = now_ns(), at = wire.heap[0]->at_ns;
    const uint64_t ns = at > now ? at - now : 0;
    left = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
  }
  if (ppoll(polled, wire.model.count + 1, wire.waiting ? &left : NULL, NULL) < 0 && errno != EINTR)
    fail("ppoll");
}

int main(int argc, char **argv) {
  struct pollfd polled[WIRE_PORTS_MAX + 1];
  start(argc, argv);
  const uint32_t count = wire.model.count;
  for (uint32_t i = 0; i < count; i++)
    polled[i] = (struct pollfd){.fd = wire.fds[i], .events = POLLIN};
  polled[count] = (struct pollfd){.fd = 0, .events = POLLIN};
  for (;;) {
    wait_for_work(polled);
    deliver_due();
    for (uint32_t i = 0; i < count; i++) {
      if (polled[i].revents & POLLIN)
        read_port(i);
      else if (polled[i].revents)
        polled[i].fd = -1; /* the interface went with its host */
    }
    deliver_due();
    if (polled[count].revents && !read_commands()) return 0;
  }
}
