/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The skeleton of a conduit, to which docs/PORTING_A_CONDUIT.md leads. Compiled and tested, but no
 * program can choose it.
 *
 * Owns: struct tmb_net of this conduit. Called through its table. Calls: env->up and nothing else
 * of the library. It reaches nobody: each message waits for room for ever. Replace the four
 * functions by those of a network, keep the promises of their comments, and the conformance
 * programs pass. Invariants: no function blocks or runs a handler but those of which the contract
 * (net/net.h) says so; input from the wire is checked before it is used.
 */
#include "base/error.h"
#include "net/net.h"

#include <stdlib.h>

struct tmb_net {
  struct tmb_net_env env; /* copied: valid as long as the job */
  /* the network's descriptors, queues and state per peer; keep that of a silent peer tiny */
};

/* Step 1. Make the address record by which peers find this rank, send it to all with
 * env->allgather, and connect. Every rank learns whether all could, so that all return alike. */
static int stub_open(const struct tmb_net_env *env, struct tmb_net **out) {
  struct tmb_net *net = calloc(1, sizeof *net);
  if (!net) env->up->fatal("out of memory for the conduit");
  uint8_t *all = calloc(env->size, 1);
  if (!all) env->up->fatal("out of memory for %u ranks", env->size);
  const uint8_t mine = 1; /* whether this rank could connect */
  env->allgather(env->ctx, &mine, sizeof mine, all);
  uint32_t ready = 0;
  while (ready < env->size && all[ready]) ready++;
  free(all);
  if (ready < env->size) { /* rank `ready` has printed why it could not */
    free(net);
    return TMB_E_PEER;
  }
  net->env = *env;
  *out = net;
  return 0;
}

static void stub_close(struct tmb_net *net) {
  free(net);
}

/* Step 2. Put the message on the wire: out->src, nbytes, args, handler, category, is_reply, route.
 * Without room say TMB_AGAIN, but keep some back for replies. */
static int stub_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  (void)net, (void)out;
  return TMB_AGAIN;
}

/* Step 3. Take arrived messages, check every length and index of them, and hand them to
 * env->up->am; a request only if `serve` has TMB_SERVE_REQUESTS. */
static int stub_progress(struct tmb_net *net, int serve) {
  (void)net, (void)serve;
  return TMB_FOUND_NOTHING;
}

/* Step 4, later, slot by slot and measured: wait_fds, so that waiting threads sleep until something
 * comes; put, get and put_signal, straight between memories; am_long; drained; lost. */
extern const struct tmb_net_ops tmb_net_stub;
const struct tmb_net_ops tmb_net_stub = {
    TMB_NET_MANDATORY("stub", stub_open, stub_close, stub_am_send, stub_progress)};
