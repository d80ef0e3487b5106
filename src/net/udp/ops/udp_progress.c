/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of the engine: receive, acknowledge, send again, go on with transfers, deliver.
 *
 * Owns the timers. Called through the slots progress, wait_fds and drained. Calls the other parts.
 * One receive call per look while little comes, as many datagrams as there are while much comes. A
 * due acknowledgement waits until the received messages were delivered, because the answer can
 * carry it. While the client computes, the progress thread does this, but delivers only messages
 * whose handlers are the library's and marked. Invariants: nothing is delivered under the lock;
 * next_ns is not later than any timer of a busy peer.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Chosen, not measured. */
#define RESENDS_MAX 64u         /* retransmissions to one peer in one call of progress */
#define BULK_NS     5000000u    /* after the last long payload the progress thread stays awake */
#define BLIND_NS    1000000u    /* longest sleep of a client that the progress thread cannot wake */
#define LATE_NS     1000000u    /* from a timer of a client that sleeps to its waking */
#define ROOM_NS     200000u     /* until the library retries messages that had no room; chosen */
#define ASK_NS_MAX  1000000000u /* between questions for credit */

/* Send lost packets again while the window allows. in probe: one at least, to learn of
 * acknowledgements. */
static void push_lost(struct tmb_net *e, struct udp_peer *p, bool probe) {
  uint32_t sent = 0;
  e->out.full = false;
  for (uint64_t n = p->tx.una; n < p->tx.next && p->tx.lost && sent < RESENDS_MAX; n++) {
    const struct udp_slot *slot = udp_tx_slot(&p->tx, n);
    if (slot->state != UDP_SLOT_LOST) continue;
    if (!probe && !udp_rail_open(e, p, slot)) return;
    udp_packet_resend(e, p, n);
    if (TMB_UNLIKELY(e->out.full)) return;
    probe = false;
    sent++;
  }
}

static uint64_t push_timeout(struct tmb_net *e, struct udp_peer *p) {
  uint64_t next = UINT64_MAX;
  for (uint32_t r = 0; r < p->tx.rails; r++) {
    const struct udp_rail *rail = &p->tx.rail[r];
    if (!rail->in_flight) continue;
    uint64_t due = rail->timer_ns + udp_tx_rto(rail);
    if (due <= e->time.now_ns) {
      udp_rail_timeout(e, p, r);
      udp_count(&e->stats->timeouts, 1);
      udp_peer_asked(e, p);
      push_lost(e, p, true);
      due = e->time.now_ns + udp_tx_rto(rail);
    }
    next = TMB_MIN(next, due);
  }
  return next;
}

/* Ask for a notice of credit. */
static uint64_t push_starved(struct tmb_net *e, struct udp_peer *p) {
  if (!p->credit.starved) return UINT64_MAX;
  if (p->credit.ask_ns > e->time.now_ns) return p->credit.ask_ns;
  const uint64_t wait = udp_tx_rto(udp_tx_main(&p->tx)) << TMB_MIN(p->credit.asks, 8u);
  if (p->credit.asks++) udp_peer_asked(e, p);
  p->credit.ask_ns = e->time.now_ns + TMB_MIN(wait, (uint64_t)ASK_NS_MAX);
  udp_ack_send(e, p, UDP_ACK_NOW);
  return p->credit.ask_ns;
}

/* Send the acknowledgement that is owed, if it is time. */
static uint64_t push_ack(struct tmb_net *e, struct udp_peer *p, bool now) {
  if (!p->ack.now && p->ack.due_ns == UINT64_MAX) return UINT64_MAX;
  if (!now && (!p->ack.now || p->ack.tick == e->time.tick)) return e->time.now_ns;
  if (!p->ack.now && p->ack.packets < UDP_ACK_EVERY && p->ack.due_ns > e->time.now_ns)
    return p->ack.due_ns;
  udp_ack_alone(e, p);
  udp_ack_send(e, p, 0);
  return UINT64_MAX;
}

/* Whether the open packet has waited long enough. */
static bool gather_due(const struct tmb_net *e, const struct udp_peer *p) {
  return !udp_gather_waits(e, p) || e->time.tick - p->gather.tick >= 2;
}

