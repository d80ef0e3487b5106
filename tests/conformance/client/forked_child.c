/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* again: TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=udp */
/* timeout: 60 */
/*
 * API 00.11, 00.12: a child that a client forks is no rank. It may end by exit, by gasnet_exit or
 * by a signal, with its own code, and no message calls its end the rank's; the rank and its peers
 * go on, over networks too: no peer takes the rank for lost.
 */
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

enum { WAYS = 6, ROUNDS = 2, CODE = 5 };

static const int by_signal[WAYS] = {0, 0, SIGABRT, SIGTERM, SIGINT, SIGQUIT};

_Noreturn static void end_child(int way) {
  if (way == 0) exit(CODE);
  if (way == 1) gasnet_exit(CODE);
  if (way == 2) abort();
  raise(by_signal[way]);
  _exit(0); /* the signal has not ended this process */
}

/* Whether nothing was written to the pipe, whose writers have ended. */
static int is_silent(int from) {
  char text[512];
  const ssize_t n = read(from, text, sizeof text - 1);
  if (n > 0) {
    text[n] = '\0';
    printf("the child wrote: %s", text);
  }
  return n == 0;
}

static void puts_go_through(uint32_t value) {
  const gex_Rank_t to = (job.rank + 1) % job.size;
  gex_RMA_PutBlockingVal(job.tm, to, job.peer[to], value, 4, 0);
  job_barrier();
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, job.rank, job.base, 4, 0), value);
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  for (int i = 0; i < WAYS * ROUNDS; i++) {
    const int way = i % WAYS;
    int status = 0;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(NULL);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[1]);
      end_child(way);
    }
    close(ends[1]);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (way < 2)
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CODE);
    else
      CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status), by_signal[way]);
    CHECK(is_silent(ends[0]));
    close(ends[0]);
    puts_go_through((uint32_t)i + 1);
  }
  return job_finish();
}
