/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long puts and gets: MPI moves them between the program's memory on both sides, see mpi_engine.h.
 *
 * Owns: the transfers of this rank and of others with it. Called by core through the table, by
 * mpi_progress.c and mpi_end.c. Calls: MPI, env->up. Algorithm: the rank that wants a transfer
 * says so in a short message, which names the memory; the other one starts the receive, or the
 * send, that matches, by a tag of its own for each of the first rank's transfers. A put is complete
 * when a message says that it has come, a get when its receive is. Pieces of a longer one follow
 * each other. Invariants: a rank has at most NMPI_TRANSFERS of its own, so the state that another
 * must keep for it is bounded; a slot is used again when both sides are through with its tag; core
 * is called without the lock.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "net/mpi/mpi_engine.h"

#include <stdlib.h>

/* PIECE_BYTES is fixed by MPI; LOOKS_AT_ONE was chosen, not measured. LONG_TIMES: from 64 KiB on,
 * by the default of TOMBOLO_TEST_MPI_DIRECT, the copies of a Long take longer than the wait until
 * its source has been read; CROWDED_TIMES: from 512 KiB on where a receiver may have no processor
 * (Longs of 66,000 and 262,144 bytes to three such ranks in turn take 0.07 and 0.5 of the time as
 * copies, of 524,288 bytes 1.6). */
#define PIECE_BYTES   ((size_t)1 << 28) /* MPI counts in int */
#define LOOKS_AT_ONE  16                /* transfers that one poll asks MPI about */
#define LONG_TIMES    8                 /* a Long of so many times net->direct_bytes is one */
#define CROWDED_TIMES 64

/* Tags of data; 0 is that of messages. */
static int tag_of(uint32_t slot, bool put) {
  return (int)(1 + 2 * slot + (put ? 0 : 1));
}

/* ---- the two ends of a transfer */

/* Give MPI the next piece. */
static void next_piece(struct tmb_net *net, struct nmpi_transfer *t) {
  const size_t bytes = TMB_MIN(t->left, PIECE_BYTES);
  const int rc =
      t->receives
          ? MPI_Irecv(t->at, (int)bytes, MPI_BYTE, (int)t->peer, t->tag, net->comm, &t->request)
          : MPI_Isend(t->at, (int)bytes, MPI_BYTE, (int)t->peer, t->tag, net->comm, &t->request);
  if (rc != MPI_SUCCESS) nmpi_fatal(net, t->receives ? "MPI_Irecv" : "MPI_Isend", rc);
  t->at += bytes;
  t->left -= bytes;
}

static void begin(struct tmb_net *net, struct nmpi_transfer *t) {
  next_piece(net, t);
  TMB_LIST_PUSH(&net->direct.moving, t);
}

/* Whether MPI is through with a transfer, after its last piece. */
static bool is_through(struct tmb_net *net, struct nmpi_transfer *t) {
  for (;;) {
    MPI_Status status;
    int flag = 0;
    const int rc = MPI_Test(&t->request, &flag, &status);
    if (rc != MPI_SUCCESS) nmpi_fatal(net, "MPI_Test", rc);
    if (!flag) return false;
    if (!t->left) return true;
    next_piece(net, t);
  }
}

/* A transfer has ended that nmpi_direct_finish must report. */
static void list_finished(struct tmb_net *net, struct nmpi_transfer *t) {
  if (t->listed) return;
  t->listed = true;
  TMB_LIST_PUSH(&net->direct.finished, t);
}

bool nmpi_direct_look(struct tmb_net *net) {
  bool any = false;
  int looks = 0;
  struct nmpi_transfer **at = &net->direct.moving;
  while (*at && looks++ < LOOKS_AT_ONE) {
    struct nmpi_transfer *const t = *at;
    if (!is_through(net, t)) {
      at = &t->next;
      continue;
    }
    (void)TMB_LIST_POP(at);
    t->moved = true;
    list_finished(net, t);
    any = true;
  }
  if (!*at || at == &net->direct.moving) return any;
  struct nmpi_transfer *const seen = net->direct.moving; /* the others' turn is the next */
  net->direct.moving = *at;
  *at = NULL;
  *TMB_LIST_END(&net->direct.moving) = seen;
  return any;
}

