/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to be preloaded: the kernel cuts no messages into packets (UDP_SEGMENT).
 *
 * Owns: the count of such messages. Called by tests/multi/absent.py through LD_PRELOAD: an option
 * of a message is nothing that a filter of system calls sees. Calls: the sendmsg of libc.
 * NO_SEGMENTS_AFTER=N lets N such messages pass first. The error is EIO, as where the route's
 * device does not compute checksums. The first refusal prints a line, which the test wants to see.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UDP_SEGMENT_OPTION 103

typedef ssize_t send_function(int fd, const struct msghdr *m, int flags);

static bool has_segments(const struct msghdr *m) {
  if (!m->msg_control) return false;
  const struct cmsghdr *c = CMSG_FIRSTHDR(m);
  return c && c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_SEGMENT_OPTION;
}

/* Whether this one, which has segments, is refused. */
static bool is_refused(void) {
  static const char text[] = "no_segments: a message is refused\n";
  static long seen;
  const char *after = getenv("NO_SEGMENTS_AFTER");
  const long count = __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED), pass = after ? atol(after) : 0;
  if (count == pass && write(STDERR_FILENO, text, sizeof text - 1) < 0) abort();
  return count >= pass;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
  static send_function *next;
  if (!next) {
    void *found = dlsym(RTLD_NEXT, "sendmsg");
    memcpy(&next, &found, sizeof next);
  }
  if (has_segments(m) && is_refused()) {
    errno = EIO;
    return -1;
  }
  return next(fd, m, flags);
}
