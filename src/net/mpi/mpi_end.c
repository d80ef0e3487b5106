/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of MPI, see mpi_engine.h.
 *
 * Owns an attribute of MPI_COMM_SELF, which MPI_Finalize deletes first: so this conduit learns of a
 * program's call while MPI still works. Called by MPI, and by core through the table. Calls: MPI.
 * The ranks meet before the end, serving each other meanwhile, so that nothing is sent to a rank
 * that receives no more; then receives are withdrawn. Where MPI was begun by this conduit, and its
 * own launcher runs the job, it is finalised when the process ends in good order; where ranks do
 * not meet in time it is not, and the launcher sees that. Under `tombolo run` nobody waits for
 * MPI_Finalize, and it is not called: MPICH over UCX between hosts often does not return from
 * it, because a rank that has closed its connections sleeps in the barrier of the process manager
 * while another one still needs its answer. Invariant: after the end MPI is not called.
 */
#define _GNU_SOURCE
#include "base/compiler.h"
#include "net/mpi/mpi_engine.h"
#include "net/plugin/progress_thread.h"
#include "os/os.h"

#include <sched.h>

/* Times of the end of a process in ns. Chosen, not measured. */
#define MEET_NS UINT64_C(2000000000) /* longest wait for the others when the process ends */
#define LINGER_NS \
 UINT64_C(100000000) /* and, after that, until they have seen that all are here \ */

/* Wait until all ranks are here. in limit_ns: at most so long; serve: meanwhile. Returns whether
 * they are. */
static bool meet(struct tmb_net *net, uint64_t limit_ns, int serve) {
  const uint64_t from = tmb_os_now_ns();
  MPI_Request all;
  int done = 0;
  tmb_lock_acquire(&net->lock);
  int rc = MPI_Ibarrier(net->comm, &all);
  tmb_lock_release(&net->lock);
  while (rc == MPI_SUCCESS && !done && tmb_os_now_ns() - from < limit_ns) {
    const int found = nmpi_progress(net, serve);
    tmb_lock_acquire(&net->lock);
    rc = MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    tmb_lock_release(&net->lock);
    if (!done && !(found & TMB_FOUND_WORK)) (void)sched_yield();
  }
  return done;
}

/* Withdraw the requests that MPI has of this conduit. */
static void stop(struct tmb_net *net) {
  tmb_lock_acquire(&net->lock);
  (void)nmpi_reap(net);
  net->ended = true;
  nmpi_direct_lost(net, UINT32_MAX);
  nmpi_inbox_stop(&net->in);
  tmb_lock_release(&net->lock);
}

static int on_finalize(MPI_Comm self, int key, void *value, void *extra) {
  struct tmb_net *net = value;
  (void)self;
  (void)key;
  (void)extra;
  if (net->ended) return MPI_SUCCESS;
  if (meet(net, UINT64_MAX, TMB_SERVE_ALL)) stop(net);
  return MPI_SUCCESS;
}

int nmpi_watch_end(struct tmb_net *net) {
  int key;
  const int rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL);
  return rc == MPI_SUCCESS ? MPI_Comm_set_attr(MPI_COMM_SELF, key, net) : rc;
}

/* The end without MPI_Finalize. Who comes out of the second meeting knows that all are out of the
 * first; a rank that waits in vain, because another one has ended already, needs nothing from it.
 */
static void end_alone(struct tmb_net *net) {
  (void)meet(net, LINGER_NS, TMB_SERVE_REPLIES);
  tmb_lock_acquire(&net->lock);
  net->ended = true;
  tmb_lock_release(&net->lock);
}

void nmpi_leave(struct tmb_net *net, int code) {
  if (!code) { /* else it may be the thread that ends the job */
    tmb_store_rlx(&net->thread_ends, true);
    tmb_progress_thread_stop(net->thread);
    net->thread = NULL;
  }
  if (!net->owns || net->ended || code || !net->env.up->setting_int("TOMBOLO_MPI_FINALIZE")) return;
  if (!meet(net, MEET_NS, TMB_SERVE_REPLIES)) return;
  if (!net->env.launched) {
    end_alone(net);
    return;
  }
  stop(net);
  (void)MPI_Finalize();
}
