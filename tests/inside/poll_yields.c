/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 */
/* env: TOMBOLO_PLACES=2 TOMBOLO_CONDUIT=loop */
/* A loop of polls gives the processor away where ranks outnumber processors, also when each poll of
 * the conduit takes long; a client that computes between its polls keeps it. */
#include "core/job.h"
#include "net/net.h"
#include "os/os.h"

#include <sched.h>

#include "job.h"

static unsigned yields; /* of this process */

static struct tmb_net_ops slow;
static int (*progress)(struct tmb_net *net, int serve);

static void pause_for(uint64_t ns) {
  const uint64_t until = tmb_os_now_ns() + ns;
  while (ns && tmb_os_now_ns() < until) continue;
}

/* A poll that takes as long as one of a socket. */
static int slow_progress(struct tmb_net *net, int serve) {
  pause_for(2000);
  return progress(net, serve);
}

/* In the place of libc's. */
int sched_yield(void) {
  tmb_fetch_add_rlx(&yields, 1);
  return 0;
}

static unsigned yields_of(unsigned polls, uint64_t pause_ns) {
  const unsigned before = tmb_load_rlx(&yields);
  for (unsigned i = 0; i < polls; i++) {
    pause_for(pause_ns);
    gasnet_AMPoll();
  }
  return tmb_load_rlx(&yields) - before;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4096, NULL, 0);
  slow = *tmb_job.net;
  progress = slow.progress;
  slow.progress = slow_progress;
  tmb_job.net = &slow;
  tmb_job.wait.crowded = tmb_job.wait.polls_yield = true;
  job_barrier();
  CHECK_CMP(yields_of(20000, 0), >=, 10);
  CHECK_CMP(yields_of(400, 200000), <=, 40);
  job_barrier();
  return job_finish();
}
