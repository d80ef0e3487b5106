/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sliding windows of a pair: packets sent and not acknowledged, and packets received.
 *
 * Owns the slots of one peer. Called by the engine, under its lock, and by tests. Calls udp_cc.h.
 * Numbers of packets are 64 bits and never repeat; 32 bits travel, and the rest follows from the
 * window. A pair may have several rails: each packet takes one, and loss, round trips and
 * congestion are those of a rail. Loss is detected by time, as in RFC 8985 (RACK): a packet is lost
 * when one that was sent a reordering time later has been acknowledged. Round trips and the
 * time-out are RFC 6298's. Invariants: una <= every number that is in flight < next <= una +
 * UDP_WINDOW; a number is accepted at most once, which also stops replayed packets.
 */
#ifndef TMB_UDP_WINDOW_H
#define TMB_UDP_WINDOW_H

/* How the window works.
 *
 * UDP loses, doubles and reorders packets; messages must arrive exactly once. TCP would order them,
 * too, which nobody here needs, and one lost packet would hold up all others of the pair. So each
 * packet is on its own.
 *
 * Sender: packets have numbers. At most UDP_WINDOW are in flight; each keeps its bytes in a slot,
 * number modulo UDP_WINDOW, until it is acknowledged. Receiver: `next` is the first number that is
 * missing, a bitmap says which of the UDP_WINDOW numbers behind it have arrived. A number is below
 * `next`, in the bitmap, or new; so each packet is delivered once, at once, in any order. Every
 * packet back carries `next` and the first bits of the map: one acknowledgement repairs the loss of
 * all earlier ones.
 *
 * Loss: the sender compares times, not numbers. When a packet is acknowledged that was sent a
 * reordering time later, the earlier one is lost and is retransmitted. If nothing comes back at
 * all, a time-out retransmits, and doubles. A retransmission that was wrong is found by
 * the time of its acknowledgement, and the cut of the window is undone.
 *
 * Rate: the congestion window (udp_cc.h) bounds the bytes in flight of a rail, as in TCP: it grows
 * by acknowledged bytes and is cut at a loss. It is separate from UDP_WINDOW, which bounds memory
 * and lets a full window of small packets leave. */

#include "net/udp/window/udp_cc.h"
#include "net/udp/wire/udp_packet.h"

#define UDP_RAILS       4u /* paths to a peer, pairs of interfaces; chosen */

#define UDP_WINDOW      256u /* packets in flight from one rank to another; chosen */
#define UDP_WINDOW_MASK (UDP_WINDOW - 1)

enum udp_slot_state { UDP_SLOT_FREE, UDP_SLOT_SENT, UDP_SLOT_LOST, UDP_SLOT_ACKED };

struct udp_buf;
struct udp_xfer;
struct udp_pending;

/* A packet that has not been acknowledged. */
struct udp_slot {
  uint64_t sent_ns;
  struct udp_buf *buf;         /* header and control part, and the tail if it was copied */
  const void *tail;            /* the tail elsewhere, or NULL */
  struct udp_xfer *xfer;       /* whose part this is, or NULL */
  struct udp_pending *pending; /* puts in it that core waits for, or NULL */
  uint32_t head_bytes;         /* in buf */
  uint32_t tail_bytes;         /* at tail */
  uint8_t state;
  uint8_t tries; /* times sent */
  uint8_t flags; /* UDP_ACK_NOW */
  uint8_t rail;  /* that it was sent on last */
};

/* Packets in flight by one rail. */
struct udp_rail {
  uint64_t acked_end; /* one more than the highest of its numbers that is acknowledged */
  uint64_t in_flight; /* bytes sent, neither acknowledged nor lost */
  uint32_t timeouts;  /* in a row */
  uint32_t unproven;  /* doublings of the time-out until a round trip is measured */
  uint32_t carries;   /* packets of this length pass, 0: not known to */
  bool resent;      /* one that was retransmitted has been acknowledged: earlier ones may be lost */
  uint64_t rack_ns; /* when the latest packet was sent that has been acknowledged */
  uint64_t rack_rtt_ns;      /* how long that took */
  uint32_t marked, mistaken; /* lost in the last cut; of these, those that had arrived */
  uint32_t reorder;          /* quarters of a round trip that packets may overtake each other by */
  uint64_t srtt_ns, rttvar_ns, min_rtt_ns;
  uint64_t waited_ns;           /* longest that an acknowledgement says it has waited, bounded */
  uint64_t timer_ns;            /* since when the time-out runs */
  uint64_t recover;             /* losses below this number belong to the cut that was made */
  uint64_t mark_ns, mark_bytes; /* acknowledged since then */
  uint64_t rate;                /* bytes that get through in a second, 0: not known */
  uint64_t ask_ns;              /* when to look next whether it carries anything */
  uint32_t asks;
  uint64_t rto_min_ns; /* least time-out */
  struct udp_cc cc;
};

/* Sending side of a pair. */
struct udp_tx {
  uint64_t una, next;
  uint32_t lost;  /* slots that wait to be retransmitted */
  uint32_t rails; /* that there are */
  uint32_t main;  /* the rail of all but long transfers */
  struct udp_rail rail[UDP_RAILS];
  struct udp_slot *slots; /* [UDP_WINDOW] */
};

