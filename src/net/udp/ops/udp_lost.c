/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that do not answer, and the leftovers of one that is lost.
 *
 * Owns nothing. Called by udp.c, udp_open.c, udp_progress.c. Calls the parts that keep something
 * for a peer, to free it. A peer that owes an answer is asked again, and reported to core after the
 * time-out. Before that each host is asked, and net/plugin/verdict.h says whether the peer is lost
 * or this rank's own host is cut off. Where two hosts lose only each other, the one with the higher
 * number waits longer, so that the other reports it. Invariant: a lost peer keeps its struct,
 * empty, so that nothing is sent to it or taken from it again.
 */
#include "net/udp/ops/udp_engine.h"

#include "base/container/list.h"
#include "base/error.h"
#include "net/plugin/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Time after which a peer is lost. Chosen, not measured. */
#define REFUSED_NS 2000000000u /* in which the notice of a regular end would have come */
#define FALL_BACK_NS \
 500000000u                  /* after which a peer that was never heard is asked by connection \ */
#define KEEP_NS  1000000000u /* between searches for silent peers */
#define STALL_NS 200000000u  /* a peer that has acknowledged nothing for so long does not answer */

static void free_parts(struct tmb_net *e, struct udp_peer *p) {
  while (p->in.parts) {
    struct udp_parts *t = TMB_LIST_POP(&p->in.parts);
    if (t->buf) udp_buf_put(e, t->buf);
    free(t);
  }
  udp_pieces_free(p);
  while (p->in.late) free(TMB_LIST_POP(&p->in.late));
}

/* Transfers of which all packets are made belong to their slots. */
static void free_slots(struct tmb_net *e, struct udp_peer *p) {
  for (uint64_t n = p->tx.una; n < p->tx.next; n++) {
    struct udp_slot *slot = udp_tx_slot(&p->tx, n);
    if (slot->state != UDP_SLOT_SENT && slot->state != UDP_SLOT_LOST) continue;
    struct udp_xfer *x = slot->xfer;
    udp_buf_put(e, slot->buf);
    udp_pending_drop(e, &slot->pending);
    slot->state = UDP_SLOT_FREE;
    if (x && --x->unacked == 0 && x->ended) udp_xfer_free(e, p, x);
  }
  p->tx.una = p->tx.next;
  for (uint32_t r = 0; r < p->tx.rails; r++) p->tx.rail[r].in_flight = 0;
  p->tx.lost = 0;
}

static void drop_all(struct tmb_net *e, struct udp_peer *p) {
  free_slots(e, p);
  while (p->bulk.first) udp_xfer_free(e, p, TMB_LIST_POP(&p->bulk.first));
  while (p->bulk.passing) udp_xfer_free(e, p, TMB_LIST_POP(&p->bulk.passing));
  udp_pending_drop(e, &p->gather.pending);
  udp_pending_drop(e, &p->gather.passing);
  free_parts(e, p);
  if (p->gather.buf) udp_buf_put(e, p->gather.buf);
  p->gather.buf = NULL;
  p->gather.tail = p->gather.count = 0;
  p->ack.now = false;
  p->ack.due_ns = UINT64_MAX;
  p->detect_ns = UINT64_MAX;
  p->life.asked_ns = 0;
}

void udp_peer_free(struct tmb_net *e, struct udp_peer *p) {
  drop_all(e, p);
  udp_tx_close(&p->tx);
  e->peers.of[p->rank] = NULL;
  free(p);
}

int udp_peer_lost(struct tmb_net *e, uint32_t rank) {
  udp_engine_lock(e);
  struct udp_peer *p = udp_peer_get(e, rank);
  udp_out_flush(e);
  if (!p->lost) {
    p->lost = true;
    drop_all(e, p);
    for (uint32_t i = 0; i < e->gets.count; i++)
      if (e->gets.list[i].used && e->gets.list[i].peer == rank) udp_get_end(e, i);
  }
  bool held = e->kept.threads > 0;
  for (const struct udp_held *h = e->kept.first; h && !held; h = h->next)
    held = h->delivery.peer == p;
  udp_engine_unlock(e);
  return held ? TMB_AGAIN : 0;
}

/* ---- peers that do not answer */

static void report_lost(struct tmb_net *e, struct udp_peer *p, const char *why) {
  if (p->life.loss_reported) return;
  p->life.loss_reported = true;
  udp_done_add(e, &(struct udp_done){.peer = p->rank, .lost = why});
}

void udp_vain_add(const struct tmb_net *e, const struct udp_peer *p, struct udp_vain *v) {
  if (p->lost) return;
  if (p->tx.una == p->tx.next && !p->credit.starved && !p->bulk.first && !p->life.asked_ns) return;
  v->count += e->time.now_ns - p->life.vain_ns > STALL_NS;
  if (!v->longest || p->life.heard_ns < v->longest->life.heard_ns) v->longest = p;
}

void udp_vain_note(struct tmb_net *e, const struct udp_vain *v) {
  tmb_store_rlx(&e->stats->stalled, v->longest ? (uint64_t)v->longest->rank + 1 : 0);
  if (v->longest) tmb_store_rlx(&e->stats->stalled_heard_ns, v->longest->life.heard_ns);
  tmb_store_rlx(&e->stats->stalled_count, v->count);
  tmb_store_rlx(&e->stats->looked_ns, e->time.now_ns);
  tmb_store_rlx(&e->stats->heard_ns, e->peers.heard_ns);
}

/* ---- whose host is cut off, see net/plugin/verdict.h */

static struct tmb_verdict verdict_new(const struct tmb_net *e) {
  struct tmb_verdict v;
  if (!tmb_verdict_make(&v, e->host_of, e->hosts, e->rank))
    e->up->fatal("no memory for the states of %u hosts", e->hosts);
  return v;
}

