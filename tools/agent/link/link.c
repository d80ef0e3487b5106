/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between agents, see link.h.
 *
 * Owns: nothing global. Called by the tree of agents. Calls: pack, os, libc. Invariants: see
 * link.h.
 */
#include "agent/link/link.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PULL_BYTES 65536

struct head {
  uint32_t type, a, b, bytes;
};

void link_open(struct link *l, int in_fd, int out_fd) {
  *l = (struct link){.in_fd = in_fd, .out_fd = out_fd};
  l->heard_ns = l->said_ns = tmb_os_now_ns();
  (void)fcntl(in_fd, F_SETFL, O_NONBLOCK);
  (void)fcntl(out_fd, F_SETFL, O_NONBLOCK);
}

void link_close(struct link *l) {
  if (l->in_fd >= 0) close(l->in_fd);
  if (l->out_fd >= 0) close(l->out_fd);
  pack_free(&l->in);
  pack_free(&l->out);
  *l = (struct link){.in_fd = -1, .out_fd = -1, .broken = true};
}

void link_send(struct link *l, struct frame f) {
  const struct head head = {f.type, f.a, f.b, f.bytes};
  if (l->broken || l->closed) return;
  pack_bytes(&l->out, &head, sizeof head);
  pack_bytes(&l->out, f.data, f.bytes);
}

size_t link_queued(const struct link *l) {
  return l->out.bytes - l->out.at;
}

void link_push(struct link *l) {
  const uint64_t now = tmb_os_now_ns();
  if (now - l->said_ns >= LINK_PING_NS && !link_queued(l))
    link_send(l, (struct frame){.type = FRAME_PING});
  while (!l->broken && link_queued(l)) {
    const ssize_t n = write(l->out_fd, l->out.data + l->out.at, link_queued(l));
    if (n > 0) {
      l->out.at += (size_t)n;
      l->said_ns = now;
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else if (n < 0 && errno != EINTR) {
      l->closed = true; /* bytes sent before the end are still to be read */
    }
    if (l->closed) l->out.at = l->out.bytes;
  }
  if (!link_queued(l)) l->out.at = l->out.bytes = 0;
}

void link_pull(struct link *l, size_t limit) {
  static char buffer[PULL_BYTES];
  for (size_t got = 0; got < limit && !l->broken;) {
    const ssize_t n = read(l->in_fd, buffer, sizeof buffer);
    if (n > 0) {
      pack_bytes(&l->in, buffer, (size_t)n);
      l->heard_ns = tmb_os_now_ns();
      got += (size_t)n;
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else if (n == 0 || errno != EINTR) {
      l->broken = true;
    }
  }
}

/* Consumed bytes make room. */
static void compact(struct pack *in) {
  if (!in->at) return;
  memmove(in->data, in->data + in->at, in->bytes - in->at);
  in->bytes -= in->at;
  in->at = 0;
}

bool link_next(struct link *l, struct frame *f) {
  struct head head;
  const size_t left = l->in.bytes - l->in.at;
  if (left >= sizeof head) {
    memcpy(&head, l->in.data + l->in.at, sizeof head);
    if (head.type >= FRAME_TYPES || head.bytes > LINK_FRAME_BYTES_MAX) {
      l->broken = true;
      l->in.at = l->in.bytes;
      return false;
    }
    if (left - sizeof head >= head.bytes) {
      *f = (struct frame){head.type, head.a, head.b, head.bytes,
                          l->in.data + l->in.at + sizeof head};
      l->in.at += sizeof head + head.bytes;
      return true;
    }
  }
  compact(&l->in);
  return false;
}

nfds_t link_wait(const struct link *l, struct pollfd *fds) {
  nfds_t count = 0;
  if (l->broken) return 0;
  fds[count++] = (struct pollfd){.fd = l->in_fd, .events = POLLIN};
  if (link_queued(l)) fds[count++] = (struct pollfd){.fd = l->out_fd, .events = POLLOUT};
  return count;
}
