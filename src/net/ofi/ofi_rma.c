/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets by the provider, and their signals, see ofi_rma.h.
 *
 * Owns: the accesses of the engine. Called by core through the table, by ofi_progress.c and
 * ofi_receive.c. Calls: libfabric by its table, ofi_region.c, ofi_memory.c, ofi_send.c. An access
 * that the provider cannot do, or not yet because a key is unknown, is TMB_E_UNSUPPORTED: core
 * makes it of messages. A signal after a put follows as a message of its own, at once where the
 * provider keeps a message behind the writes before it, else when the write is complete at the
 * peer; the peer answers when it has changed it, and then the operation is complete. Short puts
 * with a signal are one message, which core makes. Invariants: as ofi_rma.h says; nothing here
 * polls.
 */
#include "net/ofi/ofi_rma.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chosen, not measured; study/RESULTS.md has the bandwidth of several links. */
#define STRIPE_ALIGN UINT64_C(4096) /* bytes */

bool ofi_access_make(struct tmb_net *net) {
  net->access.all = calloc(OFI_ACCESSES, sizeof *net->access.all);
  if (!net->access.all) return false;
  for (uint32_t i = 0; i < OFI_ACCESSES; i++) {
    struct ofi_op *op = &net->access.all[i].op;
    op->use = OFI_USE_ACCESS;
    TMB_LIST_PUSH(&net->access.free, op);
  }
  return true;
}

static struct ofi_access *access_of(struct ofi_op *op) {
  return (struct ofi_access *)(void *)op;
}

void ofi_access_free(struct tmb_net *net, struct ofi_op *list) {
  for (struct ofi_op *op; (op = TMB_LIST_POP(&list)) != NULL;) TMB_LIST_PUSH(&net->access.free, op);
}

void ofi_access_report(struct tmb_net *net, struct ofi_op *list) {
  for (; list; list = list->next) {
    const struct ofi_access *a = access_of(list);
    if (a->lost) continue;
    if (a->atomic && a->buffer) memcpy(a->buffer, &a->before, a->nbytes);
    if (a->report_local) net->env.up->op_done(a->client_op, a->local_category, list->peer);
    net->env.up->op_done(a->client_op, a->category, list->peer);
  }
}

/* ---- completion */

/* One of the parts of an access is over. */
static void part_over(struct tmb_net *net, struct ofi_access *a) {
  if (--a->parts) return;
  if (a->copy) ofi_buffer_put(a->copy);
  a->copy = NULL;
  net->peers.of[a->op.peer]->accesses--;
  if (TMB_UNLIKELY(a->held)) return; /* its owner looks */
  TMB_LIST_PUSH(&net->access.done, &a->op);
}

static bool send_signal(struct tmb_net *net, struct ofi_access *a) {
  if (ofi_send_own(net, a->op.peer, OFI_SIGNAL, &a->signal, sizeof a->signal)) return false;
  a->signalled = true;
  return true;
}

/* Send the signal of an access, now or when there is room. */
static void start_signal(struct tmb_net *net, struct ofi_access *a) {
  if (send_signal(net, a)) return;
  a->op.next = NULL;
  *TMB_LIST_END(&net->access.pending) = &a->op;
}

bool ofi_access_rest(struct tmb_net *net) {
  bool sent = false;
  while (net->access.pending) {
    if (!send_signal(net, access_of(net->access.pending))) break;
    (void)TMB_LIST_POP(&net->access.pending);
    sent = true;
  }
  return sent;
}

/* One piece of an access in stripes is over. Returns the access if it was the last, else NULL. */
static TMB_NOINLINE struct ofi_access *piece_over(struct tmb_net *net, struct ofi_access *a,
                                                  bool failed) {
  struct ofi_access *whole = a->whole ? a->whole : a;
  if (failed) whole->lost = true;
  if (a->whole) {
    a->parts = 0;
    a->op.next = NULL;
    ofi_access_free(net, &a->op);
  }
  return --whole->pieces ? NULL : whole;
}

/* The provider has given up an access or a stripe. Returns the access if that was the last piece of
 * it, else NULL. */
static inline struct ofi_access *given_up(struct tmb_net *net, struct ofi_access *a, bool failed) {
  if (a->local) ofi_memory_unuse(net, a->local);
  a->local = NULL;
  if (TMB_UNLIKELY(a->striped)) return piece_over(net, a, failed);
  if (failed) a->lost = true;
  return a;
}