/* Ask each host, by all ranks that are known and at least one. */
static void survey(struct tmb_net *e) {
  const uint64_t now = e->time.now_ns, every = e->config.peer_timeout_ns / TMB_SURVEY_EVERY;
  if (now < e->peers.ask_ns) return;
  if (!e->peers.ask_ns || now - e->peers.ask_ns > e->config.peer_timeout_ns)
    e->peers.survey_ns = now;
  e->peers.ask_ns = now + every;
  struct tmb_verdict v = verdict_new(e);
  for (uint32_t i = 0; i < e->size; i++)
    if (e->peers.of[i]) tmb_verdict_note(&v, i, TMB_HOST_HEARD);
  for (uint32_t i = 0; i < e->size; i++) {
    const bool first = tmb_verdict_note(&v, i, TMB_HOST_HEARD);
    if (e->host_of[i] == e->host_of[e->rank] || (!e->peers.of[i] && !first)) continue;
    struct udp_peer *p = udp_peer_get(e, i);
    if (!p->lost) udp_ack_send(e, p, UDP_ACK_NOW);
  }
  tmb_verdict_free(&v);
}

static enum tmb_host_state state_of(const struct tmb_net *e, const struct udp_peer *p) {
  if (p->lost) return TMB_HOST_LOST;
  const uint64_t recent_ns = e->config.peer_timeout_ns / TMB_SURVEY_AT;
  return p->life.spoken && e->time.now_ns - p->life.heard_ns < recent_ns ? TMB_HOST_HEARD
                                                                         : TMB_HOST_SILENT;
}

/* Whether this rank, not its peers, is the one that is cut off. */
static bool is_cut_off(const struct tmb_net *e) {
  struct tmb_verdict v = verdict_new(e);
  for (uint32_t i = 0; i < e->size; i++)
    if (e->peers.of[i]) tmb_verdict_note(&v, i, state_of(e, e->peers.of[i]));
  const bool cut_off = tmb_verdict_cut_off(&v);
  tmb_verdict_free(&v);
  return cut_off;
}

/* A peer owes an answer for this time. */
static void judge(struct tmb_net *e, struct udp_peer *p, uint64_t silent_ns) {
  const uint64_t limit = e->config.peer_timeout_ns, part = limit / TMB_SURVEY_LEAST;
  const uint64_t longer = e->host_of[e->rank] > e->host_of[p->rank] ? part : 0;
  if (silent_ns > limit / TMB_SURVEY_AT) survey(e);
  if (silent_ns < limit || silent_ns - limit < longer) return;
  if (e->time.now_ns - e->peers.survey_ns < part) return;
  if (!is_cut_off(e)) {
    report_lost(e, p, "it has not answered for TOMBOLO_PEER_TIMEOUT");
  } else if (!e->peers.cut_off) {
    e->peers.cut_off = true;
    udp_done_add(e, &(struct udp_done){.peer = e->rank, .lost = TMB_CUT_OFF_WHY});
  }
}

void udp_peer_asked(struct tmb_net *e, struct udp_peer *p) {
  if (!p->life.asked_ns) p->life.asked_ns = e->time.now_ns;
  if (!p->life.vain_ns) p->life.vain_ns = e->time.now_ns;
  if (!p->life.heard && e->io.ops->fall_back && e->time.now_ns - p->life.asked_ns > FALL_BACK_NS)
    e->io.ops->fall_back(e->io.state, p->rank);
  if (e->io.ops->refused(e->io.state, p->rank) && !p->life.refused_ns)
    p->life.refused_ns = e->time.now_ns;
  if (p->life.refused_ns && e->time.now_ns - p->life.refused_ns > REFUSED_NS)
    report_lost(e, p, "its host says that nobody listens at its port");
  else if (e->config.peer_timeout_ns)
    judge(e, p, e->time.now_ns - p->life.asked_ns);
}

void udp_peer_keep(struct tmb_net *e) {
  const uint64_t limit = e->config.peer_timeout_ns;
  e->peers.keep_ns =
      e->time.now_ns + (limit ? TMB_MIN((uint64_t)KEEP_NS, limit / TMB_SURVEY_EVERY) : KEEP_NS);
  if (!limit) return;
  for (uint32_t i = 0; i < e->size; i++) {
    struct udp_peer *p = e->peers.of[i];
    if (!p || p->lost || e->time.now_ns - p->life.heard_ns < limit / 4) continue;
    udp_peer_asked(e, p);
    udp_peer_busy(e, p); /* until it answers: a rank that only waits shows it, too */
    udp_ack_send(e, p, UDP_ACK_NOW);
  }
}

void udp_peer_explain(struct tmb_net *e, uint32_t rank, char *text, size_t bytes) {
  const struct udp_peer *p = tmb_load_acq(&e->peers.of[rank]);
  if (!p) {
    snprintf(text, bytes, "udp: nothing sent or received");
    return;
  }
  const uint64_t now = e->io.ops->now(e->io.state);
  const struct udp_rail *main = &p->tx.rail[p->tx.main];
  snprintf(text, bytes,
           "udp: %" PRIu64 " packets not acknowledged (%" PRIu64 " bytes, window %" PRIu64
           "), %u to be sent again, %u time-outs in a row, round trip %" PRIu64
           " us, last heard %" PRIu64 " ms ago%s%s",
           p->tx.next - p->tx.una, main->in_flight, main->cc.window, p->tx.lost, main->timeouts,
           main->srtt_ns / 1000, (now - p->life.heard_ns) / 1000000,
           p->bulk.first ? ", transfers wait" : "", p->lost ? ", lost" : "");
}
