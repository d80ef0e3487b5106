/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote atomic operations, see ofi_rma.h.
 *
 * Owns nothing beyond the engine. Called by core through the table and by ofi_progress.c. Calls:
 * env->up->target, env->up->atomic, ofi_rma.c, ofi_send.c. An operation is a message OFI_ATOMIC.
 * The owner's processor performs it where messages are received, also in the progress thread while
 * the client computes, and answers. Invariants: an operation is performed once, and its access is
 * over when the answer has come; it takes a unit of credit, which the answer gives back.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_rma.h"

#include <stdio.h>
#include <string.h>

/* ---- by the owner's processor */

static int send(struct tmb_net *net, struct ofi_access *a, const struct tmb_net_atomic *atomic) {
  const struct ofi_rmw rmw = {.addr = a->remote,
                              .operand = {atomic->operand[0], atomic->operand[1]},
                              .opcode = atomic->opcode,
                              .dt = atomic->dt,
                              .bytes = atomic->bytes,
                              .access = (uint32_t)(a - net->access.all),
                              .serial = a->serial};
  a->signalled = true;
  return ofi_send_request(net, atomic->peer, OFI_ATOMIC, &rmw, sizeof rmw);
}

void ofi_atomic_serve(struct tmb_net *net, uint32_t src, void *payload) {
  struct ofi_rmw rmw;
  char text[160];
  memcpy(&rmw, payload, sizeof rmw);
  const struct tmb_net_atomic atomic = {.opcode = rmw.opcode,
                                        .dt = rmw.dt,
                                        .bytes = rmw.bytes,
                                        .operand = {rmw.operand[0], rmw.operand[1]}};
  uint64_t old = 0;
  const bool sized = rmw.bytes == sizeof(uint32_t) || rmw.bytes == sizeof(uint64_t);
  void *const word = sized ? net->env.up->target(src, rmw.addr, rmw.bytes) : NULL;
  if (!word || rmw.addr % rmw.bytes || !net->env.up->atomic(word, &atomic, &old)) {
    snprintf(text, sizeof text,
             "rank %u asks for atomic operation 0x%x on data type 0x%x at 0x%llx, which does not "
             "exist or is no word of a segment",
             src, rmw.opcode, rmw.dt, (unsigned long long)rmw.addr);
    ofi_fatal(net, text, FI_EINVAL);
  }
  rmw.operand[0] = old;
  memcpy(payload, &rmw, sizeof rmw);
}

/* ---- the slot */

static int start(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  if (ofi_peer_of(net, atomic->peer)->broken) return TMB_E_UNSUPPORTED;
  struct ofi_access *a = ofi_access_take(net, atomic);
  if (!a) return TMB_AGAIN;
  const int rc = send(net, a, atomic);
  if (rc == 0) {
    ofi_access_count(net, a);
    return 0;
  }
  a->parts = 0;
  a->op.next = NULL;
  ofi_access_free(net, &a->op);
  return rc;
}

int ofi_atomic(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  tmb_lock_acquire_shared(&net->lock);
  const int rc = start(net, atomic);
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
  }
  tmb_lock_release(&net->lock);
  return rc;
}