/* Receiving side of a pair. */
struct udp_rx {
  uint64_t next;                  /* all below have come */
  uint64_t seen[UDP_WINDOW / 64]; /* bit n % UDP_WINDOW: n has come; bits of next.. only */
};

/* Content of an acknowledgement. */
struct udp_ack {
  uint64_t ack;
  uint32_t sack;           /* as in the header */
  const uint8_t *sack_map; /* [UDP_SACK_BYTES] bit i: ack + 1 + i; or NULL */
  uint64_t delay_ns;
};

/* Called for each packet that becomes acknowledged, before its slot is free. */
typedef void (*udp_acked_fn)(void *ctx, struct udp_slot *slot);

/* Returns 0 or TMB_E_NOMEM. */
int udp_tx_open(struct udp_tx *tx, uint32_t packet_bytes, uint32_t rails);
void udp_tx_close(struct udp_tx *tx);

static inline struct udp_slot *udp_tx_slot(struct udp_tx *tx, uint64_t number) {
  return &tx->slots[number & UDP_WINDOW_MASK];
}

static inline struct udp_rail *udp_tx_main(struct udp_tx *tx) {
  return &tx->rail[tx->main];
}

/* Whether packets retransmitted have been acknowledged, so that earlier ones may be lost. */
static inline bool udp_tx_resent(const struct udp_tx *tx) {
  bool resent = tx->rail[0].resent;
  for (uint32_t r = 1; r < tx->rails; r++) resent = resent || tx->rail[r].resent;
  return resent;
}

/* Slots that are free. */
static inline uint32_t udp_tx_room(const struct udp_tx *tx) {
  return UDP_WINDOW - (uint32_t)(tx->next - tx->una);
}

/* Take the next number. There is room. Returns its slot, to be filled, then udp_tx_sent. */
struct udp_slot *udp_tx_take(struct udp_tx *tx);

/* A packet has been handed to the network, the first time or again, on slot->rail. */
void udp_tx_sent(struct udp_tx *tx, struct udp_slot *slot, uint64_t now_ns);

/* The packet could not be handed over: send it later, without a cut. */
void udp_tx_unsent(struct udp_tx *tx, struct udp_slot *slot);

/* Process an acknowledgement; calls `acked` for newly acknowledged packets. Returns whether it is
 * possible: false for a number that was never sent. */
bool udp_tx_ack(struct udp_tx *tx, const struct udp_ack *ack, uint64_t now_ns, udp_acked_fn acked,
                void *ctx);

/* Whether one packet is in flight, which was sent once, and nothing before it was lost: then
 * udp_tx_ack_lone takes its acknowledgement as udp_tx_ack does. */
static inline bool udp_tx_is_lone(const struct udp_tx *tx) {
  const struct udp_slot *slot = &tx->slots[tx->una & UDP_WINDOW_MASK];
  const struct udp_rail *rail = &tx->rail[slot->rail];
  return tx->next - tx->una == 1 && slot->state == UDP_SLOT_SENT && slot->tries == 1 &&
         !rail->timeouts && !rail->marked && !udp_tx_resent(tx);
}

/* The packet in flight, for which udp_tx_is_lone, has been acknowledged, `delay_ns` after it came.
 * Its slot is free then. */
void udp_tx_ack_lone(struct udp_tx *tx, uint64_t delay_ns, uint64_t now_ns);

/* Mark the packets that count as lost by now. Returns when to check again, UINT64_MAX: no need. */
uint64_t udp_tx_detect(struct udp_tx *tx, uint64_t now_ns);

/* Time of silence after which something is retransmitted, doubled with each time-out in a row. */
uint64_t udp_tx_rto(const struct udp_rail *rail);

/* Nothing of a rail has been acknowledged for the time-out: its oldest packet in flight counts as
 * lost. in all: all of them do. */
void udp_tx_timeout(struct udp_tx *tx, uint32_t rail, bool all, uint64_t now_ns);

/* The 64-bit number next to `near` with the low half `low`. */
static inline uint64_t udp_extend(uint64_t near, uint32_t low) {
  return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

enum udp_rx_verdict { UDP_RX_NEW, UDP_RX_OLD, UDP_RX_BEYOND };

/* Whether packet `number` is to be taken; changes nothing. */
enum udp_rx_verdict udp_rx_look(const struct udp_rx *rx, uint64_t number);

/* The packet has been accepted. */
void udp_rx_take(struct udp_rx *rx, uint64_t number);

/* Whether packets beyond a missing one have come. */
static inline bool udp_rx_gaps(const struct udp_rx *rx) {
  _Static_assert(UDP_WINDOW == 256, "written out: compilers leave a loop of four as one");
  return (rx->seen[0] | rx->seen[1] | rx->seen[2] | rx->seen[3]) != 0;
}

/* The next packet has been accepted, and there are no gaps. */
static inline void udp_rx_take_next(struct udp_rx *rx) {
  rx->next++;
}

/* Bits of the packets received beyond the first missing one. out map: [UDP_SACK_BYTES] or NULL.
 * Returns the first 32; *more (unless NULL): whether there are others. */
uint32_t udp_rx_sack(const struct udp_rx *rx, uint8_t *map, bool *more);

#endif