void ofi_access_done(struct tmb_net *net, struct ofi_op *op) {
  struct ofi_access *a = given_up(net, access_of(op), false);
  if (!a) return;
  if (a->signals && !a->started && a->lost) {
    a->parts = 1; /* no signal will be answered */
  } else if (a->signals && !a->started) {
    a->started = true;
    start_signal(net, a);
  }
  part_over(net, a);
}

void ofi_access_failed(struct tmb_net *net, struct ofi_op *op) {
  struct ofi_access *a = given_up(net, access_of(op), true);
  if (!a) return;
  if (a->signals && !a->started) a->parts = 1; /* no signal will be answered */
  part_over(net, a);
}

void ofi_access_changed(struct tmb_net *net, uint32_t peer, const struct ofi_change *change) {
  struct ofi_access *a = change->access < OFI_ACCESSES ? &net->access.all[change->access] : NULL;
  if (!a || !a->parts || !a->signalled || a->op.peer != peer || a->serial != change->serial) return;
  a->signalled = false;
  part_over(net, a);
}

void ofi_access_result(struct tmb_net *net, uint32_t peer, const struct ofi_rmw *rmw) {
  struct ofi_access *a = rmw->access < OFI_ACCESSES ? &net->access.all[rmw->access] : NULL;
  if (!a || !a->parts || !a->signalled || !a->atomic || a->op.peer != peer ||
      a->serial != rmw->serial)
    return;
  a->signalled = false;
  a->before = rmw->operand[0];
  part_over(net, a);
}

void ofi_access_written(struct tmb_net *net, uint32_t peer, const struct ofi_write *write) {
  const struct ofi_peer *const p = net->peers.of[peer];
  if (write->access >= OFI_ACCESSES || net->access.all[write->access].serial != write->serial)
    return;
  for (uint32_t next = write->access + 1; next;) {
    struct ofi_access *const a = &net->access.all[next - 1];
    if (!a->parts || !a->signalled || !a->gathered || a->op.peer != peer) {
      if (!p->broken && !p->lost_ns) ofi_fatal(net, "a put has two answers", FI_EINVAL);
      return;
    }
    next = a->chain;
    a->signalled = false;
    part_over(net, a);
  }
}

void ofi_write_serve(struct tmb_net *net, uint32_t src, const void *payload, uint32_t nbytes) {
  struct ofi_write write;
  char text[120];
  memcpy(&write, payload, sizeof write);
  const uint32_t bytes = nbytes - (uint32_t)sizeof write;
  void *const to = net->env.up->target(src, write.addr, bytes);
  if (!to) {
    snprintf(text, sizeof text, "rank %u puts %u bytes to 0x%llx, which is in no segment", src,
             bytes, (unsigned long long)write.addr);
    ofi_fatal(net, text, FI_EINVAL);
  }
  memcpy(to, (const char *)payload + sizeof write, bytes);
}

void ofi_access_lost(struct tmb_net *net, uint32_t peer) {
  for (uint32_t i = 0; i < OFI_ACCESSES; i++) {
    struct ofi_access *a = &net->access.all[i];
    if (!a->parts || a->op.peer != peer) continue;
    if (!a->lost) (void)net->calls->cancel(net->rail[a->rail].ep, a); /* few providers can */
    a->lost = true;
    if (!a->signalled) continue; /* a signal in flight in `pending` is dropped when it is sent */
    a->signalled = false;
    part_over(net, a);
  }
}

void ofi_signal_message(struct tmb_net *net, const struct ofi_head *head, const void *payload) {
  struct ofi_change change;
  memcpy(&change, payload, sizeof change);
  void *const word = net->env.up->target(head->src, change.addr, sizeof(uint64_t));
  if (!word || change.addr % sizeof(uint64_t) || change.op > TMB_SIGNAL_ADD)
    net->env.up->fatal("ofi: rank %u names a signal at 0x%llx, which is not a word of a segment",
                       head->src, (unsigned long long)change.addr);
  net->env.up->signal(word, change.op, change.value);
}

/* ---- starting one */

struct start {
  const struct tmb_rma *rma;
  const struct tmb_signal *signal;
  bool is_get, device;
  bool held;
  const struct tmb_net_key *key;   /* NULL, or of the memory at `remote` */
  const struct ofi_region *region; /* that the key names */
  struct ofi_access *made;         /* out */
  bool copied;                     /* out: the source has been read */
};

