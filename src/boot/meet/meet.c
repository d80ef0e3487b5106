/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors from a leader to the ranks of its host, see meet.h.
 *
 * Owns: no state. Called by bootstrap_pm.c. Calls: base, libc. A message carries at most
 * FDS_AT_ONCE descriptors (the kernel's limit is 253), and its first octet; a receiver answers with
 * one octet when it has all, so that the leader may close. Invariants: see meet.h.
 */
#define _GNU_SOURCE
#include "boot/meet/meet.h"

#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FDS_AT_ONCE = 200, LATE_MS = 5000 };

union control {
  struct cmsghdr head;
  char room[CMSG_SPACE(FDS_AT_ONCE * sizeof(int))];
};

static int fail(const char *what) {
  tmb_print("ranks of this host cannot meet: %s: %s", what, strerror(errno));
  return TMB_E_SYS;
}

/* A name of the abstract name space: its first octet is 0. Returns the length of the address. */
static socklen_t address_of(const char *name, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  const size_t n = strlen(name);
  memcpy(address->sun_path + 1, name, n);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static bool same_user(int fd) {
  struct ucred other;
  socklen_t bytes = sizeof other;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 && other.uid == geteuid();
}

int tmb_meet_open(char name[TMB_MEET_NAME_BYTES]) {
  uint64_t number[2] = {0, 0};
  struct sockaddr_un address;
  if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number) return fail("getrandom");
  snprintf(name, TMB_MEET_NAME_BYTES, "tombolo-%016llx%016llx", (unsigned long long)number[0],
           (unsigned long long)number[1]);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket");
  const socklen_t bytes = address_of(name, &address);
  if (bind(fd, (struct sockaddr *)&address, bytes) == 0 && listen(fd, 4096) == 0) return fd;
  const int rc = fail("bind or listen");
  close(fd);
  return rc;
}

static bool send_some(int fd, const int *fds, uint32_t count) {
  union control control = {.room = {0}};
  char octet = 'f';
  struct iovec data = {&octet, 1};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(head), fds, count * sizeof(int));
  ssize_t n;
  do n = sendmsg(fd, &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

static bool wait_for(int fd, const char *whom) {
  for (bool noted = false;; noted = true) {
    struct pollfd in = {.fd = fd, .events = POLLIN};
    const int n = poll(&in, 1, LATE_MS);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
    if (n == 0 && !noted) tmb_print("still waiting for %s", whom);
  }
}

int tmb_meet_serve(int listener, uint32_t peers, const int *fds, uint32_t count) {
  while (peers) {
    if (!wait_for(listener, "ranks of this host that the process manager has started"))
      return fail("poll");
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0) return fail("accept");
    bool good = same_user(fd);
    for (uint32_t at = 0; at < count && good; at += FDS_AT_ONCE)
      good = send_some(fd, fds + at, TMB_MIN(count - at, (uint32_t)FDS_AT_ONCE));
    close(fd);
    if (good) peers--;
  }
  return TMB_OK;
}

/* Returns how many descriptors came, 0 on failure. */
static uint32_t take_some(int fd, int *fds, uint32_t room) {
  union control control = {.room = {0}};
  char octet;
  struct iovec data = {&octet, 1};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = sizeof control.room};
  ssize_t n;
  do n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  const struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!head || head->cmsg_type != SCM_RIGHTS || (message.msg_flags & MSG_CTRUNC)) return 0;
  const uint32_t count = (uint32_t)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  if (count > room) return 0;
  memcpy(fds, CMSG_DATA(head), count * sizeof(int));
  return count;
}

int tmb_meet_take(const char *name, int *fds, uint32_t count) {
  struct sockaddr_un address;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket");
  const socklen_t bytes = address_of(name, &address);
  int rc;
  do rc = connect(fd, (struct sockaddr *)&address, bytes);
  while (rc != 0 && errno == EINTR);
  errno = rc != 0 && errno == ECONNREFUSED ? EHOSTUNREACH : errno;
  if (rc != 0 || !same_user(fd)) {
    rc = fail("no rank of this user answers; are these ranks in containers of their own? Then say "
              "so by TOMBOLO_PLACES");
    close(fd);
    return rc;
  }
  uint32_t at = 0, n = 1;
  for (; at < count && n; at += n) n = take_some(fd, fds + at, count - at);
  close(fd);
  if (at >= count) return TMB_OK;
  for (uint32_t i = 0; i < at; i++) close(fds[i]);
  return fail("a rank gave too few descriptors (see ulimit -n)");
}
