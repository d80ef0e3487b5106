/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook `trace`: calls become marks in the trace of the process.
 *
 * Owns nothing. Called through its table and upcalls. Calls: the upcall `trace`, which writes to
 * the file of TOMBOLO_TEST_TRACE_FILE, and the wrapped conduit. A mark says what, with whom and how
 * much: "send medium 131 to 4, 2048 B". Attempts that found no room leave none. Invariant: the mark
 * of a sent message is written after the conduit has taken it, that of a received one before it is
 * delivered.
 */
#include "net/hook/hook.h"

#include "base/compiler.h"

#include <stdio.h>

#define TEXT_BYTES 96 /* of a line of the trace; chosen */

static struct tmb_hook *const self = &tmb_hooks.hook[TMB_HOOK_TRACE];

static const char *const category_name[] = {"short", "medium", "long"};

static void mark_am(const char *verb, uint8_t category, uint8_t handler, uint32_t peer,
                    size_t bytes) {
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "%s %s %u, rank %u, %zu B", verb, category_name[category % 3],
           handler, peer, category == TMB_AM_SHORT ? 0 : bytes);
  self->outer_up->trace(text);
}

static int mark_rma(int rc, const char *verb, uint32_t peer, size_t bytes) {
  char text[TEXT_BYTES];
  if (rc) return rc;
  snprintf(text, sizeof text, "%s, rank %u, %zu B", verb, peer, bytes);
  self->outer_up->trace(text);
  return 0;
}

static int mark_sent(int rc, const struct tmb_am_out *out) {
  if (rc == 0)
    mark_am(out->is_reply ? "reply" : "request", out->category, out->handler, out->peer,
            out->nbytes);
  return rc;
}

static int am_send(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  return mark_sent(self->inner->am_send(self->net, out), out);
}

static int am_long(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net;
  return mark_sent(self->inner->am_long(self->net, out), out);
}

static int put(struct tmb_net *net, const struct tmb_rma *rma) {
  (void)net;
  return mark_rma(self->inner->put(self->net, rma), "put", rma->peer, rma->nbytes);
}

static int get(struct tmb_net *net, const struct tmb_rma *rma) {
  (void)net;
  return mark_rma(self->inner->get(self->net, rma), "get", rma->peer, rma->nbytes);
}

static int put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  (void)net;
  return mark_rma(self->inner->put_signal(self->net, rma, signal), "put with signal", rma->peer,
                  rma->nbytes);
}

static int get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                      const struct tmb_signal *signal) {
  (void)net;
  return mark_rma(self->inner->get_signal(self->net, rma, signal), "get with signal", rma->peer,
                  rma->nbytes);
}

static int atomic_op(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  (void)net;
  return mark_rma(self->inner->atomic(self->net, atomic), "atomic", atomic->peer, 0);
}

static void up_am(const struct tmb_am_in *in) {
  mark_am(in->is_reply ? "reply of" : "request of", in->category, in->handler, in->src, in->nbytes);
  self->outer_up->am(in);
}

static void up_peer_lost(uint32_t peer, const char *why) {
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "rank %u lost: %s", peer, why);
  self->outer_up->trace(text);
  self->outer_up->peer_lost(peer, why);
}

static const struct tmb_net_ops traced = {TMB_HOOK_ACCESSES, .am_long = am_long};

static void begin(struct tmb_hook *hook) {
  struct tmb_net_ops *t = &hook->table;
  hook->up.am = up_am;
  hook->up.peer_lost = up_peer_lost;
  t->am_send = am_send;
  tmb_hook_replace(t, &traced);
}

const struct tmb_hook_kind tmb_hook_trace = {.name = "trace", .id = TMB_HOOK_TRACE, .begin = begin};
