/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook `number` around a conduit that keeps what it was given last: each message of a client
 * has the next number of its peer and kind, and comes without it.
 */
#include "base/error.h"
#include "base/unit_test.h"
#include "net/hook/hook.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, CLIENT = 200, INTERNAL = 9 };

/* ---- the conduit under the hook */

static struct {
  const struct tmb_net_env *env;
  uint32_t peer;
  uint16_t route;
  uint8_t handler, nargs, is_reply;
  int32_t args[TMB_AM_ARGS_SENT];
  int longs, refuses;
} wire;

static struct tmb_net *const wire_net = (struct tmb_net *)(void *)&wire;

static int wire_open(const struct tmb_net_env *env, struct tmb_net **net) {
  memset(&wire, 0, sizeof wire);
  wire.env = env;
  *net = wire_net;
  return 0;
}

static void wire_close(struct tmb_net *net) {
  assert_ptr_equal(net, wire_net);
}

static int wire_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  assert_ptr_equal(net, wire_net);
  if (wire.refuses) return TMB_AGAIN;
  assert_cmp(out->nargs, <=, TMB_AM_ARGS_SENT);
  wire.peer = out->peer;
  wire.route = out->route;
  wire.handler = out->handler;
  wire.nargs = out->nargs;
  wire.is_reply = out->is_reply;
  if (out->nargs) memcpy(wire.args, out->args, 4u * out->nargs);
  return 0;
}

static int wire_am_long(struct tmb_net *net, struct tmb_am_out *out) {
  wire.longs++;
  return wire_am_send(net, out);
}

static int wire_progress(struct tmb_net *net, int serve) {
  assert_ptr_equal(net, wire_net);
  (void)serve;
  return TMB_FOUND_NOTHING;
}

static const struct tmb_net_ops wire_ops = {
    TMB_NET_MANDATORY("wire", wire_open, wire_close, wire_am_send, wire_progress)};
static const struct tmb_net_ops wire_with_longs = {
    TMB_NET_MANDATORY("wire", wire_open, wire_close, wire_am_send, wire_progress),
    .am_long = wire_am_long};

/* ---- core above the hook */

static struct tmb_am_in got;

static void up_am(const struct tmb_am_in *in) {
  got = *in;
}

static const struct tmb_net_up up = {.am = up_am, .am_by_thread = up_am};
static const struct tmb_net_env env = {.abi = TMB_NET_ABI, .rank = 1, .size = RANKS, .up = &up};
static const struct tmb_net_ops *ops;
static struct tmb_net *net;
static const int32_t args[TMB_AM_ARGS_MAX] = {5,  6,  7,  8,  9,  10, 11, 12,
                                              13, 14, 15, 16, 17, 18, 19, 20};

static void open_over(const struct tmb_net_ops *conduit) {
  ops = conduit;
  assert_int_equal(tmb_hooks_open("number", &env, &ops, &net), 0);
}

/* Send by the hook, and let what the conduit has got come back through it. Returns the number that
 * it has there. */
static uint32_t number_of(struct tmb_am_out out,
                          int (*send)(struct tmb_net *, struct tmb_am_out *)) {
  const struct tmb_am_out before = out;
  assert_int_equal(send(net, &out), 0);
  assert_ptr_equal(out.args, before.args); /* the caller's own are as they were */
  assert_int_equal(out.nargs, before.nargs);
  assert_int_equal(out.route, before.route);
  const struct tmb_net_up *const up_ = wire.env->up;
  (out.handler < TMB_HANDLER_FIRST ? up_->am_by_thread
                                   : up_->am)(&(struct tmb_am_in){.src = out.peer,
                                                                  .handler = wire.handler,
                                                                  .nargs = wire.nargs,
                                                                  .is_reply = wire.is_reply,
                                                                  .route = wire.route,
                                                                  .args = wire.args});
  assert_int_equal(got.handler, out.handler);
  assert_int_equal(got.route, out.route);
  assert_int_equal(got.nargs, out.nargs);
  if (out.nargs) assert_memory_equal(got.args, out.args, 4u * out.nargs);
  return got.number;
}

