/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that keeps a network going while the client computes.
 *
 * Owns the thread. Used by conduits that make progress only when they are called: compiled into
 * their plug-ins. Calls the functions that the conduit gives it. It checks now and then whether the
 * client has called; if not, it serves the network, waits for the conduit's descriptors, and serves
 * it again, until the client calls: so that long transfers overlap with computation and a rank that
 * computes is not taken for a dead one. Messages for the client wait for its next call. Invariant:
 * nothing is called while the client polls, or sleeps on the network, as far as `tend` can see.
 */
#ifndef TMB_NET_PLUGIN_PROGRESS_THREAD_H
#define TMB_NET_PLUGIN_PROGRESS_THREAD_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

enum { TMB_PROGRESS_FDS = 64 }; /* most descriptors that `tend` may name */

struct tmb_net;
struct tmb_progress_thread;

struct tmb_progress_work {
  struct tmb_net *net;  /* argument of the functions */
  const uint64_t *tick; /* grows when the client calls; atomic */

  /* Do the work of the client's calls, except to deliver, unless it has called since *tick was
   * `seen`. Out: descriptors to wait for, and for how many ns at most; ns is lowered. Returns
   * whether it did. */
  bool (*tend)(struct tmb_net *net, uint64_t seen, struct pollfd *fds, uint32_t *count,
               uint64_t *ns);

  /* Whether long transfers are in progress: then the thread checks every 0.5 ms, else every 10 ms.
   * NULL: it is not known. */
  bool (*busy)(const struct tmb_net *net);

  /* Of a processor's time, in percent, while it tends; measured over 0.1 s. 100: all of it. */
  uint32_t share;
};

/* Start the thread. in tended: copied. Returns NULL, with errno, if that is not possible: then
 * things wait for the client. */
struct tmb_progress_thread *tmb_progress_thread_start(const struct tmb_progress_work *tended);

/* End it; waits for it. in thread: NULL: nothing is done. */
void tmb_progress_thread_stop(struct tmb_progress_thread *thread);

/* A long transfer has begun: check more often. Cheap. in thread: NULL: nothing is done. */
void tmb_progress_thread_kick(struct tmb_progress_thread *thread);

#endif