/* Returns when to call again. */
static uint64_t push_peer(struct tmb_net *e, struct udp_peer *p, bool flush, bool acks) {
  if (p->detect_ns <= e->time.now_ns) p->detect_ns = udp_tx_detect(&p->tx, e->time.now_ns);
  uint64_t next = p->detect_ns;
  if (p->tx.lost) push_lost(e, p, false);
  if (p->gather.buf && (flush || p->bulk.first || gather_due(e, p)))
    (void)udp_gather_flush(e, p, 0);
  if (p->gather.buf) next = e->time.now_ns;
  const uint64_t paced = p->gather.buf && p->bulk.first ? e->time.now_ns : udp_xfer_push(e, p);
  const uint64_t timeout = push_timeout(e, p);
  const uint64_t starved = push_starved(e, p);
  const uint64_t probe = udp_probe_push(e, p);
  const uint64_t ack = push_ack(e, p, acks && (flush || !udp_ack_delayed(e, p)));
  next = TMB_MIN(TMB_MIN(next, paced), TMB_MIN(timeout, ack));
  return TMB_MIN(next, TMB_MIN(starved, probe));
}

static bool is_idle(const struct udp_peer *p) {
  return p->tx.una == p->tx.next && !p->gather.buf && !p->bulk.first && !p->ack.now &&
         !p->credit.starved && p->ack.due_ns == UINT64_MAX && p->mtu.due_ns == UINT64_MAX &&
         !p->life.asked_ns;
}

void udp_push_all(struct tmb_net *e, bool flush, bool acks) {
  struct udp_peer **at = &e->peers.busy;
  if (e->time.now_ns >= e->peers.keep_ns) udp_peer_keep(e);
  uint64_t next = e->peers.keep_ns, unacked = 0, queued = 0, lost = 0;
  struct udp_vain vain = {0};
  e->peers.dirty = false;
  while (*at) {
    struct udp_peer *p = *at;
    const uint64_t due = p->lost ? UINT64_MAX : push_peer(e, p, flush, acks);
    next = TMB_MIN(next, due);
    unacked += p->tx.next - p->tx.una;
    queued += p->gather.count + (p->bulk.first != NULL);
    lost += p->tx.lost;
    if (TMB_UNLIKELY(p->life.vain_ns != 0)) udp_vain_add(e, p, &vain);
    if (is_idle(p)) {
      p->busy = false;
      *at = p->next_busy;
    } else {
      at = &p->next_busy;
    }
  }
  udp_out_flush(e);
  e->peers.waits = queued || lost;
  e->time.next_ns = e->peers.dirty ? e->time.now_ns : next;
  e->peers.dirty = false;
  tmb_store_rlx(&e->stats->unacked, unacked);
  tmb_store_rlx(&e->stats->queued, queued);
  udp_vain_note(e, &vain);
}

/* Send the open packets, where nothing else is to be sent but acknowledgements; timers are seen to
 * by the next call. Returns false, with nothing done, if something is. */
static bool push_open(struct tmb_net *e) {
  if (e->out.count) return false;
  for (const struct udp_peer *p = e->peers.busy; p; p = p->next_busy)
    if (p->lost || p->tx.lost || p->bulk.first) return false;
  bool waits = false;
  for (struct udp_peer *p = e->peers.busy; p; p = p->next_busy)
    if (p->gather.buf && !udp_gather_flush(e, p, 0)) waits = true;
  udp_out_flush(e);
  e->peers.waits = waits;
  return true;
}

/* Hand up the batch, then send the messages of its handlers, if any. */
static void hand_up(struct tmb_net *e, struct udp_batch *b) TMB_REQUIRES(e->lock);

static void hand_up(struct tmb_net *e, struct udp_batch *b) {
  e->kept.threads++;
  udp_engine_unlock(e);
  udp_deliver_run(b, e->up->am);
  udp_engine_lock_blind(e);
  e->kept.threads--;
  udp_deliver_credit(e, b);
  if (!e->peers.waits && !e->out.count) return;
  udp_engine_clock(e);
  if (!push_open(e)) udp_push_all(e, true, false);
}

/* Wake the client, should it sleep: the packets that made its descriptors readable are received. */
static void ring_doorbell(struct tmb_net *e) {
  const uint64_t one = 1;
  if (e->helper.doorbell_rung || e->helper.doorbell_fd < 0) return;
  e->helper.doorbell_rung = write(e->helper.doorbell_fd, &one, sizeof one) == (ssize_t)sizeof one;
}

