/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending a message with retry: the wait for room.
 *
 * Owns nothing. Called by am.c, npam.c, kit.c, net/defaults and the layers. Calls: peer.h, wait.h.
 * A wait polls, and a poll runs handlers, which send: that path goes by the address of the handler,
 * so no file below this one calls it by name. A handler in a thread of the conduit waits by polls
 * that deliver nothing. Invariants: a message is accepted exactly once; an immediate one never
 * waits and never runs a handler; the payload has been read on return.
 */
#include "core/am/am.h"

#include "base/error.h"
#include "core/op/status.h"
#include "core/progress/wait.h"
#include "os/os.h"

#define THREAD_RETRY_NS 50000u /* between attempts of a conduit's thread; chosen */

static int serve_of(const struct tmb_am_out *out) {
  return out->is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_ALL;
}

static void describe_send(const void *object, struct tmb_status_wait *w) {
  const struct tmb_am_out *out = object;
  w->kind = TMB_WAIT_SEND;
  w->what = (uint8_t)(TMB_WHAT_SHORT + out->category);
  w->peer = out->peer;
  w->count = out->is_reply;
  w->cmp = out->lacks;
}

static void describe_stage(const void *object, struct tmb_status_wait *w) {
  describe_send(object, w);
  w->cmp = TMB_LACKS_BUFFER;
}

/* A thread of the conduit waits a little for room. Returns false when it is to end. */
static bool thread_rests(void) {
  if (tmb_peer_progress(TMB_SERVE_NOTHING) < 0) return false;
  (void)tmb_os_nsleep(THREAD_RETRY_NS);
  return true;
}

/* Send a reply from a thread of the conduit. When that ends, so does the job, and the reply with
 * it. */
static int thread_sends(struct tmb_am_out *out) {
  int rc = TMB_AGAIN;
  while (rc == TMB_AGAIN) {
    if (!thread_rests()) return tmb_peer_drop(out);
    rc = tmb_peer_send(out);
  }
  if (rc) tmb_peer_fatal("sending a message to", out->peer, rc);
  return 0;
}

int tmb_am_send_again(struct tmb_am_out *out, int rc) {
  if (rc != TMB_AGAIN) tmb_peer_fatal("sending a message to", out->peer, rc);
  if (out->immediate) {
    tmb_peer_release(out);
    return TMB_AGAIN;
  }
  if (tmb_am_in_thread) return thread_sends(out);
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  do {
    tmb_wait_retry(&wait, serve_of(out), (struct tmb_why){describe_send, out});
    rc = tmb_peer_send(out);
  } while (rc == TMB_AGAIN);
  if (rc) tmb_peer_fatal("sending a message to", out->peer, rc);
  return 0;
}

int tmb_up_am_send(struct tmb_am_out *out) {
  const int rc = tmb_peer_send(out);
  return TMB_LIKELY(rc == 0) ? 0 : tmb_am_send_again(out, rc);
}

void *tmb_up_am_stage(struct tmb_am_out *out) {
  void *buffer = tmb_peer_stage(out);
  if (buffer || out->immediate) return buffer;
  while (tmb_am_in_thread) {
    if (!thread_rests()) return NULL;
    if ((buffer = tmb_peer_stage(out)) != NULL) return buffer;
  }
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  while (!buffer) {
    tmb_wait_retry(&wait, serve_of(out), (struct tmb_why){describe_stage, out});
    buffer = tmb_peer_stage(out);
  }
  return buffer;
}
