/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that have fallen silent, see ofi_silent.h.
 *
 * Owns nothing beyond the engine. Called by ofi.c, ofi_progress.c and ofi_receive.c. Calls:
 * libfabric by its table, ofi_pool.c, ofi_send.c. A question is a send of its own buffer with a
 * completion: until the provider has completed it no time counts, because a full pipe is not
 * silence. The exception is a peer that the provider has never taken anything for: it cannot be
 * connected to, and then the time counts from the first try. ofi_rxd is another exception: it
 * completes a send when the peer's process has taken it, so a question counts from the first try
 * and its completion is life. Invariant: a peer that is not heard of has one question in progress
 * at most.
 */
#include "net/ofi/ofi_silent.h"
#include "net/ofi/ofi_rma.h"
#include "net/plugin/verdict.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

/* Limits after which a silent peer is lost. Chosen so that one behind a link of 1 Mbit/s is not. */
#define LOOKS_MIN     10                   /* polls before a peer is judged */
#define QUESTIONS_MAX 256                  /* in flight */
#define TIMEOUT_MIN   UINT64_C(5000000000) /* ns */
#define DRAIN_MAX     (UINT64_C(4) << 20)  /* bytes that a kernel keeps of a connection */
#define DRAIN_BYTE_NS 8000                 /* of the slowest link, 1 Mbit/s */

/* ---- opening */

bool ofi_silent_make(struct tmb_net *net) {
  struct ofi_silent *s = &net->silent;
  if (!net->timeout_ns) return true;
  s->timeout_ns = TMB_MAX(net->timeout_ns, TIMEOUT_MIN);
  s->by_peer = ofi_is_rxd(net);
  return ofi_pool_make(&s->questions, TMB_MIN(net->env.size, (uint32_t)QUESTIONS_MAX),
                       sizeof(struct ofi_head), OFI_USE_QUESTION);
}

bool ofi_silent_agree(struct tmb_net *net, bool good, bool answers) {
  const uint8_t mine = (uint8_t)(good | answers << 1);
  uint8_t *const all = net->silent.answers;
  net->env.allgather(net->env.ctx, &mine, 1, all);
  for (uint32_t i = 0; i < net->env.size; i++) {
    good = good && (all[i] & 1);
    all[i] >>= 1;
  }
  return good;
}

/* ---- questions */

/* Hand a question to the provider. Returns libfabric's result. */
static ssize_t question(struct tmb_net *net, uint32_t peer) {
  struct ofi_buffer *b = ofi_pool_take(&net->silent.questions, 0);
  if (!b) return -FI_EAGAIN;
  *ofi_head_of(b) = (struct ofi_head){
      .token = net->token, .src = net->env.rank, .kind = OFI_PROBE, .is_reply = 1};
  b->op.peer = peer;
  const struct iovec part = {b->data, sizeof(struct ofi_head)};
  const struct fi_msg message = {.msg_iov = &part,
                                 .desc = &b->pool->desc,
                                 .iov_count = 1,
                                 .addr = net->rail[0].addr[peer],
                                 .context = b};
  const ssize_t rc = net->calls->send(net->rail[0].ep, &message);
  if (rc) ofi_buffer_put(b);
  return rc;
}

/* From now on time counts. */
static void asked(struct ofi_life *life, uint64_t now) {
  life->state = OFI_ASKED;
  life->asked_ns = now;
  life->looks = 0;
}

static void ask(struct tmb_net *net, uint32_t peer, struct ofi_peer *p, uint64_t now) {
  struct ofi_life *life = &p->life;
  const ssize_t rc = question(net, peer);
  if (net->silent.by_peer && (rc == 0 || rc == -FI_EAGAIN || rc == -FI_ENOMEM)) {
    if (life->state == OFI_CALM) asked(life, now);
  } else if (rc == 0)
    life->state = OFI_ASKING;
  else if (rc != -FI_EAGAIN && rc != -FI_ENOMEM)
    ofi_peer_break(net, peer, (int)-rc);
  else if (!life->reached && life->state == OFI_CALM)
    asked(life, now);
}

void ofi_silent_sent(struct tmb_net *net, struct ofi_op *op, int error) {
  const uint32_t peer = op->peer;
  struct ofi_peer *p = ofi_peer_of(net, peer);
  ofi_buffer_put(ofi_buffer_of(op));
  p->life.reached = true;
  if (net->silent.by_peer)
    p->life.heard = p->life.heard || !error;
  else
    asked(&p->life, tmb_os_now_ns());
  if (error) ofi_peer_break(net, peer, error);
}

