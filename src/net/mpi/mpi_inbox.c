/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives, see mpi_engine.h.
 *
 * Owns: struct nmpi_inbox. Called by mpi_progress.c, and by mpi.c and mpi_end.c at both ends.
 * Calls: MPI. Receives complete in the order in which they were started, but for a long message
 * that is still being transferred while others come behind it: so the oldest alone is tested,
 * and all of them now and then. A request that may not be served yet is held in its buffer while
 * enough others are posted, else in a copy: so replies always find a buffer, and the held ones are
 * bounded by the credit of the peers. Invariants: net->lock is held; a receive buffer is posted,
 * ready, held, idle or with its user.
 */
#include "net/mpi/mpi_engine.h"

#include <stdlib.h>

#define ALL_EVERY 32 /* polls of the oldest receive, after which all are polled; chosen */

/* ---- the buffers */

bool nmpi_inbox_make(struct nmpi_inbox *in, uint32_t receives) {
  in->done = calloc(receives, sizeof *in->done);
  in->status = calloc(receives, sizeof *in->status);
  return in->done && in->status && nmpi_pool_make(&in->receives, receives, NMPI_MESSAGE_MAX);
}

void nmpi_inbox_free(struct nmpi_inbox *in) {
  for (int i = 0; i < TMB_NET_HELD; i++)
    for (struct nmpi_buffer *b; (b = nmpi_inbox_unhold(in, i));)
      if (!b->pool) nmpi_buffer_put(b);
  nmpi_pool_free(&in->receives);
  free(in->done);
  free(in->status);
}

static void post(struct tmb_net *net, struct nmpi_buffer *b) {
  const int rc = MPI_Start(b->request);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Start", rc);
  nmpi_queue_add(&net->in.receives.busy, b);
}

void nmpi_inbox_recycle(struct nmpi_inbox *in, struct nmpi_buffer *b) {
  if (b->pool) {
    nmpi_queue_add(&in->idle, b);
    in->idle_count++;
  } else {
    nmpi_buffer_put(b);
  }
}

static void post_rest(struct tmb_net *net) {
  struct nmpi_inbox *const in = &net->in;
  while (in->idle.first) post(net, nmpi_queue_take(&in->idle));
  in->idle_count = 0;
}

void nmpi_inbox_post(struct tmb_net *net, bool idle) {
  const struct nmpi_inbox *in = &net->in;
  if (in->idle_count && (idle || in->idle_count >= in->receives.count / 2)) post_rest(net);
}

void nmpi_inbox_hold(struct tmb_net *net, struct nmpi_buffer *b, int queue) {
  struct nmpi_inbox *const in = &net->in;
  if (in->held_count >= in->receives.count / 2) {
    struct nmpi_buffer *const copy = nmpi_buffer_copy(b);
    if (!copy) nmpi_no_memory(net, "a message");
    nmpi_inbox_recycle(in, b);
    b = copy;
  } else {
    in->held_count++;
  }
  nmpi_queue_add(&in->held[queue], b);
}

void nmpi_inbox_keep(struct nmpi_inbox *in, struct nmpi_buffer *copy, int queue) {
  nmpi_queue_add(&in->held[queue], copy);
}

struct nmpi_buffer *nmpi_inbox_unhold(struct nmpi_inbox *in, int queue) {
  if (!in->held[queue].first) return NULL;
  struct nmpi_buffer *const b = nmpi_queue_take(&in->held[queue]);
  if (b->pool) in->held_count--;
  return b;
}

/* ---- arrived messages */

static void note_arrival(struct tmb_net *net, struct nmpi_buffer *b, const MPI_Status *status) {
  int bytes = 0;
  const int rc = MPI_Get_count(status, MPI_BYTE, &bytes);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Get_count", rc);
  b->bytes = (uint32_t)bytes;
  b->peer = (uint32_t)status->MPI_SOURCE;
}

/* Test all receives: those that are complete leave the order. */
static void look_at_all(struct tmb_net *net) {
  struct nmpi_inbox *const in = &net->in;
  int count = 0;
  const int rc =
      MPI_Testsome((int)in->receives.count, in->receives.request, &count, in->done, in->status);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Testsome", rc);
  if (count <= 0) return; /* none, or MPI_UNDEFINED, which is negative: none is started */
  for (int i = 0; i < count; i++) {
    struct nmpi_buffer *const b = &in->receives.all[in->done[i]];
    note_arrival(net, b, &in->status[i]);
    b->complete = true;
  }
  struct nmpi_queue rest = {NULL, NULL};
  while (in->receives.busy.first) {
    struct nmpi_buffer *const b = nmpi_queue_take(&in->receives.busy);
    nmpi_queue_add(b->complete ? &in->ready : &rest, b);
    b->complete = false;
  }
  in->receives.busy = rest;
}

struct nmpi_buffer *nmpi_inbox_next(struct tmb_net *net) {
  struct nmpi_inbox *const in = &net->in;
  struct nmpi_queue *busy = &in->receives.busy;
  if (!busy->first) post_rest(net);
  if (!in->ready.first && busy->first) {
    MPI_Status status;
    int flag = 0;
    const int rc = MPI_Test(busy->first->request, &flag, &status);
    if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Test", rc);
    if (flag) {
      in->fruitless = 0;
      note_arrival(net, busy->first, &status);
      return nmpi_queue_take(busy);
    }
    if (++in->fruitless % ALL_EVERY == 0) look_at_all(net);
  }
  return in->ready.first ? nmpi_queue_take(&in->ready) : NULL;
}

bool nmpi_inbox_has(const struct nmpi_inbox *in, uint32_t peer) {
  bool found = false;
  for (const struct nmpi_buffer *b = in->ready.first; b && !found; b = b->next)
    found = b->peer == peer;
  for (int i = 0; i < TMB_NET_HELD; i++)
    for (const struct nmpi_buffer *b = in->held[i].first; b && !found; b = b->next)
      found = b->peer == peer;
  return found;
}

/* ---- the beginning and the end */

int nmpi_inbox_begin(struct tmb_net *net) {
  struct nmpi_pool *const pool = &net->in.receives;
  for (uint32_t i = 0; i < pool->count; i++) {
    const int rc = MPI_Recv_init(pool->all[i].data, (int)NMPI_MESSAGE_MAX, MPI_BYTE, MPI_ANY_SOURCE,
                                 0, net->comm, pool->all[i].request);
    if (rc != MPI_SUCCESS) return rc;
  }
  for (struct nmpi_buffer *b; (b = nmpi_pool_take(pool, 0));) post(net, b);
  return MPI_SUCCESS;
}

void nmpi_inbox_stop(struct nmpi_inbox *in) {
  for (struct nmpi_buffer *b = in->receives.busy.first; b; b = b->next) {
    (void)MPI_Cancel(b->request);
    (void)MPI_Wait(b->request, MPI_STATUS_IGNORE);
  }
  for (uint32_t i = 0; i < in->receives.count; i++)
    (void)MPI_Request_free(&in->receives.request[i]);
}
