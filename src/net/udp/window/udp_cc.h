/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control of one pair: how many bytes may be in flight, and how fast they are sent.
 *
 * Owns nothing. Called by udp_window.c and by the engine. Calls nothing. CUBIC of RFC 8312, so that
 * a link is shared with TCP as TCP shares it with itself. Until the first loss nothing is paced and
 * the window doubles each round trip; pacing begins with the first loss. Paced packets leave in
 * bursts, as TCP's do, because one call that hands over 40 packets costs little more than one for a
 * single packet. A loss while no queue stands comes of the link, not of its load, and shrinks the
 * window less. Invariant: window >= 2 packets.
 */
#ifndef TMB_UDP_CC_H
#define TMB_UDP_CC_H

#include <stdbool.h>
#include <stdint.h>

struct udp_cc {
  uint32_t packet_bytes;
  uint64_t window;                                      /* bytes that may be in flight */
  uint64_t threshold;                                   /* slow start below */
  uint64_t max_bytes;                                   /* the window before the last cut */
  uint64_t epoch_ns;                                    /* start of the curve, 0: none */
  double origin_s;                                      /* K of RFC 8312 */
  double reno_bytes;                                    /* window that Reno would have */
  uint64_t before_window, before_threshold, before_max; /* the cut; before_window 0: none */
  uint64_t next_ns;                                     /* pacing: when the next burst may leave */
  uint64_t burst;                                       /* bytes of this one that may still leave */
};

void udp_cc_open(struct udp_cc *cc, uint32_t packet_bytes);

/* `bytes` have been acknowledged while the window was in use. */
void udp_cc_acked(struct udp_cc *cc, uint64_t bytes, uint64_t now_ns, uint64_t srtt_ns);

/* Packets were lost: once a round trip. in oversubscribed: while others of this sender's stood in a
 * queue. */
void udp_cc_lost(struct udp_cc *cc, bool crowded);

/* The last loss was none. */
void udp_cc_take_back(struct udp_cc *cc);

/* Nothing gets through. */
void udp_cc_collapsed(struct udp_cc *cc);

/* Whether the window limits the sender: only then it may grow. */
static inline bool udp_cc_is_full(const struct udp_cc *cc, uint64_t in_flight) {
  return 2 * in_flight >= cc->window;
}

/* Whether losses have been seen, so that packets are paced. */
static inline bool udp_cc_paced(const struct udp_cc *cc) {
  return cc->max_bytes != 0;
}

/* Whether no packet may leave before next_ns. */
static inline bool udp_cc_waits(const struct udp_cc *cc, uint64_t now_ns) {
  return udp_cc_paced(cc) && !cc->burst && cc->next_ns > now_ns;
}

/* `bytes` are sent now: when the next may leave. */
void udp_cc_pace(struct udp_cc *cc, uint64_t bytes, uint64_t now_ns, uint64_t srtt_ns);

#endif
