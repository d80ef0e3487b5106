/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --label`: carries the ranks' output line by line.
 *
 * Owns: for each of the two streams one pipe per rank, a thread, and the unfinished line of each
 * rank. Called by run.c and run_exec.c. Calls: libc, base/log. Invariants: a write holds whole
 * lines and at most PIPE_BUF bytes, unless one line is longer: lines of different ranks and streams
 * never mix. A blocked write blocks only its own thread, so that supervision goes on; its pipes
 * fill up and hold the ranks back. A last line without an end gets one.
 */
#define _GNU_SOURCE
#include "ranks/run.h"

#include "base/error.h"
#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES     65536
#define LINE_BYTES_MAX (1 << 20) /* a longer line is cut into several */
#define STACK_BYTES    (128 << 10)
#define PREFIX_BYTES   16
#define ALL_ENDED      UINT32_MAX /* epoll tag of `ended_fd` */

/* The unfinished line of a rank. */
struct partial {
  char *text; /* [capacity], NULL while empty; owned */
  size_t used, capacity;
};

/* One of the two output streams of all ranks. */
struct stream {
  int out_fd; /* ours: 1 or 2 */
  int epoll_fd;
  int ended_fd;              /* eventfd: the ranks have ended, deliver the rest and end */
  uint32_t ranks, open;      /* pipes; pipes not yet at their end */
  int *read_fd;              /* [ranks], -1: closed */
  struct partial *partial;   /* [ranks] */
  pthread_mutex_t *out_lock; /* of the label, held while writing */
  int done_fd;               /* eventfd of the label: +1 when this thread ends */
  pthread_t thread;
  bool broken; /* nobody reads our output any more */
  bool failed; /* for another reason than that its reader has closed it; its thread */
  size_t out_used;
  char out[PIPE_BUF]; /* whole lines that wait to be written */
  char in[READ_BYTES];
};

struct run_label {
  struct stream stream[2];
  int child_end[2]; /* write ends for the rank that is being forked */
  int done_fd;
  bool running;            /* the threads */
  pthread_mutex_t lock[2]; /* the second is unused if both streams go to one file */
};

/* ---- writing */

static void write_all(struct stream *s, const char *data, size_t bytes) {
  pthread_mutex_lock(s->out_lock);
  while (bytes > 0 && !s->broken) {
    const ssize_t n = write(s->out_fd, data, bytes);
    if (n >= 0) {
      data += n;
      bytes -= (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      struct pollfd wait = {.fd = s->out_fd, .events = POLLOUT};
      (void)poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      s->broken = true;
      s->failed = errno != EPIPE;
      if (s->failed && s->out_fd == STDOUT_FILENO)
        tmb_print("run: --label: cannot write standard output: %s; the rest is lost",
                  strerror(errno));
    }
  }
  pthread_mutex_unlock(s->out_lock);
}

static void flush_out(struct stream *s) {
  if (s->out_used) write_all(s, s->out, s->out_used);
  s->out_used = 0;
}

/* Writes one line; `head` and `tail` are its two parts, the newline not included. */
static void put_line(struct stream *s, uint32_t rank, const struct partial *head, const char *tail,
                     size_t tail_bytes) {
  char prefix[PREFIX_BYTES];
  const size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "[%u] ", rank);
  const size_t total = prefix_bytes + head->used + tail_bytes + 1;
  char *to = s->out;
  char *big = NULL;
  if (s->out_used + total > sizeof s->out) flush_out(s);
  if (total > sizeof s->out)
    to = big = malloc(total);
  else
    to += s->out_used;
  if (!to) return;
  memcpy(to, prefix, prefix_bytes);
  if (head->used) memcpy(to + prefix_bytes, head->text, head->used);
  if (tail_bytes) memcpy(to + prefix_bytes + head->used, tail, tail_bytes);
  to[total - 1] = '\n';
  if (big)
    write_all(s, big, total);
  else
    s->out_used += total;
  free(big);
}

/* ---- lines */

static void forget(struct partial *p) {
  free(p->text);
  *p = (struct partial){0};
}

/* Keeps the beginning of a line until its end arrives; cuts the line if it gets too long. */
static void keep(struct stream *s, uint32_t rank, const char *data, size_t bytes) {
  struct partial *p = &s->partial[rank];
  if (bytes == 0) return;
  if (p->used + bytes > LINE_BYTES_MAX) {
    put_line(s, rank, p, data, bytes);
    forget(p);
    return;
  }
  if (p->used + bytes > p->capacity) {
    const size_t capacity = TMB_MAX(2 * p->capacity, p->used + bytes);
    char *text = realloc(p->text, capacity);
    if (!text) {
      put_line(s, rank, p, data, bytes);
      forget(p);
      return;
    }
    p->text = text;
    p->capacity = capacity;
  }
  memcpy(p->text + p->used, data, bytes);
  p->used += bytes;
}

static void take(struct stream *s, uint32_t rank, const char *data, size_t bytes) {
  const char *end;
  while (bytes > 0 && (end = memchr(data, '\n', bytes)) != NULL) {
    put_line(s, rank, &s->partial[rank], data, (size_t)(end - data));
    forget(&s->partial[rank]);
    bytes -= (size_t)(end + 1 - data);
    data = end + 1;
  }
  keep(s, rank, data, bytes);
}

/* ---- reading */

static void close_pipe(struct stream *s, uint32_t rank) {
  if (s->read_fd[rank] < 0) return;
  if (s->partial[rank].used) put_line(s, rank, &s->partial[rank], NULL, 0);
  forget(&s->partial[rank]);
  close(s->read_fd[rank]); /* leaves the epoll set by itself */
  s->read_fd[rank] = -1;
  s->open--;
}

/* Reads once. Returns true if there may be more. */
static bool read_some(struct stream *s, uint32_t rank) {
  if (s->read_fd[rank] < 0) return false;
  const ssize_t n = read(s->read_fd[rank], s->in, sizeof s->in);
  if (n > 0) {
    take(s, rank, s->in, (size_t)n);
    return true;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) return false;
  close_pipe(s, rank);
  return false;
}

/* The ranks have ended: the bytes in the pipes now are all that count, even if a stray process
 * writes on. */
static void drain(struct stream *s) {
  for (uint32_t r = 0; r < s->ranks; r++) {
    while (!s->broken && read_some(s, r)) continue;
    close_pipe(s, r);
  }
}

static void *carry(void *arg) {
  struct stream *s = arg;
  struct epoll_event events[32];
  while (s->open > 0) {
    const int count = epoll_wait(s->epoll_fd, events, TMB_ARRAY_LEN(events), -1);
    bool ended = s->broken;
    for (int i = 0; i < count; i++) {
      if (events[i].data.u32 == ALL_ENDED)
        ended = true;
      else
        read_some(s, events[i].data.u32);
    }
    if (ended) drain(s);
    flush_out(s);
  }
  const uint64_t one = 1;
  if (write(s->done_fd, &one, sizeof one) < 0) tmb_warn("run: eventfd: %s", strerror(errno));
  return NULL;
}

/* ---- set-up */

static int open_stream(struct stream *s, uint32_t ranks, int out_fd, int done_fd) {
  s->out_fd = out_fd;
  s->done_fd = done_fd;
  s->ranks = ranks;
  s->read_fd = malloc(ranks * sizeof *s->read_fd);
  s->partial = calloc(ranks, sizeof *s->partial);
  s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  s->ended_fd = eventfd(0, EFD_CLOEXEC);
  if (!s->read_fd || !s->partial || s->epoll_fd < 0 || s->ended_fd < 0) return -1;
  for (uint32_t r = 0; r < ranks; r++) s->read_fd[r] = -1;
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = ALL_ENDED};
  return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->ended_fd, &event);
}

static bool same_file(int a, int b) {
  struct stat x, y;
  return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

struct run_label *run_label_open(uint32_t ranks) {
  struct run_label *label = calloc(1, sizeof *label);
  if (!label) goto fail;
  label->done_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (label->done_fd < 0) goto fail;
  const bool shared = same_file(STDOUT_FILENO, STDERR_FILENO);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_init(&label->lock[i], NULL);
    label->stream[i].out_lock = &label->lock[shared ? 0 : i];
    if (open_stream(&label->stream[i], ranks, STDOUT_FILENO + i, label->done_fd) != 0) goto fail;
  }
  return label;
fail: /* the command ends now, so nothing is undone */
  tmb_print("run: --label: cannot set up: %s", strerror(errno));
  return NULL;
}

int run_label_before_fork(struct run_label *label, uint32_t rank) {
  for (int i = 0; i < 2; i++) {
    struct stream *s = &label->stream[i];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      tmb_print("run: --label: cannot open a pipe for rank %u: %s; %s", rank, strerror(errno),
                tmb_error_fd_remedy(errno));
      return -1;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = rank};
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, ends[0], &event) != 0) {
      tmb_print("run: --label: epoll: %s", strerror(errno));
      return -1;
    }
    s->read_fd[rank] = ends[0];
    s->open++;
    label->child_end[i] = ends[1];
  }
  return 0;
}

void run_label_after_fork(struct run_label *label, uint32_t rank) {
  (void)rank;
  close(label->child_end[0]);
  close(label->child_end[1]);
}

void run_label_take_ends(struct run_label *label, int *ends) {
  for (int i = 0; i < 2; i++) {
    ends[i] = label->child_end[i];
    label->child_end[i] = -1;
  }
}

void run_label_in_child(struct run_label *label, uint32_t rank) {
  (void)rank;
  dup2(label->child_end[0], STDOUT_FILENO);
  dup2(label->child_end[1], STDERR_FILENO);
}

int run_label_start(struct run_label *label) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, NULL);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, TMB_MAX((size_t)STACK_BYTES, (size_t)PTHREAD_STACK_MIN));
  int err = 0;
  for (int i = 0; i < 2 && err == 0; i++)
    err = pthread_create(&label->stream[i].thread, &attr, carry, &label->stream[i]);
  pthread_attr_destroy(&attr);
  label->running = true;
  char limit[256];
  if (err)
    tmb_print("run: --label: cannot start a thread: %s (%s)", strerror(err),
              tmb_os_processes_refused(limit, sizeof limit));
  return err ? -1 : 0;
}

/* ---- the end */

int run_ending_signal(int signal_fd) {
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    const int sig = (int)info.ssi_signo;
    if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT) return sig;
  }
  return 0;
}

int run_label_finish(struct run_label *label, int signal_fd, double limit_s) {
  const uint64_t one = 1, deadline = tmb_os_now_ns() + (uint64_t)(limit_s * 1e9);
  for (int i = 0; i < 2; i++)
    if (write(label->stream[i].ended_fd, &one, sizeof one) < 0)
      tmb_warn("run: eventfd: %s", strerror(errno));
  for (int ended = 0; ended < 2;) {
    const uint64_t now = tmb_os_now_ns();
    if (now >= deadline) {
      tmb_warn("run: some output could not be delivered: nobody reads it");
      return 0;
    }
    struct pollfd wait[2] = {{.fd = label->done_fd, .events = POLLIN},
                             {.fd = signal_fd, .events = POLLIN}};
    const uint64_t left_ms = (deadline - now) / 1000000 + 1;
    (void)poll(wait, 2, left_ms > 60000 ? 60000 : (int)left_ms);
    uint64_t count;
    if (wait[0].revents && read(label->done_fd, &count, sizeof count) == (ssize_t)sizeof count)
      ended++;
    const int sig = wait[1].revents ? run_ending_signal(signal_fd) : 0;
    if (sig) return sig;
  }
  for (int i = 0; i < 2; i++) pthread_join(label->stream[i].thread, NULL);
  label->running = false;
  return 0;
}

bool run_label_lost(const struct run_label *label) {
  return label->stream[0].failed || label->stream[1].failed;
}

bool run_label_close(struct run_label *label) {
  if (!label) return true;
  if (label->running) return false; /* threads that cannot deliver still use it */
  for (int i = 0; i < 2; i++) {
    struct stream *s = &label->stream[i];
    for (uint32_t r = 0; r < s->ranks; r++) close_pipe(s, r);
    close(s->epoll_fd);
    close(s->ended_fd);
    free(s->read_fd);
    free(s->partial);
  }
  close(label->done_fd);
  free(label);
  return true;
}