/* ---- reports to core and to the other rank */

/* Acknowledge the puts that have come. Without a buffer, later. */
bool nmpi_direct_answer(struct tmb_net *net) {
  bool any = false;
  while (net->direct.answers) {
    struct nmpi_transfer *const t = net->direct.answers;
    struct nmpi_head head = {.kind = NMPI_MOVED, .is_reply = 1, .route = (uint16_t)t->slot};
    if (nmpi_send_control(net, t->peer, &head, NULL, NULL)) break;
    net->direct.count--;
    free(TMB_LIST_POP(&net->direct.answers));
    any = true;
  }
  return any;
}

/* A transfer of this rank: its source has been read, or all is done, or both. */
TMB_NO_LOCK_CHECK static void finish_own(struct tmb_net *net, struct nmpi_transfer *t) {
  const struct tmb_net_up *up = net->env.up;
  const struct tmb_rma rma = t->rma;
  const bool local = t->moved && !t->source_reported && rma.report_local;
  const bool whole = t->moved && (t->receives || t->come);
  t->source_reported = true;
  if (whole && !t->held) {
    t->busy = false;
    net->direct.count--;
  }
  tmb_lock_release(&net->lock);
  if (local) up->op_done(rma.op, rma.local_category, rma.peer);
  if (whole && rma.op) up->op_done(rma.op, rma.category, rma.peer);
  tmb_lock_acquire(&net->lock);
}

/* A transfer that another rank has asked for. */
TMB_NO_LOCK_CHECK static void finish_others(struct tmb_net *net, struct nmpi_transfer *t) {
  tmb_lock_release(&net->lock);
  if (t->signals) net->env.up->signal(t->signal.addr, t->signal.op, t->signal.value);
  tmb_lock_acquire(&net->lock);
  if (t->message) nmpi_inbox_keep(&net->in, t->message, nmpi_queue_of(net, t->message));
  if (t->receives) {
    TMB_LIST_PUSH(&net->direct.answers, t);
    (void)nmpi_direct_answer(net);
  } else {
    net->direct.count--;
    free(t);
  }
}

void nmpi_direct_finish(struct tmb_net *net) {
  while (net->direct.finished) {
    struct nmpi_transfer *const t = TMB_LIST_POP(&net->direct.finished);
    t->listed = false;
    if (t->own)
      finish_own(net, t);
    else
      finish_others(net, t);
  }
}

/* ---- messages of other ranks */

void nmpi_direct_moved(struct tmb_net *net, uint32_t peer, uint32_t slot) {
  struct nmpi_transfer *const t = slot < NMPI_TRANSFERS ? &net->direct.own[slot] : NULL;
  if (!t || !t->busy || t->receives || t->peer != peer) {
    tmb_count_rlx(&net->env.stats->refused, 1);
    return;
  }
  t->come = true;
  if (t->moved) list_finished(net, t);
}

/* Memory that another rank names; ends the job when it may not. */
TMB_NO_LOCK_CHECK static void *memory_of(struct tmb_net *net, uint32_t peer, uint64_t addr,
                                         uint64_t nbytes) {
  void *const p = net->env.up->target(peer, addr, nbytes);
  if (p) return p;
  net->ended = true;
  tmb_lock_release(&net->lock);
  net->env.up->fatal("rank %u names %llu bytes at 0x%llx of this process, which are neither in a "
                     "segment nor in other memory that it may write; check the remote address of "
                     "its put, get or signal",
                     peer, (unsigned long long)nbytes, (unsigned long long)addr);
}

