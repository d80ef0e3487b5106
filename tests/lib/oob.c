/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out-of-band signals between the ranks of a test (job.h), one abstract datagram socket per rank,
 * named by the session key that rank 0's process id gives. They let a rank wait without polling the
 * library under test.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "job.h"

static int sock = -1;
static volatile int session;

static void on_session(gex_Token_t token, gex_AM_Arg_t key) {
  (void)token;
  session = key;
}

static socklen_t name_of(struct sockaddr_un *addr, gex_Rank_t rank) {
  memset(addr, 0, sizeof *addr);
  addr->sun_family = AF_UNIX;
  const int n = snprintf(addr->sun_path + 1, sizeof addr->sun_path - 1, "tmb-test-%d-%u",
                         (int)session, (unsigned)rank);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

void oob_open(void) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_session, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "session"};
  REQUIRE(gex_EP_RegisterHandlers(job.ep, &entry, 1) == GASNET_OK);
  job_barrier();
  if (job.rank == 0)
    for (gex_Rank_t r = 0; r < job.size; r++)
      REQUIRE(gex_AM_RequestShort1(job.tm, r, entry.gex_index, 0, (int)getpid()) == 0);
  GASNET_BLOCKUNTIL(session != 0);
  struct sockaddr_un addr;
  sock = socket(AF_UNIX, SOCK_DGRAM, 0);
  REQUIRE(sock >= 0);
  const socklen_t len = name_of(&addr, job.rank);
  REQUIRE(bind(sock, (struct sockaddr *)&addr, len) == 0);
  job_barrier();
}

void oob_send(gex_Rank_t rank, int value) {
  struct sockaddr_un addr;
  const socklen_t len = name_of(&addr, rank);
  REQUIRE(sendto(sock, &value, sizeof value, 0, (struct sockaddr *)&addr, len) ==
          (ssize_t)sizeof value);
}

int oob_wait(unsigned ms) {
  const double limit = now_s() + ms * 1e-3;
  struct pollfd wait = {sock, POLLIN, 0};
  for (;;) {
    const double left = limit - now_s();
    if (left <= 0) return -1;
    const int n = poll(&wait, 1, (int)(left * 1e3) + 1);
    if (n < 0 && errno != EINTR) return -1;
    int value = -1;
    if (n > 0 && recv(sock, &value, sizeof value, 0) == (ssize_t)sizeof value) return value;
  }
}

void oob_meet(void) {
  enum { HERE = 1001, GO = 1002, LIMIT_MS = 60000 };
  if (job.rank != 0) {
    oob_send(0, HERE);
    REQUIRE(oob_wait(LIMIT_MS) == GO);
    return;
  }
  for (gex_Rank_t r = 1; r < job.size; r++) REQUIRE(oob_wait(LIMIT_MS) == HERE);
  for (gex_Rank_t r = 1; r < job.size; r++) oob_send(r, GO);
}
