/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sliding windows, see udp_window.h.
 *
 * Owns the slots of a peer's window. Called by the engine. Calls udp_cc.h. Sources: RFC 6298 (round
 * trips, time-out), RFC 8985 (loss by time), RFC 5682 (answers after a time-out). Invariants:
 * in_flight of a rail is the sum of the bytes of its slots that are SENT; `lost` counts those that
 * are LOST; slots outside una..next are FREE.
 */
#include "net/udp/window/udp_window.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Times of RFC 6298 and RFC 8985, shorter for networks of one site. Chosen, not measured one by
 * one; RTO_FIRST and UNPROVEN_MAX from the packets of 64 ranks on links of 3 ms. */
#define RTT_FIRST_NS 2000000u /* before the first sample */
#define RTO_FIRST_NS                                                                             \
 30000000u                      /* before the first sample: ranks on oversubscribed hosts answer \
                                 * after 8 ms and more */
#define RTO_MIN_NS     4000000u /* above the longest delay of an acknowledgement */
#define RTO_MAX_NS     1000000000u /* of a time-out with all its doublings */
#define UNPROVEN_MAX   3u          /* doublings that outlast an answer: to 240 ms */
#define WAITED_MAX_NS  2000000u    /* of a peer that waits before it acknowledges: UDP_ANSWER_NS */
#define REORDER_MIN_NS 100000u     /* that a packet may be overtaken, at least */
#define QUEUE_MIN_NS   400000u     /* delay of busy receivers */
#define REORDER_MAX    3u          /* of a rail */
#define RATE_NS        1000000u    /* between measurements of a rail's rate */

int udp_tx_open(struct udp_tx *tx, uint32_t packet_bytes, uint32_t rails) {
  memset(tx, 0, sizeof *tx);
  tx->slots = calloc(UDP_WINDOW, sizeof *tx->slots);
  if (!tx->slots) return TMB_E_NOMEM;
  tx->una = tx->next = 1;
  tx->rails = rails < UDP_RAILS ? rails : UDP_RAILS;
  for (uint32_t i = 0; i < tx->rails; i++) {
    tx->rail[i].min_rtt_ns = UINT64_MAX;
    tx->rail[i].rto_min_ns = RTO_MIN_NS;
    udp_cc_open(&tx->rail[i].cc, packet_bytes);
  }
  return 0;
}

void udp_tx_close(struct udp_tx *tx) {
  free(tx->slots);
  tx->slots = NULL;
}

static uint64_t slot_bytes(const struct udp_slot *slot) {
  return slot->head_bytes + slot->tail_bytes;
}

struct udp_slot *udp_tx_take(struct udp_tx *tx) {
  struct udp_slot *slot = udp_tx_slot(tx, tx->next++);
  memset(slot, 0, sizeof *slot);
  return slot;
}

void udp_tx_sent(struct udp_tx *tx, struct udp_slot *slot, uint64_t now_ns) {
  if (slot->state == UDP_SLOT_LOST) tx->lost--;
  slot->state = UDP_SLOT_SENT;
  slot->sent_ns = now_ns;
  if (slot->tries < UINT8_MAX) slot->tries++;
  struct udp_rail *rail = &tx->rail[slot->rail];
  if (!rail->in_flight) {
    rail->timer_ns = rail->mark_ns = now_ns;
    rail->mark_bytes = 0;
  }
  rail->in_flight += slot_bytes(slot);
}

static void mark_lost(struct udp_tx *tx, struct udp_slot *slot) {
  if (slot->state != UDP_SLOT_SENT) return;
  slot->state = UDP_SLOT_LOST;
  tx->rail[slot->rail].in_flight -= slot_bytes(slot);
  tx->lost++;
}

void udp_tx_unsent(struct udp_tx *tx, struct udp_slot *slot) {
  if (slot->state == UDP_SLOT_SENT && slot->tries < UINT8_MAX)
    slot->tries--; /* the path lost none */
  mark_lost(tx, slot);
}

