/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that ends in the way its first argument says, for the tests of launchers:
 *   hello         each rank prints "rank R of N"; code 0
 *   exit CODE     the last rank calls gasnet_exit(CODE), the others wait for ever
 *   kill, segv    rank 1 dies by SIGKILL, or touches page 0, the others wait for ever
 *   wait          the ranks print their process numbers and wait for ever
 *   child         rank 0 starts the program anew, which must be a job of its own
 */
#include <gasnetex.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gex_TM_t tm;
static int *volatile nowhere = NULL;

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void say_hello(unsigned me, unsigned size) {
  printf("rank %u of %u\n", me, size);
  fflush(stdout);
}

static void start_child(const char *program) {
  char command[4096];
  snprintf(command, sizeof command, "%s hello", program);
  fflush(stdout);
  if (system(command) != 0) gasnet_exit(1);
}

static void end(const char *how, int code, unsigned me, unsigned size) {
  if (strcmp(how, "wait") == 0) printf("process %d waits\n", (int)getpid()), fflush(stdout);
  if (strcmp(how, "exit") == 0 && me == size - 1) gasnet_exit(code);
  if (strcmp(how, "kill") == 0 && me == 1) raise(SIGKILL);
  if (strcmp(how, "segv") == 0 && me == 1) *nowhere = 1;
  for (;;) pause();
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &tm, "ENDS", &argc, &argv, 0)) return 9;
  if (gex_Segment_Attach(&segment, tm, 1 << 20)) return 9;
  const unsigned me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  const char *how = argc > 1 ? argv[1] : "hello";
  barrier();
  if (strcmp(how, "hello") == 0)
    say_hello(me, size);
  else if (strcmp(how, "child") != 0)
    end(how, argc > 2 ? atoi(argv[2]) : 0, me, size);
  else if (me == 0)
    start_child(argv[0]);
  barrier();
  return 0;
}