void nmpi_direct_asked(struct tmb_net *net, const struct nmpi_buffer *b) {
  const struct nmpi_head *const head = nmpi_head_of(b);
  const struct nmpi_ask *const ask =
      (const struct nmpi_ask *)(const void *)(b->data + nmpi_payload_at(head->nargs));
  const uint32_t peer = b->peer;
  if (ask->slot >= NMPI_TRANSFERS || !ask->nbytes || ask->signal_op > TMB_SIGNAL_ADD ||
      (ask->signal_addr & 7)) {
    tmb_count_rlx(&net->env.stats->refused, 1);
    return;
  }
  struct nmpi_transfer *const t = calloc(1, sizeof *t);
  if (t && head->kind == NMPI_LONG) t->message = nmpi_buffer_copy(b);
  if (!t || (head->kind == NMPI_LONG && !t->message)) nmpi_no_memory(net, "a transfer");
  t->at = memory_of(net, peer, ask->addr, ask->nbytes);
  t->left = ask->nbytes;
  t->peer = peer;
  t->slot = ask->slot;
  t->receives = head->kind != NMPI_GET;
  t->tag = tag_of(ask->slot, t->receives);
  t->signals = ask->signal_addr != 0;
  if (t->signals)
    t->signal = (struct tmb_signal){memory_of(net, peer, ask->signal_addr, sizeof(uint64_t)),
                                    ask->signal_value, ask->signal_op};
  net->direct.count++;
  begin(net, t);
}

/* ---- the slots of the table */

static struct nmpi_transfer *free_slot(struct tmb_net *net) {
  for (uint32_t i = 0; i < NMPI_TRANSFERS; i++)
    if (!net->direct.own[i].busy) {
      net->direct.own[i] = (struct nmpi_transfer){.own = true, .busy = true, .slot = i};
      return &net->direct.own[i];
    }
  return NULL;
}

/* Ask the peer, then hand this side to MPI. in head: of the message that asks; args: its own.
 * Returns NULL, with nothing done, if there is no room. */
static struct nmpi_transfer *start(struct tmb_net *net, const struct tmb_rma *rma,
                                   struct nmpi_head *head, const void *args,
                                   const struct tmb_signal *signal) {
  struct nmpi_transfer *const t = free_slot(net);
  if (!t) return NULL;
  const struct nmpi_ask ask = {.addr = (uintptr_t)rma->remote,
                               .nbytes = rma->nbytes,
                               .signal_addr = signal ? (uintptr_t)signal->addr : 0,
                               .signal_value = signal ? signal->value : 0,
                               .signal_op = signal ? signal->op : 0,
                               .slot = t->slot};
  head->nbytes = sizeof ask;
  if (nmpi_send_control(net, rma->peer, head, args, &ask)) {
    t->busy = false;
    return NULL;
  }
  t->rma = *rma;
  t->at = rma->local;
  t->left = rma->nbytes;
  t->peer = rma->peer;
  t->receives = head->kind == NMPI_GET;
  t->tag = tag_of(t->slot, !t->receives);
  net->direct.count++;
  begin(net, t);
  return t;
}

static int transfer(struct tmb_net *net, const struct tmb_rma *rma, bool put,
                    const struct tmb_signal *signal) {
  /* An immediate one may not wait until the peer lets MPI read the source. */
  if (rma->nbytes < net->direct_bytes || !rma->op || rma->immediate) return TMB_E_UNSUPPORTED;
  tmb_lock_acquire(&net->lock);
  const struct nmpi_peer *p = nmpi_peer_of(net, rma->peer);
  struct nmpi_head head = {.kind = put ? NMPI_PUT : NMPI_GET};
  const bool over = p->lost || net->ended; /* messages report the rest */
  const int rc = over ? TMB_E_UNSUPPORTED : start(net, rma, &head, NULL, signal) ? 0 : TMB_AGAIN;
  tmb_lock_release(&net->lock);
  return rc;
}

int nmpi_put(struct tmb_net *net, const struct tmb_rma *rma) {
  return transfer(net, rma, true, NULL);
}

int nmpi_get(struct tmb_net *net, const struct tmb_rma *rma) {
  return transfer(net, rma, false, NULL);
}

int nmpi_put_signal(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal) {
  return transfer(net, rma, true, signal);
}

int nmpi_get_signal(struct tmb_net *net, const struct tmb_rma *rma,
                    const struct tmb_signal *signal) {
  return transfer(net, rma, false, signal);
}

