/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages whose payload the provider puts, on all rails, see ofi_rma.h.
 *
 * Owns nothing: an access that is held belongs to the call that goes on with it. Called by core
 * through the table. Calls: ofi_rma.c for the payload, ofi_send.c for the message. The payload is a
 * put, long ones in stripes; when all of it is at the peer, a message OFI_LONG names its place, and
 * the peer runs the handler. Shorter ones, and those to memory whose keys are not known yet, are
 * TMB_E_UNSUPPORTED: core makes them of Mediums. Memory outside of segments is written by the key
 * that came with the request. Invariants: resume->id is the index of the access; the source stays
 * until the provider has given the access up, also when the peer is lost.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_rma.h"

#include <string.h>

/* A Long of at least so many bytes is put. Chosen: from this size on, a put over loopback
 * (tcp;ofi_rxm) takes less time than Mediums. */
#define LONG_BYTES ((size_t)128 << 10)

/* Begin: put the payload. */
static int begin(struct tmb_net *net, const struct tmb_am_out *out) {
  const struct tmb_rma rma = {.peer = out->peer,
                              .remote = out->dest,
                              .local = (void *)(uintptr_t)out->src,
                              .nbytes = out->nbytes};
  uint32_t index = 0;
  const int rc = ofi_access_hold(net, &rma, out->key, &index);
  if (rc) return rc;
  *out->resume = (struct tmb_resume){.at = 1, .id = index, .started = true};
  return TMB_AGAIN;
}

/* The payload is in place: send the message. */
static int finish(struct tmb_net *net, struct tmb_am_out *out) {
  const struct ofi_place place = {(uint64_t)(uintptr_t)out->dest, out->nbytes};
  struct tmb_am_out message = *out;
  message.src = &place;
  message.nbytes = sizeof place;
  const int rc = ofi_send_locked(net, &message);
  out->lacks = message.lacks;
  return rc;
}

static int long_locked(struct tmb_net *net, struct tmb_am_out *out) {
  if (!out->resume->started) return begin(net, out);
  struct ofi_access *a = &net->access.all[out->resume->id];
  out->lacks = TMB_LACKS_WINDOW;
  if (a->parts && a->lost && ofi_given_up(net, out->peer)) {
    a->held = false; /* whenever the provider gives it up, it is free */
    return 0;
  }
  if (a->parts) return TMB_AGAIN;
  const int rc = a->lost ? 0 : finish(net, out);
  if (rc == 0) ofi_access_unhold(net, a);
  return rc;
}

int ofi_am_long(struct tmb_net *net, struct tmb_am_out *out) {
  if (TMB_LIKELY(!net->rma || out->nbytes < LONG_BYTES)) return TMB_E_UNSUPPORTED;
  tmb_lock_acquire_shared(&net->lock);
  const int rc = long_locked(net, out);
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
    tmb_count_rlx(&net->env.stats->bytes_out, out->nbytes);
  }
  tmb_lock_release(&net->lock);
  return rc;
}

bool ofi_expose(struct tmb_net *net, void *base, size_t nbytes, struct tmb_net_key *key) {
  if (!net->rma || nbytes < LONG_BYTES) return false;
  tmb_lock_acquire_shared(&net->lock);
  const struct ofi_memory *m = ofi_memory_expose(net, base, nbytes);
  if (m) *key = (struct tmb_net_key){.base = m->base, .key = fi_mr_key(m->mr[0])};
  tmb_lock_release(&net->lock);
  return m != NULL;
}

void ofi_conceal(struct tmb_net *net, const struct tmb_net_key *key) {
  tmb_lock_acquire_shared(&net->lock);
  ofi_memory_conceal(net, key->key);
  tmb_lock_release(&net->lock);
}

bool ofi_long_take(struct tmb_net *net, const struct ofi_head *head, const void *payload,
                   struct tmb_am_in *in) {
  struct ofi_place place;
  memcpy(&place, payload, sizeof place);
  void *const dest = net->env.up->target(head->src, place.addr, place.bytes);
  if (!dest) return false;
  in->payload = dest;
  in->nbytes = place.bytes;
  return true;
}
