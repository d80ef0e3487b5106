/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output and input of a job on several hosts, see front.h.
 *
 * Owns: nothing global. Called by run_hosts.c. Calls: tree, run_label.c. Standard output and error
 * belong to others, too, so they are not made non-blocking: at most PIPE_BUF bytes are written when
 * poll says that there is room. Invariants: see front.h.
 */
#define _GNU_SOURCE
#include "run/front.h"
#include "agent/agent.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct owner {
  uint32_t host, bytes;
};

static uint32_t stream_of(const struct front *f, uint32_t sink) {
  (void)f;
  return sink % 2 + 1;
}

static int open_labels(struct front *f) {
  for (uint32_t r = 0; r < f->tree->job.size; r++) {
    int ends[2];
    if (run_label_before_fork(f->label, r) != 0) return -1;
    run_label_take_ends(f->label, ends);
    for (int i = 0; i < 2; i++) {
      f->sink[2 * r + (uint32_t)i].fd = ends[i];
      (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
  }
  return run_label_start(f->label);
}

int front_open(struct front *f, struct tree *tree, struct run_label *label) {
  *f = (struct front){.tree = tree, .label = label, .input_room = AGENT_INPUT_BYTES};
  f->sinks = label ? 2 * tree->job.size : 2;
  f->input_open = tree->job.stdin_rank < tree->job.size;
  f->sink = calloc(f->sinks, sizeof *f->sink);
  if (!f->sink) tmb_fatal_nopos("out of memory for the output of %u ranks", tree->job.size);
  if (label) return open_labels(f);
  f->sink[0].fd = STDOUT_FILENO;
  f->sink[1].fd = STDERR_FILENO;
  return 0;
}

/* ---- output */

/* Reports to agents how much of theirs has been delivered. */
static void send_taken(struct front *f, uint32_t sink, size_t bytes) {
  struct front_sink *s = &f->sink[sink];
  while (bytes > 0 && s->owners.at < s->owners.bytes) {
    struct owner o;
    memcpy(&o, s->owners.data + s->owners.at, sizeof o);
    uint32_t part = (uint32_t)TMB_MIN(bytes, (size_t)o.bytes);
    tree_send_to(f->tree, o.host,
                 (struct frame){.type = FRAME_TAKEN,
                                .a = o.host,
                                .b = stream_of(f, sink),
                                .bytes = sizeof part,
                                .data = (const char *)&part});
    bytes -= part;
    o.bytes -= part;
    memcpy(s->owners.data + s->owners.at, &o, sizeof o);
    if (o.bytes == 0) s->owners.at += sizeof o;
  }
  if (s->owners.at == s->owners.bytes) s->owners.at = s->owners.bytes = 0;
}

/* Nobody reads a stream any more: its ranks learn it by SIGPIPE, as on one host. */
static void drop_sink(struct front *f, uint32_t sink) {
  struct front_sink *s = &f->sink[sink];
  if (s->fd > STDERR_FILENO) close(s->fd);
  s->fd = -1;
  s->text.at = s->text.bytes = s->owners.at = s->owners.bytes = 0;
  tree_send_down(f->tree, (struct frame){.type = FRAME_CLOSED, .b = stream_of(f, sink)});
}

/* Bytes that may be written without blocking. */
static size_t room_of(const struct front *f, const struct front_sink *s) {
  const size_t left = s->text.bytes - s->text.at;
  if (f->label) return left;
  struct pollfd out = {.fd = s->fd, .events = POLLOUT};
  if (poll(&out, 1, 0) <= 0) return 0;
  return TMB_MIN(left, (size_t)PIPE_BUF);
}

static void write_sink(struct front *f, uint32_t sink) {
  struct front_sink *s = &f->sink[sink];
  while (s->fd >= 0 && s->text.at < s->text.bytes) {
    const size_t room = room_of(f, s);
    const ssize_t n = room ? write(s->fd, s->text.data + s->text.at, room) : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && errno == EAGAIN)) break;
    if (n < 0) {
      if (errno != EPIPE)
        tmb_print("run: cannot write output: %s; the rest is lost", strerror(errno));
      drop_sink(f, sink);
      return;
    }
    s->text.at += (size_t)n;
    send_taken(f, sink, (size_t)n);
  }
  if (s->text.at == s->text.bytes) s->text.at = s->text.bytes = 0;
}

void front_output(struct front *f, uint32_t rank, uint32_t stream, const char *data,
                  uint32_t bytes) {
  if (rank >= f->tree->job.size || stream < 1 || stream > 2) return;
  const uint32_t sink = f->label ? 2 * rank + stream - 1 : stream - 1;
  const struct owner o = {f->tree->job.host_of[rank], bytes};
  if (f->sink[sink].fd < 0) return;
  pack_bytes(&f->sink[sink].text, data, bytes);
  pack_bytes(&f->sink[sink].owners, &o, sizeof o);
  write_sink(f, sink);
}

bool front_pending(const struct front *f) {
  for (uint32_t i = 0; i < f->sinks; i++)
    if (f->sink[i].fd >= 0 && f->sink[i].text.bytes) return true;
  return false;
}

void front_drop(struct front *f) {
  for (uint32_t i = 0; i < f->sinks; i++)
    if (f->sink[i].fd >= 0) drop_sink(f, i);
}

void front_end_labels(struct front *f) {
  for (uint32_t i = 0; f->label && i < f->sinks; i++) {
    if (f->sink[i].fd >= 0) close(f->sink[i].fd);
    f->sink[i].fd = -1;
  }
}

/* ---- input */

/* Whether the terminal lets this process read: in the background it would be stopped. */
static bool may_read(void) {
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  return foreground < 0 || foreground == getpgrp();
}

static void send_input(struct front *f, const char *data, uint32_t bytes) {
  const uint32_t rank = f->tree->job.stdin_rank;
  tree_send_to(f->tree, f->tree->job.host_of[rank],
               (struct frame){.type = FRAME_INPUT, .a = rank, .bytes = bytes, .data = data});
}

static void read_input(struct front *f) {
  char buffer[8192];
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  while (f->input_open && f->input_room && may_read() && poll(&in, 1, 0) > 0) {
    const ssize_t n = read(STDIN_FILENO, buffer, TMB_MIN((size_t)f->input_room, sizeof buffer));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    send_input(f, buffer, n > 0 ? (uint32_t)n : 0);
    if (n <= 0)
      f->input_open = false;
    else
      f->input_room -= (uint32_t)n;
  }
}

void front_input_taken(struct front *f, uint32_t bytes) {
  if (bytes == UINT32_MAX)
    f->input_open = false;
  else
    f->input_room += bytes;
}

/* ---- both */

nfds_t front_wait(const struct front *f, struct pollfd *fds, nfds_t max) {
  nfds_t count = 0;
  if (f->input_open && f->input_room && may_read() && count < max)
    fds[count++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
  for (uint32_t i = 0; i < f->sinks && count < max; i++)
    if (f->sink[i].fd >= 0 && f->sink[i].text.bytes)
      fds[count++] = (struct pollfd){.fd = f->sink[i].fd, .events = POLLOUT};
  return count;
}

void front_serve(struct front *f) {
  for (uint32_t i = 0; i < f->sinks; i++) write_sink(f, i);
  read_input(f);
}

void front_close(struct front *f) {
  front_end_labels(f);
  for (uint32_t i = 0; i < f->sinks; i++) {
    pack_free(&f->sink[i].text);
    pack_free(&f->sink[i].owners);
  }
  free(f->sink);
}
