/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks around a conduit that is a queue in this process: each message comes out, once; the
 * disturbances of a setting happen; the contract of net.h is kept.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "base/unit_test.h"
#include "net/hook/hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 1024 };

/* ---- the conduit under the hooks */

static struct {
  const struct tmb_net_env *env;
  struct {
    int32_t arg;
    bool is_reply;
  } queue[QUEUE];
  int count, puts, closed;
} wire;

static struct tmb_net *const wire_net = (struct tmb_net *)(void *)&wire;

static int wire_open(const struct tmb_net_env *env, struct tmb_net **net) {
  wire.env = env;
  wire.count = wire.puts = wire.closed = 0;
  *net = wire_net;
  return 0;
}

static void wire_close(struct tmb_net *net) {
  assert_ptr_equal(net, wire_net);
  wire.closed++;
}

static int wire_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  assert_ptr_equal(net, wire_net);
  assert_cmp(wire.count, <, QUEUE);
  wire.queue[wire.count].arg = out->args[0];
  wire.queue[wire.count++].is_reply = out->is_reply;
  return 0;
}

/* Message i of the queue comes to the hook above the wire. */
static void arrive(int i) {
  char payload[16] TMB_ALIGNED(16);
  memset(payload, wire.queue[i].arg & 0x7f, sizeof payload);
  const struct tmb_am_in in = {.src = 3,
                               .category = TMB_AM_MEDIUM,
                               .handler = 9,
                               .nargs = 1,
                               .is_reply = wire.queue[i].is_reply,
                               .args = &wire.queue[i].arg,
                               .payload = payload,
                               .nbytes = sizeof payload};
  wire.env->up->am(&in);
  memset(payload, 0xff, sizeof payload); /* nobody may read it any more */
}