/* A round trip of `whole_ns`, in which the answer says that it has waited `delay_ns`. The shortest
 * is that of whole ones, and none counts for less (as RFC 9002 says): a peer that is interrupted
 * between reading its clock and the packet reports more than was. */
static void sample(struct udp_rail *tx, uint64_t whole_ns, uint64_t delay_ns) {
  if (whole_ns < tx->min_rtt_ns) tx->min_rtt_ns = whole_ns;
  if (delay_ns > tx->waited_ns) tx->waited_ns = TMB_MIN(delay_ns, (uint64_t)WAITED_MAX_NS);
  const uint64_t rtt_ns = whole_ns >= tx->min_rtt_ns + delay_ns ? whole_ns - delay_ns : whole_ns;
  if (!tx->srtt_ns) {
    tx->srtt_ns = rtt_ns;
    tx->rttvar_ns = rtt_ns / 2;
    return;
  }
  const uint64_t off = rtt_ns > tx->srtt_ns ? rtt_ns - tx->srtt_ns : tx->srtt_ns - rtt_ns;
  tx->rttvar_ns = (3 * tx->rttvar_ns + off) / 4;
  tx->srtt_ns = (7 * tx->srtt_ns + rtt_ns) / 8;
}

/* Sums of one acknowledgement, over all its packets of a rail. */
struct ack_sum {
  uint64_t bytes;
  uint64_t newest_ns; /* when the latest of them was sent */
  uint64_t again_ns;  /* when the latest retransmitted one was sent */
  uint64_t soon_ns;   /* when the latest was sent of those whose answer came too soon for a
                       * retransmission */
  uint64_t first_ns;  /* when the earliest was sent of those that were sent once */
  bool full;          /* the window was in use before */
};

struct acks {
  udp_acked_fn acked;
  void *ctx;
  uint64_t now_ns;
  struct ack_sum rail[UDP_RAILS];
};

/* Whether a packet that was sent again, or is about to be, had come the first time: nothing was
 * lost. An answer that comes so soon cannot be one to the second. */
static bool is_mistaken(const struct udp_rail *rail, const struct udp_slot *slot, uint64_t now_ns) {
  if (slot->state == UDP_SLOT_LOST) return true;
  return slot->tries > 1 && now_ns - slot->sent_ns < rail->srtt_ns / 2;
}

static void ack_slot(struct udp_tx *tx, uint64_t number, struct acks *acks) {
  struct udp_slot *slot = udp_tx_slot(tx, number);
  if (slot->state != UDP_SLOT_SENT && slot->state != UDP_SLOT_LOST) return;
  struct udp_rail *rail = &tx->rail[slot->rail];
  struct ack_sum *sum = &acks->rail[slot->rail];
  const bool mistaken = is_mistaken(rail, slot, acks->now_ns);
  if (mistaken && rail->marked) rail->mistaken++;
  if (slot->state == UDP_SLOT_SENT)
    rail->in_flight -= slot_bytes(slot);
  else
    tx->lost--;
  sum->bytes += slot_bytes(slot);
  if (slot->tries > 1) {
    uint64_t *sent_ns = mistaken ? &sum->soon_ns : &sum->again_ns;
    if (slot->sent_ns > *sent_ns) *sent_ns = slot->sent_ns;
  } else if (slot->state == UDP_SLOT_SENT) {
    if (slot->sent_ns > sum->newest_ns) sum->newest_ns = slot->sent_ns;
    if (slot->sent_ns < sum->first_ns) sum->first_ns = slot->sent_ns;
  }
  if (number >= rail->acked_end) rail->acked_end = number + 1;
  if (slot->tries > 1 && !mistaken) rail->resent = true;
  slot->state = UDP_SLOT_ACKED;
  acks->acked(acks->ctx, slot);
}

static void ack_map(struct udp_tx *tx, const struct udp_ack *ack, struct acks *acks) {
  for (uint32_t i = 0; i < 32 && ack->sack >> i; i++)
    if (ack->sack >> i & 1 && ack->ack + 1 + i < tx->next) ack_slot(tx, ack->ack + 1 + i, acks);
  if (!ack->sack_map) return;
  for (uint32_t i = 0; i < UDP_SACK_BYTES * 8; i++)
    if (ack->sack_map[i / 8] >> i % 8 & 1 && ack->ack + 1 + i < tx->next)
      ack_slot(tx, ack->ack + 1 + i, acks);
}