static struct ofi_access *take_access(struct tmb_net *net, const struct start *s) {
  const struct tmb_rma *rma = s->rma;
  const struct tmb_signal *signal = s->signal;
  struct ofi_op *op = net->access.free;
  if (!op || net->tx_busy >= net->tx_limit) return NULL;
  struct ofi_access *a = access_of(op);
  (void)TMB_LIST_POP(&net->access.free);
  op->peer = rma->peer;
  a->client_op = rma->op;
  a->category = rma->category;
  a->local_category = rma->local_category;
  a->report_local = rma->report_local;
  a->buffer = rma->local;
  a->remote = (uint64_t)(uintptr_t)rma->remote;
  a->nbytes = rma->nbytes;
  a->is_get = s->is_get;
  a->device = s->device;
  a->held = s->held;
  a->exposed = s->key != NULL;
  if (s->key) a->key = *s->key;
  a->tries = 0;
  a->whole = NULL;
  a->rail = 0;
  a->pieces = 1;
  a->striped = a->atomic = a->gathered = false;
  a->chain = 0;
  a->copy = NULL;
  a->lost = a->started = a->signalled = false;
  a->signals = signal != NULL;
  a->parts = signal ? 2 : 1;
  a->serial++;
  if (signal)
    a->signal = (struct ofi_change){.addr = (uint64_t)(uintptr_t)signal->addr,
                                    .value = signal->value,
                                    .op = signal->op,
                                    .access = (uint32_t)(a - net->access.all),
                                    .serial = a->serial};
  return a;
}

struct ofi_access *ofi_access_take(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  const struct tmb_rma rma = {.peer = atomic->peer,
                              .remote = atomic->remote,
                              .local = atomic->result,
                              .nbytes = atomic->bytes,
                              .op = atomic->op,
                              .category = atomic->category};
  struct ofi_access *a = take_access(net, &(struct start){.rma = &rma});
  if (a) a->atomic = true;
  return a;
}

void ofi_access_count(struct tmb_net *net, struct ofi_access *a) {
  ofi_peer_of(net, a->op.peer)->accesses++;
}

/* The region that a key names. */
static struct ofi_region exposed_region(const struct tmb_net *net, const struct tmb_net_key *key) {
  return (struct ofi_region){.base = key->base,
                             .key = {key->key},
                             .rails = 1,
                             .from = net->mr_mode & FI_MR_VIRT_ADDR ? key->base : 0};
}

/* Whether the provider can do an access now. Returns 0, TMB_AGAIN or TMB_E_UNSUPPORTED. out region:
 * at the peer. */
static int judge(struct tmb_net *net, const struct start *s, const struct ofi_region **region) {
  const struct tmb_rma *rma = s->rma;
  if (!net->rma || !(rma->op || s->held) || !rma->nbytes || (rma->resume && rma->resume->at) ||
      ofi_peer_of(net, rma->peer)->broken || rma->nbytes > net->rail[0].info->ep_attr->max_msg_size)
    return TMB_E_UNSUPPORTED;
  *region = s->key ? s->region
                   : ofi_region_find(net, rma->peer, (uint64_t)(uintptr_t)rma->remote, rma->nbytes);
  return *region ? 0 : TMB_E_UNSUPPORTED;
}

/* Hand an access to the provider. */
static ssize_t issue(struct tmb_net *net, struct ofi_access *a, const struct ofi_region *region) {
  const struct iovec local = {a->buffer, a->nbytes};
  const struct fi_rma_iov remote = {.addr = a->remote - region->base + region->from,
                                    .len = a->nbytes,
                                    .key = region->key[a->rail]};
  const struct ofi_rail *rail = &net->rail[a->rail];
  void *desc = a->local ? fi_mr_desc(a->local->mr[a->rail]) : a->copy ? a->copy->pool->desc : NULL;
  const struct fi_msg_rma message = {.msg_iov = &local,
                                     .desc = &desc,
                                     .iov_count = 1,
                                     .addr = rail->addr[a->op.peer],
                                     .rma_iov = &remote,
                                     .rma_iov_count = 1,
                                     .context = a};
  if (a->is_get) return net->calls->read(rail->ep, &message);
  uint64_t flags = FI_COMPLETION;
  if (!(a->signals && net->ordered) || a->striped) flags |= FI_DELIVERY_COMPLETE;
  if (a->nbytes <= net->inject_max && !a->device) flags |= FI_INJECT;
  return net->calls->write(rail->ep, &message, flags);
}