/* hand_up by the progress thread. */
static void hand_up_by_thread(struct tmb_net *e, struct udp_batch *b) TMB_REQUIRES(e->lock);

static void hand_up_by_thread(struct tmb_net *e, struct udp_batch *b) {
  e->kept.threads++;
  e->helper.self = pthread_self();
  e->helper.delivers = true;
  tmb_lock_release(&e->lock); /* completions wait for the client */
  udp_deliver_run(b, e->up->am_by_thread);
  udp_engine_lock(e);
  e->helper.delivers = false;
  e->kept.threads--;
  udp_deliver_credit(e, b);
  udp_push_all(e, true, true);
  ring_doorbell(e); /* again: the client may have called before the handlers ran */
}

/* Let the library go on with work that needs no client. Returns TMB_FOUND_ bits. */
static int work_by_thread(struct tmb_net *e) TMB_REQUIRES(e->lock);

static int work_by_thread(struct tmb_net *e) {
  if (!e->up->thread_work) return TMB_FOUND_NOTHING;
  e->kept.threads++;
  e->helper.self = pthread_self();
  e->helper.delivers = true;
  tmb_lock_release(&e->lock);
  const int found = e->up->thread_work();
  udp_engine_lock(e);
  e->helper.delivers = false;
  e->kept.threads--;
  if (found & TMB_FOUND_WORK) {
    udp_push_all(e, true, true);
    ring_doorbell(e);
  }
  return found;
}

static void silence_doorbell(struct tmb_net *e) {
  uint64_t count;
  e->helper.doorbell_rung = read(e->helper.doorbell_fd, &count, sizeof count) < 0 && errno == EINTR;
}

/* Work of the progress thread in the client's place: all but to deliver messages outside of
 * `serve`: TMB_SERVE_THREAD or TMB_SERVE_NOTHING. */
static void stand_in(struct tmb_net *e, struct udp_batch *b, int serve) TMB_REQUIRES(e->lock);

static void stand_in(struct tmb_net *e, struct udp_batch *b, int serve) {
  if (e->out.count) udp_out_held(e);
  b->in.count = 0;
  if (serve == TMB_SERVE_NOTHING || !e->kept.by_thread || !udp_deliver_kept(e, b, serve)) {
    e->io.ops->recv(e->io.state, &b->in, true);
    e->in.more = b->in.more;
  }
  udp_batch_take(e, b);
  udp_deliver_hold(e, b, serve);
  udp_push_all(e, true, b->count == 0);
  if (b->in.count || e->done.count || e->kept.first || e->in.signalled) ring_doorbell(e);
}

/* The progress thread waits, in a handler, for room for a reply. */
static int wait_in_handler(struct tmb_net *e) {
  if (tmb_load_rlx(&e->helper.ends)) return TMB_E_SYS;
  if (!udp_engine_try(e)) return TMB_FOUND_BUSY;
  struct udp_batch *b = udp_batch_get(e);
  stand_in(e, b, TMB_SERVE_NOTHING);
  udp_batch_put(e, b);
  tmb_lock_release(&e->lock);
  return TMB_FOUND_NOTHING;
}

/* Whether busy peers are to be served before handlers run. Where there are handlers to run, and
 * nothing to send but acknowledgements, that is left to the next call: this rank waits for an
 * answer then. in left: the last call has left it, too. */
static bool must_push(const struct tmb_net *e, const struct udp_batch *b, bool left) {
  if (e->time.now_ns >= e->time.next_ns || e->out.count) return true;
  if (b->count) return left || e->peers.waits;
  return b->in.count || e->peers.dirty;
}