/* Rate of a rail, for the choice among several. */
static void measure(struct udp_rail *rail, uint64_t bytes, uint64_t now_ns) {
  rail->mark_bytes += bytes;
  const uint64_t ns = now_ns - rail->mark_ns;
  if (ns < RATE_NS || ns < rail->srtt_ns) return;
  const uint64_t rate = (uint64_t)((double)rail->mark_bytes * 1e9 / (double)ns);
  rail->rate = rail->rate ? (3 * rail->rate + rate) / 4 : rate;
  rail->mark_ns = now_ns;
  rail->mark_bytes = 0;
}

/* The reason of the last cut: lost packets, or packets overtaken by more than was assumed. */
static void judge(const struct udp_tx *tx, struct udp_rail *rail) {
  if (!rail->marked) return;
  if (rail->mistaken >= rail->marked) {
    udp_cc_take_back(&rail->cc);
    if (rail->reorder < REORDER_MAX) rail->reorder++;
    rail->recover = 0;
  } else if (tx->una < rail->recover) {
    return;
  } else if (rail->reorder && !rail->mistaken) {
    rail->reorder--;
  }
  rail->marked = rail->mistaken = 0;
}

/* Whether the first answer after a time-out is to packets sent before it (RFC 5682): the peer has
 * not polled for long, and now receives the packets that have come meanwhile, a part first. That
 * the packet which was sent again is among it says nothing of those that were sent before that. */
static bool is_late_answer(const struct udp_rail *rail, const struct ack_sum *sum) {
  return rail->timeouts && sum->first_ns < sum->again_ns;
}

/* A packet sent twice measures no round trip (Karn). Until something does, the time-out stays as
 * long as it has become (RFC 6298, 5): else all packets of a far network would be sent twice. */
static void keep_back_off(struct udp_rail *rail) {
  const uint32_t sum = rail->unproven + rail->timeouts;
  rail->unproven = sum < UNPROVEN_MAX ? sum : UNPROVEN_MAX;
}

/* After a time-out only retransmitted packets are acknowledged, sooner than a round trip took so
 * far. Had their first copies arrived, the packets that were sent with these would be acknowledged,
 * too. So the round trip has become shorter, and the others are lost. */
static void believe(struct udp_rail *rail, struct ack_sum *sum) {
  if (!rail->timeouts || sum->again_ns || !sum->soon_ns || sum->first_ns != UINT64_MAX) return;
  sum->again_ns = sum->soon_ns;
  rail->resent = true;
}

static void apply_sum(struct udp_tx *tx, struct udp_rail *rail, struct ack_sum *sum,
                      uint64_t delay_ns, uint64_t now_ns) {
  believe(rail, sum);
  const bool late = is_late_answer(rail, sum), again = sum->again_ns > sum->newest_ns;
  const uint64_t newest_ns = again && !late ? sum->again_ns : sum->newest_ns;
  const bool sampled = newest_ns && !again;
  if (rail->timeouts && !rail->srtt_ns) keep_back_off(rail);
  rail->timeouts = 0;
  rail->timer_ns = now_ns;
  if (newest_ns > rail->rack_ns) {
    rail->rack_ns = newest_ns;
    rail->rack_rtt_ns = now_ns - newest_ns;
  }
  if (sampled && now_ns > newest_ns) {
    sample(rail, now_ns - newest_ns, delay_ns);
  }
  judge(tx, rail);
  if (sum->full && tx->una >= rail->recover)
    udp_cc_acked(&rail->cc, sum->bytes, now_ns, rail->srtt_ns);
  if (tx->rails > 1) measure(rail, sum->bytes, now_ns);
}

