/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking the supervisor of a job on several hosts for the observations of all, see look.h.
 *
 * Owns: nothing. Called by ps.c and why.c. Calls: boot's snapshot, sockets. The question is one
 * word of flags; the answer its length and the bytes of look_pack. Invariants: bounded in time.
 */
#define _GNU_SOURCE
#include "agent/look.h"

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_S 8 /* more than a look takes at most */

unsigned look_address(uint64_t job_id, int pid, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  const int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "tombolo/%016llx/%d",
                         (unsigned long long)job_id, pid);
  return (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Whether a supervisor of the job that is found on this machine can be asked about others. */
static bool look_is_far(const struct tmb_ctl *ctl) {
  return ctl->agent_fd >= 0 || ctl->here < ctl->size;
}

static bool receive(int fd, void *data, size_t bytes) {
  char *at = data;
  while (bytes) {
    const ssize_t n = recv(fd, at, bytes, 0);
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* The answer to a question; NULL if none comes. */
static char *question(const struct tmb_ctl *ctl, uint32_t flags, uint32_t *bytes) {
  struct sockaddr_un address;
  const struct timeval limit = {.tv_sec = ANSWER_S};
  char *answer = NULL;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return NULL;
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const unsigned length = look_address(ctl->job_id, ctl->supervisor_pid, &address);
  if (connect(fd, (const struct sockaddr *)&address, length) == 0 &&
      send(fd, &flags, sizeof flags, MSG_NOSIGNAL) == (ssize_t)sizeof flags &&
      receive(fd, bytes, sizeof *bytes) && *bytes <= LINK_FRAME_BYTES_MAX)
    answer = malloc(*bytes + 1u);
  if (answer && !receive(fd, answer, *bytes)) {
    free(answer);
    answer = NULL;
  }
  close(fd);
  return answer;
}

int look_ask(const struct tmb_ctl *ctl, uint32_t flags, struct tmb_snapshot *s) {
  const bool far = look_is_far(ctl);
  uint32_t bytes = 0;
  char *answer = far ? question(ctl, flags, &bytes) : NULL;
  if (!answer) {
    const int rc = tmb_snapshot_take(s, ctl, flags & LOOK_MEMORY);
    return rc || !far ? rc : TMB_E_PEER;
  }
  int rc = tmb_snapshot_open(s, ctl);
  struct pack p = pack_reader(answer, bytes);
  if (!rc && !look_unpack(&p, s)) rc = TMB_E_PEER;
  free(answer);
  return rc;
}