/* ---- looks */

/* Whether this rank waits for something of a peer. */
static bool expects(const struct ofi_peer *p) {
  return p->flying || p->accesses || p->asking || !p->life.reached;
}

/* For `tombolo why`: from whom this rank gets no answer, and when it last heard anybody. */
static void note_stalled(const struct tmb_net *net, uint64_t now) {
  struct tmb_net_stats *stats = net->env.stats;
  uint64_t count = 0, heard_ns = 0;
  uint32_t longest = net->env.rank;
  for (uint32_t i = 0; i < net->env.size; i++) {
    const struct ofi_peer *p = net->peers.of[i];
    if (!p || i == net->env.rank) continue;
    heard_ns = TMB_MAX(heard_ns, p->life.spoke_ns);
    if (p->life.state != OFI_ASKED || p->broken || p->lost_ns) continue;
    count++;
    if (longest == net->env.rank || p->life.heard_ns < net->peers.of[longest]->life.heard_ns)
      longest = i;
  }
  tmb_store_rlx(&stats->stalled, count ? (uint64_t)longest + 1 : 0);
  if (count) tmb_store_rlx(&stats->stalled_heard_ns, net->peers.of[longest]->life.heard_ns);
  tmb_store_rlx(&stats->stalled_count, count);
  tmb_store_rlx(&stats->looked_ns, now);
  tmb_store_rlx(&stats->heard_ns, heard_ns);
}

/* How long the question may lie behind accesses of this rank, and its answer behind those of a peer
 * that knows memory of this rank: an access is complete when all of it is, and says nothing before.
 */
static uint64_t drain_ns(const struct tmb_net *net, uint32_t peer) {
  uint64_t bytes = (uint64_t)net->peers.of[peer]->flying * OFI_UNIT;
  for (uint32_t i = 0; i < OFI_ACCESSES && bytes < DRAIN_MAX; i++) {
    const struct ofi_access *a = &net->access.all[i];
    if (a->parts && a->op.peer == peer) bytes += TMB_MIN(a->nbytes, DRAIN_MAX);
  }
  const uint64_t theirs = net->peers.of[peer]->informed ? DRAIN_MAX : 0;
  return (TMB_MIN(bytes, DRAIN_MAX) + theirs) * DRAIN_BYTE_NS;
}

/* ---- whose host is cut off, see net/plugin/verdict.h */

static struct tmb_verdict verdict_new(struct tmb_net *net) {
  struct tmb_verdict v;
  if (!tmb_verdict_make(&v, net->env.host_of, net->env.hosts, net->env.rank))
    ofi_fatal(net, "the states of hosts cannot be kept", 0);
  return v;
}

/* From time to time, ask each host, by all ranks that are known and at least one that answers. */
static void survey(struct tmb_net *net, uint64_t now) {
  struct ofi_silent *s = &net->silent;
  if (s->survey_last_ns && now - s->survey_last_ns < s->timeout_ns / TMB_SURVEY_EVERY) return;
  if (!s->survey_last_ns || now - s->survey_last_ns > s->timeout_ns) s->survey_ns = now;
  s->survey_last_ns = now;
  struct tmb_verdict v = verdict_new(net);
  for (uint32_t i = 0; i < net->env.size; i++)
    if (net->peers.of[i]) tmb_verdict_note(&v, i, TMB_HOST_HEARD);
  for (uint32_t i = 0; i < net->env.size; i++) {
    if (net->env.host_of[i] == net->env.host || !s->answers[i]) continue;
    const bool first = tmb_verdict_note(&v, i, TMB_HOST_HEARD);
    if (!net->peers.of[i] && !first) continue;
    struct ofi_peer *p = ofi_peer_of(net, i);
    if (!p->broken && p->life.state == OFI_CALM) ask(net, i, p, now);
  }
  tmb_verdict_free(&v);
}

static enum tmb_host_state state_of(const struct ofi_silent *s, const struct ofi_peer *p,
                                    uint64_t now) {
  if (p->lost_ns) return TMB_HOST_LOST;
  const bool recent = p->life.spoke_ns && now - p->life.spoke_ns < s->timeout_ns / TMB_SURVEY_AT;
  return recent && !p->broken ? TMB_HOST_HEARD : TMB_HOST_SILENT;
}

