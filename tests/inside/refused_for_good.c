/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 */
/* env: TOMBOLO_PLACES=2 TOMBOLO_CONDUIT=loop */
/* timeout: 60 */
/*
 * A network that refuses for good, not for want of room: an immediate message ends the program with
 * the error. It does not return "no resources now", since a client would try again for ever. Each
 * kind is sent by a child, whose table of the conduit always fails.
 */
#define _GNU_SOURCE
#include "base/error.h"
#include "core/job.h"
#include "net/net.h"

#include "job.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 1000, HANDLER = 200 };

static int refuse(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net, (void)out;
  return TMB_E_LIMIT;
}

static int find_nothing(struct tmb_net *net, int serve) {
  (void)net, (void)serve;
  return TMB_FOUND_NOTHING;
}

static char data[100];

static int send_short(gex_Rank_t to) {
  return gex_AM_RequestShort0(job.tm, to, HANDLER, GEX_FLAG_IMMEDIATE);
}

static int send_medium(gex_Rank_t to) {
  return gex_AM_RequestMedium0(job.tm, to, HANDLER, data, sizeof data, GEX_EVENT_NOW,
                               GEX_FLAG_IMMEDIATE);
}

static int send_long(gex_Rank_t to) {
  return gex_AM_RequestLong0(job.tm, to, HANDLER, data, sizeof data, job.peer[to], GEX_EVENT_NOW,
                             GEX_FLAG_IMMEDIATE);
}

static int commit(gex_Rank_t to) {
  gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(job.tm, to, data, sizeof data, sizeof data, GEX_EVENT_NOW, 0, 0);
  int refused = 1;
  for (int i = 0; i < TRIES && refused; i++)
    refused = gex_AM_CommitRequestMedium0_v2(sd, HANDLER, sizeof data, GEX_FLAG_IMMEDIATE);
  return refused;
}

static int put(gex_Rank_t to) {
  return gex_RMA_PutNBI(job.tm, to, job.peer[to], data, sizeof data, GEX_EVENT_NOW,
                        GEX_FLAG_IMMEDIATE);
}

static void ends_with_error(const char *name, int (*send)(gex_Rank_t to)) {
  char text[1024] = "";
  int ends[2], status = 0;
  REQUIRE(pipe(ends) == 0);
  fflush(NULL);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    static struct tmb_net_ops failing;
    failing = *tmb_job.net;
    failing.am_send = refuse;
    failing.progress = find_nothing;
    failing.am_long = NULL;
    failing.put = NULL;
    tmb_job.net = &failing;
    dup2(ends[1], STDERR_FILENO);
    alarm(20);
    for (int i = 0; i < TRIES; i++)
      if (send((job.rank + 1) % job.size) == 0) _exit(1);
    _exit(2); /* it is to be tried again, for ever */
  }
  close(ends[1]);
  for (size_t got = 0; got + 1 < sizeof text;) {
    const ssize_t n = read(ends[0], text + got, sizeof text - 1 - got);
    if (n <= 0) break;
    got += (size_t)n;
  }
  close(ends[0]);
  REQUIRE(waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(text, "TMB_E_LIMIT"))
    printf("%s: status %#x, %s\n", name, (unsigned)status, text);
  CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status), SIGABRT);
  CHECK(strstr(text, "TMB_E_LIMIT") != NULL);
}

static void on_message(gex_Token_t token) {
  (void)token;
}

static void on_data(gex_Token_t token, void *buf, size_t bytes) {
  (void)token, (void)buf, (void)bytes;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {HANDLER, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, "s"},
      {HANDLER + 1, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 0, NULL, "m"}};
  job_start(&argc, &argv, 4096, table, 2);
  ends_with_error("short", send_short);
  ends_with_error("medium", send_medium);
  ends_with_error("long", send_long);
  ends_with_error("commit", commit);
  ends_with_error("put", put);
  job_barrier();
  return job_finish();
}