/* ---- Longs
 *
 * The payload of a Long is a transfer, too. The message that asks for it has the arguments, and
 * waits at the peer until all has come. */

static int long_begin(struct tmb_net *net, struct tmb_am_out *out) {
  struct nmpi_peer *const p = nmpi_peer_of(net, out->peer);
  struct nmpi_head head = {TMB_AM_HEAD(out), .kind = NMPI_LONG};
  const struct tmb_rma rma = {.peer = out->peer,
                              .remote = out->dest,
                              .local = (void *)(uintptr_t)out->src,
                              .nbytes = out->nbytes};
  const uint32_t units = nmpi_units(&head);
  if (p->lost || net->ended) return TMB_E_UNSUPPORTED;
  out->lacks = TMB_LACKS_CREDIT;
  const bool by_thread = tmb_net_out_by_thread(net->env.thread_handlers, out);
  if (units && !tmb_net_credit(p->flying, units, net->credit, by_thread)) return TMB_AGAIN;
  out->lacks = TMB_LACKS_BUFFER;
  struct nmpi_transfer *const t = start(net, &rma, &head, out->args, NULL);
  if (!t) return TMB_AGAIN;
  t->held = true;
  p->flying += units;
  *out->resume = (struct tmb_resume){.at = 1, .id = t->slot, .started = true};
  out->lacks = TMB_LACKS_WINDOW;
  return TMB_AGAIN;
}

/* Goes on with a Long. Returns TMB_AGAIN until the source has been read. */
static int long_rest(struct tmb_net *net, uint32_t slot) {
  struct nmpi_transfer *const t = &net->direct.own[slot];
  if (!t->moved) return TMB_AGAIN;
  t->held = false;
  if (t->come && !t->listed) {
    t->busy = false;
    net->direct.count--;
  }
  return 0;
}

/* Whether a Long goes from memory to memory, so that its sender waits for its source. */
static bool long_is_direct(const struct tmb_net *net, const struct tmb_am_out *out) {
  const size_t times = net->env.crowded && !out->patient ? CROWDED_TIMES : LONG_TIMES;
  return !out->immediate && out->nbytes / times >= net->direct_bytes;
}

int nmpi_am_long(struct tmb_net *net, struct tmb_am_out *out) {
  if (!out->resume->started && !long_is_direct(net, out)) return TMB_E_UNSUPPORTED;
  tmb_lock_acquire(&net->lock);
  const int rc = out->resume->started ? long_rest(net, out->resume->id) : long_begin(net, out);
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
    tmb_count_rlx(&net->env.stats->bytes_out, out->nbytes);
  }
  tmb_lock_release(&net->lock);
  return rc;
}

/* ---- the end */

static void withdraw(struct nmpi_transfer *t) {
  if (t->receives) (void)MPI_Cancel(&t->request);
  (void)MPI_Request_free(&t->request);
}

/* Transfers of this rank that MPI is through with: nobody will say that they have come. */
static void forget_own(struct tmb_net *net, uint32_t peer) {
  for (uint32_t i = 0; i < NMPI_TRANSFERS; i++) {
    struct nmpi_transfer *const t = &net->direct.own[i];
    if (!t->busy || !t->moved || t->come || t->listed || (t->peer != peer && peer != UINT32_MAX))
      continue;
    t->come = true;
    if (t->held) continue;
    t->busy = false;
    net->direct.count--;
  }
}

void nmpi_direct_lost(struct tmb_net *net, uint32_t peer) {
  for (struct nmpi_transfer **at = &net->direct.moving; *at;) {
    struct nmpi_transfer *const t = *at;
    if (t->peer != peer && peer != UINT32_MAX) {
      at = &t->next;
      continue;
    }
    withdraw(TMB_LIST_POP(at));
    if (t->own && t->held) { /* its sender asks once more */
      t->moved = t->come = true;
      continue;
    }
    net->direct.count--;
    if (t->own) {
      t->busy = false;
    } else {
      if (t->message) nmpi_buffer_put(t->message);
      free(t);
    }
  }
  forget_own(net, peer);
}
