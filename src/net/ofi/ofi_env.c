/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services of the environment for this conduit beside messages: pieces of all ranks, and errors.
 *
 * Owns nothing. Called by the other files of this conduit. Calls: env, env->up, and no other file
 * but ofi_calls.c. Invariant: ofi_fatal gives the lock back before core ends the job, because the
 * end asks `drained`.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"

void *ofi_gather(const struct tmb_net *net, const void *mine, size_t bytes) {
  net->env.allgather(net->env.ctx, mine, bytes, net->gathered);
  return net->gathered;
}

bool ofi_says(const struct tmb_net *net, const char *what, int rc) {
  net->env.up->print("ofi: %s failed: %s (provider %s); `tombolo info` shows the providers, "
                     "TOMBOLO_OFI_PROVIDER chooses another one",
                     what, net->calls->error(-rc),
                     net->rail[0].info ? net->rail[0].info->fabric_attr->prov_name : "none");
  return false;
}

/* Not analysed: its callers hold the lock, which their types do not express. */
TMB_NO_LOCK_CHECK _Noreturn void ofi_fatal(struct tmb_net *net, const char *what, int error) {
  net->ended = true;
  tmb_lock_release(&net->lock);
  net->env.up->fatal("ofi: %s: %s (provider %s)", what,
                     error ? net->calls->error(error) : "out of memory",
                     net->rail[0].info->fabric_attr->prov_name);
}
