/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: which of several paths to a peer a packet takes, and rails that carry nothing any more.
 *
 * Owns nothing. Called by the other parts of the engine. Calls the window. All but long transfers
 * take one rail, the main one. A rail is used beside it once it has carried a packet of the length
 * that is used, which is tried when transfers wait for the window. A packet of a transfer takes the
 * rail on which it would arrive first. When nothing of a rail has been acknowledged for a time-out
 * all that is in flight there counts as lost and takes another rail; after three it is not used
 * until it carries something again. One interface may have a connection (TCP) beside it: a rail
 * that long transfers take as soon as it has carried a packet. Nothing else takes it, because the
 * kernel moves long packets through it at half the cost of datagrams of 1500 bytes. Invariant: with
 * one rail nothing here changes anything.
 */
#include "net/udp/ops/udp_engine.h"

/* Chosen; STREAM_AFTER: docs/DECISIONS/0083 has the measurements. */
#define TIMEOUTS_MAX  3u /* in a row, after which a rail is left */
#define STREAM_TRIES  4u /* of a packet by a connection, which is made again each time */
/* Chosen, not measured. */
#define STREAM_BREAKS 4u          /* in a row, after which datagrams carry everything */
#define STREAM_CLEAN  (16u << 20) /* bytes that end the row */
#define REST_NS       1000000000u /* until the connection is tried again, at first */
#define REST_SHIFT    6u          /* doublings of it, at most */
#define RUN_BYTES     32768u      /* on one rail before another is looked for */
#define STREAM_AFTER  (2u << 20)  /* bytes of transfers that go as datagrams first */
#define ASK_NS        20000000u   /* between questions whether a rail carries anything, at first */
#define ASK_SHIFT     8u          /* doublings of it, at most */

/* Whether packets may be sent on a rail beside others. */
static bool is_usable(const struct udp_peer *p, uint32_t r) {
  const struct udp_rail *rail = &p->tx.rail[r];
  return rail->timeouts == 0 && (r == p->tx.main || rail->carries >= p->mtu.bytes);
}

static bool has_room(const struct udp_rail *rail) {
  return rail->in_flight < rail->cc.window;
}

/* ---- the connection: a rail of its own kind, for long transfers, where there is one other rail */

/* The connection has lost packets too often. */
static bool rests(const struct tmb_net *e, const struct udp_peer *p) {
  return e->time.now_ns < p->bulk.rest_ns;
}

void udp_rail_broke(const struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot) {
  struct udp_bulk *b = &p->bulk;
  if (slot->sent_ns < b->break_ns) return;
  if (b->streamed >= STREAM_CLEAN) b->breaks = 0;
  b->break_ns = e->time.now_ns;
  b->streamed = 0;
  if (++b->breaks < STREAM_BREAKS) return;
  const uint32_t shift = TMB_MIN(b->breaks - STREAM_BREAKS, REST_SHIFT);
  b->rest_ns = e->time.now_ns + ((uint64_t)REST_NS << shift);
}

/* Whether the first of the transfers is to take the connection, if that works. Datagrams go first:
 * where they fill the link of this host a connection carries no more, and takes more of the
 * processor's time from a client that computes. */
static bool wants_stream(const struct tmb_net *e, const struct udp_peer *p) {
  const bool tried = p->bulk.bytes >= STREAM_AFTER || p->tx.rail[p->tx.main].timeouts;
  return e->io.has_stream && p->bulk.first && p->bulk.first->total >= e->config.stream_min &&
         tried && !p->bulk.fills_link && !rests(e, p);
}

bool udp_rail_streams(const struct tmb_net *e, const struct udp_peer *p) {
  if (!wants_stream(e, p)) return false;
  const struct udp_rail *rail = &p->tx.rail[e->io.rails];
  return rail->carries && !rail->timeouts;
}

/* ---- rails of datagrams */

/* Time until a packet arrives that is sent now. */
static double arrival_ns(const struct udp_rail *rail) {
  const double half = rail->min_rtt_ns == UINT64_MAX ? 0 : (double)rail->min_rtt_ns / 2;
  return half + (rail->rate ? (double)rail->in_flight * 1e9 / (double)rail->rate : 0);
}

/* Among several: the best one that is open, or UDP_NO_RAIL; lowers *due_ns to the time at which a
 * paced one opens. */
static uint32_t best(const struct tmb_net *e, const struct udp_peer *p, uint64_t *due_ns) {
  uint32_t found = UDP_NO_RAIL;
  for (uint32_t r = 0; r < p->tx.rails; r++) {
    const struct udp_rail *rail = &p->tx.rail[r];
    if (!is_usable(p, r) || !has_room(rail)) continue;
    if (udp_cc_waits(&rail->cc, e->time.now_ns)) {
      if (rail->cc.next_ns < *due_ns) *due_ns = rail->cc.next_ns;
      continue;
    }
    if (found == UDP_NO_RAIL || arrival_ns(rail) < arrival_ns(&p->tx.rail[found])) found = r;
  }
  return found;
}

uint32_t udp_rail_bulk(struct tmb_net *e, struct udp_peer *p, uint64_t *due_ns) {
  struct udp_rail *rail = &p->tx.rail[p->bulk.rail];
  const bool waits = udp_cc_waits(&rail->cc, e->time.now_ns);
  if (udp_rail_streams(e, p)) return has_room(&p->tx.rail[e->io.rails]) ? e->io.rails : UDP_NO_RAIL;
  if (TMB_LIKELY(e->io.rails == 1)) {
    if (!has_room(rail)) return UDP_NO_RAIL;
    if (!waits) return 0;
    *due_ns = rail->cc.next_ns;
    return UDP_NO_RAIL;
  }
  const bool stays = p->bulk.run < RUN_BYTES && has_room(rail) && !waits;
  if (stays && is_usable(p, p->bulk.rail)) return p->bulk.rail;
  uint32_t r = best(e, p, due_ns);
  if (r == UDP_NO_RAIL) {
    /* Something has to be in flight, so that a time-out can come. */
    if (*due_ns != UINT64_MAX || udp_tx_main(&p->tx)->in_flight) return r;
    r = p->tx.main;
  }
  p->bulk.rail = r;
  p->bulk.run = 0;
  return r;
}