/* Have the provider do an access. Returns 0, TMB_AGAIN or TMB_E_UNSUPPORTED, with nothing done. */
static int attempt(struct tmb_net *net, struct ofi_access *a, const struct ofi_region *region) {
  const bool kept = !a->copy && (a->is_get || a->device || a->nbytes > net->inject_max);
  if (((net->mr_mode & FI_MR_LOCAL) && kept) || a->device) {
    a->local = ofi_memory_use(net, a->buffer, a->nbytes);
    if (!a->local) /* a stripe goes on when other accesses have let go of memory */
      return a->whole && net->tx_busy ? TMB_AGAIN : TMB_E_UNSUPPORTED;
  }
  if (a->local && !a->local->mr[a->rail]) {
    ofi_memory_unuse(net, a->local);
    a->local = NULL;
    return TMB_E_UNSUPPORTED;
  }
  const ssize_t rc = issue(net, a, region);
  if (rc == 0) return 0;
  ofi_memory_unuse(net, a->local);
  a->local = NULL;
  if (rc == -FI_EAGAIN || rc == -FI_ENOMEM) return TMB_AGAIN;
  return TMB_E_UNSUPPORTED; /* if the peer is lost, the messages show it */
}

/* ---- another try */

bool ofi_error_of_peer(int error) {
  static const int errors[] = {FI_ECONNABORTED, FI_ECONNRESET,   FI_ECONNREFUSED, FI_ENOTCONN,
                               FI_ESHUTDOWN,    FI_EHOSTUNREACH, FI_EHOSTDOWN,    FI_ENETUNREACH,
                               FI_ETIMEDOUT,    FI_ECANCELED};
  for (size_t i = 0; i < TMB_ARRAY_LEN(errors); i++)
    if (error == errors[i]) return true;
  return false;
}

bool ofi_access_again(struct tmb_net *net, struct ofi_op *op, int error) {
  struct ofi_access *a = access_of(op);
  if (a->atomic) return false;                     /* it may have been performed or not */
  const bool signalled = a->signals && a->started; /* the peer may have seen it already */
  if (a->lost || signalled || a->tries == OFI_TRIES || ofi_error_of_peer(error) ||
      ofi_peer_of(net, op->peer)->broken)
    return false;
  a->tries++;
  ofi_memory_unuse(net, a->local);
  a->local = NULL;
  ofi_region_doubt(net, op->peer, a->remote);
  TMB_LIST_PUSH(&net->access.again, op);
  return true;
}

/* One more try of an access. Returns 0, TMB_AGAIN: later, or TMB_E_UNSUPPORTED: never. */
static int try_again(struct tmb_net *net, struct ofi_access *a) {
  const struct ofi_peer *p = ofi_peer_of(net, a->op.peer);
  if (a->lost || p->broken) return TMB_E_UNSUPPORTED;
  if (net->tx_busy >= net->tx_limit) return TMB_AGAIN;
  const struct ofi_region exposed = exposed_region(net, &a->key);
  const struct ofi_region *region =
      a->exposed ? &exposed : ofi_region_find(net, a->op.peer, a->remote, a->nbytes);
  if (!region) return p->quiet ? TMB_E_UNSUPPORTED : TMB_AGAIN; /* refused; being asked for */
  const int rc = attempt(net, a, region);
  if (rc == 0) net->tx_busy++;
  return rc;
}

bool ofi_access_retry(struct tmb_net *net) {
  struct ofi_op *list = net->access.again;
  bool any = false;
  net->access.again = NULL;
  while (list) {
    struct ofi_op *const op = TMB_LIST_POP(&list);
    const int rc = try_again(net, access_of(op));
    any = any || rc != TMB_AGAIN;
    if (rc == TMB_AGAIN) {
      TMB_LIST_PUSH(&net->access.again, op);
    } else if (rc) {
      ofi_peer_break(net, op->peer, FI_EIO);
      ofi_access_failed(net, op);
    }
  }
  return any;
}

/* ---- stripes */

/* The rails that an access can use, as bits. */
static uint32_t common_rails(const struct tmb_net *net, uint32_t peer,
                             const struct ofi_region *region) {
  uint32_t rails = 0;
  for (uint32_t r = 0; r < net->rails; r++)
    if (net->rail[r].ep && net->rail[r].addr[peer] != FI_ADDR_NOTAVAIL && region->rails >> r & 1)
      rails |= 1u << r;
  return rails;
}