static int wire_progress(struct tmb_net *net, int serve) {
  assert_ptr_equal(net, wire_net);
  const int count = serve == TMB_SERVE_ALL ? wire.count : 0;
  for (int i = 0; i < count; i++) arrive(i);
  if (count) wire.count = 0;
  return count ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

static int wire_put(struct tmb_net *net, const struct tmb_rma *rma) {
  assert_ptr_equal(net, wire_net);
  assert_int_equal(rma->nbytes, 8);
  wire.puts++;
  return 0;
}

static uint32_t wire_wait_fds(struct tmb_net *net, struct pollfd *fds, uint32_t max,
                              uint64_t *timeout_ns) {
  assert_ptr_equal(net, wire_net);
  (void)fds;
  (void)max;
  (void)timeout_ns;
  return 0;
}

static const struct tmb_net_ops wire_ops = {
    TMB_NET_MANDATORY("wire", wire_open, wire_close, wire_am_send, wire_progress), .put = wire_put,
    .wait_fds = wire_wait_fds};

/* ---- core above the hooks */

static struct {
  int32_t got[QUEUE];
  int count, marks;
  char said[512], mark[128];
} core;

static void up_am(const struct tmb_am_in *in) {
  const char *payload = in->payload;
  for (size_t i = 0; i < in->nbytes; i++) assert_int_equal(payload[i], in->args[0] & 0x7f);
  assert_int_equal((uintptr_t)in->payload % 16, 0);
  core.got[core.count++] = in->args[0];
}

static void up_print(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(core.said, sizeof core.said, format, args);
  va_end(args);
}

__attribute__((noreturn)) static void up_fatal(const char *format, ...) {
  fputs(format, stderr);
  abort();
}

static void up_trace(const char *text) {
  core.marks++;
  snprintf(core.mark, sizeof core.mark, "%s", text);
}

static const struct tmb_net_up up = {
    .am = up_am, .print = up_print, .fatal = up_fatal, .trace = up_trace};
static const struct tmb_net_env env = {.abi = TMB_NET_ABI, .rank = 1, .size = 4, .up = &up};

static const struct tmb_net_ops *ops;
static struct tmb_net *net;

static int open_under(const char *spec) {
  memset(&core, 0, sizeof core);
  ops = &wire_ops;
  return tmb_hooks_open(spec, &env, &ops, &net);
}

static int send(int32_t arg, bool is_reply) {
  struct tmb_am_out out = {.peer = 3,
                           .category = TMB_AM_MEDIUM,
                           .handler = 9,
                           .nargs = 1,
                           .is_reply = is_reply,
                           .staged = -1,
                           .args = &arg};
  return ops->am_send(net, &out);
}

/* Send `count` messages, and run progress until they have come. Returns how many attempts found no
 * room. */
static int send_all(int32_t count) {
  int refused = 0;
  for (int32_t i = 0; i < count; i++)
    while (send(i, false)) {
      refused++;
      ops->progress(net, TMB_SERVE_ALL);
    }
  while (core.count < count) ops->progress(net, TMB_SERVE_ALL);
  return refused;
}

/* Each message came once. Returns how many came after one that was sent later. */
static int check_once(int32_t count) {
  bool seen[QUEUE] = {false};
  int overtaken = 0;
  int32_t latest = -1;
  assert_int_equal(core.count, count);
  for (int32_t i = 0; i < count; i++) {
    assert_false(seen[core.got[i]]);
    seen[core.got[i]] = true;
    overtaken += core.got[i] < latest;
    latest = core.got[i] > latest ? core.got[i] : latest;
  }
  return overtaken;
}

/* ---- tests */

TEST(no_hook_is_the_conduit_itself) {
  assert_int_equal(open_under(NULL), 0);
  assert_ptr_equal(ops, &wire_ops);
  assert_int_equal(open_under(""), 0);
  assert_ptr_equal(ops, &wire_ops);
  assert_ptr_equal(wire.env, &env);
}

TEST(a_setting_without_sense_is_named) {
  static const struct {
    const char *spec, *said;
  } bad[] = {{"fualt", "\"fualt\""},
             {"fault:loss=3", "no option \"loss\""},
             {"fault:again=96", "from 0 to 95, not \"96\""},
             {"fault:again", "from 0 to 95, not \"\""},
             {"delay:us=1x", "not \"1x\""},
             {"trace/delay:us=1/trace", "named twice"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(open_under(bad[i].spec), TMB_E_ARG);
    assert_non_null(strstr(core.said, bad[i].said));
  }
}

TEST(slots_pass_on_and_empty_ones_stay_empty) {
  assert_int_equal(open_under("trace/delay:us=0,jitter=0/fault:again=0,reorder=0,credits=0"), 0);
  assert_null(ops->get);
  assert_null(ops->am_long);
  assert_null(ops->am_stage);
  assert_null(ops->drained);
  assert_string_equal(ops->name, "wire");
  assert_int_equal(ops->put(net, &(struct tmb_rma){.peer = 3, .nbytes = 8}), 0);
  assert_int_equal(wire.puts, 1);
  assert_int_equal(ops->lost(net, 3), 0);
  assert_int_equal(send_all(100), 0);
  assert_int_equal(check_once(100), 0);
  ops->close(net);
  assert_int_equal(wire.closed, 1);
}

/* Ten seconds do not pass here on any machine. */
TEST(delayed_messages_are_kept) {
  assert_int_equal(open_under("delay:us=10000000,jitter=0"), 0);
  assert_int_equal(send(5, false), 0);
  while (wire.count) ops->progress(net, TMB_SERVE_ALL);
  assert_int_equal(core.count, 0);
  assert_int_equal(ops->lost(net, 3), TMB_AGAIN); /* it had sent something */
  assert_int_equal(ops->lost(net, 2), 0);
  uint64_t timeout = UINT64_MAX;
  ops->wait_fds(net, NULL, 0, &timeout);
  assert_cmp(timeout, >, 0);
  assert_cmp(timeout, <=, UINT64_C(10000000000));
  ops->close(net);
}

TEST(delayed_messages_come_when_due) {
  assert_int_equal(open_under("delay:us=0,jitter=0"), 0);
  assert_int_equal(send(5, false), 0);
  arrive(0);
  wire.count = 0;
  uint64_t timeout = UINT64_MAX;
  ops->wait_fds(net, NULL, 0, &timeout);
  assert_int_equal(timeout, 0);
  assert_int_equal(ops->progress(net, TMB_SERVE_REPLIES), TMB_FOUND_NOTHING); /* it is a request */
  assert_int_equal(core.count, 0);
  assert_int_equal(ops->progress(net, TMB_SERVE_ALL), TMB_FOUND_WORK);
  assert_int_equal(core.count, 1);
  assert_int_equal(ops->lost(net, 3), 0);
  timeout = UINT64_MAX;
  ops->wait_fds(net, NULL, 0, &timeout);
  assert_int_equal(timeout, UINT64_MAX);
  ops->close(net);
}

TEST(jitter_reorders) {
  assert_int_equal(open_under("delay:us=0,jitter=2000,seed=3"), 0);
  send_all(500);
  assert_cmp(check_once(500), >, 50);
  ops->close(net);
}

TEST(faults_happen_and_nothing_is_lost) {
  assert_int_equal(open_under("fault:seed=7,again=50,reorder=30,us=200,skip=20,credits=0"), 0);
  const int refused = send_all(1000);
  assert_cmp(refused, >, 500);
  assert_cmp(refused, <, 2000);
  assert_cmp(check_once(1000), >, 50);
  ops->close(net);
}

TEST(one_credit_comes_back_by_progress) {
  assert_int_equal(open_under("fault:seed=7:again=0:reorder=0:skip=0:credits=1"), 0);
  assert_int_equal(send(0, false), 0);
  assert_int_equal(send(1, false), TMB_AGAIN);
  assert_int_equal(send(2, true), 0); /* replies have their own */
  assert_int_equal(send(3, true), TMB_AGAIN);
  ops->progress(net, TMB_SERVE_ALL);
  assert_int_equal(core.count, 2);
  assert_int_equal(send(1, false), 0);
  assert_int_equal(send(3, true), 0);
  ops->close(net);
}

TEST(what_passes_is_marked) {
  assert_int_equal(open_under("trace/fault:again=0,reorder=0,skip=0,credits=1"), 0);
  assert_int_equal(send(0, false), 0);
  assert_string_equal(core.mark, "request medium 9, rank 3, 0 B");
  assert_int_equal(send(1, false), TMB_AGAIN);
  assert_int_equal(core.marks, 1); /* an attempt leaves none */
  ops->progress(net, TMB_SERVE_ALL);
  assert_string_equal(core.mark, "request of medium 9, rank 3, 16 B");
  assert_int_equal(ops->put(net, &(struct tmb_rma){.peer = 2, .nbytes = 8}), 0);
  assert_string_equal(core.mark, "put, rank 2, 8 B");
  ops->close(net);
}

int main(void) {
  return unit_run(NULL, NULL);
}