bool udp_tx_ack(struct udp_tx *tx, const struct udp_ack *ack, uint64_t now_ns, udp_acked_fn acked,
                void *ctx) {
  if (ack->ack > tx->next) return false;
  if (ack->ack < tx->una) return true; /* overtaken by a later one */
  struct acks acks;
  acks.acked = acked;
  acks.ctx = ctx;
  acks.now_ns = now_ns;
  for (uint32_t r = 0; r < tx->rails; r++)
    acks.rail[r] = (struct ack_sum){.first_ns = UINT64_MAX,
                                    .full = udp_cc_is_full(&tx->rail[r].cc, tx->rail[r].in_flight)};
  while (tx->una < ack->ack) {
    ack_slot(tx, tx->una, &acks);
    udp_tx_slot(tx, tx->una)->state = UDP_SLOT_FREE;
    tx->una++;
  }
  if (ack->sack || ack->sack_map) ack_map(tx, ack, &acks);
  for (uint32_t r = 0; r < tx->rails; r++)
    if (acks.rail[r].bytes) apply_sum(tx, &tx->rail[r], &acks.rail[r], ack->delay_ns, now_ns);
  return true;
}

/* As apply_sum for a packet that was sent once, on a rail that nothing was lost on. */
void udp_tx_ack_lone(struct udp_tx *tx, uint64_t delay_ns, uint64_t now_ns) {
  struct udp_slot *slot = udp_tx_slot(tx, tx->una);
  struct udp_rail *rail = &tx->rail[slot->rail];
  const uint64_t bytes = slot_bytes(slot);
  const bool full = udp_cc_is_full(&rail->cc, rail->in_flight);
  rail->in_flight -= bytes;
  slot->state = UDP_SLOT_FREE;
  if (++tx->una > rail->acked_end) rail->acked_end = tx->una;
  rail->timer_ns = now_ns;
  if (slot->sent_ns > rail->rack_ns) {
    rail->rack_ns = slot->sent_ns;
    rail->rack_rtt_ns = now_ns - slot->sent_ns;
  }
  if (now_ns > slot->sent_ns) sample(rail, now_ns - slot->sent_ns, delay_ns);
  if (full && tx->una >= rail->recover) udp_cc_acked(&rail->cc, bytes, now_ns, rail->srtt_ns);
  if (tx->rails > 1) measure(rail, bytes, now_ns);
}

/* Whether a packet was sent no later than one that has come. */
static bool is_overtaken(const struct udp_rail *rail, const struct udp_slot *slot,
                         uint64_t number) {
  if (slot->sent_ns > rail->rack_ns) return false;
  return slot->sent_ns < rail->rack_ns || number < rail->acked_end;
}

/* Whether something of a rail may be lost. */
static bool is_suspect(const struct udp_tx *tx, const struct udp_rail *rail) {
  return rail->in_flight && (rail->acked_end > tx->una || rail->resent);
}

/* Whether packets stand in a queue: round trips take longer than they might. */
static bool is_crowded(const struct udp_rail *rail) {
  const uint64_t least = rail->min_rtt_ns / 4;
  return rail->srtt_ns > rail->min_rtt_ns + (least > QUEUE_MIN_NS ? least : QUEUE_MIN_NS);
}

/* Time after which a packet is lost that a later one has overtaken: the delay of the later one, for
 * the queue may have grown since the average, and a part of a round trip. */
static uint64_t lost_after(const struct udp_rail *rail) {
  const uint64_t rtt = rail->srtt_ns ? rail->srtt_ns : RTT_FIRST_NS;
  const uint64_t apart = rtt / 4 * (1 + rail->reorder);
  const uint64_t longest = rail->rack_rtt_ns > rtt ? rail->rack_rtt_ns : rtt;
  return longest + (apart > REORDER_MIN_NS ? apart : REORDER_MIN_NS);
}

/* A loss that belongs to no earlier cut. */
static void cut_window(struct udp_tx *tx, struct udp_rail *rail) {
  udp_cc_lost(&rail->cc, is_crowded(rail));
  rail->recover = tx->next;
  rail->marked = rail->mistaken = 0;
}