/* Divide an access that is about to start: it keeps the first stripe. Returns the others. */
static TMB_NOINLINE struct ofi_op *divide(struct tmb_net *net, struct ofi_access *a,
                                          const struct ofi_region *region) {
  const uint32_t rails = common_rails(net, a->op.peer, region);
  const uint64_t share =
      TMB_ALIGN_UP(a->nbytes / (uint32_t)__builtin_popcount(rails | 1), STRIPE_ALIGN);
  struct ofi_op *list = NULL;
  uint64_t left = a->nbytes - share, at = share;
  for (uint32_t r = 1; r < net->rails && left; r++) {
    struct ofi_op *const op = net->access.free;
    if (!(rails >> r & 1) || !op) continue;
    (void)TMB_LIST_POP(&net->access.free);
    struct ofi_access *s = access_of(op);
    const uint32_t serial = s->serial + 1;
    const uint64_t bytes = TMB_MIN(share, left);
    op->peer = a->op.peer;
    TMB_LIST_PUSH(&list, op);
    *s = (struct ofi_access){.op = s->op,
                             .serial = serial,
                             .whole = a,
                             .rail = (uint8_t)r,
                             .parts = 1,
                             .pieces = 1,
                             .striped = true,
                             .is_get = a->is_get,
                             .buffer = (char *)a->buffer + at,
                             .remote = a->remote + at,
                             .nbytes = bytes};
    at += bytes;
    left -= bytes;
  }
  a->striped = list != NULL;
  if (list) access_of(list)->nbytes += left; /* accesses have run out */
  a->nbytes = list ? share : a->nbytes;
  return list;
}

/* Start the stripes beside the first, which has begun. One for which its rail has no room, or to
 * which there is no connection yet, takes the first rail. */
static TMB_NOINLINE void start_stripes(struct tmb_net *net, struct ofi_access *whole,
                                       struct ofi_op *list, const struct ofi_region *region) {
  while (list) {
    struct ofi_op *const op = TMB_LIST_POP(&list);
    struct ofi_access *s = access_of(op);
    whole->pieces++;
    int rc = attempt(net, s, region);
    if (rc) {
      s->rail = 0;
      rc = attempt(net, s, region);
    }
    if (rc == 0) {
      net->tx_busy++;
    } else {
      TMB_LIST_PUSH(&net->access.again, op);
    }
  }
}

/* ---- starting one, under the lock */

/* Copy the source of a put, if the caller waits for its local completion: the provider reports only
 * that the data are at the peer. */
static void copy_source(struct tmb_net *net, struct start *s, struct ofi_access *a) {
  const struct tmb_rma *rma = s->rma;
  if (!rma->report_local || s->is_get || s->device || s->signal ||
      rma->nbytes > TMB_AM_MEDIUM_BYTES_MAX)
    return;
  struct ofi_pool *const pool =
      rma->nbytes <= OFI_SMALL_BYTES ? &net->bufs.small : &net->bufs.large;
  a->copy = ofi_pool_take(pool, pool->count / 4);
  if (!a->copy) return;
  a->buffer = memcpy(a->copy->data, rma->local, rma->nbytes);
  a->report_local = false;
  s->copied = true;
}

static int start_access(struct tmb_net *net, struct start *s) {
  const struct ofi_region *region = NULL;
  int rc = judge(net, s, &region);
  if (rc) return rc;
  struct ofi_access *a = s->made = take_access(net, s);
  if (!a) return TMB_AGAIN;
  copy_source(net, s, a);
  struct ofi_op *stripes = NULL;
  if (TMB_UNLIKELY(net->rails > 1) && a->nbytes >= OFI_STRIPED_BYTES && !a->device)
    stripes = divide(net, a, region);
  rc = attempt(net, a, region);
  if (rc) {
    a->parts = 0;
    if (a->copy) ofi_buffer_put(a->copy);
    a->copy = NULL;
    for (struct ofi_op *op = stripes; op; op = op->next) access_of(op)->parts = 0;
    ofi_access_free(net, stripes);
    a->op.next = NULL;
    ofi_access_free(net, &a->op);
    return rc;
  }
  net->tx_busy++;
  ofi_peer_of(net, s->rma->peer)->accesses++;
  if (TMB_UNLIKELY(stripes != NULL)) start_stripes(net, a, stripes, region);
  if (s->signal && !s->is_get && net->ordered && !a->striped) {
    a->started = true;
    start_signal(net, a);
  }
  return 0;
}

