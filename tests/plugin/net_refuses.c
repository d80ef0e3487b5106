/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conduit whose network refuses, for tests/multi/conduit_missing.sh: it opens, and then each
 * message fails with an error of the library's.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "net/net.h"

#ifndef ABI_AGE
# define ABI_AGE 0 /* how many versions of the interface ago the plug-in was built */
#endif

static int refuses_open(const struct tmb_net_env *env, struct tmb_net **out) {
  static char nothing;
#ifdef ASKS_FOR /* a setting of another version of the library */
  (void)env->up->setting(ASKS_FOR);
#endif
  (void)env;
  *out = (struct tmb_net *)(void *)&nothing;
  return 0;
}

static void refuses_close(struct tmb_net *net) {
  (void)net;
}

static int refuses_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net, (void)out;
  return TMB_E_LIMIT;
}

static int refuses_progress(struct tmb_net *net, int serve) {
  (void)net, (void)serve;
  return TMB_FOUND_NOTHING;
}

const struct tmb_net_ops tombolo_net = {.abi = TMB_NET_ABI - ABI_AGE,
                                        .name = "refuses",
                                        .open = refuses_open,
                                        .close = refuses_close,
                                        .am_send = refuses_am_send,
                                        .progress = refuses_progress};