static bool is_cut_off(struct tmb_net *net) {
  const uint64_t now = tmb_os_now_ns();
  struct tmb_verdict v = verdict_new(net);
  for (uint32_t i = 0; i < net->env.size; i++) {
    const struct ofi_peer *p = net->peers.of[i];
    if (!p || i == net->env.rank) continue;
    const enum tmb_host_state state = state_of(&net->silent, p, now);
    if (net->silent.answers[i] || state != TMB_HOST_SILENT) tmb_verdict_note(&v, i, state);
  }
  const bool cut_off = tmb_verdict_cut_off(&v);
  tmb_verdict_free(&v);
  return cut_off;
}

static void note_cut_off(struct tmb_net *net) {
  if (net->silent.cut_off) return;
  net->silent.cut_off = true;
  net->peers.broken++; /* until it is reported */
}

/* ---- judgement */

/* Whether a peer that was asked has had its time, and all hosts have had theirs. */
static bool is_due(struct tmb_net *net, uint32_t peer, const struct ofi_life *life, uint64_t now) {
  const uint64_t limit = net->silent.timeout_ns, part = limit / TMB_SURVEY_LEAST;
  const uint64_t longer = net->env.host > net->env.host_of[peer] ? part : 0;
  return life->looks >= LOOKS_MIN && now - net->silent.survey_ns >= part &&
         now - life->asked_ns >= limit + longer + drain_ns(net, peer);
}

/* One check of a peer that was asked. Returns whether it is silent, or this rank is cut off. */
static bool judge(struct tmb_net *net, uint32_t peer, struct ofi_peer *p, uint64_t now) {
  struct ofi_life *life = &p->life;
  if (life->looks < LOOKS_MIN) life->looks++;
  if (now - life->asked_ns >= net->silent.timeout_ns / TMB_SURVEY_AT) survey(net, now);
  if (!is_due(net, peer, life, now)) {
    if (!life->reached) ask(net, peer, p, now);
    return false;
  }
  if (is_cut_off(net)) {
    note_cut_off(net);
  } else {
    life->silent = true;
    ofi_peer_break(net, peer, FI_ETIMEDOUT);
  }
  return true;
}

/* One check of a peer. Returns as judge. */
static bool look_at(struct tmb_net *net, uint32_t peer, struct ofi_peer *p, uint64_t now) {
  struct ofi_life *life = &p->life;
  if (life->heard) life->spoke_ns = now;
  if (p->broken && p->broken_ns) survey(net, now);
  if (peer == net->env.rank || p->broken || p->lost_ns || !net->silent.answers[peer]) return false;
  if (life->heard || !life->heard_ns || !expects(p)) {
    life->heard = false;
    life->heard_ns = now;
    if (life->state == OFI_ASKED) life->state = OFI_CALM;
  } else if (life->state == OFI_ASKED) {
    return judge(net, peer, p, now);
  } else if (life->state == OFI_CALM && now - life->heard_ns >= net->silent.timeout_ns / 2) {
    ask(net, peer, p, now);
  }
  return false;
}

bool ofi_silent_look(struct tmb_net *net) {
  struct ofi_silent *s = &net->silent;
  bool found = false;
  if (!s->timeout_ns || net->cq.count) return false; /* not all is read that has come */
  const uint64_t now = tmb_os_now_ns();
  if (now < s->look_ns) return false;
  s->look_ns = now + s->timeout_ns / LOOKS_MIN;
  for (uint32_t i = 0; i < net->env.size; i++)
    if (net->peers.of[i]) found = look_at(net, i, net->peers.of[i], now) || found;
  note_stalled(net, now);
  return found;
}

/* ---- the other side */

bool ofi_silent_full(struct tmb_net *net) {
  struct ofi_silent *s = &net->silent;
  if (!s->timeout_ns) return false;
  const uint64_t now = tmb_os_now_ns();
  if (now < s->full_ns) return false;
  s->full_ns = now + s->timeout_ns / 4;
  for (uint32_t i = 0; i < net->env.size; i++) {
    struct ofi_peer *p = net->peers.of[i];
    if (!p || p->broken) continue;
    p->life.answer_due = true;
    ofi_send_later(net, i);
  }
  (void)ofi_send_rest(net);
  return true;
}

bool ofi_silent_blames(struct tmb_net *net, const struct ofi_peer *p) {
  struct ofi_silent *s = &net->silent;
  if (s->timeout_ns && !p->life.silent && is_cut_off(net)) note_cut_off(net);
  return !s->cut_off;
}

const char *ofi_silent_why(const struct tmb_net *net, const struct ofi_peer *p) {
  return p->life.silent ? "it has not answered for TOMBOLO_PEER_TIMEOUT"
                        : net->calls->error(p->error);
}