int udp_progress(struct tmb_net *e, int serve) {
  if (TMB_UNLIKELY(serve == TMB_SERVE_NOTHING)) return wait_in_handler(e);
  if (!udp_engine_try(e)) return TMB_FOUND_BUSY;
  e->time.tick++;
  const bool left = e->peers.dirty;
  if (TMB_UNLIKELY(e->helper.doorbell_rung)) silence_doorbell(e);
  if (TMB_UNLIKELY(e->out.count)) udp_out_held(e);
  struct udp_batch *b = udp_batch_get(e);
  e->in.signalled = false;
  b->in.count = 0;
  if (TMB_LIKELY(!e->kept.first) || !udp_deliver_kept(e, b, serve)) {
    e->io.ops->recv(e->io.state, &b->in, e->in.flood);
    e->in.flood = b->in.count > 0;
    e->in.more = b->in.more;
  }
  udp_batch_take(e, b);
  if (TMB_UNLIKELY(serve != TMB_SERVE_ALL)) udp_deliver_hold(e, b, serve);
  if (must_push(e, b, left)) udp_push_all(e, false, b->count == 0);
  /* Packets that only show that a peer lives, or that came before, are no work: a wait goes on. */
  const bool found = b->count || e->done.count || e->in.moved;
  e->in.moved = false;
  if (b->count) hand_up(e, b);
  udp_batch_put(e, b);
  udp_engine_unlock(e);
  return found ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
}

uint32_t udp_wait_fds(struct tmb_net *e, struct pollfd *fds, uint32_t max, uint64_t *timeout_ns) {
  udp_engine_lock(e);
  udp_push_all(e, true, true);
  const uint64_t left = e->time.next_ns > e->time.now_ns ? e->time.next_ns - e->time.now_ns : 0;
  if (left < *timeout_ns) *timeout_ns = left;
  if (e->kept.first || e->done.count || e->in.more || e->in.signalled) *timeout_ns = 0;
  e->time.wait_tick = e->time.tick;
  uint32_t count = e->io.ops->fds(e->io.state, fds, max);
  if (e->helper.doorbell_fd >= 0 && count < max)
    fds[count++] = (struct pollfd){.fd = e->helper.doorbell_fd, .events = POLLIN};
  else if (max)
    *timeout_ns = TMB_MIN(*timeout_ns, (uint64_t)BLIND_NS);
  udp_engine_unlock(e);
  return count;
}

/* Whether the client sleeps on the socket. It has asked for descriptors, and at most polled once
 * more since; but it may compute after that poll, and not sleep. One that sleeps wakes when a timer
 * is due or a datagram comes. */
static bool is_asleep(struct tmb_net *e) {
  if (!e->time.wait_tick || e->time.tick > e->time.wait_tick + 1 ||
      e->time.now_ns >= e->time.next_ns + LATE_NS)
    return false;
  struct pollfd fds[UDP_FDS_MAX];
  return poll(fds, e->io.ops->fds(e->io.state, fds, UDP_FDS_MAX), 0) <= 0;
}

bool udp_tend(struct tmb_net *e, uint64_t tick, uint64_t *ns) {
  if (!udp_engine_try(e)) return false;
  if (e->time.tick != tick || is_asleep(e)) {
    tmb_lock_release(&e->lock);
    return false;
  }
  struct udp_batch *b = udp_batch_get(e);
  stand_in(e, b, TMB_SERVE_THREAD);
  if (b->count) hand_up_by_thread(e, b);
  const int found = work_by_thread(e);
  if (found & TMB_FOUND_BUSY) *ns = found & TMB_FOUND_WORK ? 0 : TMB_MIN(*ns, (uint64_t)ROOM_NS);
  if (e->time.next_ns <= e->time.now_ns || e->in.more || e->kept.by_thread)
    *ns = 0;
  else if (e->time.next_ns - e->time.now_ns < *ns)
    *ns = e->time.next_ns - e->time.now_ns;
  udp_batch_put(e, b);
  tmb_lock_release(&e->lock); /* completions wait for the client */
  return true;
}

bool udp_busy_transfers(const struct tmb_net *e) {
  const uint64_t now = e->io.ops->now(e->io.state);
  return now - tmb_load_rlx(&e->helper.bulk_ns) < BULK_NS;
}

bool udp_drained(struct tmb_net *e) {
  udp_engine_lock(e);
  udp_push_all(e, true, true);
  bool drained = true;
  for (const struct udp_peer *p = e->peers.busy; p && drained; p = p->next_busy) {
    if (p->tx.una != p->tx.next || p->gather.buf || p->bulk.first) drained = false;
    if (p->ack.now || p->ack.due_ns != UINT64_MAX) {
      udp_ack_send(e, e->peers.of[p->rank], 0);
    }
  }
  udp_out_flush(e);
  udp_engine_unlock(e);
  return drained;
}
