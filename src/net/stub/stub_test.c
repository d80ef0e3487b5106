/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the skeleton: it opens, keeps the contracts of its four slots, and closes.
 */
#include "base/error.h"
#include "base/unit_test.h"
#include "net/net.h"

#include <stdlib.h>
#include <string.h>

extern const struct tmb_net_ops tmb_net_stub;

enum { RANKS = 3 };
static uint8_t others = 1; /* contribution of the other ranks */

static void gather(void *ctx, const void *mine, size_t bytes, void *all) {
  (void)ctx;
  memset(all, others, RANKS * bytes);
  memcpy(all, mine, bytes);
}

static int open_stub(struct tmb_net **net) {
  static const struct tmb_net_up up = {0};
  const struct tmb_net_env env = {
      .abi = TMB_NET_ABI, .size = RANKS, .hosts = RANKS, .up = &up, .allgather = gather};
  return tmb_net_stub.open(&env, net);
}

TEST(keeps_the_contracts) {
  struct tmb_net *net = NULL;
  struct tmb_am_out out = {.peer = 1, .staged = -1};
  others = 1;
  assert_int_equal(tmb_net_stub.abi, TMB_NET_ABI);
  assert_int_equal(open_stub(&net), 0);
  assert_non_null(net);
  assert_int_equal(tmb_net_stub.am_send(net, &out), TMB_AGAIN);
  assert_int_equal(tmb_net_stub.progress(net, TMB_SERVE_ALL), TMB_FOUND_NOTHING);
  tmb_net_stub.close(net);
}

TEST(all_fail_together) {
  struct tmb_net *net = NULL;
  others = 0;
  assert_int_not_equal(open_stub(&net), 0);
  assert_null(net);
}

int main(void) {
  return unit_run(NULL, NULL);
}