static uint64_t detect(struct udp_tx *tx, uint32_t index, uint64_t now_ns) {
  struct udp_rail *rail = &tx->rail[index];
  const uint64_t late = lost_after(rail);
  uint64_t again = UINT64_MAX;
  uint32_t marked = 0;
  bool cut = false;
  for (uint64_t n = tx->una; n < tx->next; n++) {
    struct udp_slot *slot = udp_tx_slot(tx, n);
    if (slot->state != UDP_SLOT_SENT || slot->rail != index || !is_overtaken(rail, slot, n))
      continue;
    /* Lost when the reordering time has passed since. */
    const uint64_t due = slot->sent_ns + late;
    if (due > now_ns) {
      if (due < again) again = due;
      continue;
    }
    mark_lost(tx, slot);
    marked++;
    if (n >= rail->recover) cut = true;
  }
  if (again == UINT64_MAX) rail->resent = false;
  if (cut) cut_window(tx, rail);
  rail->marked += marked;
  return again;
}

uint64_t udp_tx_detect(struct udp_tx *tx, uint64_t now_ns) {
  uint64_t again = UINT64_MAX;
  for (uint32_t r = 0; r < tx->rails; r++) {
    const uint64_t due = is_suspect(tx, &tx->rail[r]) ? detect(tx, r, now_ns) : UINT64_MAX;
    if (due < again) again = due;
  }
  return again;
}

uint64_t udp_tx_rto(const struct udp_rail *rail) {
  uint64_t rto = rail->srtt_ns ? rail->srtt_ns + 4 * rail->rttvar_ns : RTO_FIRST_NS;
  if (rto < rail->rto_min_ns) rto = rail->rto_min_ns;
  rto += rail->waited_ns;
  const uint32_t shift = rail->timeouts + (rail->srtt_ns ? 0 : rail->unproven);
  rto <<= shift < 16 ? shift : 16;
  return rto < RTO_MAX_NS ? rto : RTO_MAX_NS;
}

void udp_tx_timeout(struct udp_tx *tx, uint32_t rail, bool all, uint64_t now_ns) {
  for (uint64_t n = tx->una; n < tx->next; n++) {
    struct udp_slot *slot = udp_tx_slot(tx, n);
    if (slot->state != UDP_SLOT_SENT || slot->rail != rail) continue;
    mark_lost(tx, slot);
    if (!all) break;
  }
  tx->rail[rail].timer_ns = now_ns;
  tx->rail[rail].timeouts++;
  if (tx->rail[rail].timeouts == 3) udp_cc_collapsed(&tx->rail[rail].cc);
}

/* ---- arrived packets */

static bool seen(const struct udp_rx *rx, uint64_t number) {
  return rx->seen[(number & UDP_WINDOW_MASK) / 64] >> (number & 63) & 1;
}

enum udp_rx_verdict udp_rx_look(const struct udp_rx *rx, uint64_t number) {
  if (number < rx->next) return UDP_RX_OLD;
  if (number >= rx->next + UDP_WINDOW) return UDP_RX_BEYOND;
  return seen(rx, number) ? UDP_RX_OLD : UDP_RX_NEW;
}

void udp_rx_take(struct udp_rx *rx, uint64_t number) {
  rx->seen[(number & UDP_WINDOW_MASK) / 64] |= (uint64_t)1 << (number & 63);
  while (seen(rx, rx->next)) {
    rx->seen[(rx->next & UDP_WINDOW_MASK) / 64] &= ~((uint64_t)1 << (rx->next & 63));
    rx->next++;
  }
}

uint32_t udp_rx_sack(const struct udp_rx *rx, uint8_t *map, bool *more) {
  uint32_t first = 0;
  if (map) memset(map, 0, UDP_SACK_BYTES);
  if (more) *more = false;
  if (!udp_rx_gaps(rx)) return 0;
  for (uint32_t i = 0; i < UDP_WINDOW - 1; i++) {
    if (!seen(rx, rx->next + 1 + i)) continue;
    if (map) map[i / 8] |= (uint8_t)(1u << i % 8);
    if (i < 32)
      first |= 1u << i;
    else if (more)
      *more = true;
  }
  return first;
}