int ofi_access_hold(struct tmb_net *net, const struct tmb_rma *rma, const struct tmb_net_key *key,
                    uint32_t *index) {
  struct ofi_region region;
  if (key) region = exposed_region(net, key);
  struct start s = {.rma = rma, .held = true, .key = key, .region = &region};
  const int rc = start_access(net, &s);
  if (rc == 0) *index = (uint32_t)(s.made - net->access.all);
  return rc;
}

void ofi_access_unhold(struct tmb_net *net, struct ofi_access *a) {
  a->held = false;
  a->op.next = NULL;
  ofi_access_free(net, &a->op);
}

static int start_locked(struct tmb_net *net, struct start *s) {
  tmb_lock_acquire_shared(&net->lock);
  if (net->gather && !s->is_get) ofi_send_put_begins(net);
  const int rc = start_access(net, s);
  if (rc == 0) {
    if (net->gather && !s->is_get) ofi_send_put_alone(net, s->rma->peer);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
    if (!s->is_get) tmb_count_rlx(&net->env.stats->bytes_out, s->rma->nbytes);
  }
  tmb_lock_release(&net->lock);
  if (rc == 0 && s->copied) net->env.up->op_done(s->rma->op, s->rma->local_category, s->rma->peer);
  return rc;
}

/* ---- puts in batches */

static int gather_locked(struct tmb_net *net, const struct tmb_rma *rma) {
  const struct start s = {.rma = rma};
  struct ofi_access *a = take_access(net, &s);
  if (!a) return TMB_AGAIN;
  struct ofi_peer *const p = ofi_peer_of(net, rma->peer);
  struct ofi_put put = {
      .write = {.addr = a->remote, .access = (uint32_t)(a - net->access.all), .serial = a->serial},
      .peer = rma->peer,
      .nbytes = (uint32_t)rma->nbytes,
      .data = rma->local,
      .copied = rma->report_local};
  const int rc = ofi_send_put(net, &put);
  if (rc) {
    a->parts = 0;
    a->op.next = NULL;
    ofi_access_free(net, &a->op);
    return rc;
  }
  a->chain = put.before;
  a->gathered = a->signalled = true;
  a->report_local = false;
  p->accesses++;
  tmb_count_rlx(&net->env.stats->bytes_out, rma->nbytes);
  return 0;
}

/* Adds a short put to a batch if it follows others closely, or if the caller asks for its local
 * completion; its source is read now. Returns TMB_E_UNSUPPORTED if the put is to leave alone. */
static TMB_NOINLINE int gather(struct tmb_net *net, const struct tmb_rma *rma) {
  tmb_lock_acquire_shared(&net->lock);
  const int rc = gather_locked(net, rma);
  if (rc == TMB_AGAIN) ofi_send_again(net, rma->peer);
  tmb_lock_release(&net->lock);
  if (rc == 0 && rma->report_local) net->env.up->op_done(rma->op, rma->local_category, rma->peer);
  return rc;
}

int ofi_put(struct tmb_net *net, const struct tmb_rma *rma) {
  if (net->gather && rma->op && rma->nbytes && rma->nbytes <= OFI_BATCHED_MAX) {
    const int rc = gather(net, rma);
    if (rc != TMB_E_UNSUPPORTED) return rc;
  }
  return start_locked(net, &(struct start){.rma = rma});
}

int ofi_get(struct tmb_net *net, const struct tmb_rma *rma) {
  return start_locked(net, &(struct start){.rma = rma, .is_get = true});
}

int ofi_device_rma(struct tmb_net *net, const struct tmb_rma *rma, bool is_get) {
  if (!net->hmem) return TMB_E_UNSUPPORTED;
  return start_locked(net, &(struct start){.rma = rma, .is_get = is_get, .device = true});
}

/* As long as it is a message, a put with a signal is one. */
int ofi_put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                   const struct tmb_signal *signal) {
  if (rma->nbytes <= TMB_AM_MEDIUM_BYTES_MAX) return TMB_E_UNSUPPORTED;
  return start_locked(net, &(struct start){.rma = rma, .signal = signal});
}

int ofi_get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                   const struct tmb_signal *signal) {
  return start_locked(net, &(struct start){.rma = rma, .signal = signal, .is_get = true});
}