uint32_t udp_rail_again(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot) {
  struct udp_tx *tx = &p->tx;
  const uint32_t tries = slot->tries;
  if (udp_rail_is_stream(e, slot->rail) && tries < STREAM_TRIES && tx->rail[slot->rail].carries &&
      !rests(e, p))
    return slot->rail;
  if (TMB_LIKELY(e->io.rails == 1)) return 0;
  uint64_t due_ns;
  const uint32_t r = best(e, p, &due_ns);
  if (r != UDP_NO_RAIL) return r;
  return udp_tx_main(tx)->timeouts ? (tx->main + tries) % tx->rails : tx->main;
}

void udp_rail_set_bytes(const struct tmb_net *e, struct udp_peer *p) {
  for (uint32_t r = 0; r < e->io.rails; r++) p->tx.rail[r].cc.packet_bytes = p->mtu.bytes;
}

bool udp_rail_open(struct tmb_net *e, struct udp_peer *p, const struct udp_slot *slot) {
  if (TMB_UNLIKELY(e->io.has_stream)) {
    const struct udp_rail *rail = &p->tx.rail[udp_rail_again(e, p, slot)];
    return !rail->in_flight || has_room(rail);
  }
  for (uint32_t r = 0; r < p->tx.rails; r++)
    if (p->tx.rail[r].in_flight < p->tx.rail[r].cc.window && is_usable(p, r)) return true;
  const struct udp_rail *main = &p->tx.rail[p->tx.main];
  return !main->in_flight || main->in_flight < main->cc.window;
}

/* ---- rails that fail, and that work again */

/* Another rail on which the peer has been heard, or that is known to carry packets. */
static uint32_t other(const struct tmb_net *e, const struct udp_peer *p, uint32_t failed) {
  const uint32_t heard = p->life.rail;
  if (heard != failed && heard < e->io.rails && !p->tx.rail[heard].timeouts) return heard;
  for (uint32_t r = 0; r < e->io.rails; r++)
    if (r != failed && p->tx.rail[r].carries && !p->tx.rail[r].timeouts) return r;
  return UDP_NO_RAIL;
}

static void give_up(struct tmb_net *e, struct udp_peer *p, uint32_t r) {
  const bool streams = udp_rail_is_stream(e, r);
  const uint32_t next = streams ? p->tx.main : other(e, p, r);
  if (next == UDP_NO_RAIL) return; /* the peer, not a rail */
  struct udp_rail *rail = &p->tx.rail[r];
  if (r != p->tx.main && !rail->carries) return; /* done before */
  rail->carries = 0;
  rail->ask_ns = e->time.now_ns + ASK_NS;
  rail->asks = 0;
  if (streams) {
    p->bulk.breaks = TMB_MAX(p->bulk.breaks, STREAM_BREAKS - 1); /* the next loss is one too many */
    return;
  }
  if (p->tx.main == r) p->tx.main = next;
  if (e->peers.rails_noted >> r & 1) return;
  e->peers.rails_noted |= 1u << r;
  e->up->print("udp: rank %u cannot be reached by rail %u (interface number %u of "
               "TOMBOLO_UDP_INTERFACES) any more; other rails carry its packets",
               p->rank, r, r + 1);
}

void udp_rail_timeout(struct tmb_net *e, struct udp_peer *p, uint32_t r) {
  const bool streams = udp_rail_is_stream(e, r);
  const bool several = !streams && e->io.rails > 1 && other(e, p, r) != UDP_NO_RAIL;
  /* A connection keeps the order: where its oldest packet gets lost again, the others are, too. */
  const bool all = several || (streams && (rests(e, p) || p->tx.rail[r].timeouts));
  udp_tx_timeout(&p->tx, r, all, e->time.now_ns);
  if ((several || streams) && p->tx.rail[r].timeouts >= TIMEOUTS_MAX) give_up(e, p, r);
}

/* Whether it is to be tried whether a rail carries packets of the length that is used. */
static bool is_asked(const struct tmb_net *e, const struct udp_peer *p, uint32_t r) {
  const struct udp_rail *rail = &p->tx.rail[r];
  if (rail->ask_ns > e->time.now_ns) return false;
  if (udp_rail_is_stream(e, r)) return wants_stream(e, p) && !udp_rail_streams(e, p);
  if (e->io.rails == 1) return false; /* retransmissions on it ask that, too */
  return rail->timeouts || (r != p->tx.main && rail->carries < p->mtu.bytes);
}

bool udp_rail_ask(struct tmb_net *e, struct udp_peer *p, uint32_t r) {
  struct udp_rail *rail = &p->tx.rail[r];
  if (!is_asked(e, p, r)) return false;
  rail->ask_ns = e->time.now_ns + ((uint64_t)ASK_NS << TMB_MIN(rail->asks, ASK_SHIFT));
  rail->asks++;
  if (rail->timeouts && !rail->in_flight && ++rail->timeouts >= TIMEOUTS_MAX) give_up(e, p, r);
  return true;
}

void udp_rail_answered(struct udp_peer *p, uint32_t r, uint32_t bytes) {
  if (r >= p->tx.rails) return;
  struct udp_rail *rail = &p->tx.rail[r];
  rail->carries = bytes;
  rail->timeouts = 0;
  rail->asks = 0;
}