static struct tmb_am_out message(uint32_t peer, bool is_reply, uint8_t nargs) {
  return (struct tmb_am_out){.peer = peer,
                             .category = TMB_AM_SHORT,
                             .handler = CLIENT,
                             .nargs = nargs,
                             .is_reply = is_reply,
                             .route = TMB_ROUTE(3, 2),
                             .staged = -1,
                             .args = args};
}

/* ---- tests */

TEST(each_peer_has_a_series_of_requests_and_one_of_replies) {
  open_over(&wire_ops);
  for (uint32_t i = 1; i <= 3; i++)
    for (uint32_t peer = 0; peer < RANKS; peer++) {
      assert_int_equal(number_of(message(peer, false, 1), ops->am_send), i);
      assert_int_equal(number_of(message(peer, true, 0), ops->am_send), i);
    }
  ops->close(net);
}

TEST(a_message_with_all_arguments_has_a_number) {
  open_over(&wire_ops);
  for (uint8_t nargs = 0; nargs <= TMB_AM_ARGS_MAX; nargs++) {
    assert_int_equal(number_of(message(2, false, nargs), ops->am_send), nargs + 1);
    assert_int_equal(wire.nargs, nargs + 1);
    assert_true(tmb_am_args_fit(wire.nargs, wire.route));
  }
  assert_false(tmb_am_args_fit(wire.nargs, TMB_ROUTE(3, 2)));
  ops->close(net);
}

TEST(a_refused_attempt_uses_no_number_up) {
  open_over(&wire_ops);
  struct tmb_am_out out = message(2, false, 1);
  wire.refuses = 1;
  assert_int_equal(ops->am_send(net, &out), TMB_AGAIN);
  wire.refuses = 0;
  assert_int_equal(number_of(message(2, false, 1), ops->am_send), 1);
  ops->close(net);
}

TEST(messages_of_the_library_have_none) {
  open_over(&wire_ops);
  struct tmb_am_out out = message(2, false, 3);
  out.handler = INTERNAL;
  assert_int_equal(number_of(out, ops->am_send), TMB_NO_NUMBER);
  assert_int_equal(wire.nargs, 3);
  assert_int_equal(number_of(message(2, false, 3), ops->am_send), 1);
  ops->close(net);
}

TEST(the_parts_of_a_long_have_one_number) {
  open_over(&wire_ops);
  assert_null(ops->am_long);
  struct tmb_resume resume = {0};
  struct tmb_am_out part = message(2, false, 0);
  part.handler = INTERNAL;
  part.resume = &resume;
  wire.refuses = 1;
  assert_int_equal(ops->am_send(net, &part), TMB_AGAIN);
  wire.refuses = 0;
  assert_int_equal(number_of(part, ops->am_send), 1);
  assert_int_equal(number_of(message(2, false, 3), ops->am_send), 2);
  assert_int_equal(number_of(part, ops->am_send), 1);
  assert_int_equal(number_of(message(2, false, 3), ops->am_send), 3);
  ops->close(net);
}

TEST(longs_of_the_conduit_are_in_the_same_series) {
  open_over(&wire_with_longs);
  struct tmb_resume resume = {0};
  struct tmb_am_out out = message(2, false, TMB_AM_ARGS_MAX);
  out.resume = &resume;
  assert_int_equal(number_of(message(2, false, 2), ops->am_send), 1);
  assert_int_equal(number_of(out, ops->am_long), 2);
  assert_int_equal(wire.longs, 1);
  out.handler = INTERNAL; /* as collectives send */
  assert_int_equal(number_of(out, ops->am_long), TMB_NO_NUMBER);
  assert_false(resume.started);
  assert_int_equal(number_of(message(2, false, 2), ops->am_send), 3);
  ops->close(net);
}

int main(void) {
  return unit_run(NULL, NULL);
}
